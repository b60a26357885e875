"""Making a backup of a data directory while its desk runs.

A slicer is what its manifest names (lib/slicers/warehouse/slicer.py), and files that a manifest names
never change: they are only removed, some imports later. So each of them gets a second name (a hard link) in
a folder of ours first, and is copied from there: an import may take its time, or the first name away.
"""

import datetime as dt
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from sqlalchemy import make_url

from lib.serving.backup import postgres
from lib.serving.backup.archive import (
    HOME,
    REJECTS,
    SECRETS,
    SESSIONS,
    SETTINGS,
    SQLITE_SIDE_FILES,
    WAREHOUSE,
    Archive,
    Inventory,
    PostgresRows,
    SqliteFile,
    copy_database,
    member_of,
    new_archive,
    refuse_existing,
    table_member,
)
from lib.settings import Settings
from lib.settings.local import DATABASE_FILE
from lib.slicers.warehouse.slicer import MANIFEST, Manifest, day_folder, manifest_of
from lib.wire import private
from lib.wire.errors import BadRequest, Misconfigured, StoreUnavailable

FILES, FOLDERS = (SETTINGS, SESSIONS), (SECRETS, REJECTS)
PASSING = (".lock", *SQLITE_SIDE_FILES)  # of running processes
LINKS = ".backup"  # below the warehouse, so on its disk; no slicer has such a name
ATTEMPTS = 20


@dataclass(frozen=True)
class Backup:
    """A backup: what is in it, its bytes, and the names in the home that are not in it.

    `moved` is the file of SQLite that `tranche move-state` has left; it isn't in it either.
    """

    contents: Inventory
    size: int
    left_out: tuple[str, ...]
    moved: str | None


def back_up(settings: Settings, path: Path) -> Backup:
    """Write everything that the installation keeps into a new file, or nothing.

    People, permissions and the database come first, each as it is at one moment, then the slicers as they
    are at one moment. BadRequest for a file that is there already or lies in the home; Misconfigured where
    something of the home is damaged, or its database lies elsewhere.
    """
    home, path = settings.home, path.absolute()
    if not home.is_dir():
        raise Misconfigured(f"There is no data directory {home}; TRANCHE_HOME names another one")
    if path.resolve().is_relative_to(home.resolve()):
        raise BadRequest(f"{path} lies in the data directory: name a file outside of it")
    refuse_existing(path)
    with private.process_lock(home / "backup.lock") as other:
        if other:
            raise BadRequest(f"Another backup of {home} is running; wait until it is done")
        with hold(settings.warehouse) as slicers, new_archive(path) as (archive, folder):
            for relative in _other_files(home):
                archive.add(member_of(HOME, relative), home / relative)
            database = _add_database(archive, settings, folder)
            for slicer in slicers:
                add_slicer(archive, slicer)
            contents = Inventory(
                program=version("tranche"),
                made=dt.datetime.now(dt.UTC),
                database=database,
                members=archive.members,
            )
            archive.finish(contents)
    names = {*FILES, *FOLDERS, WAREHOUSE}
    moved = None
    if isinstance(database, SqliteFile):
        names.add(Path(database.file).parts[0])
    elif isinstance(database, PostgresRows) and (home / DATABASE_FILE).exists():
        moved = DATABASE_FILE
        names.add(moved)
    left_out = {path.name for path in home.iterdir() if not _is_passing(path.name)} - names
    return Backup(contents, path.stat().st_size, tuple(sorted(left_out)), moved)


def _other_files(home: Path) -> Iterator[str]:
    """The files beside slicers and database, relative to the home. Each is replaced whole when it changes."""
    yield from (name for name in FILES if (home / name).is_file())
    for folder in FOLDERS:
        yield from (
            path.relative_to(home).as_posix()
            for path in sorted((home / folder).glob("*"))
            if path.is_file() and not _is_passing(path.name)
        )


