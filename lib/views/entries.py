"""The stores of named entries: a person sees their own and the shared ones, and changes their own.

Each store is for one person, and the slicers of one reporting service: its scope. The formulas of own metrics
are stored as text: whoever reads them checks them against the slicer, whose fields may change.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar, Generic, TypeVar

from sqlalchemy import Connection, Engine, Row, Table, delete, func, insert, select, update

from lib.database import DatabaseScope, from_row
from lib.people import Person
from lib.views.models import NamedEntry, OwnMetric, SavedView, checked_name, fitting
from lib.views.tables import own_metrics, saved_views
from lib.wire.errors import AccessError, BadRequest
from lib.wire.text import line

NOT_YOURS = "Only its owner or an administrator can do that"
MOST, LONGEST_NUMBER = 200, 18
LONGEST_FORMULA, LONGEST_UNIT, MOST_DIGITS = 2_000, 20, 6
NO_SHARING = "Only managers and administrators can share a metric, or change a shared one"
MANAGERS = ("manager", "admin")


Entry = TypeVar("Entry", bound=NamedEntry)


@dataclass(frozen=True)
class Scope(DatabaseScope):
    """A person and the desk's database; `service` is the remote reporting service, empty if embedded."""

    service: str
    person: Person

    def about(self, table: Table, project: str, slicer: str) -> tuple[Any, ...]:
        """The condition for rows about this slicer; AccessError if the person may not see it."""
        if not self.person.may_see(project, slicer):
            raise AccessError
        return table.c.service == self.service, table.c.project == project, table.c.slicer == slicer

    def owns(self, owner: str, created_at: datetime) -> bool:
        """Whether the row is this person's, and not an earlier person's of the same name."""
        return owner == self.person.username and self.person.had_name(created_at)

    def sees_of(self, owner: str | None, created_at: datetime, is_shared: bool | None) -> bool:
        """Whether the person sees what is of this owner: it is shared, or theirs. None: it is not there."""
        return bool(is_shared) or (owner is not None and self.owns(owner, created_at))

    def reaches(self, row: Row[Any]) -> bool:
        """Whether the row is about this service, and about a slicer that the person may see or about none."""
        is_open = "slicer" not in row._mapping or self.person.may_see(row.project, row.slicer)
        return bool(row.service == self.service and is_open)

    def sees(self, row: Row[Any] | None) -> bool:
        """Whether the row exists and the person may see it: what it is about, and it is not private."""
        if row is None or not self.reaches(row):
            return False
        return self.sees_of(row.owner, row.created, row._mapping.get("is_shared", True))

    def changeable(self, row: Row[Any] | None, what: str) -> Row[Any]:
        """The row; BadRequest if it does not exist or is hidden, AccessError if it is not theirs."""
        if row is None or not self.sees(row):
            raise BadRequest(f"This {what} is not there any more")
        if self.person.role != "admin" and not self.owns(row.owner, row.created):
            raise AccessError(NOT_YOURS)
        return row


