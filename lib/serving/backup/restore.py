"""Restores a data directory from an archive, whole or not at all; every member is checked.

Nothing of it is executed. A member that could be written anywhere but into that folder, or that is anything
but a plain file, is refused.
"""

import errno
import hashlib
import os
import shutil
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO

from pydantic import ValidationError
from sqlalchemy import make_url

from lib.serving.backup import postgres
from lib.serving.backup.archive import (
    DATABASE,
    HOME,
    MANIFEST,
    SETTINGS,
    SQLITE_SIDE_FILES,
    Damage,
    Inventory,
    Member,
    PostgresRows,
    check_database,
    table_member,
)
from lib.settings import Settings
from lib.wire import private
from lib.wire.errors import BadRequest, Misconfigured

PIECE_BYTES = 1 << 20
LARGEST_MANIFEST = 256 << 20
DESK = "desk.lock"


def receive(archive: Path, folder: Path) -> Inventory:
    """Unpack an archive into an empty folder and return its manifest, which all files agree with.

    Damage says what is wrong. Files are readable by their owner only, whatever mode the archive gives them.
    """
    members: dict[str, Member] = {}
    contents = None
    try:
        with tarfile.open(archive, mode="r:") as tar:
            for member in tar:
                name = _safe_name(member, members)
                content = tar.extractfile(member)
                if content is None:
                    raise Damage(f"The member '{_printable(name)}' is no plain file")
                if name == MANIFEST:
                    contents = _manifest(content, member.size)
                    break
                members[name] = _write(content, member.size, folder / name)
    except (tarfile.TarError, EOFError) as error:
        raise Damage(f"{archive} is no backup, or damaged: {error}") from None
    except UnicodeError:
        raise Damage(f"{archive} is no backup, or damaged: a name can't be read") from None
    if contents is None:
        raise Damage(f"{archive} is not whole: its last part, {MANIFEST}, is missing")
    # Damage for the first member that is not as the manifest states it.
    for name in sorted(members.keys() | contents.members.keys()):
        if name not in contents.members:
            raise Damage(f"The member '{_printable(name)}' is not in {MANIFEST}")
        if name not in members:
            raise Damage(f"The member '{_printable(name)}' is missing")
        if members[name] != contents.members[name]:
            raise Damage(f"The member '{_printable(name)}' is damaged: its SHA-256 digest is another one")
    return contents


def _safe_name(member: tarfile.TarInfo, members: dict[str, Member]) -> str:
    """The name of a member that may be written; Damage for every other one."""
    name, path = member.name, PurePosixPath(member.name)
    if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
        raise Damage(
            f"The member '{_printable(name)}' is no plain file (a link, a device, a folder): refused"
        )
    is_below = len(path.parts) > 1 and path.parts[0] in (HOME, DATABASE)
    is_plain = path.as_posix() == name and ".." not in path.parts and name.isprintable() and "\\" not in name
    if name != MANIFEST and not (is_below and is_plain and not path.is_absolute()):
        raise Damage(
            f"The member '{_printable(name)}' would be written outside of the data directory: refused"
        )
    # As SQLite opens a database it plays back the journal beside it, and removes a file that this names.
    if name.lower().endswith(SQLITE_SIDE_FILES):
        raise Damage(
            f"The member '{_printable(name)}' is a journal of a database, which no backup has: refused"
        )
    if name in members:
        raise Damage(f"The member '{_printable(name)}' is there twice")
    return name


def _manifest(content: IO[bytes], size: int) -> Inventory:
    if size > LARGEST_MANIFEST:
        raise Damage(f"{MANIFEST} is larger than {LARGEST_MANIFEST:,} bytes")
    try:
        return Inventory.model_validate_json(content.read())
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or MANIFEST
        raise Damage(
            f"{MANIFEST} can't be read: {_printable(where)}: {first['msg']}. It is damaged, or of a later "
            "version of Tranche"
        ) from None


def _write(content: IO[bytes], size: int, path: Path) -> Member:
    digest, count = hashlib.sha256(), 0
    try:
        path.parent.mkdir(mode=private.FOLDER_MODE, parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, private.FILE_MODE)
    except (FileExistsError, NotADirectoryError):
        raise Damage(f"The member '{_printable(path.name)}' is a file and a folder at once") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise Damage(f"The member '{_printable(path.name)}' has a name that is too long") from None
        raise
    with os.fdopen(handle, "wb") as file:
        while piece := content.read(PIECE_BYTES):
            file.write(piece)
            digest.update(piece)
            count += len(piece)
    if count != size:
        raise Damage(f"The archive ends within '{_printable(path.name)}'")
    return Member(size=size, sha256=digest.hexdigest())


