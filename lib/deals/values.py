"""The fields that requests to the deals service are made of, each with its limits, strictly read.

The limits, and what is refused, are our own choice: the deals specification shows neither.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
)

from lib.deals import moments
from lib.deals.models import FEE_TYPES, LONGEST_NAME
from lib.deals.supply.formats import DOMAIN
from lib.wire import currencies
from lib.wire.text import EMAIL, LONGEST_EMAIL, NOT_IN_TEXT, NOT_STORABLE, PATTERN, fault, unstorable

LARGEST_ID = 2**53 - 1
LARGEST_AMOUNT = 10**12
DECIMALS = 6
_DOMAIN = f"^{DOMAIN.pattern}$"
READABLE_SCHEMA = Field(json_schema_extra={"pattern": PATTERN})


def _without(find_fault: Callable[[str], str]) -> AfterValidator:
    """Refuses a text for the fault that is found in it."""

    def check(text: str) -> str:
        if wrong := find_fault(text):
            raise ValueError(wrong)
        return text

    return AfterValidator(check)


READABLE = _without(fault)


def whole(value: Any) -> Any:
    """`1.0` is a whole number too."""
    if isinstance(value, Decimal) and value.adjusted() < 20 and value == int(value):
        return int(value)
    return value


@dataclass(frozen=True)
class Limits:
    """The numbers that a field takes: from `least` up to, but not including, `below`."""

    least: int = 0
    below: int = LARGEST_AMOUNT
    decimals: int = DECIMALS

    def read(self, value: Any) -> Decimal:
        """A number of JSON. ValueError says what is wrong with another one."""
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise ValueError("must be a number")
        if not self.least <= value < self.below:
            raise ValueError(f"must be at least {self.least} and below {self.below:,}")
        amount = Decimal(value)
        _, digits, exponent = amount.as_tuple()
        trailing = len(digits) - len(bytes(digits).rstrip(b"\0"))
        if amount and -(int(exponent) + trailing) > self.decimals:
            raise ValueError(
                f"may have at most {self.decimals} decimals" if self.decimals else "must be a whole number"
            )
        return amount

    @property
    def schema(self) -> dict[str, Any]:
        kind = "number" if self.decimals else "integer"
        return {"type": kind, "minimum": self.least, "exclusiveMaximum": self.below}


AMOUNT, COUNT, PERCENTAGE = Limits(), Limits(least=1, decimals=0), Limits(least=1, below=101, decimals=0)
PRIORITY = Limits(least=1, below=21, decimals=0)


def _moment(value: Any) -> datetime:
    if not isinstance(value, str):
        raise ValueError(f"must be text like '{moments.SHAPE}'")
    return moments.parse(value)


def _matching(pattern: str, what: str) -> AfterValidator:
    return _without(lambda text: "" if re.fullmatch(pattern, text) else f"must be {what}")


def text_of(longest: int) -> StringConstraints:
    """Text of one to so many characters, without blanks around it."""
    return StringConstraints(strip_whitespace=True, min_length=1, max_length=longest)


Name = Annotated[str, text_of(LONGEST_NAME), READABLE, READABLE_SCHEMA]
Unread = Annotated[
    str,
    StringConstraints(max_length=500),
    _without(unstorable),
    Field(json_schema_extra={"pattern": f"^[^{NOT_STORABLE}]*$"}),
]
Value = Annotated[str, text_of(200), READABLE, READABLE_SCHEMA]
Id = Annotated[int, Field(ge=1, le=LARGEST_ID), BeforeValidator(whole)]
Pixels = Annotated[int, Field(ge=1, le=20_000), BeforeValidator(whole)]
FeeType = Annotated[int, Field(ge=0, le=max(FEE_TYPES)), BeforeValidator(whole)]
Amount = Annotated[Decimal, PlainValidator(AMOUNT.read), WithJsonSchema(AMOUNT.schema)]
Count = Annotated[Decimal, PlainValidator(COUNT.read), WithJsonSchema(COUNT.schema)]
Percentage = Annotated[Decimal, PlainValidator(PERCENTAGE.read), WithJsonSchema(PERCENTAGE.schema)]
Priority = Annotated[Decimal, PlainValidator(PRIORITY.read), WithJsonSchema(PRIORITY.schema)]
Currency = Annotated[
    str, AfterValidator(currencies.check), WithJsonSchema({"type": "string", "enum": [*currencies.CODES]})
]
Moment = Annotated[
    datetime,
    PlainValidator(_moment),
    WithJsonSchema(
        {"type": "string", "pattern": moments.STRICT_PATTERN, "example": "2026-11-20 09:00:00+0100"}
    ),
]
Email = Annotated[
    str,
    text_of(LONGEST_EMAIL),
    READABLE,
    _matching(EMAIL, "an e-mail address"),
    Field(json_schema_extra={"pattern": EMAIL.replace(r"\s", r"\s" + NOT_IN_TEXT)}),
]
Domain = Annotated[
    str,
    StringConstraints(strip_whitespace=True, to_lower=True, max_length=253),
    _matching(_DOMAIN, "a domain like example.org"),
    Field(json_schema_extra={"pattern": _DOMAIN.replace("a-z", "A-Za-z")}),
]


class Request(BaseModel):
    """Fields that can be set; anything else is refused by name."""

    model_config = ConfigDict(extra="forbid")
    READ_ONLY: ClassVar[frozenset[str]] = frozenset()


class ById(Request):
    """Another entity, by its id; a name beside it is not read."""

    id: Id
    name: Unread | None = None
