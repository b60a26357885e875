"""A page of a list: search, filters, order, and counts per value of some filters.

A search finds entities that have each of its words and phrases at the beginning of a word, or anywhere in a
deal id, themselves or in linked entities. Packages and deals are found by each other's names, by seats and
DSPs, by codes and contacts, by targeting; not by deals that the caller can't see (the packages of a deal that
is seen are seen too).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, and_, case, func, or_, select

from lib.deals import fields, queries
from lib.deals.delivery import FIGURES
from lib.deals.queries import ListOffer, ListPage, ListQuery
from lib.deals.store import tables as t
from lib.deals.store.entity_store import EntityStore
from lib.deals.store.filters import FILTERS, deliveries, delivery_figure, health_urgency
from lib.deals.store.work import Work
from lib.deals.validation import Problems
from lib.deals.values import LARGEST_ID

LINKS = t.supply_package_deals.c
ID_PART = 4
"""The fewest characters by which a deal id, which has no words, is found from its middle too."""
LISTS = ((t.supply_domain_lists, t.domain_lists), (t.supply_app_lists, t.app_lists))
_DEALS, _SUPPLY = t.demand_deals, t.supply_packages
REFERENCES = {"seat": t.seats, "dsp": t.dsps, "package": t.packages}
NO_REPORT = "There is no such slicer, or you may not see all of it."


def offer(entity: str) -> ListOffer:
    """The query parameters that the list of this entity supports."""
    kinds = queries.KINDS if entity in ("supply_deals", "demand_deals") else ()
    filters = FILTERS[entity]
    no_orders = {field.name for field in fields.of(entity) if not field.is_order}
    own = [
        name
        for name, list_filter in FILTERS[entity].items()
        if list_filter.owner is None and name not in no_orders
    ]
    return ListOffer(
        filters, list(dict.fromkeys([*own, *LINK_ORDERS.get(entity, {})])),
        [name for name in ("status", "media_type", "seat", "dsp") if name in FILTERS[entity]], kinds,
        "health" in filters,
    )  # fmt: skip


def page(work: Work, entity_store: EntityStore, query: ListQuery, problems: Problems) -> ListPage:
    """The page. Invalid if there are `problems` in the end."""
    if query.report != work.report and not work.scope.may_see(*query.report):
        problems.add(("report",), NO_REPORT)
    if query.has_delivery and not query.report[0]:
        problems.add(("report",), "This is needed for delivery.")
    work = replace(work, report=query.report)
    table = entity_store.table
    base = [
        *[
            _has(work, entity_store, term, query.meanings.get(term, ()))
            for term in queries.terms(query.search)
        ],
        *work.scope.visibility(table),
    ]
    filters: dict[str, ColumnElement[bool]] = {}
    for name, texts in query.filters.items():
        try:
            filters[name] = FILTERS[entity_store.entity][name].condition(work, texts)
        except ValueError as error:
            problems.add((name,), f"This {error}.")
    problems.check()
    conditions = [*base, *filters.values()]
    ids = entity_store.table.c.id
    count = select(func.count()).select_from(entity_store.table).where(*conditions)
    order: list[Any] = []
    for name, falls in query.ordering:
        if name == "price":  # prices are compared with those in the same currency alone
            order.append(_currency(entity_store, work).asc().nulls_last())
        by = order_by(entity_store, work, name)
        order.append(by.desc().nulls_last() if falls else by.asc().nulls_last())
    question = select(ids).where(*conditions).order_by(*order, ids).limit(query.limit).offset(query.offset)
    bodies = entity_store.show(work, [row.id for row in work.rows(question)])
    counts_by_filter = {}
    for name in query.counts:
        others = [condition for other, condition in filters.items() if other != name]
        counts_by_filter[name] = counts(work, entity_store, name, [*base, *others])
    whole = work.connection.execute(count).scalar_one()
    part = ListPage(whole, query.limit, query.offset, bodies, counts_by_filter)
    if not query.has_delivery:
        return part
    return replace(part, delivery=deliveries(work, [body["id"] for body in bodies]))


def _has(
    work: Work, entity_store: EntityStore, word: str, meanings: tuple[tuple[str, str], ...]
) -> ColumnElement[bool]:
    conditions = [_text(entity_store.table, word)]
    if word.isascii() and word.isdigit() and len(word) < 17 and int(word) <= LARGEST_ID:
        conditions.append(entity_store.table.c.id == int(word))
    if entity_store.entity == "supply_deals":
        deals = or_(_text(t.demand_deals, word), t.demand_deals.c.seat_id.in_(_seats(word)))
        visible = work.scope.visibility(t.demand_deals)
        is_link = LINKS.demand_deal_id.in_(select(t.demand_deals.c.id).where(deals, *visible))
        of_deals = t.supply_packages.c.id.in_(select(LINKS.supply_package_id).where(is_link))
        conditions += [_targets(word, meanings), of_deals]
    elif entity_store.entity == "demand_deals":
        packages = or_(_text(t.supply_packages, word), _targets(word, meanings))
        is_link = LINKS.supply_package_id.in_(select(t.supply_packages.c.id).where(packages))
        of_packages = t.demand_deals.c.id.in_(select(LINKS.demand_deal_id).where(is_link))
        conditions += [t.demand_deals.c.seat_id.in_(_seats(word)), of_packages]
    return or_(*conditions)


def _text(table: Table, word: str) -> ColumnElement[bool]:
    # Patterns of LIKE are fast, and leave few rows to the regular expression.
    text = table.c.folded
    begins = (text.startswith(word, autoescape=True), text.contains(f" {word}", autoescape=True))
    condition = and_(
        text.contains(word, autoescape=True), or_(*begins, text.regexp_match(queries.beginning(word)))
    )
    if table is not _DEALS or len(word) < ID_PART:
        return condition
    return or_(condition, _DEALS.c.deal_id.contains(word.upper(), autoescape=True))


def _seats(word: str) -> Select[tuple[int]]:
    """The seats with this word in their names or codes, or in those of their DSPs."""
    dsps = select(t.dsps.c.id).where(_text(t.dsps, word))
    return select(t.seats.c.id).where(or_(_text(t.seats, word), t.seats.c.dsp_id.in_(dsps)))


def _targets(word: str, meanings: tuple[tuple[str, str], ...]) -> ColumnElement[bool]:
    """Packages whose targeting has the word, a value that it means, or a list with it in its name."""
    parts = [*queries.of_word(word), *(queries.of_value(kind, value) for kind, value in meanings)]
    conditions = [t.supply_packages.c.targets.contains(part, autoescape=True) for part in parts]
    for links, lists in LISTS:
        by_name = select(lists.c.id).where(_text(lists, word))
        owners = select(links.c.supply_package_id).where(links.c.list_id.in_(by_name))
        conditions.append(t.supply_packages.c.id.in_(owners))
    return or_(*conditions)


def _first_package(column: ColumnElement[Any]) -> ColumnElement[Any]:
    return (
        select(column)
        .join(t.supply_package_deals, LINKS.supply_package_id == _SUPPLY.c.id)
        .where(LINKS.demand_deal_id == _DEALS.c.id)
        .order_by(_SUPPLY.c.id)
        .limit(1)
        .correlate(_DEALS)
        .scalar_subquery()
    )


def _currency(entity_store: EntityStore, work: Work) -> ColumnElement[Any]:
    """A deal's currency, or that of a package's deals; null for several."""
    if entity_store.table is _DEALS:
        return _own_currency(work)
    return case((_is_in_one_currency(work), _of_deals(work, func.min(_own_currency(work)))))


def _is_in_one_currency(work: Work) -> ColumnElement[bool]:
    first, last = (_of_deals(work, aggregate(_own_currency(work))) for aggregate in (func.min, func.max))
    return first == last


def _own_currency(work: Work) -> ColumnElement[Any]:
    return func.coalesce(_DEALS.c.currency, work.currency)


def _of_deals(work: Work, aggregate: ColumnElement[Any]) -> ColumnElement[Any]:
    """Of a package's deals, those that the caller may see."""
    return (
        select(aggregate)
        .join(t.supply_package_deals, LINKS.demand_deal_id == _DEALS.c.id)
        .where(LINKS.supply_package_id == _SUPPLY.c.id, *work.scope.visibility(_DEALS))
        .correlate(_SUPPLY)
        .scalar_subquery()
    )


