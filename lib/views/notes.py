"""The store of notes on dates: everybody who may see a slicer can read and add its notes."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from lib.database import reading, transact
from lib.views.models import LONGEST_NOTE, Note, named
from lib.views.scope import SECONDS, Scope
from lib.views.tables import notes
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest

MOST_NOTES = 1000


@dataclass(frozen=True)
class Notes:
    """The notes that one person may see."""

    scope: Scope

    def of(self, project: str, slicer: str, first: date, last: date) -> list[Note]:
        """A slicer's notes on these days, in the order of days; AccessError without access to the slicer."""
        about = self.scope.about(notes, project, slicer)
        days = notes.c.day.between(first, last)
        question = select(notes).where(*about, days).order_by(notes.c.day, notes.c.id)

        def within(connection: Connection) -> list[Note]:
            return [self._note(row) for row in connection.execute(question)]

        return reading(self.scope.engine, within, Deadline(SECONDS))

    def add(self, project: str, slicer: str, day: date, text: str) -> Note:
        """Add a note; BadRequest for an empty or long text, AccessError without access."""
        about = self.scope.about(notes, project, slicer)
        values = {
            "service": self.scope.service, "project": project, "slicer": slicer, "day": day,
            "text": named(text, LONGEST_NOTE, "The text"),
            "owner": self.scope.person.username, "created": datetime.now(UTC),
        }  # fmt: skip

        def within(connection: Connection) -> Note:
            count = connection.execute(select(func.count()).select_from(notes).where(*about)).scalar_one()
            if count >= MOST_NOTES:
                raise BadRequest(f"This slicer has {MOST_NOTES:,} notes: delete one first")
            adding = insert(notes).values(values).returning(notes)
            return self._note(connection.execute(adding).one())

        return transact(self.scope.engine, within, Deadline(SECONDS))

    def change(self, number: int, day: date, text: str) -> Note:
        """Change day and text of a note; BadRequest and AccessError as for a new one, and as for `delete`."""
        values = {"day": day, "text": named(text, LONGEST_NOTE, "The text")}

        def within(connection: Connection) -> Note:
            row = connection.execute(select(notes).where(notes.c.id == number)).one_or_none()
            self.scope.changeable(row, "note")
            changing = update(notes).where(notes.c.id == number).values(values).returning(notes)
            return self._note(connection.execute(changing).one())

        return transact(self.scope.engine, within, Deadline(SECONDS))

    def delete(self, number: int) -> None:
        """Delete a note; BadRequest if it no longer exists, AccessError if it is another person's."""

        def within(connection: Connection) -> None:
            row = connection.execute(select(notes).where(notes.c.id == number)).one_or_none()
            self.scope.changeable(row, "note")
            connection.execute(delete(notes).where(notes.c.id == number))

        transact(self.scope.engine, within, Deadline(SECONDS))

    def _note(self, row: Row[Any]) -> Note:
        values = {name: value for name, value in row._mapping.items() if name != "service"}
        return Note(**values, is_mine=self.scope.owns(row.owner, row.created))
