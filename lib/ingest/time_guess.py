"""Which columns of a sample are its time, and how their texts are read.

Each way to read the texts of a column is a hypothesis, scored by the days that it gives (time_formats.py).
Two that score alike are a question to a person.
"""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from lib.ingest.cells import Missing, NotPlain
from lib.ingest.column_names import (
    date_role,
    is_amount,
    is_mean,
    sounds_like_clock,
    sounds_like_hour,
    sounds_like_time,
    split_words,
    time_rank,
)
from lib.ingest.layout import is_total
from lib.ingest.time_formats import (
    AHEAD,
    CLOCK_COLUMN_FORMATS,
    ORDERS,
    Texts,
    TimeReading,
    candidate_formats,
    clues_in,
    formats_like,
    question_of,
)
from lib.ingest.times import DAY, HOUR, MISSING, instants, is_coarse, join_texts, native_instants
from lib.slicers.definition.reading import GUESS, SERIALS

Sample: TypeAlias = Mapping[str, pa.Array]
_SURE, _NEARLY = 0.99, 0.5
_MOST_TESTS = 2_000
_EXAMPLES = 3
_PROBE = 20
DATES_1904 = "1904 date system"
# The formats of a date in several columns, by what these are called.
_PARTS = {
    ("day", "month", "year"): ("%d %m %Y", "%d %b %Y"),
    ("month", "year"): ("%m %Y", "%b %Y"),
    ("week", "year"): ("%V %G", "W%V %G"),
}
_DIGIT_GROUPS = "[0-9]+[-/.: ]+[0-9]+[-/.: ]+[0-9]+"
_GROUPED_NUMBER = r"[^0-9]*[0-9]{1,3}(?:[.,' ][0-9]{3})+(?:[.,][0-9]+)?[^0-9]*"
_SERIAL = r"[2-7][0-9]{4}(?:\.[0-9]+)?"  # from 1954 to 2119


class TimeHints(NamedTuple):
    """What a person and a file say of its dates: their column, order and year, texts beside the table.

    `today` is the last day that rows may have, give or take some days ahead. With `is_database` texts and
    numbers are no times.
    """

    year: int | None = None
    order: str | None = None
    context: str = ""
    today: dt.date | None = None
    is_database: bool = False
    column: str | None = None


_NO_HINTS = TimeHints()


class TimeGuess(NamedTuple):
    """The time column; without `format` it is ISO 8601, native, or since 1970. `reason` is for people.

    `question` asks a person which of several readings is right, and is None where one is plainly better.
    `is_sure` says that there was no other reading.
    """

    column: str | tuple[str, ...]
    format: str | None
    granularity: str
    reason: str
    year: int | None = None
    question: str | None = None
    is_sure: bool = True

    @property
    def label(self) -> str:
        """The column or columns, in words."""
        return self.column if isinstance(self.column, str) else " + ".join(self.column)

    def definition(self) -> dict[str, Any]:
        """As it stands in a definition."""
        part = {name: getattr(self, name) for name in ("column", "year", "granularity", "format")}
        part["annotation"] = None if self.is_sure else f"{GUESS}{self.reason}"
        return {name: value for name, value in part.items() if value is not None}


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
    texts_of = {name: texts for name, texts in texts_of.items() if not is_amount(name) and not is_mean(name)}
    near = [name for name in texts_of if sounds_like_time(name)]
    for name, texts in texts_of.items():
        has_groups = texts.str.contains(_DIGIT_GROUPS) & ~texts.str.fullmatch(_GROUPED_NUMBER)
        near += [name] if has_groups.mean() > _NEARLY else []
    if not near:
        return None
    name = next((name for name in near if len(texts_of[name])), near[0])
    texts, share = texts_of[name], search.present_share(name)
    if share < _NEARLY:
        return name, f"it is empty in {1 - share:.0%} of the rows" if len(texts) else "it has no values"
    return name, f"'{texts.iloc[0][:40]}' is in no known format"


def date_parts(columns: Mapping[str, object]) -> dict[str, str]:
    """The columns that are called day, week, month or year, by that word; of a start rather than an end."""
    return {
        split_words(name)[-1]: name
        for name in sorted(columns, key=date_role, reverse=True)
        if split_words(name)[-1:] in (("day",), ("week",), ("month",), ("year",))
    }


