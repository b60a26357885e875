"""An append-only journal of entities created or seen through a deals service without lists.

Each entry is an entity's JSON as the service last gave it, exactly. The last entry is what is known of the
entity now; two in a row, compared, are what happened between them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal

from sqlalchemy import Index, String, func, insert, select

from lib.database import DatabaseScope, Document, Instant, Key, from_row, numbered_table, required
from lib.deals import moments
from lib.deals.models import ENTITIES, DemandDeal, Dsp, EntityChange, Resource, Seat
from lib.settings import ConfiguredSeat
from lib.wire import exact
from lib.wire.errors import Conflict

Event = Literal["created", "changed", "removed", "seen"]
Body = Mapping[str, Any]
SECONDS = 20  # for the entities of a whole list
ELSEWHERE = "somebody outside Tranche"
READ_ONLY = frozenset({"id", "created_at", "updated_at", "status", "create_demand_deals"})

memory_rows = numbered_table(
    "remembered",
    *required(service=String(500), entity=String(20), entity_id=Key, at=Instant, who=String(64)),
    *required(action=String(10), body=Document), Index(None, "service", "entity", "entity_id", "id"),
)  # fmt: skip


@dataclass(frozen=True)
class MemoryEntry:
    """An entry of the journal: the known state of an entity at a time."""

    id: int
    entity: str
    entity_id: int
    at: datetime
    who: str
    action: str
    body: dict[str, Any] = field(hash=False)


@dataclass(frozen=True)
class Memory(DatabaseScope):
    """The journal of one service, by its base address; `who` adds the entries."""

    service: str
    who: str

    def note(self, action: Event, model: type[Resource], bodies: Iterable[Body]) -> None:
        """Add entries for these entities; for those only seen, only if they differ from the last entry.

        Each body has its id. All of them or none. StoreUnavailable when the database can't be used.
        """
        with self.write(SECONDS) as connection:
            for body in bodies:
                values = {"service": self.service, "entity": model.entity, "entity_id": int(body["id"])}
                if action == "seen":
                    mine = (memory_rows.c[name] == value for name, value in values.items())
                    query = select(memory_rows).where(*mine).order_by(memory_rows.c.id.desc()).limit(1)
                    row = connection.execute(query).one_or_none()
                    before = row.body if row is not None and row.action != "removed" else None
                    if before is not None and state(model.entity, before) == state(model.entity, body):
                        continue
                values |= {"at": datetime.now(UTC).replace(microsecond=0), "who": self.who, "action": action}
                connection.execute(insert(memory_rows).values(**values, body=dict(body)))

    def latest(self, model: type[Resource]) -> list[MemoryEntry]:
        """The last entry of each entity of a kind that was not removed, by id."""
        last = (
            select(func.max(memory_rows.c.id))
            .where(memory_rows.c.service == self.service, memory_rows.c.entity == model.entity)
            .group_by(memory_rows.c.entity_id)
        )
        query = select(memory_rows).where(memory_rows.c.id.in_(last)).order_by(memory_rows.c.entity_id)
        return [entry for entry in self._entries(query) if entry.action != "removed"]

    def last(self, model: type[Resource], entity_id: int) -> MemoryEntry | None:
        """The last entry of an entity, also if it is that of its removal."""
        entries = self.entries(model, entity_id)
        return entries[-1] if entries else None

    def created_ids(self, model: type[Resource], since: datetime | None) -> frozenset[int]:
        """The ids of entities that this person created, not an earlier person of the same name."""
        mine = [
            memory_rows.c.service == self.service,
            memory_rows.c.entity == model.entity,
            memory_rows.c.action == "created",
            memory_rows.c.who == self.who,
            *([] if since is None else [memory_rows.c.at >= since.replace(microsecond=0)]),
        ]
        return frozenset(row.entity_id for row in self.rows(select(memory_rows.c.entity_id).where(*mine)))

    def newest(self) -> int:
        """The id of the last entry of this service; 0 where nothing was ever noted."""
        query = select(func.max(memory_rows.c.id)).where(memory_rows.c.service == self.service)
        return self.rows(query)[0][0] or 0

    def entries(self, model: type[Resource], entity_id: int) -> list[MemoryEntry]:
        """All entries of an entity, oldest first."""
        mine = (memory_rows.c.entity == model.entity, memory_rows.c.entity_id == entity_id)
        query = select(memory_rows).where(memory_rows.c.service == self.service, *mine)
        return self._entries(query.order_by(memory_rows.c.id))

    def history(self, model: type[Resource], entity_id: int) -> list[EntityChange]:
        """The changes of an entity as far as they were noticed here, latest first.

        What was found to be gone, or otherwise than it was left, is the work of somebody elsewhere.
        """
        entries = self.entries(model, entity_id)
        pairs = zip([None, *entries], entries, strict=False)
        return [change for before, after in pairs if (change := _change(before, after))][::-1]

    def _entries(self, query: Any) -> list[MemoryEntry]:
        return [from_row(MemoryEntry, row) for row in self.rows(query)]


def state(entity: str, body: Body) -> dict[str, Any]:
    """The fields of an entity's JSON that can change, with ids and names of other entities.

    A service's own figures, which may be others at each look, are no change.
    """
    names = ENTITIES[entity].model_fields.keys() - READ_ONLY
    return {name: _brief(value) for name, value in body.items() if name in names}


def differences(entity: str, before: Body, after: Body) -> tuple[dict[str, Any], dict[str, Any]]:
    """The changed fields, before and after."""
    old, new = state(entity, before), state(entity, after)
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return {name: old.get(name) for name in names}, {name: new.get(name) for name in names}


def _change(before: MemoryEntry | None, after: MemoryEntry) -> EntityChange | None:
    entry: dict[str, Any] = {"id": after.id, "at": moments.write(after.at), "who": after.who}
    if after.action == "removed":
        return EntityChange(
            **entry | {"who": ELSEWHERE}, action="removed", before=state(after.entity, after.body)
        )
    if before is None or before.action == "removed":
        return EntityChange(**entry, action=after.action, after=state(after.entity, after.body))
    old, new = differences(after.entity, before.body, after.body)
    if not new:
        return None
    by = ELSEWHERE if after.action == "seen" else after.who
    return EntityChange(**entry | {"who": by}, action="changed", before=old, after=new)


def _brief(value: Any) -> Any:
    if isinstance(value, Mapping) and "id" in value:
        return {name: value[name] for name in ("id", "name") if name in value}
    return [_brief(element) for element in value] if isinstance(value, list) else value


def digest(resource: Resource) -> str:
    """A digest of the fields that can change, used like an ETag."""
    return _digest(resource.entity, resource.raw)


def conflict(
    model: type[Resource], now: Resource, if_match: str | None, memory_entries: Iterable[MemoryEntry]
) -> Conflict:
    """The Conflict with the differences between the state that was read and the current one."""
    read = next((entry for entry in memory_entries if _digest(model.entity, entry.body) == if_match), None)
    if read is None:
        return Conflict("Changed since it was read, so nothing was saved")
    old, new = differences(model.entity, read.body, now.raw)
    changes = "; ".join(f"{name} from {exact.brief(old[name])} to {exact.brief(new[name])}" for name in new)
    return Conflict(f"Changed since it was read, so nothing was saved: {changes}")


def unchanged_fields(
    body: Mapping[str, Any], before: Resource, resource: Resource, after: Resource
) -> list[str]:
    """The fields of a request that are as they were, and not as they were asked to be."""
    names = [name for name in body if name in after.raw and name in type(after).model_fields]
    values = {name: [getattr(state, name) for state in (before, resource, after)] for name in names}
    return [name for name, (old, target, new) in values.items() if new == old and target != old]


def _digest(entity: str, body: Mapping[str, Any]) -> str:
    sorted_state = dict(sorted(state(entity, body).items()))
    return f'"{sha256(exact.dumps(sorted_state)).hexdigest()[:32]}"'


def seats_of(configured_seats: Iterable[ConfiguredSeat]) -> tuple[Seat, ...]:
    """The settings' seats as the API would show them."""
    dsps = {
        seat.id: Dsp(id=seat.dsp_id, name=seat.dsp, supports_deal_sync=seat.deal_sync)
        for seat in configured_seats
        if (seat.dsp, seat.dsp_id) != (None, None)
    }
    return tuple(Seat(id=seat.id, name=seat.name, dsp=dsps.get(seat.id)) for seat in configured_seats)


def all_seats(seats: Iterable[Seat], deals: Iterable[DemandDeal]) -> dict[int, Seat]:
    """Seats by id; the settings take precedence over responses."""
    by_id: dict[int, Seat] = {}
    for deal in deals:
        if deal.seat is not None and deal.seat.id is not None:
            by_id[deal.seat.id] = deal.seat.model_copy(update={"dsp": deal.seat.dsp or deal.dsp})
    return by_id | {seat.id: seat for seat in seats if seat.id is not None}


def dsps(seats: Iterable[Seat]) -> dict[int, Dsp]:
    """The DSPs of seats, by id."""
    return {seat.dsp.id: seat.dsp for seat in seats if seat.dsp is not None and seat.dsp.id is not None}
