"""A database of SQLite: copied while others write, and looked at before it takes a place."""

import sqlite3
from contextlib import closing
from pathlib import Path

from lib.backup.archive import Damage
from lib.wire.errors import Misconfigured

BUSY_SECONDS = 30
REVISION = "select version_num from alembic_version"
CODE = (
    "select name from sqlite_master where type in ('trigger', 'view') or sql like 'create virtual%' limit 1"
)


def copy(source: Path, target: Path) -> str:
    """Copy a database by SQLite's online backup: all of it as it was at one moment; returns its revision.

    Writers go on meanwhile, thanks to the write-ahead log. Misconfigured where it can't be read.
    """
    try:
        with (
            closing(sqlite3.connect(source, timeout=BUSY_SECONDS)) as ours,
            closing(sqlite3.connect(target)) as copied,
        ):
            ours.backup(copied)
            copied.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
            (revision,) = copied.execute(REVISION).fetchone()
            return str(revision)
    except (sqlite3.Error, TypeError) as error:
        raise Misconfigured(f"The database {source} can't be copied: {error}") from error


def check(path: Path, revision: str) -> None:
    """Damage for a file that is no database of this revision, or that brings code of its own along."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            faults = [fault for (fault,) in connection.execute("PRAGMA quick_check") if fault != "ok"]
            stored_revision, code = (
                connection.execute(REVISION).fetchone(),
                connection.execute(CODE).fetchone(),
            )
    except sqlite3.Error as error:
        raise Damage(f"The archive's database can't be read: {error}") from None
    if faults:
        raise Damage(f"The archive's database is damaged: {faults[0]}")
    if code:
        raise Damage(
            f"The archive's database has a trigger, view or virtual table that isn't ours: {code[0]!r}"
        )
    if stored_revision != (revision,):
        raise Damage("The archive's database is of another revision than the archive says")
