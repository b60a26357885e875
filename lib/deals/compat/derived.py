"""The status of packages and deals of services that don't return it, by the rules of our own service.

The rules are those of store/status.py, and tests/deals/test_status.py holds the two together. Without
is_active the status is unknown.
"""

from collections.abc import Mapping
from datetime import datetime

from lib.deals.models import DemandDeal, Status, SupplyPackage

BY_RANK: tuple[Status, ...] = ("active", "pending", "paused", "complete")


def of_package(package: SupplyPackage, now: datetime) -> str | None:
    """The status that the service returns, or else the one by its dates."""
    if package.status is not None or package.is_active is None:
        return package.status
    if package.end_date is not None and package.end_date <= now:
        return "complete"
    if not package.is_active:
        return "paused"
    return "pending" if package.start_date is None or package.start_date > now else "active"


def of_deal(deal: DemandDeal, packages: Mapping[int, SupplyPackage], now: datetime) -> str | None:
    """The status that the service returns, or else the one by its known packages (by id)."""
    if deal.status is not None or deal.is_active is None:
        return deal.status
    mine = [packages.get(one.id or 0, one) for one in deal.supply_deals]
    found = [status for one in mine if (status := of_package(one, now)) in BY_RANK]
    furthest = min(found, key=lambda status: [*BY_RANK].index(status), default="pending")
    return "paused" if not deal.is_active and furthest != "complete" else furthest
