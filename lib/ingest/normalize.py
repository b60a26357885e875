"""Raw rows and a definition → rows as the warehouse stores them; what does not fit is refused, row by row."""

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lib.ingest import cells
from lib.ingest.cells import Cells, NotPlain, words_like
from lib.ingest.clock_changes import doubled_hours, local_times
from lib.ingest.files import Kind, Kinds, RawRows, Refuse
from lib.ingest.layout import ALL, is_total
from lib.ingest.layout import TOTAL as TOTAL_WORDS
from lib.ingest.numbers import marks_of
from lib.ingest.rejects import TOTAL, Reason, Reasons
from lib.ingest.times import HOUR, has_offsets, stored_times
from lib.slicers.definition import TIME, DataFieldDefinition, Definition, KeyFieldDefinition
from lib.slicers.definition.reading import time_zone
from lib.wire.errors import ImportRefused

Ints = npt.NDArray[np.int64]
Sums = npt.NDArray[np.float64]
Read = Callable[[pa.Array], Cells]
TOO_LONG = f"longer than {cells.LONGEST_VALUE:,} bytes in column '{{}}'"
_TOTAL_SHARE = 0.8
_DAYS_SHARE = 0.5
_EMPTY_SHARE = 0.6  # of rows without a value: subtotals are at most half
_FEWEST_TIMES = 3
_MOST_HOURS = 1_000_000
ANY_CELL = "can't be read"
"""The reason of a field that takes every cell."""


class Normalizer:
    """Makes stored rows of raw ones.

    `totals` tells the rows that add up others, where the definition does not say what to do with them;
    `missing_words` counts the words that became missing values, by column and word; `hour_rows` the rows of
    each hour since 1970, where times are kept by hour.
    """

    def __init__(self, definition: Definition) -> None:
        self.totals = TotalsTally(definition)
        self.missing_words: Counter[tuple[str, str]] = Counter()
        self.hour_rows: Counter[int] = Counter()
        self._has_offsets = False
        self._texts = [
            field.source for field in definition.key_fields if field.type == "text" and not field.segmented
        ]
        self.definition, self._schema = definition, definition.schema()
        self._missing = pa.array(definition.missing, pa.string())
        self._fields: list[_Field] = [
            *(_key_field(field, definition, self._missing) for field in definition.key_fields),
            *(
                _data_field(field, definition, self._missing)
                for field in definition.data_fields
                if field.source
            ),
            *(_text_field(part.name, part.source, self._missing) for part in definition.audience_sources),
        ]

    def rows(self, raw: RawRows, refuse: Refuse) -> tuple[pa.Table, int | None]:
        """The rows that can be read, typed as `definition.schema()`, and the line of the last of them.

        Texts that come dictionary-encoded stay so. Rows that can't be read go to `refuse`.
        """
        columns = {name: cells.one_array(raw.table.column(name)) for name in raw.table.column_names}
        nothing = pa.nulls(raw.table.num_rows)
        reasons = Reasons(raw, columns, nothing, self.definition.time.sources)
        arrays = [self._times([columns.get(name, nothing) for name in self.definition.time.sources], reasons)]
        self._count_words(columns)
        for name in self._texts if self.definition.totals == "drop" else ():
            texts = columns.get(name)
            if texts is not None and cells.is_text(texts.type) and (words := words_like(texts, TOTAL_WORDS)):
                is_word = pc.is_in(cells.text(texts), value_set=pa.array(words))
                reasons.note(is_word.to_numpy(zero_copy_only=False), TOTAL, name)
        for field in self._fields:
            values = field.values(columns.get(field.source, nothing))
            arrays.append(values.values)
            reasons.note(values.bad, field.reason, field.source)
            reasons.note(cells.too_long(values.values), TOO_LONG.format(field.source), field.source)
        table = pa.Table.from_arrays(arrays, names=self._schema.names)
        bad, lines = reasons.refuse(refuse), raw.lines
        if bad is not None:
            table, lines = table.filter(pa.array(~bad)), lines[~bad]
        # The different hours since 1970, and which of them each row is in: unsorted where it can be.
        hours: Ints = table.column(TIME).cast(pa.int64()).to_numpy() // HOUR
        first = int(hours.min()) if len(hours) else 0
        if len(hours) and int(hours.max()) - first > _MOST_HOURS:
            hours, groups = np.unique(hours, return_inverse=True)
        else:
            has_rows = np.bincount(hours - first) > 0
            hours, groups = first + np.flatnonzero(has_rows), (np.cumsum(has_rows) - 1)[hours - first]
        if self.definition.time.has_zones and len(hours):
            if not self.hour_rows:
                clock = columns.get(self.definition.time.sources[-1], nothing)
                self._has_offsets = has_offsets(clock, self.definition.time)
            self.hour_rows.update(dict(zip(hours.tolist(), np.bincount(groups).tolist(), strict=True)))
        if self.definition.totals is None:
            self.totals.add(table, hours, groups)
        return table, int(lines[-1]) if len(lines) else None

    @property
    def clock_notes(self) -> list[str]:
        """What is odd about the hours of a clock change in the files read so far, in sentences."""
        time, hours = self.definition.time, self.definition.timezone
        if self._has_offsets or not self.hour_rows:
            return []
        if time.timezone:
            return doubled_hours(self.hour_rows, time_zone(time.timezone))
        note = local_times({hour + hours: rows for hour, rows in self.hour_rows.items()})
        return [note] if note else []

    def _count_words(self, columns: dict[str, pa.Array]) -> None:
        """Count the words that stand for missing values, and the numbers that are NaN."""
        for name in dict.fromkeys(field.source for field in self._fields):
            values = columns.get(name)
            if values is not None and cells.is_text(values.type):
                if pa.types.is_dictionary(values.type):
                    if not pc.any(pc.is_in(values.dictionary, value_set=self._missing)).as_py():
                        continue
                    values = values.dictionary_decode()
                words = values.filter(pc.is_in(values, value_set=self._missing))
                for count in words.value_counts().to_pylist():
                    self.missing_words[name, count["values"]] += count["counts"]
            elif values is not None and pa.types.is_floating(values.type):
                self.missing_words += Counter({(name, "NaN"): pc.sum(pc.is_nan(values)).as_py() or 0})

    def _times(self, columns: list[pa.Array], reasons: Reasons) -> pa.Array:
        time = self.definition.time
        seconds, unreadable, missing = stored_times(columns, time, self.definition.timezone, self._missing)
        names = f"column '{time.sources[0]}'"
        if len(columns) > 1:
            names = "columns " + " and ".join(f"'{name}'" for name in time.sources)
        format_words = (
            f"as {time.format}" if time.format else "as ISO 8601; give the time's format in the definition"
        )
        for bad, reason in (
            (missing, f"no time in {names}"),
            (unreadable, f"no time that can be read in {names} ({format_words})"),
        ):
            reasons.note_times(bad, reason, time.sources[0])
        return pa.array(seconds).cast(pa.timestamp("s", tz="UTC"))


