"""The store of saved views: a person sees their own and the shared ones, and changes their own."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from lib.database import reading, transact
from lib.views.models import LONGEST_NAME, SavedView, fitting, named
from lib.views.scope import SECONDS, Scope
from lib.views.tables import saved_views
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest

MOST_VIEWS = 200


@dataclass(frozen=True)
class SavedViews:
    """The saved views that one person may see."""

    scope: Scope

    def of(self, project: str, slicer: str) -> list[SavedView]:
        """A slicer's views, by name; AccessError if the person may not see the slicer."""
        about = self.scope.about(saved_views, project, slicer)
        question = (
            select(saved_views).where(*about).order_by(func.lower(saved_views.c.name), saved_views.c.id)
        )

        def within(connection: Connection) -> list[SavedView]:
            return [self._view(row) for row in connection.execute(question) if self.scope.sees(row)]

        return reading(self.scope.engine, within, Deadline(SECONDS))

    def get(self, number: int) -> SavedView | None:
        """The view, or None if it does not exist or the person may not see it."""

        def within(connection: Connection) -> SavedView | None:
            row = _row(connection, number)
            return None if row is None or not self.scope.sees(row) else self._view(row)

        return reading(self.scope.engine, within, Deadline(SECONDS))

    def save(
        self, project: str, slicer: str, name: str, params: Mapping[str, str], is_shared: bool = False
    ) -> SavedView:
        """Store a question under a new name.

        BadRequest for a name that is empty, long or taken by another view of the person, and beyond 200 views
        of a slicer; AccessError if the person may not see the slicer.
        """
        self.scope.about(saved_views, project, slicer)
        now, owner = datetime.now(UTC), self.scope.person.username
        values: dict[str, Any] = {
            "service": self.scope.service, "project": project, "slicer": slicer,
            "name": named(name, LONGEST_NAME, "The name"), "params": fitting(params),
            "owner": owner, "is_shared": is_shared, "created": now, "changed": now,
        }  # fmt: skip

        def within(connection: Connection) -> SavedView:
            others = self._mine(connection, project, slicer)
            _check_name(values["name"], others)
            if len(others) >= MOST_VIEWS:
                raise BadRequest(f"You have {MOST_VIEWS} views of this slicer: delete one first")
            adding = insert(saved_views).values(values).returning(saved_views)
            return self._view(connection.execute(adding).one())

        return transact(self.scope.engine, within, Deadline(SECONDS))

    def change(
        self,
        number: int,
        name: str | None = None,
        params: Mapping[str, str] | None = None,
        is_shared: bool | None = None,
    ) -> SavedView:
        """Partial update; BadRequest and AccessError as for a new view, and for another person's."""
        wanted: dict[str, Any] = {
            "name": None if name is None else named(name, LONGEST_NAME, "The name"),
            "params": None if params is None else fitting(params),
            "is_shared": is_shared,
        }
        values = {column: value for column, value in wanted.items() if value is not None}

        def within(connection: Connection) -> SavedView:
            row = self.scope.changeable(_row(connection, number), "view")
            if "name" in values and self.scope.owns(row.owner, row.created):
                others = self._mine(connection, row.project, row.slicer)
                _check_name(values["name"], [other for other in others if other.id != number])
            where = saved_views.c.id == number
            changing = update(saved_views).where(where).values(values | {"changed": datetime.now(UTC)})
            return self._view(connection.execute(changing.returning(saved_views)).one())

        return transact(self.scope.engine, within, Deadline(SECONDS))

    def delete(self, number: int) -> None:
        """Delete a view, and start pages with it; BadRequest and AccessError as for a change."""

        def within(connection: Connection) -> None:
            self.scope.changeable(_row(connection, number), "view")
            connection.execute(delete(saved_views).where(saved_views.c.id == number))

        transact(self.scope.engine, within, Deadline(SECONDS))

    def _mine(self, connection: Connection, project: str, slicer: str) -> list[SavedView]:
        about = self.scope.about(saved_views, project, slicer)
        views = [self._view(row) for row in connection.execute(select(saved_views).where(*about))]
        return [view for view in views if view.is_mine]

    def _view(self, row: Row[Any]) -> SavedView:
        values = {name: value for name, value in row._mapping.items() if name != "service"}
        return SavedView(**values, is_mine=self.scope.owns(row.owner, row.created))


def _check_name(name: str, others: list[SavedView]) -> None:
    if any(other.name.lower() == name.lower() for other in others):
        raise BadRequest(f"You have a view named '{name}' already: choose another name, or update that one")


def _row(connection: Connection, number: int) -> Row[Any] | None:
    return connection.execute(select(saved_views).where(saved_views.c.id == number)).one_or_none()
