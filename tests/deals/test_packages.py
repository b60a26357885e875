"""Packages, the deprecated middle layer: rule 3 of the specification, and its fields."""

from typing import Any

import pytest
from conformance.transports import TRANSPORTS

from deals.caller import Caller, World, package, unique
from deals.conftest import OpenRow, issue


@pytest.fixture
def supply(manager: Caller) -> dict[str, Any]:
    """A supply package."""
    return manager.make("supply_deals", package())


def choice(seat: int, value: bool = True, **fields: Any) -> dict[str, Any]:
    """A seat of a package."""
    return {"value": value, "seat": {"id": seat}} | fields


def test_a_deal_for_each_selected_seat(manager: Caller, there: World, supply: dict[str, Any]) -> None:
    """Rule 3: only seats whose value is true get a deal, named after package and seat; all are kept."""
    name = unique("Old")
    seats = [choice(there.ada, dsp={"id": there.syncing}), choice(there.bob, value=False), choice(there.cleo)]
    new_package = manager.make(
        "packages", {"name": name, "seats": seats, "supply_deals": [{"id": supply["id"]}]}
    )
    selections = new_package["seats"]
    assert [(each["value"], each["seat"]["id"], each["dsp"]["id"]) for each in selections] == [
        (True, there.ada, there.syncing), (False, there.bob, there.syncing), (True, there.cleo, there.plain)
    ]  # fmt: skip
    ada, cleo = (manager.get(f"seats/{seat}/")["name"] for seat in (there.ada, there.cleo))
    assert [reference["name"] for reference in new_package["demand_deals"]] == [
        f"{name} - {ada}",
        f"{name} - {cleo}",
    ]
    assert [(reference["id"], reference["name"]) for reference in new_package["supply_deals"]] == [
        (supply["id"], supply["name"])
    ]
    deal = manager.get(f"demand_deals/{new_package['demand_deals'][0]['id']}/")
    assert (deal["package"], deal["seat"]["id"]) == ({"id": new_package["id"], "name": name}, there.ada)
    assert [reference["id"] for reference in deal["supply_deals"]] == [supply["id"]]
    now = manager.get(f"supply_deals/{supply['id']}/")
    assert now["packages"] == [{"id": new_package["id"], "name": name}]
    assert [reference["id"] for reference in now["demand_deals"]] == [
        reference["id"] for reference in new_package["demand_deals"]
    ]
    assert manager.get(f"packages/{new_package['id']}/") == new_package


def test_every_answer_says_that_it_is_deprecated(manager: Caller) -> None:
    """`Deprecation: true` on success and failure; on nothing else."""
    for answer in (manager.ask("GET", "packages/"), manager.ask("POST", "packages/", {})):
        assert answer.headers["deprecation"] == "true"
    assert "deprecation" not in manager.ask("GET", "supply_deals/").headers


def test_selecting_another_seat_creates_its_deal(
    manager: Caller, there: World, supply: dict[str, Any]
) -> None:
    """A PUT of seats makes what is missing, once; a seat that has a deal can't be deselected."""
    body = {"name": unique("Old"), "seats": [choice(there.ada)], "supply_deals": [{"id": supply["id"]}]}
    new_package = manager.make("packages", body)
    for _ in range(2):
        manager.change("packages", new_package["id"], seats=[choice(there.ada), choice(there.bob)])
    deals = manager.get(f"packages/{new_package['id']}/")["demand_deals"]
    assert [deal["id"] for deal in deals][:1] == [deal["id"] for deal in new_package["demand_deals"]]
    assert len(deals) == 2
    detail = manager.detail("PUT", f"packages/{new_package['id']}/", 406, {"seats": [choice(there.bob)]})
    assert f"{deals[0]['id']} '{deals[0]['name']}'" in detail


def test_its_deals_follow_it_to_other_supply(manager: Caller, there: World, supply: dict[str, Any]) -> None:
    """A PUT of supply_deals links the package's deals alike."""
    body = {"name": unique("Old"), "seats": [choice(there.ada)], "supply_deals": [{"id": supply["id"]}]}
    new_package = manager.make("packages", body)
    other = manager.make("supply_deals", package())
    manager.change("packages", new_package["id"], supply_deals=[{"id": other["id"]}])
    deal = manager.get(f"demand_deals/{new_package['demand_deals'][0]['id']}/")
    assert [reference["id"] for reference in deal["supply_deals"]] == [other["id"]]
    assert manager.get(f"supply_deals/{supply['id']}/")["packages"] == []


def test_what_is_wrong_with_a_package(manager: Caller, there: World) -> None:
    """Seats that are not there, twice, or at another DSP; packages that are not there."""
    seats = [choice(2**50), choice(there.ada), choice(there.ada), choice(there.bob, dsp={"id": there.plain})]
    wrong = manager.wrong("packages", name=" ", seats=seats, supply_deals=[{"id": 2**50}])
    alder = manager.get(f"dsps/{there.syncing}/")["name"]
    assert wrong == {
        "name": ["This may not be empty."],
        "seats": [
            {"seat": {"id": [f"There is no seat {2**50}."]}},
            {},
            {"seat": {"id": [f"The seat {there.ada} is given twice."]}},
            {"dsp": {"id": [f"The seat {there.bob} is at the DSP {there.syncing} '{alder}'."]}},
        ],
        "supply_deals": [{"id": [f"There is no supply package {2**50}."]}],
    }


def test_a_seat_without_an_id_is_said_to_lack_it(manager: Caller) -> None:
    """What is not there can't be looked up: one sentence, and not one of a seat None."""
    wrong = manager.wrong("packages", name="x", seats=[{"value": True, "seat": {}}] * 2)
    assert wrong == {"seats": [{"seat": {"id": ["This field is required."]}}] * 2}


def test_a_setting_turns_packages_off(opened: OpenRow) -> None:
    """Then there is nothing at their path; the deprecated fields of the others stay."""
    desk = opened(legacy_packages=False)
    with TRANSPORTS["embedded"](desk.api) as http:
        caller = Caller(http, issue(desk))
        assert caller.ask("GET", "packages/").status_code == 404
        assert caller.ask("POST", "packages/", {}).status_code == 404
        assert caller.make("supply_deals", package())["packages"] == []
        assert not any("packages" in path for path in http.get("/openapi.json").json()["paths"])
