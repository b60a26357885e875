"""Warnings about a request: what is valid and probably a slip (lib/deals/doubts.py).

The service asks no report. A price is compared with the one before, else with the list prices of the same
package that the caller may see, and those of the same request; a guarantee with what the deal had lately by a
report that the caller may see, as far as that is stored beside its health.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import func, select

from lib.deals import doubts
from lib.deals.delivery import PERIODS
from lib.deals.doubts import PriceScale, currency_slip, price_slip
from lib.deals.fields import DEALS, SUPPLY
from lib.deals.store import tables as t
from lib.deals.store.work import Fields, Work

DAYS = max(PERIODS)
TERMS, DATES = ("price", "units", "budget"), ("start_date", "end_date")
Booking = tuple[datetime | None, datetime | None]
ListPrices = Mapping[tuple[int, str], Sequence[Decimal]]
"""The lowest and the highest price by package and currency."""


def request_warnings(
    work: Work, entity: str, body: Any, fields: Fields, before: Fields | None = None
) -> list[str]:
    """Sentences about a request, whose `fields` are not written yet; `before` is the entity, None for a new
    one."""
    if entity == DEALS:
        [sentences] = deal_warnings(work, [(fields, before or {})])
        return sentences
    if entity != SUPPLY:
        return []
    new_deals = fields.get("create_demand_deals") or {}
    prices = [
        (option["price"], option.get("currency") or new_deals.get("currency") or work.currency)
        for option in new_deals.get("demand_deals_options", ())
    ]
    package: Any = (before or {}).get("id")
    list_prices = _list_prices(work, {package} if prices and package else ())
    slips = []
    for index, (price, currency) in enumerate(prices):
        others = [other for other, own in prices[:index] + prices[index + 1 :] if own == currency]
        existing = list_prices.get((package, currency), ())
        slips.append(price_slip(price, [PriceScale.of_package([*existing, *others])]))
    paces = (
        _paces_of_package(work, package, fields) if package and not fields.keys().isdisjoint(DATES) else []
    )
    return _sentences([*doubts.of_package(body, work.now), *slips, *paces])


def deal_warnings(work: Work, deals: Sequence[tuple[Fields, Fields]]) -> list[list[str]]:
    """The same about each of several deals, as their fields and as what they were before; in one look."""
    wholes = [{**before, **fields} for fields, before in deals]
    new_packages = {
        package
        for whole, (_, before) in zip(wholes, deals, strict=True)
        if not before.get("price")
        for package in _packages(whole)
    }
    prices = _list_prices(work, new_packages)
    has_units = [
        whole.get("units") is not None and ("units" in fields or "supply_deals" in fields)
        for whole, (fields, _) in zip(wholes, deals, strict=True)
    ]
    guarantees = [whole for whole, has in zip(wholes, has_units, strict=True) if has]
    bookings = _bookings(work, {package for whole in guarantees for package in _packages(whole)})
    daily = _daily(work, {whole["id"] for whole in guarantees if "id" in whole})
    warnings = []
    for (fields, before), whole, has in zip(deals, wholes, has_units, strict=True):
        sentences = [_slip(work, fields, before, _packages(whole), prices)]
        if not fields.keys().isdisjoint(TERMS):
            sentences += doubts.of_terms(whole)
        if has:
            of_deal = [bookings[package] for package in _packages(whole) if package in bookings]
            sentences += _pace(work, whole["units"], of_deal, daily.get(whole.get("id", 0)))
        warnings.append(_sentences(sentences))
    return warnings


def _packages(deal: Fields) -> list[int]:
    return [package["id"] for package in deal.get("supply_deals") or () if "id" in package]


def _slip(work: Work, fields: Fields, before: Fields, packages: Sequence[int], prices: ListPrices) -> str:
    price, price_before = fields.get("price", before.get("price")), before.get("price")
    currency, currency_before = (
        deal.get("currency") or work.currency for deal in ({**before, **fields}, before)
    )
    if price is None or price == price_before:
        return currency_slip(currency_before, currency) if price_before else ""
    others = [other for package in packages for other in prices.get((package, currency), ())]
    scale_before = PriceScale.before(price_before if currency == currency_before else None)
    return price_slip(price, [scale_before, PriceScale.of_package(others)])


def _pace(work: Work, units: Decimal, bookings: Sequence[Booking], daily: float | None) -> list[str]:
    """What is odd about a guarantee, from the first start to the last end of a deal's packages."""
    if not bookings:
        return []
    ends = [end for _, end in bookings]
    end = None if None in ends else max(filter(None, ends))
    start = min((start for start, _ in bookings if start is not None), default=None)
    return doubts.of_guarantee(units, end, start, daily, work.now, "the deal")


