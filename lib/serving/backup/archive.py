"""An archive: its members one after another, its manifest last, the whole of it or nothing.

An archive is an uncompressed tar file (rows are compressed already). Members are regular files:

    home/<path>               a file of the data directory
    database/<table>.copy     rows of one table of PostgreSQL, as COPY writes them
    manifest.json             what the archive consists of, with a SHA-256 digest per member
"""

import datetime as dt
import hashlib
import io
import os
import sqlite3
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from lib.wire import private
from lib.wire.errors import BadRequest, Misconfigured

MANIFEST = "manifest.json"
HOME, DATABASE = "home", "database"
SETTINGS, SESSIONS = "tranche.toml", "sessions.json"
SECRETS, REJECTS, WAREHOUSE = "secrets", "rejects", "warehouse"
SQLITE_SIDE_FILES = ("-wal", "-shm", "-journal")
REVISION = "select version_num from alembic_version"


class Damage(Misconfigured):
    """An archive that can't be restored; says what is wrong. Nothing was changed."""


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Member(_Entry):
    """A file of the archive: its size in bytes, and the SHA-256 digest of them in hexadecimal."""

    size: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class SqliteFile(_Entry):
    """The database as a file of the home; `revision` is that of its migrations."""

    kind: Literal["sqlite"] = "sqlite"
    file: str
    revision: str


class TableRows(_Entry):
    """The rows of one table: the columns in the order of the file, and the last number that was given."""

    columns: tuple[str, ...]
    last_number: int | None = None


class PostgresRows(_Entry):
    """The rows of a database of PostgreSQL, table by table, each after those that it refers to."""

    kind: Literal["postgresql"] = "postgresql"
    revision: str
    tables: dict[str, TableRows]


class Inventory(_Entry):
    """The manifest: which program made the archive, when, and what is in it."""

    format: Literal[1] = 1
    program: str
    made: dt.datetime
    database: Annotated[SqliteFile | PostgresRows, Field(discriminator="kind")] | None
    members: dict[str, Member]

    def slicers(self) -> list[str]:
        """The folders of the slicers, as `project/slicer`."""
        parts = (PurePosixPath(name).parts for name in self.members)
        return sorted(
            f"{path[2]}/{path[3]}"
            for path in parts
            if len(path) == 5 and path[:2] == (HOME, WAREHOUSE) and path[4] == MANIFEST
        )


def member_of(*parts: str) -> str:
    """The name of a member."""
    return "/".join(parts)


def table_member(table: str) -> str:
    """The member with the rows of a table."""
    return member_of(DATABASE, f"{table}.copy")


class Archive:
    """An archive while it is written."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.members: dict[str, Member] = {}
        self._tar = tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115

    def add(self, name: str, path: Path) -> Member:
        """Take a file, as large as it is now; returns its size and digest. OSError if it can't be read."""
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            return self._add(name, file, state.st_size, state.st_mtime)

    def add_bytes(self, name: str, content: bytes) -> Member:
        return self._add(name, io.BytesIO(content), len(content), time.time())

    def finish(self, contents: Inventory) -> None:
        content = contents.model_dump_json(indent=1).encode()
        self._add_member(MANIFEST, io.BytesIO(content), len(content))
        self._tar.close()

    def _add(self, name: str, file: IO[bytes], size: int, mtime: float) -> Member:
        digesting = _DigestReader(file)
        self._add_member(name, digesting, size, mtime)
        self.members[name] = Member(size=size, sha256=digesting.digest.hexdigest())
        return self.members[name]

    def _add_member(self, name: str, file: "IO[bytes] | _DigestReader", size: int, mtime: float = 0) -> None:
        about = tarfile.TarInfo(name)
        about.size, about.mtime, about.mode = size, int(mtime or time.time()), private.FILE_MODE
        self._tar.addfile(about, file)


class _DigestReader:
    """A file that is read from its start, and the digest of what was read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.digest = file, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        read = self._file.read(size)
        self.digest.update(read)
        return read


@contextmanager
def new_archive(path: Path) -> Iterator[tuple[Archive, Path]]:
    """A new archive, and a folder for what is made on the way; the file is there if the block ends well.

    It is its owner's alone, and was written to the disk before it gets its name. BadRequest where there is
    such a file already.
    """
    refuse_existing(path)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        draft = Path(folder) / "archive"
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, private.FILE_MODE)
        with os.fdopen(handle, "wb") as stream:
            yield Archive(stream), Path(folder)
            stream.flush()
            os.fsync(stream.fileno())
        # Its name, unless another took it meanwhile; where there are no links, by a rename.
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            raise BadRequest(f"{path} exists already: name a new file, a backup replaces none") from None
        except OSError:
            draft.rename(path)
        with suppress(OSError):
            parent = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(parent)
            finally:
                os.close(parent)


def refuse_existing(path: Path) -> None:
    """BadRequest where there is something of that name, or no folder for it."""
    if path.exists() or path.is_symlink():
        raise BadRequest(f"{path} exists already: name a new file, a backup replaces none")
    if not path.parent.is_dir():
        raise BadRequest(f"There is no folder {path.parent}")


BUSY_SECONDS = 30


def copy_database(source: Path, target: Path) -> str:
    """Copy a database by SQLite's online backup: all of it as it was at one moment; returns its revision.

    Writers go on meanwhile, thanks to the write-ahead log. Misconfigured where it can't be read.
    """
    try:
        with (
            closing(sqlite3.connect(source, timeout=BUSY_SECONDS)) as ours,
            closing(sqlite3.connect(target)) as copy,
        ):
            ours.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
            (revision,) = copy.execute(REVISION).fetchone()
            return str(revision)
    except (sqlite3.Error, TypeError) as error:
        raise Misconfigured(f"The database {source} can't be copied: {error}") from error


# SQLite writes the beginning of a statement itself: anything else than a table or an index is somebody's own,
# such as `create/**/virtual table`.
CODE = (
    "select name from sqlite_master where type not in ('table', 'index') or sql is not null and not ("
    "sql glob 'CREATE TABLE *' or sql glob 'CREATE INDEX *' or sql glob 'CREATE UNIQUE INDEX *') limit 1"
)


def check_database(path: Path, revision: str) -> None:
    """Damage for a file that is no database of this revision, or that brings code of its own along."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            faults = [fault for (fault,) in connection.execute("PRAGMA quick_check") if fault != "ok"]
            stored_revision = connection.execute(REVISION).fetchone()
            code = connection.execute(CODE).fetchone()
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
