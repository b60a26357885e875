"""The formats of times that are recognized, and which of them texts look like, and how likely their days are.

A reading is scored by how its days fill their span by day, week or month, whether they are in order, not long
past and not in the future, and whether they agree with a date above the table or in the file's name.
"""

import datetime as dt
import itertools
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from lib.ingest.column_names import split_words
from lib.ingest.times import (
    DAY,
    MISSING,
    MONTH_OF,
    RANGE_MARKS,
    Instants,
    Ints,
    english,
    instants,
    is_coarse,
    range_start,
)
from lib.slicers.definition.reading import SERIALS
from lib.wire.text import write_day

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
ORDERS: dict[str, str] = {"dmy": "day/month/year", "mdy": "month/day/year", "ymd": "year/month/day"}
AHEAD = 0.5
"""A reading whose score is not so much ahead of another's is no better."""
_TRUST = (0.0, 0.0, 0.4, 1.0)  # in how 0, 1, 2, 3 or more days fill their span
_UNUSUAL, _UNLIKELY, _IMPLAUSIBLE = 0.3, 1.0, 2.0
_USUAL_ISO = 0.6
_OLD, _EARLY, _LATE = 15 * 366, 1990, 366  # days ago; a year; days ahead
_CLUE_DATES = re.compile(
    r"(?<!\d)(?:(?P<year>(?:19|20)\d\d)(?P<mark>[-/._ ]?)(?P<month>0[1-9]|1[0-2])"
    r"(?:(?P=mark)(?P<day>[0-3]\d))?|(?:(?P<first>[0-3]?\d)\.? )?(?P<name>[A-Z][a-z]{2,8})\.? "
    r"(?:(?P<second>[0-3]?\d),? )?(?P<late>(?:19|20)\d\d))(?!\d)"
)


def candidate_formats(column: str, texts: Texts) -> Iterator[str | None]:
    """Formats to try on the texts of a column, the most likely first; None is the format that needs none."""
    first = texts.iloc[0] if texts.str.len().nunique() == 1 else ""
    stamps = _STAMPS.get(len(first), []) if first.isdecimal() and first.isascii() else []
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
        # Patterns of a format's texts: an offset is written in several ways.
        plain = re.sub("%[a-yA-Z]", lambda code: _SHAPES.get(code[0], code[0]), format_)
        ends = _ZONE_SHAPES if "%z" in plain else [""]
        for shape in [_shape(plain.replace("%z", end)) for end in ends]:
            texts_of.setdefault(shape, []).append(format_)
    return texts_of


def _shape(text: str) -> str:
    """`31.12.2025 14:05` → `9.9.9 9:9`: digits in a row are one 9, letters one a."""
    return re.sub(r"[^\W\d_年月日년월일]+", "a", re.sub("[0-9]+", "9", text))


