"""A slicer as it is on disk at one moment, with the mappings of its key fields."""

import csv
import datetime as dt
import hashlib
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lib.reporting.definition import Definition
from lib.reporting.measures import Measure, measures
from lib.reporting.models import Slicer
from lib.reporting.warehouse.manifest import Import, day_folder, digest_of, read_manifest
from lib.wire.errors import AccessError, Damaged, ImportRefused

FOLDER = "mappings"
Mark = tuple[int, int, int, int, int]
_HEADERS = {"code", "key", "id", "value"}, {"name", "description", "title", "label", "text", "value"}


def read_mapping(path: Path) -> dict[str, str]:
    """Code → description from a CSV file of two columns, UTF-8, with or without a `code,name` header.

    ImportRefused names the file and line of anything that is not two columns.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ImportRefused(f"There is no mapping file {path}") from None
    except UnicodeDecodeError as error:
        raise ImportRefused(f"{path} is not UTF-8 (byte {error.start + 1}); save it as UTF-8") from None
    if not text.strip():
        raise ImportRefused(f"{path} is empty; a mapping has two columns, code and name")
    mapping: dict[str, str] = {}
    reader = csv.reader(io.StringIO(text, newline=""))
    for number, row in enumerate(reader):
        if row and not (number == 0 and _is_header(row)):
            _add(mapping, row, f"{path}, line {reader.line_num}")
    return mapping


def _is_header(row: list[str]) -> bool:
    return len(row) == 2 and all(
        cell.strip().lower() in names for cell, names in zip(row, _HEADERS, strict=True)
    )


def _add(mapping: dict[str, str], row: list[str], where: str) -> None:
    if len(row) != 2:
        raise ImportRefused(f"{where}: a mapping has two columns, code and name; this line has {len(row)}")
    code, description = (cell.strip() for cell in row)
    if mapping.get(code, description) != description:
        raise ImportRefused(
            f"{where}: code '{code}' is given twice, as '{mapping[code]}' and '{description}'"
        )
    mapping[code] = description


def store_mapping(folder: Path, mapping: Mapping[str, str]) -> str:
    """Store a mapping in a slicer's folder; returns the relative path, which contains the digest."""
    content = json.dumps(dict(sorted(mapping.items())), ensure_ascii=False).encode()
    relative = f"{FOLDER}/{_digest_name(content)}"
    path = folder / relative
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        fresh = path.with_suffix(".new")
        with fresh.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    return relative


def stored_mapping(path: Path) -> dict[str, str]:
    """Read a mapping written by `store_mapping`. Damaged if it does not match its digest."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None
    if _digest_name(content) != path.name:
        raise _unreadable(path, "its bytes are not those that were written")
    mapping: dict[str, str] = json.loads(content)
    return mapping


def _digest_name(content: bytes) -> str:
    return f"{hashlib.sha256(content).hexdigest()[:32]}.json"


def _unreadable(path: Path, why: str) -> Damaged:
    return Damaged(
        f"{path} holds a mapping and can't be read: {why}. Restore the file from a backup, or import with "
        "--mapping again"
    )


@dataclass(frozen=True)
class StoredSlicer:
    """A slicer as it is on disk at one moment.

    `version` changes with every change of rows, definition or mappings. `files` and `rows` are by day in
    the slicer's own zone, ascending. Files that a later import replaced stay until the import after it,
    so what was opened can be read for a while longer. Of a slicer whose rows lie in a database, `rows` are
    those at `read_at`, last compared with it at `compared_at` (UTC), and there are no files; `problem` says
    why it can't be asked now.
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
    compared_at: dt.datetime | None = None
    problem: str = ""

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
        """Raise Damaged, which says what to do, for a file of rows that is not as it was written."""
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

    def _unreadable(self, path: Path, why: str) -> Damaged:
        day = path.parent.name.removeprefix("day=")
        return Damaged(
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
        return self._info

    @cached_property
    def _info(self) -> Slicer:
        days = list(self.rows)
        first, last = (days[0].isoformat(), days[-1].isoformat()) if days else (None, None)
        last_import = max((import_.when for import_ in self.imports), default=None)
        moment = self.compared_at or last_import
        as_of = None if moment is None else moment.astimezone(dt.UTC).isoformat(timespec="seconds")
        slicer = self.definition.slicer(first, last)
        return slicer.model_copy(update={"engine": self.engine, "as_of": as_of})

    @cached_property
    def measures(self) -> dict[str, Measure]:
        """All data fields, by name (`measures.measures`)."""
        return measures(self.definition)


def mark(path: Path) -> Mark | None:
    """A mark that changes with the file, also where its time is put back; None without the file."""
    try:
        state = path.stat()
    except FileNotFoundError:
        return None
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


@lru_cache(maxsize=64)
def stored_slicer(folder: Path, project: str, slicer: str, state: Mark) -> StoredSlicer:
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
