"""The history of an entity for callers who may only see some seats."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import select

from lib.deals.store import unseen
from lib.deals.store.entity_stores import ENTITY_STORES
from lib.deals.store.tables import changes
from lib.deals.store.work import EntityKey, Fields, Work

ALWAYS = ("domain_lists", "app_lists")


def is_seen(work: Work, key: EntityKey) -> bool:
    """Whether the caller may see the history of this entity, by its current or last state."""
    table = ENTITY_STORES[key[0]].table
    if not work.scope.is_limited or work.seen(table, [key[1]]):
        return True
    if work.named(table, [key[1]]):
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
    if key[0] in unseen.PARTS:
        return _without_deals(work, key[0], entries)
    return [*entries]


def _while_seat_was_visible(work: Work, entries: Sequence[Fields]) -> list[Fields]:
    """A deal's changes while its seat was visible to the caller.

    When it came from another seat or went to one, what it was there is left out.
    """
    entries_then, was_seen = [], False
    for entry in entries:
        seat = ((entry["after"] or {}).get("seat") or {}).get("id")
        seen = was_seen if seat is None else work.scope.has_seat(seat)
        is_first = entry["before"] is None
        if seen and (was_seen or is_first):
            entries_then.append(entry)
        elif seen:
            entries_then.append({**entry, "before": dict.fromkeys(entry["before"])})
        elif was_seen:
            entries_then.append({**entry, "after": dict.fromkeys(entry["after"] or {})})
        was_seen = seen
    return entries_then


def _without_deals(work: Work, entity: str, entries: Sequence[Fields]) -> list[Fields]:
    """A package's changes without hidden deals and seats; changes of nothing else are left out."""
    tables = unseen.PARTS[entity]
    seen = {field: _seen_ids(work, field, table, entries) for field, table in tables.items()}
    found = []
    for entry in entries:
        visible_entry = {**entry}
        for side in ("before", "after"):
            if visible_entry[side] is not None:
                visible_entry[side] = {
                    name: [one for one in value if unseen.id_of(one) in seen[name]]
                    if name in seen and value is not None
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
            found.append(visible_entry)
    return found


def _seen_ids(work: Work, field: str, table: Any, entries: Sequence[Fields]) -> set[int]:
    sides = [side for entry in entries for side in (entry["before"], entry["after"]) if side]
    ids = {unseen.id_of(one) for side in sides for one in side.get(field) or ()}
    visible = set(work.seen(table, ids))
    if field == "demand_deals":
        visible |= _visible_removals(work, ids - visible - work.named(table, ids).keys())
    return visible


def _visible_removals(work: Work, deal_ids: Iterable[int]) -> set[int]:
    """The removed deals whose last seat the caller may see."""
    question = select(changes.c.entity_id, changes.c.before).where(
        changes.c.entity == "demand_deals",
        changes.c.entity_id.in_([*deal_ids]),
        changes.c.action == "removed",
    )
    return {
        row.entity_id for row in work.rows(question) if work.scope.has_seat((row.before["seat"] or {})["id"])
    }


def _made_by_caller(work: Work, key: EntityKey) -> bool:
    """Whether a deleted package was created by the caller, and not with another token."""
    scope = work.scope
    question = select(changes.c.id).where(
        changes.c.entity == key[0],
        changes.c.entity_id == key[1],
        changes.c.action == "created",
        changes.c.who == scope.who,
        *([] if scope.since is None else [changes.c.at >= scope.since]),
    )
    return scope.token is None and key[0] in unseen.PARTS and bool(work.rows(question))
