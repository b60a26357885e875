"""JSON with exact numbers: decimals in, decimals out, never converted to float."""

import json
from decimal import Decimal
from typing import Any, NoReturn

import orjson

MOST_DIGITS, LONGEST_BRIEF = 40, 80


def loads(text: bytes) -> Any:
    """The parsed JSON; numbers with a point or an exponent are Decimals. ValueError for invalid JSON."""
    try:
        value = json.loads(text.decode("utf-8-sig"), **_READING)
        # json reads half a surrogate pair without complaint; only encoding it again shows that it is no text.
        if b"\\ud" in text or b"\\uD" in text:
            json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeError:
        raise ValueError("its text is not Unicode") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


def dumps(value: Any) -> bytes:
    """The value as JSON; a Decimal is written digit by digit, as a number without trailing zeros."""
    return orjson.dumps(value, default=_number)


def brief(value: Any) -> str:
    """The value as JSON in a sentence, cut where it is long."""
    text = dumps(value).decode()
    return text if len(text) <= LONGEST_BRIEF else f"{text[:LONGEST_BRIEF]}…"


def readable(value: Any) -> str:
    """The same for people: a line for each value, indented."""
    return orjson.dumps(value, default=_number, option=orjson.OPT_INDENT_2).decode()


def plain(number: Decimal) -> str:
    """`2.50` → `2.5`, `1E+2` → `100`."""
    if not number:
        return "0"
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _number(value: Any) -> orjson.Fragment:
    if not isinstance(value, Decimal) or not value.is_finite():
        raise TypeError(f"{type(value).__name__} can't be written as JSON")
    return orjson.Fragment(plain(value))


def _whole(text: str) -> int | Decimal:
    """A whole number; a very long one as a Decimal, since making an int of it takes quadratic time."""
    return int(text) if len(text) <= MOST_DIGITS else Decimal(text)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


_READING: dict[str, Any] = {"parse_float": Decimal, "parse_int": _whole, "parse_constant": _no_number}
