"""Creating a package whose deals differ: one request for what they share, one for each other deal.

`create_demand_deals` has one fee and one contact, and creates active deals (deals specification, Resources).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lib.deals.client import Deals
from lib.deals.models import DemandDeal, Seat, SupplyPackage, generated_name
from lib.ui.deals.draft import Draft, Terms, Typed, seat_name, terms_sent
from lib.ui.kit.problems import is_open
from lib.wire.errors import NotFound, TrancheError

Seats = Mapping[int, Seat]


class Undone(TrancheError):
    """A deal could not be created, and everything that was created before it was deleted again."""


@dataclass(frozen=True)
class CreatedPackage:
    """The package, and sentences on what is not as it should be and could not be undone."""

    package: SupplyPackage
    left: tuple[str, ...] = ()


def create(deals: Deals, draft: Draft, seats: Seats, key: str) -> CreatedPackage:
    """Create the package and all of its deals, or nothing.

    With the same key it may be repeated where the service honours keys: what is there already is not created
    again. Undone where a deal was refused. A service that can't delete keeps what was created: then `left`
    says what is missing.
    """
    own = {seat: terms for seat, terms in draft.seats.items() if terms.own is not None}
    if draft.deals != "new" or not own:
        return CreatedPackage(deals.create(SupplyPackage, draft.package(), key))
    if deals.abilities.why_not("demand_deals", "create"):
        return _adjust(deals, deals.create(SupplyPackage, draft.package(), key), own, seats)
    shared = {seat: terms for seat, terms in draft.seats.items() if terms.own is None}
    alike = replace(draft, seats=shared, deals="new" if shared else "none")
    package = deals.create(SupplyPackage, alike.package(), key)
    return _complete(deals, package, own, seats, key)


def _complete(
    deals: Deals, package: SupplyPackage, own: Mapping[int, Terms], seats: Seats, key: str
) -> CreatedPackage:
    """The package with the deals that have terms of their own."""
    added: list[DemandDeal] = []
    for seat, terms in own.items():
        try:
            added.append(deals.create(DemandDeal, _deal(package, seat, terms, seats), f"{key}-{seat}"))
        except TrancheError as error:
            if is_open(error) and deals.abilities.repeats:
                raise
            missing = [*own][len(added) :]
            return _given_up(
                deals, package, added, error, [seat_name(seats.get(one), one) for one in missing]
            )
    links = (*package.demand_deals, *({"id": one.id, "name": one.name} for one in added))
    return CreatedPackage(SupplyPackage.model_validate({**package.model_dump(), "demand_deals": links}))


def _given_up(
    deals: Deals, package: SupplyPackage, added: list[DemandDeal], error: TrancheError, missing: list[str]
) -> CreatedPackage:
    """Delete what was created; where that can't be, say what there is."""
    if is_open(error):
        first = f"It is unknown whether the deal for {missing[0]} was created: {error.reason.rstrip('.')}"
        rest = f"not created: the deals for {', '.join(missing[1:])}" if missing[1:] else ""
        return CreatedPackage(package, tuple(filter(None, (first, rest))))
    why = f"The deal for {missing[0]}: {error.reason.rstrip('.')}"
    entities = [
        *(("demand_deals", one.id) for one in added),
        *(("demand_deals", d.id) for d in package.demand_deals),
    ]
    for entity, entity_id in [*entities, ("supply_deals", package.id)]:
        try:
            deals.remove(entity, entity_id or 0)
        except NotFound:
            continue
        except TrancheError as stuck:
            undone = f"What had been created could not be deleted: {stuck.reason.rstrip('.')}"
            return CreatedPackage(package, (why, undone, f"not created: the deals for {', '.join(missing)}"))
    raise Undone(why) from error


def _adjust(deals: Deals, package: SupplyPackage, own: Mapping[int, Terms], seats: Seats) -> CreatedPackage:
    """The package of a service that creates no single deals: those that differ are changed."""
    left: list[str] = []
    wanted = dict(own)
    for link in package.demand_deals:
        try:
            deal = deals.get(DemandDeal, link.id)
            terms = wanted.pop(deal.seat.id, None) if deal.seat and deal.seat.id is not None else None
            if terms is not None and terms.own is not None:
                deals.change(DemandDeal, link.id, _terms(terms.own, is_change=True))
        except TrancheError as error:
            left.append(f"Deal {link.id} has the shared terms: {error.reason.rstrip('.')}")
    left += [f"The deal for {seat_name(seats.get(one), one)} may have the shared terms" for one in wanted]
    return CreatedPackage(package, tuple(left))


def _deal(package: SupplyPackage, seat: int, terms: Terms, seats: Seats) -> DemandDeal:
    fields: dict[str, Any] = {
        "name": generated_name(package.name or "", seat_name(seats.get(seat), seat)),
        "seat": Seat(id=seat),
        "price": terms.amount,
        "deal_sync": terms.deal_sync,
        "supply_deals": (SupplyPackage(id=package.id),),
        **_terms(terms.own or {}),
    }
    return DemandDeal.model_construct(**{name: value for name, value in fields.items() if value is not None})


def _terms(own: Typed, is_change: bool = False) -> dict[str, Any]:
    """The fields of a deal's own terms; in a change those without a value are emptied."""
    given = {"is_active": own.get("is_active", True), **terms_sent(own)}
    return {name: value for name, value in given.items() if is_change or value is not None}
