"""A definition from a sample of a file: which column is the time, which are key fields, which data fields.

A column's role is guessed by its values, if in doubt by its name.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.definition import TIME, Definition
from lib.reporting.definition.reading import MISSING, TimeColumn
from lib.reporting.ingest import cells, column_names
from lib.reporting.ingest.cells import Missing, is_total
from lib.reporting.ingest.files import Reader
from lib.reporting.ingest.numbers import (
    PERCENT,
    PLAIN,
    STRANGE_SHARE,
    FileMarks,
    Marks,
    Notation,
    example_of,
    file_marks,
    notation_of,
)
from lib.reporting.ingest.time_guess import TimeGuess, TimeHints, date_parts, guess_time
from lib.reporting.ingest.times import stored_times
from lib.reporting.models import GRANULARITIES, time_key_field
from lib.wire.errors import ImportRefused

Floats = npt.NDArray[np.float64]
SAMPLE_ROWS, FEWEST_ROWS = 50_000, 500
RECORDS = "records"
_SEPARATORS = "|;,"
_MOST_TEXTS = 10_000
_FEW, _FEW_SHARE = 20, 0.01  # so few different whole numbers are codes, not amounts
_CODE_SHARE = 0.05  # the same of numbers that are named like a code
_ENUMERATED_SHARE = 0.5  # elements of lists come back: at most so many of them are different
_SEPARATED_SHARE = {"|": 0.05, ";": 0.2, ",": 0.2}  # of texts that have the mark
_MAX_ELEMENT = 40
_MAPPED_SHARE = 0.8
_DASH_AMOUNT = r"^\p{Sc} *[-–—]+$|^[-–—]+ *\p{Sc}$"


class Hints(NamedTuple):
    """A person's hints for inference: the marks of numbers, the year of dates without one, their order."""

    decimal: str | None = None
    thousands: str | None = None
    year: int | None = None
    dates: str | None = None


_NO_HINTS = Hints()


class ColumnGuess(NamedTuple):
    """A guess about a column, and its reason. `options` are the fields of its part of a definition."""

    column: str
    is_key: bool
    options: dict[str, Any]
    reason: str

    def field(self, name: str) -> dict[str, Any]:
        """As it stands in a definition, under a name."""
        source = {} if name == self.column else {"column": self.column}
        return {"name": name, **source, "description": column_names.description(self.column), **self.options}

    def with_mapping(self, values: pa.Array, mappings: Mapping[str, Collection[str]]) -> "ColumnGuess":
        """The same with the mapping whose codes most of the column's values are, if there is one."""
        if not self.is_key or "segmented" in self.options or pa.types.is_nested(values.type):
            return self
        different = set(cells.text(values).drop_null().unique().to_pylist())
        for name, codes in mappings.items():
            if different and len(different.intersection(codes)) >= _MAPPED_SHARE * len(different):
                options = self.options | {"mapping": name}
                return self._replace(options=options).with_note(f"codes of the mapping {name}")
        return self

    def with_note(self, note: str) -> "ColumnGuess":
        """The same, with a note beside the reason."""
        return self._replace(reason=f"{self.reason}; {note}")

    @property
    def kind(self) -> str:
        """In words: `key field (int)`, `data field (mean)`."""
        what = self.options.get("type") or self.options.get("aggregate") or ("text" if self.is_key else "sum")
        segmented = self.options.get("segmented")
        what = "segmented" if segmented is True else f"segmented by {segmented}" if segmented else what
        return f"{'key' if self.is_key else 'data'} field ({what})"


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
    columns, lines = _concatenate([_sample(file, rows) for file in (reader, *others)])
    missing = pa.array(MISSING)
    time = _time([reader, *others], columns, lines, missing, hints)
    columns = _with_times(columns, time, missing)
    dates = {time.column} if isinstance(time.column, str) else set(time.column[:-1])
    fields = {name: values for name, values in columns.items() if name not in dates}
    texts = {
        name: notation
        for name, values in fields.items()
        if cells.is_text(values.type) and (notation := notation_of(_present_texts(values, missing)))
    }
    marks = file_marks(
        {name: notation for name, notation in texts.items() if _is_evidence(name, notation)},
        reader.file.name,
        hints.decimal,
        hints.thousands,
    )
    guesses = [
        _guess(name, values, texts.get(name), marks, missing).with_mapping(values, mappings or {})
        for name, values in fields.items()
    ]
    settings = _settings(reader, marks)
    notes = [*_notes(marks, texts), *_word_notes(fields, missing)]
    return Inference(_definition(time, guesses, settings), time, guesses, notes)


