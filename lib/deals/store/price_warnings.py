"""Warnings about the prices of a request, by lib/deals/price_slips.py: the service has no report to ask.

A price is compared with the one before, else with the list prices of the same package that the caller may
see, and those of the same request.
"""

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal

from sqlalchemy import func, select

from lib.deals.fields import DEALS
from lib.deals.price_slips import PriceScale, price_slip
from lib.deals.store.tables import demand_deals, supply_package_deals
from lib.deals.store.work import Fields, Work


def price_warnings(work: Work, entity: str, fields: Fields, before: Fields | None) -> list[str]:
    """Sentences about the prices among these fields, which are not written yet; `before` is the entity."""
    if entity == DEALS:
        [sentences] = deal_warnings(work, [(fields, before or {})])
        return sentences
    new_deals = fields.get("create_demand_deals") or {}
    prices = [option["price"] for option in new_deals.get("demand_deals_options", ())]
    package = (before or {}).get("id")
    existing = _list_prices(work, {package}).get(package, ()) if prices and package else ()
    scales = (
        PriceScale.of_package([*existing, *prices[:index], *prices[index + 1 :]])
        for index in range(len(prices))
    )
    return _sentences(price_slip(price, [scale]) for price, scale in zip(prices, scales, strict=True))


def deal_warnings(work: Work, deals: Sequence[tuple[Fields, Fields]]) -> list[list[str]]:
    """The same about each of several deals, as their fields and as what they were before; in one look."""
    packages_of_deal = [
        [package["id"] for package in fields.get("supply_deals") or () if "id" in package]
        if not before.get("price")
        else []
        for fields, before in deals
    ]
    prices = _list_prices(work, {package for packages in packages_of_deal for package in packages})
    return [
        _sentences(
            [_slip(fields, before, [price for package in packages for price in prices.get(package, ())])]
        )
        for (fields, before), packages in zip(deals, packages_of_deal, strict=True)
    ]


def _slip(fields: Fields, before: Fields, others: Sequence[Decimal]) -> str:
    price, price_before = fields.get("price"), before.get("price")
    if price is None or price == price_before:
        return ""
    return price_slip(price, [PriceScale.before(price_before), PriceScale.of_package(others)])


def _list_prices(work: Work, packages: Collection[int]) -> dict[int, tuple[Decimal, Decimal]]:
    """The lowest and the highest price of the deals of each package that the caller may see."""
    deal, link = demand_deals.c, supply_package_deals.c
    prices = (
        select(link.supply_package_id, func.min(deal.price), func.max(deal.price))
        .join(supply_package_deals, link.demand_deal_id == deal.id)
        .where(link.supply_package_id.in_(packages), deal.price > Decimal(0))
        .where(*work.scope.visibility(demand_deals))
        .group_by(link.supply_package_id)
    )
    rows = work.connection.execute(prices).all() if packages else []
    return {package: (lowest, highest) for package, lowest, highest in rows}


def _sentences(slips: Iterable[str]) -> list[str]:
    return [f"{slip[0].upper()}{slip[1:]}." for slip in slips if slip]
