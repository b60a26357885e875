"""A definition from a sample of a file: which column is the time, which are key fields, which data fields."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.definition import TIME, Definition
from lib.reporting.definition.reading import MISSING, TimeColumn
from lib.reporting.ingest import cells
from lib.reporting.ingest.column_guess import (
    ColumnGuess,
    FileMarks,
    Notation,
    example_of,
    file_marks,
    guess_column,
    notation_of,
    present_texts,
)
from lib.reporting.ingest.column_names import is_id, is_version
from lib.reporting.ingest.files import Reader
from lib.reporting.ingest.numbers import PLAIN
from lib.reporting.ingest.time_columns import date_parts
from lib.reporting.ingest.time_guess import TimeGuess, guess_time
from lib.reporting.ingest.times import stored_times
from lib.reporting.models import GRANULARITIES, time_key_field
from lib.wire.errors import ImportRefused

SAMPLE_ROWS, FEWEST_ROWS = 50_000, 500
RECORDS = "records"


class Hints(NamedTuple):
    """A person's hints for inference: the marks of numbers, and the year of dates without one."""

    decimal: str | None = None
    thousands: str | None = None
    year: int | None = None


_NO_HINTS = Hints()


class Inference(NamedTuple):
    """A definition, and what was guessed of each column of the file; `notes` are for people."""

    definition: Definition
    time: TimeGuess
    columns: list[ColumnGuess]
    notes: list[str]


class _Sample(NamedTuple):
    """The first rows of a file: their columns and lines."""

    columns: dict[str, pa.Array]
    lines: list[int]


