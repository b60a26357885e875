"""Which columns of a sample are its time, and how their texts are read.

Each way to read the texts of a column is a hypothesis, pair by the days that it gives: how they fill their
span by day, week or month, whether they are in order, not long past and not in the future, and whether they
agree with a date above the table or in the file's name. Two that score alike are a question to a person.
"""

import datetime as dt
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.definition.reading import SERIALS
from lib.reporting.ingest.cells import Missing, NotPlain
from lib.reporting.ingest.clock_changes import clock_change
from lib.reporting.ingest.column_names import sounds_like_clock, sounds_like_time, split_words, time_rank
from lib.reporting.ingest.layout import is_total
from lib.reporting.ingest.times import (
    DAY,
    MISSING,
    RANGE_MARKS,
    Instants,
    Ints,
    instants,
    is_coarse,
    join_texts,
    native_instants,
    range_start,
)

DateOrder = Literal["dmy", "mdy", "ymd"]
Texts: TypeAlias = "pd.Series[str]"
Sample: TypeAlias = Mapping[str, pa.Array]
ORDERS: dict[str, str] = {"dmy": "day/month/year", "mdy": "month/day/year", "ymd": "year/month/day"}
# The formats that are tried on a sample, the most usual first.
_DATES = [
    "%Y-%m-%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d", "%Y.%m.%d", "%d-%m-%Y",
    "%m-%d-%Y", "%m.%d.%Y", "%d-%b-%Y", "%d/%b/%Y", "%d %b %Y", "%b %d, %Y", "%b %d %Y", "%a, %b %d, %Y",
    "%a, %d %b %Y", "%Y-%b-%d",
    "%d-%B-%Y", "%d %B %Y", "%B %d, %Y", "%B %d %Y", "%A, %B %d, %Y", "%A, %d %B %Y", "%d. %B %Y",
    "%m/%d/%y", "%d/%m/%y", "%y/%m/%d", "%d.%m.%y", "%y.%m.%d", "%m.%d.%y", "%d-%m-%y", "%y-%m-%d",
    "%m-%d-%y", "%d %m %y", "%y %m %d", "%m %d %y", "%d-%b-%y", "%y-%b-%d", "%d %b %y", "%y %b %d",
    "%b %d, %y", "%Y年%m月%d日", "%Y%m%d", "%G-W%V-%u",
]  # fmt: skip
_COARSE = [
    "%Y-%m", "%Y/%m", "%m/%Y", "%b %Y", "%B %Y", "%b-%Y", "%G-W%V", "%GW%V", "Week %V, %G", "KW %V/%G",
]  # fmt: skip
_YEARLESS = [
    "%m/%d", "%d/%m", "%d.%m.", "%d.%m", "%m-%d", "%d-%m", "%d %m", "%m %d", "%d %b", "%d-%b", "%b %d",
    "%d %B", "%B %d",
]  # fmt: skip
_CLOCK_FORMATS = [
    "%H:%M:%S", "%H:%M", "%H:%M:%S.%f", "%I:%M:%S %p", "%I:%M %p", "%I %p", "%H", "%H Uhr", "%Hh", "%H.%M",
    "%H%M%S", "%H%M",
]  # fmt: skip
_CLOCK_COLUMN_FORMATS = ["%H", "%H:%M", "%H:%M:%S", "%I %p", "%I:%M %p", "%I:%M:%S %p"]
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
_SURE, _NEARLY = 0.99, 0.5
_MOST_TESTS = 2_000
_EXAMPLES = 3
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_PROBE = 20
# How a hypothesis is pair; one that is not ahead of another by _AHEAD is no better.
_AHEAD = 0.5
_TRUST = (0.0, 0.0, 0.4, 1.0)  # in how 0, 1, 2, 3 or more days fill their span
_UNUSUAL, _UNLIKELY, _IMPLAUSIBLE = 0.3, 1.0, 2.0
_USUAL_ISO = 0.6
_OLD, _EARLY, _LATE = 15 * 366, 1990, 366  # days ago; a year; days ahead
DATES_1904 = "1904 date system"
_OFFSET_AT_END = r"(?:[0-9]Z|[+-][0-9]{2}:?[0-9]{2}|[A-Z]{3,4})$|^[0-9]+(?:\.[0-9]+)?$"
_DIGIT_GROUPS = "[0-9]+[-/.: ][0-9]+"
_SERIAL = r"[2-7][0-9]{4}(?:\.[0-9]+)?"  # from 1954 to 2119
_CLUE_DATES = re.compile(
    r"(?<!\d)(?:(?P<year>(?:19|20)\d\d)(?P<mark>[-/._ ]?)(?P<month>0[1-9]|1[0-2])"
    r"(?:(?P=mark)(?P<day>[0-3]\d))?|(?:(?P<first>[0-3]?\d)\.? )?(?P<name>[A-Z][a-z]{2,8})\.? "
    r"(?:(?P<second>[0-3]?\d),? )?(?P<late>(?:19|20)\d\d))(?!\d)"
)


