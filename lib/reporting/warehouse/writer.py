"""Writes to a slicer atomically: new files are added beside the old ones, then the manifest is replaced."""

import datetime as dt
import fcntl
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pyarrow as pa

from lib.reporting.definition import Definition
from lib.reporting.warehouse.manifest import Import, Manifest, Source, read_manifest, replace_manifest
from lib.reporting.warehouse.mappings import store_mapping
from lib.reporting.warehouse.row_files import RowFiles
from lib.wire.errors import ImportRefused

Mode = Literal["create", "append", "replace", "replace-days"]


class Writer:
    """A transaction of new rows; none of them are visible before `commit`."""

    def __init__(self, folder: Path, manifest: Manifest, mode: Mode, files: RowFiles, import_id: str) -> None:
        self._folder, self._manifest, self._mode = folder, manifest, mode
        self._files, self._import_id = files, import_id
        self._rows = 0

    @property
    def imports(self) -> tuple[Import, ...]:
        """The imports that the slicer holds rows of, as it is before this one."""
        return self._manifest.imports

    def write(self, table: pa.Table) -> None:
        """Take rows with the columns of `definition.schema()`, in any order and of any days."""
        refuse_source(self._manifest.definition)
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
            kept = () if self._mode == "replace-days" else days.get(day, ())
            days[day] = (*kept, *parts)
        import_ = Import(id=self._import_id, when=dt.datetime.now(dt.UTC), sources=tuple(sources))
        changes = {"days": dict(sorted(days.items())), "imports": (*self._manifest.imports, import_)}
        manifest = self._manifest.model_copy(update=changes)
        replace_manifest(self._folder, manifest.without_empty_imports())


@contextmanager
def writing(
    folder: Path, slicer: str, definition: Definition, mappings: Mapping[str, Mapping[str, str]], mode: Mode
) -> Iterator[Writer]:
    """A Writer for the slicer in a folder, under its lock; without a commit nothing changes."""
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder, slicer):
        before = read_manifest(folder)
        refuse_mode(mode, before is not None, slicer)
        refuse_definition(mode, before.definition if before else None, definition, slicer)
        _remove_leftovers(folder, before)
        manifest = _begin(folder, before, definition, mappings)
        import_id = f"{dt.datetime.now(dt.UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
        try:
            with RowFiles(folder, definition, import_id) as files:
                yield Writer(folder, manifest, mode, files, import_id)
        finally:
            if read_manifest(folder) == before:
                _remove_leftovers(folder, before)


def refuse_source(definition: Definition) -> None:
    """ImportRefused when rows are to be imported into a slicer whose rows lie in a database."""
    if definition.source is not None:
        raise ImportRefused(
            f"The rows of this slicer stay in the connection {definition.source.connection}; leave out "
            "`source` to import rows, or use `tranche connect`"
        )


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


def _begin(
    folder: Path, before: Manifest | None, definition: Definition, mappings: Mapping[str, Mapping[str, str]]
) -> Manifest:
    """The manifest before new rows: with the new definition and mappings, and the old rows."""
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
def locked(folder: Path, slicer: str) -> Iterator[None]:
    """Hold a slicer's lock. ImportRefused while an import holds it."""
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
    """Remove files of rows and mappings that are not in the manifest."""
    living = manifest.files() if manifest else set()
    for path in [*folder.glob("rows/*/*"), *folder.glob("mappings/*")]:
        if path.relative_to(folder).as_posix() not in living:
            path.unlink()
    for day in folder.glob("rows/*"):
        if not any(day.iterdir()):
            day.rmdir()
