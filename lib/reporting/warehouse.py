"""Slicers on disk: definitions, rows and mappings, below one root as `<project>/<slicer>/`.

manifest.json                       what counts (manifest.py)
rows/day=2026-01-31/<import>.parquet  rows as imported, by day in the slicer's own zone
mappings/<digest>.json              code → description
layout/<version>/                   the engine's resident layout: a cache
lock                                held while an import writes
"""

import datetime as dt
import fcntl
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.parquet as pq

from lib.reporting.definition import Definition
from lib.reporting.manifest import (
    MANIFEST,
    Import,
    Manifest,
    Source,
    day_folder,
    read_manifest,
    replace_manifest,
)
from lib.reporting.mappings import store_mapping, stored_mapping
from lib.reporting.models import Slicer
from lib.reporting.writer import RowFiles
from lib.wire.errors import AccessError, BadRequest, ImportRefused

Mode = Literal["create", "append", "replace", "replace-days"]
_NAME_LENGTH = 80


@dataclass(frozen=True)
class StoredSlicer:
    """A slicer as it is on disk at one moment.

    `version` changes with every change of rows, definition or mappings. `files` and `rows` are by day in
    the slicer's own zone, ascending. Files that a later import replaced stay until the import after it,
    so what was opened can be read for a while longer.
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

    @property
    def layout_folder(self) -> Path:
        """Where the engine keeps its resident layout of this version."""
        return self.folder / "layout" / self.version

    @property
    def row_count(self) -> int:
        """All rows, of all days."""
        return sum(self.rows.values())

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
        parts = [
            pq.read_table(path, columns=schema.names, partitioning=None).cast(schema)
            for day in days
            for path in self.files.get(day, ())
        ]
        return pa.concat_tables(parts) if parts else schema.empty_table()

    def info(self) -> Slicer:
        """The answer to info."""
        days = list(self.rows)
        first, last = (days[0].isoformat(), days[-1].isoformat()) if days else (None, None)
        return self.definition.slicer(first, last)


class Writer:
    """Rows on their way into a slicer; nothing of them counts before `commit`."""

    def __init__(self, folder: Path, manifest: Manifest, mode: Mode, files: RowFiles, import_id: str) -> None:
        self._folder, self._manifest, self._mode = folder, manifest, mode
        self._files, self._import_id = files, import_id
        self._rows = 0

    def write(self, table: pa.Table) -> None:
        """Take rows with the columns of `definition.schema()`, in any order and of any days."""
        self._files.write(table)
        self._rows += table.num_rows

    def commit(self, source: str, digest: str) -> None:
        """Make the rows count, as the import of one file with this SHA-256 digest."""
        self.commit_all([Source(source, digest, self._rows)])

    def commit_all(self, sources: Sequence[Source]) -> None:
        """Make the rows count, as one import of several files."""
        self._files.finish()
        days = {} if self._mode == "replace" else dict(self._manifest.days)
        for day, parts in self._files.parts.items():
            kept = () if self._mode == "replace-days" else days.get(day, ())
            days[day] = (*kept, *parts)
        made = Import(id=self._import_id, when=dt.datetime.now(dt.UTC), sources=tuple(sources))
        changes = {"days": dict(sorted(days.items())), "imports": (*self._manifest.imports, made)}
        manifest = self._manifest.model_copy(update=changes)
        replace_manifest(self._folder, manifest.without_empty_imports())


class Warehouse:
    """All slicers below one root folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def slicers(self) -> list[tuple[str, str]]:
        """Project and name of every slicer, sorted."""
        found = self.root.glob(f"*/*/{MANIFEST}")
        return sorted((unquote(path.parent.parent.name), unquote(path.parent.name)) for path in found)

    def has(self, project: str, slicer: str) -> bool:
        """Whether there is such a slicer."""
        return (self._folder(project, slicer) / MANIFEST).exists()

    def open(self, project: str, slicer: str) -> StoredSlicer:
        """The slicer as it is now. AccessError when there is none of that name."""
        try:
            folder = self._folder(project, slicer)
            state = (folder / MANIFEST).stat()
        except (BadRequest, FileNotFoundError):
            raise AccessError from None
        return _stored(folder, project, slicer, (state.st_ino, state.st_mtime_ns, state.st_size))

    @contextmanager
    def writer(
        self,
        project: str,
        slicer: str,
        definition: Definition,
        mappings: Mapping[str, Mapping[str, str]] | None = None,
        mode: Mode = "create",
    ) -> Iterator[Writer]:
        """A Writer into the slicer, one at a time; leaving without a commit leaves the slicer as it was.

        `mappings` (name → code → description) are added to those that the slicer has. ImportRefused when
        the mode does not suit what is there, another import is writing, or a mapping is missing.
        """
        folder = self._folder(project, slicer)
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder, f"{project}/{slicer}"):
            before = read_manifest(folder)
            refuse_mode(mode, before, definition, f"{project}/{slicer}")
            _remove_leftovers(folder, before)
            manifest = _begin(folder, before, definition, mappings or {})
            import_id = f"{dt.datetime.now(dt.UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
            try:
                with RowFiles(folder, definition, import_id) as files:
                    yield Writer(folder, manifest, mode, files, import_id)
            except BaseException:
                _remove_leftovers(folder, read_manifest(folder))
                raise

    def _folder(self, project: str, slicer: str) -> Path:
        return self.root / _folder_name("project", project) / _folder_name("slicer", slicer)