class TimeHints(NamedTuple):
    """What a person and a file say of its dates: their order, a year, texts beside the table.

    `today` is the last day that rows may have, give or take some days ahead.
    """

    year: int | None = None
    order: str | None = None
    context: str = ""
    time_zone: str | None = None
    today: dt.date | None = None


_NO_HINTS = TimeHints()


class TimeGuess(NamedTuple):
    """The time column; without `format` it is ISO 8601, native, or since 1970. `reason` is for people.

    `question` asks a person which of several readings is right, and is None where one is plainly better.
    `is_sure` says that there was no other reading; `clock_change` that hours without a zone are local ones.
    """

    column: str | tuple[str, ...]
    format: str | None
    granularity: str
    reason: str
    year: int | None = None
    question: str | None = None
    is_sure: bool = True
    clock_change: str = ""

    @property
    def label(self) -> str:
        """The column or columns, in words."""
        return self.column if isinstance(self.column, str) else " + ".join(self.column)

    def definition(self) -> dict[str, Any]:
        """As it stands in a definition."""
        part = {name: getattr(self, name) for name in ("column", "year", "granularity", "format")}
        part["annotation"] = None if self.is_sure else f"A guess: {self.reason}"
        return {name: value for name, value in part.items() if value is not None}


class _TimeReading(NamedTuple):
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


def guess_time(
    sample: Sample, lines: Sequence[int] = (), missing: Missing = None, hints: TimeHints = _NO_HINTS
) -> TimeGuess | None:
    """The column that is most likely the time of a row: by its values, then its name, then its place.

    A date and an hour in two columns are read together; so are a day, a month and a year, where a year of
    the hints may stand for the last. Months and weeks are times only where no column has days. `lines` are
    those of the rows, to name those whose time can't be read.
    """
    return _TimeSearch(sample, lines, missing, hints).guess()


def nearest_column(sample: Sample, missing: Missing = None) -> tuple[str, str] | None:
    """The column that is nearest to a time, and why it is none; None where none is near."""
    search = _TimeSearch(sample, (), missing, _NO_HINTS)
    texts_of = {name: search.distinct_texts(name) for name in sorted(sample, key=time_rank)}
    near = [name for name in texts_of if sounds_like_time(name)]
    near += [name for name, texts in texts_of.items() if texts.str.contains(_DIGIT_GROUPS).mean() > _NEARLY]
    if not near:
        return None
    texts = texts_of[near[0]]
    return near[0], f"'{texts.iloc[0][:40]}' is in no known format" if len(texts) else "it has no values"


def date_parts(columns: Mapping[str, object]) -> dict[str, str]:
    """The columns that are called day, month or year, by that word."""
    return {
        split_words(name)[-1]: name
        for name in columns
        if split_words(name)[-1:] in (["day"], ["month"], ["year"])
    }