def infer(
    reader: Reader,
    mappings: Mapping[str, Collection[str]] | None = None,
    hints: Hints = _NO_HINTS,
    others: Sequence[Reader] = (),
) -> Inference:
    """Guess a definition from the first rows of a file, and of `others` that are imported with it.

    `mappings` (name → its codes) go to the key fields whose values are such codes. ImportRefused when no
    column is a time.
    """
    rows = min(SAMPLE_ROWS, max(FEWEST_ROWS, SAMPLE_ROWS // (1 + len(others))))
    columns, lines = _together([_sample(one, rows) for one in (reader, *others)])
    missing = pa.array(MISSING)
    time = guess_time(columns, lines, missing, hints.year)
    if time is None:
        raise ImportRefused(_no_time(reader, columns))
    columns = _with_times(columns, time, missing)
    dates = {time.column} if isinstance(time.column, str) else set(time.column[:-1])
    fields = {name: values for name, values in columns.items() if name not in dates}
    texts = {
        name: notation
        for name, values in fields.items()
        if cells.is_text(values.type) and (notation := notation_of(present_texts(values, missing)))
    }
    marks = file_marks(
        {name: notation for name, notation in texts.items() if _counts(name, notation)},
        reader.file.name,
        hints.decimal,
        hints.thousands,
    )
    guesses = [
        _guess(name, values, texts.get(name), marks, missing).with_mapping(values, mappings or {})
        for name, values in fields.items()
    ]
    written_as = _reading(reader, marks)
    notes = [*_notes(marks, texts), *_word_notes(fields, missing)]
    return Inference(_definition(time, guesses, written_as), time, guesses, notes)


def _with_times(columns: dict[str, pa.Array], time: TimeGuess, missing: pa.Array) -> dict[str, pa.Array]:
    """Only the rows that have a time: others, such as totals, are not imported, and say nothing."""
    part = TimeColumn.model_validate(time.definition())
    _, unreadable, absent = stored_times([columns[name] for name in part.sources], part, 0, missing)
    has_time = pa.array(~(unreadable | absent))
    return {name: values.filter(has_time) for name, values in columns.items()}


def _counts(name: str, notation: Notation) -> bool:
    """Whether the numbers of a column say something about those of others: codes do not."""
    return not is_version(name) and not (is_id(name) and notation.ambiguous)


def _guess(
    name: str, values: pa.Array, notation: Notation | None, marks: FileMarks, missing: pa.Array
) -> ColumnGuess:
    """A column's role, and how its numbers are read."""
    own = marks.columns.get(name, PLAIN)
    guess = guess_column(name, values, own, missing, notation.problem if notation else None)
    if notation is None or name not in marks.columns or (guess.is_key and guess.options.get("type") != "int"):
        return guess
    example = example_of(notation, own)
    guess = guess._replace(options=guess.options | marks.own(name))
    return guess.with_note(example) if example else guess


def _reading(reader: Reader, marks: FileMarks) -> dict[str, Any]:
    """How the file is written, as it stands in a definition.

    Where missing values have a sign of their own (null), and all numbers are numbers, "-" is a text.
    """
    part: dict[str, Any] = {"decimal": marks.decimal, "thousands": marks.thousands}
    if reader.file.format in ("ndjson", "parquet") and not marks.columns:
        part["missing"] = []
    if not reader.has_header:
        part |= {"header": False, "names": list(reader.columns or ())}
    return {name: value for name, value in part.items() if value is not None}


def _notes(marks: FileMarks, texts: Mapping[str, Notation]) -> list[str]:
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


def _word_notes(columns: Mapping[str, pa.Array], missing: pa.Array) -> list[str]:
    """A sentence for each column about the words that are read as missing values."""
    notes = {}
    for name, values in columns.items():
        if cells.is_text(values.type):
            counts = values.filter(pc.is_in(values, value_set=missing)).value_counts().to_pylist()
            notes[name] = [f"{part['values']!r} {part['counts']:,} times" for part in counts]
    return [f"Read as missing in '{name}': {', '.join(words)}." for name, words in notes.items() if words]


def _no_time(reader: Reader, columns: Mapping[str, pa.Array]) -> str:
    parts = date_parts(columns)
    if {"day", "month"} <= parts.keys():
        return (
            f"{reader.file.name}: '{parts['day']}' and '{parts['month']}' make a date without a year; "
            "add --year 2026"
        )
    return (
        f"{reader.file.name}: no column has a time in a known format. Write a definition that "
        f"names it and its format, and give that with --definition. The columns are: {', '.join(columns)}"
    )


def _sample(reader: Reader, rows: int) -> _Sample:
    """So many rows of a file."""
    tables: list[pa.Table] = []
    lines: list[int] = []
    for raw in reader.rows(None, lambda reject: None):
        tables.append(_without_long_values(raw.table))
        lines += raw.lines.tolist()
        if len(lines) >= rows:
            break
    if not any(table.num_rows for table in tables):
        raise ImportRefused(f"There are no rows in {reader.file.name}")
    columns = {name: _column(name, tables).slice(0, rows) for name in reader.names}
    return _without_headers(_Sample(columns, lines[:rows]))


def _without_long_values(table: pa.Table) -> pa.Table:
    """The same without values that no import takes: they say nothing of their column, and fill the memory."""
    for place, name in enumerate(table.column_names):
        column = table.column(place).combine_chunks()
        flags = cells.too_long(column)
        if flags is not None:
            missing = pa.scalar(None, column.type)
            table = table.set_column(place, name, pc.if_else(pa.array(~flags), column, missing))
    return table


def _together(samples: Sequence[_Sample]) -> _Sample:
    """The rows of several files, one behind the other; a column that a file lacks has no values there."""
    if len(samples) == 1:
        return samples[0]
    tables = [pa.table(one.columns) for one in samples]
    names = dict.fromkeys(name for one in samples for name in one.columns)
    lines = [line for one in samples for line in one.lines]
    return _Sample({name: _column(name, tables) for name in names}, lines)


def _without_headers(sample: _Sample) -> _Sample:
    """The same without rows that are the header once more."""
    name, first = next(iter(sample.columns.items()))
    if not cells.is_text(first.type) or not pc.any(pc.equal(first, name)).as_py():
        return sample
    is_other = pc.not_equal(first, name).fill_null(True)
    lines = pa.array(sample.lines).filter(is_other).to_pylist()
    return _Sample({column: values.filter(is_other) for column, values in sample.columns.items()}, lines)


def _column(name: str, tables: list[pa.Table]) -> pa.Array:
    """One column of several batches, in a type that holds all of them."""
    parts = [
        table.column(name).combine_chunks() if name in table.column_names else pa.nulls(table.num_rows)
        for table in tables
    ]
    kinds = {part.type for part in parts if not pa.types.is_null(part.type)}
    if len(kinds) == 1:
        return pa.concat_arrays([part.cast(next(iter(kinds))) for part in parts])
    if any(pa.types.is_nested(kind) for kind in kinds):
        return pa.concat_arrays([cells.elements(part, "\n") for part in parts])
    if kinds and all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds):
        return pa.concat_arrays([part.cast(pa.float64(), safe=False) for part in parts])
    return pa.concat_arrays([cells.text(part) for part in parts])


def _definition(time: TimeGuess, columns: list[ColumnGuess], written_as: Mapping[str, Any]) -> Definition:
    """Guesses as a definition, each field under a name that is its own, with a count of the records first."""
    names = {TIME, *(time_key_field(grain) for grain in GRANULARITIES)}
    fields = [guess.field(_free(guess.column, names)) for guess in columns]
    records = {"name": _free(RECORDS, names), "description": "Records", "aggregate": "count"}
    return Definition.model_validate(
        {
            **written_as,
            "time": time.definition(),
            "key_fields": [field for field, guess in zip(fields, columns, strict=True) if guess.is_key],
            "data_fields": [
                records, *(field for field, guess in zip(fields, columns, strict=True) if not guess.is_key)
            ],
        }
    )  # fmt: skip


def _free(column: str, names: set[str]) -> str:
    """A field's name from a column's: without quotes, and not taken."""
    plain = "".join(character for character in column if character.isprintable() and character not in "'\"")
    name = base = plain[:180] or "column"
    number = 2
    while name in names:
        name, number = f"{base}_{number}", number + 1
    names.add(name)
    return name
