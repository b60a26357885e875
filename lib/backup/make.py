"""Making a backup of a data directory while its desk runs."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from sqlalchemy import make_url

from lib import private
from lib.backup import postgres, sqlite
from lib.backup.archive import Archive, new_archive, refuse_existing
from lib.backup.contents import (
    HOME,
    PEOPLE,
    REJECTS,
    SECRETS,
    SESSIONS,
    SETTINGS,
    WAREHOUSE,
    Inventory,
    PostgresRows,
    SqliteFile,
    member_of,
    table_member,
)
from lib.backup.slicers import add_slicer, hold
from lib.settings import Settings
from lib.wire.errors import BadRequest, Misconfigured

FILES, FOLDERS = (SETTINGS, PEOPLE, SESSIONS), (SECRETS, REJECTS)
PASSING = (".lock", "-wal", "-shm", "-journal", ".carried-over")  # of running processes, or not read any more


@dataclass(frozen=True)
class Made:
    """A backup: what is in it, its bytes, and the names in the home that are not in it."""

    contents: Inventory
    size: int
    left_out: tuple[str, ...]


def back_up(settings: Settings, path: Path) -> Made:
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
    with _one_at_a_time(home), hold(settings.warehouse) as slicers, new_archive(path) as (archive, folder):
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
    return Made(contents, path.stat().st_size, tuple(_left_out(home, database)))


@contextmanager
def _one_at_a_time(home: Path) -> Iterator[None]:
    with private.process_lock(home / "backup.lock") as other:
        if other:
            raise BadRequest(f"Another backup of {home} is running; wait until it is done")
        yield


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
    copied = folder / "database"
    kept = SqliteFile(file=source.relative_to(settings.home).as_posix(), revision=sqlite.copy(source, copied))
    archive.add(member_of(HOME, kept.file), copied)
    return kept


def _left_out(home: Path, database: SqliteFile | PostgresRows | None) -> Iterator[str]:
    """Unknown files in the home, apart from caches and files of running processes."""
    names = {*FILES, *FOLDERS, WAREHOUSE}
    if isinstance(database, SqliteFile):
        names.add(Path(database.file).parts[0])
    yield from sorted(
        path.name for path in home.iterdir() if path.name not in names and not _is_passing(path.name)
    )
