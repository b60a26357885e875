"""Every change of every entity: who, when, the fields before and after; and ETags, which name versions."""

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Table, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from lib.deals import moments
from lib.deals.store import tables as t
from lib.deals.store.entity_store import EntityStore, part_id
from lib.deals.store.entity_stores import ENTITY_STORES
from lib.deals.store.work import EntityKey, Fields, Work
from lib.wire import exact
from lib.wire.errors import Conflict, Forbidden

LOST_RACE = (
    "Somebody else changed what this request refers to at the same moment; read it again and repeat it"
)
_SQLITE_UNIQUE = re.compile(r"UNIQUE constraint failed: (.+)")
DUPLICATES = {
    "uq_dsps_name": "A DSP of this name already exists",
    "uq_seats_dsp_id_name": "This DSP has a seat of this name already",
    "uq_seats_dsp_id_external_id": "This DSP has a seat of this external_id already",
    "uq_domain_lists_name": "A domain list of this name already exists",
    "uq_app_lists_name": "An app list of this name already exists",
}
_TAG = re.compile(r'(W/)?"([^"]*)"')
WEAK = (
    "If-Match holds a weak ETag (W/), which matches nothing; nothing was changed. Read the entity again "
    "with Accept-Encoding: identity"
)
OWN_LINKS = {"supply_deals": {"demand_deals"}, "packages": {"seats"}}
"""The fields that may be changed although others are hidden in them: those stay linked."""
MASTER_DATA = ("seats", "dsps")
LISTS = {"domain_lists": t.supply_domain_lists, "app_lists": t.supply_app_lists}
NOT_SEATS = "Seats and DSPs are set up by those who may change the deals of all seats"
SHARED_PACKAGE = (
    "The {called} {id} is sold to others too, so only its deals may be changed with your permissions"
)
SHARED_LIST = "The {called} {id} is used by packages that you may not change"
ALWAYS = ("domain_lists", "app_lists")


class Recording:
    """Records the changes of entities during one transaction."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._before: dict[EntityKey, Fields | None] = {}
        self._versions: dict[EntityKey, int] = {}

    def watch(self, keys: Iterable[EntityKey]) -> None:
        """Store the current state of these entities, without missing ones."""
        for entity, ids in _by_entity(set(keys) - self._before.keys()).items():
            table = ENTITY_STORES[entity].table
            question = select(table.c.id, table.c.version).where(table.c.id.in_(ids))
            for row in self._work.rows(question):
                self._versions[entity, row.id] = row.version
            self._before |= self._states(entity, ids)

    def version(self, key: EntityKey) -> int:
        return self._versions[key]

    def etag(self, key: EntityKey) -> str:
        """The ETag of a watched entity, or a new one; after `write`, that of its new version.

        It is not read back: a change may have hidden the entity from the caller who made it.
        """
        return f'"{_tag(key, self._versions[key])}"'

    def note_creation(self, keys: Iterable[EntityKey]) -> None:
        """Note that this transaction created these entities."""
        for key in keys:
            self._before[key], self._versions[key] = None, 0

    def write(self) -> None:
        """Write the changes, and increment the entities' versions."""
        rows: list[Fields] = []
        for entity, ids in _by_entity(self._before).items():
            after = self._states(entity, ids)
            differences = (self._compare((entity, number), after.get((entity, number))) for number in ids)
            rows += [row for row in differences if row is not None]
        if rows:
            self._work.connection.execute(insert(t.changes), rows)

    def _states(self, entity: str, ids: list[int]) -> dict[EntityKey, Fields]:
        entity_store = ENTITY_STORES[entity]
        bodies = entity_store.whole(self._work.without_limits(), ids)
        return {(entity, body["id"]): entity_store.state(body) for body in bodies}

    def _compare(self, key: EntityKey, after: Fields | None) -> Fields | None:
        """The row of what became of an entity, whose version is incremented; None without a change."""
        before = self._before[key]
        if before == after:
            return None
        self._versions[key] += 1
        if before is None:
            return self._row(key, "created", None, after)
        if after is None:
            return self._row(key, "removed", before, None)
        table = ENTITY_STORES[key[0]].table
        values = {"version": self._versions[key], "updated_at": self._work.now}
        self._work.connection.execute(update(table).where(table.c.id == key[1]).values(values))
        names = [name for name in after if after[name] != before[name]]
        parts = ({name: state[name] for name in names} for state in (before, after))
        return self._row(key, "changed", *parts)

    def _row(self, key: EntityKey, action: str, before: Fields | None, after: Fields | None) -> Fields:
        values: Fields = {"entity": key[0], "entity_id": key[1], "version": self._versions[key]}
        values |= {"at": self._work.now, "who": self._work.who, "action": action}
        return values | {"before": before, "after": after}


