"""A slicer as it is on disk at one moment."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lib import private
from lib.reporting.definition import Definition
from lib.reporting.measures import Measure, measures
from lib.reporting.models import Slicer
from lib.reporting.warehouse.manifest import Import, day_folder, digest_of, read_manifest
from lib.reporting.warehouse.mappings import stored_mapping
from lib.wire.errors import AccessError, Misconfigured


@dataclass(frozen=True)
class StoredSlicer:
    """A slicer as it is on disk at one moment.

    `version` changes with every change of rows, definition or mappings. `files` and `rows` are by day in
    the slicer's own zone, ascending. Files that a later import replaced stay until the import after it,
    so what was opened can be read for a while longer. Of a slicer whose rows lie in a database, `rows` are
    those of the moment `read_at`, last `compared` with it (UTC), and there are no files.
    """

    project: str
    name: str
    definition: Definition
    version: str
    files: Mapping[dt.date, tuple[Path, ...]] = field(repr=False)
    rows: Mapping[dt.date, int] = field(repr=False)
    imports: tuple[Import, ...] = field(repr=False)
    folder: Path
    mapping_files: Mapping[str, Path] = field(repr=False)
    digests: Mapping[Path, str] = field(default_factory=dict, repr=False)
    read_at: float = 0.0
    engine: str = "imported"
    compared: dt.datetime | None = None

    @property
    def layout_folder(self) -> Path:
        """The folder of the engine's resident layout for this version."""
        return self.folder / "layout" / self.version

    @property
    def row_count(self) -> int:
        """All rows, of all days."""
        return sum(self.rows.values())

    def size(self) -> int:
        """Bytes on disk, the engine's layout included."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def check(self, path: Path) -> None:
        """Raise Misconfigured, which says what to do, for a file of rows that is not as it was written."""
        try:
            digest = digest_of(path)
        except OSError as error:
            raise self._unreadable(path, error.strerror or str(error)) from None
        if digest != self.digests.get(path, digest):
            raise self._unreadable(path, "its bytes are not those that were written")

    def table(self, path: Path, columns: Sequence[str], dictionaries: Sequence[str] = ()) -> pa.Table:
        """Columns of a file of rows; text in `dictionaries` comes dictionary-encoded. See `check`."""
        try:
            file = pq.ParquetFile(path, read_dictionary=list(dictionaries))
            return file.read(columns=list(columns))
        except (OSError, pa.ArrowException) as error:
            raise self._unreadable(path, str(error)) from None

    def _unreadable(self, path: Path, why: str) -> Misconfigured:
        day = path.parent.name.removeprefix("day=")
        return Misconfigured(
            f"{path} holds rows of {self.project}/{self.name} and can't be read: {why}. Restore the file "
            f"from a backup, or import {day} again with --replace-days"
        )

    def mapping(self, name: str) -> dict[str, str]:
        """Code → description of the mapping of that name; KeyError without one."""
        return stored_mapping(self.mapping_files[name])

    def read(self, days: Iterable[dt.date], columns: Sequence[str] | None = None) -> pa.Table:
        """The rows of some days, typed as `definition.schema()`.

        Use this rather than reading the files: Parquet has no seconds, so `time` comes back in milliseconds.
        """
        schema = self.definition.schema()
        if columns is not None:
            schema = pa.schema([schema.field(name) for name in columns])
        paths = [path for day in days for path in self.files.get(day, ())]
        for path in paths:
            self.check(path)
        parts = [self.table(path, schema.names).cast(schema) for path in paths]
        return pa.concat_tables(parts) if parts else schema.empty_table()

    def info(self) -> Slicer:
        """The answer to info."""
        return self._info

    @cached_property
    def _info(self) -> Slicer:
        days = list(self.rows)
        first, last = (days[0].isoformat(), days[-1].isoformat()) if days else (None, None)
        imported = max((one.when for one in self.imports), default=None)
        moment = self.compared or imported
        as_of = None if moment is None else moment.astimezone(dt.UTC).isoformat(timespec="seconds")
        slicer = self.definition.slicer(first, last)
        return slicer.model_copy(update={"engine": self.engine, "as_of": as_of})

    @cached_property
    def measures(self) -> dict[str, Measure]:
        """All data fields, by name (`measures.measures`)."""
        return measures(self.definition)


@lru_cache(maxsize=64)
def stored_slicer(folder: Path, project: str, slicer: str, state: private.Mark) -> StoredSlicer:
    """The slicer in a folder whose manifest has this mark. AccessError without one."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise AccessError
    return StoredSlicer(
        project=project,
        name=slicer,
        definition=manifest.definition,
        version=manifest.version,
        files={
            day: tuple(folder / day_folder(day) / part.file for part in parts)
            for day, parts in manifest.days.items()
        },
        rows={day: sum(part.rows for part in parts) for day, parts in manifest.days.items()},
        imports=manifest.imports,
        folder=folder,
        mapping_files={name: folder / path for name, path in manifest.mappings.items()},
        digests={
            folder / day_folder(day) / part.file: part.digest
            for day, parts in manifest.days.items()
            for part in parts
            if part.digest
        },
    )
