"""Rows of a file of columns: Parquet, Arrow (Feather, and streams of it) or ORC."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import BinaryIO, NamedTuple, cast

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from lib.ingest.cells import one_array, plain_columns, plain_table
from lib.ingest.files import ANY, DataFile, Kinds, Names, Progress, RawRows, Refuse, check_width
from lib.wire.errors import ImportRefused

_BATCH_ROWS, _MOST_ROWS = 1 << 15, 1 << 18
_BATCH_CELLS, _BATCH_BYTES = 1 << 20, 1 << 24
_REPEATED = 8  # bytes a value: what a column of texts takes at most where most of its values come again
_BUFFER = 1 << 20
_TITLES = {"parquet": "Parquet", "arrow": "Arrow", "orc": "ORC"}


class ColumnarFile:
    """A file of columns; see Reader. Lines are its rows, counted from 1."""

    def __init__(self, file: DataFile) -> None:
        self.file, self.context, self.has_header = file, file.name, True
        with self._open() as content:
            schema = content.schema
            check_width(file.name, schema.names)
            self._roots = schema.names
            empty = _columns(schema.empty_table())
            self.columns: tuple[str, ...] | None = tuple(plain_table(empty).column_names)
            self._owners = [root for root, column in empty for _ in plain_columns(root, column)]
            self.names = dict.fromkeys(self.columns)
            rows = "" if content.rows is None else f" {content.rows:,} rows,"
            self.description = f"{_TITLES[file.format]},{rows} {len(self.columns)} columns"

    def rows(
        self, selection: Names | None, refuse: Refuse, progress: Progress | None = None, kinds: Kinds = ANY
    ) -> Iterator[RawRows]:
        """All rows, in batches. There is nothing that could not be read."""
        names = [name for name in self.columns or () if selection is None or name in selection]
        owners = dict(zip(self.columns or (), self._owners, strict=True))
        columns: list[str] | None = list(dict.fromkeys(owners[name] for name in names))
        if len(set(self._roots)) < len(self._roots) or any("." in root for root in self._roots):
            columns = None  # all: their names could be taken for others
        with self._open() as content:
            first, last_bytes = 1, 0
            texts = [name for name, kind in kinds.items() if kind == "text"]
            for batch in content.batches(columns, texts):
                table = plain_table(_columns(pa.Table.from_batches([batch])))
                lines = np.arange(first, first + table.num_rows, dtype=np.int64)
                yield RawRows(table.select(names), lines, partial(_row_text, table))
                first += table.num_rows
                if progress and content.rows:
                    progress_bytes = self.file.size * (first - 1) // content.rows
                    progress(progress_bytes - last_bytes)
                    last_bytes = progress_bytes
            if progress and content.rows is None:
                progress(self.file.size)

    @contextmanager
    def _open(self) -> Iterator["_Content"]:
        with self.file.open() as content, tempfile.TemporaryFile() as copy:
            seekable = content
            if self.file.compression:
                shutil.copyfileobj(content, copy)
                seekable = cast(BinaryIO, copy)
            try:
                yield _OPENERS[self.file.format](seekable)
            except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
                title = _TITLES[self.file.format]
                raise ImportRefused(f"{self.file.name} can't be read as {title}: {error}") from None


class _Content(NamedTuple):
    """An open file: its columns, its rows (None: not known before they are read), and these in batches.

    `batches` are of some columns (None: all); those that are texts may come dictionary-encoded.
    """

    schema: pa.Schema
    rows: int | None
    batches: Callable[[list[str] | None, Names], Iterator[pa.RecordBatch]]


def _parquet(content: BinaryIO) -> _Content:
    # By default INT96 becomes nanoseconds, which end in 2262: the year 9999 would come back as 1816.
    options = {"buffer_size": _BUFFER, "pre_buffer": False, "coerce_int96_timestamp_unit": "us"}
    file = pq.ParquetFile(content, **options)

    def batches(names: list[str] | None, texts: Names) -> Iterator[pa.RecordBatch]:
        # Which of these texts have a dictionary of few different values, and which other columns have one.
        dictionaries, others = list[str](), list[str]()
        schema, metadata = file.schema_arrow, file.metadata
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        for number, column in enumerate(file.schema):
            chunks = [group.column(number) for group in groups]
            if column.physical_type != "BYTE_ARRAY" or not any(chunk.has_dictionary_page for chunk in chunks):
                continue
            is_one = column.path in texts and schema.names.count(column.path) == 1
            is_text = is_one and pa.types.is_string(schema.field(column.path).type)
            is_small = sum(chunk.total_uncompressed_size for chunk in chunks) <= _REPEATED * metadata.num_rows
            (dictionaries if is_text and is_small else others).append(column.path)
        reader = pq.ParquetFile(content, metadata=metadata, read_dictionary=dictionaries, **options)
        width = max((group.total_byte_size / max(1, group.num_rows) for group in groups), default=0)
        most = min(_BATCH_CELLS / (1 + metadata.num_columns), _BATCH_BYTES / (1 + width), _MOST_ROWS)
        # what values take that are read from a dictionary one by one is not known
        rows = _BATCH_ROWS if others else max(_BATCH_ROWS, int(most))
        return cast(Iterator[pa.RecordBatch], reader.iter_batches(rows, columns=names))

    return _Content(file.schema_arrow, file.metadata.num_rows, batches)


def _arrow(content: BinaryIO) -> _Content:
    is_file = content.read(6) == b"ARROW1"
    content.seek(0)
    file = pa.ipc.open_file(content) if is_file else pa.ipc.open_stream(content)

    def batches(names: list[str] | None, _: Names) -> Iterator[pa.RecordBatch]:
        every = map(file.get_batch, range(file.num_record_batches)) if is_file else iter(file)
        for batch in every:
            yield from _slices(pa.Table.from_batches([batch]).select(names or batch.schema.names))

    return _Content(file.schema, None, batches)


def _orc(content: BinaryIO) -> _Content:
    file = orc.ORCFile(content)

    def batches(names: list[str] | None, _: Names) -> Iterator[pa.RecordBatch]:
        for stripe in range(file.nstripes):
            yield from _slices(pa.Table.from_batches([file.read_stripe(stripe, columns=names)]))

    return _Content(file.schema, file.nrows, batches)


def _slices(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Batches of a table. ArrowInvalid where it is damaged: reading checks no texts."""
    table.validate(full=True)
    return iter(table.to_batches(_BATCH_ROWS))


_OPENERS: dict[str, Callable[[BinaryIO], _Content]] = {"parquet": _parquet, "arrow": _arrow, "orc": _orc}


def _row_text(table: pa.Table, position: int) -> str:
    row = table.slice(position, 1).to_pylist()[0]
    return orjson.dumps(row, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


def _columns(table: pa.Table) -> list[tuple[str, pa.Array]]:
    """The columns of a table by their names, of which two may be the same."""
    return list(zip(table.column_names, map(one_array, table.columns), strict=True))