def page(work: Work, key: EntityKey, limit: int, offset: int) -> tuple[int, list[Fields]]:
    """The number of an entity's changes that the caller may see, and a page of them, latest first."""
    if work.scope.is_limited:
        entries = without_unseen(work, key, _all(work, key))[::-1]
        return len(entries), [_answer_fields(entry) for entry in entries[offset : offset + limit]]
    connection, mine = work.connection, _of(key)
    count = connection.execute(select(func.count()).select_from(t.changes).where(*mine)).scalar_one()
    question = select(t.changes).where(*mine).order_by(t.changes.c.id.desc()).limit(limit).offset(offset)
    return count, [_answer_fields(row._mapping) for row in connection.execute(question)]


def since(work: Work, key: EntityKey, version: int) -> list[Fields]:
    """The changes of an entity after this version, oldest first, as the caller may see them."""
    entries = without_unseen(work, key, _all(work, key))
    return [_answer_fields(entry) for entry in entries if entry["version"] > version]


def _all(work: Work, key: EntityKey) -> list[Fields]:
    """All changes of an entity, oldest first."""
    question = select(t.changes).where(*_of(key)).order_by(t.changes.c.id)
    return [dict(row._mapping) for row in work.rows(question)]


def _of(key: EntityKey) -> tuple[ColumnElement[bool], ...]:
    return t.changes.c.entity == key[0], t.changes.c.entity_id == key[1]


def _answer_fields(row: Any) -> Fields:
    fields = {name: row[name] for name in ("id", "who", "action", "before", "after")}
    return fields | {"at": moments.write(row["at"])}


def _by_entity(keys: Iterable[EntityKey]) -> dict[str, list[int]]:
    ids_of: dict[str, list[int]] = {}
    for entity, entity_id in sorted(keys):
        ids_of.setdefault(entity, []).append(entity_id)
    return ids_of


def conflict(error: IntegrityError) -> Conflict:
    """The Conflict for a duplicate, or for a lost race."""
    return Conflict(DUPLICATES.get(_constraint(error), LOST_RACE))


def _constraint(error: IntegrityError) -> str:
    """The constraint's name; for SQLite, built from the columns in its message."""
    if isinstance(error.orig, sqlite3.Error):
        match = _SQLITE_UNIQUE.search(str(error.orig))
        columns = [name.split(".") for name in match[1].split(", ")] if match else []
        return "_".join(["uq", columns[0][0], *(column for _, column in columns)]) if columns else ""
    diagnostics = getattr(error.orig, "diag", None)
    return getattr(diagnostics, "constraint_name", None) or ""


def etag(work: Work, key: EntityKey) -> str:
    """`"supply_deals-12-3"`: the entity, its id, its version.

    It stands for the fields that can be set; the status, and the names of others, may change under it.
    """
    return etags(work, key[0], [key[1]])[str(key[1])]


def etags(work: Work, entity: str, ids: Sequence[int]) -> dict[str, str]:
    """The ETags of those of these entities that the caller may see, by id as text."""
    table = ENTITY_STORES[entity].table
    visible = (table.c.id.in_(ids), *work.scope.visibility(table))
    rows = work.rows(select(table.c.id, table.c.version).where(*visible))
    return {str(row.id): f'"{_tag((entity, row.id), row.version)}"' for row in rows}


