"""Warnings about the prices of a request, by lib/deals/price_slips.py: the service has no report to ask.

A price is compared with the one before, else with the list prices of the same package that the caller may
see, and those of the same request; always with those in its own currency alone.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlalchemy import func, select

from lib.deals.fields import DEALS
from lib.deals.price_slips import PriceScale, currency_slip, price_slip
from lib.deals.store.tables import demand_deals, supply_package_deals
from lib.deals.store.work import Fields, Work

ListPrices = Mapping[tuple[int, str], Sequence[Decimal]]
"""The lowest and the highest price by package and currency."""


def price_warnings(work: Work, entity: str, fields: Fields, before: Fields | None) -> list[str]:
    """Sentences about the prices among these fields, which are not written yet; `before` is the entity."""
    if entity == DEALS:
        [sentences] = deal_warnings(work, [(fields, before or {})])
        return sentences
    new_deals = fields.get("create_demand_deals") or {}
    prices = [
        (option["price"], option.get("currency") or new_deals.get("currency") or work.currency)
        for option in new_deals.get("demand_deals_options", ())
    ]
    package = (before or {}).get("id", 0)
    list_prices = _list_prices(work, {package} if prices and package else ())
    slips = []
    for index, (price, currency) in enumerate(prices):
        others = [other for other, own in prices[:index] + prices[index + 1 :] if own == currency]
        existing = list_prices.get((package, currency), ())
        slips.append(price_slip(price, [PriceScale.of_package([*existing, *others])]))
    return _sentences(slips)


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
        _sentences(_slips(work, fields, before, packages, prices))
        for (fields, before), packages in zip(deals, packages_of_deal, strict=True)
    ]


def _slips(
    work: Work, fields: Fields, before: Fields, packages: Sequence[int], prices: ListPrices
) -> list[str]:
    price, price_before = fields.get("price", before.get("price")), before.get("price")
    currency, currency_before = (
        deal.get("currency") or work.currency for deal in ({**before, **fields}, before)
    )
    if price is None or price == price_before:
        return [currency_slip(currency_before, currency) if price_before else ""]
    others = [other for package in packages for other in prices.get((package, currency), ())]
    scale_before = PriceScale.before(price_before if currency == currency_before else None)
    return [price_slip(price, [scale_before, PriceScale.of_package(others)])]


def _list_prices(work: Work, packages: Collection[int]) -> ListPrices:
    """Those of the deals of each package that the caller may see."""
    deal, link = demand_deals.c, supply_package_deals.c
    prices = (
        select(link.supply_package_id, deal.currency, func.min(deal.price), func.max(deal.price))
        .join(supply_package_deals, link.demand_deal_id == deal.id)
        .where(link.supply_package_id.in_(packages), deal.price > Decimal(0))
        .where(*work.scope.visibility(demand_deals))
        .group_by(link.supply_package_id, deal.currency)
    )
    rows: Iterable[Any] = work.connection.execute(prices).all() if packages else []
    list_prices: defaultdict[tuple[int, str], list[Decimal]] = defaultdict(list)
    for package, currency, lowest, highest in rows:
        list_prices[package, currency or work.currency] += [lowest, highest]
    return list_prices


def _sentences(slips: Iterable[str]) -> list[str]:
    return [f"{slip[0].upper()}{slip[1:]}." for slip in slips if slip]
