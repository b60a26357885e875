"""The status of packages and deals: derived from is_active and the dates."""

import datetime as dt
from itertools import combinations
from typing import Any

import pytest

from deals.caller import Caller, World, option, package, unique
from lib.deals import moments
from lib.deals.compat import client
from lib.deals.models import DemandDeal, SupplyPackage

NOW = dt.datetime.now(dt.UTC)
PAST, RECENT, SOON, LATER = (moments.write(NOW + dt.timedelta(days=days)) for days in (-9, -2, 9, 19))
PACKAGES = {
    "active": {"start_date": PAST, "end_date": SOON},
    "pending": {"start_date": SOON},
    "paused": {"start_date": PAST, "is_active": False},
    "complete": {"start_date": PAST, "end_date": RECENT, "is_active": False},
}


@pytest.mark.parametrize("status", PACKAGES)
def test_status_of_a_package(manager: Caller, status: str) -> None:
    """Ended, else paused, else not begun, else active; a filter finds what shows it."""
    new_package = manager.make("supply_deals", package(**PACKAGES[status]))
    assert new_package["status"] == status
    assert new_package in manager.get("supply_deals/", status=status, ordering="-id", limit=3)["results"]
    others = [name for name in PACKAGES if name != status]
    assert manager.get("supply_deals/", status=others, name=new_package["name"])["count"] == 0


def test_what_changes_a_status(manager: Caller) -> None:
    """is_active and the dates alone; to pause and resume is to change is_active."""
    new_package = manager.make("supply_deals", package(**PACKAGES["active"]))
    steps: list[tuple[dict[str, Any], str]] = [
        ({"is_active": False}, "paused"), ({"is_active": True}, "active"), ({"end_date": RECENT}, "complete"),
        ({"end_date": None, "start_date": SOON}, "pending"),
    ]  # fmt: skip
    for fields, status in steps:
        manager.change("supply_deals", new_package["id"], **fields)
        assert manager.get(f"supply_deals/{new_package['id']}/")["status"] == status


@pytest.mark.parametrize(
    ("on", "is_active", "status"),
    [
        ((), True, "pending"),
        ((), False, "paused"),
        (("active",), True, "active"),
        (("active",), False, "paused"),
        (("pending", "active", "complete"), True, "active"),
        (("pending", "paused"), True, "pending"),
        (("paused", "complete"), True, "paused"),
        (("complete",), True, "complete"),
        (("complete",), False, "complete"),
    ],
)
def test_status_of_a_deal(
    manager: Caller, there: World, on: tuple[str, ...], is_active: bool, status: str
) -> None:
    """A deal has the furthest status of its packages, unless it is paused itself."""
    supply = [
        {"id": manager.make("supply_deals", package(**PACKAGES[package_status]))["id"]}
        for package_status in on
    ]
    body = {"name": unique("Deal"), "is_active": is_active, "supply_deals": supply, **option(there.ada)}
    new_deal = manager.make("demand_deals", body)
    assert new_deal["status"] == status
    assert manager.get("demand_deals/", status=status, name=new_deal["name"])["results"] == [new_deal]


@pytest.mark.parametrize("is_active", [True, False])
def test_status_derived_for_other_services(manager: Caller, there: World, is_active: bool) -> None:
    """The rules for services that return no status agree with our service's, by all dates and packages."""
    dates = [(PAST, None), (PAST, RECENT), (PAST, SOON), (SOON, None), (SOON, LATER)]
    for start, end in dates:
        body = package(start_date=start, end_date=end, is_active=is_active)
        entity = manager.make("supply_deals", body)
        bare = SupplyPackage.model_validate(entity | {"status": None})
        assert client.package_status(bare, NOW) == entity["status"]
    supply = {name: manager.make("supply_deals", package(**PACKAGES[name])) for name in PACKAGES}
    known = {
        package_body["id"]: SupplyPackage.model_validate(package_body) for package_body in supply.values()
    }
    for names in [(), *((name,) for name in PACKAGES), *combinations(PACKAGES, 2)]:
        linked = [{"id": supply[name]["id"]} for name in names]
        body = {"name": unique("Deal"), "is_active": is_active, "supply_deals": linked, **option(there.ada)}
        entity = manager.make("demand_deals", body)
        bare = DemandDeal.model_validate(entity | {"status": None})
        assert client.deal_status(bare, known, NOW) == entity["status"]