class _TimeSearch:
    """The search for the time of a sample, in its columns of texts; see guess_time()."""

    def __init__(self, sample: Sample, lines: Sequence[int], missing: Missing, hints: TimeHints) -> None:
        self._sample, self._lines, self._missing, self._hints = sample, lines, missing, hints

    def guess(self) -> TimeGuess | None:
        """The most likely time."""
        sure: list[TimeReading] = []
        nearly: list[TimeReading] = []
        coarse: list[TimeReading] = []
        for name in sorted(self._sample, key=time_rank):
            if sure and not (sounds_like_time(name) or date_role(name)):
                continue
            if self._hints.column not in (None, name):
                continue
            reading = self._read_column(name)
            if reading is None:
                continue
            if is_coarse(reading.format):
                coarse += [reading] if reading.share >= _SURE else []
            else:
                (sure if reading.share >= _SURE else nearly).append(reading)
        if sure:
            # Of several dates that of the row: no start or end of a flight, no day that all rows have.
            best = min(sure, key=lambda reading: (date_role(reading.columns[0]), len(reading.days) == 1))
            others = [reading.columns[0] for reading in sure if reading is not best]
            return self._time_guess(best, f"; other dates: {', '.join(others)}" if others else "")
        is_column = self._hints.is_database or self._hints.column is not None
        parts = None if is_column else self._date_in_parts()
        if parts is not None and parts.share >= _SURE:
            return self._time_guess(parts)
        nearest = max(nearly or coarse, key=lambda reading: reading.share, default=None)
        return self._time_guess(nearest) if nearest else None

    def _time_guess(self, reading: TimeReading, note: str = "") -> TimeGuess:
        """Hourly if stamps have a time of day, and days have several of them, or a name says hours.

        A single full hour, as of an hourly file, is kept too, as a guess.
        """
        reading = self._with_clock(reading)
        times, format_, year = reading.times, reading.format, reading.year
        seconds = times.seconds[times.seconds != MISSING]
        days = len(np.unique(seconds // DAY))
        is_hourly = len(np.unique(seconds)) > days and bool((seconds % DAY).any())
        is_one_hour = (
            days == 1 and not is_hourly and bool((seconds % DAY > 0).all() and not (seconds % HOUR).any())
        )
        is_named = any(map(sounds_like_hour, reading.columns))
        is_hourly = not times.is_date.all() and (is_hourly or is_one_hour or is_named)
        column = reading.columns[0] if len(reading.columns) == 1 else reading.columns
        granularity, resolution = ("hour", "by hour, in UTC") if is_hourly else ("day", "by day")
        resolution += ", as a single hour is there" * (is_one_hour and not is_named)
        but = ""
        if reading.share < 1:
            # The lines whose time can't be read: `, but for line 3,214: 'Total'`.
            texts = join_texts([self._sample[name] for name in reading.columns], year, self._missing)
            full = f"{format_} %Y" if year else format_
            values = pd.Series(texts.fill_null("").to_pylist(), dtype="str")
            is_exception = np.array([value == "" or is_total(value) for value in values], bool)
            bad = np.flatnonzero((instants(values, full, dt.UTC).seconds == MISSING) & ~is_exception)
            examples = bad[:_EXAMPLES].tolist() if len(self._lines) else []
            names = [f"line {self._lines[row]:,}: '{values[row][:40]}'" for row in examples]
            more = f" and {len(bad) - len(names):,} more" if len(bad) > len(names) else ""
            but = f", but for {', '.join(names)}{more}" if names else ""
        reason = f"{reading.reason}{but}{note}; kept {resolution}"
        is_sure = reading.is_sure and (is_named or not is_one_hour)
        return TimeGuess(column, format_, granularity, reason, year, reading.question, is_sure)

    def _read_column(self, name: str) -> TimeReading | None:
        """How a column is read as a time, by the format that reads most of it; None where few are times."""
        column = self._sample[name]
        native = native_instants(column, dt.UTC)
        if native is not None:
            share = 1 - column.null_count / max(len(column), 1)
            return TimeReading((name,), None, native, share, "a column of timestamps") if share else None
        if self._hints.is_database:
            return None
        texts = self.distinct_texts(name)
        digits = texts.str.fullmatch(r"[0-9]+(?:\.[0-9]+)?").all()
        is_likely = (
            sounds_like_time(name)
            or name == self._hints.column
            or (
                # Digits under a made-up name, of a file without a header, may be those of stamps.
                name.startswith("column_") and texts.str.len().isin([8, 14, 17]).all()
            )
        )
        if texts.empty or (digits and not is_likely):
            return None
        formats: list[str | None] = list(candidate_formats(name, texts))
        if texts.str.fullmatch(_SERIAL).all():
            formats.append("serial 1904" if DATES_1904 in self._hints.context else "serial 1900")
        readings = self._readings((name,), texts, formats, self.present_share(name))
        if not readings and self._hints.year is not None:
            yearless = formats_like(texts.iloc[0], has_year=False)
            readings = self._readings((name,), texts, yearless, 1.0, self._hints.year)
        return self._settle(texts, readings) if readings else None

    def _readings(
        self,
        columns: tuple[str, ...],
        texts: Texts,
        formats: Iterable[str | None],
        present: float,
        year: int | None = None,
    ) -> list[TimeReading]:
        """The readings of most of these texts that give different days, those that read most of all."""
        dates = texts + f" {year}" if year else texts
        probe = dates.iloc[np.unique(np.linspace(0, len(dates) - 1, _PROBE).astype(int))]
        readings: list[TimeReading] = []
        for format_ in formats:
            full = f"{format_} %Y" if year else format_
            if not instants(probe, full, dt.UTC).share:
                continue
            times = instants(dates, full, dt.UTC)
            is_number = format_ is None and _are_digits(texts) and not times.is_date.any()
            share = times.share * present
            reading = TimeReading(columns, format_, times, share, "", year, is_number=is_number)
            same = (other for other in readings if np.array_equal(reading.days, other.days))
            if reading.share >= _NEARLY and all(other.share < reading.share for other in same):
                readings.append(reading)
            if format_ is None and times.share == 1 and not _are_digits(texts):
                break
        if self._hints.order:
            in_order = [reading for reading in readings if reading.order == self._hints.order]
            readings = in_order or readings
            # An order that a person named, and the numbers can't have, is a question.
            for number, reading in enumerate(readings):
                if not in_order and reading.order in ORDERS and "%b" not in str(reading.format):
                    question = (
                        f"'{texts.iloc[0]}' in column '{columns[0]}' can't be read as "
                        f"{ORDERS[self._hints.order]}, only as {reading.order_label}: leave out --dates, or "
                        "name that order"
                    )
                    readings[number] = reading._replace(question=question)
        return [reading for reading in readings if reading.share == max(other.share for other in readings)]

    def _settle(self, texts: Texts, readings: Sequence[TimeReading]) -> TimeReading:
        """The likeliest reading and why; with a question where another one is as likely."""
        # No country writes month and day with dots in this order.
        usual = [reading for reading in readings if not str(reading.format).startswith("%m.%d")]
        readings = usual or readings
        today = self._hints.today or dt.datetime.now(dt.UTC).date()
        clues = clues_in(self._hints.context)
        example = f"such as {texts.iloc[0]}"
        if len(readings) == 1:
            is_sure = readings[0].format not in SERIALS
            return readings[0]._replace(reason=readings[0].describe(example), is_sure=is_sure)
        scores = [reading.score(today, clues) for reading in readings]
        (high, best), *others = sorted(zip(scores, readings, strict=True), key=lambda pair: -pair[0])
        rivals = [reading for score, reading in others if score > high - AHEAD]
        if rivals:
            return best._replace(question=question_of(texts, [best, *rivals]))
        unlikely = " or ".join(f"{reading.order_label} ({reading.span})" for _, reading in others)
        label = best.order_label if best.order in ORDERS else best.format or best.order_label
        reason = f"{label}, {example}: {best.span}; not {unlikely}"
        return best._replace(reason=reason, is_sure=False)

    def _with_clock(self, reading: TimeReading) -> TimeReading:
        """The same with the hour from a column of its own, where dates have none."""
        if not reading.times.is_date.all() or self._hints.is_database:
            return reading
        for name in self._sample:
            if name in reading.columns or not sounds_like_clock(name):
                continue
            texts = self.distinct_texts(name)
            clocks = (
                clock
                for clock in CLOCK_COLUMN_FORMATS
                if pd.to_datetime(texts, format=clock, errors="coerce").notna().mean() >= _SURE
            )
            clock = next(clocks, None)  # of no texts none
            if clock is None:
                continue
            columns = (*reading.columns, name)
            both = self.distinct_texts(*columns)
            are_digits = self.distinct_texts(*reading.columns).str.fullmatch("[0-9]{8}").mean() > _NEARLY
            format_ = f"{reading.format or ('%Y%m%d' if are_digits else '%Y-%m-%d')} {clock}"
            full, dates = (f"{format_} %Y", both + f" {reading.year}") if reading.year else (format_, both)
            times = instants(dates, full, dt.UTC)
            if times.share >= min(_SURE, reading.share):
                reason = f"{format_}, such as {both.iloc[0]}"
                return reading._replace(
                    columns=columns, format=format_, times=times, share=times.share, reason=reason
                )
        return reading

    def _date_in_parts(self) -> TimeReading | None:
        """A date in columns called day, month and year, or year and month or week."""
        parts = date_parts(self._sample)
        year = None if "year" in parts else self._hints.year
        roles = next((roles for roles in _PARTS if {*roles} <= {*parts, *(["year"] if year else [])}), ())
        columns = tuple(parts[role] for role in roles if role in parts)
        if not columns:
            return None
        texts = self.distinct_texts(*columns)
        dates = texts + f" {year}" if year else texts
        for full in _PARTS[roles]:
            times = instants(dates, full, dt.UTC)
            if times.share >= _NEARLY:
                format_ = full.removesuffix(" %Y") if year else full
                reason = f"{format_}, such as {texts.iloc[0]}" + (f" in {year}" if year else "")
                return TimeReading(columns, format_, times, times.share, reason, year)
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

    def present_share(self, name: str) -> float:
        """The share of rows that have a value, totals not counted."""
        texts = join_texts([self._sample[name]], None, self._missing)
        missing: int = texts.null_count
        if not missing:
            return 1.0
        different = texts.unique().drop_null().slice(0, _MOST_TESTS).to_pylist()
        rows = len(texts) - sum(map(is_total, different))
        return (rows - missing) / max(rows, 1)


def _are_digits(texts: Texts) -> bool:
    return bool(texts.str.fullmatch(r"[0-9]+(?:\.[0-9]+)?").all())
