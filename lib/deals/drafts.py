"""Drafts of packages, kept in the desk's own database for every service."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, Connection, Engine, String, Table, delete, insert, select

from lib.database import Document, Instant, metadata, reading, transact
from lib.people import Person
from lib.wire.deadline import Deadline

SECONDS = 10

drafts = Table(
    "drafts",
    metadata,
    Column("username", String(64), primary_key=True),
    Column("service", String(500), primary_key=True),
    Column("at", Instant, nullable=False),
    Column("body", Document, nullable=False),
)


@dataclass(frozen=True)
class KeptDraft:
    """A stored draft."""

    at: datetime
    body: dict[str, Any]


@dataclass(frozen=True)
class Drafts:
    """The one draft of a person for the deals service at `service` (empty: the embedded one).

    Its methods raise StoreUnavailable or DeadlineExceeded where the database can't be used.
    """

    engine: Engine
    service: str
    person: Person

    def get(self) -> KeptDraft | None:
        """The draft, or None; drafts of an earlier person of the same name don't count."""

        def within(connection: Connection) -> KeptDraft | None:
            row = connection.execute(select(drafts).where(*self._mine())).one_or_none()
            if row is None or (self.person.added is not None and row.at < self.person.added):
                return None
            return KeptDraft(row.at, row.body)

        return reading(self.engine, within, Deadline(SECONDS))

    def keep(self, body: dict[str, Any]) -> None:
        """Store this draft in place of the previous one."""

        def within(connection: Connection) -> None:
            connection.execute(delete(drafts).where(*self._mine()))
            values = {"username": self.person.username, "service": self.service}
            connection.execute(insert(drafts).values(**values, at=datetime.now(UTC), body=body))

        transact(self.engine, within, Deadline(SECONDS))

    def discard(self) -> None:
        """Delete the draft."""
        transact(
            self.engine,
            lambda connection: connection.execute(delete(drafts).where(*self._mine())),
            Deadline(SECONDS),
        )

    def _mine(self) -> tuple[Any, ...]:
        return drafts.c.username == self.person.username, drafts.c.service == self.service
