"""Owner and note of packages, which no API has fields for: kept in the desk's own database."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Engine,
    Row,
    String,
    Table,
    Text,
    delete,
    insert,
    select,
)

from lib.database import Instant, metadata, reading, transact
from lib.people import Person
from lib.wire import text
from lib.wire.deadline import Deadline
from lib.wire.errors import Conflict, Forbidden, Invalid

SECONDS, TOGETHER = 10, 500
LONGEST_OWNER, LONGEST_NOTE = 100, 2_000

package_notes = Table(
    "package_notes",
    metadata,
    Column("service", String(500), primary_key=True),
    Column("package_id", BigInteger, primary_key=True, autoincrement=False),
    Column("owner", String(LONGEST_OWNER), nullable=False),
    Column("note", Text, nullable=False),
    Column("who", String(64), nullable=False),
    Column("at", Instant, nullable=False),
)


@dataclass(frozen=True)
class PackageNote:
    """Who looks after a package and what is noted of it, either may be empty; who wrote that, and when."""

    owner: str = ""
    note: str = ""
    who: str = ""
    at: datetime | None = None


@dataclass(frozen=True)
class PackageNotes:
    """The notes of packages of the deals service at `service` (empty: the embedded one).

    It knows no packages: ask only for those that the person may see. Its methods raise StoreUnavailable or
    DeadlineExceeded where the database can't be used.
    """

    engine: Engine
    service: str
    person: Person

    def get(self, package: int) -> PackageNote:
        """What is kept of this package; empty where nothing is."""
        return self.of([package]).get(package, PackageNote())

    def of(self, packages: Collection[int]) -> dict[int, PackageNote]:
        """What is kept of these packages, by id."""
        ids = sorted(set(packages))

        def within(connection: Connection) -> dict[int, PackageNote]:
            notes: dict[int, PackageNote] = {}
            for first in range(0, len(ids), TOGETHER):
                query = select(package_notes).where(*self._of(ids[first : first + TOGETHER]))
                notes |= {row.package_id: _note(row) for row in connection.execute(query)}
            return notes

        return reading(self.engine, within, Deadline(SECONDS)) if ids else {}

    def keep(self, package: int, owner: str, note: str, before: PackageNote) -> PackageNote:
        """Store both in place of `before`; Conflict if somebody else has changed them since.

        Forbidden for who may not change deals; Invalid for long or unreadable texts.
        """
        if not self.person.deals.writes:
            raise Forbidden("You can see deals, but not change them")
        stored = PackageNote(" ".join(owner.split()), note.strip(), self.person.username, datetime.now(UTC))
        _check(stored)

        def within(connection: Connection) -> None:
            row = connection.execute(select(package_notes).where(*self._of([package]))).one_or_none()
            note = PackageNote() if row is None else _note(row)
            if (note.owner, note.note, note.at) != (before.owner, before.note, before.at):
                raise Conflict(f"{note.who} has changed it meanwhile; nothing was saved")
            connection.execute(delete(package_notes).where(*self._of([package])))
            values = {"owner": stored.owner, "note": stored.note, "who": stored.who, "at": stored.at}
            if stored.owner or stored.note:
                keys = {"service": self.service, "package_id": package}
                connection.execute(insert(package_notes).values(**keys, **values))

        transact(self.engine, within, Deadline(SECONDS))
        return stored

    def _of(self, packages: Collection[int]) -> tuple[Any, ...]:
        table = package_notes
        return table.c.service == self.service, table.c.package_id.in_(packages)


def _note(row: Row[Any]) -> PackageNote:
    return PackageNote(row.owner, row.note, row.who, row.at)


def _check(note: PackageNote) -> None:
    """Invalid for texts that are too long, or that don't read as they are stored."""
    wrong: dict[str, list[str]] = {}
    for name, given, longest in (("owner", note.owner, LONGEST_OWNER), ("note", note.note, LONGEST_NOTE)):
        if len(given) > longest:
            wrong[name] = [f"At most {longest:,} characters."]
        elif sentence := text.fault(given.replace("\n", " ").replace("\t", " ").replace("\r", " ")):
            wrong[name] = [f"This {sentence}."]
    if wrong:
        raise Invalid(wrong)