def _is_passing(name: str) -> bool:
    return name.startswith(".") or name.endswith(PASSING)


def _add_database(archive: Archive, settings: Settings, folder: Path) -> SqliteFile | PostgresRows | None:
    """Write the database; None where none was made yet."""
    url = make_url(settings.database_url)
    if url.get_backend_name() != "sqlite":
        rows = postgres.copy(settings.database_url, folder)
        for table in rows.tables:
            archive.add(table_member(table), folder / table)
        return rows
    source = Path(url.database or "").absolute()
    if ".." in source.parts or not source.is_relative_to(settings.home):
        raise Misconfigured(
            f"database_url names {source}, outside of the data directory {settings.home}: a backup holds "
            "what is inside. Stop the desk and move the file there"
        )
    if not source.exists():
        return None
    copy = folder / "database"
    database_file = SqliteFile(
        file=source.relative_to(settings.home).as_posix(), revision=copy_database(source, copy)
    )
    archive.add(member_of(HOME, database_file.file), copy)
    return database_file


@dataclass(frozen=True)
class HeldSlicer:
    """A slicer at one moment: its folder, its manifest as it was read, and the held name of each file."""

    folder: Path
    content: bytes
    files: dict[str, Path]

    @property
    def manifest(self) -> Manifest:
        return manifest_of(self.content, self.folder)

    def digests(self) -> dict[str, str]:
        """The beginning of the digest that each file must have, where it is known."""
        rows = {
            f"{day_folder(day)}/{part.file}": part.digest
            for day, parts in self.manifest.days.items()
            for part in parts
        }
        return rows | {path: Path(path).stem for path in self.manifest.mappings.values()}


@contextmanager
def hold(warehouse: Path) -> Iterator[list[HeldSlicer]]:
    """Every slicer of this moment, to be read until the end of the block. One caller at a time.

    Misconfigured for a slicer that lacks a file or has a damaged manifest.
    """
    links = warehouse / LINKS
    shutil.rmtree(links, ignore_errors=True)  # of a backup that was killed
    try:
        folders = sorted(path.parent for path in warehouse.glob(f"*/*/{MANIFEST}"))
        yield [_hold(folder, links / str(number)) for number, folder in enumerate(folders)]
    finally:
        shutil.rmtree(links, ignore_errors=True)


def add_slicer(archive: Archive, slicer: HeldSlicer) -> None:
    """Write a slicer. Misconfigured for a file that is not as it was imported: such a backup is none."""
    inside = slicer.folder.relative_to(slicer.folder.parent.parent).as_posix()
    digests = slicer.digests()
    for relative, path in slicer.files.items():
        member = archive.add(member_of(HOME, WAREHOUSE, inside, relative), path)
        if not member.sha256.startswith(digests.get(relative, "")):
            raise Misconfigured(
                f"{slicer.folder / relative} is damaged: its bytes are not those that were written. Restore "
                "it from an earlier backup or import it again; `tranche verify` lists all damaged files"
            )
    archive.add_bytes(member_of(HOME, WAREHOUSE, inside, MANIFEST), slicer.content)


def _hold(folder: Path, links: Path) -> HeldSlicer:
    """Imports go on: a file that is gone belonged to a version that is over, so that the next is taken."""
    previous: bytes | None = None
    for _ in range(ATTEMPTS):
        content = (folder / MANIFEST).read_bytes()
        names = sorted(manifest_of(content, folder).files())
        private.folder(links)
        try:
            files = {name: links / str(number) for number, name in enumerate(names)}
            for name, link in files.items():
                link.hardlink_to(folder / name)
            return HeldSlicer(folder, content, files)
        except FileNotFoundError as error:
            if content == previous:
                raise Misconfigured(
                    f"{error.filename} is missing: restore it from an earlier backup, or import it again"
                ) from None
            previous = content
        shutil.rmtree(links)
    raise StoreUnavailable(f"{folder} changes too quickly to be backed up; try again")
