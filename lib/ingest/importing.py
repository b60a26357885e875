"""Files + definition → warehouse: all of them as one import, or nothing; and how far the reading is."""

import sys
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import NamedTuple, TextIO

import pyarrow as pa

from lib.ingest.files import Progress, RawRows, Reader, Refuse
from lib.ingest.normalize import Normalizer, number_columns
from lib.ingest.rejects import Ending, Reject, Rejects
from lib.slicers.definition import Definition
from lib.slicers.warehouse import Mode, StoredSlicer, Warehouse
from lib.slicers.warehouse.slicer import Import, Source
from lib.wire.errors import ImportRefused, UnknownName

BATCHES = 2
_MOST_REJECTS = 1000
ON_A_TERMINAL, IN_A_LOG = 0.2, 10.0
_CLEAR = "\r\x1b[K"


@dataclass(frozen=True)
class ImportJob:
    """An import: its source, target and options. `max_rejects` is a share of all rows, 0 to 1."""

    project: str
    slicer: str
    readers: Sequence[Reader]
    definition: Definition
    mappings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    mode: Mode = "create"
    max_rejects: float = 0.01


def import_files(
    job: ImportJob,
    file_digests: Sequence[str],
    warehouse: Warehouse,
    rejects: Rejects,
    progress: Progress | None = None,
    on_rows: Progress | None = None,
) -> StoredSlicer:
    """Import the files of a job, with their digests; the slicer as it is then.

    Rows that can't be read go to `rejects`; `progress` is told the bytes read (from a thread of its own),
    `on_rows` the rows that can be stored. ImportRefused, and nothing changed, when too many rows can't be
    read, there are no rows at all, a column is missing, or a file is in already.
    """
    for reader in job.readers:
        refuse_missing(reader.file.name, reader.columns, job.definition)
    with warehouse.writer(job.project, job.slicer, job.definition, job.mappings, job.mode) as writer:
        if job.mode == "append":
            _refuse_duplicates(writer.imports, file_digests)

        def write(table: pa.Table) -> None:
            writer.write(table)
            if on_rows:
                on_rows(table.num_rows)

        normalizer = Normalizer(job.definition)
        sources = [
            Source(reader.file.name, digest, _rows(reader, normalizer, write, rejects, progress))
            for reader, digest in zip(job.readers, file_digests, strict=True)
        ]
        rejects.missing_words.update(normalizer.missing_words)
        rejects.clock_notes += normalizer.clock_notes
        _refuse_totals(normalizer)
        _refuse_late_columns(job)
        _refuse_rejects(job, sum(source.rows for source in sources), rejects)
        rejects.flush()
        writer.commit_all(sources)
    return warehouse.open(job.project, job.slicer)


def digests(readers: Iterable[Reader], progress: Progress | None = None) -> list[str]:
    """Each file's digest. ImportRefused when two files are the same."""
    digest_of: dict[str, str] = {}
    for reader in readers:
        digest = reader.file.digest(progress)
        if digest in digest_of:
            raise ImportRefused(f"{reader.file.name} and {digest_of[digest]} are the same file")
        digest_of[digest] = reader.file.name
    return list(digest_of)


def missing_columns(columns: Collection[str], definition: Definition) -> list[str]:
    """The columns that a definition reads and a file lacks."""
    return [name for name in definition.source_columns() if name not in columns]


def refuse_missing(file: str, columns: Collection[str] | None, definition: Definition) -> None:
    """ImportRefused when a file lacks a column that the definition reads."""
    missing = missing_columns(columns, definition) if columns is not None else []
    if missing and columns is not None:
        raise ImportRefused(
            f"{file}: {UnknownName('column', missing[0], columns)}. It has: {', '.join(columns)}"
        )


