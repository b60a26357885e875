"""The status of packages and deals, derived from is_active and the dates in every query.

Our own rule. A supply package is complete once it has ended, else paused while it is not active, else
pending until it starts, else active. A demand deal is paused while it is not active itself, else it is as
far as the furthest of its packages; without packages it is pending.
"""

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import ColumnElement, case, exists, literal, select

from lib.database import Instant
from lib.deals.store.tables import demand_deals, supply_package_deals, supply_packages

Condition = ColumnElement[bool]
_LINKS = supply_package_deals.c


def of_package(now: datetime) -> ColumnElement[str]:
    """The status of a row of supply_packages."""
    moment = literal(now, Instant)
    return case(
        (supply_packages.c.end_date <= moment, "complete"),
        (~supply_packages.c.is_active, "paused"),
        (supply_packages.c.start_date > moment, "pending"),
        else_="active",
    )


def of_deal(now: datetime) -> ColumnElement[str]:
    """The status of a row of demand_deals by a subquery for its packages; fast for a few deals."""

    def has_one(status: str) -> Condition:
        linked = (
            _LINKS.demand_deal_id == demand_deals.c.id,
            _LINKS.supply_package_id == supply_packages.c.id,
        )
        return exists().where(*linked, of_package(now) == status).correlate(demand_deals)

    return _furthest(has_one)


def of_deals(now: datetime) -> ColumnElement[str]:
    """The same by sets of deals that are computed once; fast for all deals."""

    def is_among(status: str) -> Condition:
        packages = select(supply_packages.c.id).where(of_package(now) == status)
        return demand_deals.c.id.in_(
            select(_LINKS.demand_deal_id).where(_LINKS.supply_package_id.in_(packages))
        )

    return _furthest(is_among)


def _furthest(has: Callable[[str], Condition]) -> ColumnElement[str]:
    """A deal's status; `has` gives the condition that it has a package with a status."""
    is_active = demand_deals.c.is_active
    return case(
        (has("active"), case((is_active, "active"), else_="paused")),
        (has("pending"), case((is_active, "pending"), else_="paused")),
        (has("paused"), "paused"),
        (has("complete"), "complete"),
        else_=case((is_active, "pending"), else_="paused"),
    )