LINK_ORDERS: dict[str, dict[str, Callable[[Work], ColumnElement[Any]]]] = {
    "supply_deals": {  # the lowest price among its deals; null in several currencies
        "price": lambda work: case((_is_in_one_currency(work), _of_deals(work, func.min(_DEALS.c.price))))
    },
    "demand_deals": {
        name: lambda work, name=name: _first_package(_SUPPLY.c[name])
        for name in ("media_type", "start_date", "end_date")
    }
    | {"health": health_urgency}
    | {name: partial(delivery_figure, name=name) for name in FIGURES},
}


def order_by(entity_store: EntityStore, work: Work, name: str) -> ColumnElement[Any]:
    """The expressions to order by: names ignoring case, other entities by their names."""
    orders = LINK_ORDERS.get(entity_store.entity, {})
    if name in orders:
        return orders[name](work)
    if name == "name":
        return entity_store.table.c.folded
    if name not in REFERENCES:
        return FILTERS[entity_store.entity][name].column(work)
    other: Table = REFERENCES[name]
    mine = other.c.id == entity_store.table.c[f"{name}_id"]
    return select(other.c.folded).where(mine).correlate(entity_store.table).scalar_subquery()


def counts(
    work: Work, entity_store: EntityStore, name: str, conditions: Sequence[ColumnElement[bool]]
) -> dict[str, int]:
    """Value, as text → the number of entities with it that match these conditions."""
    list_filter, ids = FILTERS[entity_store.entity][name], entity_store.table.c.id
    value: ColumnElement[Any] = list_filter.column(work).label("value")
    via = list_filter.visible_via(work)
    if list_filter.owner is None or via is None:
        question = (
            select(value, func.count()).select_from(entity_store.table).where(*conditions).group_by("value")
        )
    else:
        theirs = via.add_columns(value).subquery()
        whose, value = theirs.c[0], theirs.c["value"]
        source = entity_store.table.join(theirs, list_filter.owner == whose)
        question = (
            select(value, func.count(ids.distinct())).select_from(source).where(*conditions).group_by(value)
        )
    return {str(value): count for value, count in work.connection.execute(question) if value is not None}
