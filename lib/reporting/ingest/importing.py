"""Files + definition → warehouse: all of them as one import, or nothing."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import pyarrow as pa

from lib.reporting.definition import Definition
from lib.reporting.ingest.ahead import read_ahead
from lib.reporting.ingest.digests import Digests
from lib.reporting.ingest.files import Progress
from lib.reporting.ingest.normalise import Normaliser, number_columns
from lib.reporting.ingest.rejects import Ending, Reject, Rejects
from lib.reporting.ingest.rows import RawRows, Reader, Refuse
from lib.reporting.warehouse import Mode, StoredSlicer, Warehouse
from lib.reporting.warehouse.manifest import Import, Source
from lib.wire.errors import ImportRefused, UnknownName

SOON_READ = 32 << 20  # bytes whose digest is waited for: nothing of the files is read if they are refused


@dataclass(frozen=True)
class ImportJob:
    """What is to be imported, where to, and how. `max_rejects` is a share of all rows, 0 to 1."""

    project: str
    slicer: str
    readers: Sequence[Reader]
    definition: Definition
    mappings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    mode: Mode = "create"
    max_rejects: float = 0.01


def import_files(
    job: ImportJob,
    warehouse: Warehouse,
    rejects: Rejects,
    progress: Progress | None = None,
    taken: Progress | None = None,
) -> StoredSlicer:
    """Import the files of a job; the slicer as it is then.

    Rows that can't be read go to `rejects`; `progress` is told the bytes read (from a thread of its own),
    `taken` the rows that can be stored. ImportRefused, and nothing changed, when too many rows can't be read,
    there are no rows at all, a column is missing, two files are the same, or a file is in already.
    """
    for reader in job.readers:
        refuse_missing(reader.file.name, reader.columns, job.definition)
    with (
        warehouse.writer(job.project, job.slicer, job.definition, job.mappings, job.mode) as writer,
        closing(Digests(job.readers)) as digests,
    ):
        known = writer.imports if job.mode == "append" else ()
        if sum(reader.file.size for reader in job.readers) <= SOON_READ:
            _refuse_known(known, digests.found())

        def write(table: pa.Table) -> None:
            if digests.are_new:
                _refuse_known(known, digests.found())
            writer.write(table)
            if taken:
                taken(table.num_rows)

        rows = [_rows(reader, job.definition, write, rejects, progress) for reader in job.readers]
        _refuse_known(known, digests.found())
        _refuse_unseen(job)
        _refuse_rejects(job, sum(rows), rejects)
        rejects.flush()
        parts = zip(job.readers, digests.found(), rows, strict=True)
        writer.commit_all([Source(reader.file.name, mark, count) for reader, mark, count in parts])
    return warehouse.open(job.project, job.slicer)


def missing_columns(columns: Collection[str], definition: Definition) -> list[str]:
    """The columns that a definition reads and a file lacks."""
    return [name for name in definition.source_columns() if name not in columns]


def _rows(
    reader: Reader,
    definition: Definition,
    write: Callable[[pa.Table], None],
    rejects: Rejects,
    progress: Progress | None,
) -> int:
    normaliser, written = Normaliser(definition), 0

    def refuse(reject: Reject) -> None:
        rejects.add(reader.file.name, reject)

    def read(refuse: Refuse) -> Iterator[RawRows]:
        return reader.rows(definition.source_columns(), refuse, progress, number_columns(definition))

    ending = Ending(refuse)
    with closing(read_ahead(read, refuse)) as batches:
        for raw in batches:
            table, last = normaliser.rows(raw, ending.refuse)
            if last is not None:
                ending.passed(last)
            write(table)
            written += table.num_rows
    ending.close()
    return written


def refuse_missing(file: str, columns: Collection[str] | None, definition: Definition) -> None:
    """ImportRefused when a file lacks a column that the definition reads."""
    missing = missing_columns(columns, definition) if columns is not None else []
    if missing and columns is not None:
        raise ImportRefused(
            f"{file}: {UnknownName('column', missing[0], columns)}. It has: {', '.join(columns)}"
        )


def _refuse_unseen(job: ImportJob) -> None:
    """The same for files whose columns are known only at the end.

    A column that a slicer has already may be missing: JSON often leaves out what is empty.
    """
    late = [reader for reader in job.readers if reader.columns is None]
    seen = dict.fromkeys(name for reader in late for name in reader.seen)
    optional = set(job.definition.source_columns()) if job.mode in ("append", "replace-days") else set()
    missing = [name for name in missing_columns(seen, job.definition) if name not in optional]
    if late and missing:
        names = ", ".join(reader.file.name for reader in late)
        raise ImportRefused(
            f"{names}: {UnknownName('column', missing[0], seen)}. There are: {', '.join(seen)}"
        )


def _refuse_known(imports: Iterable[Import], marks: Collection[str]) -> None:
    for earlier in imports:
        for source in earlier.sources:
            if source.digest in marks:
                raise ImportRefused(
                    f"This file was imported already: {source.rows:,} rows were imported from it, as "
                    f"{source.name}, "
                    f"on {earlier.when:%Y-%m-%d at %H:%M} UTC. Nothing was changed"
                )


def _refuse_rejects(job: ImportJob, rows: int, rejects: Rejects) -> None:
    total = rows + rejects.unreadable
    if not total:
        raise ImportRefused("There are no rows in " + ", ".join(reader.file.name for reader in job.readers))
    if rejects.unreadable > job.max_rejects * total:
        bad, share, allowed = rejects.unreadable, rejects.unreadable / total, job.max_rejects
        raise ImportRefused(
            f"{bad:,} of {total:,} rows ({share:.2%}) can't be read, more than the {allowed:.2%} "
            "allowed; nothing was imported. Fix the file or the definition, or raise --max-rejects"
        )
