"""The terms of deals that are extensions: deal type, guarantee, budget, caps, segments, a note to the buyer.

The price type has tests of its own (test_price_type.py).
"""

import csv
import datetime as dt
import io
from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from deals.caller import INVALID, Caller, World, deals, option, package, unique
from lib.deals import fields
from lib.deals.models import FEE_TYPES, DemandDeal, Seat, SupplyPackage
from lib.deals.sync.documents import SellingSide, document
from lib.deals.validation import FEE, FEE_TYPE, broken_rules
from lib.figures.deals.field_text import USUAL
from lib.share.documents import dossier
from lib.ui.deals import deal_rows
from lib.ui.deals.buyers import hand_over
from lib.ui.deals.csv import csv_deals
from lib.ui.deals.drawer import details
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.draft import BLANK, Draft, NewDeals, Terms
from lib.wire.csv_text import CsvRow

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


def test_they_are_set_changed_and_found(manager: Caller, there: World) -> None:
    """A deal has each from its creation or a change; lists are filtered by each; the history has each."""
    body = {"name": unique("Deal"), **option(there.ada), **TERMS}
    new_deal = manager.make("demand_deals", body)
    assert {name: new_deal[name] for name in TERMS} == TERMS
    for name, value in TERMS.items():
        assert manager.get("demand_deals/", **{name: value, "name": body["name"]})["count"] == 1
    manager.change("demand_deals", new_deal["id"], **dict.fromkeys(TERMS))
    assert {manager.get(f"demand_deals/{new_deal['id']}/")[name] for name in TERMS} == {None}
    change = manager.history("demand_deals", new_deal["id"])[0]
    terms = TERMS | {"price_type": "fixed"}  # as it is guaranteed
    assert (change["before"], change["after"]) == (terms, dict.fromkeys(terms))


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
    guarantee = {"deal_type": "guaranteed", "units": 5}
    body = {"name": unique("Deal"), **option(there.ada), **guarantee, name: value}
    answer = manager.ask("POST", "demand_deals/", body)
    assert (answer.status_code, [*answer.json()]) == (INVALID, [name])
    assert manager.get("demand_deals/", name=body["name"])["count"] == 0


PAIRS = [
    ({"units": 5_000_000}, "deal_type"),
    ({"units": 5_000_000, "deal_type": "preferred"}, "deal_type"),
    ({"pacing": "even", "deal_type": "private_auction"}, "deal_type"),
    ({"deal_type": "guaranteed"}, "units"),
    ({"deal_type": "guaranteed", "pacing": "even"}, "units"),
    ({"deal_type": "guaranteed", "units": 5_000_000, "price_type": "floor"}, "price_type"),
    ({"deal_type": "preferred", "price_type": "floor"}, "price_type"),
    ({FEE_TYPE: 1}, FEE),
    ({FEE_TYPE: 1, FEE: 101}, FEE),
    ({"deal_sync": True}, "contact_email"),
]
"""Terms of which one needs or excludes another, and the term at which that is said."""


@pytest.mark.parametrize(("terms", "at"), PAIRS)
def test_terms_that_need_or_exclude_each_other(
    manager: Caller, there: World, terms: dict[str, Any], at: str
) -> None:
    """Each pair is refused alike: one deal, several, with a package, in a change, in form and file."""
    deal = {"name": unique("Deal"), **option(there.ada), **terms}
    assert [*refusal(manager.ask("POST", "demand_deals/", deal))] == [at]
    assert [*refusal(manager.ask("POST", "demand_deals/batch", [deal]))["0"]] == [at]
    shared = {name: value for name, value in terms.items() if name != "deal_sync"}
    with_sync = option(there.ada) | ({"deal_sync": True} if "deal_sync" in terms else {})
    answer = manager.ask("POST", "supply_deals/", package(create_demand_deals={**deals(with_sync), **shared}))
    assert [*refusal(answer)["create_demand_deals"]] == [at]
    if shared:
        answer = manager.ask("POST", "supply_deals/", package(create_demand_deals=deals(with_sync | shared)))
        assert [*refusal(answer)["create_demand_deals"]["demand_deals_options"][0]] == [at]
    stored = manager.make("demand_deals", {"name": unique("Deal"), **option(there.ada)})
    assert [*refusal(manager.ask("PUT", f"demand_deals/{stored['id']}/", terms))] == [at]

    typed = {name: inputs.widget_value(name, as_stored(value)) for name, value in terms.items()}
    assert [*inputs.faults({**BLANK, **typed}).all] == [(at,)]
    seat = Terms("2", bool(typed.pop("deal_sync", False)))
    for deals_of_seat in (NewDeals({1: seat}, typed), NewDeals({1: replace(seat, own=typed)})):
        assert [path[-1] for path in deals_of_seat.faults().all] == [at]

    cells = {fields.BY_NAME[name].column: in_a_cell(name, value) for name, value in terms.items()}
    faults: list[str] = []
    csv_deals.read(CsvRow(2, {"Price": "2", **cells}), None, FEE_TYPES, faults)
    assert len(faults) == 1


