"""Actions on packages and deals, with what each row was before and after: what Undo works from.

They are kept in the desk's own database whatever service answers, for 30 days, and not without end: the
service itself keeps the history of each entity.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    ForeignKey,
    Index,
    String,
    Table,
    Text,
    delete,
    func,
    insert,
    select,
    update,
)

from lib.database import (
    DatabaseScope,
    Document,
    Instant,
    Key,
    keys,
    metadata,
    numbered_table,
    optional,
    required,
)
from lib.deals.client import to_json
from lib.deals.models import shorten
from lib.people import Person
from lib.people.tables import made_by
from lib.wire.errors import BadRequest

BATCH_SIZE = 500
LONGEST_TITLE = 100
DAYS = 30  # after which an action can't be undone
MOST_ACTIONS = 1_000
MOST_ROWS = 500_000  # of all actions together

bulk_actions = numbered_table(
    "bulk_actions", *required(service=String(500), title=String(LONGEST_TITLE), who=String(64), at=Instant),
    *optional(undone_by=String(64), undone_at=Instant), Index(None, "service", "at"),
)  # fmt: skip

bulk_action_rows = Table(
    "bulk_action_rows", metadata,
    Column("action_id", Key, ForeignKey("bulk_actions.id", ondelete="CASCADE"), primary_key=True),
    *keys(entity=String(40), entity_id=BigInteger),
    *required(name=Text, before=Document, after=Document, is_undone=Boolean),
)  # fmt: skip

RowKey = tuple[str, int]


@dataclass(frozen=True)
class ActionRow:
    """A package or deal that an action changed: these fields before and after, as requests carry them."""

    key: RowKey
    name: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]


@dataclass(frozen=True)
class BulkAction:
    """An action: `title` is what was done ("Paused"), `counts` to how many of which entity.

    `count` rows can still be undone; `undone_by` is who did that last.
    """

    number: int
    title: str
    who: str
    at: datetime
    counts: Mapping[str, int]
    count: int
    undone_by: str | None = None
    undone_at: datetime | None = None


@dataclass(frozen=True)
class BulkActions(DatabaseScope):
    """The actions on the deals of the service at `service` (empty: the embedded one), for one person.

    A person sees their own, and everybody's if they may change the deals of all seats: names of deals are in
    them.
    """

    service: str
    person: Person

    def record(self, title: str) -> "ActionRecord":
        """A new action, which is stored once it has touched something; a long title is cut."""
        return ActionRecord(self, shorten(title, LONGEST_TITLE))

    def recent(self) -> list[BulkAction]:
        """The actions, latest first."""
        rows = bulk_action_rows.c
        counts = (
            select(
                bulk_actions, rows.entity, func.count().label("whole"),
                func.count().filter(~rows.is_undone).label("open"),
            )
            .join(bulk_action_rows, rows.action_id == bulk_actions.c.id)
            .where(*self._visible(), bulk_actions.c.at >= (datetime.now(UTC) - timedelta(days=DAYS)))
            .group_by(*bulk_actions.c, rows.entity)
            .order_by(bulk_actions.c.id.desc(), rows.entity)
        )  # fmt: skip
        if not self.person.deals.writes:
            return []
        return [
            BulkAction(
                number, parts[0].title, parts[0].who, parts[0].at,
                {part.entity: part.whole for part in parts}, sum(part.open for part in parts),
                parts[0].undone_by, parts[0].undone_at,
            )
            for number, counts_of_action in groupby(self.rows(counts), lambda row: row.id)
            for parts in [[*counts_of_action]]
        ]  # fmt: skip

    def open_rows(self, number: int) -> list[ActionRow]:
        """The rows of an action that are not undone. BadRequest for one that is gone, or not to be seen."""
        rows = bulk_action_rows.c

        def read(connection: Connection) -> list[ActionRow]:
            self._check(connection, number)
            query = select(bulk_action_rows).where(rows.action_id == number, ~rows.is_undone)
            return [
                ActionRow((row.entity, row.entity_id), row.name, row.before, row.after)
                for row in connection.execute(query.order_by(rows.entity, rows.entity_id))
            ]

        return self.read(read)

    def mark_undone(self, number: int, keys: Collection[RowKey]) -> None:
        """Note that these rows are as they were before, and who has seen to it."""
        with self.write() as connection:
            self._check(connection, number)
            values = {"undone_by": self.person.username, "undone_at": datetime.now(UTC)}
            connection.execute(update(bulk_actions).where(bulk_actions.c.id == number).values(values))
            for rows in _conditions(number, keys):
                connection.execute(update(bulk_action_rows).where(*rows).values(is_undone=True))

    def _visible(self) -> tuple[Any, ...]:
        table = bulk_actions.c
        own = [] if self.person.deals.seats is None else made_by(self.person, table.who, table.at)
        return table.service == self.service, *own

    def _check(self, connection: Connection, number: int) -> None:
        """Forbidden for who may change no deals, BadRequest without such an action."""
        self.person.check_writes_deals()
        query = select(bulk_actions.c.id).where(*self._visible(), bulk_actions.c.id == number)
        if connection.execute(query).one_or_none() is None:
            raise BadRequest("This action can't be undone any more")


@dataclass
class ActionRecord:
    """One action while it runs: rows are added before they are sent, and dropped where they were not saved.

    So whatever breaks off in between, what was touched is known. `number` is None until something was added.
    """

    actions: BulkActions
    title: str
    number: int | None = None

    def add(self, rows: Sequence[ActionRow]) -> None:
        """Store rows, in place of what was stored of the same ones; Forbidden for who may change nothing."""
        if not rows:
            return
        self.actions.person.check_writes_deals()
        with self.actions.write() as connection:
            number = self.number or self._begin(connection)
            for conditions in _conditions(number, [row.key for row in rows]):
                connection.execute(delete(bulk_action_rows).where(*conditions))
            values = [
                {
                    "action_id": number, "entity": row.key[0], "entity_id": row.key[1], "name": row.name,
                    "before": to_json(row.before), "after": to_json(row.after), "is_undone": False,
                }
                for row in rows
            ]  # fmt: skip
            connection.execute(insert(bulk_action_rows), values)
        self.number = number

    def drop(self, keys: Collection[RowKey]) -> None:
        if self.number is not None and keys:
            conditions = _conditions(self.number, keys)
            self.actions.execute(*(delete(bulk_action_rows).where(*rows) for rows in conditions))

    def _begin(self, connection: Connection) -> int:
        """Store a new action, and delete those that are too old or too many; returns its number."""
        rows = bulk_action_rows.c
        count = 0
        sizes = (
            select(bulk_actions.c.id, bulk_actions.c.at, func.count(rows.action_id).label("size"))
            .outerjoin(bulk_action_rows, rows.action_id == bulk_actions.c.id)
            .group_by(bulk_actions.c.id, bulk_actions.c.at)
            .order_by(bulk_actions.c.id.desc())
        )
        for action_count, action in enumerate(connection.execute(sizes).all(), start=1):
            count += action.size
            if (
                action_count >= MOST_ACTIONS
                or count > MOST_ROWS
                or action.at < (datetime.now(UTC) - timedelta(days=DAYS))
            ):
                connection.execute(delete(bulk_action_rows).where(rows.action_id == action.id))
                connection.execute(delete(bulk_actions).where(bulk_actions.c.id == action.id))
        statement = insert(bulk_actions).values(
            service=self.actions.service,
            title=self.title,
            who=self.actions.person.username,
            at=datetime.now(UTC),
        )
        return int(connection.execute(statement.returning(bulk_actions.c.id)).scalar_one())


def _conditions(number: int, keys: Collection[RowKey]) -> Iterable[tuple[Any, ...]]:
    """Conditions for these rows of an action, some hundred ids each."""
    rows = bulk_action_rows.c
    for entity in sorted({entity for entity, _ in keys}):
        ids = [number for kind, number in keys if kind == entity]
        for first in range(0, len(ids), BATCH_SIZE):
            batch = ids[first : first + BATCH_SIZE]
            yield rows.action_id == number, rows.entity == entity, rows.entity_id.in_(batch)
