"""Raw rows and a definition → rows as the warehouse stores them; what does not fit is refused, row by row."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lib.reporting.definition import DataFieldDefinition, Definition, KeyFieldDefinition
from lib.reporting.ingest import cells
from lib.reporting.ingest.cells import Cells, NotPlain
from lib.reporting.ingest.rejects import Reject
from lib.reporting.ingest.rows import RawRows, Refuse
from lib.reporting.ingest.times import stored_times
from lib.wire.errors import ImportRefused

Flags = npt.NDArray[np.bool_]
Read = Callable[[pa.Array], Cells]


def source_columns(definition: Definition) -> list[str]:
    """The columns of a file that a definition reads, each once."""
    sources = [definition.time.column, *(field.source for field in definition.key_fields)]
    sources += [field.source for field in definition.data_fields if field.source is not None]
    return list(dict.fromkeys([*sources, *(source.source for source in definition.audience_sources)]))


class Normaliser:
    """Makes stored rows of raw ones."""

    def __init__(self, definition: Definition) -> None:
        self._definition, self._schema = definition, definition.schema()
        self._fields: list[tuple[str, str, Read, str]] = [
            *((field.name, field.source, *_key_field(field)) for field in definition.key_fields),
            *(
                (field.name, field.source, *_data_field(field))
                for field in definition.data_fields
                if field.source
            ),
            *((part.name, part.source, _as_text, "") for part in definition.audience_sources),
        ]

    def rows(self, raw: RawRows, refuse: Refuse) -> pa.Table:
        """The rows that can be read, typed as `definition.schema()`; the others go to `refuse`."""
        columns = {name: _one_array(raw.table.column(name)) for name in raw.table.column_names}
        nothing = pa.nulls(raw.table.num_rows)
        reasons = _Reasons(raw, columns, nothing)
        arrays = [self._times(columns.get(self._definition.time.column, nothing), reasons)]
        for name, source, read, reason in self._fields:
            found = _read(read, columns.get(source, nothing), name, source)
            arrays.append(found.values)
            reasons.note(found.bad, reason, source)
        table = pa.Table.from_arrays(arrays, schema=self._schema)
        bad = reasons.refuse(refuse)
        return table if bad is None else table.filter(pa.array(~bad))

    def _times(self, column: pa.Array, reasons: "_Reasons") -> pa.Array:
        time = self._definition.time
        seconds, unreadable, missing = stored_times(column, time, self._definition.timezone)
        reasons.note(missing, f"no time in column '{time.column}'", time.column)
        as_told = (
            f"as {time.format}" if time.format else "as ISO 8601; give the time's format in the definition"
        )
        reasons.note(
            unreadable, f"no time that can be read in column '{time.column}' ({as_told})", time.column
        )
        return pa.array(seconds).cast(pa.timestamp("s", tz="UTC"))


class _Reasons:
    """Why rows of a batch can't be read: the first reason of each row counts."""

    def __init__(self, raw: RawRows, columns: dict[str, pa.Array], nothing: pa.Array) -> None:
        self._raw, self._columns, self._nothing = raw, columns, nothing
        self._found: dict[int, tuple[str, str]] = {}

    def note(self, bad: Flags | None, reason: str, column: str) -> None:
        for position in np.flatnonzero(bad) if bad is not None else ():
            self._found.setdefault(int(position), (reason, column))

    def refuse(self, refuse: Refuse) -> Flags | None:
        if not self._found:
            return None
        bad = np.zeros(len(self._nothing), bool)
        for position, (reason, column) in sorted(self._found.items()):
            bad[position] = True
            value = self._columns.get(column, self._nothing)[position].as_py()
            shown = "" if value is None else str(value)
            refuse(Reject(int(self._raw.lines[position]), reason, shown, self._raw.text(position)))
        return bad


def _read(read: Read, column: pa.Array, name: str, source: str) -> Cells:
    try:
        return read(column)
    except NotPlain:
        if pa.types.is_nested(column.type):
            right = "make it a key field with segmented: true, or leave it out"
        else:
            right = 'give its separator, as in segmented: "|"'
        raise ImportRefused(f"Field '{name}': the column '{source}' holds {column.type}; {right}") from None


def _key_field(field: KeyFieldDefinition) -> tuple[Read, str]:
    if field.segmented:
        separator = field.segmented if isinstance(field.segmented, str) else None
        return (lambda column: Cells(cells.elements(column, separator))), ""
    if field.type == "int":
        return cells.whole, f"not a whole number in column '{field.source}'"
    return _as_text, ""


def _data_field(field: DataFieldDefinition) -> tuple[Read, str]:
    if field.aggregate == "distinct":
        return _as_text, ""
    if field.aggregate == "count":
        return (lambda column: Cells(cells.present(column))), ""
    return cells.number, f"not a number in column '{field.source}'"


def _as_text(column: pa.Array) -> Cells:
    return Cells(cells.text(column))


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
