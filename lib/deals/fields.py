"""The fields that requests to the deals service are made of, each with its limits, strictly read.

The limits, and what is refused, are our own choice: the deals specification shows neither.
"""

import re
import unicodedata
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
from lib.deals.models import FEE_TYPES

LARGEST_ID = 2**53 - 1
LARGEST_AMOUNT = 10**12
DECIMALS = 6
_EMAIL = r"^[^@\s]{1,64}@[^@\s.]+(\.[^@\s.]+)+$"
_DOMAIN = r"^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{2,63}$"


def _readable(text: str) -> str:
    if any(unicodedata.category(one) in ("Cc", "Cs") for one in text):
        raise ValueError("may not have control characters in it")
    return text


def _whole(value: Any) -> Any:
    """`1.0` is a whole number too."""
    if isinstance(value, Decimal) and value.adjusted() < 20 and value == int(value):
        return int(value)
    return value


def _amount(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ValueError("must be a number")
    if not 0 <= value < LARGEST_AMOUNT:
        raise ValueError(f"must be at least 0 and below {LARGEST_AMOUNT:,}")
    amount = Decimal(value)
    if _decimals(amount) > DECIMALS:
        raise ValueError(f"may have at most {DECIMALS} decimals")
    return amount


def _decimals(amount: Decimal) -> int:
    """How many digits after the point are needed to write it."""
    _, digits, exponent = amount.as_tuple()
    trailing = len(digits) - len(bytes(digits).rstrip(b"\0"))
    return -(int(exponent) + trailing) if amount else 0


def _moment(value: Any) -> datetime:
    if not isinstance(value, str):
        raise ValueError(f"must be text like '{moments.SHAPE}'")
    return moments.parse(value)


def _matching(pattern: str, what: str) -> AfterValidator:
    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"must be {what}")
        return text

    return AfterValidator(check)


def _text(longest: int) -> Any:
    return StringConstraints(strip_whitespace=True, min_length=1, max_length=longest)


Name = Annotated[str, _text(200), AfterValidator(_readable)]
Unread = Annotated[str, StringConstraints(max_length=500), AfterValidator(_readable)]
Value = Annotated[str, _text(200), AfterValidator(_readable)]
Id = Annotated[int, Field(ge=1, le=LARGEST_ID), BeforeValidator(_whole)]
Pixels = Annotated[int, Field(ge=1, le=20_000), BeforeValidator(_whole)]
FeeType = Annotated[int, Field(ge=0, le=max(FEE_TYPES)), BeforeValidator(_whole)]
Amount = Annotated[
    Decimal,
    PlainValidator(_amount),
    WithJsonSchema({"type": "number", "minimum": 0, "exclusiveMaximum": LARGEST_AMOUNT}),
]
Moment = Annotated[
    datetime,
    PlainValidator(_moment),
    WithJsonSchema({"type": "string", "pattern": moments.PATTERN, "example": "2026-11-20 09:00:00+0100"}),
]
Email = Annotated[
    str,
    _text(254),
    AfterValidator(_readable),
    _matching(_EMAIL, "an e-mail address"),
    Field(json_schema_extra={"format": "email"}),
]
Domain = Annotated[
    str,
    StringConstraints(strip_whitespace=True, to_lower=True, max_length=253),
    _matching(_DOMAIN, "a domain like example.org"),
]


class Request(BaseModel):
    """Fields that can be set; anything else is refused by name."""

    model_config = ConfigDict(extra="forbid")
    GIVEN: ClassVar[frozenset[str]] = frozenset()


class ById(Request):
    """Another entity, by its id; a name beside it is not read."""

    id: Id
    name: Unread | None = None
