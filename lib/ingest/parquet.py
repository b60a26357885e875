"""Rows of a Parquet file."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from lib.ingest.cells import one_array, plain_columns, plain_table
from lib.ingest.files import DataFile, Names, Progress, RawRows, Refuse, check_width
from lib.wire.errors import ImportRefused

_BATCH_ROWS = 1 << 15
_BUFFER = 1 << 20


class Parquet:
    """A Parquet file; see Reader. Lines are its rows, counted from 1."""

    def __init__(self, file: DataFile) -> None:
        self.file, self.context, self.has_header = file, file.name, True
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
        self, selection: Names | None, refuse: Refuse, progress: Progress | None = None, numbers: Names = ()
    ) -> Iterator[RawRows]:
        """All rows, in batches. There is nothing that could not be read."""
        names = [name for name in self.columns or () if selection is None or name in selection]
        with self._open() as content:
            first, last_bytes, total = 1, 0, content.metadata.num_rows
            for batch in content.iter_batches(_BATCH_ROWS, columns=self._needed_columns(names)):
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
                with pq.ParquetFile(seekable, buffer_size=_BUFFER, pre_buffer=False) as parquet:
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
    return list(zip(table.column_names, map(one_array, table.columns), strict=True))
