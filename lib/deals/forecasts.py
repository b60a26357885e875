"""The ledger of forecasts in the desk's own database: each with its range, and what came of it.

What a forecast is of is a document that is not read here. A row is added once per person, question and day,
and scored once: by whichever desk is first.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Engine,
    Float,
    Index,
    Row,
    String,
    Table,
    Text,
    insert,
    select,
    update,
)

from lib.database import Document, Instant, Key, metadata, reading, transact
from lib.people import Person
from lib.wire import exact
from lib.wire.deadline import Deadline

SECONDS, MOST_WAITING, MOST_SCORED_ROWS, MOST_ROWS = 10, 500, 1_000, 2_000
GIVEN_UP = timedelta(days=30)
Kind = Literal["targeting", "price", "proposal"]
KINDS: tuple[Kind, ...] = ("targeting", "price", "proposal")

forecasts = Table(
    "forecasts",
    metadata,
    Column("id", Key, primary_key=True),
    Column("service", String(500), nullable=False),
    Column("reporting", String(500), nullable=False),
    Column("kind", String(20), nullable=False),
    *(Column(name, String(200), nullable=False) for name in ("project", "slicer", "field")),
    *(Column(name, String(10), nullable=False) for name in ("first_day", "last_day", "data_day", "day")),
    Column("subject", Document, nullable=False),
    Column("digest", String(64), nullable=False),
    *(Column(name, Float(53), nullable=False) for name in ("estimate", "low", "high", "raw_low", "raw_high")),
    Column("scale", Float(53)),
    Column("by", String(64), nullable=False),
    Column("at", Instant, nullable=False),
    Column("entity", String(20)),
    Column("entity_id", BigInteger),
    Column("actual", Float(53)),
    Column("scored_at", Instant),
    Column("problem", Text, nullable=False),
    Index(None, "service", "reporting", "by", "digest", "day", unique=True),
    Index(None, "reporting", "scored_at"),
    Index(None, "entity", "entity_id"),
    sqlite_autoincrement=True,
)


@dataclass(frozen=True, kw_only=True)
class NewForecast:
    """A forecast of a data field from the first day to the last (ISO), as it was shown.

    `data_day` is the last day of the data that it is made of; empty where that is not known. `raw_low` and
    `raw_high` are its range before it was scaled by `scale`; None for a range that the desk did not make.
    """

    kind: Kind
    project: str
    slicer: str
    field: str
    first_day: str
    last_day: str
    data_day: str
    subject: dict[str, Any]
    estimate: float
    low: float
    high: float
    raw_low: float
    raw_high: float
    scale: float | None = None


@dataclass(frozen=True, kw_only=True)
class StoredForecast(NewForecast):
    """The same in the ledger: by whom and when, for which package, deal or proposal (`entity`).

    `actual` is what came of it, once it is scored. `problem` says why that is not known; with `scored_at` it
    never will be.
    """

    id: int
    by: str
    at: datetime
    entity: str | None
    entity_id: int | None
    actual: float | None
    scored_at: datetime | None
    problem: str

    @property
    def has_held(self) -> bool | None:
        """Whether the range that was shown held; None where that is not known."""
        return holds(self.low, self.high, self.actual)


@dataclass(frozen=True)
class Forecasts:
    """The forecasts about the reporting service at `reporting`, for deals of the service at `service` (empty:
    the embedded ones), for one person: those of slicers that they may see; their own alone where they may see
    the deals of some seats only.

    Its methods raise StoreUnavailable or DeadlineExceeded where the database can't be used.
    """

    engine: Engine
    service: str
    reporting: str
    person: Person

    def keep(
        self, new: Sequence[NewForecast], entity: str | None = None, entity_id: int | None = None
    ) -> None:
        """Add these in the person's name, for this package, deal or proposal; those of today as they are."""
        now = datetime.now(UTC)

        def within(connection: Connection) -> None:
            for one in new:
                add(
                    connection,
                    (self.service, self.reporting, self.person.username),
                    one,
                    now,
                    (entity, entity_id),
                )

        if new:
            transact(self.engine, within, Deadline(SECONDS))

    def visible(self) -> list[StoredForecast]:
        """The latest MOST_ROWS that this person may see, the latest first."""
        table, person = forecasts.c, self.person
        conditions = [table.service == self.service, table.reporting == self.reporting]
        if person.deals.seats is not None:
            conditions.append(table.by == person.username)
            if person.added is not None:
                conditions.append(table.at >= person.added)
        query = select(forecasts).where(*conditions).order_by(table.id.desc()).limit(MOST_ROWS)
        rows = reading(self.engine, lambda one: one.execute(query).all(), Deadline(SECONDS))
        return [_from_row(row) for row in rows if person.may_see(row.project, row.slicer)]

    def scored_forecasts(self, kinds: Sequence[Kind]) -> list[StoredForecast]:
        """The latest scored ones of these kinds whose ranges the desk made, by whomever, in the order of
        their last days; what several people saw alike counts once."""
        table = forecasts.c
        conditions = (
            table.reporting == self.reporting, table.kind.in_(kinds), table.actual.is_not(None),
            table.scale.is_not(None),
        )  # fmt: skip
        latest = select(forecasts).where(*conditions).order_by(table.last_day.desc(), table.id.desc())
        rows = reading(
            self.engine, lambda one: one.execute(latest.limit(MOST_SCORED_ROWS)).all(), Deadline(SECONDS)
        )
        unique_rows = {
            (row.project, row.slicer, row.field, row.first_day, row.last_day, row.raw_low, row.raw_high): row
            for row in rows[::-1]
        }
        return [_from_row(row) for row in unique_rows.values()]


