"""Entities hidden from callers who may only see some seats: left out of responses, and kept by changes."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Table, select

from lib.deals.store.entity_store import EntityStore
from lib.deals.store.tables import (
    demand_deals,
    packages,
    seats,
    supply_app_lists,
    supply_domain_lists,
    supply_package_deals,
    supply_packages,
)
from lib.deals.store.work import Fields, Work
from lib.wire.errors import Forbidden

PARTS: dict[str, dict[str, Table]] = {
    "supply_deals": {"demand_deals": demand_deals, "packages": packages},
    "packages": {"demand_deals": demand_deals, "seats": seats, "supply_deals": supply_packages},
}
"""The fields of an entity that list others, of which some may be hidden."""
OWN_LINKS = {"supply_deals": {"demand_deals"}, "packages": {"seats"}}
"""The fields that may be changed although others are hidden in them: those stay linked."""
MASTER_DATA = ("seats", "dsps")
LISTS = {"domain_lists": supply_domain_lists, "app_lists": supply_app_lists}
NOT_SEATS = "Seats and DSPs are set up by those who may change the deals of all seats"
SHARED = "The {called} {id} is sold to others too, so only its deals may be changed with your permissions"
SHARED_LIST = "The {called} {id} is used by packages that you may not change"


def left_out(work: Work, entity: str, bodies: Sequence[Fields]) -> list[Fields]:
    """The bodies without entities hidden from the caller."""
    if not work.scope.is_limited:
        return [*bodies]
    copies = [dict(body) for body in bodies]
    for field, table in PARTS.get(entity, {}).items():
        is_seen = _visibility(work, table, [one for body in copies for one in body.get(field) or ()])
        for body in copies:
            if body.get(field) is not None:
                body[field] = [one for one in body[field] if is_seen(one)]
    return copies


def keep_hidden_links(work: Work, entity_store: EntityStore, fields: Fields, before: Fields) -> Fields:
    """The request's fields, with hidden links added that the caller can't have meant to remove."""
    if not work.scope.is_limited:
        return fields
    whole = dict(fields)
    for field, links in _hidden(work, entity_store.entity, before).items():
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
    of_entity = {"called": entity_store.called, "id": before["id"]}
    if entity_store.entity in LISTS and _serves_others(work, LISTS[entity_store.entity], before["id"]):
        raise Forbidden(SHARED_LIST.format(**of_entity))
    hidden = {field for field, links in _hidden(work, entity_store.entity, before).items() if links}
    allowed = OWN_LINKS.get(entity_store.entity, set()) if "supply_deals" not in hidden else set()
    if hidden - {"packages"} and fields.keys() - allowed:
        raise Forbidden(SHARED.format(**of_entity))


def _hidden(work: Work, entity: str, before: Fields) -> dict[str, list[Fields]]:
    hidden = {}
    for field, table in PARTS.get(entity, {}).items():
        is_seen = _visibility(work, table, before[field])
        hidden[field] = [one for one in before[field] if not is_seen(one)]
    return hidden


def _visibility(work: Work, table: Table, links: Sequence[Fields]) -> Callable[[Fields], bool]:
    ids = work.seen(table, [id_of(one) for one in links])
    return lambda one: id_of(one) in ids


def id_of(one: Fields) -> int:
    """The id of a listed entity; of a seat choice, the seat's."""
    return int(one["seat"]["id"] if "seat" in one else one["id"])


def _serves_others(work: Work, links: Table, list_id: int) -> bool:
    """Whether the list is used by a package that is hidden, or has hidden deals."""
    uses = select(links.c.supply_package_id).where(links.c.list_id == list_id)
    sold_to_others = (
        select(supply_package_deals.c.supply_package_id)
        .join(demand_deals, demand_deals.c.id == supply_package_deals.c.demand_deal_id)
        .where(demand_deals.c.seat_id.not_in(work.scope.seats or ()))
    )
    package: Any = supply_packages.c.id
    hidden = select(package).where(package.in_(uses), ~work.scope.seen(supply_packages)[0])
    shared = select(package).where(package.in_(uses), package.in_(sold_to_others))
    return bool(work.rows(hidden.limit(1)) or work.rows(shared.limit(1)))
