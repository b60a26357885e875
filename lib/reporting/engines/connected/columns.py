"""The columns of a table as a definition reads them: hours, texts, lists of texts, numbers.

What a definition says of the marks of numbers, of words for missing values and of formats belongs to files:
in a database a number is a number, and missing is NULL.
"""

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir

from lib.reporting.definition import DataFieldDefinition, Definition, KeyFieldDefinition, RowSource
from lib.wire.errors import BadDefinition

HOUR_SECONDS, DAY_HOURS = 3600, 24


class Columns:
    """The fields of a slicer as expressions over a table."""

    def __init__(self, table: ir.Table, definition: Definition) -> None:
        self.table, self.definition = table, definition
        self._keys = {field.name: field for field in definition.key_fields}
        self._data = {field.name: field for field in definition.data_fields}
        self._users = {source.name: source for source in definition.audience_sources}

    def problems(self) -> list[str]:
        """Mismatches between table and definition: columns that are missing or of an unsuitable type."""
        missing = [name for name in self._sources() if name not in self.table.columns]
        if missing:
            return [f"the table has no column '{name}'" for name in missing]
        found = [self._time_problem()]
        found += [_key_problem(field, self.table[field.source].type()) for field in self._keys.values()]
        found += [
            _data_problem(field, self.table[field.source].type())
            for field in self._data.values()
            if field.source is not None
        ]
        return [problem for problem in found if problem]

    def check(self) -> None:
        """BadDefinition with every problem."""
        problems = self.problems()
        if problems:
            source = self.definition.source
            raise BadDefinition([f"{source.table if source else ''}: {problem}" for problem in problems])

    def is_segmented(self, name: str) -> bool:
        """Whether the key field has several values in a record."""
        return name in self._keys and bool(self._keys[name].segmented)

    def hour(self, zone: int = 0) -> ir.IntegerColumn:
        """Hours since 1970, on a clock so many hours east of UTC; days begin at multiples of 24."""
        column = self.table[self.definition.time.sources[0]]
        stamp = column.cast("timestamp") if column.type().is_date() else column
        return (stamp.epoch_seconds().cast("int64") // HOUR_SECONDS + self._shift(zone)).cast("int64")

    def _shift(self, zone: int) -> int:
        """Hours from the clock of the column to that clock."""
        definition = self.definition
        column = self.table[definition.time.sources[0]].type()
        if definition.time.granularity == "day":
            return 0 if column.is_date() else definition.timezone - self._clock(column)
        return zone - self._clock(column)

    def _clock(self, column: dt.DataType) -> int:
        """How many hours east of UTC the clock of the column is: the slicer's, unless it says otherwise."""
        is_instant = column.is_timestamp() and column.timezone is not None
        return 0 if is_instant or self.definition.time.timezone == "UTC" else self.definition.timezone

    def text(self, name: str) -> ir.StringColumn:
        """The texts of a key field that is not segmented; missing is the empty text."""
        return self.table[self._keys[name].source].cast("string").fill_null("")

    def elements(self, name: str) -> ir.ArrayColumn:
        """The different elements of a segmented key field; a missing element is the empty text."""
        field = self._keys[name]
        column = self.table[field.source]
        if column.type().is_array():
            return column.map(lambda element: element.cast("string").fill_null("")).unique()
        given = column.cast("string").nullif("")
        return given.split(str(field.segmented)).unique()

    def has_none(self, name: str) -> ir.BooleanColumn:
        """Whether a record has no element of a segmented key field."""
        column = self.table[self._keys[name].source]
        empty = column.length() == 0 if column.type().is_array() else column == ""
        return column.isnull() | empty

    def number(self, name: str) -> ir.FloatingColumn:
        """The numbers of a data field; of a count, 1 where its column has a value. NaN is no value."""
        field = self._data[name]
        column = self.table[field.source]
        if field.aggregate == "count":
            return ibis.ifelse(self._given(column).notnull(), 1.0, ibis.null("float64"))
        plain = column.cast("float64")
        return (
            ibis.ifelse(plain.isnan(), ibis.null("float64"), plain) if column.type().is_floating() else plain
        )

    def identity(self, name: str) -> ir.StringColumn:
        """The values counted by a distinct count, or the user; an empty text is no value."""
        field = self._data.get(name) or self._users[name]
        return self._given(self.table[field.source])

    def _given(self, column: ir.Column) -> ir.Column:
        return column.nullif("") if column.type().is_string() else column

    def _sources(self) -> list[str]:
        return self.definition.source_columns()

    def _time_problem(self) -> str | None:
        time = self.definition.time
        if len(time.sources) > 1 or time.format or time.year:
            return "the time must be one column that is a date or a timestamp, with no format and no year"
        if time.timezone not in (None, "UTC"):
            return f"time.timezone can be UTC or nothing here, not '{time.timezone}'"
        kind = self.table[time.sources[0]].type()
        fits = kind.is_timestamp() or kind.is_date()
        return (
            None
            if fits
            else f"the time column '{time.sources[0]}' is {kind}; it must be a date or a timestamp"
        )


def _key_problem(field: KeyFieldDefinition, kind: dt.DataType) -> str | None:
    if kind.is_array():
        return None if field.segmented else f"key field '{field.name}' has lists; write segmented: true"
    if field.segmented is True:
        return f"key field '{field.name}' is segmented: true, but its column is {kind}, not a list"
    if kind.is_floating() or kind.is_decimal() or kind.is_nested() or kind.is_binary():
        return (
            f"key field '{field.name}' is {kind}; a key field is text, whole numbers, dates or true and false"
        )
    return None


def _data_problem(field: DataFieldDefinition, kind: dt.DataType) -> str | None:
    if field.aggregate in ("count", "distinct") or kind.is_numeric():
        return None
    return f"data field '{field.name}' is {kind}; a column that is added up must be a number"


def source_of(definition: Definition) -> RowSource:
    """Where the rows of a connected slicer lie. ValueError for another slicer."""
    if definition.source is None:
        raise ValueError("this slicer has rows of its own")
    return definition.source
