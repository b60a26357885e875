"""The store of named entries: a person sees their own and the shared ones, and changes their own."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar, Generic, TypeVar

from sqlalchemy import Connection, Row, Table, delete, func, insert, select, update

from lib.database import reading, transact
from lib.views.models import LONGEST_NAME, DealEntry, SavedView, check_name
from lib.views.scope import SECONDS, Scope
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest

MOST = 200


Entry = TypeVar("Entry", SavedView, DealEntry)


@dataclass(frozen=True)
class NamedEntries(ABC, Generic[Entry]):
    """The entries of a table that one person may see; `noun` is what one is called, `nouns` several."""

    scope: Scope
    table: ClassVar[Table]
    entity_store: ClassVar[str]
    nouns: ClassVar[str]

    @abstractmethod
    def entry(self, row: Row[Any]) -> Entry:
        """A row as this person sees it."""

    @abstractmethod
    def beside(self, row: Row[Any]) -> tuple[Any, ...]:
        """The condition for the rows among which the name of a row stands once for its owner."""

    def get(self, number: int) -> Entry | None:
        """The entry, or None if it does not exist or the person may not see it."""

        def within(connection: Connection) -> Entry | None:
            row = self._row(connection, number)
            return None if row is None or not self.scope.sees(row) else self.entry(row)

        return reading(self.scope.engine, within, Deadline(SECONDS))

    def delete(self, number: int) -> None:
        """Delete an entry, and what depends on it; BadRequest and AccessError as for a change."""

        def within(connection: Connection) -> None:
            self.scope.changeable(self._row(connection, number), self.entity_store)
            connection.execute(delete(self.table).where(self.table.c.id == number))

        transact(self.scope.engine, within, Deadline(SECONDS))

    def rename(self, number: int, name: str, is_shared: bool) -> Entry:
        """Change name and sharing; BadRequest and AccessError as for a change."""
        return self._change(
            number, {"name": check_name(name, LONGEST_NAME, "The name"), "is_shared": is_shared}
        )

    def _of(self, about: tuple[Any, ...]) -> list[Entry]:
        """The entries under this condition that the person sees, by name."""
        names = func.lower(self.table.c.name), self.table.c.id
        question = select(self.table).where(*about).order_by(*names)

        def within(connection: Connection) -> list[Entry]:
            return [self.entry(row) for row in connection.execute(question) if self.scope.sees(row)]

        return reading(self.scope.engine, within, Deadline(SECONDS))

    def _save(self, values: Mapping[str, Any], about: tuple[Any, ...]) -> Entry:
        """Store a new entry of the person; BadRequest for a name that is taken, and beyond MOST."""
        now = datetime.now(UTC)
        fields = {**values, "name": check_name(values["name"], LONGEST_NAME, "The name")}
        fields |= {
            "service": self.scope.service,
            "owner": self.scope.person.username,
            "created": now,
            "changed": now,
        }

        def within(connection: Connection) -> Entry:
            others = self._mine(connection, about)
            self._check_name(fields["name"], others)
            if len(others) >= MOST:
                raise BadRequest(f"You have {MOST} {self.nouns}: delete one first")
            return self.entry(
                connection.execute(insert(self.table).values(fields).returning(self.table)).one()
            )

        return transact(self.scope.engine, within, Deadline(SECONDS))

    def _change(self, number: int, values: Mapping[str, Any]) -> Entry:
        """Partial update; BadRequest for a name that is taken, AccessError for another person's entry."""

        def within(connection: Connection) -> Entry:
            row = self.scope.changeable(self._row(connection, number), self.entity_store)
            if "name" in values and self.scope.owns(row.owner, row.created):
                others = self._mine(connection, self.beside(row))
                self._check_name(values["name"], [other for other in others if other.id != number])
            changing = update(self.table).where(self.table.c.id == number)
            statement = changing.values({**values, "changed": datetime.now(UTC)})
            return self.entry(connection.execute(statement.returning(self.table)).one())

        return transact(self.scope.engine, within, Deadline(SECONDS))

    def _mine(self, connection: Connection, about: tuple[Any, ...]) -> list[Entry]:
        entries = [self.entry(row) for row in connection.execute(select(self.table).where(*about))]
        return [one for one in entries if one.is_mine]

    def _row(self, connection: Connection, number: int) -> Row[Any] | None:
        return connection.execute(select(self.table).where(self.table.c.id == number)).one_or_none()

    def _check_name(self, name: str, others: list[Entry]) -> None:
        if any(other.name.lower() == name.lower() for other in others):
            sentence = f"You have a {self.entity_store} named '{name}' already"
            raise BadRequest(f"{sentence}: choose another name, or update that one")
