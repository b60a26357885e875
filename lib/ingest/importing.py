"""Files → readers; with a definition → warehouse: all as one import, or nothing; and their first rows."""

import threading
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

import pyarrow as pa

from lib.ingest.columnar import ColumnarFile
from lib.ingest.files import COLUMNAR, DataFile, Format, Progress, RawRows, Reader, Refuse, Reject, data_file
from lib.ingest.json_rows import Ndjson
from lib.ingest.markup import MarkupFile
from lib.ingest.normalize import Normalizer, column_kinds
from lib.ingest.overlap import KnownKeys
from lib.ingest.records import UTF_8, find_encoding, recognize_encoding
from lib.ingest.rejects import Ending, Rejects
from lib.ingest.text import delimited_text
from lib.ingest.unpivot import UnpivotReader
from lib.ingest.workbook import workbooks
from lib.slicers.definition import Definition
from lib.slicers.definition.reading import OverlapRule, Sheets
from lib.slicers.warehouse import Mode, StoredSlicer, Warehouse
from lib.slicers.warehouse.slicer import Import, Source
from lib.wire.errors import ImportRefused, UnknownName
from lib.wire.text import count_of

BATCHES = 2
_MOST_REJECTS = 1000


@dataclass(frozen=True)
class ImportJob:
    """An import: its source, target and options. `max_rejects` is a share of all rows, 0 to 1.

    `overlap` says what happens to rows whose keys are there already, in the slicer that is appended to or in
    an earlier file; the definition's if None.
    """

    project: str
    slicer: str
    readers: Sequence[Reader]
    definition: Definition
    mappings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    mode: Mode = "create"
    max_rejects: float = 0.01
    overlap: OverlapRule | None = None

    def digests(self, progress: Progress | None = None) -> list[str]:
        """Each file's digest. ImportRefused when two files are the same."""
        digest_of: dict[str, str] = {}
        for reader in self.readers:
            digest = reader.file.digest(progress)
            if digest in digest_of:
                raise ImportRefused(f"{reader.file.name} and {digest_of[digest]} are the same file")
            digest_of[digest] = reader.file.name
        return list(digest_of)


