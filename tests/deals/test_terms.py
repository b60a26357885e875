"""The terms of deals that are extensions: deal type, guarantee, budget, caps, segments, a note to the buyer.

The price type has tests of its own (test_price_type.py).
"""

import csv
import datetime as dt
import io
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from deals.caller import INVALID, Caller, World, deals, option, package, unique
from lib.deals.models import DemandDeal, Seat, SupplyPackage
from lib.deals.sync.documents import SellingSide, document
from lib.ui.deals.buyers import hand_over
from lib.ui.deals.csv import csv_deals
from lib.ui.deals.csv.csv_text import CsvRow
from lib.ui.deals.drawer import details
from lib.ui.deals.facts import USUAL
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.draft import Draft, Terms
from lib.ui.deals.list import deal_rows

TERMS: dict[str, Any] = {
    "deal_type": "guaranteed",
    "units": 5_000_000,
    "pacing": "even",
    "budget": 12500.5,
    "frequency_cap": 3,
    "viewability_goal": 70,
    "audience_segments": "auto-intenders, 4417",
    "buyer_note": "Creatives by Friday, please",
}
TYPED = {
    **TERMS, "units": "5000000", "budget": "12500.50", "frequency_cap": "3", "viewability_goal": "70",
}  # fmt: skip
GUARANTEE = ("units", "pacing")


def test_they_are_set_changed_and_found(manager: Caller, there: World) -> None:
    """A deal has each from its creation or a change; lists are filtered by each; the history has each."""
    body = {"name": unique("Deal"), **option(there.ada), **TERMS}
    made = manager.make("demand_deals", body)
    assert {name: made[name] for name in TERMS} == TERMS
    for name, value in TERMS.items():
        assert manager.get("demand_deals/", **{name: value, "name": body["name"]})["count"] == 1
    manager.change("demand_deals", made["id"], **dict.fromkeys(TERMS))
    assert {manager.get(f"demand_deals/{made['id']}/")[name] for name in TERMS} == {None}
    change = manager.history("demand_deals", made["id"])[0]
    assert (change["before"], change["after"]) == (TERMS, dict.fromkeys(TERMS))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("deal_type", "open"),
        ("units", 0),
        ("units", 2.5),
        ("pacing", "slow"),
        ("budget", -1),
        ("frequency_cap", 0),
        ("viewability_goal", 101),
        ("buyer_note", "x" * 201),
    ],
)
def test_what_can_not_be_is_refused(manager: Caller, there: World, name: str, value: object) -> None:
    """A value out of a term's limits is named with its field, and nothing is created."""
    body = {"name": unique("Deal"), **option(there.ada), "deal_type": "guaranteed", name: value}
    answer = manager.ask("POST", "demand_deals/", body)
    assert (answer.status_code, [*answer.json()]) == (INVALID, [name])
    assert manager.get("demand_deals/", name=body["name"])["count"] == 0


@pytest.mark.parametrize("deal_type", [None, "preferred", "private_auction"])
@pytest.mark.parametrize("name", GUARANTEE)
def test_only_a_guaranteed_deal_has_a_guarantee(
    manager: Caller, there: World, deal_type: str | None, name: str
) -> None:
    """Guaranteed impressions and pacing need the deal type, in the API, in forms and in CSV files."""
    terms = {"deal_type": deal_type, name: TERMS[name]}
    answer = manager.ask("POST", "demand_deals/", {"name": unique("Deal"), **option(there.ada), **terms})
    assert (answer.status_code, [*answer.json()]) == (INVALID, ["deal_type"])
    assert [*inputs.faults({"deal_type": deal_type, name: TYPED[name]})] == ["deal_type"]
    words = {"preferred": "preferred deal", "private_auction": "private auction"}.get(deal_type or "", "")
    titles = {"units": "Guaranteed impressions", "pacing": "Pacing"}
    cell = {"units": "5000000", "pacing": "evenly"}[name]
    faults: list[str] = []
    csv_deals.read(CsvRow(2, {"Price": "2", "Deal type": words, titles[name]: cell}), None, {}, faults)
    assert len(faults) == 1


