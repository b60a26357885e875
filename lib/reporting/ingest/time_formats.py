"""The ways in which dates and times of day are written, and which of them a text may be."""

import itertools
import re
from functools import cache

_DATES = [
    "%Y-%m-%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d", "%Y.%m.%d", "%d-%m-%Y",
    "%m-%d-%Y", "%m.%d.%Y", "%d-%b-%Y", "%d/%b/%Y", "%d %b %Y", "%b %d, %Y", "%b %d %Y", "%a, %b %d, %Y",
    "%a, %d %b %Y", "%Y-%b-%d",
    "%d-%B-%Y", "%d %B %Y", "%B %d, %Y", "%B %d %Y", "%A, %B %d, %Y", "%A, %d %B %Y", "%d. %B %Y",
    "%m/%d/%y", "%d/%m/%y", "%d.%m.%y", "%d-%m-%y", "%d-%b-%y", "%d %b %y", "%b %d, %y",
    "%Y年%m月%d日", "%Y%m%d",
]  # fmt: skip
_YEARLESS = [
    "%m/%d",
    "%d/%m",
    "%d.%m.",
    "%d.%m",
    "%m-%d",
    "%d %m",
    "%d %b",
    "%d-%b",
    "%b %d",
    "%d %B",
    "%B %d",
]
_CLOCKS = [
    "%H:%M:%S",
    "%H:%M",
    "%H:%M:%S.%f",
    "%I:%M:%S %p",
    "%I:%M %p",
    "%I %p",
    "%H",
    "%H Uhr",
    "%Hh",
    "%H.%M",
    "%H%M%S",
    "%H%M",
]
_ZONES = ["", "%z", " %z", " %Z", " %z UTC"]
_BETWEEN = [" ", "T", ", ", ":", " - ", " at "]
_STAMPS = {
    8: "%y%m%d%H", 10: "%Y%m%d%H", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S", 17: "%Y%m%d%H%M%S%f",
    20: "%Y%m%d%H%M%S%f",
}  # fmt: skip
_OF_MONTHS_AND_DAYS = {"a": "%b %a %B %A %p %Z", "9": "%Y %m %d %y %H %I %M %S %f"}
_SHAPES = {code: shape for shape, codes in _OF_MONTHS_AND_DAYS.items() for code in codes.split()}
_ZONE_SHAPES = ["a", "+9", "+9:9", "-9", "-9:9"]


def stamp_format(text: str) -> str | None:
    """The format of a date and time in digits alone, by their number: 2026010105, 20260101050000."""
    return _STAMPS.get(len(text)) if text.isdecimal() and text.isascii() else None


def formats_like(text: str, has_year: bool = True) -> list[str]:
    """The formats whose texts look like this one, the most usual first."""
    return _by_shape(has_year).get(_shape(text), [])


def _shape(text: str) -> str:
    """`31.12.2025 14:05` → `9.9.9 9:9`: digits in a row are one 9, letters one a."""
    return re.sub(r"[^\W\d_年月日]+", "a", re.sub("[0-9]+", "9", text))


def _shapes(format_: str) -> list[str]:
    """Patterns of a format's texts: an offset is written in several ways."""
    plain = re.sub("%[a-yA-Z]", lambda code: _SHAPES.get(code[0], code[0]), format_)
    ends = _ZONE_SHAPES if "%z" in plain else [""]
    return [_shape(plain.replace("%z", end)) for end in ends]


@cache
def _by_shape(has_year: bool) -> dict[str, list[str]]:
    dates = _DATES if has_year else _YEARLESS
    clocks = [clock + zone for zone, clock in itertools.product(_ZONES, _CLOCKS)]
    timed = [date + between + clock for between, clock, date in itertools.product(_BETWEEN, clocks, dates)]
    found: dict[str, list[str]] = {}
    for format_ in [*dates, *timed, "[%d/%b/%Y:%H:%M:%S %z]"]:
        for shape in _shapes(format_):
            found.setdefault(shape, []).append(format_)
    return found
