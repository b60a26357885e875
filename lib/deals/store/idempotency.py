"""Idempotency keys: the key of a request, its body, and the first response."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, insert, select

from lib.deals.store.tables import idempotency_keys
from lib.deals.store.work import Fields, Work
from lib.deals.validation import Problems
from lib.wire.errors import Conflict

KEPT_FOR = timedelta(days=1)
LONGEST = 255


@dataclass(frozen=True)
class Once:
    """A request that must happen only once: its caller, key and body."""

    key: str
    entity: str
    body: Any

    def first_answer(self, work: Work, problems: Problems) -> tuple[Fields, str] | None:
        """The response and ETag of the first such request; None if this is the first.

        Invalid for what is no key; Conflict, saying what differs, if the key came with another request.
        """
        if not 0 < len(self.key) <= LONGEST or not self.key.isascii() or not self.key.isprintable():
            problems.add((), f"An Idempotency-Key is 1 to {LONGEST} visible characters of ASCII.")
        problems.check()
        mine = (idempotency_keys.c.owner == work.who, idempotency_keys.c.key == self.key)
        row = work.connection.execute(select(idempotency_keys).where(*mine)).one_or_none()
        if row is not None and work.scope.since is not None and row.at < work.scope.since:
            work.connection.execute(delete(idempotency_keys).where(*mine))  # of a namesake who was removed
            return None
        if row is None or row.at <= work.now - KEPT_FOR:
            return None
        if row.entity != self.entity or row.body != self.body:
            raise Conflict(
                f"This Idempotency-Key was used before, for another request: {self._difference(row)}"
            )
        return row.answer, row.etag

    def remember(self, work: Work, answer: Fields, etag: str) -> None:
        """Store the response for a day, and delete older ones."""
        work.connection.execute(delete(idempotency_keys).where(idempotency_keys.c.at <= work.now - KEPT_FOR))
        values = {"owner": work.who, "key": self.key, "entity": self.entity, "body": self.body}
        values |= {"answer": answer, "etag": etag, "at": work.now}
        work.connection.execute(insert(idempotency_keys).values(values))

    def _difference(self, row: Any) -> str:
        if row.entity != self.entity:
            return f"it was about {row.entity}"
        if not isinstance(self.body, dict):
            return "this one's body is no object"
        names = [name for name in {**row.body, **self.body} if row.body.get(name) != self.body.get(name)]
        return f"it differs in {', '.join(names)}"