def test_deals_of_a_package_share_them(manager: Caller, there: World) -> None:
    """In create_demand_deals they are given once, for all of the deals."""
    terms = {**deals(option(there.ada), option(there.bob)), **TERMS}
    made = manager.make("supply_deals", package(create_demand_deals=terms))
    for one in made["demand_deals"]:
        deal = manager.get(f"demand_deals/{one['id']}/")
        assert {name: deal[name] for name in TERMS} == TERMS


@pytest.mark.parametrize(
    ("deal_type", "expected"),
    [("guaranteed", (1, 5_000_000)), ("preferred", (None, None)), (None, (None, None))],
)
def test_deal_sync_tells_the_guarantee(
    deal_type: str | None, expected: tuple[int | None, int | None]
) -> None:
    """The document of a guaranteed deal has `guar` and `units`; that of another has neither."""
    row: Any = SimpleNamespace(
        deal_id="TR-1", name="A", created_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC), status="active",
        external_id="x", price=Decimal(2), price_type=None, agency_curation_fee_type=None,
        deal_type=deal_type, units=Decimal(5_000_000) if deal_type == "guaranteed" else None,
    )  # fmt: skip
    terms = document(SellingSide("a.example"), row, [])["terms"]
    assert (terms.get("guar"), terms.get("units")) == expected


def test_the_form_sends_them() -> None:
    """A draft has them among the terms that its new deals share; what is empty is not sent."""
    sent = Draft.of(name="A", seats={1: Terms("2")}, **TYPED).package().body()["create_demand_deals"]
    assert {name: sent[name] for name in TERMS} == {**TERMS, "budget": Decimal("12500.50")}
    assert not TERMS.keys() & Draft.of(seats={1: Terms("2")}).package().body()["create_demand_deals"].keys()


def test_files_have_them() -> None:
    """New deals take them in columns, in words and digits, and the list writes what is read again alike."""
    deal = DemandDeal.model_validate({"id": 1, "name": "A", "price": 2, **TERMS})
    [cells] = csv.DictReader(io.StringIO(b"".join(deal_rows.csv([deal_rows.of_deal(deal, {})])).decode()))
    faults: list[str] = []
    values = csv_deals.read(CsvRow(2, {**cells, "Price": "2"}), None, {}, faults)
    assert faults == []
    assert {name: values[name] for name in TERMS} == {name: getattr(deal, name) for name in TERMS}


def test_the_buyer_is_told() -> None:
    """The text and the CSV for a buyer have the terms that are set, and no empty ones."""
    deal = DemandDeal.model_validate({"id": 1, "name": "A", "deal_id": "TR-1", "price": 2, **TERMS})
    plain = DemandDeal.model_validate({"id": 2, "name": "B", "deal_id": "TR-2", "price": 3})
    of, rows = SupplyPackage(id=1, name="P"), [deal_rows.of_deal(one, {}) for one in (deal, plain)]
    lines = hand_over.text(of, rows[:1], USUAL).splitlines()
    assert "  Guaranteed impressions: 5,000,000" in lines
    assert "  Note to the buyer: Creatives by Friday, please" in lines
    assert not any(line.startswith("  ") for line in hand_over.text(of, rows[1:], USUAL).splitlines())
    first, second = csv.DictReader(io.StringIO(hand_over.csv(of, rows, USUAL).decode("utf-8-sig")))
    assert (first["Budget"], second["Budget"]) == ("12,500.50", "")


def test_a_deal_without_them_shows_none() -> None:
    """The facts of a deal name the terms that it has, and not those that it has not."""
    deal = DemandDeal.model_validate({"id": 1, "price": 2, "buyer_note": "Hello", "units": None})
    facts = details.deal_facts(deal)
    assert facts["Note to the buyer"] == "Hello"
    assert "Guaranteed impressions" not in facts


def test_a_seat_has_them_when_copied() -> None:
    """The request of a deal for one more seat has the terms of the deal that it is like."""
    from lib.ui.deals.changes.additions import like

    deal = DemandDeal.model_validate({"id": 1, "name": "A", "price": 2, **TERMS})
    sent = like(deal, Seat(id=2, name="S"), Decimal(3)).body()
    assert {name: sent[name] for name in TERMS} == {name: getattr(deal, name) for name in TERMS}
