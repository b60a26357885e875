"""A way to read the dates of a column: the days that it gives, and how likely they are.

A reading is scored by how its days fill their span by day, week or month, whether they are in order, not long
past and not in the future, and whether they agree with a date above the table or in the file's name.
"""

import datetime as dt
import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lib.reporting.definition.reading import SERIALS
from lib.reporting.ingest.time_formats import Texts
from lib.reporting.ingest.times import DAY, MISSING, MONTH_OF, Instants, Ints, is_coarse, range_start

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
        first, last = (_day_text(int(day)) for day in (days.min(), days.max()))
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


def _day_text(day: int) -> str:
    date = dt.date(1970, 1, 1) + dt.timedelta(day)
    return f"{date.day} {date:%b %Y}"
