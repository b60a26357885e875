"""The cases of a write that rules judge (lib/deals/warnings.py): what it makes, and what the caller may see
that it can be compared with. No report is asked here; that is done once the transaction has ended."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

from pydantic import ValidationError
from sqlalchemy import ColumnElement, func, select

from lib.deals import moments
from lib.deals.currencies import currency_counts
from lib.deals.fields import DEALS, SUPPLY
from lib.deals.models import AppList, DomainList, Seat, SupplyPackage, Targeting
from lib.deals.store import tables as t
from lib.deals.store.entity_stores import APP_LISTS, DOMAIN_LISTS
from lib.deals.store.entity_stores import SUPPLY as PACKAGES
from lib.deals.store.work import Fields, Work
from lib.deals.targeting.filters import Lists, entries
from lib.deals.warnings import Case, Promise

NEW_DEALS, OPTIONS = "create_demand_deals", "demand_deals_options"
LISTS = (("domain_list_targetings", DOMAIN_LISTS, DomainList), ("app_list_targetings", APP_LISTS, AppList))
_DEAL, _LINK = t.demand_deals.c, t.supply_package_deals.c


def cases_of(work: Work, entity: str, writes: Sequence[tuple[Fields, Fields]]) -> list[list[Case]]:
    """The cases of each of these writes of one kind: its fields, and the entity before; empty for a new one.

    A package has its own case, and one for each deal that is created with it.
    """
    if entity == DEALS:
        return [[case] for case in _of_deals(work, writes)]
    return [_of_package(work, *write) if entity == SUPPLY else [] for write in writes]


@dataclass(frozen=True)
class _Deal:
    """A deal as a write makes it: its place in the request, and the ids of its packages."""

    fields: Fields
    before: Fields
    place: tuple[str | int, ...] = ()

    @cached_property
    def after(self) -> Fields:
        return {**self.before, **self.fields}

    @cached_property
    def seat(self) -> int | None:
        return (self.after.get("seat") or {}).get("id")

    @cached_property
    def packages(self) -> list[int]:
        return [package["id"] for package in self.after.get("supply_deals") or () if "id" in package]

    @cached_property
    def pairs(self) -> set[tuple[int, int | None]]:
        """Package and seat of it, where either is new."""
        old_seat = (self.before.get("seat") or {}).get("id")
        old = {(package["id"], old_seat) for package in self.before.get("supply_deals") or ()}
        return {(package, self.seat) for package in self.packages} - old

    @cached_property
    def is_priced(self) -> bool:
        """Whether it has a new price that no price before can be compared with."""
        return self.after.get("price") is not None and not (
            self.before.get("price") and self.before.get("currency") == self.after.get("currency")
        )

    @cached_property
    def promises(self) -> bool:
        """Whether the write says how much is guaranteed, or where."""
        return self.after.get("units") is not None and not {"units", "supply_deals"}.isdisjoint(self.fields)


def _of_deals(
    work: Work, writes: Sequence[tuple[Fields, Fields]], new_package: Fields | None = None
) -> list[Case]:
    """Each with what is known of its packages; `new_package` is one that is written with them."""
    deals = [_Deal(*write) for write in writes]
    own = [deal.before["id"] for deal in deals if "id" in deal.before]
    package_ids = {package for deal in deals if deal.is_priced or deal.promises for package in deal.packages}
    rows = _packages(work, package_ids)
    prices = _list_prices(work, {p for deal in deals if deal.is_priced for p in deal.packages}, own)
    twins = _twins(work, {pair for deal in deals for pair in deal.pairs}, own)
    for deal in deals:
        for pair in deal.pairs:
            twins[pair].append(str(deal.fields.get("name") or "another of this request"))
    request_prices: defaultdict[int | None, list[tuple[int, Decimal, str]]] = defaultdict(list)
    for index, deal in enumerate(deals):
        for package in _places(deal, new_package):
            if deal.is_priced:
                currency = deal.after.get("currency") or work.currency
                request_prices[package].append((index, deal.after["price"], currency))
    promises = _promises(work, deals, own, new_package)
    same_price = _same_price(work, deals)
    cases = []
    for index, deal in enumerate(deals):
        places = _places(deal, new_package)
        others = [
            (price, currency)
            for package in places
            for number, price, currency in request_prices[package]
            if number != index
        ]
        others += [pair for package in places if package is not None for pair in prices[package]]
        names = [
            name
            for pair in deal.pairs
            for name in _without_own(twins[pair], str(deal.fields.get("name") or "another of this request"))
        ]
        packages = [rows[package] for package in deal.packages if package in rows]
        case = Case(
            "deal", deal.after, frozenset(deal.fields), work.now, deal.before, work.currency,
            others if deal.is_priced else (), packages if new_package is None else [new_package], names,
            same_price=same_price if "price" in deal.fields else "", promise=promises.get(index),
        )  # fmt: skip
        cases.append(case)
    return cases


def _places(deal: _Deal, new_package: Fields | None) -> Sequence[int | None]:
    """The packages of a deal by id; None is one that is new."""
    return deal.packages or ([None] if new_package is not None else [])


def _without_own(names: list[str], own: str) -> list[str]:
    """Names without one that is its own."""
    rest = [*names]
    if own in rest:
        rest.remove(own)
    return rest


def _of_package(work: Work, fields: Fields, before: Fields) -> list[Case]:
    before = before | {name: _moment(before.get(name)) for name in ("start_date", "end_date") if before}
    after = {**before, **fields}
    number = before.get("id")
    case = Case("package", after, frozenset(fields), work.now, before, work.currency)
    runs = before.get("status") == "active" and not fields.keys().isdisjoint(("start_date", "end_date"))
    if number is not None:
        promise = _promise(work, after, _guarantees(work, {number})[number]) if _leaves_less(case) else None
        running = _running(work, number) if runs else 0
        case = replace(
            case, running=running, promise=promise, unlinked=_deals_without_package(work, fields, before)
        )
    new_deals = fields.get(NEW_DEALS) or {}
    links = [] if number is None else [{"id": number}]
    # The terms that are set, of one of the new deals or of all.
    options: list[tuple[Fields, Fields]] = [
        (
            {
                **{name: value for name, value in new_deals.items() if name != OPTIONS and value is not None},
                **{name: value for name, value in option.items() if value is not None},
            }
            | {"supply_deals": links},
            {},
        )
        for option in new_deals.get(OPTIONS) or ()
    ]
    places = ((NEW_DEALS, OPTIONS, index) for index in range(len(options)))
    deals = _of_deals(work, options, after) if options else []
    return [case, *(replace(deal, place=place) for deal, place in zip(deals, places, strict=True))]


def _moment(value: Any) -> Any:
    return moments.parse(value) if isinstance(value, str) else value


def _leaves_less(case: Case) -> bool:
    """Whether a package has fewer days, or others to sell, after a change: more days need no question."""
    if not case.names.isdisjoint(Targeting.model_fields):
        return True
    (start, end), (new_start, new_end) = (
        [side.get(name) for name in ("start_date", "end_date")] for side in (case.before, case.after)
    )
    is_shorter = end != new_end and (new_end is None or end is None or new_end < end)
    return is_shorter or (start is not None and new_start is not None and new_start > start)


Guarantee = tuple[Decimal, int, Decimal | None]
"""Guaranteed impressions, and the seat and price of their deal; a price in the usual currency alone."""


def _promises(
    work: Work, deals: Sequence[_Deal], own: Collection[int], new_package: Fields | None
) -> dict[int, Promise]:
    """What the deals of each package promise in all, at the last of this request."""
    last: dict[int | None, int] = {}
    guarantees: defaultdict[int | None, list[Guarantee]] = defaultdict(list)
    for index, deal in enumerate(deals):
        is_alone = len(deal.packages) == 1 or (new_package is not None and not deal.packages)
        if is_alone and deal.promises:
            number = deal.packages[0] if deal.packages else None
            currency = deal.after.get("currency") or work.currency
            price = deal.after.get("price") if currency == work.currency else None
            guarantees[number].append((deal.after["units"], deal.seat or 0, price))
            last[number] = index
    ids = {number for number in last if number is not None}
    others = _guarantees(work, ids, own)
    bodies = {body["id"]: body for body in PACKAGES.show(work, [*ids])} if ids and new_package is None else {}
    promises = {}
    for number, index in last.items():
        body = new_package if new_package is not None else bodies.get(number)
        more = others[number] if number is not None else []
        if body is not None and (promise := _promise(work, body, [*guarantees[number], *more])) is not None:
            promises[index] = promise
    return promises


def _promise(work: Work, body: Fields, guarantees: Sequence[Guarantee]) -> Promise | None:
    if not guarantees:
        return None
    names = {*SupplyPackage.model_fields} - {NEW_DEALS, "demand_deals", "packages"}
    try:
        package = SupplyPackage.model_validate({name: body[name] for name in names & body.keys()})
    except ValidationError:  # of a request that is refused anyway
        return None
    buyers = tuple((Seat(id=seat), price) for _, seat, price in guarantees if seat)
    units = sum((Decimal(units) for units, *_ in guarantees), Decimal(0))
    return Promise(units, package, buyers, _lists(work, package))


def _lists(work: Work, package: SupplyPackage) -> Lists:
    """The entries of the lists in a targeting."""
    lists: list[DomainList | AppList] = []
    for name, store, model in LISTS:
        if ids := [target.id for target in getattr(package, name)]:
            lists += [model.model_validate(body) for body in store.show(work, ids)]
    return entries(lists)


def _guarantees(
    work: Work, packages: Collection[int], without: Collection[int] = ()
) -> defaultdict[int, list[Guarantee]]:
    """What other deals of packages promise, as far as the caller may see them."""
    guarantees: defaultdict[int, list[Guarantee]] = defaultdict(list)
    query = (
        select(_LINK.supply_package_id, _DEAL.units, _DEAL.seat_id, _DEAL.price, _DEAL.currency)
        .join(t.supply_package_deals, _LINK.demand_deal_id == _DEAL.id)
        .where(_LINK.supply_package_id.in_(packages), _DEAL.units.is_not(None))
        .where(*_others(work, without))
    )
    for row in work.rows(query) if packages else ():
        price = row.price if row.currency in (None, work.currency) else None
        guarantees[row.supply_package_id].append((row.units, row.seat_id, price))
    return guarantees


def _others(work: Work, without: Collection[int]) -> list[ColumnElement[bool]]:
    """The conditions for deals that the caller may see, but for those of the request."""
    return [*work.scope.visibility(t.demand_deals), *([_DEAL.id.not_in(without)] if without else [])]


def _packages(work: Work, ids: Collection[int]) -> dict[int, Fields]:
    """The media type and the dates of packages that the caller may see."""
    package = t.supply_packages.c
    query = select(package.id, package.media_type, package.start_date, package.end_date)
    visible = (package.id.in_(ids), *work.scope.visibility(t.supply_packages))
    return {row.id: dict(row._mapping) for row in (work.rows(query.where(*visible)) if ids else ())}


def _running(work: Work, package: int) -> int:
    """How many active deals of a package the caller may see."""
    query = (
        select(func.count())
        .select_from(t.demand_deals)
        .join(t.supply_package_deals, _LINK.demand_deal_id == _DEAL.id)
        .where(_LINK.supply_package_id == package, _DEAL.is_active, *work.scope.visibility(t.demand_deals))
    )
    return int(work.connection.execute(query).scalar_one())


def _deals_without_package(work: Work, fields: Fields, before: Fields) -> list[str]:
    """The names of the deals that have no package any more, of those that the caller may see."""
    if fields.get("demand_deals") is None:
        return []
    old, new = ({deal["id"] for deal in side.get("demand_deals") or ()} for side in (before, fields))
    has_other = select(_LINK.demand_deal_id).where(_LINK.supply_package_id != before["id"])
    conditions = (_DEAL.id.in_(old - new), _DEAL.id.not_in(has_other), *_others(work, ()))
    return [row.name for row in work.rows(select(_DEAL.name).where(*conditions).order_by(_DEAL.id))]


def _list_prices(
    work: Work, packages: Collection[int], without: Collection[int]
) -> defaultdict[int, list[tuple[Decimal, str]]]:
    """The lowest and the highest price of the other deals of each package, by currency."""
    query = (
        select(_LINK.supply_package_id, _DEAL.currency, func.min(_DEAL.price), func.max(_DEAL.price))
        .join(t.supply_package_deals, _LINK.demand_deal_id == _DEAL.id)
        .where(_LINK.supply_package_id.in_(packages), _DEAL.price > Decimal(0), *_others(work, without))
        .group_by(_LINK.supply_package_id, _DEAL.currency)
    )
    prices: defaultdict[int, list[tuple[Decimal, str]]] = defaultdict(list)
    for package, currency, lowest, highest in work.connection.execute(query) if packages else ():
        prices[package] += [(lowest, currency or work.currency), (highest, currency or work.currency)]
    return prices


def _twins(
    work: Work, pairs: Collection[tuple[int, int | None]], without: Collection[int]
) -> defaultdict[tuple[int, int | None], list[str]]:
    """The names of other deals, by their package and seat."""
    names: defaultdict[tuple[int, int | None], list[str]] = defaultdict(list)
    query = (
        select(_LINK.supply_package_id, _DEAL.seat_id, _DEAL.name)
        .join(t.supply_package_deals, _LINK.demand_deal_id == _DEAL.id)
        .where(_LINK.supply_package_id.in_({package for package, _ in pairs}))
        .where(_DEAL.seat_id.in_({seat for _, seat in pairs}), *_others(work, without))
        .order_by(_DEAL.id)
    )
    for row in work.rows(query) if pairs else ():
        names[row.supply_package_id, row.seat_id].append(row.name)
    return names


def _same_price(work: Work, deals: Sequence[_Deal]) -> str:
    """For which currencies one price is set in a request; empty for one."""
    price_changes = [deal for deal in deals if deal.before and "price" in deal.fields]
    if len({deal.fields["price"] for deal in price_changes}) != 1:
        return ""
    return currency_counts(deal.after.get("currency") or work.currency for deal in price_changes)
