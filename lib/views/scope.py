"""The scope of all stores: one person, and the slicers of one reporting service."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, Row, Table

from lib.people import Person
from lib.wire.errors import AccessError, BadRequest

SECONDS = 10
NOT_YOURS = "Only its owner or an administrator can do that"


@dataclass(frozen=True)
class Scope:
    """A person and the desk's database; `service` is the remote reporting service, empty if embedded."""

    engine: Engine
    service: str
    person: Person

    def about(self, table: Table, project: str, slicer: str) -> tuple[Any, ...]:
        """The condition for rows about this slicer; AccessError if the person may not see it."""
        if not self.person.may_see(project, slicer):
            raise AccessError
        return table.c.service == self.service, table.c.project == project, table.c.slicer == slicer

    def owns(self, owner: str, created: datetime) -> bool:
        """Whether the row is this person's, and not an earlier person's of the same name."""
        added = self.person.added
        return owner == self.person.username and (added is None or created >= added)

    def reaches(self, row: Row[Any]) -> bool:
        """Whether the row is about this service, and the person may see its slicer."""
        return bool(row.service == self.service and self.person.may_see(row.project, row.slicer))

    def sees(self, row: Row[Any] | None) -> bool:
        """Whether the row exists and the person may see it: what it is about, and it is not private."""
        if row is None or not self.reaches(row):
            return False
        return bool(row._mapping.get("is_shared", True)) or self.owns(row.owner, row.created)

    def changeable(self, row: Row[Any] | None, what: str) -> Row[Any]:
        """The row; BadRequest if it does not exist or is hidden, AccessError if it is not theirs."""
        if row is None or not self.sees(row):
            raise BadRequest(f"This {what} is not there any more")
        if self.person.role != "admin" and not self.owns(row.owner, row.created):
            raise AccessError(NOT_YOURS)
        return row
