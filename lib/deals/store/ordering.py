"""The orderings of a list: the entity's own filters, and some fields of linked entities."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import ColumnElement, Table, func, select

from lib.deals import fields
from lib.deals.store import healths
from lib.deals.store import tables as t
from lib.deals.store.filters import FILTERS
from lib.deals.store.noun import Noun
from lib.deals.store.work import Work

_LINKS, _DEALS, _SUPPLY = t.supply_package_deals.c, t.demand_deals, t.supply_packages
REFERENCES = {"seat": t.seats, "dsp": t.dsps, "package": t.packages}


def _first_package(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """A column of a deal's first package."""
    return (
        select(column)
        .join(t.supply_package_deals, _LINKS.supply_package_id == _SUPPLY.c.id)
        .where(_LINKS.demand_deal_id == _DEALS.c.id)
        .order_by(_SUPPLY.c.id)
        .limit(1)
        .correlate(_DEALS)
        .scalar_subquery()
    )


def _lowest_price(work: Work) -> ColumnElement[Any]:
    """The lowest price among a package's deals, those that the caller may see."""
    return (
        select(func.min(_DEALS.c.price))
        .join(t.supply_package_deals, _LINKS.demand_deal_id == _DEALS.c.id)
        .where(_LINKS.supply_package_id == _SUPPLY.c.id, *work.scope.seen(_DEALS))
        .correlate(_SUPPLY)
        .scalar_subquery()
    )


LINKED: dict[str, dict[str, Callable[[Work], ColumnElement[Any]]]] = {
    "supply_deals": {"price": _lowest_price},
    "demand_deals": {
        name: lambda work, name=name: _first_package(_SUPPLY.c[name])
        for name in ("media_type", "start_date", "end_date")
    }
    | {"health": healths.urgency},
}


def ordered(noun: Noun, work: Work, name: str) -> ColumnElement[Any]:
    """The expressions to order by: names ignoring case, other entities by their names."""
    linked = LINKED.get(noun.entity, {})
    if name in linked:
        return linked[name](work)
    if name == "name":
        return noun.table.c.folded
    return _name_of(noun, name) if name in REFERENCES else FILTERS[noun.entity][name].column(work)


def orderings(entity: str) -> list[str]:
    """The names by which a list of this entity can be ordered."""
    fixed = {field.name for field in fields.of(entity) if not field.is_order}
    own = [name for name, one in FILTERS[entity].items() if one.owner is None and name not in fixed]
    return list(dict.fromkeys([*own, *LINKED.get(entity, {})]))


def _name_of(noun: Noun, name: str) -> ColumnElement[Any]:
    other: Table = REFERENCES[name]
    mine = other.c.id == noun.table.c[f"{name}_id"]
    return select(other.c.folded).where(mine).correlate(noun.table).scalar_subquery()
