"""The columns of a table as a definition reads them: hours, texts, lists of texts, numbers.

Conditions on time and on key fields are ranges and lists of the bare column in its own type, so that the
database can use its indexes, partitions and the statistics of Parquet files.

What a definition says of the marks of numbers, of words for missing values and of formats belongs to files:
in a database a number is a number, and missing is NULL.
"""

import datetime
import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir

from lib.slicers.definition import DataFieldDefinition, Definition, KeyFieldDefinition, RowSource

HOUR_SECONDS, DAY_HOURS = 3600, 24
EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 (a clock without a zone)
LARGEST = 1e308
CALENDAR_HOURS = -17_259_864, 70_389_480  # 2 January of the year 1 to 30 December 9999
NANOSECONDS, NANOSECOND_HOURS = 9, (-2_559_600, 2_559_600)  # that 64 bits can count: 1678 to 2261


class Columns:
    """The fields of a slicer as expressions over a table."""

    def __init__(self, table: ir.Table, definition: Definition) -> None:
        self.table, self.definition = table, definition
        self._keys = {field.name: field for field in definition.key_fields}
        self._data = {field.name: field for field in definition.data_fields}
        self._users = {source.name: source for source in definition.audience_sources}

    def problems(self) -> list[str]:
        """Mismatches between table and definition: columns that are missing or of an unsuitable type."""
        missing = [name for name in self.definition.source_columns() if name not in self.table.columns]
        if missing:
            left_out = dict(getattr(self.table.op(), "left_out", ()))
            return [
                f"'{name}': {left_out[name]}" if name in left_out else f"the table has no column '{name}'"
                for name in missing
            ]
        time, problems = self.definition.time, list(self.misfits().values())
        kind = self.table[time.sources[0]].type()
        if len(time.sources) > 1 or time.format or time.year:
            what = "the time must be one column that is a date or a timestamp, with no format and no year"
        elif time.timezone not in (None, "UTC"):
            what = f"time.timezone can be UTC or nothing here, not '{time.timezone}'"
        elif not kind.is_timestamp() and not kind.is_date():
            what = f"the time column '{time.sources[0]}' is {kind}; it must be a date or a timestamp"
        else:
            return problems
        return [what, *problems]

    def misfits(self) -> dict[str, str]:
        """The columns whose type doesn't suit their field, and why."""
        kinds = self.table.schema()
        problems = {field.source: _key_problem(field, kinds[field.source]) for field in self._keys.values()}
        problems |= {
            field.source: _data_problem(field, kinds[field.source])
            for field in self._data.values()
            if field.source is not None
        }
        return {name: problem for name, problem in problems.items() if problem}

    def is_segmented(self, name: str) -> bool:
        """Whether the key field has several values in a record."""
        return name in self._keys and bool(self._keys[name].segmented)

    def hour(self, ahead: int | ir.IntegerValue = 0) -> ir.IntegerColumn:
        """Hours since 1970, on a clock so many hours ahead of UTC; days begin at multiples of 24."""
        return (self._seconds() // HOUR_SECONDS + (ahead + self._to_utc())).cast("int64")

    def day(self, ahead: int | ir.IntegerValue = 0) -> ir.IntegerColumn:
        """Days since 1970 on that clock; see `hour`."""
        seconds = self._seconds() + (ahead + self._to_utc()) * HOUR_SECONDS
        return (seconds // (DAY_HOURS * HOUR_SECONDS)).cast("int64")

    def _seconds(self) -> ir.IntegerColumn:
        """Seconds since 1970, on the column's own clock."""
        column = self.table[self.definition.time.sources[0]]
        stamp = column.cast("timestamp") if column.type().is_date() else column
        return stamp.epoch_seconds().cast("int64")

    def within(self, first: int, end: int) -> ir.BooleanValue:
        """Whether a record is of the hours `first` to `end` (without it) of UTC."""
        return self.since(first) & self.before(end)

    def since(self, hour: int) -> ir.BooleanValue:
        """Whether a record is of this hour of UTC or a later one."""
        column = self.table[self.definition.time.sources[0]]
        bound = _bound(column.type(), hour - self._to_utc())
        return ibis.literal(hour < 0) if bound is None else column >= bound

    def before(self, hour: int) -> ir.BooleanValue:
        """Whether a record is of an earlier hour of UTC."""
        column = self.table[self.definition.time.sources[0]]
        bound = _bound(column.type(), hour - self._to_utc())
        return ibis.literal(hour > 0) if bound is None else column < bound

    def _to_utc(self) -> int:
        """Hours from the clock of the column to UTC; of daily rows to the slicer's own days."""
        definition = self.definition
        column = self.table[definition.time.sources[0]].type()
        if not definition.time.has_zones:
            return 0 if column.is_date() else definition.timezone - self._clock(column)
        return -self._clock(column)

    def _clock(self, column: dt.DataType) -> int:
        """How many hours east of UTC the clock of the column is: the slicer's, unless it says otherwise."""
        is_instant = column.is_timestamp() and column.timezone is not None
        return 0 if is_instant or self.definition.time.timezone == "UTC" else self.definition.timezone

    def text(self, name: str) -> ir.StringColumn:
        """The texts of a key field that is not segmented; missing is the empty text."""
        return self.bare_text(name).fill_null("")

    def bare_text(self, name: str) -> ir.StringColumn:
        """The same, but NULL where it is missing."""
        return self.table[self._keys[name].source].cast("string")

    def is_one_of(self, name: str, values: Sequence[str]) -> ir.BooleanValue:
        """Whether the text of a key field that is not segmented is among some; it may be NULL for no."""
        column = self.table[self._keys[name].source]
        present = [value for value in values if value]
        conditions = [column.isnull()] if len(present) < len(values) else []
        if column.type().is_string():
            return any_of([column.isin(list(values)), *conditions] if values else [])
        cells = [_cell(column.type(), value) for value in present]
        if column.type().is_integer():
            cells = [cell for cell in cells if cell is not None]
        if None in cells:
            conditions.append(self.text(name).isin(present))
        elif cells:
            conditions.append(column.isin(cells))
        return any_of(conditions)

    def elements(self, name: str) -> ir.ArrayColumn:
        """The different elements of a segmented key field, read as an import reads them (ingest/cells.py).

        Blanks around elements and empty elements are left out, whether of a list or between separators.
        """
        texts = self._raw_elements(name)
        present = texts.filter(lambda element: element.fill_null("").strip() != "")
        return present.map(lambda element: element.strip()).unique()

    def has_element(self, name: str, value: str) -> ir.BooleanColumn:
        """Whether a text that is not empty is among the elements of a segmented key field."""
        # taking a record's elements apart is slow: first whether it may have the text at all
        column = self.table[self._keys[name].source]
        text = self._raw_elements(name).join("\n") if column.type().is_array() else column.cast("string")
        return (text.contains(value) & self.elements(name).contains(value)).fill_null(False)

    def has_none(self, name: str) -> ir.BooleanColumn:
        """Whether a record has no element of a segmented key field."""
        return (self.elements(name).length() == 0).fill_null(True)

    def _raw_elements(self, name: str) -> ir.ArrayColumn:
        field = self._keys[name]
        column = self.table[field.source]
        if not column.type().is_array():
            return column.cast("string").split(str(field.segmented))
        is_text = column.type().value_type.is_string()
        return column if is_text else column.map(lambda element: element.cast("string"))

    def number(self, name: str, is_plain: bool = False) -> ir.NumericColumn:
        """The numbers of a data field, decimal ones as such; of a count, 1 where its column has a value.

        NaN and infinity are no values, but where `is_plain`: then they are left in, since a test of each
        number takes a third of the time of adding them up.
        """
        field = self._data[name]
        column = self.table[field.source]
        if field.aggregate == "count":
            return ibis.ifelse(self._without_missing(column).notnull(), 1, ibis.null("int64"))
        plain = column.cast("float64") if column.type().is_floating() else column
        if is_plain or column.type().is_integer():
            return plain
        return ibis.ifelse(_is_finite(plain), plain, ibis.null())

    def not_finite(self, name: str) -> ir.IntegerColumn | None:
        """1 where a data field is NaN or infinite, else 0; None of one that can't be."""
        field = self._data[name]
        if field.aggregate in ("count", "distinct") or self.table[field.source].type().is_integer():
            return None
        column = self.table[field.source]
        return ibis.ifelse(column.notnull() & ~_is_finite(column), 1, 0)

    def scale(self, name: str) -> int:
        """What numbers of a data field are divided by: their sums, not each of them, which stay exact so."""
        return self._data[name].scale

    def identity(self, name: str) -> ir.StringColumn:
        """The values counted by a distinct count, or the user; an empty text is no value."""
        field = self._data.get(name) or self._users[name]
        return self._without_missing(self.table[field.source])

    def record_cell(self, name: str) -> ir.Column:
        """What a record has of a data field, of a key field that isn't segmented, or of a listed column."""
        if name in self._keys:
            return self.text(name)
        if name in self._data and self._data[name].aggregate != "distinct":
            return self.number(name).cast("float64") / self.scale(name)
        return self.table[name].cast("string").fill_null("")

    def _without_missing(self, column: ir.Column) -> ir.Column:
        return column.nullif("") if column.type().is_string() else column


def _is_finite(number: ir.NumericColumn) -> ir.BooleanColumn:
    return number.cast("float64").between(-LARGEST, LARGEST)  # NaN is greater than it, or not comparable


def _bound(kind: dt.DataType, hour: int) -> ir.Scalar | None:
    """The first value of a time column that lies in an hour of its clock or later; None beyond all dates."""
    first, last = _hours(kind)
    if kind.is_timestamp() and not first <= hour <= last:
        return None
    try:
        if kind.is_date():
            return ibis.literal((EPOCH + datetime.timedelta(days=-(-hour // DAY_HOURS))).date())
        moment = EPOCH + datetime.timedelta(hours=hour)
    except OverflowError:
        return None
    return ibis.literal(moment.replace(tzinfo=datetime.UTC) if kind.timezone is not None else moment)


def is_calendar(column: ir.Column) -> ir.BooleanValue:
    """Whether a time is of the years 1 to 9999: databases have infinity as well, and years beyond."""
    first, last = (_bound(column.type(), hour) for hour in _hours(column.type()))
    return ~(column < first) & ~(column > last)


def _hours(kind: dt.DataType) -> tuple[int, int]:
    """The first and the last hour of UTC that times of a type can have here."""
    return NANOSECOND_HOURS if kind.is_timestamp() and kind.scale == NANOSECONDS else CALENDAR_HOURS


def _cell(kind: dt.DataType, text: str) -> Any:
    """The value of this type that is written as `text`; None where that can't be told or there is none."""
    try:
        if kind.is_boolean():
            return {"true": True, "false": False}.get(text)
        if kind.is_date():
            day = datetime.date.fromisoformat(text)
            return day if day.isoformat() == text else None
        if kind.is_integer():
            number = int(text)
            return (
                number if str(number) == text and kind.bounds.lower <= number <= kind.bounds.upper else None
            )
    except ValueError:
        return None
    return None


def any_of(conditions: Sequence[ir.BooleanValue]) -> ir.BooleanValue:
    """Whether one of the conditions holds, as a tree that is no deeper than it has to be; False of none."""
    if not conditions:
        return ibis.literal(False)
    parts = list(conditions)
    while len(parts) > 1:
        pairs = [parts[place : place + 2] for place in range(0, len(parts), 2)]
        parts = [reduce(operator.or_, pair) for pair in pairs]
    return parts[0]


def _key_problem(field: KeyFieldDefinition, kind: dt.DataType) -> str | None:
    if kind.is_array() and not _is_opaque(kind):
        return None if field.segmented else f"key field '{field.name}' has lists; write segmented: true"
    if field.segmented is True:
        return f"key field '{field.name}' is segmented: true, but its column is {kind}, not a list"
    is_fraction = kind.is_floating() or (kind.is_decimal() and kind.scale != 0)
    if is_fraction or _is_opaque(kind):
        return (
            f"key field '{field.name}' is {kind}; a key field is text, whole numbers, dates or true and false"
        )
    return None


def _data_problem(field: DataFieldDefinition, kind: dt.DataType) -> str | None:
    if field.aggregate in ("count", "distinct") or kind.is_numeric():
        return None
    name = kind.raw_type if kind.is_unknown() else kind
    return (
        f"data field '{field.name}' is {name}; a column that is added up must be a number: cast it in a view"
    )


def sample(table: ir.Table, rows: int) -> tuple[ir.Table, dict[str, str]]:
    """The first rows in types that an import infers from, and the columns that can be no field, with why."""
    left_out = dict(getattr(table.op(), "left_out", ()))
    cells = {}
    for name, kind in table.schema().items():
        if _is_opaque(kind):
            left_out[name] = f"{kind} is no text, number, time or list of these"
        else:
            cells[name] = _sample_cell(table[name])
    return table.limit(rows).select(**cells), left_out


def _sample_cell(column: ir.Column) -> ir.Value:
    kind = column.type()
    if kind.is_decimal() and kind.scale != 0:
        return column.cast("float64")
    if kind.is_array():
        return column.map(lambda element: element.cast("string"))
    if kind.is_string() or kind.is_boolean() or kind.is_numeric():
        return column
    if kind.is_date() or kind.is_timestamp():
        return ibis.ifelse(is_calendar(column), column, ibis.null())
    return column.cast("string")


def _is_opaque(kind: dt.DataType) -> bool:
    """Whether values of a type are no texts, numbers, times or lists of these."""
    if kind.is_array():
        return isinstance(kind.value_type, dt.Array) or _is_opaque(kind.value_type)
    return isinstance(kind, dt.Struct | dt.Map | dt.Binary | dt.Interval | dt.GeoSpatial)


def source_of(definition: Definition) -> RowSource:
    """Where the rows of a connected slicer lie. ValueError for another slicer."""
    if definition.source is None:
        raise ValueError("this slicer has rows of its own")
    return definition.source