def check_etag(work: Work, key: EntityKey, version: int, if_match: str | None) -> None:
    """Raise Conflict with the changes, unless If-Match names this version, is `*`, or is absent.

    Tags are compared strongly: a weak one matches nothing (RFC 9110, 13.1.1).
    """
    if if_match is None or if_match.strip() == "*":
        return
    tags_of_header = _TAG.findall(if_match)
    tags = [tag for weak, tag in tags_of_header if not weak]
    if _tag(key, version) in tags:
        return
    if tags_of_header and not tags:
        raise Conflict(WEAK)
    versions = [read for read in range(version) if _tag(key, read) in tags]
    if not versions:
        raise Conflict(
            f"If-Match is no ETag of this {ENTITY_STORES[key[0]].noun}; nothing was changed. Read it again"
        )
    texts = [text for change in since(work, key, max(versions)) for text in _words(change)]
    raise Conflict(f"Changed since it was read, so nothing was saved: {'; '.join(texts)}")


def _tag(key: EntityKey, version: int) -> str:
    return f"{key[0]}-{key[1]}-{version}"


def _words(change: Fields) -> list[str]:
    """`price from 2.5 to 3, by ada at 2026-11-20 09:00:00+0000`, for each field."""
    by = f"by {change['who']} at {change['at']}"
    before, after = change["before"] or {}, change["after"] or {}
    return [
        f"{name} from {exact.brief(before.get(name))} to {exact.brief(after[name])}, {by}" for name in after
    ]


def keep_hidden_links(work: Work, entity_store: EntityStore, fields: Fields, before: Fields) -> Fields:
    """The request's fields, with hidden links added that the caller can't have meant to remove."""
    if not work.scope.is_limited:
        return fields
    whole = dict(fields)
    for field, links in _hidden_links(work, entity_store, before).items():
        if field in whole:
            whole[field] = [*whole[field], *links]
    return whole


def check_change(work: Work, entity_store: EntityStore, fields: Fields, before: Fields | None) -> None:
    """Raise Forbidden if a change, or a creation, affects entities that the caller may not change."""
    if not work.scope.is_limited:
        return
    if entity_store.entity in MASTER_DATA:
        raise Forbidden(NOT_SEATS)
    if before is None:
        return
    of_entity = {"called": entity_store.noun, "id": before["id"]}
    if entity_store.entity in LISTS and _serves_others(work, LISTS[entity_store.entity], before["id"]):
        raise Forbidden(SHARED_LIST.format(**of_entity))
    hidden_fields = {field for field, links in _hidden_links(work, entity_store, before).items() if links}
    own_links = OWN_LINKS.get(entity_store.entity, set()) if "supply_deals" not in hidden_fields else set()
    if hidden_fields - {"packages"} and fields.keys() - own_links:
        raise Forbidden(SHARED_PACKAGE.format(**of_entity))


def _hidden_links(work: Work, entity_store: EntityStore, before: Fields) -> dict[str, list[Fields]]:
    hidden_links = {}
    for field in entity_store.parts:
        hidden_ids = entity_store.hidden_parts(work, field, [before])
        hidden_links[field] = [part for part in before[field] if part_id(part) in hidden_ids]
    return hidden_links


def _serves_others(work: Work, links: Table, list_id: int) -> bool:
    """Whether the list is used by a package that is hidden, or has hidden deals."""
    uses = select(links.c.supply_package_id).where(links.c.list_id == list_id)
    sold_to_others = (
        select(t.supply_package_deals.c.supply_package_id)
        .join(t.demand_deals, t.demand_deals.c.id == t.supply_package_deals.c.demand_deal_id)
        .where(t.demand_deals.c.seat_id.not_in(work.scope.seats or ()))
    )
    package: Any = t.supply_packages.c.id
    unseen = select(package).where(package.in_(uses), ~work.scope.visibility(t.supply_packages)[0])
    foreign = select(package).where(package.in_(uses), package.in_(sold_to_others))
    return bool(work.rows(unseen.limit(1)) or work.rows(foreign.limit(1)))


