"""The filters of a list: plain fields, status, health and links of each entity.

Health and delivery are of the report that the list asks for, as far as they are stored (healths.py).
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Integer, Select, String, Table, case, or_, select

from lib.database import Amount, Instant
from lib.deals import fields, moments
from lib.deals.delivery import FIGURES, pacing_status
from lib.deals.models import BUYER_STATUS, HEALTH_STATES, STATUSES
from lib.deals.store import status
from lib.deals.store import tables as t
from lib.deals.store.entity_stores import DEALS
from lib.deals.store.work import Work

Schema = dict[str, Any]
FLAGS = {"true": True, "false": False, "1": True, "0": False}
REFERENCES = {"seat_id": "seat", "dsp_id": "dsp", "package_id": "package"}
INTERNAL = re.compile(r"folded|targets|version|made_by|made_with|\w+_offset|\w+_targetings|domains|apps")
_LINKS, _DEALS, _SUPPLY = t.supply_package_deals.c, t.demand_deals, t.supply_packages
_OWN_SEATS = select(t.seats.c.id)
_DEALS_OF = select(_LINKS.supply_package_id).join(_DEALS, _DEALS.c.id == _LINKS.demand_deal_id)
_SEATS_OF = _DEALS_OF.join(t.seats, t.seats.c.id == _DEALS.c.seat_id)
_SUPPLY_OF = select(_LINKS.demand_deal_id).join(_SUPPLY, _SUPPLY.c.id == _LINKS.supply_package_id)


@dataclass(frozen=True)
class FilterKind:
    """The parser of a filter's text; ValueError says what it must be. `schema` is its OpenAPI schema."""

    parse: Callable[[str], Any]
    schema: Schema


@dataclass(frozen=True)
class ListFilter:
    """A filter: the kind of its values, and the column to compare with.

    With `owner` and `via`, the column is of another table: `via` selects from there whose it is. Rows of
    its tables `scope_tables` count as far as the caller may see them.
    """

    kind: FilterKind
    column: Callable[[Work], ColumnElement[Any]]
    owner: ColumnElement[Any] | None = None
    via: Select[tuple[int]] | None = None
    scope_tables: tuple[Table, ...] = ()

    def condition(self, work: Work, texts: Sequence[str]) -> ColumnElement[bool]:
        """The condition for any of these values; empty text finds missing ones. ValueError if invalid."""
        column = self.column(work)
        condition = column.in_([self.kind.parse(text) for text in texts if text])
        either = or_(condition, column.is_(None)) if "" in texts else condition
        via_ids = self.visible_via(work)
        return either if self.owner is None or via_ids is None else self.owner.in_(via_ids.where(either))

    def visible_via(self, work: Work) -> Select[tuple[int]] | None:
        """`via`, as far as the caller may see it."""
        conditions = [condition for table in self.scope_tables for condition in work.scope.visibility(table)]
        return None if self.via is None else self.via.where(*conditions)


class _HealthFilter(ListFilter):
    """The filter by health: the same by sets of deals, which are computed once."""

    def condition(self, work: Work, texts: Sequence[str]) -> ColumnElement[bool]:
        states = [self.kind.parse(text) for text in texts if text]
        condition = t.demand_deals.c.id.in_(deals_in_health(work, states))
        missing = t.demand_deals.c.id.not_in(deals_in_health(work, HEALTH_STATES))
        return or_(condition, missing) if "" in texts else condition


def health_urgency(work: Work) -> ColumnElement[Any]:
    """A number to order by: those that need attention first."""
    return _health_column(
        work, case({state: rank for rank, state in enumerate(HEALTH_STATES)}, value=t.deal_health.c.state)
    )


def delivery_figure(work: Work, name: str) -> ColumnElement[Any]:
    """A figure of what a deal delivered (delivery.py) by the report of `work`; null where it has none."""
    return _health_column(work, t.deal_health.c[name])


def deliveries(work: Work, ids: Collection[int]) -> dict[str, dict[str, Any]]:
    """What these deals delivered by the report of `work`, by id: the figures, as far as each has them."""
    mine = t.deal_health.c.report_id == _report_id(work), t.deal_health.c.deal_id.in_(ids)
    rows = work.rows(select(t.deal_health).where(*mine))
    figures = {row.deal_id: {name: getattr(row, name) for name in FIGURES} for row in rows}
    return {
        str(row.deal_id): figures[row.deal_id]
        | {"pace": pacing_status(figures[row.deal_id]), "is_estimate": row.facts.get("is_estimate", False)}
        for row in rows
    }


def deals_in_health(work: Work, states: Collection[str]) -> Select[tuple[int]]:
    """The ids of deals in these states by the report of `work`."""
    mine = t.deal_health.c.report_id == _report_id(work), t.deal_health.c.state.in_(states)
    return select(t.deal_health.c.deal_id).where(*mine)


def _health_column(work: Work, column: ColumnElement[Any]) -> ColumnElement[Any]:
    mine = t.deal_health.c.deal_id == t.demand_deals.c.id, t.deal_health.c.report_id == _report_id(work)
    return select(column).where(*mine).correlate(t.demand_deals).scalar_subquery()