def _paces_of_package(work: Work, package: int, fields: Fields) -> list[str]:
    """What new dates of a package make of the guarantees of its deals that the caller may see."""
    deal, link = t.demand_deals.c, t.supply_package_deals.c
    guarantees = (
        select(deal.id, deal.name, deal.units)
        .join(t.supply_package_deals, link.demand_deal_id == deal.id)
        .where(link.supply_package_id == package, deal.units.is_not(None))
        .where(*work.scope.visibility(t.demand_deals))
        .order_by(deal.id)
    )
    rows = work.rows(guarantees)
    [(start, end)] = [*_bookings(work, {package}).values()] or [(None, None)]
    booking = (fields.get("start_date", start), fields.get("end_date", end))
    daily = _daily(work, {row.id for row in rows})
    return [
        f"{sentence} ({row.name})"
        for row in rows
        for sentence in _pace(work, row.units, [booking], daily.get(row.id))
    ]


def _bookings(work: Work, packages: Collection[int]) -> dict[int, Booking]:
    """From when to when packages run, as far as the caller may see them."""
    package = t.supply_packages.c
    dates = (
        select(package.id, package.start_date, package.end_date)
        .where(package.id.in_(packages))
        .where(*work.scope.visibility(t.supply_packages))
    )
    return {row.id: (row.start_date, row.end_date) for row in (work.rows(dates) if packages else ())}


def _daily(work: Work, deals: Collection[int]) -> Mapping[int, float]:
    """The impressions a day that deals had lately, by the report that has most; none of unknown ones."""
    report, figure = t.health_reports.c, t.deal_health.c[f"impressions_{DAYS}_days"]
    figures = (
        select(t.deal_health.c.deal_id, report.project, report.slicer, figure.label("impressions"))
        .join(t.health_reports, report.id == t.deal_health.c.report_id)
        .where(t.deal_health.c.deal_id.in_(deals), figure > 0)
        .order_by(figure)
    )
    return {
        row.deal_id: float(row.impressions) / DAYS
        for row in (work.rows(figures) if deals else ())
        if work.scope.may_see(row.project, row.slicer)
    }


def _list_prices(work: Work, packages: Collection[int]) -> ListPrices:
    """Those of the deals of each package that the caller may see."""
    deal, link = t.demand_deals.c, t.supply_package_deals.c
    prices = (
        select(link.supply_package_id, deal.currency, func.min(deal.price), func.max(deal.price))
        .join(t.supply_package_deals, link.demand_deal_id == deal.id)
        .where(link.supply_package_id.in_(packages), deal.price > Decimal(0))
        .where(*work.scope.visibility(t.demand_deals))
        .group_by(link.supply_package_id, deal.currency)
    )
    rows: Iterable[Any] = work.connection.execute(prices).all() if packages else []
    list_prices: defaultdict[tuple[int, str], list[Decimal]] = defaultdict(list)
    for package, currency, lowest, highest in rows:
        list_prices[package, currency or work.currency] += [lowest, highest]
    return list_prices


def _sentences(warnings: Iterable[str]) -> list[str]:
    return [f"{warning[0].upper()}{warning[1:]}." for warning in dict.fromkeys(warnings) if warning]
