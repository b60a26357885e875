"""The leaderboards that a person chose for a slicer, used unless a link names others."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from lib.database import reading, transact
from lib.views.models import LONGEST_PARAMS
from lib.views.scope import SECONDS, Scope
from lib.views.tables import chosen_cards
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest


@dataclass(frozen=True)
class ChosenCards:
    """A person's choices: a text per slicer, as in links."""

    scope: Scope

    def get(self, project: str, slicer: str) -> str:
        """The choice, or an empty text. AccessError if the person may not see the slicer."""
        mine, added = self._mine(project, slicer), self.scope.person.added

        def within(connection: Connection) -> str:
            row = connection.execute(select(chosen_cards).where(*mine)).one_or_none()
            return "" if row is None or (added is not None and row.at < added) else str(row.cards)

        return reading(self.scope.engine, within, Deadline(SECONDS))

    def set(self, project: str, slicer: str, cards: str) -> None:
        """Store this choice; an empty text removes it. BadRequest if it is too long, AccessError as above."""
        mine = self._mine(project, slicer)
        if len(cards) > LONGEST_PARAMS:
            raise BadRequest(f"The leaderboards are too long to keep: {LONGEST_PARAMS:,} characters at most")
        values = {
            "username": self.scope.person.username, "service": self.scope.service, "project": project,
            "slicer": slicer, "cards": cards, "at": datetime.now(UTC),
        }  # fmt: skip

        def within(connection: Connection) -> None:
            connection.execute(delete(chosen_cards).where(*mine))
            if cards:
                connection.execute(insert(chosen_cards).values(values))

        transact(self.scope.engine, within, Deadline(SECONDS))

    def _mine(self, project: str, slicer: str) -> tuple[ColumnElement[bool], ...]:
        about = self.scope.about(chosen_cards, project, slicer)
        return *about, chosen_cards.c.username == self.scope.person.username