def is_seen(work: Work, key: EntityKey) -> bool:
    """Whether the caller may see the history of this entity, by its current or last state."""
    table = ENTITY_STORES[key[0]].table
    if not work.scope.is_limited or work.names(table, [key[1]]):
        return True
    if work.without_limits().names(table, [key[1]]):
        return False
    if key[0] in ALWAYS:
        return True
    if key[0] == "seats":
        return work.scope.has_seat(key[1])
    if key[0] == "demand_deals":
        return bool(_visible_removals(work, [key[1]]))
    return _made_by_caller(work, key)


def without_unseen(work: Work, key: EntityKey, entries: Sequence[Fields]) -> list[Fields]:
    """All changes, oldest first, without those hidden from the caller."""
    if not work.scope.is_limited:
        return [*entries]
    if key[0] == "demand_deals":
        return _while_seat_was_visible(work, entries)
    if ENTITY_STORES[key[0]].parts:
        return _without_parts(work, ENTITY_STORES[key[0]].parts, entries)
    return [*entries]


def _while_seat_was_visible(work: Work, entries: Sequence[Fields]) -> list[Fields]:
    """A deal's changes while its seat was visible to the caller.

    When it came from another seat or went to one, what it was there is left out.
    """
    own_entries, was_seen = [], False
    for entry in entries:
        seat = ((entry["after"] or {}).get("seat") or {}).get("id")
        is_visible = was_seen if seat is None else work.scope.has_seat(seat)
        is_first = entry["before"] is None
        if is_visible and (was_seen or is_first):
            own_entries.append(entry)
        elif is_visible:
            own_entries.append({**entry, "before": dict.fromkeys(entry["before"])})
        elif was_seen:
            own_entries.append({**entry, "after": dict.fromkeys(entry["after"] or {})})
        was_seen = is_visible
    return own_entries


def _without_parts(work: Work, parts: Mapping[str, Table], entries: Sequence[Fields]) -> list[Fields]:
    """A package's changes without hidden deals and seats; changes of nothing else are left out."""
    visible_ids = {field: _visible_ids(work, field, table, entries) for field, table in parts.items()}
    visible_entries = []
    for entry in entries:
        visible_entry = {**entry}
        for side in ("before", "after"):
            if visible_entry[side] is not None:
                visible_entry[side] = {
                    name: [part for part in value if part_id(part) in visible_ids[name]]
                    if name in visible_ids and value is not None
                    else value
                    for name, value in visible_entry[side].items()
                }
        if entry["action"] == "changed":
            same = [
                name
                for name, value in visible_entry["after"].items()
                if value == visible_entry["before"].get(name)
            ]
            for side in ("before", "after"):
                visible_entry[side] = {
                    name: value for name, value in visible_entry[side].items() if name not in same
                }
        if entry["action"] != "changed" or visible_entry["after"]:
            visible_entries.append(visible_entry)
    return visible_entries


def _visible_ids(work: Work, field: str, table: Table, entries: Sequence[Fields]) -> set[int]:
    sides = [side for entry in entries for side in (entry["before"], entry["after"]) if side]
    ids = {part_id(part) for side in sides for part in side.get(field) or ()}
    visible = set(work.names(table, ids))
    if field == "demand_deals":
        visible |= _visible_removals(work, ids - work.without_limits().names(table, ids).keys())
    return visible


def _visible_removals(work: Work, deal_ids: Iterable[int]) -> set[int]:
    """The removed deals whose last seat the caller may see."""
    question = select(t.changes.c.entity_id, t.changes.c.before).where(
        t.changes.c.entity == "demand_deals",
        t.changes.c.entity_id.in_([*deal_ids]),
        t.changes.c.action == "removed",
    )
    return {
        row.entity_id for row in work.rows(question) if work.scope.has_seat((row.before["seat"] or {})["id"])
    }


def _made_by_caller(work: Work, key: EntityKey) -> bool:
    """Whether a deleted package was created by the caller, and not with another token."""
    scope = work.scope
    question = select(t.changes.c.id).where(
        t.changes.c.entity == key[0],
        t.changes.c.entity_id == key[1],
        t.changes.c.action == "created",
        t.changes.c.who == scope.who,
        *([] if scope.since is None else [t.changes.c.at >= scope.since]),
    )
    return scope.token is None and bool(ENTITY_STORES[key[0]].parts) and bool(work.rows(question))
