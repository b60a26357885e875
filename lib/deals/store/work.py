"""One request of one caller: its transaction, its time, and what the caller may see.

Entities are read, changed and removed through a `Work` alone, which is made for a caller: what they may not
see is not there for them. A deal is seen by who may see its seat. A package is seen by who may see one of its
deals, or made it. A DSP is seen with its seats. Lists of domains and apps belong to no seat: everybody who
may see deals sees them.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    Table,
    and_,
    delete,
    insert,
    or_,
    select,
    update,
)

from lib.deals.store import tables as t
from lib.deals.validation import Problems
from lib.wire.errors import Conflict

Condition = ColumnElement[bool]
Fields = dict[str, Any]
EntityKey = tuple[str, int]
KEPT_FOR = timedelta(days=1)
LONGEST = 255


@dataclass(frozen=True)
class DealsScope:
    """The caller, and the seats (by id) whose deals they may see; None: all seats.

    `since` is when that person was added: what a namesake made before is not theirs. `token` is the number
    of a token that is itself for some seats alone: of the packages it sees those that it made, not those
    that its owner made otherwise. `token_name` is that of any permanent token, for the history. `may_see`
    says whether they may see all rows of a slicer (project, name).
    """

    who: str = ""
    seats: frozenset[int] | None = None
    since: datetime | None = None
    token: int | None = None
    token_name: str | None = None
    may_see: Callable[[str, str], bool] = lambda project, slicer: True

    @property
    def is_limited(self) -> bool:
        """Whether the caller is limited to some seats."""
        return self.seats is not None

    def visibility(self, table: Table) -> tuple[Condition, ...]:
        """Conditions on a table for the entities that the caller may see; none if they see all."""
        if self.seats is None or table.name not in _VISIBILITY:
            return ()
        return (_VISIBILITY[table.name](self),)

    def has_seat(self, seat_id: int | None) -> bool:
        """Whether the caller may see the deals of this seat."""
        return self.seats is None or seat_id in self.seats

    def ownership(self, table: Table) -> Condition:
        """The condition for packages that the caller created."""
        if self.token is not None:
            return table.c.made_with == self.token
        mine = table.c.made_by == self.who
        return mine if self.since is None else and_(mine, table.c.created_at >= self.since)


def _of_seats(scope: DealsScope, *columns: ColumnElement[Any]) -> Select[Any]:
    return select(*columns).where(t.demand_deals.c.seat_id.in_(scope.seats or ()))


def _supply(scope: DealsScope) -> Condition:
    links = t.supply_package_deals.c
    package_ids = _of_seats(scope, links.supply_package_id).join(
        t.supply_package_deals, links.demand_deal_id == t.demand_deals.c.id
    )
    return or_(t.supply_packages.c.id.in_(package_ids), scope.ownership(t.supply_packages))


def _packages(scope: DealsScope) -> Condition:
    column = t.demand_deals.c.package_id
    package_ids = _of_seats(scope, column).where(column.is_not(None))
    return or_(t.packages.c.id.in_(package_ids), scope.ownership(t.packages))


_VISIBILITY: dict[str, Callable[[DealsScope], Condition]] = {
    "demand_deals": lambda scope: t.demand_deals.c.seat_id.in_(scope.seats or ()),
    "supply_packages": _supply,
    "packages": _packages,
    "seats": lambda scope: t.seats.c.id.in_(scope.seats or ()),
    "dsps": lambda scope: t.dsps.c.id.in_(
        select(t.seats.c.dsp_id).where(t.seats.c.id.in_(scope.seats or ()))
    ),
}


@dataclass(frozen=True)
class Work:
    """One transaction of one caller. `now` is in whole seconds, in UTC: the API's times are.

    `report` is what the health of deals is read from, in a list; `usual_terms` are those of deals without
    terms of their own, by the field. With `trial_ids` it is rolled back: its rows get these ids, so that no
    sequence goes on.
    """

    connection: Connection
    now: datetime
    scope: DealsScope
    report: tuple[str, str] = ("", "")
    usual_terms: Mapping[str, str] = field(default_factory=dict)
    trial_ids: Iterator[int] | None = None

    @classmethod
    def of(
        cls, connection: Connection, scope: DealsScope, usual_terms: Mapping[str, str] | None = None
    ) -> "Work":
        now = datetime.now(UTC).replace(microsecond=0)
        return cls(connection, now, scope, usual_terms=usual_terms or {})

    @property
    def currency(self) -> str:
        return self.usual_terms.get("currency", "")

    @property
    def who(self) -> str:
        return self.scope.who

    def as_trial(self) -> "Work":
        """The same transaction for writes that are rolled back."""
        return replace(self, trial_ids=count(-1, -1))

    def rows(self, question: Select[Any]) -> list[Row[Any]]:
        return [*self.connection.execute(question)]

    def without_limits(self) -> "Work":
        """The same transaction without limits to seats: for the history, and for what others depend on."""
        return replace(self, scope=replace(self.scope, seats=None))

    def names(self, table: Table, ids: Collection[int | None]) -> dict[int, str]:
        """Id → name of the rows that the caller may see."""
        present = {entity_id for entity_id in ids if entity_id is not None}
        if not present:
            return {}
        visible = (table.c.id.in_(present), *self.scope.visibility(table))
        return {row.id: row.name for row in self.rows(select(table.c.id, table.c.name).where(*visible))}

    def insert(self, table: Table, values: Mapping[str, Any]) -> int:
        """A new entity's row, at its first version; returns its id."""
        result = self.connection.execute(insert(table).values(self._whole(table, values)))
        return int(result.inserted_primary_key[0])  # type: ignore[index]

    def insert_many(self, table: Table, rows: Sequence[Fields]) -> list[Fields]:
        """New entities' rows with the same columns; returns them with their ids."""
        whole = [self._whole(table, row) for row in rows]
        question = insert(table).returning(table.c.id, sort_by_parameter_order=True)
        ids = self.connection.execute(question, whole).scalars()
        return [{**row, "id": entity_id} for row, entity_id in zip(whole, ids, strict=True)]

    def _whole(self, table: Table, values: Mapping[str, Any]) -> Fields:
        stamps = {"version": 1, "created_at": self.now, "updated_at": self.now}
        maker = {"made_by": self.who, "made_with": self.scope.token} if "made_by" in table.c else {}
        trial = {} if self.trial_ids is None else {"id": next(self.trial_ids)}
        return {**values, **stamps, **maker, **trial}

    def relink(self, table: Table, owner: tuple[str, int], others: list[Fields]) -> None:
        """Make `others` the only rows of that owner (column, id) in a table of links."""
        column, entity_id = owner
        self.connection.execute(delete(table).where(table.c[column] == entity_id))
        if others:
            self.connection.execute(insert(table), [{column: entity_id, **other} for other in others])


