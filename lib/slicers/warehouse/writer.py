"""Writes to a slicer atomically: new files are added beside the old ones, then the manifest is replaced.

Files of rows are written a day at a time: batches of rows come in any order and leave in files by day.
"""

import datetime as dt
import fcntl
import os
import secrets
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from lib.slicers.definition import TIME, Definition
from lib.slicers.warehouse.slicer import (
    Import,
    Manifest,
    Source,
    StoredPart,
    day_folder,
    digest_of,
    read_manifest,
    replace_manifest,
    store_mapping,
    sync_folder,
)
from lib.wire import time_zones
from lib.wire.errors import ImportRefused

BATCH_ROWS = 1 << 16
BUFFER_BYTES = 64 << 20
KEPT_BYTES = 80 << 20
OPEN_FILES = 200
THREADS = 2
SECONDS_A_DAY = 86_400
EPOCH = dt.date(1970, 1, 1)
CODED = pa.dictionary(pa.int32(), pa.string())
_reserved: ContextVar[frozenset[Path]] = ContextVar("reserved", default=frozenset())
Mode = Literal["create", "append", "replace", "replace-days"]


def days_of(table: pa.Table, definition: Definition) -> npt.NDArray[np.int64]:
    """The day of each row since 1970 in the slicer's zone; rows of granularity day carry their own day."""
    shift = definition.timezone * 3600 if definition.time.has_zones else 0
    seconds: npt.NDArray[np.int64] = table.column(TIME).cast(pa.int64()).to_numpy()
    return (seconds + shift) // SECONDS_A_DAY


class RowFiles:
    """Writes the rows of one import into `rows/day=…/<import id>[-n].parquet` below a slicer's folder.

    Memory is bounded: rows are collected up to BUFFER_BYTES, then appended to their days' files, one row
    group each, by threads of their own: one buffer fills while one is written, THREADS days at a time. At
    most OPEN_FILES files are open; a day whose file was closed gets a further one. `recent_rows` has the rows
    of each file, unless they are more than KEPT_BYTES in all.
    """

    def __init__(self, folder: Path, definition: Definition, import_id: str) -> None:
        self.parts: dict[dt.date, list[StoredPart]] = {}
        self.recent_rows: dict[Path, list[pa.Table]] = {}
        self._kept_bytes = 0
        self._folder, self._import_id = folder, import_id
        self._definition = definition
        # codes are sorted in a third of the time of texts, and Parquet looks up none of them again
        self._schema = pa.schema(
            field.with_type(CODED) if pa.types.is_string(field.type) else field
            for field in definition.schema()
        )
        self._buffer: list[pa.RecordBatch] = []
        self._full: list[pa.RecordBatch] = []
        self._buffer_bytes = 0
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
        for batch in table.select(self._schema.names).cast(self._schema).to_batches(BATCH_ROWS):
            self._buffer.append(batch)
            self._buffer_bytes += batch.nbytes
            if self._buffer_bytes >= BUFFER_BYTES:
                self._spill()

    def finish(self) -> None:
        """Write the remaining rows, and sync all files to disk."""
        self._spill()
        self._wait()
        parts = self._writers.map(self._close, list(self._open.values()))
        for day, part in zip(list(self._open), parts, strict=True):
            del self._open[day]
            self.parts.setdefault(day, []).append(part)
        folders = [self._folder / day_folder(day) for day in self.parts]
        for folder in (*folders, *{folder.parent for folder in folders}):
            sync_folder(folder)

    def _spill(self) -> None:
        if not self._buffer:
            return
        self._wait()
        self._full, self._buffer, self._buffer_bytes = self._buffer, [], 0
        self._writing = self._thread.submit(self._append)

    def _wait(self) -> None:
        """Wait until earlier rows are written; their errors are raised here."""
        if self._writing is not None:
            self._writing.result()

    def _append(self) -> None:
        table = pa.Table.from_batches(self._full).unify_dictionaries()
        self._full = []  # so that rows in the order of their days take the place of these
        days = days_of(table, self._definition)
        if (days[1:] < days[:-1]).any():
            few = days - days.min()  # of 16 bits or fewer NumPy sorts by their digits, in a fifth of the time
            order = np.argsort(few.astype(np.uint16) if few.max() < 1 << 16 else few, kind="stable")
            table, days = table.take(order), days[order]
        self._kept_bytes += table.nbytes
        if self._kept_bytes > KEPT_BYTES:
            self.recent_rows.clear()
        starts = np.flatnonzero(np.diff(days, prepend=days[0] - 1)).tolist()
        spans = list(zip(starts, [*starts[1:], len(days)], strict=True))
        for at in range(0, len(spans), OPEN_FILES):
            batch = spans[at : at + OPEN_FILES]
            files = [self._file(EPOCH + dt.timedelta(days=int(days[start]))) for start, _ in batch]
            tables = [table.slice(start, end - start) for start, end in batch]
            for file, rows in zip(files, self._writers.map(_DayFile.write, files, tables), strict=True):
                if self._kept_bytes <= KEPT_BYTES:
                    self.recent_rows.setdefault(file.path, []).append(rows)

    def _file(self, day: dt.date) -> "_DayFile":
        if day not in self._open:
            if len(self._open) >= OPEN_FILES:
                oldest, file = self._open.popitem(last=False)
                self.parts.setdefault(oldest, []).append(self._close(file))
            folder = self._folder / day_folder(day)
            folder.mkdir(parents=True, exist_ok=True)
            earlier = len(self.parts.get(day, ()))
            name = f"{self._import_id}-{earlier}.parquet" if earlier else f"{self._import_id}.parquet"
            self._open[day] = _DayFile(folder / name, self._schema)
        self._open.move_to_end(day)
        return self._open[day]

    def _close(self, file: "_DayFile") -> StoredPart:
        file.close()
        return StoredPart(file.path.name, self._import_id, file.rows, digest_of(file.path))


