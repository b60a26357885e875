"""The reader of a file, by its format: workbooks, Parquet and text."""

import datetime as dt
import io
import shutil
import tempfile
import uuid
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook

from lib.reporting.definition import Definition
from lib.reporting.ingest.delimited import delimited
from lib.reporting.ingest.files import (
    DataFile,
    Format,
    Progress,
    RawRows,
    Reader,
    Refuse,
    check_width,
    data_file,
)
from lib.reporting.ingest.layout import Record, once_each, table_layout
from lib.reporting.ingest.ndjson import column, ndjson
from lib.wire.errors import ImportRefused

_PARQUET_BATCH_ROWS = 1 << 16
_BUFFER = 1 << 20


_SECONDS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


class Parquet:
    """A Parquet file; see Reader. Lines are its rows, counted from 1."""

    def __init__(self, file: DataFile) -> None:
        self.file, self.has_header = file, True
        with self._opened() as content:
            schema = content.schema_arrow
            check_width(file.name, schema.names)
            self._roots = schema.names
            empty = _columns(schema.empty_table())
            self.columns: tuple[str, ...] | None = tuple(plain_table(empty).column_names)
            self._owners = [root for root, column in empty for _ in plain_columns(root, column)]
            self.seen = dict.fromkeys(self.columns)
            self.description = f"Parquet, {content.metadata.num_rows:,} rows, {len(self.columns)} columns"

    def rows(
        self,
        wanted: Collection[str] | None,
        refuse: Refuse,
        progress: Progress | None = None,
        numbers: Collection[str] = (),
    ) -> Iterator[RawRows]:
        """All rows, in batches. There is nothing that could not be read."""
        names = [name for name in self.columns or () if wanted is None or name in wanted]
        with self._opened() as content:
            first, told, total = 1, 0, content.metadata.num_rows
            for batch in content.iter_batches(_PARQUET_BATCH_ROWS, columns=self._needed(names)):
                table = plain_table(_columns(pa.Table.from_batches([batch])))
                lines = np.arange(first, first + table.num_rows, dtype=np.int64)
                yield RawRows(table.select(names), lines, _RowText(table))
                first += table.num_rows
                done = self.file.size * (first - 1) // total
                if progress:
                    progress(done - told)
                told = done

    def _needed(self, names: list[str]) -> list[str] | None:
        """The columns to read for these; None, all of them, where their names could be taken for others."""
        if len(set(self._roots)) < len(self._roots) or any("." in root for root in self._roots):
            return None
        owners = dict(zip(self.columns or (), self._owners, strict=True))
        return list(dict.fromkeys(owners[name] for name in names))

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with self.file.opened() as content, tempfile.TemporaryFile() as unpacked:
            seekable = content
            if self.file.is_gzipped:
                shutil.copyfileobj(content, unpacked)
                seekable = cast(BinaryIO, unpacked)
            try:
                with pq.ParquetFile(seekable, buffer_size=_BUFFER) as parquet:
                    yield parquet
            except (pa.ArrowException, OSError) as error:
                raise ImportRefused(f"{self.file.name} can't be read as Parquet: {error}") from None


