"""Types that accept more forms than they write.

Of a request: what has one meaning is read (decisions: leniency where the meaning is plain). Of an info
answer: services write numbers and flags as texts, and null or an empty text for what is at its default.
"""

from datetime import date
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from lib.reporting.dates import RELATIVE
from lib.wire.filters import Texts

MOST_DECIMALS = 15
FLAGS = {"0": 0, "false": 0, "no": 0, "1": 1, "true": 1, "yes": 1}
DateValue = Annotated[
    str,
    WithJsonSchema(
        {"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "pattern": RELATIVE}]}
    ),
]
Names = Annotated[Texts, Field(json_schema_extra={"uniqueItems": True})]
Polarity = Literal["up", "down", "none"]
LenientPolarity = Annotated[
    Polarity, BeforeValidator(lambda value: value if value in get_args(Polarity) else "none")
]
"""Whether a rise is good news (`up`), a fall (`down`), or neither; an extension, `none` where not sent."""


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")
    return value


def _limit(value: Any) -> Any:
    """-1 is no limit (decisions: `limit: -1`)."""
    return None if value in (-1, "-1") else _number(value)


def _lenient_flag(value: Any) -> Any:
    return FLAGS.get(str(value).lower(), value)


def _day(value: Any) -> Any:
    """`YYYY-MM-DD` of a date or a time; invalid dates count as missing."""
    try:
        return date.fromisoformat(str(value)[:10]).isoformat()
    except ValueError:
        return None


def use_defaults(usual: Any) -> BeforeValidator:
    """Sets fields that a response leaves null or empty to their defaults."""
    return BeforeValidator(lambda value: usual if value in (None, "") else value)


Whole = Annotated[int, BeforeValidator(_number)]
Offset = Annotated[int, Field(ge=-12, le=12), BeforeValidator(_number)]
Number = Annotated[float, BeforeValidator(_number)]
Limit = Annotated[
    Annotated[int, Field(ge=0)] | None,
    BeforeValidator(_limit),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": -1}, {"type": "null"}]}),
]
Milliseconds = Annotated[int, Field(ge=0, le=3_600_000), BeforeValidator(_number)] | None
LenientFlag = Annotated[Literal[0, 1], BeforeValidator(_lenient_flag), use_defaults(0)]
LenientText = Annotated[str, use_defaults("")]
LenientName = Annotated[str | None, use_defaults(None)]
Day = Annotated[str | None, BeforeValidator(_day)]
Decimals = Annotated[int, AfterValidator(lambda places: min(max(places, 0), MOST_DECIMALS)), use_defaults(0)]