@dataclass(frozen=True)
class ForecastScores:
    """The desk's own view, to score what is due: all rows about the reporting service at `reporting`."""

    engine: Engine
    reporting: str

    def waiting(self, before: date) -> list[StoredForecast]:
        """Those without a score whose last day is before this one, at most MOST_WAITING: the oldest first,
        and last those that could not be scored before."""
        table = forecasts.c
        is_past = table.last_day < before.isoformat()
        due = select(forecasts).where(table.reporting == self.reporting, table.scored_at.is_(None), is_past)
        query = due.order_by(table.problem != "", table.last_day, table.id).limit(MOST_WAITING)
        rows = reading(self.engine, lambda one: one.execute(query).all(), Deadline(SECONDS))
        return [_from_row(row) for row in rows]

    def settle(self, outcomes: Sequence[tuple[StoredForecast, float | str]], now: datetime) -> int:
        """Write what came of these, or why that is not known: again and again until they are given up.

        Returns how many it settled; what another desk has settled meanwhile stays as it is.
        """
        changes = [(one.id, _outcome(one, outcome, now)) for one, outcome in outcomes]

        def within(connection: Connection) -> int:
            count = 0
            for number, values in changes:
                mine = forecasts.c.id == number, forecasts.c.scored_at.is_(None)
                updates = connection.execute(update(forecasts).where(*mine).values(values)).rowcount
                count += updates if "scored_at" in values else 0
            return count

        return transact(self.engine, within, Deadline(SECONDS)) if changes else 0


def holds(low: float, high: float, actual: float | None) -> bool | None:
    """Whether a range held this figure; None where what came is not known."""
    return None if actual is None else low <= actual <= high


def add(
    connection: Connection,
    whose: tuple[str, str, str],
    new: NewForecast,
    at: datetime,
    of: tuple[str | None, int | None],
) -> None:
    """Add a forecast in a transaction that writes, unless the person has the same of that day already.

    `whose` are deals service, reporting service and person, `of` is what it is for: a row without one gets
    it.
    """
    identity = new.kind, new.project, new.slicer, new.field, new.first_day, new.last_day, new.subject
    proposal = of if new.kind == "proposal" else None
    digest = hashlib.sha256(exact.dumps([*identity, proposal])).hexdigest()
    names = dict(zip(("service", "reporting", "by"), whose, strict=True))
    key = {**names, "digest": digest, "day": at.astimezone(UTC).date().isoformat()}
    same = [forecasts.c[name] == value for name, value in key.items()]
    entity, entity_id = of
    row = connection.execute(select(forecasts.c.id, forecasts.c.entity).where(*same)).one_or_none()
    if row is None:
        values = {**asdict(new), **key, "at": at, "entity": entity, "entity_id": entity_id, "problem": ""}
        connection.execute(insert(forecasts).values(values))
    elif row.entity is None and entity is not None:
        values = {"entity": entity, "entity_id": entity_id}
        connection.execute(update(forecasts).where(forecasts.c.id == row.id).values(values))


def _outcome(one: StoredForecast, outcome: float | str, now: datetime) -> dict[str, Any]:
    if not isinstance(outcome, str):
        return {"actual": outcome, "scored_at": now, "problem": ""}
    is_over = now.date() - date.fromisoformat(one.last_day) > GIVEN_UP
    return {"problem": outcome} | ({"scored_at": now} if is_over else {})


def _from_row(row: Row[Any]) -> StoredForecast:
    return StoredForecast(**{one.name: getattr(row, one.name) for one in fields(StoredForecast)})
