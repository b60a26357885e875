"""What every step of one request shares: the connection, the time, and who asks."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, Table, delete, insert, select

Fields = dict[str, Any]
EntityKey = tuple[str, int]


@dataclass(frozen=True)
class Work:
    """One transaction of one person. `now` is in whole seconds, in UTC: the API's times are."""

    connection: Connection
    now: datetime
    who: str

    @classmethod
    def of(cls, connection: Connection, who: str) -> "Work":
        """Now."""
        return cls(connection, datetime.now(UTC).replace(microsecond=0), who)

    def rows(self, question: Select[Any]) -> list[Row[Any]]:
        """All rows that the question finds."""
        return [*self.connection.execute(question)]

    def named(self, table: Table, ids: Collection[int]) -> dict[int, str]:
        """Id → name of those rows that are there."""
        wanted = {one for one in ids if one is not None}
        if not wanted:
            return {}
        question = select(table.c.id, table.c.name).where(table.c.id.in_(wanted))
        return {row.id: row.name for row in self.rows(question)}

    def insert(self, table: Table, values: Mapping[str, Any]) -> int:
        """A new entity's row, at its first version; returns its id."""
        kept = {**values, "version": 1, "created_at": self.now, "updated_at": self.now}
        made = self.connection.execute(insert(table).values(kept))
        return int(made.inserted_primary_key[0])  # type: ignore[index]

    def relink(self, table: Table, owner: tuple[str, int], others: list[Fields]) -> None:
        """Make `others` the only rows of that owner (column, id) in a table of links."""
        column, entity_id = owner
        self.connection.execute(delete(table).where(table.c[column] == entity_id))
        if others:
            self.connection.execute(insert(table), [{column: entity_id, **other} for other in others])
