"""The reader of a file, by its format: workbooks, Parquet and text."""

import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from lib.reporting.definition import Definition
from lib.reporting.definition.reading import Sheets
from lib.reporting.ingest.cells import plain_columns, plain_table
from lib.reporting.ingest.delimited import delimited_text
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
from lib.reporting.ingest.ndjson import ndjson
from lib.reporting.ingest.workbook import workbooks
from lib.wire.errors import ImportRefused

_PARQUET_BATCH_ROWS = 1 << 16
_BUFFER = 1 << 20


class Parquet:
    """A Parquet file; see Reader. Lines are its rows, counted from 1."""

    def __init__(self, file: DataFile) -> None:
        self.file, self.has_header = file, True
        with self._open() as content:
            schema = content.schema_arrow
            check_width(file.name, schema.names)
            self._roots = schema.names
            empty = _columns(schema.empty_table())
            self.columns: tuple[str, ...] | None = tuple(plain_table(empty).column_names)
            self._owners = [root for root, column in empty for _ in plain_columns(root, column)]
            self.names = dict.fromkeys(self.columns)
            self.description = f"Parquet, {content.metadata.num_rows:,} rows, {len(self.columns)} columns"

    def rows(
        self,
        selection: Collection[str] | None,
        refuse: Refuse,
        progress: Progress | None = None,
        numbers: Collection[str] = (),
    ) -> Iterator[RawRows]:
        """All rows, in batches. There is nothing that could not be read."""
        names = [name for name in self.columns or () if selection is None or name in selection]
        with self._open() as content:
            first, last_bytes, total = 1, 0, content.metadata.num_rows
            for batch in content.iter_batches(_PARQUET_BATCH_ROWS, columns=self._needed_columns(names)):
                table = plain_table(_columns(pa.Table.from_batches([batch])))
                lines = np.arange(first, first + table.num_rows, dtype=np.int64)
                yield RawRows(table.select(names), lines, _RowText(table))
                first += table.num_rows
                progress_bytes = self.file.size * (first - 1) // total
                if progress:
                    progress(progress_bytes - last_bytes)
                last_bytes = progress_bytes

    def _needed_columns(self, names: list[str]) -> list[str] | None:
        """The columns to read for these; None, all of them, where their names could be taken for others."""
        if len(set(self._roots)) < len(self._roots) or any("." in root for root in self._roots):
            return None
        owners = dict(zip(self.columns or (), self._owners, strict=True))
        return list(dict.fromkeys(owners[name] for name in names))

    @contextmanager
    def _open(self) -> Iterator[Any]:
        with self.file.open() as content, tempfile.TemporaryFile() as copy:
            seekable = content
            if self.file.compression:
                shutil.copyfileobj(content, copy)
                seekable = cast(BinaryIO, copy)
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


def readers(
    path: Path,
    format: Format | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    definition: Definition | None = None,
    sheets: Sheets = None,
) -> list[Reader]:
    """The readers of the file at `path`, one unless it is a workbook with several `sheets` to import.

    What is not given is recognized; ImportRefused when it can't be. `definition`, where there is one already,
    says which columns to look for, and which sheets.
    """
    file = data_file(path, format)
    if file.format == "parquet":
        return [Parquet(file)]
    if file.format == "ndjson":
        return [ndjson(file, encoding)]
    columns: list[str] = []
    names: tuple[str, ...] = ()
    if definition is not None:
        columns, names, header = definition.source_columns(), definition.names, definition.header
        sheets = sheets or definition.sheets
    if file.format == "xlsx":
        return workbooks(file, columns, header, names, sheets)
    return [delimited_text(file, encoding, delimiter, columns, header, names)]


def reader(
    path: Path,
    format: Format | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    definition: Definition | None = None,
) -> Reader:
    """The reader of a file of one table; see readers()."""
    return readers(path, format, encoding, delimiter, header, definition)[0]