def _printable(name: str) -> str:
    """A name from outside, fit for a line of a terminal."""
    return "".join(character if character.isprintable() else "?" for character in name)[:200]


@dataclass(frozen=True)
class RestoreResult:
    """The result of a restore, and the new place of the previous home; None if there was none.

    `other_database` is the address, without a password, of the database that the restored tranche.toml names
    while the settings of this restore name another: a desk that starts by the file alone would open that one.
    """

    contents: Inventory
    former: Path | None
    other_database: str | None


def restore(archive: Path, home: Path, *, replace: bool = False) -> RestoreResult:
    """Make `home` what it was when the archive was made. A home that holds something needs `replace`.

    The archive is unpacked and verified beside the home first; then the one takes the place of the other,
    which is kept under another name. Damage, BadRequest or Misconfigured otherwise: nothing was changed.
    """
    with archive.open("rb"):
        pass  # a file that isn't there is no reason to recommend --replace
    if not replace and home.exists() and any(home.iterdir()):
        raise BadRequest(f"{home} is not empty: --replace replaces all of it and keeps it under another name")
    if home.is_symlink() or home.is_mount():
        raise BadRequest(
            f"{home} is a link or a disk of its own, which can't be replaced: name a folder in it"
        )
    private.folder(home.parent)
    with no_desk(home), ExitStack() as cleanup:
        try:
            folder = Path(tempfile.mkdtemp(prefix=f".{home.name}.restoring-", dir=home.parent))
        except OSError as error:
            raise Misconfigured(
                f"{home.parent} can't be written to ({error.strerror}): the restored home is made there "
                "first. Let TRANCHE_HOME name a folder in one that you may write to"
            ) from error
        cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
        contents = receive(archive, folder)
        fresh = private.folder(folder / HOME)
        database, url = contents.database, Settings.load(home=fresh).database_url
        _check_database(contents, url, fresh, home)
        os.sync()
        if isinstance(database, PostgresRows):
            files = private.folder(folder / "rows")
            for table in database.tables:
                (folder / DATABASE / f"{table}.copy").rename(files / table)
            postgres.load(url, database, files, replace=replace)
        # The name of a database in the restored file, which the settings of this restore may override.
        file, other_database = fresh / SETTINGS, None
        name = tomllib.loads(file.read_text("utf-8")).get("database_url") if file.exists() else None
        if name is not None and make_url(name) != make_url(url):
            other_database = make_url(name).render_as_string(hide_password=True)
        return RestoreResult(contents, _swap(fresh, home), other_database)


@contextmanager
def no_desk(home: Path) -> Iterator[None]:
    """BadRequest where a desk runs over the home; none begins meanwhile."""
    if not (home / DESK).exists():
        yield
        return
    with private.process_lock(home / DESK) as other:
        if other:
            raise BadRequest(f"A desk is running over {home}: stop it first")
        yield


def _check_database(contents: Inventory, database_url: str, fresh: Path, home: Path) -> None:
    """See that the database can be restored where the settings will look for it."""
    url, database = make_url(database_url), contents.database
    is_file = url.get_backend_name() == "sqlite"
    if isinstance(database, PostgresRows):
        if is_file:
            raise Misconfigured(
                "The backup has the rows of a PostgreSQL database: set database_url (TRANCHE_DATABASE_URL) "
                "to an empty one"
            )
        missing = [name for name in database.tables if table_member(name) not in contents.members]
        if missing:
            raise Damage(f"The archive has no rows of the table '{missing[0]}'")
    elif database is not None:
        target = Path(url.database or "").absolute()
        if not is_file or target not in (fresh / database.file, home / database.file):
            raise Misconfigured(
                f"The backup's database is the file {database.file} of the data directory, but database_url "
                "names another one: set database_url (TRANCHE_DATABASE_URL) to that file"
            )
        if not (fresh / database.file).is_file():
            raise Damage(f"The archive has no database {database.file}")
        check_database(fresh / database.file, database.revision)


def _swap(fresh: Path, home: Path) -> Path | None:
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
