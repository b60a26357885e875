"""The formats of times that are recognized, and which of them texts look like."""

import datetime as dt
import itertools
import re
from collections.abc import Iterator
from functools import cache
from typing import TypeAlias

import pandas as pd

from lib.reporting.ingest.column_names import split_words
from lib.reporting.ingest.times import RANGE_MARKS, english, instants, is_coarse

Texts: TypeAlias = "pd.Series[str]"
# The formats that are tried on a sample, the most usual first. Names of months are read in any language and
# length, and those of weekdays are skipped: see times.py.
_DATES = [
    "%Y-%m-%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d", "%Y.%m.%d", "%d-%m-%Y",
    "%m-%d-%Y", "%m.%d.%Y", "%d-%b-%Y", "%d/%b/%Y", "%d %b %Y", "%b %d, %Y", "%b %d %Y", "%Y-%b-%d",
    "%d. %b %Y", "%d de %b de %Y",
    "%m/%d/%y", "%d/%m/%y", "%y/%m/%d", "%d.%m.%y", "%y.%m.%d", "%m.%d.%y", "%d-%m-%y", "%y-%m-%d",
    "%m-%d-%y", "%d %m %y", "%y %m %d", "%m %d %y", "%d-%b-%y", "%y-%b-%d", "%d %b %y", "%y %b %d",
    "%b %d, %y", "%Y年%m月%d日", "%Y년 %m월 %d일", "%Y. %m. %d.", "%Y_%m_%d", "%Y%m%d",
    "%G-W%V-%u",
]  # fmt: skip
_COARSE = [
    "%Y-%m", "%Y/%m", "%m/%Y", "%b %Y", "%b-%Y", "%b %y", "%b-%y", "%Y年%m月", "%G-W%V", "%GW%V",
    "%G W%V", "%G KW %V", "%G-KW%V", "Week %V, %G", "Week %V %G", "KW %V/%G", "KW%V/%G", "KW %V %G",
    "KW%V %G", "W%V %G",
]  # fmt: skip
_WEEKS = ["%G-%V", "%G/%V", "%G.%V", "%V/%G", "%V.%G", "%G%V"]  # months to whoever does not know the name
_WEEK_NAMES = {"week", "weeks", "woche", "kw", "semaine", "semana", "settimana", "tydzien", "vecka"}
_YEARLESS = [
    "%m/%d", "%d/%m", "%d.%m.", "%d.%m", "%m-%d", "%d-%m", "%d %m", "%m %d", "%d %b", "%d-%b", "%b %d",
    "%d. %b",
]  # fmt: skip
_CLOCK_FORMATS = [
    "%H:%M:%S", "%H:%M", "%H:%M:%S.%f", "%I:%M:%S %p", "%I:%M %p", "%I %p", "%H", "%H Uhr", "%Hh", "%H.%M",
    "%H%M%S", "%H%M",
]  # fmt: skip
CLOCK_COLUMN_FORMATS = ["%H", "%H:%M", "%H:%M:%S", "%I %p", "%I:%M %p", "%I:%M:%S %p"]
_ZONES = ["", "%z", " %z", " %Z", " %z UTC"]
_BETWEEN = [" ", "T", ", ", ":", " - ", " at "]
_STAMPS: dict[int, list[str]] = {
    6: ["%Y%m", "%y%m%d", "%d%m%y", "%m%d%y"], 8: ["%y%m%d%H", "%d%m%Y", "%m%d%Y"],
    10: ["%Y%m%d%H", "%y%m%d%H%M"], 12: ["%Y%m%d%H%M", "%y%m%d%H%M%S"], 14: ["%Y%m%d%H%M%S"],
    17: ["%Y%m%d%H%M%S%f"], 20: ["%Y%m%d%H%M%S%f"],
}  # fmt: skip
_SHAPE_CODES = {"a": "%b %a %B %A %p %Z", "9": "%Y %m %d %y %H %I %M %S %f %G %V %u"}
_SHAPES = {code: shape for shape, codes in _SHAPE_CODES.items() for code in codes.split()}
_ZONE_SHAPES = ["a", "+9", "+9:9", "-9", "-9:9"]