def read_ahead(read: Callable[[Refuse], Iterator[RawRows]], refuse: Refuse) -> Generator[RawRows, None, None]:
    """The batches of `read`, which runs in a thread of its own, at most BATCHES ahead.

    What it refuses goes to `refuse` here, in the order of reading; what it raises is raised here. Close the
    iterator when the rest is not wanted: the thread has ended then.
    """
    reading = _Reading(read)
    try:
        while True:
            part = reading.next()
            for reject in part.rejects:
                refuse(reject)
            if part.error is not None:
                raise part.error
            if part.is_last:
                return
            if part.rows is not None:
                yield part.rows
    finally:
        reading.stop()


def _rows(
    reader: Reader,
    normalizer: Normalizer,
    write: Callable[[pa.Table], None],
    rejects: Rejects,
    progress: Progress | None,
) -> int:
    count = 0

    definition = normalizer.definition

    def refuse(reject: Reject) -> None:
        rejects.add(reader.file.name, reject)

    def read(refuse: Refuse) -> Iterator[RawRows]:
        return reader.rows(definition.source_columns(), refuse, progress, number_columns(definition))

    ending = Ending(refuse)
    with closing(read_ahead(read, refuse)) as batches:
        for raw in batches:
            table, last = normalizer.rows(raw, ending.refuse)
            if last is not None:
                ending.accept(last)
            write(table)
            count += table.num_rows
    ending.close()
    return count


def _refuse_duplicates(imports: Iterable[Import], file_digests: Collection[str]) -> None:
    for earlier in imports:
        for source in earlier.sources:
            if source.digest in file_digests:
                raise ImportRefused(
                    f"This file was imported already: {source.rows:,} rows were imported from it, as "
                    f"{source.name}, "
                    f"on {earlier.when:%Y-%m-%d at %H:%M} UTC. Nothing was changed"
                )


def _refuse_totals(normalizer: Normalizer) -> None:
    """ImportRefused where rows of totals were found and nobody said what to do with them."""
    totals = normalizer.totals.counts()
    if not totals:
        _refuse_subtotals(normalizer)
        return
    (column, text), count = max(totals.items(), key=lambda item: item[1])
    total = sum(totals.values())
    more = f", {total:,} rows of this kind in all" if total > count else ""
    raise ImportRefused(
        f"{count:,} {'row has' if count == 1 else 'rows have'} '{text}' in column '{column}'{more}. If they "
        "add up other rows, those would count twice; nothing was imported. Leave totals out with "
        "--drop-totals, or import them with --keep-totals"
    )


def _refuse_subtotals(normalizer: Normalizer) -> None:
    """The same of rows that no word tells from others, so that --drop-totals can't leave them out."""
    for (column, word), count in normalizer.totals.subtotals().items():
        value = f"'{word}'" if word else "no value"
        raise ImportRefused(
            f"{count:,} rows have {value} in column '{column}' and come exactly to the other rows of their "
            "times: subtotals, which would count twice; nothing was imported. Export the file without them, "
            "or import them with --keep-totals"
        )


def _refuse_late_columns(job: ImportJob) -> None:
    """The same for files whose columns are known only at the end.

    A column that a slicer has already may be missing: JSON often leaves out what is empty.
    """
    late = [reader for reader in job.readers if reader.columns is None]
    columns = dict.fromkeys(name for reader in late for name in reader.names)
    optional = set(job.definition.source_columns()) if job.mode in ("append", "replace-days") else set()
    missing = [name for name in missing_columns(columns, job.definition) if name not in optional]
    if late and missing:
        names = ", ".join(reader.file.name for reader in late)
        raise ImportRefused(
            f"{names}: {UnknownName('column', missing[0], columns)}. There are: {', '.join(columns)}"
        )


def _refuse_rejects(job: ImportJob, rows: int, rejects: Rejects) -> None:
    total = rows + rejects.unreadable
    if not total:
        raise ImportRefused("There are no rows in " + ", ".join(reader.file.name for reader in job.readers))
    if rejects.unreadable > job.max_rejects * total:
        bad, share, most = rejects.unreadable, rejects.unreadable / total, job.max_rejects
        raise ImportRefused(
            f"{bad:,} of {total:,} rows ({share:.2%}) can't be read, more than the {most:.2%} "
            "allowed; nothing was imported. Fix the file or the definition, or raise --max-rejects"
        )


