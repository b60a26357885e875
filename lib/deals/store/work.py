"""Shared by all steps of one request: the connection, the time, and the caller."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, Table, delete, insert, select

from lib.deals.store.scope import DealsScope

Fields = dict[str, Any]
EntityKey = tuple[str, int]


@dataclass(frozen=True)
class Work:
    """One transaction of one caller. `now` is in whole seconds, in UTC: the API's times are.

    `report` is what the health of deals is read from, in a list.
    """

    connection: Connection
    now: datetime
    scope: DealsScope
    report: tuple[str, str] = ("", "")

    @classmethod
    def of(cls, connection: Connection, scope: DealsScope) -> "Work":
        """Now."""
        return cls(connection, datetime.now(UTC).replace(microsecond=0), scope)

    @property
    def who(self) -> str:
        """The caller's name."""
        return self.scope.who

    def rows(self, question: Select[Any]) -> list[Row[Any]]:
        """All rows of the query."""
        return [*self.connection.execute(question)]

    def named(self, table: Table, ids: Collection[int | None]) -> dict[int, str]:
        """Id → name of existing rows."""
        return self._names(select(table.c.id, table.c.name), table, ids)

    def seen(self, table: Table, ids: Collection[int | None]) -> dict[int, str]:
        """Id → name of rows that the caller may see."""
        return self._names(select(table.c.id, table.c.name).where(*self.scope.seen(table)), table, ids)

    def insert(self, table: Table, values: Mapping[str, Any]) -> int:
        """A new entity's row, at its first version; returns its id."""
        result = self.connection.execute(insert(table).values(self._whole(table, values)))
        return int(result.inserted_primary_key[0])  # type: ignore[index]

    def insert_many(self, table: Table, rows: Sequence[Fields]) -> list[Fields]:
        """New entities' rows with the same columns; returns them with their ids."""
        whole = [self._whole(table, row) for row in rows]
        question = insert(table).returning(table.c.id, sort_by_parameter_order=True)
        ids = self.connection.execute(question, whole).scalars()
        return [{**row, "id": one} for row, one in zip(whole, ids, strict=True)]

    def _whole(self, table: Table, values: Mapping[str, Any]) -> Fields:
        """The row with the columns that every entity has."""
        stamps = {"version": 1, "created_at": self.now, "updated_at": self.now}
        maker = {"made_by": self.who, "made_with": self.scope.token} if "made_by" in table.c else {}
        return {**values, **stamps, **maker}

    def relink(self, table: Table, owner: tuple[str, int], others: list[Fields]) -> None:
        """Make `others` the only rows of that owner (column, id) in a table of links."""
        column, entity_id = owner
        self.connection.execute(delete(table).where(table.c[column] == entity_id))
        if others:
            self.connection.execute(insert(table), [{column: entity_id, **other} for other in others])

    def _names(self, question: Select[Any], table: Table, ids: Collection[int | None]) -> dict[int, str]:
        present = {one for one in ids if one is not None}
        if not present:
            return {}
        return {row.id: row.name for row in self.rows(question.where(table.c.id.in_(present)))}