def candidate_formats(column: str, texts: Texts) -> Iterator[str | None]:
    """Formats to try on the texts of a column, the most likely first; None is the format that needs none."""
    stamps = _stamp_formats(texts.iloc[0]) if texts.str.len().nunique() == 1 else []
    if not _WEEK_NAMES.isdisjoint(split_words(column)):
        weeks = [week for week in _WEEKS if instants(texts, week, dt.UTC).share == 1]
        if weeks and not instants(texts, None, dt.UTC).share:
            yield from weeks
            return
    if len(texts.iloc[0]) > 8:
        yield from stamps
    yield None
    if stamps[:1] == ["%Y%m"] and instants(texts, "%Y%m", dt.UTC).share == 1:
        stamps = stamps[:1]
    yield from stamps
    if stamps and texts.iloc[0].isdecimal():
        return  # 202611 would be 1 January 2026 to strptime, which takes a digit for a month
    first, middle = texts.iloc[0], texts.iloc[len(texts) // 2]
    ranges = [*_range_formats(first), *_range_formats(middle)]
    yield from dict.fromkeys([*ranges, *formats_like(first), *formats_like(middle)])


def formats_like(text: str, has_year: bool = True) -> list[str]:
    """The formats whose texts look like this one, the most usual first."""
    return _by_shape(has_year).get(_shape(english(text, "%b")), [])


def _range_formats(text: str) -> Iterator[str]:
    """The formats of a range of days: `Nov 2, 2026 - Nov 8, 2026`, `Nov 2 – 8, 2026`, `2.–8.11.2026`."""
    for mark in RANGE_MARKS:
        parts = text.split(mark)
        if len(parts) % 2:
            continue
        first, last = mark.join(parts[: len(parts) // 2]), mark.join(parts[len(parts) // 2 :])
        year = re.search(r"\d{4}$", last)
        dates = [last, *([f"{first}, {year[0]}", f"{first} {year[0]}"] if year else [])]
        days = dict.fromkeys(format_ for date in dates for format_ in formats_like(date.strip()))
        yield from (f"{day}{mark}{day}" for day in days if "%H" not in day and not is_coarse(day))


def _stamp_formats(text: str) -> list[str]:
    """The formats of dates and times in digits alone, by their number: 2026010105, 20260101050000."""
    return _STAMPS.get(len(text), []) if text.isdecimal() and text.isascii() else []


@cache
def _by_shape(has_year: bool) -> dict[str, list[str]]:
    dates = _DATES if has_year else _YEARLESS
    clocks = [clock + zone for zone, clock in itertools.product(_ZONES, _CLOCK_FORMATS)]
    stamps = [date + between + clock for between, clock, date in itertools.product(_BETWEEN, clocks, dates)]
    texts_of: dict[str, list[str]] = {}
    for format_ in [
        *dates,
        *stamps,
        "[%d/%b/%Y:%H:%M:%S %z]",
        "%b %d %H:%M:%S %Y",
        *(_COARSE if has_year else ()),
    ]:
        for shape in _shapes(format_):
            texts_of.setdefault(shape, []).append(format_)
    return texts_of


def _shapes(format_: str) -> list[str]:
    """Patterns of a format's texts: an offset is written in several ways."""
    plain = re.sub("%[a-yA-Z]", lambda code: _SHAPES.get(code[0], code[0]), format_)
    ends = _ZONE_SHAPES if "%z" in plain else [""]
    return [_shape(plain.replace("%z", end)) for end in ends]


def _shape(text: str) -> str:
    """`31.12.2025 14:05` → `9.9.9 9:9`: digits in a row are one 9, letters one a."""
    return re.sub(r"[^\W\d_年月日년월일]+", "a", re.sub("[0-9]+", "9", text))
