"""What a caller who is limited to some seats may change, and what they see of a history."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Table, select

from lib.deals.store import tables as t
from lib.deals.store.entity_store import EntityStore, part_id
from lib.deals.store.entity_stores import ENTITY_STORES
from lib.deals.store.work import EntityKey, Fields, Work
from lib.wire.errors import Forbidden

OWN_LINKS = {"supply_deals": {"demand_deals"}, "packages": {"seats"}}
"""The fields that may be changed although others are hidden in them: those stay linked."""
MASTER_DATA = ("seats", "dsps")
LISTS = {"domain_lists": t.supply_domain_lists, "app_lists": t.supply_app_lists}
SHARED_PACKAGE = (
    "The {called} {id} is sold to others too, so only its deals may be changed with your permissions"
)
ALWAYS = ("domain_lists", "app_lists")


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
        raise Forbidden("Seats and DSPs are set up by those who may change the deals of all seats")
    if before is None:
        return
    of_entity = {"called": entity_store.noun, "id": before["id"]}
    if (links := LISTS.get(entity_store.entity)) is not None:
        # Packages that use the list and are hidden, or have hidden deals.
        package: Any = t.supply_packages.c.id
        uses = select(links.c.supply_package_id).where(links.c.list_id == before["id"])
        sold_to_others = (
            select(t.supply_package_deals.c.supply_package_id)
            .join(t.demand_deals, t.demand_deals.c.id == t.supply_package_deals.c.demand_deal_id)
            .where(t.demand_deals.c.seat_id.not_in(work.scope.seats or ()))
        )
        unseen = select(package).where(package.in_(uses), ~work.scope.visibility(t.supply_packages)[0])
        foreign = select(package).where(package.in_(uses), package.in_(sold_to_others))
        if work.rows(unseen.limit(1)) or work.rows(foreign.limit(1)):
            sentence = "The {called} {id} is used by packages that you may not change"
            raise Forbidden(sentence.format(**of_entity))
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
    # Whether a deleted package was created by the caller, and not with another token.
    scope = work.scope
    question = select(t.changes.c.id).where(
        t.changes.c.entity == key[0],
        t.changes.c.entity_id == key[1],
        t.changes.c.action == "created",
        t.changes.c.who == scope.who,
        *([] if scope.since is None else [t.changes.c.at >= scope.since]),
    )
    return scope.token is None and bool(ENTITY_STORES[key[0]].parts) and bool(work.rows(question))


def without_unseen(work: Work, key: EntityKey, entries: Sequence[Fields]) -> list[Fields]:
    """All changes, oldest first, without those hidden from the caller."""
    if work.scope.is_limited and key[0] == "demand_deals":
        # While its seat was visible: what the deal was at another seat, before or after, is left out.
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
    if work.scope.is_limited and ENTITY_STORES[key[0]].parts:
        return _without_parts(work, ENTITY_STORES[key[0]].parts, entries)
    return [*entries]


def _without_parts(work: Work, parts: Mapping[str, Table], entries: Sequence[Fields]) -> list[Fields]:
    """A package's changes without hidden deals and seats; changes of nothing else are left out."""
    visible_ids = {}
    sides = [side for entry in entries for side in (entry["before"], entry["after"]) if side]
    for field, table in parts.items():
        ids = {part_id(part) for side in sides for part in side.get(field) or ()}
        visible_ids[field] = set(work.names(table, ids))
        if field == "demand_deals":
            removed_ids = ids - work.without_limits().names(table, ids).keys()
            visible_ids[field] |= _visible_removals(work, removed_ids)
    visible_entries = []
    for entry in entries:
        before, after = (
            side and {
                name: [part for part in value if part_id(part) in visible_ids[name]]
                if name in visible_ids and value is not None
                else value
                for name, value in side.items()
            }
            for side in (entry["before"], entry["after"])
        )  # fmt: skip
        if entry["action"] == "changed":
            names = [name for name, value in after.items() if value != before.get(name)]
            same = after.keys() - names
            before, after = (
                {name: value for name, value in side.items() if name not in same} for side in (before, after)
            )
        if entry["action"] != "changed" or after:
            visible_entries.append({**entry, "before": before, "after": after})
    return visible_entries


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