def readers(
    path: Path,
    format: Format | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    definition: Definition | None = None,
    sheets: Sheets = None,
    unpivot: bool = False,
) -> list[Reader]:
    """The readers of the file at `path`, one unless it is a workbook with several `sheets` to import.

    `unpivot` makes a row of each column that is a day. What is not given is recognized; ImportRefused when it
    can't be. `definition`, where there is one already, says which columns to look for, and which sheets.
    """
    file = data_file(path, format)
    if file.format in COLUMNAR:
        return [ColumnarFile(file)]
    if file.format == "ndjson":
        return [Ndjson(file, find_encoding(encoding) if encoding else recognize_encoding(file.chunks()))]
    columns: list[str] = []
    names: tuple[str, ...] = ()
    if definition is not None:
        columns, names, header = definition.source_columns(), definition.names, definition.header
        sheets, unpivot = sheets or definition.sheets, unpivot or definition.unpivot
    columns = [] if unpivot else columns
    if file.format == "xlsx":
        tables = workbooks(file, columns, header, names, sheets)
    elif file.format == "html":
        markup = MarkupFile(file.path, "html", file.compression, file.size)
        tables = [delimited_text(markup, UTF_8, ",", columns, header, names)]
    else:
        tables = [delimited_text(file, encoding, delimiter, columns, header, names)]
    return [UnpivotReader(table) for table in tables] if unpivot else tables


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
    read, there are no rows at all, a column is missing, or a file is in already; RowsOverlap where rows
    have keys that are there already, in the slicer that is appended to or in an earlier file.
    """
    for reader in job.readers:
        _refuse_missing(reader, job.definition)
    with warehouse.writer(job.project, job.slicer, job.definition, job.mappings, job.mode) as writer:
        overlap, known_keys, slicer = job.overlap or job.definition.overlap, None, None
        if job.mode == "append":
            _refuse_duplicates(writer.imports, file_digests)
            slicer = warehouse.open(job.project, job.slicer)
        if overlap != "add" and (slicer or len(job.readers) > 1):
            known_keys = KnownKeys(job.definition, slicer, len(job.readers) > 1, overlap == "skip")

        def write(file: DataFile, table: pa.Table) -> int:
            table = known_keys.take(file, table) if known_keys else table
            writer.write(table)
            if on_rows:
                on_rows(table.num_rows)
            return int(table.num_rows)

        normalizer, sources = Normalizer(job.definition), list[Source]()
        for reader, digest in zip(job.readers, file_digests, strict=True):
            rows = _rows(reader, normalizer, partial(write, reader.file), rejects, progress)
            sources.append(Source(reader.file.name, digest, rows))
        notes = normalizer.clock_notes
        if known_keys and known_keys.overlapping and overlap == "skip":
            notes += [f"{count_of(known_keys.overlapping, 'row')} left out, with keys that are there already"]
            if not any(source.rows for source in sources):
                raise ImportRefused(f"{notes[-1]}, and there are no others; nothing was changed")
        rejects.take_notes(normalizer.missing_words, [*notes, *_late_columns(job)])
        _refuse_totals(normalizer)
        _refuse_rejects(job, sum(source.rows for source in sources), rejects)
        if known_keys and overlap is None:
            known_keys.refuse()
        rejects.flush()
        writer.commit_all(sources)
    return replace(warehouse.open(job.project, job.slicer), recent_rows=writer.recent_rows)


def preview(
    reader: Reader, definition: Definition, rejects: Rejects, rows: int, most: int
) -> tuple[pa.Table, int]:
    """The first `rows` rows of a file as the warehouse would store them, and how many were read to judge it.

    About `most` are read; those that can't be go to `rejects`. ImportRefused when a column is missing.
    """
    _refuse_missing(reader, definition)
    tables: list[pa.Table] = []
    read, normalizer = 0, Normalizer(definition)
    refuse = partial(rejects.add, reader.file.name)
    ending = Ending(refuse)
    for raw in reader.rows(definition.source_columns(), refuse):
        read += raw.table.num_rows
        table, last = normalizer.rows(raw, ending.refuse)
        if sum(table.num_rows for table in tables) < rows:
            tables.append(table.slice(0, rows))
        if last is not None:
            ending.accept(last)
        if read >= most:
            break
    ending.close()
    rejects.take_notes(normalizer.missing_words, normalizer.clock_notes)
    schema = definition.schema()
    return pa.concat_tables([schema.empty_table(), *(table.cast(schema) for table in tables)]).slice(
        0, rows
    ), read


def fits(reader: Reader, definition: Definition) -> bool:
    """Whether a file has the columns that a definition reads; NDJSON may leave out empty ones."""
    if reader.columns is not None:
        return not _missing_columns(reader.columns, definition)
    next(iter(reader.rows(None, lambda reject: None)), None)
    return set(definition.time.sources) <= reader.names.keys()


def _missing_columns(columns: Collection[str], definition: Definition) -> list[str]:
    return [name for name in definition.source_columns() if name not in columns]


def _refuse_missing(reader: Reader, definition: Definition) -> None:
    missing = _missing_columns(reader.columns, definition) if reader.columns is not None else []
    if missing and reader.columns is not None:
        raise ImportRefused(
            f"{reader.file.name}: {UnknownName('column', missing[0], reader.columns)}. "
            f"It has: {', '.join(reader.columns)}"
        )


def read_ahead(read: Callable[[Refuse], Iterator[RawRows]], refuse: Refuse) -> Generator[RawRows, None, None]:
    """The batches of `read`, which runs in a thread of its own, at most BATCHES ahead.

    What it refuses goes to `refuse` here, in the order of reading; what it raises is raised here. Close the
    iterator when the rest is not wanted: the thread has ended then.
    """
    parts: SimpleQueue[_Part] = SimpleQueue()
    room, stop, rejects = threading.Semaphore(BATCHES), threading.Event(), list[Reject]()

    def enqueue(rows: RawRows | None, is_last: bool = False) -> None:
        room.acquire()
        if stop.is_set():
            raise _Stop
        parts.put(_Part([*rejects], rows, is_last))
        rejects.clear()

    def collect(reject: Reject) -> None:
        rejects.append(reject)
        if len(rejects) >= _MOST_REJECTS:
            enqueue(None)

    def run() -> None:
        try:
            for rows in read(collect):
                enqueue(rows)
            enqueue(None, is_last=True)
        except _Stop:
            pass
        except BaseException as error:
            parts.put(_Part(rejects, error=error))

    thread = threading.Thread(target=run, name="reading", daemon=True)
    thread.start()
    try:
        while True:
            part = parts.get()
            room.release()
            for reject in part.rejects:
                refuse(reject)
            if part.error is not None:
                raise part.error
            if part.is_last:
                return
            if part.rows is not None:
                yield part.rows
    finally:
        stop.set()  # after the batch that it is reading
        room.release()
        thread.join()


def _rows(
    reader: Reader,
    normalizer: Normalizer,
    write: Callable[[pa.Table], int],
    rejects: Rejects,
    progress: Progress | None,
) -> int:
    count, definition, refuse = 0, normalizer.definition, partial(rejects.add, reader.file.name)

    def read(refuse: Refuse) -> Iterator[RawRows]:
        return reader.rows(definition.source_columns(), refuse, progress, column_kinds(definition))

    ending = Ending(refuse)
    with closing(read_ahead(read, refuse)) as batches:
        for raw in batches:
            table, last = normalizer.rows(raw, ending.refuse)
            if last is not None:
                ending.accept(last)
            count += write(table)
    ending.close()
    return count


def _refuse_duplicates(imports: Iterable[Import], digests: Collection[str]) -> None:
    for earlier in imports:
        for source in earlier.sources:
            if source.digest in digests:
                raise ImportRefused(
                    f"This file was imported already: {count_of(source.rows, 'row')} imported from it, as "
                    f"{source.name}, on {earlier.when:%Y-%m-%d at %H:%M} UTC. Nothing was changed"
                )


def _refuse_totals(normalizer: Normalizer) -> None:
    """ImportRefused where rows of totals were found and nobody said what to do with them.

    Those that no word tells from others can't be left out by --drop-totals.
    """
    if totals := normalizer.totals.counts():
        (column, text), count = max(totals.items(), key=lambda item: item[1])
        total = sum(totals.values())
        more = f", {total:,} of this kind in all" if total > count else ""
        raise ImportRefused(
            f"In {count_of(count, 'row')} column '{column}' has '{text}'{more}. If they add up other rows, "
            "those would count twice; nothing was imported. Leave totals out with --drop-totals, or import "
            "them with --keep-totals"
        )
    for (column, word), count in normalizer.totals.subtotals().items():
        value = f"'{word}'" if word else "no value"
        raise ImportRefused(
            f"In {count_of(count, 'row')} column '{column}' has {value}, and they come exactly to the other "
            "rows of their times: subtotals, which would count twice; nothing was imported. Export the file "
            "without them, or import them with --keep-totals"
        )


def _late_columns(job: ImportJob) -> Iterator[str]:
    """Sentences about missing columns of files whose columns are known only at the end; ImportRefused if new.

    A column that a slicer has already may be missing: JSON often leaves out what is empty.
    """
    late = [reader for reader in job.readers if reader.columns is None]
    columns = dict.fromkeys(name for reader in late for name in reader.names)
    for name in _missing_columns(columns, job.definition) if late else ():
        names, near = ", ".join(reader.file.name for reader in late), UnknownName("column", name, columns)
        if job.mode not in ("append", "replace-days"):
            raise ImportRefused(f"{names}: {near}. There are: {', '.join(columns)}")
        yield f"{names}: {near}. Its rows have no value there"


def _refuse_rejects(job: ImportJob, rows: int, rejects: Rejects) -> None:
    total = rows + rejects.unreadable
    if not total:
        raise ImportRefused("There are no rows in " + ", ".join(reader.file.name for reader in job.readers))
    if rejects.unreadable > job.max_rejects * total:
        bad, share, most = rejects.unreadable, rejects.unreadable / total, job.max_rejects
        raise ImportRefused(
            f"{bad:,} of {count_of(total, 'row')} ({share:.2%}) can't be read, more than the {most:.2%} "
            "allowed; nothing was imported. Fix the file or the definition, or raise --max-rejects"
        )


class _Part(NamedTuple):
    """A batch that was read: rejects, then rows (None: no rows yet); or the error that ended reading."""

    rejects: list[Reject]
    rows: RawRows | None = None
    is_last: bool = False
    error: BaseException | None = None


class _Stop(Exception):
    """Nobody wants the rest."""
