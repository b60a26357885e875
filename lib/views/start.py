"""A person's start page."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from lib.database import reading, transact
from lib.views.models import SavedView
from lib.views.saved import SavedViews
from lib.views.scope import SECONDS, Scope
from lib.views.tables import start_views
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest


@dataclass(frozen=True)
class StartView:
    """The saved view that a person chose as start page."""

    scope: Scope

    def get(self) -> SavedView | None:
        """The view; None without one, or if the person may no longer see it."""
        added = self.scope.person.added

        def within(connection: Connection) -> int | None:
            row = connection.execute(select(start_views).where(*self._mine())).one_or_none()
            return None if row is None or (added is not None and row.at < added) else int(row.view_id)

        number = reading(self.scope.engine, within, Deadline(SECONDS))
        return None if number is None else SavedViews(self.scope).get(number)

    def set(self, number: int | None) -> None:
        """Set the start page, or remove it with None. BadRequest if the person can't see the view."""
        if number is not None and SavedViews(self.scope).get(number) is None:
            raise BadRequest("This view is not there any more")

        def within(connection: Connection) -> None:
            connection.execute(delete(start_views).where(*self._mine()))
            if number is not None:
                values = {"username": self.scope.person.username, "service": self.scope.service}
                connection.execute(insert(start_views).values(**values, view_id=number, at=datetime.now(UTC)))

        transact(self.scope.engine, within, Deadline(SECONDS))

    def _mine(self) -> tuple[Any, ...]:
        mine = start_views.c.username == self.scope.person.username
        return mine, start_views.c.service == self.scope.service