def _report_id(work: Work) -> Any:
    project, slicer = work.report
    is_of = t.health_reports.c.project == project, t.health_reports.c.slicer == slicer
    return select(t.health_reports.c.id).where(*is_of).scalar_subquery()


def _flag(text: str) -> bool:
    if text.lower() not in FLAGS:
        raise ValueError("must be true or false")
    return FLAGS[text.lower()]


def _number(kind: Callable[[str], Any], pattern: str, what: str) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"must be {what}")
        return kind(text)

    return parse


def _choice(options: Sequence[str]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in options:
            raise ValueError(f"must be one of {', '.join(options)}")
        return text

    return parse


def _buyer_status(work: Work) -> ColumnElement[Any]:
    """The number of a deal's status at its buyer; of those that its terms decide, as they are returned."""
    column = status.at_buyer()
    ids = [row.id for row in work.rows(select(_DEALS.c.id).where(column == status.ANSWERED))]
    number_of_deal = {body["id"]: BUYER_STATUS.index(body["buyer_status"]) for body in DEALS.show(work, ids)}
    return case(number_of_deal, value=_DEALS.c.id, else_=column) if number_of_deal else column


TEXT = FilterKind(str, {"type": "string"})
FLAG = FilterKind(_flag, {"type": "boolean"})
NUMBER = FilterKind(_number(int, r"[0-9]{1,15}", "a whole number"), {"type": "integer", "minimum": 0})
AMOUNTS = FilterKind(
    _number(Decimal, r"[0-9]{1,12}(\.[0-9]{1,6})?", "a number with at most six decimals"),
    {"type": "number", "minimum": 0},
)
TIME = FilterKind(moments.parse, {"type": "string", "pattern": moments.STRICT_PATTERN})
STATUS = FilterKind(_choice(STATUSES), {"enum": [*STATUSES]})
BUYER = FilterKind(lambda text: BUYER_STATUS.index(_choice(BUYER_STATUS)(text)), {"enum": [*BUYER_STATUS]})
HEALTH = FilterKind(_choice(HEALTH_STATES), {"enum": [*HEALTH_STATES]})
KINDS: tuple[tuple[type[Any], FilterKind], ...] = (
    (Boolean, FLAG),
    (Amount, AMOUNTS),
    (Instant, TIME),
    (Integer, NUMBER),
    (String, TEXT),
)


def _plain(table: Table) -> dict[str, ListFilter]:
    filters: dict[str, ListFilter] = {}
    for column in table.c:
        kind = next((kind for type_, kind in KINDS if isinstance(column.type, type_)), None)
        field = fields.BY_NAME.get(column.name)
        is_hidden = INTERNAL.fullmatch(column.name) or (field is not None and not field.is_filter)
        if kind is not None and not is_hidden:
            filters[REFERENCES.get(column.name, column.name)] = ListFilter(kind, _always(column))
    return filters


def _always(column: ColumnElement[Any]) -> Callable[[Work], ColumnElement[Any]]:
    return lambda work: column


def _link_filter(
    owner: ColumnElement[Any],
    via: Select[tuple[int]],
    column: ColumnElement[Any],
    scope_tables: tuple[Table, ...] = (),
    kind: FilterKind = NUMBER,
) -> ListFilter:
    return ListFilter(kind, _always(column), owner, via, scope_tables)


FILTERS: dict[str, dict[str, ListFilter]] = {
    "supply_deals": _plain(_SUPPLY)
    | {
        "status": ListFilter(STATUS, lambda work: status.of_package(work.now)),
        "demand_deals": _link_filter(_SUPPLY.c.id, _DEALS_OF, _LINKS.demand_deal_id, (_DEALS,)),
        "seat": _link_filter(_SUPPLY.c.id, _DEALS_OF, _DEALS.c.seat_id, (_DEALS,)),
        "dsp": _link_filter(_SUPPLY.c.id, _SEATS_OF, t.seats.c.dsp_id, (_DEALS,)),
    },
    "demand_deals": _plain(_DEALS)
    | {
        "status": ListFilter(STATUS, lambda work: status.of_deals(work.now)),
        "price_type": ListFilter(TEXT, _always(t.PRICE_TYPE)),
        "buyer_status": ListFilter(BUYER, _buyer_status),
        "health": _HealthFilter(HEALTH, lambda work: _health_column(work, t.deal_health.c.state)),
        "supply_deals": _link_filter(_DEALS.c.id, _SUPPLY_OF, _LINKS.supply_package_id, (_SUPPLY,)),
        "dsp": _link_filter(_DEALS.c.seat_id, _OWN_SEATS, t.seats.c.dsp_id),
        "media_type": _link_filter(_DEALS.c.id, _SUPPLY_OF, _SUPPLY.c.media_type, (_SUPPLY,), TEXT),
    },
    "packages": _plain(t.packages),
    "seats": _plain(t.seats),
    "dsps": _plain(t.dsps),
    "domain_lists": _plain(t.domain_lists),
    "app_lists": _plain(t.app_lists),
}
