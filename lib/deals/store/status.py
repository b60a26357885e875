"""The status of packages and deals: derived from is_active and the dates, whenever it is asked for.

Our own rule. A supply package is complete once it has ended, else paused while it is not active, else
pending until it starts, else active. A demand deal is paused while it is not active itself, else it is as
far as the furthest of its packages; without packages it is pending.
"""

from datetime import datetime

from sqlalchemy import ColumnElement, and_, case, func, literal, select

from lib.database import Instant
from lib.deals.store.tables import demand_deals, supply_package_deals, supply_packages

_BY_RANK = {1: "active", 2: "pending", 3: "paused", 4: "complete"}


def of_package(now: datetime) -> ColumnElement[str]:
    """The status of a row of supply_packages."""
    return _named(_rank(now))


def of_deal(now: datetime) -> ColumnElement[str]:
    """The status of a row of demand_deals."""
    furthest = (
        select(func.min(_rank(now)))
        .join(supply_package_deals, supply_package_deals.c.supply_package_id == supply_packages.c.id)
        .where(supply_package_deals.c.demand_deal_id == demand_deals.c.id)
        .correlate(demand_deals)
        .scalar_subquery()
    )
    rank = func.coalesce(furthest, 2)
    return _named(case((and_(~demand_deals.c.is_active, rank < 4), 3), else_=rank))


def _rank(now: datetime) -> ColumnElement[int]:
    moment = literal(now, Instant)
    return case(
        (supply_packages.c.end_date <= moment, 4),
        (~supply_packages.c.is_active, 3),
        (supply_packages.c.start_date > moment, 2),
        else_=1,
    )


def _named(rank: ColumnElement[int]) -> ColumnElement[str]:
    return case(*((rank == number, name) for number, name in _BY_RANK.items()), else_="active")
