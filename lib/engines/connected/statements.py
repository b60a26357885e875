"""Questions as statements: one of the groups, and one of the total where it does not follow from them.

Days, filters and groups of a question as conditions on a table.

Values reach the database as Ibis's literals alone. What depends on how letters are lowered,
or on descriptions, is worked out here over the different values of the key field; the database is asked
for those that passed.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import ibis
import ibis.expr.types as ir
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from lib.engines.connected.columns import DAY_HOURS, Columns, any_of
from lib.engines.connected.live import Live, LiveSlicers
from lib.engines.sums import Question, check_groups
from lib.slicers.granularities import TIME_KEY_FIELDS, TimeGranularity
from lib.slicers.warehouse import StoredSlicer
from lib.slicers.zones import Ints, clock_hours, day_begins
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest
from lib.wire.filters import Filter, rule

MOST_GROUPS_WITHIN, MOST_RANGES = 20_000, 64
TESTS: dict[str, Callable[[ir.StringColumn, str], ir.BooleanColumn]] = {
    "contains": lambda column, value: column.contains(value),
    "begins with": lambda column, value: column.startswith(value),
    "ends with": lambda column, value: column.endswith(value),
}
Values = Callable[[str], list[str]]
Describe = Callable[[str], dict[str, str]]
_WEEK, _DAYS_FROM_MONDAY_1970 = 7, 3
FIRST_DAY = dt.date(1970, 1, 1)
MARGIN_HOURS = 2 * DAY_HOURS  # for records that came after the days were read
Cells = Mapping[str, ir.Value]
Aggregates = Callable[[Cells | ir.Table], dict[str, ir.Scalar]]


class Conditions:
    """The conditions of one question.

    `period` are the hours of the question; `values` gives the different values of a key field, `describe`
    its mapping (nothing without one).
    """

    def __init__(
        self, columns: Columns, question: Question, period: "PeriodHours", values: Values, describe: Describe
    ) -> None:
        self._columns, self._question, self._period = columns, question, period
        self._values, self._describe = values, describe

    def all(self) -> list[ir.BooleanValue]:
        """The conditions, all of which a record fulfils."""
        clauses = self._question.clauses
        inside = self._columns.within(self._period.first, self._period.end)
        conditions = [inside, *(any_of([*map(self._filter, clause)]) for clause in clauses)]
        groups = self._question.within
        if groups is None:
            return conditions
        if len(groups) > MOST_GROUPS_WITHIN:
            raise BadRequest(
                f"The total of {len(groups):,} rows is more than can be asked of a database; leave out "
                f"the total, or filter down to {MOST_GROUPS_WITHIN:,} rows"
            )
        rows = [tuple(row) for row in groups.astype("str").itertuples(index=False)]
        return [*conditions, self._member([str(name) for name in groups], rows)]

    def _filter(self, filter_: Filter) -> ir.BooleanValue:
        fits = self._passes(filter_)
        return ~fits.fill_null(False) if rule(filter_.match).is_negative else fits

    def _passes(self, filter_: Filter) -> ir.BooleanValue:
        """Whether a value, or any element, fulfils the test; negation is left to the caller."""
        name, match = filter_.name, rule(filter_.match)
        if name in TIME_KEY_FIELDS:
            labels = TIME_KEY_FIELDS[name].write(self._period.clock)
            fits = self._fitting(sorted(set(labels.tolist())), filter_)
            return self._at(self._period.hours[np.isin(labels, fits)])
        is_plain = not (filter_.case_insensitive or filter_.search_mappings)
        if is_plain and match.test == "equals":
            return self._is_one_of(name, filter_.value)
        if is_plain and match.test in TESTS and not self._columns.is_segmented(name):
            text = self._columns.bare_text(name) if all(filter_.value) else self._columns.text(name)
            return any_of([TESTS[match.test](text, value) for value in filter_.value])
        return self._is_one_of(name, self._fitting(self._values(name), filter_))

    def _fitting(self, texts: Iterable[str], filter_: Filter) -> list[str]:
        """The texts that pass the test, by themselves or by their description."""
        originals = list(texts)
        descriptions = self._describe(filter_.name) if filter_.search_mappings else {}
        matches = set(_passing(originals, filter_))
        names = [text for text in originals if text in descriptions]
        by_name = set(_passing([descriptions[text] for text in names], filter_))
        matches |= {text for text in names if descriptions[text] in by_name}
        return [text for text in originals if text in matches]

    def _is_one_of(self, name: str, values: Sequence[str]) -> ir.BooleanValue:
        if not self._columns.is_segmented(name):
            return self._columns.is_one_of(name, values)
        conditions = [self._columns.has_element(name, value) for value in values if value]
        return any_of([*conditions, self._columns.has_none(name)] if "" in values else conditions)

    def _at(self, hours: Ints) -> ir.BooleanValue:
        """Whether a record is of one of these hours of UTC: ranges of time, unless these are too many."""
        if not len(hours):
            return ibis.literal(False)
        firsts = hours[np.flatnonzero(np.diff(hours, prepend=hours[0] - 2) > 1)]
        ends = hours[np.flatnonzero(np.diff(hours, append=hours[-1] + 2) > 1)] + 1
        if len(firsts) > MOST_RANGES:
            return self._columns.hour().isin(hours.tolist())
        return any_of(
            [
                self._columns.within(first, end)
                for first, end in zip(firsts.tolist(), ends.tolist(), strict=True)
            ]
        )

    def _member(self, names: list[str], rows: list[tuple[str, ...]]) -> ir.BooleanValue:
        """Whether a record belongs to one of the groups `rows`: a tree of their values, field by field."""
        if len(names) == 1:
            return self._has(names[0], [row[0] for row in rows])
        by_first: dict[str, list[tuple[str, ...]]] = {}
        for row in rows:
            by_first.setdefault(row[0], []).append(row[1:])
        return any_of(
            [self._has(names[0], [first]) & self._member(names[1:], rest) for first, rest in by_first.items()]
        )

    def _has(self, name: str, values: list[str]) -> ir.BooleanValue:
        if name not in TIME_KEY_FIELDS:
            return self._is_one_of(name, values)
        labels = TIME_KEY_FIELDS[name].write(self._period.clock)
        return self._at(self._period.hours[np.isin(labels, values)])


def _passing(texts: list[str], filter_: Filter) -> list[str]:
    """The texts that pass the test; letters are lowered one by one, as in Arrow."""
    match = rule(filter_.match)
    lowercase = _lower(texts) if filter_.case_insensitive else texts
    values = _lower(list(filter_.value)) if filter_.case_insensitive else list(filter_.value)
    if match.test == "equals":
        keys = set(values)
        return [text for text, key in zip(texts, lowercase, strict=True) if key in keys]
    return [
        text
        for text, key in zip(texts, lowercase, strict=True)
        if any(match.holds(key, value) for value in values)
    ]


def _lower(texts: list[str]) -> list[str]:
    lowercase: list[str] = pc.utf8_lower(pa.array(texts, pa.string())).to_pylist()
    return lowercase


@dataclass(frozen=True)
class PeriodHours:
    """A question's days: `first` to `end` (without it) in hours of UTC (24 times the day, of daily rows).

    `hours` are those of them that have records, or soon may, and `clock` what the zone's clocks show then.
    """

    first: int
    end: int
    hours: Ints
    clock: Ints

    def ahead(self, columns: Columns) -> int | ir.IntegerValue:
        """How many hours ahead of UTC the clocks are at a record: no database has to know zones."""
        ahead = self.clock - self.hours
        changes = np.flatnonzero(np.diff(ahead)) + 1
        steps = (
            ibis.ifelse(columns.since(int(self.hours[place])), int(ahead[place] - ahead[place - 1]), 0)
            for place in changes
        )
        return sum(steps, start=int(ahead[0]) if len(ahead) else 0)


class TimeKey:
    """A time key field of a question: hours, days and weeks are counted, longer spans begin at known hours.

    So no database has to know months, and none can differ about the weeks.
    """

    def __init__(self, granularity: TimeGranularity, period: PeriodHours) -> None:
        self._granularity, self._period = granularity, period
        days, places = np.unique(period.clock // DAY_HOURS, return_index=True)
        labels = granularity.write(days * DAY_HOURS)
        firsts = np.flatnonzero(np.r_[True, labels[1:] != labels[:-1]][: len(days)])
        self._first_days, self._begins = days[firsts], period.hours[places[firsts]]

    def number(self, columns: Columns) -> ir.IntegerValue:
        """The number of the span that a record lies in."""
        match self._granularity.name:
            case "hour":
                return columns.hour(self._period.ahead(columns))
            case "day":
                return columns.day(self._period.ahead(columns))
            case "week":
                return (columns.day(self._period.ahead(columns)) + _DAYS_FROM_MONDAY_1970) // _WEEK
            case "weekday":
                # twice, as the rest of a day before 1970 is negative in a database
                weekday = (columns.day(self._period.ahead(columns)) + _DAYS_FROM_MONDAY_1970) % _WEEK
                return (weekday + _WEEK) % _WEEK
            case "hour_of_day":
                return (columns.hour(self._period.ahead(columns)) % DAY_HOURS + DAY_HOURS) % DAY_HOURS
            case _:
                spans = [ibis.ifelse(columns.since(begin), 1, 0) for begin in self._begins[1:].tolist()]
                return sum(spans, start=ibis.literal(0, "int64"))

    def names(self, numbers: Ints) -> list[str]:
        """The texts of spans by their numbers."""
        match self._granularity.name:
            case "hour" | "hour_of_day":
                hours = numbers
            case "weekday":
                hours = (numbers - _DAYS_FROM_MONDAY_1970) * DAY_HOURS
            case "day":
                hours = numbers * DAY_HOURS
            case "week":
                hours = (numbers * _WEEK - _DAYS_FROM_MONDAY_1970) * DAY_HOURS
            case _:
                hours = self._first_days[numbers] * DAY_HOURS
        names: list[str] = self._granularity.write(hours).tolist()
        return names


class Statements:
    """The statements of one question about one slicer.

    `records` is how many records the period has.
    """

    def __init__(
        self, slicers: LiveSlicers, slicer: StoredSlicer, question: Question, deadline: Deadline
    ) -> None:
        self.slicers, self.question, self.deadline = slicers, question, deadline
        self._slicer = slicer
        self.live: Live = slicers.of(slicer)
        self._zone = question.timezone if self.live.definition.time.has_zones else 0
        first, last = ((day - FIRST_DAY).days for day in (question.first, question.last))
        begin, end = day_begins(self._zone, first), day_begins(self._zone, last + 1)
        inside = (self.live.hours >= begin) & (self.live.hours < end)
        self._hours, self.records = self.live.hours[inside], int(self.live.counts[inside].sum())
        hours = self.live.hours
        if len(hours):  # every hour of the period, as far as there are records, or soon may be
            opens = max(begin, int(hours[0]) // DAY_HOURS * DAY_HOURS - MARGIN_HOURS)
            hours = np.arange(opens, min(end, int(hours[-1]) + MARGIN_HOURS), dtype=np.int64)
        self._period = PeriodHours(begin, end, hours, clock_hours(self._zone, hours))
        self.times = {
            name: TimeKey(TIME_KEY_FIELDS[name], self._period)
            for name in question.split_by
            if name in TIME_KEY_FIELDS
        }

    @property
    def dates(self) -> tuple[dt.date, ...]:
        """The days of the period that have data."""
        days = sorted(set((clock_hours(self._zone, self._hours) // DAY_HOURS).tolist()))
        return tuple(FIRST_DAY + dt.timedelta(days=day) for day in days)

    @property
    def has_segmented(self) -> bool:
        """Whether a record may belong to several groups."""
        return any(self.live.columns.is_segmented(name) for name in self.question.split_by)

    def group(
        self, columns: Columns, cells: Cells, aggregates: Aggregates, is_bare: bool = False
    ) -> ir.Table:
        """The groups of `filter`, with aggregates of cells; one more than is allowed, if there are as many.

        Where `is_bare`, texts are grouped as they are, a missing one is NULL, and no field is segmented.
        """
        keys: dict[str, ir.Column] = {}
        segmented = []
        for place, name in enumerate(self.question.split_by):
            key = f"k{place}"
            if name in self.times:
                keys[key] = self.times[name].number(columns)
            elif columns.is_segmented(name):
                keys[key] = columns.elements(name)
                segmented.append(key)
            else:
                keys[key] = columns.bare_text(name) if is_bare else columns.text(name)
        if is_bare:
            groups = columns.table.group_by(**keys).aggregate(**aggregates(cells))
        else:
            table = columns.table.select(**keys, **cells)
            for key in segmented:
                table = table.unnest(key, keep_empty=True)
                table = table.mutate(**{key: table[key].fill_null("")})
            groups = table.group_by(list(keys)).aggregate(**aggregates(table))
        most = self.question.max_groups
        return groups if most is None else groups.limit(most + 1)

    def filter(self) -> Columns:
        """The fields of the records that count."""
        live = self.live
        conditions = Conditions(
            live.columns,
            self.question,
            self._period,
            lambda name: self.slicers.values(live, name, self.deadline),
            self._slicer.descriptions,
        )
        return Columns(live.columns.table.filter(conditions.all()), live.definition)

    def fetch(self, statement: ir.Table) -> pa.Table:
        """The rows of a statement. BadRequest for too many groups."""
        table = self.slicers.rows(self.live, statement, self.deadline)
        check_groups(table.num_rows, self.question.max_groups if self.question.split_by else None)
        return table

    def names(self, table: pa.Table) -> pd.DataFrame:
        """The split fields of fetched groups, as Categoricals with sorted categories."""
        columns = {}
        for place, name in enumerate(self.question.split_by):
            cells = table[f"k{place}"]
            is_time = name in self.times
            texts = self.times[name].names(np.asarray(cells, np.int64)) if is_time else cells.to_pylist()
            columns[name] = pd.Categorical(texts, categories=sorted(set(texts)))
        return pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows))