@dataclass(frozen=True)
class NamedEntries(ABC, Generic[Entry]):
    """The entries of a table that one person may see; `label` is what one is called, `labels` several."""

    scope: Scope
    model: ClassVar[type[Any]]
    table: ClassVar[Table]
    label: ClassVar[str]
    labels: ClassVar[str]

    def entry(self, row: Row[Any]) -> Entry:
        """A row as this person sees it."""
        entry: Entry = from_row(self.model, row, is_mine=self.scope.owns(row.owner, row.created))
        return entry

    @abstractmethod
    def name_scope(self, row: Row[Any]) -> tuple[Any, ...]:
        """The condition for the rows among which the name of a row stands once for its owner."""

    def changeable(self, row: Row[Any] | None) -> Row[Any]:
        """The row, if the person may change it; BadRequest and AccessError as of the scope."""
        return self.scope.changeable(row, self.label)

    def get(self, number: int) -> Entry | None:
        """The entry, or None if it does not exist or the person may not see it."""
        row = self.scope.row(select(self.table).where(self.table.c.id == number))
        return None if row is None or not self.scope.sees(row) else self.entry(row)

    def delete(self, number: int) -> None:
        """Delete an entry, and what depends on it; BadRequest and AccessError as for a change."""
        with self.scope.write() as connection:
            self.changeable(self._row(connection, number))
            connection.execute(delete(self.table).where(self.table.c.id == number))

    def rename(self, number: int, name: str, is_shared: bool) -> Entry:
        """Change name and sharing; BadRequest and AccessError as for a change."""
        return self._change(number, {"name": checked_name(name), "is_shared": is_shared})

    def _of(self, about: tuple[Any, ...]) -> list[Entry]:
        """The entries under this condition that the person sees, by name."""
        query = select(self.table).where(*about).order_by(func.lower(self.table.c.name), self.table.c.id)
        return [self.entry(row) for row in self.scope.rows(query) if self.scope.sees(row)]

    def _save(self, values: Mapping[str, Any], about: tuple[Any, ...]) -> Entry:
        """Store a new entry of the person; BadRequest for a name that is taken, and beyond MOST."""
        now, owner = datetime.now(UTC), self.scope.person.username
        fields = {**values, "name": checked_name(values["name"]), "service": self.scope.service}
        fields |= {"owner": owner, "created": now, "changed": now}
        with self.scope.write() as connection:
            others = self._mine(connection, about)
            self._check_name(fields["name"], others)
            if len(others) >= MOST:
                raise BadRequest(f"You have {MOST} {self.labels}: delete one first")
            statement = insert(self.table).values(fields).returning(self.table)
            return self.entry(connection.execute(statement).one())

    def _change(self, number: int, values: Mapping[str, Any]) -> Entry:
        """Partial update; BadRequest for a name that is taken, AccessError for another person's entry."""
        with self.scope.write() as connection:
            row = self.changeable(self._row(connection, number))
            if "name" in values and self.scope.owns(row.owner, row.created):
                others = self._mine(connection, self.name_scope(row))
                self._check_name(values["name"], [other for other in others if other.id != number])
            change = update(self.table).where(self.table.c.id == number)
            statement = change.values({**values, "changed": datetime.now(UTC)})
            return self.entry(connection.execute(statement.returning(self.table)).one())

    def _mine(self, connection: Connection, about: tuple[Any, ...]) -> list[Entry]:
        entries = [self.entry(row) for row in connection.execute(select(self.table).where(*about))]
        return [entry for entry in entries if entry.is_mine]

    def _row(self, connection: Connection, number: int) -> Row[Any] | None:
        return connection.execute(select(self.table).where(self.table.c.id == number)).one_or_none()

    def _check_name(self, name: str, others: list[Entry]) -> None:
        if any(other.name.lower() == name.lower() for other in others):
            sentence = f"You have a {self.label} named '{name}' already"
            raise BadRequest(f"{sentence}: choose another name, or update that one")


def read_number(text: str) -> int | None:
    """The number of an entry in a text; None for what can't be one."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < LONGEST_NUMBER else None


def rows_by_name(table: Table, engine: Engine, service: str, text: str) -> list[Row[Any]]:
    """Everybody's entries of a service that have this name or number, for who works on the machine itself."""
    condition = table.c.name == text
    if (number := read_number(text)) is not None:
        condition |= table.c.id == number
    query = select(table).where(table.c.service == service, condition).order_by(table.c.id)
    return DatabaseScope(engine).rows(query)


@dataclass(frozen=True)
class SlicerEntries(NamedEntries[Entry]):
    """The entries of slicers that one person may see."""

    def of(self, project: str, slicer: str) -> list[Entry]:
        """A slicer's entries, by name; AccessError if the person may not see the slicer."""
        return self._of(self.scope.about(self.table, project, slicer))

    def name_scope(self, row: Row[Any]) -> tuple[Any, ...]:
        return self.scope.about(self.table, row.project, row.slicer)