def column_kinds(definition: Definition) -> Kinds:
    """The columns of which only numbers are made, and whose numbers are written as computers write them; and
    those of which only texts are."""
    missing = pa.array(definition.missing, pa.string())
    uses: list[tuple[str, Kind | None]] = [(source, None) for source in definition.time.sources]
    for key in definition.key_fields:
        uses.append((key.source, "text" if key.type == "text" and not key.segmented else None))
    uses += [(source.source, "text") for source in definition.audience_sources]
    for field in definition.data_fields:
        if field.source is not None:
            is_number = field.aggregate not in ("distinct", "count")
            is_quick = cells.reads_quickly(missing) and marks_of(definition, field).are_certain
            of_text: Kind | None = "text" if field.aggregate == "distinct" else None
            uses.append((field.source, "number" if is_number and is_quick else of_text))
    kinds: dict[str, set[Kind | None]] = {}
    for source, kind in uses:
        kinds.setdefault(source, set()).add(kind)
    return {source: kind for source, (kind, *others) in kinds.items() if kind and not others}


class TotalsTally:
    """Adds up, by time, all rows and those of each word for a total, to tell totals from names.

    Somme is a sum and a region of France: a row is a total where the rows of its word come to most of what
    the others of the same times come to, in most data fields that add up; without such fields, where the word
    is there most of the time. Rows of `All`, or without a value, are totals where they come to just that.
    """

    def __init__(self, definition: Definition) -> None:
        self._columns = {
            field.name: field.source
            for field in definition.key_fields
            if field.type == "text" and not field.segmented
        }
        self._sum_fields = [
            field.name for field in definition.data_fields if field.aggregate == "sum" and field.source
        ]
        self._rows: Counter[tuple[str, str | None]] = Counter()
        self._all = HourSums(self._sum_fields)
        self._parts: dict[tuple[str, str | None], HourSums] = defaultdict(lambda: HourSums(self._sum_fields))

    def add(self, table: pa.Table, hours: Ints, groups: Ints) -> None:
        """Some rows, as they are stored; `groups` says which of the `hours` since 1970 each is in."""
        if not self._columns or not table.num_rows:
            return
        self._all.add(table, hours, groups)
        for name in self._columns:
            texts = cells.one_array(table.column(name))
            words: list[str | None] = [*words_like(texts, f"{TOTAL_WORDS}|{ALL}")]
            words += [None] if 0 < texts.null_count < _EMPTY_SHARE * len(texts) else []
            for word in words:
                has_word = pc.equal(cells.text(texts), word).fill_null(False) if word else pc.is_null(texts)
                flags = has_word.to_numpy(zero_copy_only=False)
                if not flags.any():
                    continue
                self._rows[name, word] += int(flags.sum())
                self._parts[name, word].add(table.filter(has_word), hours, groups[flags])

    def counts(self) -> dict[tuple[str, str], int]:
        """The number of rows that are totals by their word, by the column of the file and the word there."""
        return {
            (self._columns[name], word): count
            for (name, word), count in self._rows.items()
            if word and is_total(word) and self._are_totals(self._parts[name, word])
        }

    def subtotals(self) -> dict[tuple[str, str], int]:
        """The same of rows whose word is that of a value too, or that have no value (an empty word)."""
        return {
            (self._columns[name], word or ""): count
            for (name, word), count in self._rows.items()
            if not (word and is_total(word)) and self._are_exact(self._parts[name, word])
        }

    def _are_totals(self, parts: "HourSums") -> bool:
        if not self._sum_fields:
            return len(parts.places) > 1 and len(parts.places) >= _DAYS_SHARE * len(self._all.places)
        totals = np.abs(parts.sums.sum(axis=0))
        others = np.abs((self._all.of(parts) - parts.sums).sum(axis=0))
        has_values = (totals > 0) | (others > 0)
        return bool(has_values.any() and np.median((totals >= _TOTAL_SHARE * others)[has_values]) == 1)

    def _are_exact(self, parts: "HourSums") -> bool:
        if not self._sum_fields or len(parts.places) < _FEWEST_TIMES:
            return False
        others = self._all.of(parts) - parts.sums
        return bool((parts.sums != 0).any(axis=1).all() and np.allclose(parts.sums, others, rtol=1e-6))


