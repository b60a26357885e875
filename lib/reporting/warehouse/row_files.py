"""Writes rows in any order to Parquet files per day; they become valid through the manifest."""

import datetime as dt
import os
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from lib.reporting.definition import TIME, Definition
from lib.reporting.warehouse.manifest import StoredPart, day_folder, digest_of, sync_folder

BATCH_ROWS = 1 << 16
BUFFER_BYTES = 64 << 20
OPEN_FILES = 200
THREADS = 2
SECONDS_A_DAY = 86_400
EPOCH = dt.date(1970, 1, 1)


class RowFiles:
    """Writes the rows of one import into `rows/day=…/<import id>[-n].parquet` below a slicer's folder.

    Memory is bounded: rows are collected up to BUFFER_BYTES, then appended to their days' files, one row
    group each, by threads of their own: one buffer fills while one is written, THREADS days at a time. At
    most OPEN_FILES files are open; a day whose file was closed gets a further one.
    """

    def __init__(self, folder: Path, definition: Definition, import_id: str) -> None:
        self.parts: dict[dt.date, list[StoredPart]] = {}
        self._folder, self._import_id = folder, import_id
        self._definition, self._schema = definition, definition.schema()
        self._buffer: list[pa.RecordBatch] = []
        self._buffered = 0
        self._open: OrderedDict[dt.date, _DayFile] = OrderedDict()
        self._thread, self._writers = ThreadPoolExecutor(1, "row-files"), ThreadPoolExecutor(THREADS, "days")
        self._writing: Future[None] | None = None

    def __enter__(self) -> "RowFiles":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown()
        self._writers.shutdown()
        for file in self._open.values():
            file.abandon()

    def write(self, table: pa.Table) -> None:
        """Take rows with the columns of `definition.schema()`, dictionary-encoded or not, of any days."""
        for batch in table.select(self._schema.names).to_batches(max_chunksize=BATCH_ROWS):
            plain = batch.cast(self._schema)
            self._buffer.append(plain)
            self._buffered += plain.nbytes
            if self._buffered >= BUFFER_BYTES:
                self._spill()

    def finish(self) -> None:
        """Write the remaining rows, and sync all files to disk."""
        self._spill()
        self._wait()
        closed = self._writers.map(self._close, list(self._open.values()))
        for day, part in zip(list(self._open), closed, strict=True):
            del self._open[day]
            self.parts.setdefault(day, []).append(part)
        for day in self.parts:
            sync_folder(self._folder / day_folder(day))

    def _spill(self) -> None:
        if not self._buffer:
            return
        table = pa.Table.from_batches(self._buffer, self._schema)
        self._buffer, self._buffered = [], 0
        self._wait()
        self._writing = self._thread.submit(self._append, table)

    def _wait(self) -> None:
        """Wait until earlier rows are written; their errors are raised here."""
        if self._writing is not None:
            self._writing.result()

    def _append(self, table: pa.Table) -> None:
        days = _days(table.column(TIME), self._definition)
        if (days[1:] < days[:-1]).any():
            order = np.argsort(days, kind="stable")
            table, days = table.take(order), days[order]
        starts = np.flatnonzero(np.diff(days, prepend=days[0] - 1)).tolist()
        spans = list(zip(starts, [*starts[1:], len(days)], strict=True))
        for some in (spans[at : at + OPEN_FILES] for at in range(0, len(spans), OPEN_FILES)):
            files = [self._file(EPOCH + dt.timedelta(days=int(days[start]))) for start, _ in some]
            tables = [table.slice(start, end - start) for start, end in some]
            list(self._writers.map(_DayFile.write, files, tables))

    def _file(self, day: dt.date) -> "_DayFile":
        if day not in self._open:
            if len(self._open) >= OPEN_FILES:
                self._close_oldest()
            self._open[day] = _DayFile(self._new_path(day), self._schema)
        self._open.move_to_end(day)
        return self._open[day]

    def _new_path(self, day: dt.date) -> Path:
        folder = self._folder / day_folder(day)
        folder.mkdir(parents=True, exist_ok=True)
        earlier = len(self.parts.get(day, ()))
        return folder / (f"{self._import_id}-{earlier}.parquet" if earlier else f"{self._import_id}.parquet")

    def _close_oldest(self) -> None:
        day, file = self._open.popitem(last=False)
        self.parts.setdefault(day, []).append(self._close(file))

    def _close(self, file: "_DayFile") -> StoredPart:
        file.close()
        return StoredPart(file.path.name, self._import_id, file.rows, digest_of(file.path))


class _DayFile:
    """One Parquet file while it is written."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.path, self.rows = path, 0
        self._file: IO[bytes] = path.open("wb")
        self._writer: Any = pq.ParquetWriter(
            self._file, schema, compression="zstd", use_dictionary=_repeating(schema)
        )

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table)
        self.rows += table.num_rows

    def close(self) -> None:
        self._writer.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def abandon(self) -> None:
        self._writer.close()
        self._file.close()


def _repeating(schema: pa.Schema) -> list[str]:
    """The paths of the columns whose values repeat; numbers are written sooner without a dictionary."""
    lists = [field.name for field in schema if pa.types.is_list(field.type)]
    plain = [field.name for field in schema if pa.types.is_string(field.type)]
    return [TIME, *plain, *(f"{name}.list.element" for name in lists)]


def _days(times: pa.ChunkedArray, definition: Definition) -> npt.NDArray[np.int64]:
    """Days since 1970 in the slicer's zone; rows of granularity day carry their own day already."""
    shift = definition.timezone * 3600 if definition.time.granularity == "hour" else 0
    seconds: npt.NDArray[np.int64] = times.cast(pa.int64()).to_numpy()
    return (seconds + shift) // SECONDS_A_DAY