@dataclass(frozen=True)
class SavedViews(SlicerEntries[SavedView]):
    """The saved views that one person may see."""

    model: ClassVar[type[SavedView]] = SavedView
    table: ClassVar[Table] = saved_views
    label: ClassVar[str] = "view"
    labels: ClassVar[str] = "views of this slicer"

    def all(self) -> list[SavedView]:
        """The views of all slicers, by name."""
        return self._of((saved_views.c.service == self.scope.service,))

    def save(
        self, project: str, slicer: str, name: str, params: Mapping[str, str], is_shared: bool = False
    ) -> SavedView:
        """Store a query under a new name.

        BadRequest for a name that is empty, long or taken by another view of the person, and beyond 200 views
        of a slicer; AccessError if the person may not see the slicer.
        """
        about = self.scope.about(saved_views, project, slicer)
        values = {"project": project, "slicer": slicer, "name": name, "params": fitting(params)}
        return self._save({**values, "is_shared": is_shared}, about)

    def change(
        self,
        number: int,
        name: str | None = None,
        params: Mapping[str, str] | None = None,
        is_shared: bool | None = None,
    ) -> SavedView:
        """Partial update; BadRequest and AccessError as for a new view, and for another person's."""
        fields: dict[str, Any] = {
            "name": None if name is None else checked_name(name),
            "params": None if params is None else fitting(params),
            "is_shared": is_shared,
        }
        return self._change(number, {column: value for column, value in fields.items() if value is not None})


@dataclass(frozen=True)
class OwnMetrics(SlicerEntries[OwnMetric]):
    """The own metrics that one person may see. `note` gets each change in words, for the audit log."""

    note: Callable[[str, str], None] = lambda event, detail: None
    model: ClassVar[type[OwnMetric]] = OwnMetric
    table: ClassVar[Table] = own_metrics
    label: ClassVar[str] = "metric"
    labels: ClassVar[str] = "metrics of this slicer"

    def save(
        self,
        project: str,
        slicer: str,
        name: str,
        formula: str,
        unit: str = "",
        digits: int = 2,
        is_shared: bool = False,
    ) -> OwnMetric:
        """Store a new metric; BadRequest and AccessError as for a view, and where a viewer shares one."""
        about = self.scope.about(own_metrics, project, slicer)
        values = _metric_values(name, formula, unit, digits, is_shared)
        self._check_sharing(is_shared)
        metric = self._save({"project": project, "slicer": slicer, **values}, about)
        self.note("metric added", _sentence(metric))
        return metric

    def change(
        self, number: int, name: str, formula: str, unit: str, digits: int, is_shared: bool
    ) -> OwnMetric:
        """Change a metric; BadRequest and AccessError as for a new one, and as `changeable`."""
        values = _metric_values(name, formula, unit, digits, is_shared)
        before = self.get(number)
        self._check_sharing(is_shared)
        metric = self._change(number, values)
        earlier = f"{_sentence(before)} → " if before else ""
        self.note("metric changed", f"{earlier}{_sentence(metric)}")
        return metric

    def delete(self, number: int) -> None:
        """Delete a metric; BadRequest and AccessError as for a change."""
        before = self.get(number)
        super().delete(number)
        if before is not None:
            self.note("metric removed", _sentence(before))

    def changeable(self, row: Row[Any] | None) -> Row[Any]:
        """A metric of one's own; a shared one for managers who may see the slicer."""
        if row is not None and self.scope.sees(row) and row.is_shared:
            self._check_sharing(True)
            return row
        return super().changeable(row)

    def _check_sharing(self, is_shared: bool) -> None:
        if is_shared and self.scope.person.role not in MANAGERS:
            raise AccessError(NO_SHARING)


def checked_unit(unit: str) -> str:
    """The unit in one line, empty for none; BadRequest for one that is too long."""
    return line(unit, "The unit", LONGEST_UNIT) if unit.strip() else ""


def _metric_values(name: str, formula: str, unit: str, digits: int, is_shared: bool) -> dict[str, Any]:
    """The values to store; BadRequest for what is missing, too long or out of range."""
    if not 0 <= digits <= MOST_DIGITS:
        raise BadRequest(f"A metric has 0 to {MOST_DIGITS} digits")
    values = {"name": checked_name(name), "formula": line(formula, "The formula", LONGEST_FORMULA)}
    return {**values, "unit": checked_unit(unit), "digits": digits, "is_shared": is_shared}


def _sentence(metric: OwnMetric) -> str:
    whose = "shared" if metric.is_shared else "personal"
    return f"{metric.project}/{metric.slicer}: {metric.name} = {metric.formula} ({whose})"