class HourSums:
    """Sums of some fields of rows in each hour that has any: `sums` (hours × fields), in `places` by hour."""

    def __init__(self, fields: list[str]) -> None:
        self._fields, self.places, self.sums = fields, dict[int, int](), np.zeros((0, len(fields)))

    def add(self, table: pa.Table, hours: Ints, groups: Ints) -> None:
        """Add rows; `groups` says which of the hours since 1970 each is in."""
        present = np.flatnonzero(np.bincount(groups, minlength=len(hours)))
        new_place = self.places.setdefault
        places = np.array([new_place(hour, len(self.places)) for hour in hours[present].tolist()], np.int64)
        self.sums = np.pad(self.sums, ((0, len(self.places) - len(self.sums)), (0, 0)))
        for number, name in enumerate(self._fields):
            values = pc.fill_null(table.column(name), 0.0).to_numpy()
            self.sums[places, number] += np.bincount(groups, values, len(hours))[present]

    def of(self, other: "HourSums") -> Sums:
        """The sums of the hours of another."""
        return self.sums[[self.places[hour] for hour in other.places]]


class _Field(NamedTuple):
    """A field of the stored rows: how the cells of its column are read, and why one can't be."""

    name: str
    source: str
    read: Read
    reason: Reason

    def values(self, column: pa.Array) -> Cells:
        """The values to store. ImportRefused if the whole column is of another kind."""
        try:
            return self.read(column)
        except NotPlain:
            if pa.types.is_nested(column.type):
                right = "make it a key field with segmented: true, or leave it out"
            else:
                right = 'give its separator, as in segmented: "|"'
            raise ImportRefused(
                f"Field '{self.name}': the column '{self.source}' holds {column.type}; {right}"
            ) from None


def _key_field(field: KeyFieldDefinition, definition: Definition, missing: pa.Array) -> _Field:
    if field.segmented:
        separator = field.segmented if isinstance(field.segmented, str) else None
        return _Field(
            field.name,
            field.source,
            lambda column: Cells(cells.elements(column, separator, missing)),
            ANY_CELL,
        )
    if field.type == "text":
        return _text_field(field.name, field.source, missing)
    marks, reason = marks_of(definition, field), f"not a whole number in column '{field.source}'"
    if field.spelling != "any":
        reason += ", or not written like the others; if 0100 is not 100 there, make the field text"
    return _Field(
        field.name, field.source, lambda column: cells.whole(column, marks, missing, field.spelling), reason
    )


def _data_field(field: DataFieldDefinition, definition: Definition, missing: pa.Array) -> _Field:
    source, marks = str(field.source), marks_of(definition, field)
    if field.aggregate == "distinct":
        return _text_field(field.name, source, missing)
    if field.aggregate == "count":
        return _Field(field.name, source, lambda column: Cells(cells.present(column, missing)), ANY_CELL)

    def read(column: pa.Array) -> Cells:
        numbers = cells.number(column, marks, missing)
        if field.scale == 1:
            return numbers
        return numbers._replace(values=pc.divide(numbers.values.cast(pa.float64()), float(field.scale)))

    return _Field(field.name, source, read, marks.reason(source))


def _text_field(name: str, source: str, missing: pa.Array) -> _Field:
    return _Field(name, source, lambda column: Cells(cells.dictionary_text(column, missing)), ANY_CELL)
