"""Demand deals: the specification's table of fields, what can be changed, fees, deal sync, deal ids."""

import re
from decimal import Decimal
from typing import Any

import pytest

from deals.caller import Caller, World, deals, option, package, unique

FEE, KIND, EMAIL = "agency_curation_fee", "agency_curation_fee_type", "contact_email"
NEEDS_EMAIL = {EMAIL: ["Deal sync needs a contact e-mail address."]}


def deal(seat: int, **fields: Any) -> dict[str, Any]:
    """A request for a demand deal."""
    return {"name": unique("Deal"), "seat": {"id": seat}, "price": 2} | fields


def test_a_deal_by_itself(manager: Caller, there: World) -> None:
    """POST creates a deal of its own, with its seat, the DSP of that seat, and its supply packages."""
    supply = manager.make("supply_deals", package())
    sent = deal(there.cleo, price=Decimal("3.25"), supply_deals=[{"id": supply["id"]}], is_active=False)
    new_deal = manager.make("demand_deals", sent)
    assert new_deal["name"] == sent["name"]
    assert (new_deal["price"], new_deal["is_active"], new_deal["deal_sync"]) == (
        Decimal("3.25"),
        False,
        False,
    )
    seat = manager.get(f"seats/{there.cleo}/")
    assert new_deal["seat"] == {name: seat[name] for name in ("id", "name", "external_id", "dsp")}
    assert new_deal["dsp"] == seat["dsp"]
    assert new_deal["dsp"]["id"] == there.plain
    assert [(reference["id"], reference["name"]) for reference in new_deal["supply_deals"]] == [
        (supply["id"], supply["name"])
    ]
    assert (new_deal["package"], new_deal[FEE], new_deal[KIND], new_deal[EMAIL]) == (None, None, None, None)
    assert manager.get(f"demand_deals/{new_deal['id']}/") == new_deal
    assert manager.get(f"supply_deals/{supply['id']}/")["demand_deals"][0]["name"] == new_deal["name"]


def test_everything_about_a_deal_can_be_changed(manager: Caller, there: World) -> None:
    """Price, deal sync, activity, fee and contact, and name, seat and packages too, each by itself."""
    new_deal = manager.make("demand_deals", deal(there.cleo))
    supply = manager.make("supply_deals", package())
    changes: dict[str, Any] = {
        "name": unique("Renamed"), "price": Decimal("9.99"), "is_active": False, "seat": {"id": there.ada},
        EMAIL: "deals@agency.example", "deal_sync": True, "supply_deals": [{"id": supply["id"]}],
    }  # fmt: skip
    for name, value in changes.items():
        manager.change("demand_deals", new_deal["id"], **{name: value})
    manager.change("demand_deals", new_deal["id"], **{FEE: 10, KIND: 3})
    now = manager.get(f"demand_deals/{new_deal['id']}/")
    plain = {name: value for name, value in changes.items() if name not in ("seat", "supply_deals")}
    assert {name: now[name] for name in plain} == plain
    assert (now["seat"]["id"], now["supply_deals"][0]["id"]) == (there.ada, supply["id"])
    assert (now[FEE], now[KIND]) == (10, 3)
    assert (now["deal_id"], now["created_at"]) == (new_deal["deal_id"], new_deal["created_at"])


@pytest.mark.parametrize("field", ["id", "deal_id", "dsp", "package", "status"])
def test_what_the_service_gives_cannot_be_set(manager: Caller, there: World, field: str) -> None:
    """Neither in a POST nor in a PUT."""
    new_deal = manager.make("demand_deals", deal(there.ada))
    expected = {field: ["This is given by the service and can't be set."]}
    assert manager.wrong("demand_deals", **deal(there.ada, **{field: new_deal[field]})) == expected
    assert manager.invalid("PUT", f"demand_deals/{new_deal['id']}/", {field: new_deal[field]}) == expected


def test_what_is_required(manager: Caller) -> None:
    """A name, a seat and a price."""
    missing = ["This field is required."]
    assert manager.wrong("demand_deals") == {"name": missing, "seat": missing, "price": missing}


