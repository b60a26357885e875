"""The price type of demand deals, an extension: over the API, in deal sync, in forms and in CSV files."""

import csv
import datetime as dt
import io
from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from deals.caller import INVALID, Caller, World, deals, option, package, unique
from lib.deals.models import DemandDeal, EntityChange, Seat, SupplyPackage
from lib.deals.sync.documents import SellingSide, document
from lib.figures.deals import change_text, field_text
from lib.share.documents import dossier
from lib.ui.deals import deal_rows
from lib.ui.deals.changes import merge
from lib.ui.deals.csv import csv_deals
from lib.ui.deals.csv.csv_changes import CHANGES, PLAIN
from lib.ui.deals.forms.draft import Draft, Terms
from lib.wire import csv_text
from lib.wire.csv_text import CsvRow


def test_it_is_set_changed_and_found(manager: Caller, there: World) -> None:
    """A deal has it from its creation or a change, lists are filtered by it, and the history has it."""
    body = {"name": unique("Deal"), **option(there.ada), "price_type": "fixed"}
    new_deal = manager.make("demand_deals", body)
    assert new_deal["price_type"] == "fixed"
    assert manager.get("demand_deals/", price_type="fixed", name=body["name"])["count"] == 1
    manager.change("demand_deals", new_deal["id"], price_type=None)
    assert manager.get(f"demand_deals/{new_deal['id']}/")["price_type"] is None
    changed = manager.history("demand_deals", new_deal["id"])[0]
    assert (changed["before"], changed["after"]) == ({"price_type": "fixed"}, {"price_type": None})


def test_other_values_are_refused(manager: Caller, there: World) -> None:
    """Only floor and fixed are price types."""
    body = {"name": unique("Deal"), **option(there.ada), "price_type": "auction"}
    answer = manager.ask("POST", "demand_deals/", body)
    assert answer.status_code == INVALID
    assert [*answer.json()] == ["price_type"]


def test_deals_of_a_package_share_it(manager: Caller, there: World) -> None:
    """In create_demand_deals it is given once, for all of the deals; left out, it is not set."""
    new = {**deals(option(there.ada), option(there.bob)), "price_type": "fixed"}
    for terms, expected in ((new, "fixed"), (deals(option(there.ada)), None)):
        new_package = manager.make("supply_deals", package(create_demand_deals=terms))
        types = {
            manager.get(f"demand_deals/{deal['id']}/")["price_type"] for deal in new_package["demand_deals"]
        }
        assert types == {expected}


@pytest.mark.parametrize(
    ("of_deal", "usual", "unit", "expected"),
    [
        ("fixed", "floor", "CPM", 3),
        ("floor", "fixed", "CPM", 1),
        (None, "floor", "CPM", 1),
        (None, "fixed", "CPM", 3),
        ("fixed", "floor", "click", 1),
    ],
)
def test_deal_sync_tells_a_fixed_price(of_deal: str | None, usual: str, unit: str, expected: int) -> None:
    """A fixed price is pricetype 3, which needs the price; a floor has the price type of the settings."""
    side = replace(SellingSide("a.example"), price_type=1, usual_price=usual, price_unit=unit)
    row: Any = SimpleNamespace(
        deal_id="TR-1", name="A", created_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC), status="active",
        external_id="x",
        price=Decimal(2), price_type=of_deal, currency=None, agency_curation_fee_type=None, deal_type=None,
        block_override=None,
    )  # fmt: skip
    assert document(side, row, [])["terms"]["pricetype"] == expected


def test_the_form_sends_it() -> None:
    """A draft has it among the terms that its new deals share; not chosen, it is not sent."""
    draft = Draft.of(name="A", seats={1: Terms("2")}, price_type="fixed")
    assert draft.package().body()["create_demand_deals"]["price_type"] == "fixed"
    assert "price_type" not in Draft.of(seats={1: Terms("2")}).package().body()["create_demand_deals"]


def test_a_service_without_it_is_not_asked_for_it() -> None:
    """The form of a deal offers it only where the service returned it."""
    told = DemandDeal.model_validate({"id": 1, "name": "A", "price_type": None})
    assert "price_type" in merge.of(told)
    assert "price_type" not in merge.of(DemandDeal.model_validate({"id": 1, "name": "A"}))


def test_files_have_it() -> None:
    """New deals and changes take it in a column, the list writes it, and what is no price type is a fault."""
    assert "Price type" in csv_deals.SHAPE.titles
    assert "Price type" in CHANGES.titles
    assert PLAIN["Price type"].name == "price_type"
    row, faults = CsvRow(2, {"Price": "2", "Price type": "Fixed price"}), list[str]()
    given = csv_deals.read(row, None, {}, faults)
    assert (given["price_type"], faults) == ("fixed", [])
    request = csv_deals.request(SupplyPackage(id=1, name="P"), Seat(id=2, name="S"), given)
    assert request.body()["price_type"] == "fixed"
    csv_deals.read(CsvRow(2, {"Price": "2", "Price type": "free"}), None, {}, faults)
    assert faults == ["Price type: write one of floor price, fixed price."]
    deal = DemandDeal(id=1, name="A", price_type="fixed")
    [written] = csv.DictReader(io.StringIO(b"".join(deal_rows.csv([deal_rows.of_deal(deal, {})])).decode()))
    assert written["Price type"] == "fixed price"
    assert csv_text.read(csv_text.template(csv_deals.SHAPE).decode(), csv_deals.SHAPE).faults


def test_history_and_table_say_it_in_words() -> None:
    """On screen it is a floor price or a fixed price."""
    change = {"id": 1, "at": "2026-01-01 00:00:00+0000", "who": "ada", "action": "changed"}
    of = EntityChange.model_validate(
        {**change, "before": {"price_type": "floor"}, "after": {"price_type": "fixed"}}
    )
    assert change_text.sentences(of) == ["Price type: floor price → fixed price"]


def test_a_guarantee_is_no_floor(manager: Caller, there: World) -> None:
    """A guaranteed deal's price is fixed without being said so, in lists and in the history too; a deal that
    is a private auction again has the price type that it had."""
    deal = manager.make("demand_deals", {"name": unique("Deal"), **option(there.ada)})
    manager.change("demand_deals", deal["id"], deal_type="guaranteed", units=1000)
    assert manager.get(f"demand_deals/{deal['id']}/")["price_type"] == "fixed"
    assert manager.get("demand_deals/", price_type="fixed", name=deal["name"])["count"] == 1
    [change] = manager.history("demand_deals", deal["id"])[:1]
    assert (change["before"]["price_type"], change["after"]["price_type"]) == (None, "fixed")
    manager.change("demand_deals", deal["id"], deal_type="private_auction", units=None)
    assert manager.get(f"demand_deals/{deal['id']}/")["price_type"] is None


@pytest.mark.parametrize("deal_type", ["guaranteed", "preferred"])
def test_the_buyer_reads_a_fixed_price(deal_type: str) -> None:
    """Whatever service says it, towards the buyer a guarantee at 2.16 is no floor."""
    deal = DemandDeal(id=1, name="A", price=Decimal("2.16"), deal_type=deal_type)
    terms = dict(dossier.terms(deal, [], field_text.USUAL, "floor"))
    assert terms["Price"].endswith(", fixed price")
