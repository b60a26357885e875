"""The cases of a write that rules judge (lib/deals/warnings.py): what it makes, and what the caller may see
that it can be compared with. No report is asked here; that is done once the transaction has ended."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any

from pydantic import ValidationError
from sqlalchemy import ColumnElement, Select, func, select, tuple_

from lib.deals import moments
from lib.deals.comparisons import NEW_DEALS, Case, Promise
from lib.deals.fields import DEALS, SUPPLY
from lib.deals.models import AppList, DomainList, Seat, SupplyPackage, Targeting
from lib.deals.store import tables as t
from lib.deals.store.entity_stores import APP_LISTS, DOMAIN_LISTS
from lib.deals.store.entity_stores import SUPPLY as PACKAGES
from lib.deals.store.work import Fields, Work
from lib.deals.targeting.filters import entries
from lib.wire.currencies import currency_counts

LISTS = (("domain_list_targetings", DOMAIN_LISTS, DomainList), ("app_list_targetings", APP_LISTS, AppList))
PRICES, PROMISES = {"price", "currency"}, {"units", "supply_deals"}
FEW = 5_000
"""The pairs of packages and seats that one statement looks for: SQLite takes 32,766 values."""
_DEAL, _LINK = t.demand_deals.c, t.supply_package_deals.c
Pair = tuple[int, int | None]
"""The ids of a package and of a seat."""
Guarantee = tuple[Decimal, int | None, Decimal | None]
"""Guaranteed impressions, and the seat and price of their deal; a price in the usual currency alone."""
Twin = tuple[int, str, int]
"""A deal of the same package and seat: its index as in a Ranking, its name, and how many there are."""
Ranking = list[tuple[Decimal, int]]
"""Prices from the lowest, each with the index of its deal in the request; -1 for others."""


def cases_of(work: Work, entity: str, writes: Sequence[tuple[Fields, Fields]]) -> list[list[Case]]:
    """The cases of each of these writes of one kind: its fields, and the entity before; empty for a new one.

    A package has its own case, and one for each deal that is created with it.
    """
    if entity == DEALS:
        deals = [
            Case("deal", before | fields, frozenset(fields), work.now, before, work.currency)
            for fields, before in writes
        ]
        return [[case] for case in _with_others(work, deals)]
    return [_of_package(work, *write) if entity == SUPPLY else [] for write in writes]


def _of_package(work: Work, fields: Fields, before: Fields) -> list[Case]:
    dates = {name: before[name] for name in ("start_date", "end_date") if before}
    before = before | {name: moments.parse(at) if isinstance(at, str) else at for name, at in dates.items()}
    case = Case("package", before | fields, frozenset(fields), work.now, before, work.currency)
    deals = _with_others(work, case.new_deals)
    if not before:
        return [case, *deals]
    if before.get("status") == "active" and not fields.keys().isdisjoint(dates):
        running = _of_others(work, [before["id"]], (), func.count()).where(_DEAL.is_active)
        case.running = int(work.connection.execute(running).scalar_one())
    start, new_start = before.get("start_date"), case.after.get("start_date")
    end, new_end = before.get("end_date"), case.after.get("end_date")
    is_shorter = end != new_end and (new_end is None or end is None or new_end < end)
    is_later = start is not None and new_start is not None and new_start > start
    # More days need no question; fewer do, and others to sell.
    if is_shorter or is_later or not case.names.isdisjoint(Targeting.model_fields):
        guarantees = _guarantees(work, {before["id"]})[before["id"]]
        case.promise = _promise(work, case.after, guarantees)
    if fields.get("demand_deals") is not None:
        old, new = ({deal["id"] for deal in side.get("demand_deals") or ()} for side in (before, fields))
        has_other = select(_LINK.demand_deal_id).where(_LINK.supply_package_id != before["id"])
        visible = work.scope.visibility(t.demand_deals)
        orphans = select(_DEAL.name).where(_DEAL.id.in_(old - new), _DEAL.id.not_in(has_other), *visible)
        case.unlinked = [row.name for row in work.rows(orphans.order_by(_DEAL.id))]
    return [case, *deals]


def _with_others(work: Work, deals: Sequence[Case]) -> Sequence[Case]:
    """Deals of one request, with what others in their packages have."""
    own = [case.before["id"] for case in deals if case.before]
    with_price = [
        case for case in deals if PRICES & case.names and case.after.get("price") and not case.price_before
    ]
    with_promise = [case for case in deals if PROMISES & case.names and case.after.get("units") is not None]
    _add_promises(work, with_promise, own)
    _add_prices(work, with_price, own)
    _add_twins(work, [case for case in deals if {"seat", "supply_deals"} & case.names], own)
    # The media type and the dates of packages that the caller may see.
    ids = {id_ for case in (*with_price, *with_promise) for id_ in _packages(case.after)}
    package = t.supply_packages.c
    query = select(package.id, package.media_type, package.start_date, package.end_date)
    visible = (package.id.in_(ids), *work.scope.visibility(t.supply_packages))
    rows = {row.id: dict(row._mapping) for row in (work.rows(query.where(*visible)) if ids else ())}
    changes = [case for case in deals if case.before and "price" in case.names]
    same_price = ""
    if len({case.after["price"] for case in changes}) == 1:
        same_price = currency_counts(case.after.get("currency") or work.currency for case in changes)
    for case in deals:
        case.packages = case.packages or [rows[id_] for id_ in _packages(case.after) if id_ in rows]
        case.same_price = same_price if "price" in case.names else ""
    return deals


def _packages(deal: Mapping[str, Any]) -> list[int]:
    return [package["id"] for package in deal.get("supply_deals") or () if "id" in package]


def _pairs(deal: Mapping[str, Any]) -> set[Pair]:
    return {(package, (deal.get("seat") or {}).get("id")) for package in _packages(deal)}


def _add_promises(work: Work, deals: Sequence[Case], own: Collection[int]) -> None:
    """What deals of one package each promise in all, at the last of this request."""
    last = {ids[0]: case for case in deals if len(ids := _packages(case.after)) == 1}
    if not last:
        return
    guarantees = _guarantees(work, last, own)
    for case in deals:
        if len(ids := _packages(case.after)) == 1:
            price = case.after.get("price") if case.currency(case.after) == work.currency else None
            guarantees[ids[0]].append((case.after["units"], (case.after.get("seat") or {}).get("id"), price))
    package_ids = [package for package, case in last.items() if not case.packages]
    bodies = {body["id"]: body for body in PACKAGES.show(work, package_ids)} if package_ids else {}
    for package, case in last.items():
        for body in case.packages or filter(None, [bodies.get(package)]):
            case.promise = _promise(work, body, guarantees[package])


def _promise(work: Work, body: Mapping[str, Any], guarantees: Sequence[Guarantee]) -> Promise | None:
    if not guarantees:
        return None
    names = {*SupplyPackage.model_fields} - {NEW_DEALS, "demand_deals", "packages"}
    try:
        package = SupplyPackage.model_validate({name: body[name] for name in names & body.keys()})
    except ValidationError:  # of a request that is refused anyway
        return None
    buyers = tuple((Seat(id=seat), price) for _, seat, price in guarantees if seat)
    units = sum((Decimal(units) for units, *_ in guarantees), Decimal(0))
    lists: list[DomainList | AppList] = []
    for name, store, model in LISTS:
        if ids := [target.id for target in getattr(package, name)]:
            lists += [model.model_validate(body) for body in store.show(work, ids)]
    return Promise(units, package, buyers, entries(lists))


def _guarantees(
    work: Work, packages: Collection[int], without: Collection[int] = ()
) -> defaultdict[int, list[Guarantee]]:
    """What other deals of packages promise, as far as the caller may see them."""
    columns = (_LINK.supply_package_id, _DEAL.units, _DEAL.seat_id, _DEAL.price, _DEAL.currency)
    guarantees: defaultdict[int, list[Guarantee]] = defaultdict(list)
    for row in work.rows(_of_others(work, packages, without, *columns).where(_DEAL.units.is_not(None))):
        price = row.price if row.currency in (None, work.currency) else None
        guarantees[row.supply_package_id].append((row.units, row.seat_id, price))
    return guarantees


def _of_others(
    work: Work, packages: Collection[int], without: Collection[int], *columns: ColumnElement[Any]
) -> Select[Any]:
    """Columns of the deals of packages that the caller may see, but for those of the request."""
    deals = t.supply_package_deals.join(t.demand_deals, _LINK.demand_deal_id == _DEAL.id)
    query = select(*columns).select_from(deals).where(*work.scope.visibility(t.demand_deals))
    query = query.where(_LINK.supply_package_id.in_(packages))
    return query.where(_DEAL.id.not_in(without)) if without else query


def _add_prices(work: Work, deals: Sequence[Case], own: Collection[int]) -> None:
    """The lowest and the highest price of the other deals of each package, by currency."""
    packages = {id_ for case in deals for id_ in _packages(case.after)}
    columns = (_LINK.supply_package_id, _DEAL.currency, func.min(_DEAL.price), func.max(_DEAL.price))
    query = _of_others(work, packages, own, *columns).where(_DEAL.price > Decimal(0))
    rows = work.connection.execute(query.group_by(*columns[:2])) if packages else ()
    prices: defaultdict[int, defaultdict[str, Ranking]] = defaultdict(lambda: defaultdict(list))
    for package, currency, low, high in rows:
        prices[package][currency or work.currency] += [(low, -1), (high, -1)]
    for index, case in enumerate(deals):
        for package in _packages(case.after):
            prices[package][case.currency(case.after)].append((case.after["price"], index))
    for rankings in prices.values():
        for ranking in rankings.values():
            ranking.sort()
    for index, case in enumerate(deals):
        case.prices = [
            (price, currency)
            for package in _packages(case.after)
            for currency, ranking in prices[package].items()
            for price, owner in (*ranking[:2], *ranking[-2:])  # two, as one of them may be the deal's own
            if owner != index
        ]


def _add_twins(work: Work, deals: Sequence[Case], own: Collection[int]) -> None:
    """The other deals of each package and seat that these deals come to."""
    pairs_of = [_pairs(case.after) - _pairs(case.before) for case in deals]
    pairs = set[Pair]().union(*pairs_of)
    twins: defaultdict[Pair, list[Twin]] = defaultdict(list)
    package, seat = _LINK.supply_package_id, _DEAL.seat_id
    columns = (package, seat, func.min(_DEAL.name), func.count())
    query = _of_others(work, {number for number, _ in pairs}, own, *columns).group_by(package, seat)
    # SQLite would look up the deals of many seats by an index, all of them: those of the packages are few.
    number = seat + 0
    buyers = {buyer for _, buyer in pairs}
    query = query.where(tuple_(package, number).in_(pairs) if len(pairs) <= FEW else number.in_(buyers))
    for package_id, buyer, name, times in work.connection.execute(query) if pairs else ():
        twins[package_id, buyer].append((-1, name, times))
    for index, case in enumerate(deals):
        for pair in pairs_of[index]:
            twins[pair].append((index, case.after.get("name") or "another of this request", 1))
    for index, case in enumerate(deals):
        others = [twin for pair in pairs_of[index] for twin in twins[pair] if twin[0] != index]
        case.twins = sum(times for _, _, times in others), next((name for _, name, _ in others), "")