def _time(
    readers: Sequence[Reader],
    columns: Mapping[str, pa.Array],
    lines: list[int],
    missing: pa.Array,
    hints: Hints,
) -> TimeGuess:
    """The time of the sample; where that leaves a choice, of all rows. ImportRefused without one."""
    time_hints = TimeHints(hints.year, hints.dates, "\n".join(reader.context for reader in readers))
    time = guess_time(columns, lines, missing, time_hints)
    if time is None:
        raise ImportRefused(_no_time(readers[0], columns))
    if time.question and len(lines) >= FEWEST_ROWS:
        names = [time.column] if isinstance(time.column, str) else list(time.column)
        tables = [raw.table for reader in readers for raw in reader.rows(names, lambda reject: None)]
        time = guess_time({name: _column(name, tables) for name in names}, (), missing, time_hints) or time
    if time.question:
        raise ImportRefused(f"{readers[0].file.name}: {time.question}")
    return time


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
    for position, name in enumerate(table.column_names):
        column = table.column(position).combine_chunks()
        flags = cells.too_long(column)
        if flags is not None:
            missing = pa.scalar(None, column.type)
            table = table.set_column(position, name, pc.if_else(pa.array(~flags), column, missing))
    return table


def _without_headers(sample: _Sample) -> _Sample:
    """The same without rows that are the header once more."""
    name, first = next(iter(sample.columns.items()))
    if not cells.is_text(first.type) or not pc.any(pc.equal(first, name)).as_py():
        return sample
    is_other = pc.not_equal(first, name).fill_null(True)
    lines = pa.array(sample.lines).filter(is_other).to_pylist()
    return _Sample({column: values.filter(is_other) for column, values in sample.columns.items()}, lines)


def _concatenate(samples: Sequence[_Sample]) -> _Sample:
    """The rows of several files, one behind the other; a column that a file lacks has no values there."""
    if len(samples) == 1:
        return samples[0]
    tables = [pa.table(sample.columns) for sample in samples]
    names = dict.fromkeys(name for sample in samples for name in sample.columns)
    lines = [line for sample in samples for line in sample.lines]
    return _Sample({name: _column(name, tables) for name in names}, lines)


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


def _with_times(columns: dict[str, pa.Array], time: TimeGuess, missing: pa.Array) -> dict[str, pa.Array]:
    """Only the rows that have a time: others, such as totals, are not imported, and say nothing."""
    part = TimeColumn.model_validate(time.definition())
    _, unreadable, absent = stored_times([columns[name] for name in part.sources], part, 0, missing)
    has_time = pa.array(~(unreadable | absent))
    return {name: values.filter(has_time) for name, values in columns.items()}


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


def _is_evidence(name: str, notation: Notation) -> bool:
    """Whether the numbers of a column say something about those of others: codes do not."""
    return not column_names.is_version(name) and not (column_names.is_id(name) and notation.ambiguous)


def _present_texts(values: pa.Array, missing: Missing) -> pa.Array:
    """The trimmed texts of a column, without those that say that there is no value."""
    texts = cells.without_missing(cells.trim(cells.text(values)), missing)
    return texts.filter(pc.invert(pc.match_substring_regex(texts, _DASH_AMOUNT).fill_null(True)))


def _guess(
    name: str, values: pa.Array, notation: Notation | None, marks: FileMarks, missing: pa.Array
) -> ColumnGuess:
    """A column's role, and how its numbers are read."""
    own = marks.columns.get(name, PLAIN)
    guess = _guess_column(name, values, own, missing, notation.problem if notation else None)
    if notation is None or name not in marks.columns or (guess.is_key and guess.options.get("type") != "int"):
        return guess
    example = example_of(notation, own)
    guess = guess._replace(options=guess.options | marks.own(name))
    return guess.with_note(example) if example else guess


def _guess_column(
    name: str, values: pa.Array, marks: Marks = PLAIN, missing: Missing = None, problem: str | None = None
) -> ColumnGuess:
    """Guess a column's role from a sample of its values.

    Numbers that are text have these `marks`; `problem` says why texts that look like numbers are none.
    """
    if pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
        return ColumnGuess(name, True, {"segmented": True}, "lists")
    is_nested = pa.types.is_nested(values.type)
    present = pa.array([], pa.string()) if is_nested else _present_texts(values, missing)
    if not len(present):
        return ColumnGuess(name, True, {}, "no values in the sample")
    if pa.types.is_boolean(values.type):
        return ColumnGuess(name, True, {}, "true or false")
    if problem:
        return ColumnGuess(name, True, {}, f"text: {problem}")
    number = cells.number(present, marks)
    strange = 0.0 if number.bad is None else float(number.bad.mean())
    if (
        strange > STRANGE_SHARE
        or pc.any(pc.match_substring_regex(present, "^0[0-9]")).as_py()
        or _is_no_amount(name, present)
    ):
        return _text_column(name, present)
    guess = _number_column(name, number.values.drop_null().to_numpy(zero_copy_only=False), marks)
    if not strange:
        return guess
    if guess.is_key:
        return _text_column(name, present)
    return guess.with_note(f"{strange:.2%} of the values are not numbers")