class _Part(NamedTuple):
    """A batch that was read: rejects, then rows (None: no rows yet); or the error that ended reading."""

    rejects: list[Reject]
    rows: RawRows | None = None
    is_last: bool = False
    error: BaseException | None = None


class _Reading:
    """The thread, and what it has read so far."""

    def __init__(self, read: Callable[[Refuse], Iterator[RawRows]]) -> None:
        self._read, self._rejects = read, list[Reject]()
        self._parts: SimpleQueue[_Part] = SimpleQueue()
        self._room, self._is_stopped = threading.Semaphore(BATCHES), False
        self._thread = threading.Thread(target=self._run, name="reading", daemon=True)
        self._thread.start()

    def next(self) -> _Part:
        """The next part, as soon as there is one."""
        part = self._parts.get()
        self._room.release()
        return part

    def stop(self) -> None:
        """End the thread, after the batch that it is reading."""
        self._is_stopped = True
        self._room.release()
        self._thread.join()

    def _run(self) -> None:
        try:
            for rows in self._read(self._refuse):
                self._enqueue(rows)
            self._enqueue(None, is_last=True)
        except _Stop:
            pass
        except BaseException as error:
            self._parts.put(_Part(self._rejects, error=error))

    def _refuse(self, reject: Reject) -> None:
        self._rejects.append(reject)
        if len(self._rejects) >= _MOST_REJECTS:
            self._enqueue(None)

    def _enqueue(self, rows: RawRows | None, is_last: bool = False) -> None:
        self._room.acquire()
        if self._is_stopped:
            raise _Stop
        rejects, self._rejects = self._rejects, []
        self._parts.put(_Part(rejects, rows, is_last))


class _Stop(Exception):
    """Nobody wants the rest."""


class ImportProgress:
    """Counts bytes and rows, and writes them to `stream` every few seconds at most.

    `size` is what there is to read, in bytes. `clock` gives seconds. Counts may come from two threads,
    bytes from one and rows from another; only rows write.
    """

    def __init__(self, size: int, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._size, self._stream, self._clock = size, stream, clock
        self._is_terminal = stream.isatty()
        self._pause = ON_A_TERMINAL if self._is_terminal else IN_A_LOG
        self._began = self._last_write = clock()
        self._bytes = self._rows = 0
        self._is_shown = False

    def read(self, size: int) -> None:
        """So many more bytes were read."""
        self._bytes += size

    def take(self, rows: int) -> None:
        """So many more rows were read and checked."""
        self._rows += rows
        now = self._clock()
        if now - self._last_write >= self._pause:
            self._last_write = now
            self._show(f"Reading: {self._rows:,} rows{self._rate(now)}{self._remaining(now)}", is_last=False)

    def end(self) -> None:
        """All was read, or it ended early: the last line says how many rows, where one was shown before."""
        if self._is_shown:
            self._show(f"Read: {self._rows:,} rows{self._rate(self._clock())}", is_last=True)

    def _show(self, line: str, is_last: bool) -> None:
        self._is_shown = True
        in_place = f"{_CLEAR}{line}" + ("\n" if is_last else "")
        self._stream.write(in_place if self._is_terminal else f"{line}\n")
        self._stream.flush()

    def _rate(self, now: float) -> str:
        seconds = now - self._began
        return f", {self._rows / seconds:,.0f} rows/s" if seconds > 0 else ""

    def _remaining(self, now: float) -> str:
        share = min(self._bytes / self._size, 1.0) if self._size else 0.0
        if not share:
            return ""
        return f", {100 * share:.0f} %, {duration((now - self._began) * (1 - share) / share)} left"


@contextmanager
def reading(size: int) -> Iterator[ImportProgress]:
    """The progress of reading `size` bytes, on the standard error output."""
    progress = ImportProgress(size, sys.stderr)
    try:
        yield progress
    finally:
        progress.end()


def duration(seconds: float) -> str:
    """Seconds in words: 8 s, 2 min 5 s, 1 h 2 min."""
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
