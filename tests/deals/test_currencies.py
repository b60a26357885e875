"""A deal's currency and its block override, extensions: over the API, in lists, warnings and deal sync."""

import datetime as dt
import json
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from deals.caller import Caller, World, deals, option, package, unique
from lib.deals.compat.listing import page
from lib.deals.models import DemandDeal
from lib.deals.sync.documents import SellingSide, document
from lib.wire.currencies import currency_counts


@pytest.mark.parametrize(
    ("field", "value", "others"),
    [("currency", "EUR", ("eur", "EURO", "XXX", "", 5)), ("block_override", True, ("yes", 1, ""))],
)
def test_it_is_set_changed_found_and_strictly_read(
    field: str, value: object, others: tuple[object, ...], manager: Caller, there: World
) -> None:
    """A deal has it from its creation or a change, alone or shared; other values are refused by name."""
    body = {"name": unique("Deal"), **option(there.ada), field: value}
    new_deal = manager.make("demand_deals", body)
    assert new_deal[field] == value
    assert (
        manager.get("demand_deals/", **{field: json.dumps(value).strip('"')}, name=body["name"])["count"] == 1
    )
    manager.change("demand_deals", new_deal["id"], **{field: None})
    assert manager.get(f"demand_deals/{new_deal['id']}/")[field] is None
    for other in others:
        assert [*manager.wrong("demand_deals", **{**body, field: other})] == [field], other
    new = {**deals(option(there.ada), option(there.bob)), field: value}
    sold = manager.make("supply_deals", package(create_demand_deals=new))
    values = {manager.get(f"demand_deals/{deal['id']}/")[field] for deal in sold["demand_deals"]}
    assert values == {value}


def test_a_client_that_does_not_know_it(manager: Caller, there: World) -> None:
    """A deal is made and changed without it, and keeps the one that it has."""
    new_deal = manager.make("demand_deals", {"name": unique("Deal"), **option(there.ada)})
    assert new_deal["currency"] is None
    manager.change("demand_deals", new_deal["id"], currency="CHF")
    manager.change("demand_deals", new_deal["id"], price=2.75)
    assert manager.get(f"demand_deals/{new_deal['id']}/")["currency"] == "CHF"


@pytest.mark.parametrize(
    ("before", "change", "warning"),
    [
        ({"price": 2}, {"price": 20}, "10 times the price before (2.00)"),
        ({"price": 2, "currency": "USD"}, {"price": 20}, "10 times the price before (2.00)"),
        ({"price": 2}, {"price": 20, "currency": "USD"}, "10 times the price before (2.00)"),
        ({"price": 2, "currency": "EUR"}, {"price": 20}, "10 times the price before (2.00)"),
        ({"price": 2}, {"price": 300, "currency": "JPY"}, "with no other in JPY to compare with"),
        ({"price": 300, "currency": "JPY"}, {"price": 2, "currency": None}, "with no other in USD"),
        ({"price": 2}, {"currency": "JPY"}, "The same price in JPY as before in USD."),
        ({"price": 2, "currency": "JPY"}, {"currency": None}, "The same price in USD as before in JPY."),
        ({"price": 2}, {"currency": "USD"}, ""),
    ],
)
def test_prices_are_compared_within_their_currency(
    before: dict[str, Any], change: dict[str, Any], warning: str, manager: Caller, there: World
) -> None:
    """The price before is a scale in the same currency alone, the usual one being that of the settings; the
    same price in another currency is questioned."""
    body = {"name": unique("Deal"), "seat": {"id": there.ada}, **before}
    number = manager.make("demand_deals", body)["id"]
    answer = manager.ask("PUT", f"demand_deals/{number}/", change)
    warnings = json.loads(answer.headers.get("Tranche-Warnings", "[]"))
    assert (len(warnings), warning in "".join(warnings)) == (int(bool(warning)), True)


def test_list_prices_are_those_in_the_same_currency(manager: Caller, there: World) -> None:
    """Beside deals in USD and one in JPY, a price in JPY is compared with that one; in one request too."""
    new = deals(option(there.ada, price=2), option(there.bob, price=300, currency="JPY"))
    sold = manager.make("supply_deals", package(create_demand_deals=new))
    assert "warnings" not in sold
    deal = {"seat": {"id": there.cleo}, "supply_deals": [{"id": sold["id"]}]}
    expected = {
        ("JPY", 310): "", (None, 310): "(2.00)", ("JPY", 2): "(300.00)",
        ("EUR", 310): "with no other in EUR to compare with",
    }  # fmt: skip
    for (currency, price), figure in expected.items():
        body = {"name": unique("Deal"), **deal, "price": price, "currency": currency}
        answer = manager.ask("POST", "demand_deals/", body).json()
        assert (figure in "".join(answer.get("warnings", ())), bool(figure)) == (True, "warnings" in answer)
        manager.remove("demand_deals", answer["id"])


def test_a_list_by_price_goes_through_one_currency_after_another(manager: Caller, there: World) -> None:
    """Up and down; packages with deals in several currencies have no lowest price and come last."""
    name = unique("Money")
    prices = [(3, None), (200, "JPY"), (1, None), (100, "JPY"), (2, "USD")]
    for price, currency in prices:
        manager.make(
            "demand_deals", {"name": name, "seat": {"id": there.ada}, "price": price, "currency": currency}
        )
    up, down = (
        [deal["price"] for deal in manager.get("demand_deals/", name=name, ordering=order)["results"]]
        for order in ("price", "-price")
    )
    assert (up, down) == ([100, 200, 1, 2, 3], [200, 100, 3, 2, 1])
    for currency in (None, "JPY"):
        new = deals(option(there.ada, price=9), option(there.bob, price=5, currency=currency))
        manager.make("supply_deals", package(name=f"{name} {currency}", create_demand_deals=new))
    for order in ("price", "-price"):
        names = [
            result["name"] for result in manager.get("supply_deals/", search=name, ordering=order)["results"]
        ]
        assert names == [f"{name} None", f"{name} JPY"]


def test_a_list_in_memory_is_ordered_likewise() -> None:
    """That of a remote service that has no list of its own."""
    prices = ((3, None), (200, "JPY"), (1, None), (100, "JPY"))
    sold = [
        DemandDeal(id=number, price=Decimal(price), currency=currency)
        for number, (price, currency) in enumerate(prices)
    ]
    down = page(DemandDeal, sold, {"ordering": "-price"}).results
    assert [deal.price for deal in down] == [3, 1, 200, 100]


def test_deal_sync_has_the_currency_of_the_deal() -> None:
    """`cur` is the deal's, else that of the settings; the block override is in `ext`, where it is set."""
    for currency, expected in (("EUR", "EUR"), (None, "USD")):
        row: Any = SimpleNamespace(
            deal_id="TR-1", name="A", created_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC), status="active",
            external_id="x", price=Decimal(2), price_type=None, currency=currency, deal_type=None,
            agency_curation_fee_type=None, block_override=True if currency else None,
        )  # fmt: skip
        sent = document(SellingSide("a.example"), row, [])
        assert (sent["terms"]["dealfloor"], sent["terms"]["cur"]) == (2, expected)
        assert sent.get("ext") == ({"block_override": True} if currency else None)


def test_a_mixed_sum_is_said() -> None:
    """How many deals there are in each currency; nothing where all are alike."""
    assert currency_counts(["USD"] * 12 + ["EUR"] * 3) == "3 deals in EUR, 12 in USD"
    assert currency_counts(["USD", "EUR"]) == "1 deal in EUR, 1 in USD"
    assert currency_counts(["EUR", "EUR"]) == currency_counts([]) == ""
