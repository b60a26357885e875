"""The status of packages and deals, derived from is_active and the dates in every query.

Our own rule. A supply package is complete once it has ended, else paused while it is not active, else
pending until it starts, else active. A demand deal is paused while it is not active itself, else it is as
far as the furthest of its packages; without packages it is pending.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, case, exists, func, literal, select, tuple_

from lib.database import Instant
from lib.deals.negotiation import STATUS, negotiation_rounds
from lib.deals.store import tables as t

Condition = ColumnElement[bool]
_LINKS = t.supply_package_deals.c
ANSWERED = -1


def of_package(now: datetime) -> ColumnElement[str]:
    """The status of a row of supply_packages."""
    moment = literal(now, Instant)
    return case(
        (t.supply_packages.c.end_date <= moment, "complete"),
        (~t.supply_packages.c.is_active, "paused"),
        (t.supply_packages.c.start_date > moment, "pending"),
        else_="active",
    )


def of_deal(now: datetime) -> ColumnElement[str]:
    """The status of a row of demand_deals by a subquery for its packages; fast for a few deals."""

    def has_one(status: str) -> Condition:
        links = (
            _LINKS.demand_deal_id == t.demand_deals.c.id,
            _LINKS.supply_package_id == t.supply_packages.c.id,
        )
        return exists().where(*links, of_package(now) == status).correlate(t.demand_deals)

    return _furthest(has_one)


def of_deals(now: datetime) -> ColumnElement[str]:
    """The same by sets of deals that are computed once; fast for all deals."""

    def is_among(status: str) -> Condition:
        packages = select(t.supply_packages.c.id).where(of_package(now) == status)
        return t.demand_deals.c.id.in_(
            select(_LINKS.demand_deal_id).where(_LINKS.supply_package_id.in_(packages))
        )

    return _furthest(is_among)


def at_buyer() -> ColumnElement[Any]:
    """The number of the buyer's status of a row of demand_deals; null where nobody answered.

    Its DSP reports one (deal sync), and a round with its buyer leaves one (negotiation.py): the later counts.
    ANSWERED for a round whose status depends on the deal's terms.
    """
    at_dsp = (
        t.synced_deals.c.deal_id == t.demand_deals.c.deal_id,
        t.synced_deals.c.seat_id == t.demand_deals.c.seat_id,
    )
    rounds = negotiation_rounds.c
    mine = (
        rounds.service == "",
        rounds.deal_id == t.demand_deals.c.id,
        rounds.seat_id == t.demand_deals.c.seat_id,
    )
    status = case(
        (rounds.act.in_(("accepts", "withdraws")), ANSWERED),
        *((tuple_(rounds.side, rounds.act) == pair, number) for pair, number in STATUS.items()),
    )

    def report(column: ColumnElement[Any]) -> ColumnElement[Any]:
        return select(column).where(*at_dsp).correlate(t.demand_deals).scalar_subquery()

    def last_round(column: ColumnElement[Any]) -> ColumnElement[Any]:
        rows = select(column).where(*mine).order_by(rounds.number.desc()).limit(1)
        return rows.correlate(t.demand_deals).scalar_subquery()

    dsp_status, at = report(t.synced_deals.c.status), report(t.synced_deals.c.status_at)
    is_later = case((at.is_(None), True), else_=last_round(rounds.at) > at)
    return case((is_later, func.coalesce(last_round(status), dsp_status)), else_=dsp_status)


def _furthest(has: Callable[[str], Condition]) -> ColumnElement[str]:
    """A deal's status; `has` gives the condition that it has a package with a status."""
    is_active = t.demand_deals.c.is_active
    return case(
        (has("active"), case((is_active, "active"), else_="paused")),
        (has("pending"), case((is_active, "pending"), else_="paused")),
        (has("paused"), "paused"),
        (has("complete"), "complete"),
        else_=case((is_active, "pending"), else_="paused"),
    )