def _is_no_amount(name: str, present: pa.Array) -> bool:
    """Whether a code has marks in it: version 10.1, or the list 48,57 in `tag_ids`."""
    is_code = column_names.is_version(name) or (column_names.is_id(name) and not column_names.is_mean(name))
    return is_code and bool(pc.any(pc.match_substring_regex(present, "[0-9][.,][0-9]")).as_py())


def _number_column(name: str, values: Floats, marks: Marks) -> ColumnGuess:
    if marks.unit:
        return _data_column(name, values, f"numbers with {marks.unit}", marks)
    if (values % 1 != 0).any():
        return _data_column(name, values, "numbers with a fraction")
    if column_names.is_id(name) and not column_names.is_mean(name):
        return ColumnGuess(name, True, {"type": "int"}, "whole numbers, named like a code")
    if column_names.is_amount(name) or column_names.is_mean(name) or (values < 0).any():
        return _data_column(
            name, values, "whole numbers, named like an amount" if (values >= 0).all() else "numbers"
        )
    different = len(np.unique(values))
    if column_names.may_be_code(name) and different <= max(_FEW, _CODE_SHARE * len(values)):
        return ColumnGuess(name, True, {"type": "int"}, f"{different} whole numbers, named like a code")
    if different <= min(_FEW, _FEW_SHARE * len(values)):
        return ColumnGuess(name, True, {"type": "int"}, f"only {different} different whole numbers")
    return _data_column(name, values, "whole numbers")


def _data_column(name: str, values: Floats, reason: str, marks: Marks = PLAIN) -> ColumnGuess:
    aggregate = column_names.aggregate(name)
    if marks.unit == PERCENT and aggregate == "sum":
        aggregate = "mean"
    options: dict[str, Any] = {} if aggregate == "sum" else {"aggregate": aggregate}
    if aggregate == "mean" or (values % 1 != 0).any():
        small = float(np.median(np.abs(values))) < 1
        options |= {"display_type": "float", "display_precision": 4 if small else 2}
    doubt = "; a price or a rate, so it is averaged" if aggregate == "mean" else ""
    return ColumnGuess(name, False, options, reason + doubt)


def _text_column(name: str, present: pa.Array) -> ColumnGuess:
    is_list = column_names.sounds_like_list(name)
    separator = next((mark for mark in _SEPARATORS if _is_separated(present, mark, is_list)), None)
    if separator:
        example = present.filter(pc.match_substring(present, separator))[0]
        return ColumnGuess(name, True, {"segmented": separator}, f"several values, such as {example}")
    if column_names.sounds_like_users(name):
        return ColumnGuess(name, True, {}, "text; if these are users, make it an audience source")
    different = present.unique()
    totals = [text for text in different.slice(0, _MOST_TEXTS).to_pylist() if is_total(text)]
    warning = f"; WARNING: rows of '{totals[0]}' count beside those that they add up" if totals else ""
    reason = f"text, {len(different):,} different in {len(present):,} rows{warning}"
    return ColumnGuess(name, True, {}, reason)


def _is_separated(present: pa.Array, mark: str, is_list: bool) -> bool:
    """Whether a mark is between the elements of lists: never beside a blank, as it is in prose.

    The elements come back in other rows (with | it is enough that lists differ in length), and a text of
    always the same parts, such as US|300x250|news, is a list only if its column's name says so.
    """
    has_mark = pc.match_substring(present, mark)
    beside_blank = pc.match_substring_regex(present, rf"[{mark}]\s|\s[{mark}]")
    if pc.mean(has_mark).as_py() < _SEPARATED_SHARE[mark] or pc.any(beside_blank).as_py():
        return False
    lists = pc.split_pattern(present, mark)
    parts, counts = lists.flatten(), pc.list_value_length(lists)
    if pc.max(pc.utf8_length(parts)).as_py() > _MAX_ELEMENT:
        return False
    comes_back = pc.count_distinct(parts).as_py() <= _ENUMERATED_SHARE * len(parts)
    if pc.count_distinct(counts).as_py() > 1:
        return bool(comes_back or mark == "|")
    return bool(comes_back and (is_list or _is_mixed(lists, counts[0].as_py())))


def _is_mixed(lists: pa.Array, count: int) -> bool:
    """Whether the same element comes at several positions of lists of the same length."""
    sets = [set(pc.list_element(lists, position).unique().to_pylist()) for position in range(count)]
    return len(set[str]().union(*sets)) < sum(map(len, sets))


def _definition(time: TimeGuess, columns: list[ColumnGuess], settings: Mapping[str, Any]) -> Definition:
    """Guesses as a definition, each field under a name that is its own, with a count of the records first."""
    names = {TIME, *(time_key_field(grain) for grain in GRANULARITIES)}
    fields = [guess.field(_free_name(guess.column, names)) for guess in columns]
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


def _settings(reader: Reader, marks: FileMarks) -> dict[str, Any]:
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
