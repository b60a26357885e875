"""What a list can be filtered by: the plain fields of each entity, its status, and its links."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Integer, String, Table, or_, select

from lib.database import Amount, Instant
from lib.deals import moments
from lib.deals.models import STATUSES
from lib.deals.store import status
from lib.deals.store import tables as t
from lib.deals.store.noun import Noun
from lib.deals.store.work import Work

Schema = dict[str, Any]
WHOLE = re.compile(r"[0-9]{1,15}")
AMOUNT = re.compile(r"[0-9]{1,12}(\.[0-9]{1,6})?")
FLAGS = {"true": True, "false": False, "1": True, "0": False}


@dataclass(frozen=True)
class Kind:
    """How the text of a filter is read; ValueError says what it must be. `schema` says it in OpenAPI."""

    parse: Callable[[str], Any]
    schema: Schema


@dataclass(frozen=True)
class Filter:
    """A filter: the kind of its values, and the column that they are compared with.

    With `owner` and `via`, the column is of another table, where `via` says whose it is.
    """

    kind: Kind
    column: Callable[[Work], ColumnElement[Any]]
    owner: ColumnElement[Any] | None = None
    via: ColumnElement[Any] | None = None

    def condition(self, work: Work, texts: Sequence[str]) -> ColumnElement[bool]:
        """Any of these values; the empty one finds what has none. ValueError for one that can't be read."""
        column = self.column(work)
        found = column.in_([self.kind.parse(text) for text in texts if text])
        either = or_(found, column.is_(None)) if "" in texts else found
        return (
            either
            if self.owner is None or self.via is None
            else self.owner.in_(select(self.via).where(either))
        )


def _flag(text: str) -> bool:
    if text.lower() not in FLAGS:
        raise ValueError("must be true or false")
    return FLAGS[text.lower()]


def _whole(text: str) -> int:
    if not WHOLE.fullmatch(text):
        raise ValueError("must be a whole number")
    return int(text)


def _amount(text: str) -> Decimal:
    if not AMOUNT.fullmatch(text):
        raise ValueError("must be a number with at most six decimals")
    return Decimal(text)


def _status(text: str) -> str:
    if text not in STATUSES:
        raise ValueError(f"must be one of {', '.join(STATUSES)}")
    return text


TEXT = Kind(str, {"type": "string"})
FLAG = Kind(_flag, {"type": "boolean"})
NUMBER = Kind(_whole, {"type": "integer", "minimum": 0})
AMOUNTS = Kind(_amount, {"type": "number", "minimum": 0})
TIME = Kind(moments.parse, {"type": "string", "pattern": moments.PATTERN})
STATUS = Kind(_status, {"enum": [*STATUSES]})
KINDS: tuple[tuple[type[Any], Kind], ...] = (
    (Boolean, FLAG),
    (Amount, AMOUNTS),
    (Instant, TIME),
    (Integer, NUMBER),
    (String, TEXT),
)
REFERENCES = {"seat_id": "seat", "dsp_id": "dsp", "package_id": "package"}
HIDDEN = re.compile(r"folded|version|\w+_offset|\w+_targetings|domains|apps")


def _plain(table: Table) -> dict[str, Filter]:
    found: dict[str, Filter] = {}
    for column in table.c:
        kind = next((kind for type_, kind in KINDS if isinstance(column.type, type_)), None)
        if kind is not None and not HIDDEN.fullmatch(column.name):
            found[REFERENCES.get(column.name, column.name)] = Filter(kind, _always(column))
    return found


def _always(column: ColumnElement[Any]) -> Callable[[Work], ColumnElement[Any]]:
    return lambda work: column


def _linked(owner: Table, via: ColumnElement[Any], column: ColumnElement[Any]) -> Filter:
    return Filter(NUMBER, _always(column), owner.c.id, via)


_LINKS, _DEALS, _SUPPLY = t.supply_package_deals.c, t.demand_deals, t.supply_packages
FILTERS: dict[str, dict[str, Filter]] = {
    "supply_deals": _plain(_SUPPLY)
    | {
        "status": Filter(STATUS, lambda work: status.of_package(work.now)),
        "demand_deals": _linked(_SUPPLY, _LINKS.supply_package_id, _LINKS.demand_deal_id),
    },
    "demand_deals": _plain(_DEALS)
    | {
        "status": Filter(STATUS, lambda work: status.of_deal(work.now)),
        "supply_deals": _linked(_DEALS, _LINKS.demand_deal_id, _LINKS.supply_package_id),
        "dsp": Filter(NUMBER, _always(t.seats.c.dsp_id), _DEALS.c.seat_id, t.seats.c.id),
    },
    "packages": _plain(t.packages),
    "seats": _plain(t.seats),
    "dsps": _plain(t.dsps),
    "domain_lists": _plain(t.domain_lists),
    "app_lists": _plain(t.app_lists),
}


def ordered(noun: Noun, work: Work, name: str) -> ColumnElement[Any]:
    """What a list is ordered by: a name without regard to case, anything else as it is."""
    return noun.table.c.folded if name == "name" else FILTERS[noun.entity][name].column(work)


def orderings(entity: str) -> list[str]:
    """The names by which a list of this entity can be ordered."""
    return [name for name, one in FILTERS[entity].items() if one.owner is None]