def refuse_mode(mode: Mode, before: Manifest | None, definition: Definition, slicer: str) -> None:
    """ImportRefused when rows of `definition` can't go into the slicer this way."""
    if before is None:
        if mode in ("append", "replace-days"):
            raise ImportRefused(f"There is no slicer {slicer} yet; leave out --{mode} to make it")
        return
    if mode == "create":
        raise ImportRefused(
            f"The slicer {slicer} exists. Use --append to add rows, --replace-days to replace the days that "
            "are in the file, or --replace to replace everything"
        )
    differing = before.definition.differences(definition) if mode != "replace" else []
    if differing:
        raise ImportRefused(
            f"The definition differs from that of {slicer} in {', '.join(differing)}; "
            f"leave it out with --{mode}, or use --replace"
        )


@lru_cache(maxsize=64)
def _stored(folder: Path, project: str, slicer: str, state: tuple[int, int, int]) -> StoredSlicer:
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
    )


def _begin(
    folder: Path, before: Manifest | None, definition: Definition, mappings: Mapping[str, Mapping[str, str]]
) -> Manifest:
    """What the slicer will be before the new rows: its new definition and mappings, its old rows."""
    unknown, files = set(mappings) - definition.mappings, dict(before.mappings) if before else {}
    if unknown:
        raise ImportRefused(f"No key field of the definition names the mapping '{min(unknown)}'")
    missing = sorted(definition.mappings - set(mappings) - set(files))
    if missing:
        raise ImportRefused(
            f"The definition names the mapping '{missing[0]}'; give it with --mapping {missing[0]}=FILE.csv"
        )
    files |= {name: store_mapping(folder, mapping) for name, mapping in mappings.items()}
    wanted = {name: files[name] for name in sorted(definition.mappings)}
    return (before or Manifest(definition=definition)).model_copy(
        update={"definition": definition, "mappings": wanted}
    )


@contextmanager
def _locked(folder: Path, slicer: str) -> Iterator[None]:
    handle = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ImportRefused(f"Another import into {slicer} is running; wait until it is done") from None
        yield
    finally:
        os.close(handle)


def _remove_leftovers(folder: Path, manifest: Manifest | None) -> None:
    """Remove files of rows and mappings that count no more, or never did."""
    living = manifest.files() if manifest else set()
    for path in [*folder.glob("rows/*/*"), *folder.glob("mappings/*")]:
        if path.relative_to(folder).as_posix() not in living:
            path.unlink()
    for day in folder.glob("rows/*"):
        if not any(day.iterdir()):
            day.rmdir()


def _folder_name(kind: str, name: str) -> str:
    """A name as the name of a folder: any text without slashes, stars and control characters."""
    if not name or name != name.strip() or len(name) > _NAME_LENGTH:
        raise BadRequest(
            f"A {kind}'s name has 1 to {_NAME_LENGTH} characters, no blanks around them: '{name}'"
        )
    if any(character in "/*\\" or not character.isprintable() for character in name):
        raise BadRequest(f"A {kind}'s name has no slashes, stars and control characters: {name!r}")
    quoted = quote(name, safe=" ")
    return f"%2E{quoted[1:]}" if quoted.startswith(".") else quoted