class _TimeSearch:
    """The search for the time of a sample, in its columns of texts; see guess_time()."""

    def __init__(self, sample: Sample, lines: Sequence[int], missing: Missing, hints: TimeHints) -> None:
        self._sample, self._lines, self._missing, self._hints = sample, lines, missing, hints

    def guess(self) -> TimeGuess | None:
        """The most likely time."""
        nearly: list[_TimeReading] = []
        coarse: list[_TimeReading] = []
        for name in sorted(self._sample, key=time_rank):
            read = self._read_column(name)
            if read is not None and is_coarse(read.format):
                coarse += [read] if read.share >= _SURE else []
                continue
            if read is not None and read.share >= _SURE:
                return self._time_guess(read)
            nearly += [read] if read else []
        parts = self._date_in_parts()
        if parts is not None and parts.share >= _SURE:
            return self._time_guess(parts)
        best = max(nearly or coarse, key=lambda read: read.share, default=None)
        return self._time_guess(best) if best else None

    def _time_guess(self, read: _TimeReading) -> TimeGuess:
        """Hourly if stamps have a time of day, and days have several of them."""
        read = self._with_clock(read)
        seconds = read.times.seconds[read.times.seconds != MISSING]
        days = len(np.unique(seconds // DAY))
        is_hourly = (
            not read.times.is_date.all() and len(np.unique(seconds)) > days and bool((seconds % DAY).any())
        )
        column = read.columns[0] if len(read.columns) == 1 else read.columns
        granularity, resolution = ("hour", "by hour, in UTC") if is_hourly else ("day", "by day")
        but = self._exceptions(read) if read.share < 1 else ""
        reason = f"{read.reason}{but}; kept {resolution}"
        guess = TimeGuess(column, read.format, granularity, reason, read.year, read.question, read.is_sure)
        return guess._replace(clock_change=self._clock_change(read)) if is_hourly else guess

    def _clock_change(self, read: _TimeReading) -> str:
        """Which hour occurs twice or never, as on the day on which the clocks of a zone change."""
        first = join_texts([self._sample[name] for name in read.columns], None, self._missing)
        if pc.any(pc.match_substring_regex(first, _OFFSET_AT_END)).as_py() or self._hints.time_zone:
            return ""
        full = f"{read.format} %Y" if read.year else read.format
        texts = join_texts([self._sample[name] for name in read.columns], read.year, self._missing)
        seconds = instants(pd.Series(texts.fill_null("").to_pylist(), dtype="str"), full, dt.UTC).seconds
        return clock_change(seconds[seconds != MISSING])

    def _exceptions(self, read: _TimeReading) -> str:
        """The lines whose time can't be read: `, but for line 3,214: 'Total'`."""
        texts = join_texts([self._sample[name] for name in read.columns], read.year, self._missing)
        full = f"{read.format} %Y" if read.year else read.format
        values = pd.Series(texts.fill_null("").to_pylist(), dtype="str")
        is_exception = np.array([value == "" or is_total(value) for value in values], bool)
        bad = np.flatnonzero((instants(values, full, dt.UTC).seconds == MISSING) & ~is_exception)
        examples = bad[:_EXAMPLES].tolist() if len(self._lines) else []
        names = [f"line {self._lines[row]:,}: '{values[row][:40]}'" for row in examples]
        more = f" and {len(bad) - len(names):,} more" if len(bad) > len(names) else ""
        return f", but for {', '.join(names)}{more}" if names else ""

    def _read_column(self, name: str) -> _TimeReading | None:
        """How a column is read as a time, by the format that reads most of it; None where few are times."""
        column = self._sample[name]
        native = native_instants(column, dt.UTC)
        if native is not None:
            share = 1 - column.null_count / max(len(column), 1)
            return _TimeReading((name,), None, native, share, "a column of timestamps") if share else None
        texts = self.distinct_texts(name)
        digits = texts.str.fullmatch(r"[0-9]+(?:\.[0-9]+)?").all()
        if texts.empty or (digits and not sounds_like_time(name) and not _is_stamp(name, texts)):
            return None
        formats: list[str | None] = list(_candidate_formats(texts))
        if texts.str.fullmatch(_SERIAL).all():
            formats.append("serial 1904" if DATES_1904 in self._hints.context else "serial 1900")
        readings = self._readings((name,), texts, formats, self._present_share(name))
        if not readings and self._hints.year is not None:
            yearless = _formats_like(texts.iloc[0], has_year=False)
            readings = self._readings((name,), texts, yearless, 1.0, self._hints.year)
        return self._settle(texts, readings) if readings else None

    def _readings(
        self,
        columns: tuple[str, ...],
        texts: Texts,
        formats: Iterable[str | None],
        present: float,
        year: int | None = None,
    ) -> list[_TimeReading]:
        """The readings of most of these texts that give different days, those that read most of all."""
        dates = texts + f" {year}" if year else texts
        probe = dates.iloc[np.unique(np.linspace(0, len(dates) - 1, _PROBE).astype(int))]
        readings: list[_TimeReading] = []
        for format_ in formats:
            full = f"{format_} %Y" if year else format_
            if not instants(probe, full, dt.UTC).share:
                continue
            times = instants(dates, full, dt.UTC)
            is_number = format_ is None and _are_digits(texts) and not times.is_date.any()
            share = times.share * present
            reading = _TimeReading(columns, format_, times, share, "", year, is_number=is_number)
            same = (other for other in readings if np.array_equal(reading.days, other.days))
            if reading.share >= _NEARLY and all(other.share < reading.share for other in same):
                readings.append(reading)
            if format_ is None and times.share == 1 and not _are_digits(texts):
                break
        if self._hints.order:
            in_order = [reading for reading in readings if reading.order == self._hints.order]
            readings = in_order or [self._refuse_order(texts, reading) for reading in readings]
        return [reading for reading in readings if reading.share == max(read.share for read in readings)]

    def _refuse_order(self, texts: Texts, reading: _TimeReading) -> _TimeReading:
        """The reading, with a question where a person named an order that its numbers can't have."""
        if reading.order not in ORDERS or "%b" in str(reading.format) or "%B" in str(reading.format):
            return reading
        order = ORDERS[str(self._hints.order)]
        question = (
            f"'{texts.iloc[0]}' in column '{reading.columns[0]}' can't be read as {order}, only as "
            f"{reading.order_label}: leave out --dates, or name that order"
        )
        return reading._replace(question=question)

    def _settle(self, texts: Texts, readings: Sequence[_TimeReading]) -> _TimeReading:
        """The likeliest reading and why; with a question where another one is as likely."""
        # No country writes month and day with dots in this order.
        readings = [read for read in readings if not str(read.format).startswith("%m.%d")] or readings
        today = self._hints.today or dt.datetime.now(dt.UTC).date()
        clues = _clues(self._hints.context)
        example = f"such as {texts.iloc[0]}"
        if len(readings) == 1:
            is_sure = readings[0].format not in SERIALS
            return readings[0]._replace(reason=_reason(readings[0], example), is_sure=is_sure)
        scores = [_score(read, today, clues) for read in readings]
        (high, best), *others = sorted(zip(scores, readings, strict=True), key=lambda pair: -pair[0])
        rivals = [read for score, read in others if score > high - _AHEAD]
        if rivals:
            return best._replace(question=_question(texts, [best, *rivals]))
        unlikely = " or ".join(f"{read.order_label} ({read.span})" for _, read in others)
        label = best.order_label if best.order in ORDERS else best.format or best.order_label
        reason = f"{label}, {example}: {best.span}; not {unlikely}"
        return best._replace(reason=reason, is_sure=False)

    def _with_clock(self, read: _TimeReading) -> _TimeReading:
        """The same with the hour from a column of its own, where dates have none."""
        if not read.times.is_date.all():
            return read
        for name in self._sample:
            if name in read.columns or not sounds_like_clock(name):
                continue
            texts = self.distinct_texts(name)
            clock = next((clock for clock in _CLOCK_COLUMN_FORMATS if _is_clock(texts, clock)), None)
            if clock is None:
                continue
            columns = (*read.columns, name)
            both = self.distinct_texts(*columns)
            format_ = f"{self._date_format(read)} {clock}"
            full, dates = (f"{format_} %Y", both + f" {read.year}") if read.year else (format_, both)
            times = instants(dates, full, dt.UTC)
            if times.share >= min(_SURE, read.share):
                reason = f"{format_}, such as {both.iloc[0]}"
                return read._replace(
                    columns=columns, format=format_, times=times, share=times.share, reason=reason
                )
        return read

    def _date_format(self, read: _TimeReading) -> str:
        if read.format is not None:
            return read.format
        texts = self.distinct_texts(*read.columns)
        return "%Y%m%d" if texts.str.fullmatch("[0-9]{8}").mean() > _NEARLY else "%Y-%m-%d"

    def _date_in_parts(self) -> _TimeReading | None:
        """A date in columns called day, month and perhaps year."""
        parts = date_parts(self._sample)
        year = None if "year" in parts else self._hints.year
        if not {"day", "month"} <= parts.keys() or ("year" not in parts and year is None):
            return None
        columns = tuple(parts[word] for word in ("day", "month", "year") if word in parts)
        texts = self.distinct_texts(*columns)
        dates = texts + f" {year}" if year else texts
        for month in ("%m", "%b", "%B"):
            times = instants(dates, f"%d {month} %Y", dt.UTC)
            if times.share >= _NEARLY:
                format_ = f"%d {month}" if year else f"%d {month} %Y"
                reason = f"{format_}, such as {texts.iloc[0]}" + (f" in {year}" if year else "")
                return _TimeReading(columns, format_, times, times.share, reason, year)
        return None

    def distinct_texts(self, *names: str) -> Texts:
        """Up to some thousand different texts, from all over the sample, without missing ones and totals."""
        try:
            values = (
                join_texts([self._sample[name] for name in names], None, self._missing).drop_null().unique()
            )
        except NotPlain:
            return pd.Series(dtype="str")
        spread = np.unique(np.linspace(0, max(len(values) - 1, 0), _MOST_TESTS).astype(int))
        texts = values.take(pa.array(spread)).to_pylist() if len(values) else []
        return pd.Series([text for text in texts if not is_total(text)], dtype="str")

    def _present_share(self, name: str) -> float:
        """The share of rows that have a value, totals not counted."""
        texts = join_texts([self._sample[name]], None, self._missing)
        rows = len(texts) - sum(
            is_total(text) for text in texts.unique().drop_null().slice(0, _MOST_TESTS).to_pylist()
        )
        return (rows - texts.null_count) / max(rows, 1) if texts.null_count else 1.0


def _is_stamp(name: str, texts: Texts) -> bool:
    """Whether digits under a made-up name (column_1, of a file without a header) are those of stamps."""
    return name.startswith("column_") and bool(texts.str.len().isin([8, 14, 17]).all())


def _candidate_formats(texts: Texts) -> Iterator[str | None]:
    """Formats to try, the most likely first."""
    stamps = _stamp_formats(texts.iloc[0]) if texts.str.len().nunique() == 1 else []
    if len(texts.iloc[0]) > 8:
        yield from stamps
    yield None
    if stamps[:1] == ["%Y%m"] and instants(texts, "%Y%m", dt.UTC).share == 1:
        stamps = stamps[:1]
    yield from stamps
    if stamps and texts.iloc[0].isdecimal():
        return  # 202611 would be 1 January 2026 to strptime, which takes a digit for a month
    middle = texts.iloc[len(texts) // 2]
    yield from _range_formats(texts.iloc[0])
    yield from dict.fromkeys([*_formats_like(texts.iloc[0]), *_formats_like(middle)])


def _range_formats(text: str) -> Iterator[str]:
    """The formats of a range of days, such as `Nov 2, 2026 - Nov 8, 2026`."""
    for mark in RANGE_MARKS:
        parts = text.split(mark)
        first, last = mark.join(parts[: len(parts) // 2]), mark.join(parts[len(parts) // 2 :])
        if len(parts) % 2 == 0 and _shape(first) == _shape(last):
            yield from (f"{format_}{mark}{format_}" for format_ in _formats_like(first))


def _stamp_formats(text: str) -> list[str]:
    """The formats of dates and times in digits alone, by their number: 2026010105, 20260101050000."""
    return _STAMPS.get(len(text), []) if text.isdecimal() and text.isascii() else []


def _formats_like(text: str, has_year: bool = True) -> list[str]:
    """The formats whose texts look like this one, the most usual first."""
    return _by_shape(has_year).get(_shape(text), [])


@cache
def _by_shape(has_year: bool) -> dict[str, list[str]]:
    dates = _DATES if has_year else _YEARLESS
    clocks = [clock + zone for zone, clock in itertools.product(_ZONES, _CLOCK_FORMATS)]
    stamps = [date + between + clock for between, clock, date in itertools.product(_BETWEEN, clocks, dates)]
    texts_of: dict[str, list[str]] = {}
    for format_ in [*dates, *stamps, "[%d/%b/%Y:%H:%M:%S %z]", *(_COARSE if has_year else ())]:
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
    return re.sub(r"[^\W\d_年月日]+", "a", re.sub("[0-9]+", "9", text))


def _reason(read: _TimeReading, example: str) -> str:
    if read.year:
        return f"{read.format} in {read.year}, {example}: {read.span}"
    if is_coarse(read.format):
        first = (
            "a week's rows are those of its Monday"
            if "%V" in str(read.format)
            else "a month's of its first day"
        )
        return f"{read.format}, {example}; {first}"
    if range_start(read.format or ""):
        return f"{read.format}, {example}; the rows of a range are those of its first day: {read.span}"
    if read.format in SERIALS:
        return f"days counted by a spreadsheet ({read.format}), {example}: {read.span}"
    return f"{read.format or read.order_label}, {example}: {read.span}"


def _question(texts: Texts, readings: Sequence[_TimeReading]) -> str:
    """Which of several readings is right: `'01/02/2026' in column 'date' can be …`."""
    choices = " or ".join(f"{read.order_label}, {read.span}" for read in readings)
    options = ", ".join(f"--dates {read.order}" for read in readings if read.order in ORDERS)
    ask = f"Choose one: {options}" if options else "Write a definition that names the format"
    names = " + ".join(readings[0].columns)
    return f"'{texts.iloc[0]}' in column '{names}' can be {choices}, and no other date decides. {ask}"


def _score(read: _TimeReading, today: dt.date, clues: Sequence[tuple[int, int]]) -> float:
    """How likely a reading is, by its days."""
    days, now = read.days, (today - dt.date(1970, 1, 1)).days
    first, last = int(days.min()), int(days.max())
    score = _TRUST[min(len(days), len(_TRUST) - 1)] * _fill_share(days)
    score += _USUAL_ISO if read.format is None and read.times.is_date.any() else 0.0
    score -= _IMPLAUSIBLE if last > now + _LATE else _UNUSUAL * float((days > now + 2).mean())
    score -= _UNLIKELY if first < (_EARLY - 1970) * 365 else _UNUSUAL if last < now - _OLD else 0.0
    steps = np.diff(days)
    score -= 0.0 if (steps > 0).all() or (steps < 0).all() else _UNUSUAL
    return score + max((_agreement(first, last, clue) for clue in clues), default=0.0)


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


def _clues(text: str) -> list[tuple[int, int]]:
    """The first and last day of each date and month in a text, or of each and the next."""
    clues: list[tuple[int, int]] = []
    for match in _CLUE_DATES.finditer(text):
        year, day = match["year"] or match["late"], match["day"] or match["first"] or match["second"]
        try:
            month = int(match["month"]) if match["month"] else _MONTHS.index(match["name"][:3].lower()) + 1
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


def _are_digits(texts: Texts) -> bool:
    return bool(texts.str.fullmatch(r"[0-9]+(?:\.[0-9]+)?").all())


def _day_text(day: int) -> str:
    date = dt.date(1970, 1, 1) + dt.timedelta(day)
    return f"{date.day} {date:%b %Y}"


def _is_clock(texts: Texts, clock: str) -> bool:
    if texts.empty:
        return False
    clock_times = pd.to_datetime(texts, format=clock, errors="coerce")
    return bool(clock_times.notna().mean() >= _SURE)
