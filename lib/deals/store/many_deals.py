"""Creating several demand deals in one transaction: what is looked up and written for all of them at once."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert

from lib.deals import several
from lib.deals.requests import DemandDealRequest
from lib.deals.store import history
from lib.deals.store.demand_deals import check_deal, new_deal_id, seats_to_sell_to
from lib.deals.store.entity_stores import DEALS
from lib.deals.store.tables import deal_ids, demand_deals, supply_package_deals, supply_packages
from lib.deals.store.work import Fields, Work
from lib.deals.validation import Problems, read


def create(work: Work, given: Any, problems: Problems) -> list[Fields]:
    """Create the deals of these bodies, all or none; `{"id", "name", "deal_id"}` of each, in their order.

    Invalid says all that is wrong, by the place of each in the list.
    """
    bodies = several.objects(given, problems)
    deals = [read(DemandDealRequest, one, problems, where=(place,)) for place, one in enumerate(bodies)]
    _check(work, deals, problems)
    problems.check()
    recording = history.Recording(work)
    recording.watch({key for one in deals for key in DEALS.touched(one, None)})
    rows = _write(work, deals)
    recording.created((DEALS.entity, row["id"]) for row in rows)
    recording.write()
    return [{name: row[name] for name in ("id", "name", "deal_id")} for row in rows]


def _check(work: Work, deals: Sequence[Fields], problems: Problems) -> None:
    """The rules of a single deal, with the seats and packages of all of them read once."""
    linked = {link["id"] for one in deals for link in one.get("supply_deals", ()) if "id" in link}
    packages = work.seen(supply_packages, linked)
    seats = {one["seat"]["id"] for one in deals if "id" in one.get("seat", {})}
    buyers = seats_to_sell_to(work, seats)
    for place, one in enumerate(deals):
        check_deal(one, one, buyers, packages, (place,), problems)


def _write(work: Work, deals: Sequence[Fields]) -> list[Fields]:
    """The rows of the deals, with their ids."""
    ids = [new_deal_id() for _ in deals]
    work.connection.execute(insert(deal_ids), [{"deal_id": one, "given": work.now} for one in ids])
    values = [DEALS.columns(one | {"deal_id": deal_id}) for one, deal_id in zip(deals, ids, strict=True)]
    rows = work.insert_many(demand_deals, [row | DEALS.found_by(row) for row in values])
    links = [
        {"demand_deal_id": row["id"], "supply_package_id": link["id"]}
        for row, one in zip(rows, deals, strict=True)
        for link in one["supply_deals"]
    ]
    if links:
        work.connection.execute(insert(supply_package_deals), links)
    return rows
