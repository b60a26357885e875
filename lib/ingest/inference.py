"""A definition from a sample of a file: which column is the time, which are key fields, which data fields."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lib.ingest import cells, column_names, money
from lib.ingest.attributes import find_attributes
from lib.ingest.column_guess import ColumnGuess, guess_column, numbers_rows, present_texts
from lib.ingest.files import COLUMNAR, Reader
from lib.ingest.later_file import misfits
from lib.ingest.layout import are_days
from lib.ingest.numbers import PLAIN, FileMarks, Notation, file_marks, notation_of
from lib.ingest.quotients import find_rates
from lib.ingest.text import DELIMITERS
from lib.ingest.time_formats import ORDERS
from lib.ingest.time_guess import TimeGuess, TimeHints, date_parts, guess_time, nearest_column
from lib.ingest.times import is_hourly, stored_times
from lib.ingest.unpivot import UnpivotReader
from lib.slicers.definition import TIME, Definition
from lib.slicers.definition.reading import MISSING, TimeColumn
from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.wire.errors import ImportRefused, UnknownName
from lib.wire.text import count_of

Floats = npt.NDArray[np.float64]
SAMPLE_ROWS, FEWEST_ROWS = 50_000, 500
_MOST_BATCHES = 5
_MOST_TIMES = 2_000
RECORDS = "records"


@dataclass(frozen=True)
class Hints:
    """A person's hints for inference: the marks of numbers, the year, order and column of the dates.

    `dates` is one of ORDERS. With `is_database` the rows are those of a table, whose times are dates and
    timestamps, never texts.
    """

    ORDERS: ClassVar[tuple[str, ...]] = tuple(ORDERS)

    decimal: str | None = None
    thousands: str | None = None
    year: int | None = None
    dates: str | None = None
    time: str | None = None
    is_database: bool = False

    @staticmethod
    def delimiter(name: str) -> str:
        r"""The delimiter that is meant by `tab`, `\t` or the character itself. ValueError for others."""
        mark = DELIMITERS.get(name.lower(), "\t" if name == "\\t" else name)
        if len(mark) != 1 or not mark.isascii() or mark in '"\r\n':
            raise ValueError(f"a delimiter is one character, or one of {', '.join(DELIMITERS)}; not '{name}'")
        return mark


_NO_HINTS = Hints()


class Inference(NamedTuple):
    """A definition, and what was guessed of each column of the file; `notes` are for people.

    `figures` are the numbers of the sample's data fields, by column, NaN where there is none.
    """

    definition: Definition
    time: TimeGuess
    columns: list[ColumnGuess]
    notes: list[str]
    figures: Mapping[str, Floats] = {}

    @property
    def reasons(self) -> list[tuple[str, str, str]]:
        """Of each column its name, what it was taken for, and why."""
        time = self.time.label, f"time ({self.time.granularity})", self.time.reason
        doubts = (f"; a guess: {guess.doubt}" if guess.doubt else "" for guess in self.columns)
        fields = zip(self.columns, doubts, strict=True)
        return [time, *((guess.column, guess.kind, guess.reason + doubt) for guess, doubt in fields)]

    def misfits(self, definition: Definition) -> list[str]:
        """What the file says against the definition of a slicer that it is added to; see later_file.py."""
        return misfits(definition, self.definition, self.figures)


class _Sample(NamedTuple):
    """The first rows of a file: their columns and lines."""

    columns: dict[str, pa.Array]
    lines: list[int]


def infer(
    reader: Reader,
    mappings: Mapping[str, Collection[str]] | None = None,
    hints: Hints = _NO_HINTS,
    others: Sequence[Reader] = (),
    own_time: TimeColumn | None = None,
) -> Inference:
    """Guess a definition from the first rows of a file, and of `others` that are imported with it.

    `mappings` (name → its codes) go to the key fields whose values are such codes. `own_time` is the
    time, where that is not to be guessed. ImportRefused when no column is a time.
    """
    files, missing = [reader, *others], pa.array(MISSING)
    columns, lines = _sample(files)
    if own_time:
        time = TimeGuess(own_time.column, own_time.format, own_time.granularity, "as before", own_time.year)
    else:
        time = _time(files, columns, lines, missing, hints)
    late = _late_columns(files, columns)
    # Only the rows that have a time: others, such as totals, are not imported, and say nothing.
    part = TimeColumn.model_validate(time.definition())
    _, unreadable, absent = stored_times([columns[name] for name in part.sources], part, 0, missing)
    has_time = pa.array(~(unreadable | absent))
    columns = {name: values.filter(has_time) for name, values in columns.items()}
    dates = {time.column} if isinstance(time.column, str) else set(time.column)
    if not isinstance(time.column, str) and is_hourly(time.format):
        dates.discard(time.column[-1])  # the hour of the day is a field too
    indexes = [name for name, values in columns.items() if numbers_rows(name, values)]
    fields = {name: values for name, values in columns.items() if name not in (*dates, *indexes)} | late
    texts = {
        name: notation
        for name, values in fields.items()
        if cells.is_text(values.type) and (notation := notation_of(present_texts(values, missing)))
    }
    notations = {
        name: notation
        for name, notation in texts.items()
        # The numbers of codes say nothing of others.
        if not column_names.is_version(name) and not (column_names.is_id(name) and notation.ambiguous)
    }
    marks = file_marks(notations, reader.file.name, hints.decimal, hints.thousands)
    guesses = list[ColumnGuess]()
    for name, values in fields.items():
        guess = guess_column(name, values, texts.get(name), marks, missing, hints.is_database)
        guesses.append(guess.with_mapping(values, mappings or {}))
    figures: dict[str, Floats] = {}
    for name in (guess.column for guess in guesses if not guess.is_key and guess.column not in late):
        numbers = cells.number(fields[name], marks.columns.get(name, PLAIN), missing)
        figures[name] = numbers.values.to_numpy(zero_copy_only=False)
    guesses = find_rates(money.scale(guesses, figures), figures)
    guesses = money.with_currencies(find_attributes(guesses, fields, figures), fields)
    definition = _definition(reader, time, guesses, marks)
    notes = [*_mark_notes(marks, texts), *(_missing_notes(fields, missing) if definition.missing else ())]
    notes += [f"Left out: '{name}', which numbers the rows." for name in indexes]
    return Inference(definition, time, guesses, notes, figures)


def _time(
    readers: Sequence[Reader],
    columns: Mapping[str, pa.Array],
    lines: list[int],
    missing: pa.Array,
    hints: Hints,
) -> TimeGuess:
    """The time of the sample; where that leaves a choice, of all rows. ImportRefused without one."""
    context = "\n".join(reader.context for reader in readers)
    if hints.time and hints.time not in columns:
        raise ImportRefused(f"{readers[0].file.name}: {UnknownName('column', hints.time, columns)}")
    time_hints = TimeHints(hints.year, hints.dates, context, is_database=hints.is_database, column=hints.time)
    time = guess_time(columns, lines, missing, time_hints)
    if time is None:
        raise ImportRefused(_no_time(readers[0], columns, hints))
    if time.question and len(lines) >= FEWEST_ROWS:
        names = [time.column] if isinstance(time.column, str) else list(time.column)
        tables = list[pa.Table]()
        for raw in (raw for reader in readers for raw in reader.rows(names, lambda reject: None)):
            texts = {name: cells.text(cells.one_array(raw.table[name])) for name in raw.table.column_names}
            rows = pa.table(texts).group_by(list(texts), use_threads=False).aggregate([])
            # Some of a batch, from all over it: all of them would fill the memory.
            tables.append(rows.take(pa.array(range(0, rows.num_rows, 1 + rows.num_rows // _MOST_TIMES))))
        time = guess_time({name: _column(name, tables) for name in names}, (), missing, time_hints) or time
    if time.question:
        raise ImportRefused(f"{readers[0].file.name}: {time.question}")
    return time


def _late_columns(readers: Sequence[Reader], columns: Collection[str]) -> dict[str, pa.Array]:
    """The values of columns that come after the sample, in files that name them in each row."""
    tables: dict[str, list[pa.Table]] = {}
    for reader in readers:
        if reader.columns is None:
            for raw in reader.rows(_Others(columns), lambda reject: None):
                for name in raw.table.column_names:
                    if len(tables.setdefault(name, [])) < _MOST_BATCHES:
                        tables[name].append(raw.table.select([name]))
    return {name: _column(name, batches).drop_null() for name, batches in tables.items()}


class _Others(Collection[str]):
    """The names of all columns but some, whatever they are."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def __contains__(self, name: object) -> bool:
        return name not in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _sample(readers: Sequence[Reader]) -> _Sample:
    """The first rows of files, one behind the other; a column that a file lacks has no values there."""
    rows = min(SAMPLE_ROWS, max(FEWEST_ROWS, SAMPLE_ROWS // len(readers)))
    first, *more = samples = [_first_rows(reader, rows) for reader in readers]
    if not more:
        return first
    tables = [pa.table(sample.columns) for sample in samples]
    names = dict.fromkeys(name for sample in samples for name in sample.columns)
    lines = [line for sample in samples for line in sample.lines]
    return _Sample({name: _column(name, tables) for name in names}, lines)


def _first_rows(reader: Reader, rows: int) -> _Sample:
    tables: list[pa.Table] = []
    lines: list[int] = []
    for raw in reader.rows(None, lambda reject: None):
        table = raw.table
        for position, column in enumerate(map(cells.one_array, table.columns)):
            flags = cells.too_long(column)
            if flags is not None:  # values that no import takes say nothing, and fill the memory
                column = pc.if_else(pa.array(~flags), column, pa.scalar(None, column.type))
                table = table.set_column(position, table.column_names[position], column)
        tables.append(table)
        lines += raw.lines.tolist()
        if len(lines) >= rows:
            break
    if not any(table.num_rows for table in tables):
        raise ImportRefused(f"There are no rows in {reader.file.name}")
    sample = _Sample({name: _column(name, tables).slice(0, rows) for name in reader.names}, lines[:rows])
    name, first = next(iter(sample.columns.items()))
    if not cells.is_text(first.type) or not pc.any(pc.equal(first, name)).as_py():
        return sample
    is_other = pc.not_equal(first, name).fill_null(True)  # no header once more
    lines = pa.array(sample.lines).filter(is_other).to_pylist()
    return _Sample({column: values.filter(is_other) for column, values in sample.columns.items()}, lines)


def _column(name: str, tables: list[pa.Table]) -> pa.Array:
    """One column of several batches, in a type that holds all of them."""
    places = [table.schema.get_field_index(name) for table in tables]  # -1 where there is none
    parts = [
        pa.nulls(table.num_rows) if place < 0 else cells.one_array(table.column(place))
        for table, place in zip(tables, places, strict=True)
    ]
    kinds = {part.type for part in parts if not pa.types.is_null(part.type)}
    if len(kinds) == 1:
        return pa.concat_arrays([part.cast(next(iter(kinds))) for part in parts])
    if any(pa.types.is_nested(kind) for kind in kinds):
        return pa.concat_arrays([cells.elements(part, "\n") for part in parts])
    if kinds and all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds):
        return pa.concat_arrays([part.cast(pa.float64(), safe=False) for part in parts])
    return pa.concat_arrays([cells.text(part) for part in parts])


def _no_time(reader: Reader, columns: Mapping[str, pa.Array], hints: Hints) -> str:
    column = hints.time
    if hints.is_database:
        nearest = nearest_column(columns, pa.array(MISSING))
        near = f"; '{nearest[0]}' may be one: make it so in the table, or in a view of it" if nearest else ""
        return f"No column is a date or a timestamp{near}. The columns are: {', '.join(columns)}"
    if sum(are_days([name]) for name in columns) > 1:
        return (
            f"{reader.file.name}: no column has a time, but its days go across: {', '.join(columns)}. "
            "--unpivot makes a row of each, with the columns day and value"
        )
    parts = date_parts(columns)
    if {"day", "month"} <= parts.keys():
        return (
            f"{reader.file.name}: '{parts['day']}' and '{parts['month']}' make a date without a year; "
            "add --year 2026"
        )
    nearest = nearest_column({column: columns[column]} if column else columns, pa.array(MISSING))
    near = f"; nearest is '{nearest[0]}', but {nearest[1]}" if nearest else ""
    return (
        f"{reader.file.name}: no column has a time in a known format{near}. Name the column with --time, or "
        "write a definition with its column and format, and give that with --definition. "
        f"The columns are: {', '.join(columns)}"
    )


def _definition(reader: Reader, time: TimeGuess, columns: list[ColumnGuess], marks: FileMarks) -> Definition:
    """Guesses as a definition, each field under a name that is its own, with a count of the records first."""
    settings: dict[str, Any] = {"decimal": marks.decimal}
    if marks.thousands is not None:
        settings["thousands"] = marks.thousands
    if reader.file.format in {"ndjson", *COLUMNAR} and not marks.columns:
        settings["missing"] = []  # these have a sign of their own for it (null): "-" is a text
    if isinstance(reader, UnpivotReader):
        settings["unpivot"] = True
    if not reader.has_header:
        settings |= {"header": False, "names": list(reader.columns or ())}
    names = {TIME, *TIME_KEY_FIELDS}
    name_of = {guess.column: _free_name(guess.column, names) for guess in columns}
    fields = [guess.field(name_of[guess.column]) for guess in columns]
    for field in fields:
        if "formula" in field:
            field["formula"] = field["formula"].formula(name_of)
        if field.get("currency") in name_of:
            field["currency"] = name_of[field["currency"]]
    records = {"name": _free_name(RECORDS, names), "description": "Records", "aggregate": "count"}
    return Definition.model_validate(
        {
            **settings,
            "time": time.definition(),
            "key_fields": [field for field, guess in zip(fields, columns, strict=True) if guess.is_key],
            "data_fields": [
                records, *(field for field, guess in zip(fields, columns, strict=True) if not guess.is_key)
            ],
        }
    )  # fmt: skip


def _free_name(column: str, names: set[str]) -> str:
    """A field's name from a column's: without quotes, and not taken."""
    plain = "".join(character for character in column if character.isprintable() and character not in "'\"")
    name = base = plain[:180] or "column"
    number = 2
    while name in names:
        name, number = f"{base}_{number}", number + 1
    names.add(name)
    return name


def _missing_notes(columns: Mapping[str, pa.Array], missing: pa.Array) -> Iterator[str]:
    """A sentence about each column of texts in which words stand for missing values."""
    for name, values in columns.items():
        if cells.is_text(values.type):
            counts = values.filter(pc.is_in(values, value_set=missing)).value_counts().to_pylist()
            words = [f"{part['values']!r} {count_of(part['counts'], 'time')}" for part in counts]
            if words:
                yield f"Read as missing in '{name}': {', '.join(words)}."


def _mark_notes(marks: FileMarks, texts: Mapping[str, Notation]) -> list[str]:
    """A sentence about the marks of numbers."""
    if marks.decimal == "unknown":
        return ["No number has a decimal mark; one that comes later and can be read in two ways is refused."]
    if marks.decimal == "." and marks.thousands is None:
        return []
    source = next(
        (f", as in {column.example}" for column in texts.values() if column.decimal == marks.decimal), ""
    )
    thousands = f" and the thousands mark {marks.thousands!r}" if marks.thousands else ""
    return [f"Numbers have the decimal mark {marks.decimal!r}{thousands}{source}."]