def test_deal_sync_needs_a_dsp_that_supports_it_and_a_contact(manager: Caller, there: World) -> None:
    """In a deal and in an option; the contact is given once for all options."""
    wrong = manager.wrong("demand_deals", **deal(there.cleo, deal_sync=True))
    cedar, cleo = (manager.get(f"{path}/")["name"] for path in (f"dsps/{there.plain}", f"seats/{there.cleo}"))
    sentence = f"The DSP '{cedar}' of the seat '{cleo}' does not support deal sync."
    assert wrong == {"deal_sync": [sentence]} | NEEDS_EMAIL
    options = deals(option(there.ada), option(there.cleo, deal_sync=True))
    wrong = manager.wrong("supply_deals", **package(create_demand_deals=options))["create_demand_deals"]
    assert wrong == {"demand_deals_options": [{}, {"deal_sync": [sentence]}]} | NEEDS_EMAIL
    new_deal = manager.make("demand_deals", deal(there.ada, deal_sync=True, contact_email="a@b.example"))
    path = f"demand_deals/{new_deal['id']}/"
    assert manager.invalid("PUT", path, {"seat": {"id": there.cleo}}) == {"deal_sync": [sentence]}
    assert manager.invalid("PUT", path, {EMAIL: None}) == NEEDS_EMAIL


def test_deal_sync_is_not_taken_away_under_a_deal(manager: Caller) -> None:
    """Neither by its DSP nor by moving its seat; once no deal is synchronized, both can be changed."""
    dsp, other = (
        manager.make("dsps", {"name": unique("DSP"), "supports_deal_sync": on}) for on in (True, False)
    )
    seat = manager.make("seats", {"name": unique("Seat"), "dsp": {"id": dsp["id"]}})
    new_deal = manager.make("demand_deals", deal(seat["id"], deal_sync=True, contact_email="a@b.example"))
    sentence = f"Demand deals are synchronized, and need deal sync: {new_deal['id']} '{new_deal['name']}'."
    edits = [
        (f"dsps/{dsp['id']}/", {"supports_deal_sync": False}),
        (f"seats/{seat['id']}/", {"dsp": {"id": other["id"]}}),
    ]
    for path, body in edits:
        assert manager.invalid("PUT", path, body) == {next(iter(body)): [sentence]}
    manager.change("demand_deals", new_deal["id"], deal_sync=False)
    for path, body in edits:
        assert manager.ask("PUT", path, body).status_code == 204


@pytest.mark.parametrize(
    ("fee", "kind", "wrong"),
    [
        (10, None, {KIND: ["A fee needs its type: 0 undisclosed, 1 percent of spend, 2 flat, 3 CPM."]}),
        (None, 1, {FEE: ["This type of fee needs an amount."]}),
        (10, 4, {FEE: ["There is a fee, but its type is 4: none."]}),
        (101, 1, {FEE: ["A percentage may be at most 100."]}),
        (1, 5, {KIND: ["This may be at most 4."]}),
        (-1, 2, {FEE: ["This must be at least 0 and below 1,000,000,000,000."]}),
    ],
)
def test_fees_that_are_not_whole(manager: Caller, there: World, fee: Any, kind: Any, wrong: Any) -> None:
    """A fee and its type go together; nothing is guessed about what a deal costs."""
    terms = {FEE: fee, KIND: kind}
    assert manager.wrong("demand_deals", **deal(there.ada, **terms)) == wrong
    created = deals(option(there.ada), **terms)
    assert manager.wrong("supply_deals", **package(create_demand_deals=created)) == {
        "create_demand_deals": wrong
    }


@pytest.mark.parametrize(
    ("fee", "kind"), [(None, None), (0, 4), (None, 4), (None, 0), (5, 0), (100, 1), (200, 3)]
)
def test_fees_that_are_whole(manager: Caller, there: World, fee: Any, kind: Any) -> None:
    """No fee, an undisclosed one with or without its amount, a percentage, an amount."""
    new_deal = manager.make("demand_deals", deal(there.ada, **{FEE: fee, KIND: kind}))
    assert (new_deal[FEE], new_deal[KIND]) == (fee, kind)


def test_deal_ids(manager: Caller, there: World) -> None:
    """A deal id is letters, digits and dashes, different for every deal, those of removed ones included."""
    ids = []
    for _ in range(5):
        new_deal = manager.make("demand_deals", deal(there.ada))
        ids.append((new_deal["deal_id"], new_deal["id"]))
        manager.remove("demand_deals", new_deal["id"])
    assert all(re.fullmatch("[A-Z0-9-]+", deal_id) for deal_id, _ in ids)
    assert len({deal_id for deal_id, _ in ids}) == len({number for _, number in ids}) == 5


def test_a_removed_deal_leaves_its_packages(manager: Caller, there: World) -> None:
    """Deleting a deal unlinks it; the package stays, without it."""
    supply = manager.make("supply_deals", package(create_demand_deals=deals(option(there.ada))))
    manager.remove("demand_deals", supply["demand_deals"][0]["id"])
    assert manager.get(f"supply_deals/{supply['id']}/")["demand_deals"] == []
    manager.remove("supply_deals", supply["id"])
