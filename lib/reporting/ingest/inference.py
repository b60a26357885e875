"""A definition from a sample of a file: which column is the time, which are key fields, which data fields."""

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

import pyarrow as pa

from lib.reporting.definition import TIME, Definition
from lib.reporting.ingest import cells
from lib.reporting.ingest.column_guess import ColumnGuess, guess_column
from lib.reporting.ingest.rows import Reader
from lib.reporting.ingest.time_guess import TimeGuess, guess_time
from lib.reporting.models import GRANULARITIES, time_key_field
from lib.wire.errors import ImportRefused

SAMPLE_ROWS = 50_000
RECORDS = "records"


class Inference(NamedTuple):
    """A definition, and what was guessed of each column of the file."""

    definition: Definition
    time: TimeGuess
    columns: list[ColumnGuess]


def infer(reader: Reader, mappings: Mapping[str, Collection[str]] | None = None) -> Inference:
    """Guess a definition from the first rows of a file. ImportRefused when no column is a time.

    `mappings` (name → its codes) go to the key fields whose values are such codes.
    """
    sample = _sample(reader)
    unnamed = [name for name in sample if re.fullmatch(r"[0-9][0-9.,:T -]*", name)]
    if unnamed:
        raise ImportRefused(
            f"{reader.file.name}: a column is called '{unnamed[0]}'; the first line should name the columns"
        )
    time = guess_time(sample)
    if time is None:
        raise ImportRefused(
            f"{reader.file.name}: no column holds a time in a form that is known. Write a definition that "
            f"names it and its format, and give that with --definition. The columns are: {', '.join(sample)}"
        )
    columns = [
        guess_column(name, values).mapped(values, mappings or {})
        for name, values in sample.items()
        if name != time.column
    ]
    return Inference(_definition(time, columns), time, columns)


def _sample(reader: Reader) -> dict[str, pa.Array]:
    tables: list[pa.Table] = []
    for raw in reader.rows(None, lambda reject: None):
        tables.append(raw.table)
        if sum(table.num_rows for table in tables) >= SAMPLE_ROWS:
            break
    if not any(table.num_rows for table in tables):
        raise ImportRefused(f"There are no rows in {reader.file.name}")
    return {name: _column(name, tables).slice(0, SAMPLE_ROWS) for name in reader.seen}


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


def _definition(time: TimeGuess, columns: list[ColumnGuess]) -> Definition:
    """Guesses as a definition, each field under a name that is its own, with a count of the records first."""
    taken = {TIME, *(time_key_field(grain) for grain in GRANULARITIES)}
    fields = [guess.field(_free(guess.column, taken)) for guess in columns]
    records = {"name": _free(RECORDS, taken), "description": "Records", "aggregate": "count"}
    return Definition.model_validate(
        {
            "time": time.definition(),
            "key_fields": [field for field, guess in zip(fields, columns, strict=True) if guess.is_key],
            "data_fields": [
                records, *(field for field, guess in zip(fields, columns, strict=True) if not guess.is_key)
            ],
        }
    )  # fmt: skip


def _free(column: str, taken: set[str]) -> str:
    """A field's name from a column's: without quotes, and not taken."""
    plain = "".join(character for character in column if character.isprintable() and character not in "'\"")
    name = base = plain[:180] or "column"
    number = 2
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    taken.add(name)
    return name