class TimeReading(NamedTuple):
    """How the texts of some columns are read, and the share that can be."""

    columns: tuple[str, ...]
    format: str | None
    times: Instants
    share: float
    reason: str
    year: int | None = None
    question: str | None = None
    is_sure: bool = True
    is_number: bool = False

    @property
    def days(self) -> Ints:
        """The different days in their order in the file, since 1970."""
        days: Ints = self.times.seconds[self.times.seconds != MISSING] // DAY
        return days[np.sort(np.unique(days, return_index=True)[1])]

    @property
    def order(self) -> str:
        """The order of day, month and year in the format: `dmy`."""
        start = range_start(self.format or "")
        codes = re.findall(
            "%([dmbBYyG])", start[0] if start else f"{self.format or ''}{' %Y' if self.year else ''}"
        )
        return "".join({"b": "m", "B": "m", "Y": "y", "G": "y"}.get(code, code) for code in codes)

    @property
    def order_label(self) -> str:
        """The order in words: `day/month/year`; else the format."""
        names = {"d": "day", "m": "month", "y": "year"}
        if self.format is None:
            return "a number since 1970" if self.is_number else "ISO 8601"
        return "/".join(names[part] for part in self.order) if self.order else self.format

    @property
    def span(self) -> str:
        """The first and the last day: `1 Nov 2026 to 28 Nov 2026`."""
        days = self.days
        dates = (dt.date(1970, 1, 1) + dt.timedelta(int(day)) for day in (days.min(), days.max()))
        first, last = map(write_day, dates)
        return first if first == last else f"{first} to {last}"

    def describe(self, example: str) -> str:
        """How the texts are read, in words."""
        if self.year:
            return f"{self.format} in {self.year}, {example}: {self.span}"
        if is_coarse(self.format):
            first = (
                "a week's rows are those of its Monday"
                if "%V" in str(self.format)
                else "a month's of its first day"
            )
            return f"{self.format}, {example}; {first}"
        if range_start(self.format or ""):
            return f"{self.format}, {example}; the rows of a range are those of its first day: {self.span}"
        if self.format in SERIALS:
            return f"days counted by a spreadsheet ({self.format}), {example}: {self.span}"
        return f"{self.format or self.order_label}, {example}: {self.span}"

    def score(self, today: dt.date, clues: Sequence[tuple[int, int]]) -> float:
        """How likely this reading is, by its days."""
        days, now = self.days, (today - dt.date(1970, 1, 1)).days
        first, last = int(days.min()), int(days.max())
        total = _TRUST[min(len(days), len(_TRUST) - 1)] * _fill_share(days)
        total += _USUAL_ISO if self.format is None and self.times.is_date.any() else 0.0
        total -= _IMPLAUSIBLE if last > now + _LATE else _UNUSUAL * float((days > now + 2).mean())
        total -= _UNLIKELY if first < (_EARLY - 1970) * 365 else _UNUSUAL if last < now - _OLD else 0.0
        steps = np.diff(days)
        total -= 0.0 if (steps > 0).all() or (steps < 0).all() else _UNUSUAL
        return total + max((_agreement(first, last, clue) for clue in clues), default=0.0)


def question_of(texts: Texts, readings: Sequence[TimeReading]) -> str:
    """Which of several readings is right: `'01/02/2026' in column 'date' can be …`."""
    choices = " or ".join(f"{reading.order_label}, {reading.span}" for reading in readings)
    options = ", ".join(f"--dates {reading.order}" for reading in readings if reading.order in ORDERS)
    ask = f"Choose one: {options}" if options else "Write a definition that names the format"
    names = " + ".join(readings[0].columns)
    return f"'{texts.iloc[0]}' in column '{names}' can be {choices}, and no other date decides. {ask}"


def _fill_share(days: Ints) -> float:
    """The share of their span that days fill, at the step at which they fill most: a day, a week, a month."""
    days = np.unique(days)
    span = int(days[-1] - days[0])
    shares = [len(days) / (span + 1)]
    if (np.diff(days) % 7 == 0).all():
        shares.append(len(days) / (span / 7 + 1))
    for shift in (0, 1):  # the first day of each month, or the last
        dates = days.astype("datetime64[D]") + np.timedelta64(shift)
        months = dates.astype("datetime64[M]")
        if (months.astype("datetime64[D]") == dates).all():
            shares.append(len(days) / (int((months[-1] - months[0]).astype(int)) + 1))
    return max(shares)


def clues_in(text: str) -> list[tuple[int, int]]:
    """The first and last day of each date and month in a text, or of each and the next."""
    clues: list[tuple[int, int]] = []
    for match in _CLUE_DATES.finditer(text):
        year, day = match["year"] or match["late"], match["day"] or match["first"] or match["second"]
        try:
            month = int(match["month"] or MONTH_OF.get(match["name"].lower(), 0))
            first = dt.date(int(year), month, int(day or 1))
        except ValueError:
            continue
        start = (first - dt.date(1970, 1, 1)).days
        next_month = dt.date(first.year + first.month // 12, first.month % 12 + 1, 1)
        clues.append((start, start if day else (next_month - dt.date(1970, 1, 1)).days - 1))
    pairs = [(start, end) for (start, _), (_, end) in itertools.pairwise(clues) if end > start]
    return pairs or clues


def _agreement(first: int, last: int, clue: tuple[int, int]) -> float:
    """How well days agree with a clue, from 0 to 1; a single day may be that of the export."""
    start, end = clue
    if start == end:
        return 1.0 if start in (first, last, last + 1) else 0.5 if first <= start <= last + 7 else 0.0
    overlap = min(last, end) - max(first, start) + 1
    return max(overlap, 0) / (max(last, end) - min(first, start) + 1)
