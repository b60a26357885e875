"""Warnings about the prices of a request, by lib/deals/price_slips.py: the service has no report to ask.

A price is compared with the one before, else with the list prices of the same package that the caller may
see, and those of the same request.
"""

from collections.abc import Collection, Iterator
from decimal import Decimal

from sqlalchemy import select

from lib.deals.fields import DEALS
from lib.deals.price_slips import PriceScale, price_slip
from lib.deals.store.tables import demand_deals, supply_package_deals
from lib.deals.store.work import Fields, Work


def price_warnings(work: Work, entity: str, fields: Fields, before: Fields | None) -> list[str]:
    """Sentences about the prices among these fields, which are not written yet; `before` is the entity."""
    return [f"{slip[0].upper()}{slip[1:]}." for slip in _slips(work, entity, fields, before or {}) if slip]


def _slips(work: Work, entity: str, fields: Fields, before: Fields) -> Iterator[str]:
    if entity == DEALS:
        if (price := fields.get("price")) is not None and price != before.get("price"):
            whole = {**before, **fields}
            packages = [package["id"] for package in whole.get("supply_deals") or ()]
            own = _list_prices(work, packages, before.get("id")) if not before.get("price") else []
            yield price_slip(price, [PriceScale.before(before.get("price")), PriceScale.of_package(own)])
        return
    new_deals = fields.get("create_demand_deals") or {}
    prices = [option["price"] for option in new_deals.get("demand_deals_options", ())]
    existing = _list_prices(work, [before["id"]], None) if prices and "id" in before else []
    for index, price in enumerate(prices):
        others = [*existing, *prices[:index], *prices[index + 1 :]]
        yield price_slip(price, [PriceScale.of_package(others)])


def _list_prices(work: Work, packages: Collection[int], without: int | None) -> list[Decimal]:
    """The prices of the deals of these packages that the caller may see, without those of one deal."""
    deal, link = demand_deals.c, supply_package_deals.c
    prices = (
        select(deal.price)
        .join(supply_package_deals, link.demand_deal_id == deal.id)
        .where(link.supply_package_id.in_(packages), deal.id != (without or 0))
        .where(*work.scope.visibility(demand_deals))
    )
    return [row.price for row in work.connection.execute(prices)] if packages else []
