"""The audit log: who signed in or was refused, who changed permissions, tokens, metrics, mails, proposals…"""

import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from sqlalchemy import ColumnElement, Connection, Engine, Index, String, Text, delete, func, insert, select

from lib.database import DatabaseScope, Instant, from_row, numbered_table, optional, required
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)

Event = Literal[
    "signed in", "signed out", "sign-in refused", "person added", "person removed", "person changed",
    "password changed", "token made", "token revoked", "metric added", "metric changed", "metric removed",
    "share link made", "share link revoked", "share link closed", "share link reopened", "buyer answered",
    "answer to buyer", "counts entered", "counts removed", "mail added", "mail removed", "agent call",
    "proposal made", "proposal approved", "proposal declined", "supply file added", "supply file removed",
]  # fmt: skip
EVENTS: tuple[Event, ...] = get_args(Event)
REFUSAL: Event = "sign-in refused"
MOST_REFUSALS = 10_000
LONGEST_DETAIL = 2_000

audit = numbered_table(
    "audit", *required(at=Instant, who=String(100), event=String(20), about=String(100), detail=Text),
    *optional(address=String(64)), Index(None, "event", "id"), Index(None, "about", "id"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """One event. `who` did it, `about` is the person concerned; `at` is in UTC.

    `address` is where a sign-in came from, where that is known.
    """

    id: int
    at: datetime
    who: str
    event: Event
    about: str
    detail: str
    address: str | None


class Audit:
    """The audit log of one database. Entries are added and never changed.

    Anybody can cause refused sign-ins, so only the latest `MOST_REFUSALS` of these are kept.
    """

    def __init__(self, engine: Engine) -> None:
        self._scope = DatabaseScope(engine)

    def note(self, event: Event, who: str, about: str, detail: str = "", address: str | None = None) -> None:
        """Add an entry. If that fails, the entry is written to the log instead, and nothing is raised."""
        sentence = f"{event}: {about} by {who}, {address or 'no address'}, {detail or 'no details'}"
        log.info("Audit: %s", sentence)
        row: dict[str, Any] = {
            "at": datetime.now(UTC), "who": who[:100], "event": event, "about": about[:100],
            "detail": detail[:LONGEST_DETAIL], "address": None if address is None else address[:64],
        }  # fmt: skip
        try:
            with self._scope.write() as connection:
                connection.execute(insert(audit).values(row))
                if event == REFUSAL:
                    own, newest = audit.c.event == REFUSAL, audit.c.id.desc()
                    oldest = select(audit.c.id).where(own).order_by(newest).limit(1).offset(MOST_REFUSALS)
                    connection.execute(delete(audit).where(own, audit.c.id <= oldest.scalar_subquery()))
        except TrancheError:
            log.exception("The audit log could not be written: %s", sentence)

    def entries(
        self,
        limit: int = 500,
        offset: int = 0,
        about: str | None = None,
        since: datetime | None = None,
        events: tuple[Event, ...] = EVENTS,
    ) -> tuple[int, list[Entry]]:
        """How many entries there are, and some of them, the latest first. `about`: of, or by, this person."""
        conditions: list[ColumnElement[bool]] = [audit.c.event.in_(events)]
        if about is not None:
            conditions.append((audit.c.about == about) | (audit.c.who == about))
        if since is not None:
            conditions.append(audit.c.at >= since)
        count = select(func.count()).select_from(audit).where(*conditions)
        query = select(audit).where(*conditions).order_by(audit.c.id.desc()).limit(limit).offset(offset)

        def read(connection: Connection) -> tuple[int, list[Entry]]:
            entries = [from_row(Entry, row) for row in connection.execute(query)]
            return connection.execute(count).scalar_one(), entries

        return self._scope.read(read)