class _RowText:
    """The text of a row, made when somebody asks for it."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __call__(self, position: int) -> str:
        row = self._table.slice(position, 1).to_pylist()[0]
        return orjson.dumps(row, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


def _columns(table: pa.Table) -> list[tuple[str, pa.Array]]:
    """The columns of a table by their names, of which two may be the same."""
    columns = (column.combine_chunks() for column in table.columns)
    flat = (column.chunk(0) if isinstance(column, pa.ChunkedArray) else column for column in columns)
    return list(zip(table.column_names, flat, strict=True))


def plain_table(columns: Sequence[tuple[str, pa.Array]]) -> pa.Table:
    """Columns of values and of lists of values, each under a name of its own."""
    plain = [found for name, column in columns for found in plain_columns(name, column)]
    return pa.Table.from_arrays([column for _, column in plain], names=once_each([name for name, _ in plain]))


def plain_columns(name: str, column: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """A column as one or several without structs: `user` → `user.id`, `user.geo.city`.

    Lists of structs, and maps, become one list per field; lists of lists become one list. A duration is
    its seconds.
    """
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        yield from plain_columns(name, _storage(column))
    elif pa.types.is_struct(kind):
        for number, child in enumerate(column.flatten()):
            yield from plain_columns(f"{name}.{kind.field(number).name}", child)
    elif _is_list(kind):
        yield from _plain_lists(name, column)
    elif pa.types.is_duration(kind):
        yield name, pc.divide(column.cast(pa.int64()).cast(pa.float64(), safe=False), _SECONDS[kind.unit])
    elif kind in (pa.string_view(), pa.binary_view()):
        yield name, column.cast(pa.string() if kind == pa.string_view() else pa.binary())
    else:
        yield name, column


def _plain_lists(name: str, column: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    if pa.types.is_map(column.type):
        entry = pa.struct([("key", column.type.key_type), ("value", column.type.item_type)])
        column = column.cast(pa.list_(entry))
    lists = column.cast(pa.list_(column.type.value_type))
    ends = np.cumsum([0, *pc.list_value_length(lists).fill_null(0).to_numpy()])
    is_null = lists.is_null()
    for child_name, items in plain_columns(name, lists.flatten()):
        offsets = ends
        if pa.types.is_list(items.type):
            lengths = pc.list_value_length(items).fill_null(0).to_numpy()
            offsets, items = np.cumsum([0, *lengths])[ends], items.flatten()
        yield child_name, pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items, mask=is_null)


def _is_list(kind: pa.DataType) -> bool:
    tests = (
        pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, pa.types.is_map,
        pa.types.is_list_view, pa.types.is_large_list_view,
    )  # fmt: skip
    return any(test(kind) for test in tests)


def _storage(column: pa.ExtensionArray) -> pa.Array:
    """The storage type of an extension type; a UUID is its text."""
    if column.type != pa.uuid():
        return column.storage
    texts = [value and str(uuid.UUID(bytes=value)) for value in column.storage.to_pylist()]
    return pa.array(texts, pa.string())


Row = list[Any]
_BATCH_ROWS = 20_000
_SNIFFED = 200
_MAX_SHEET = 1 << 30


class Workbook:
    """A workbook's first sheet; see Reader. Lines are the sheet's rows, as the spreadsheet counts them.

    A sheet has at most 1,048,576 rows, and is held in memory while it is read: some 80 bytes a cell.
    """

    def __init__(
        self, file: DataFile, wanted: Collection[str], header: bool | None, names: Sequence[str]
    ) -> None:
        self.file = file
        _refuse_huge(file)
        with self._sheet() as (sheet, count):
            found = [Record(line, list(map(_text, row))) for line, row in islice(_rows(sheet), _SNIFFED)]
            layout = table_layout(found, file.name, "\t", wanted, header).named(names, file.name)
        check_width(file.name, layout.names)
        used = [any(record.cells[place] for record in found) for place in range(len(layout.names))]
        self._names = [name if is_used else "" for name, is_used in zip(layout.names, used, strict=True)]
        self._first_line, self.has_header = layout.first_line, layout.has_header
        self.columns: tuple[str, ...] | None = tuple(name for name in self._names if name)
        self.seen = dict.fromkeys(self.columns)
        parts = ["workbook", f"sheet '{sheet.name}'", f"{len(self.columns)} columns", *layout.description]
        parts += [f"the first of {count} sheets"] if count > 1 else []
        self.description = ", ".join(parts)

    def rows(
        self,
        wanted: Collection[str] | None,
        refuse: Refuse,
        progress: Progress | None = None,
        numbers: Collection[str] = (),
    ) -> Iterator[RawRows]:
        """All rows, in batches; empty ones are no rows."""
        chosen = [
            (place, name)
            for place, name in enumerate(self._names)
            if name and (wanted is None or name in wanted)
        ]
        with self._sheet() as (sheet, _):
            told, total = 0, max(sheet.total_height, 1)
            below = (found for found in _rows(sheet) if found[0] >= self._first_line)
            while batch := list(islice(below, _BATCH_ROWS)):
                done = self.file.size * batch[-1][0] // total
                if progress:
                    progress(done - told)
                told = done
                columns = [(name, _column([row[place] for _, row in batch])) for place, name in chosen]
                lines = np.array([line for line, _ in batch], np.int64)
                yield RawRows(plain_table(columns), lines, _row_text([row for _, row in batch]))
            if progress:
                progress(self.file.size - told)

    @contextmanager
    def _sheet(self) -> Iterator[tuple[CalamineSheet, int]]:
        """The first sheet, and how many there are."""
        try:
            with self.file.opened() as content:
                workbook = CalamineWorkbook.from_filelike(io.BytesIO(content.read()))
            yield workbook.get_sheet_by_index(0), len(workbook.sheet_names)
        except (CalamineError, IndexError, zipfile.BadZipFile) as error:
            reason = (
                f"{self.file.name} can't be read as a workbook ({error}); an archive has to be unpacked first"
            )
            raise ImportRefused(reason) from None


def _refuse_huge(file: DataFile) -> None:
    """ImportRefused for a sheet that would not fit into memory, or an archive made to burst it."""
    with file.opened() as content:
        data = io.BytesIO(content.read())
    if not zipfile.is_zipfile(data):
        return
    size = sum(part.file_size for part in zipfile.ZipFile(data).infolist())
    if size > _MAX_SHEET:
        raise ImportRefused(
            f"{file.name} unpacks to {size >> 20:,} MiB, more than the {_MAX_SHEET >> 20:,} MiB that a "
            "workbook may have; save the sheet as CSV"
        )


def _rows(sheet: CalamineSheet) -> Iterator[tuple[int, Row]]:
    """The rows that have a value, and their numbers from 1."""
    for number, row in enumerate(sheet.iter_rows(), 1):
        if any(cell != "" for cell in row):
            yield number, row


def _column(cells: Iterable[Any]) -> pa.Array:
    values = [None if cell == "" else cell for cell in cells]
    if any(isinstance(value, dt.datetime) for value in values):
        values = [_moment(value) for value in values]
    return column(values)


def _moment(value: Any) -> Any:
    """A date as its midnight, so that a column of hours has one type."""
    is_date = isinstance(value, dt.date) and not isinstance(value, dt.datetime)
    return dt.datetime(value.year, value.month, value.day) if is_date else value  # noqa: DTZ001


def _text(cell: Any) -> str:
    return f"{cell:.15g}" if isinstance(cell, float) else str(cell)


def _row_text(rows: Sequence[Row]) -> Callable[[int], str]:
    return lambda position: orjson.dumps(rows[position], default=str).decode()


def reader(
    path: Path,
    format: Format | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    definition: Definition | None = None,
) -> Reader:
    """The reader of the file at `path`; what is not given is recognised. ImportRefused when it can't be.

    `definition`, where there is one already, says which columns to look for.
    """
    file = data_file(path, format)
    if file.format == "parquet":
        return Parquet(file)
    if file.format == "ndjson":
        return ndjson(file, encoding)
    wanted: list[str] = []
    names: tuple[str, ...] = ()
    if definition is not None:
        wanted, names, header = definition.source_columns(), definition.names, definition.header
    if file.format == "xlsx":
        return Workbook(file, wanted, header, names)
    return delimited(file, encoding, delimiter, wanted, header, names)
