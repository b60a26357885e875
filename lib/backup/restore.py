"""Restoring a data directory from an archive, whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import make_url

from lib import private
from lib.backup import postgres, sqlite
from lib.backup.contents import DATABASE, HOME, Damage, Inventory, PostgresRows, table_member
from lib.backup.received import receive
from lib.settings import Settings
from lib.wire.errors import BadRequest, Misconfigured

DESK = "desk.lock"


@dataclass(frozen=True)
class Restored:
    """The result of a restore, and the new place of the previous home; None if there was none."""

    contents: Inventory
    former: Path | None


def restore(archive: Path, home: Path, *, replace: bool = False) -> Restored:
    """Make `home` what it was when the archive was made. A home that holds something needs `replace`.

    The archive is unpacked and verified beside the home first; then the one takes the place of the other,
    which is kept under another name. Damage, BadRequest or Misconfigured otherwise: nothing was changed.
    """
    if not replace and home.exists() and any(home.iterdir()):
        raise BadRequest(f"{home} is not empty: --replace replaces all of it and keeps it under another name")
    if home.is_symlink() or home.is_mount():
        raise BadRequest(
            f"{home} is a link or a disk of its own, which can't be replaced: name a folder in it"
        )
    private.folder(home.parent)
    with no_desk(home), _staging(home) as folder:
        contents = receive(archive, folder)
        fresh = private.folder(folder / HOME)
        load = _database(contents, fresh, home, folder, replace=replace)
        os.sync()
        load()
        return Restored(contents, _swapped(fresh, home))


@contextmanager
def no_desk(home: Path) -> Iterator[None]:
    """BadRequest where a desk runs over the home; none begins meanwhile."""
    if not (home / DESK).exists():
        yield
        return
    with private.alone(home / DESK) as other:
        if other:
            raise BadRequest(f"A desk is running over {home}: stop it first")
        yield


@contextmanager
def _staging(home: Path) -> Iterator[Path]:
    """A folder beside the home, on its disk, gone afterwards."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{home.name}.restoring-", dir=home.parent))
    except OSError as error:
        raise Misconfigured(
            f"{home.parent} can't be written to ({error.strerror}): the restored home is made there "
            "first. Let TRANCHE_HOME name a folder in one that you may write to"
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _database(contents: Inventory, fresh: Path, home: Path, folder: Path, *, replace: bool) -> "_Loading":
    """See that the database can be restored where the settings will look for it; what fills PostgreSQL."""
    settings = Settings.load(home=fresh)
    url, kept = make_url(settings.database_url), contents.database
    is_file = url.get_backend_name() == "sqlite"
    if isinstance(kept, PostgresRows):
        if is_file:
            raise Misconfigured(
                "The backup has the rows of a PostgreSQL database: set database_url (TRANCHE_DATABASE_URL) "
                "to an empty one"
            )
        missing = [name for name in kept.tables if table_member(name) not in contents.members]
        if missing:
            raise Damage(f"The archive has no rows of the table '{missing[0]}'")
        return _Loading(settings, kept, folder, replace)
    if kept is not None:
        target = Path(url.database or "").absolute()
        if not is_file or target not in (fresh / kept.file, home / kept.file):
            raise Misconfigured(
                f"The backup's database is the file {kept.file} of the data directory, but database_url "
                "names another one: set database_url (TRANCHE_DATABASE_URL) to that file"
            )
        if not (fresh / kept.file).is_file():
            raise Damage(f"The archive has no database {kept.file}")
        sqlite.check(fresh / kept.file, kept.revision)
    return _Loading(settings, None, folder, replace)


@dataclass(frozen=True)
class _Loading:
    """The database step that remains when all is verified."""

    settings: Settings
    rows: PostgresRows | None
    folder: Path
    replace: bool

    def __call__(self) -> None:
        if self.rows is None:
            return
        files = private.folder(self.folder / "rows")
        for name in self.rows.tables:
            (self.folder / DATABASE / f"{name}.copy").rename(files / name)
        postgres.load(self.settings.database_url, self.rows, files, replace=self.replace)


def _swapped(fresh: Path, home: Path) -> Path | None:
    """Put the fresh home in place; where the one of before is now, if it held anything."""
    if not home.exists() or not any(home.iterdir()):
        fresh.replace(home)
        return None
    former = home.with_name(f"{home.name}.before-restore-{datetime.now(UTC):%Y%m%dT%H%M%S.%f}")
    home.rename(former)
    try:
        fresh.rename(home)
    except OSError:
        with suppress(OSError):
            former.rename(home)
        raise
    return former
