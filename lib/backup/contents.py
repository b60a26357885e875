"""The manifest of an archive, its last member.

An archive is an uncompressed tar file (rows are compressed already). Members are regular files:

    home/<path>               a file of the data directory
    database/<table>.copy     rows of one table of PostgreSQL, as COPY writes them
    manifest.json             what the archive consists of, with a SHA-256 digest per member
"""

import datetime as dt
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from lib.wire.errors import Misconfigured

MANIFEST = "manifest.json"
HOME, DATABASE = "home", "database"
SETTINGS, PEOPLE, SESSIONS, SECRETS, REJECTS = (
    "tranche.toml",
    "people.yaml",
    "sessions.json",
    "secrets",
    "rejects",
)
WAREHOUSE = "warehouse"


class Damage(Misconfigured):
    """An archive that can't be restored; says what is wrong. Nothing was changed."""


class _Stated(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Member(_Stated):
    """A file of the archive: its size in bytes, and the SHA-256 digest of them in hexadecimal."""

    size: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class SqliteFile(_Stated):
    """The database as a file of the home; `revision` is that of its migrations."""

    kind: Literal["sqlite"] = "sqlite"
    file: str
    revision: str


class TableRows(_Stated):
    """The rows of one table: the columns in the order of the file, and the last number that was given."""

    columns: tuple[str, ...]
    last_number: int | None = None


class PostgresRows(_Stated):
    """The rows of a database of PostgreSQL, table by table, each after those that it refers to."""

    kind: Literal["postgresql"] = "postgresql"
    revision: str
    tables: dict[str, TableRows]


class Inventory(_Stated):
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
            f"{found[2]}/{found[3]}"
            for found in parts
            if len(found) == 5 and found[:2] == (HOME, WAREHOUSE) and found[4] == MANIFEST
        )


def member_of(*parts: str) -> str:
    """The name of a member."""
    return "/".join(parts)


def table_member(table: str) -> str:
    """The member with the rows of a table."""
    return member_of(DATABASE, f"{table}.copy")