def test_a_term_that_was_stored_before_a_rule_hinders_no_other_change() -> None:
    """Rules look at a change where it is about their terms; all else of an old deal can be changed."""
    old = {"deal_type": "guaranteed", "units": None, "price": 2}
    assert [*broken_rules(old, ["price"])] == []
    assert [*broken_rules(old, ["pacing"])] == []
    assert [*broken_rules(old, ["deal_type"])] == ["units"]


def refusal(answer: httpx.Response) -> Any:
    """The body of a request that was refused as invalid."""
    assert answer.status_code == INVALID
    return answer.json()


def as_stored(value: object) -> object:
    """A value of a request as models have it."""
    return Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else value


def in_a_cell(name: str, value: Any) -> str:
    """A value of a request as a CSV file has it."""
    choices = fields.BY_NAME[name].kind.choices
    return choices[value] if choices else {True: "yes"}.get(value, str(value))


def test_deals_of_a_package_share_them(manager: Caller, there: World) -> None:
    """In create_demand_deals they are given once, for all of the deals."""
    terms = {**deals(option(there.ada), option(there.bob)), **TERMS}
    new_package = manager.make("supply_deals", package(create_demand_deals=terms))
    for reference in new_package["demand_deals"]:
        deal = manager.get(f"demand_deals/{reference['id']}/")
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
        external_id="x", price=Decimal(2), price_type=None, currency=None, agency_curation_fee_type=None,
        block_override=None, deal_type=deal_type,
        units=Decimal(5_000_000) if deal_type == "guaranteed" else None,
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
    of, rows = SupplyPackage(id=1, name="P"), [deal_rows.of_deal(entity, {}) for entity in (deal, plain)]
    lines = hand_over.HandOver(of, USUAL).text(rows[:1]).splitlines()
    assert "  Guaranteed impressions: 5,000,000" in lines
    assert "  Note to the buyer: Creatives by Friday, please" in lines
    assert "  Budget, USD: 12,500.50" in lines
    assert not any(
        line.startswith("  ") for line in hand_over.HandOver(of, USUAL).text(rows[1:]).splitlines()
    )
    first, second = csv.DictReader(io.StringIO(hand_over.HandOver(of, USUAL).csv(rows).decode("utf-8-sig")))
    assert (first["Budget, USD"], second["Budget, USD"]) == ("12,500.50", "")


def test_a_buyer_reads_the_currency_of_a_budget() -> None:
    """Text, CSV and page name the currency of the deal beside its budget; in a file each has a column."""
    euros, dollars = (
        DemandDeal.model_validate({"id": number, "price": 2, "budget": 100, "currency": currency})
        for number, currency in enumerate(("EUR", None), 1)
    )
    rows = [deal_rows.of_deal(deal, {}) for deal in (euros, dollars)]
    buyers_copy = hand_over.HandOver(SupplyPackage(id=1, name="P"), USUAL)
    assert "  Budget, EUR: 100.00" in buyers_copy.text(rows[:1]).splitlines()
    first, second = csv.DictReader(io.StringIO(buyers_copy.csv(rows).decode("utf-8-sig")))
    assert (first["Budget, EUR"], first["Budget, USD"]) == ("100.00", "")
    assert (second["Budget, EUR"], second["Budget, USD"]) == ("", "100.00")
    for deal, title in ((euros, "Budget, EUR"), (dollars, "Budget, USD")):
        assert dict(dossier.terms(deal, [], USUAL, "floor"))[title] == "100.00"


def test_a_deal_without_them_shows_none() -> None:
    """The facts of a deal name the terms that it has, and not those that it has not."""
    deal = DemandDeal.model_validate({"id": 1, "price": 2, "buyer_note": "Hello", "units": None})
    facts = details.deal_facts(deal)
    assert facts["Note to the buyer"] == "Hello"
    assert "Guaranteed impressions" not in facts


def test_a_seat_has_them_when_copied() -> None:
    """The request of a deal for one more seat has the terms of the deal that it is like."""
    from lib.ui.deals.drawer.clone import like

    deal = DemandDeal.model_validate({"id": 1, "name": "A", "price": 2, **TERMS})
    sent = like(deal, Seat(id=2, name="S"), Decimal(3)).body()
    assert {name: sent[name] for name in TERMS} == {name: getattr(deal, name) for name in TERMS}