class _DayFile:
    """One Parquet file while it is written."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.path, self.rows, self._schema = path, 0, schema
        self._file: IO[bytes] = path.open("wb")
        floats = [field.name for field in schema if pa.types.is_floating(field.type)]
        lists = [f"{field.name}.list.element" for field in schema if pa.types.is_list(field.type)]
        self._writer: Any = pq.ParquetWriter(
            self._file,
            schema,
            compression="zstd",
            use_dictionary=[TIME, *lists, *(field.name for field in schema if field.type == CODED)],
            use_byte_stream_split=floats,  # in 0.6 of the time of whole numbers, side by side, and smaller
            write_statistics=False,  # nobody reads them: a day is a file
            store_schema=False,  # texts are read as such
        )

    def write(self, table: pa.Table) -> pa.Table:
        """The rows as they are written."""
        columns = [_in_use(column) if column.type == CODED else column for column in table]
        rows = pa.table(columns, self._schema)
        self._writer.write_table(rows)
        self.rows += rows.num_rows
        return rows

    def close(self) -> None:
        self._writer.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def abandon(self) -> None:
        self._writer.close()
        self._file.close()


def _in_use(column: pa.ChunkedArray) -> pa.Array:
    """The same texts with no others in their dictionary, which Parquet writes whole."""
    array = column.combine_chunks()
    is_used = np.zeros(len(array.dictionary), bool)
    is_used[array.indices.drop_null()] = True
    places = pa.array(np.cumsum(is_used, dtype=np.int32) - 1).take(array.indices)
    return pa.DictionaryArray.from_arrays(places, array.dictionary.filter(pa.array(is_used)), safe=False)


class Writer:
    """A transaction of new rows; none of them are visible before `commit`."""

    def __init__(self, folder: Path, manifest: Manifest, mode: Mode, files: RowFiles, import_id: str) -> None:
        self._folder, self._manifest, self._mode = folder, manifest, mode
        self._files, self._import_id = files, import_id
        self._rows = 0

    @property
    def recent_rows(self) -> Mapping[Path, Sequence[pa.Table]]:
        """The rows of each file that was written, where they are few: see StoredSlicer."""
        return self._files.recent_rows

    @property
    def imports(self) -> tuple[Import, ...]:
        """The imports that the slicer holds rows of, as it is before this one."""
        return self._manifest.imports

    def write(self, table: pa.Table) -> None:
        """Take rows with the columns of `definition.schema()`, in any order and of any days."""
        if (source := self._manifest.definition.source) is not None:
            raise ImportRefused(
                f"The rows of this slicer stay in the connection {source.connection}; leave out "
                "`source` to import rows, or use `tranche connect`"
            )
        self._files.write(table)
        self._rows += table.num_rows

    def connect(self) -> None:
        """Make a slicer count that has no rows of its own: its definition says where they are."""
        replace_manifest(self._folder, self._manifest.model_copy(update={"days": {}, "imports": ()}))

    def commit(self, source: str, digest: str) -> None:
        """Commit the rows as the import of one file with this SHA-256 digest."""
        self.commit_all([Source(source, digest, self._rows)])

    def commit_all(self, sources: Sequence[Source]) -> None:
        """Commit the rows as one import of several files."""
        self._files.finish()
        days = {} if self._mode == "replace" else dict(self._manifest.days)
        for day, parts in self._files.parts.items():
            earlier = () if self._mode == "replace-days" else days.get(day, ())
            days[day] = (*earlier, *parts)
        import_ = Import(
            id=self._import_id, when=dt.datetime.now(dt.UTC), sources=tuple(sources),
            zone_data=time_zones.data().version if self._manifest.definition.time.has_named_zone else "",
        )  # fmt: skip
        # Without imports none of whose rows are left.
        living = {part.import_id for parts in days.values() for part in parts}
        imports = tuple(other for other in (*self._manifest.imports, import_) if other.id in living)
        changes = {"days": dict(sorted(days.items())), "imports": imports}
        replace_manifest(self._folder, self._manifest.model_copy(update=changes))


@contextmanager
def writing(
    folder: Path, slicer: str, definition: Definition, mappings: Mapping[str, Mapping[str, str]], mode: Mode
) -> Iterator[Writer]:
    """A Writer for the slicer in a folder, under its lock; without a commit nothing changes."""
    folder.mkdir(parents=True, exist_ok=True)
    with slicer_lock(folder, slicer):
        before = read_manifest(folder)
        refuse_mode(mode, before is not None, slicer)
        refuse_definition(mode, before.definition if before else None, definition, slicer)
        _remove_leftovers(folder, before)
        # The manifest before new rows: with the new definition and mappings, and the old rows.
        unknown, files = set(mappings) - definition.mappings, dict(before.mappings) if before else {}
        if unknown:
            raise ImportRefused(f"No key field of the definition names the mapping '{min(unknown)}'")
        if missing := sorted(definition.mappings - set(mappings) - set(files)):
            option = f"--mapping {missing[0]}=FILE.csv"
            raise ImportRefused(f"The definition names the mapping '{missing[0]}'; give it with {option}")
        files |= {name: store_mapping(folder, mapping) for name, mapping in mappings.items()}
        mapping_files = {name: files[name] for name in sorted(definition.mappings)}
        changes = {"definition": definition, "mappings": mapping_files}
        manifest = (before or Manifest(definition=definition)).model_copy(update=changes)
        import_id = f"{dt.datetime.now(dt.UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
        try:
            with RowFiles(folder, definition, import_id) as row_files:
                yield Writer(folder, manifest, mode, row_files, import_id)
        finally:
            if read_manifest(folder) == before:
                _remove_leftovers(folder, before)


def refuse_mode(mode: Mode, exists: bool, slicer: str) -> None:
    """Raise ImportRefused if the mode does not fit a slicer that exists, or does not exist."""
    if exists and mode == "create":
        raise ImportRefused(
            f"The slicer {slicer} exists. Use --append to add rows, --replace-days to replace the days that "
            "are in the file, or --replace to replace everything"
        )
    if not exists and mode in ("append", "replace-days"):
        raise ImportRefused(f"There is no slicer {slicer} yet; leave out --{mode} to create it")


def refuse_definition(mode: Mode, before: Definition | None, definition: Definition, slicer: str) -> None:
    """Raise ImportRefused if rows of `definition` can't be added to the existing ones."""
    differing = before.differences(definition) if before and mode in ("append", "replace-days") else []
    if differing:
        raise ImportRefused(
            f"The definition differs from that of {slicer} in {', '.join(differing)}; "
            f"leave it out with --{mode}, or use --replace"
        )


@contextmanager
def slicer_lock(folder: Path, slicer: str) -> Iterator[None]:
    """Hold a slicer's lock. ImportRefused while an import holds it, unless this thread has reserved it."""
    if folder in _reserved.get():
        yield
        return
    # the file stays: who waits for it would otherwise lock one without a name, beside a new one
    handle = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ImportRefused(f"Another import into {slicer} is running; wait until it is done") from None
        yield
    finally:
        os.close(handle)


@contextmanager
def reserve(folder: Path, slicer: str) -> Iterator[None]:
    """Hold a slicer's lock for what this thread does with it in the block. ImportRefused as `slicer_lock`."""
    with slicer_lock(folder, slicer):
        outer = _reserved.set(_reserved.get() | {folder})
        try:
            yield
        finally:
            _reserved.reset(outer)


def _remove_leftovers(folder: Path, manifest: Manifest | None) -> None:
    """Remove files of rows and mappings that are not in the manifest."""
    living = manifest.files() if manifest else set()
    for path in [*folder.glob("rows/*/*"), *folder.glob("mappings/*")]:
        if path.relative_to(folder).as_posix() not in living:
            path.unlink()
    for day in folder.glob("rows/*"):
        if not any(day.iterdir()):
            day.rmdir()
