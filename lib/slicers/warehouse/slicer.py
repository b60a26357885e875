"""A slicer as it is on disk at one moment: its manifest, which lists its valid files, and its mappings.

A change of a slicer is a new manifest, put in place of the old one by a rename: readers see the old
slicer or the new one, never something between. Its last line has the SHA-256 digest of the others, so that a
changed formula or time zone is not taken for the one that was imported.
"""

import csv
import datetime as dt
import hashlib
import io
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, field_validator

from lib.slicers.definition import Definition
from lib.slicers.measures import Measure, measures
from lib.slicers.models import Slicer
from lib.wire.errors import AccessError, Damaged, ImportRefused

FOLDER = "mappings"
Mark = tuple[int, int, int, int, int]
_HEADERS = {"code", "key", "id", "value"}, {"name", "description", "title", "label", "text", "value"}
MANIFEST = "manifest.json"
_DIGEST = re.compile(rb',\n "sha256": "([0-9a-f]{64})"(?=\n?}\Z)')


class Source(NamedTuple):
    """A file that was imported: its name, the SHA-256 digest of its bytes, the rows that came from it."""

    name: str
    digest: str
    rows: int


class StoredPart(NamedTuple):
    """A Parquet file of rows: its name in the day's folder, the import that wrote it, its rows, its SHA-256.

    Files of before have no digest.
    """

    file: str
    import_id: str
    rows: int
    digest: str = ""


class _FrozenModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Import(_FrozenModel):
    """One import, of one or several files, that the slicer still holds rows of.

    Where their times were of a named zone, `zone_data` is the version of the data of zones.
    """

    id: str
    when: dt.datetime
    sources: tuple[Source, ...]
    zone_data: str = ""

    @property
    def rows(self) -> int:
        """The rows that the import brought."""
        return sum(source.rows for source in self.sources)


class Manifest(_FrozenModel):
    """The contents of a slicer: definition, mappings (name → file), imports, and rows by day."""

    format: Literal[1] = 1
    definition: Definition
    mappings: dict[str, str] = {}
    imports: tuple[Import, ...] = ()
    days: dict[dt.date, tuple[StoredPart, ...]] = {}

    @field_validator("definition", mode="before")
    @classmethod
    def _keeps_its_reading(cls, definition: Any) -> Any:
        """A slicer of before there were words for missing values goes on without them."""
        return {"missing": []} | definition if isinstance(definition, dict) else definition

    @property
    def version(self) -> str:
        """Changes with every change of definition, mappings or rows."""
        parts = self.model_dump(mode="json", exclude={"imports": True, "definition": {"overlap"}})
        if self.definition.source is None:
            del parts["definition"]["source"]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    def files(self) -> set[str]:
        """Every file that counts, as paths relative to the slicer's folder."""
        rows = {f"{day_folder(day)}/{part.file}" for day, parts in self.days.items() for part in parts}
        return rows | set(self.mappings.values())


def digest_of(path: Path) -> str:
    """The SHA-256 digest of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def day_folder(day: dt.date) -> str:
    """The folder of a day's rows, named as Parquet tools expect of a partition."""
    return f"rows/day={day.isoformat()}"


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest in a slicer's folder; None where there is none, Damaged where it is damaged."""
    try:
        return manifest_of((folder / MANIFEST).read_bytes(), folder)
    except FileNotFoundError:
        return None


def manifest_of(content: bytes, folder: Path) -> Manifest:
    """The manifest that was read from a slicer's folder; Damaged where it is damaged.

    Manifests of before have no digest; one whose digest can't be read has a member too many.
    """
    try:
        return Manifest.model_validate_json(without_digest(content))
    except ValueError as error:
        raise Damaged(
            f"{folder / MANIFEST} is damaged: restore it from a backup, or move {folder} away and import the "
            "files again"
        ) from error


def with_digest(content: bytes) -> bytes:
    """A JSON object with its own digest as one more member."""
    end = -2 if content.endswith(b"\n}") else -1
    digest = hashlib.sha256(content).hexdigest()
    return content[:end] + f',\n "sha256": "{digest}"'.encode() + content[end:]


def without_digest(content: bytes) -> bytes:
    """The object as it was before `with_digest`, or as it is; ValueError where it has another digest."""
    match = _DIGEST.search(content)
    if match is None:
        return content
    content = content[: match.start()] + content[match.end() :]
    if hashlib.sha256(content).hexdigest().encode() != match[1]:
        raise ValueError("its bytes are not those that were written")
    return content


def replace_manifest(folder: Path, manifest: Manifest) -> None:
    """Put `manifest` in place: on disk before it counts, then by one rename.

    The names of the slicer and of its project are on disk afterwards too.
    """
    fresh = folder / f"{MANIFEST}.new"
    with fresh.open("wb") as file:
        file.write(with_digest(manifest.model_dump_json(indent=1).encode()))
        file.flush()
        # a rename may reach the disk before the content of the file: after a power failure it would be empty
        os.fsync(file.fileno())
    fresh.replace(folder / MANIFEST)
    for level in (folder, folder.parent, folder.parent.parent):
        sync_folder(level)


def sync_folder(folder: Path) -> None:
    """Make names that were added to a folder survive a power failure: those of synced files do not by it."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@dataclass(frozen=True)
class StoredSlicer:
    """A slicer as it is on disk at one moment.

    `version` changes with every change of rows, definition or mappings. `files` and `rows` are by day in
    the slicer's own zone, ascending. Files that a later import replaced stay until the import after it,
    so what was opened can be read for a while longer. Of a slicer whose rows lie in a database, `rows` are
    those at `read_at`, last compared with it at `compared_at` (UTC), and there are no files; `problem` says
    why it can't be asked now. `recent_rows` are those of files written a moment ago, which aren't read again.
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
    recent_rows: Mapping[Path, Sequence[pa.Table]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
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
        if path in self.recent_rows:
            return
        try:
            digest = digest_of(path)
        except OSError as error:
            raise self._unreadable(path, error.strerror or str(error)) from None
        if digest != self.digests.get(path, digest):
            raise self._unreadable(path, "its bytes are not those that were written")

    def table(self, path: Path, columns: Sequence[str], dictionaries: Sequence[str] = ()) -> pa.Table:
        """Columns of a file of rows; text in `dictionaries` comes dictionary-encoded. See `check`."""
        if path in self.recent_rows:
            return pa.concat_tables(self.recent_rows[path]).select(columns)
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

    def descriptions(self, key_field: str) -> dict[str, str]:
        """Value → description of a key field; empty for one without a mapping."""
        mappings = {field.name: field.mapping for field in self.definition.key_fields}
        mapping = mappings.get(key_field)
        return self.mapping(mapping) if mapping else {}

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
        if not row:
            continue
        where = f"{path}, line {reader.line_num}"
        if len(row) != 2:
            reason = f"a mapping has two columns, code and name; this line has {len(row)}"
            raise ImportRefused(f"{where}: {reason}")
        code, description = (cell.strip() for cell in row)
        if number == 0 and code.lower() in _HEADERS[0] and description.lower() in _HEADERS[1]:
            continue
        if mapping.get(code, description) != description:
            codes = f"as '{mapping[code]}' and '{description}'"
            raise ImportRefused(f"{where}: code '{code}' is given twice, {codes}")
        mapping[code] = description
    return mapping


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
        sync_folder(path.parent)
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
