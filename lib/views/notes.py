"""Notes: texts of people on a day of a slicer, or on a saved view, where they are called comments."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, select, update

from lib.database import from_row
from lib.people import Person
from lib.views.entries import Scope
from lib.views.models import LONGEST_NOTE, Note
from lib.views.tables import notes, saved_views
from lib.wire.errors import BadRequest
from lib.wire.text import readable_line

MOST_NOTES = 1000
Conditions = tuple[ColumnElement[bool], ...]


def mentions(text: str, people: Iterable[Person]) -> list[Person]:
    """The people whose name for signing in stands in a text behind an @, in the order given."""
    lower_text = text.lower()
    # Patterns that don't find a name within an e-mail address or a longer name.
    patterns = ((who, rf"(?<![\w.@+-])@{re.escape(who.username.lower())}(?![\w@+-]|\.\w)") for who in people)
    return [person for person, pattern in patterns if re.search(pattern, lower_text)]


@dataclass(frozen=True)
class Notes:
    """The notes that one person may see."""

    scope: Scope

    def of(self, project: str, slicer: str, first: date, last: date) -> list[Note]:
        """A slicer's notes on these days, in the order of days; AccessError without access to the slicer."""
        about = *self.scope.about(notes, project, slicer), notes.c.view_id.is_(None)
        return self._all((*about, notes.c.day.between(first, last)))

    def on_views(self, project: str, slicer: str) -> dict[int, list[Note]]:
        """The comments on each view of a slicer that has any, the oldest first; AccessError as above."""
        by_view: dict[int, list[Note]] = {}
        for note in self._all((*self.scope.about(notes, project, slicer), notes.c.view_id.is_not(None))):
            if note.view_id is not None:
                by_view.setdefault(note.view_id, []).append(note)
        return by_view

    def add(self, project: str, slicer: str, day: date, text: str) -> Note:
        """Add a note; BadRequest for an empty or long text, AccessError without access."""
        about = *self.scope.about(notes, project, slicer), notes.c.view_id.is_(None)
        return self._add(about, project, slicer, day, text, None)

    def comment(self, view_id: int, text: str) -> Note:
        """Add a comment on a view; BadRequest as above, and for a view that this person can't see."""
        view = self.scope.row(select(saved_views).where(saved_views.c.id == view_id))
        if view is None or not self.scope.sees(view):
            raise BadRequest("This view is not there any more")
        today = datetime.now(UTC).date()
        return self._add((notes.c.view_id == view_id,), view.project, view.slicer, today, text, view_id)

    def change(self, number: int, day: date, text: str) -> Note:
        """Change day and text of a note; BadRequest and AccessError as for a new one, and as for `delete`."""
        values = {"day": day, "text": readable_line(text, "The text", LONGEST_NOTE)}
        with self.scope.write() as connection:
            self._changeable(connection, number)
            change = update(notes).where(notes.c.id == number).values(values).returning(notes)
            return self._note(connection.execute(change).one())

    def mentioned_people(self, note: Note, people: Iterable[Person]) -> list[Person]:
        """Those whom this person's note mentions, and who may see what it is about; never themselves."""
        table, number = (notes, note.id) if note.view_id is None else (saved_views, note.view_id)
        row = self.scope.row(select(table).where(table.c.id == number))
        others = (person for person in people if person.username != self.scope.person.username)
        return [who for who in mentions(note.text, others) if replace(self.scope, person=who).sees(row)]

    def delete(self, number: int) -> None:
        """Delete a note; BadRequest if it no longer exists, AccessError if it is another person's."""
        with self.scope.write() as connection:
            self._changeable(connection, number)
            connection.execute(delete(notes).where(notes.c.id == number))

    def _all(self, conditions: Conditions) -> list[Note]:
        """Notes in the order of days, without those on views that this person can't see."""
        view = [saved_views.c[name].label(f"view_{name}") for name in ("owner", "created", "is_shared")]
        query = select(notes, *view).select_from(notes.outerjoin(saved_views)).where(*conditions)
        rows = self.scope.rows(query.order_by(notes.c.day, notes.c.id))
        return [
            self._note(row)
            for row in rows
            if row.view_id is None or self.scope.sees_of(row.view_owner, row.view_created, row.view_is_shared)
        ]

    def _add(
        self, about: Conditions, project: str, slicer: str, day: date, text: str, view_id: int | None
    ) -> Note:
        values = {
            "service": self.scope.service, "project": project, "slicer": slicer, "day": day,
            "text": readable_line(text, "The text", LONGEST_NOTE), "view_id": view_id,
            "owner": self.scope.person.username, "created": datetime.now(UTC),
        }  # fmt: skip
        with self.scope.write() as connection:
            count = connection.execute(select(func.count()).select_from(notes).where(*about)).scalar_one()
            if count >= MOST_NOTES:
                what = "This slicer has" if view_id is None else "This view has"
                raise BadRequest(f"{what} {MOST_NOTES:,} notes: delete one first")
            return self._note(connection.execute(insert(notes).values(values).returning(notes)).one())

    def _changeable(self, connection: Connection, number: int) -> None:
        """Raises why this person may not change a note: as of the scope, and for a view they can't see."""
        row = connection.execute(select(notes).where(notes.c.id == number)).one_or_none()
        if row is not None and row.view_id is not None:
            query = select(saved_views).where(saved_views.c.id == row.view_id)
            row = row if self.scope.sees(connection.execute(query).one_or_none()) else None
        self.scope.changeable(row, "note")

    def _note(self, row: Row[Any]) -> Note:
        is_mine = self.scope.owns(row.owner, row.created)
        is_for_me = not is_mine and bool(mentions(row.text, [self.scope.person]))
        return from_row(Note, row, is_mine=is_mine, is_for_me=is_for_me)