@dataclass(frozen=True)
class IdempotentRequest:
    """A request that must happen only once: its caller, key and body."""

    key: str
    entity: str
    body: Any

    def first_answer(self, work: Work, problems: Problems) -> tuple[Fields, str] | None:
        """The response and ETag of the first such request; None if this is the first.

        Invalid for what is no key; Conflict, saying what differs, if the key came with another request.
        """
        if not 0 < len(self.key) <= LONGEST or not self.key.isascii() or not self.key.isprintable():
            problems.add((), f"An Idempotency-Key is 1 to {LONGEST} visible characters of ASCII.")
        problems.check()
        mine = (t.idempotency_keys.c.owner == work.who, t.idempotency_keys.c.key == self.key)
        row = work.connection.execute(select(t.idempotency_keys).where(*mine)).one_or_none()
        if row is not None and work.scope.since is not None and row.at < work.scope.since:
            # Of a namesake who was removed: an account made since has none of its keys.
            work.connection.execute(delete(t.idempotency_keys).where(*mine))
            return None
        if row is None or row.at <= work.now - KEPT_FOR:
            return None
        if row.entity != self.entity or row.body != self.body:
            if row.entity != self.entity:
                difference = f"it was about {row.entity}"
            elif not isinstance(self.body, dict):
                difference = "this one's body is no object"
            else:
                names = {**row.body, **self.body}
                differences = [name for name in names if row.body.get(name) != self.body.get(name)]
                difference = f"it differs in {', '.join(differences)}"
            raise Conflict(f"This Idempotency-Key was used before, for another request: {difference}")
        return row.answer, row.etag

    def remember(self, work: Work, answer: Fields, etag: str) -> None:
        """Store the response for a day, and delete older ones."""
        work.connection.execute(
            delete(t.idempotency_keys).where(t.idempotency_keys.c.at <= work.now - KEPT_FOR)
        )
        values = {"owner": work.who, "key": self.key, "entity": self.entity, "body": self.body}
        values |= {"answer": answer, "etag": etag, "at": work.now}
        work.connection.execute(insert(t.idempotency_keys).values(values))

    def amend(self, work: Work, answer: Fields) -> None:
        """Store what was added to the response once its transaction had ended."""
        mine = (t.idempotency_keys.c.owner == work.who, t.idempotency_keys.c.key == self.key)
        work.connection.execute(update(t.idempotency_keys).where(*mine).values(answer=answer))
