"""Deals in a currency of their own on screen: nothing compares, adds up or hides money of several."""

import datetime as dt
import io
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest
from dealing import SOLD, Visit, clean

from lib.deals.client import Deals
from lib.deals.models import DemandDeal, Reference, Seat, SupplyPackage
from lib.deals.negotiation import Negotiation, OfferTerms, Round
from lib.figures.deals.field_text import USUAL
from lib.insight.deal_report import DealReport
from lib.insight.overlap import SharedInventory, two_prices
from lib.serving.connect.availability import ReportAvailability
from lib.ui.deals.buyers import hand_over
from lib.ui.deals.buyers.answer_panel import TakeOver
from lib.ui.deals.changes import plan_steps
from lib.ui.deals.changes.edit_dialog import edit_plan
from lib.ui.deals.changes.plan import PlannedChange
from lib.ui.deals.changes.shared_change import SharedChange
from lib.ui.deals.csv import csv_deals
from lib.ui.deals.deal_rows import DealRow, cells, csv, of_package
from lib.ui.deals.forms import draft_text
from lib.ui.deals.forms.draft import Draft, Terms
from ui.deals.test_slips_everywhere import CHANGES, DEAL, WON, Place, by_answer_back, by_buyer, question

EUR, USD = ("EUR", Decimal("1.9")), ("", Decimal("2.5"))
PACKAGE = SupplyPackage(
    id=7, name="Spring", media_type="video", start_date=dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
    demand_deals=(Reference(id=1), Reference(id=2)),
)  # fmt: skip


def deal(number: int, price: str, currency: str | None = None, seat: int = 1) -> DemandDeal:
    """A deal of a seat."""
    return DemandDeal(
        id=number, name=f"Deal {number}", deal_id=f"TR-{number}", price=Decimal(price), currency=currency,
        seat=Seat(id=seat, name=f"Seat {seat}"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("prices", "text"),
    [
        ((USD,), "2.50"),
        ((("USD", Decimal("2.5")), ("", Decimal(3))), "2.50 – 3.00"),
        ((EUR,), "1.90 EUR"),
        ((EUR, USD, ("EUR", Decimal(4))), "2.50, 1.90 – 4.00 EUR"),
    ],
)
def test_a_price_in_a_list_has_its_currency(prices: tuple[tuple[str, Decimal], ...], text: str) -> None:
    """Under a title with the usual currency, one in another has its code; a package has a span of each."""
    row = DealRow("supply_deals", 1, "Spring", prices=prices)
    assert cells(row, ("price",))[0].text == text


def test_files_keep_currencies_apart() -> None:
    """The list as a file has prices in another currency as text; the file for buyers a column of each."""
    sold = [deal(1, "2.50"), deal(2, "1.90", "EUR"), deal(3, "3")]
    rows = [of_package(PACKAGE, sold), of_package(PACKAGE, sold[:1])]
    frame = pd.read_csv(io.BytesIO(b"".join(csv(rows))), dtype=str)
    assert frame["Lowest price, USD CPM"].tolist() == ["2.50; 1.90 EUR", "2.50"]
    assert frame["Currency"].tolist() == ["USD; EUR", "USD"]
    handed = tuple(hand_over.buyer_row(sold_deal) for sold_deal in sold)
    frame = pd.read_csv(
        io.BytesIO(hand_over.HandOver(PACKAGE, USUAL).csv(handed)), dtype=str, keep_default_na=False
    )
    assert frame["Price, USD CPM"].tolist() == ["2.50", "", "3.00"]
    assert frame["Price, EUR CPM"].tolist() == ["", "1.90", ""]
    assert "TR-2, 1.90 EUR CPM" in hand_over.HandOver(PACKAGE, USUAL).text(handed)


@pytest.mark.parametrize("currency", [None, "EUR"])
def test_a_buyer_reads_of_the_block_override(currency: str | None) -> None:
    """The text for the buyer has the flag where it is set, and the price's own currency."""
    sold = deal(1, "2.5", currency).model_copy(update={"block_override": True, "priority": Decimal(3)})
    text = hand_over.HandOver(PACKAGE, USUAL).text([hand_over.buyer_row(sold)])
    assert "Block override: yes" in text
    assert f"2.50 {currency or 'USD'} CPM" in text
    assert "Priority" not in text


def test_a_mixed_sum_is_said() -> None:
    """Budgets of seats in several currencies have no sum in the review and under the rows."""

    def draft(*currencies: str | None) -> Draft:
        seats = {
            seat: Terms("2", own={"budget": "100", "currency": currency})
            for seat, currency in enumerate(currencies, 1)
        }
        return Draft.of(name="Spring", seats=seats)

    for currencies, sentence in (
        ((None, "EUR", "EUR"), "no sum of budgets (2 deals in EUR, 1 in USD)"),
        (("EUR", "EUR"), "200.00 EUR budget"),
        ((None, "USD"), "200.00 budget"),
    ):
        assert draft_text.sums(draft(*currencies).new_deals, USUAL, ("budget",)) == [sentence]
    review = "\n".join(draft_text.sentences(draft(None, "EUR"), {}, {}))
    assert "at 2.00 EUR" in review
    assert "1 deal in EUR, 1 in USD" in review
    shared = replace(draft(None, "EUR"), terms={"budget": "100"})
    seats = {1: Terms("2", own={"currency": None}), 2: Terms("2", own={"currency": "EUR"})}
    review = "\n".join(draft_text.sentences(replace(shared, seats=seats), {}, {}))
    assert "100.00 each, no sum (1 deal in EUR, 1 in USD)" in review


@pytest.fixture
def place(visit: Visit, own_deals_home: Path, deals: Deals, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A desk on whose report every seat won from 1.99 to 2.13 USD in banner."""
    monkeypatch.setattr(ReportAvailability, "win_scales", lambda self, seats: WON)
    monkeypatch.setenv("TRANCHE_APPROVE_OWN_PROPOSALS", "true")
    return Place(visit, own_deals_home, deals)


@pytest.mark.parametrize("way", CHANGES)
def test_a_price_before_in_its_own_currency(way: object, place: Place) -> None:
    """Wherever a price of a deal in yen is changed, it is compared with one before, in yen."""
    titles = {by_answer_back: "the deal's price", by_buyer: "the offer"}
    place.deals.change(DemandDeal, DEAL, {"currency": "JPY", "price": Decimal(300)})
    assert callable(way)
    sentence = way(place, "300", price="3100")
    assert f"10.33 times {titles.get(way, 'the price before')} (300.00)" in sentence
    assert "USD" not in sentence


def test_a_new_price_in_another_currency_is_not_compared_with_wins(place: Place) -> None:
    """300 beside wins of 1.99 to 2.13 is asked in USD and not in yen; the field says which it is."""
    desk = place.visit("new_package", slicer=SOLD)
    desk.multiselect(key="np_seats").set_value([1]).run()
    desk.text_input(key="np_price_1").set_value("300").run()
    assert "300.00" in question(clean(desk))
    desk.selectbox(key="np_currency").set_value("JPY").run()
    assert question(clean(desk)) == ""
    assert any("JPY CPM" in caption.value for caption in desk.caption)


def test_another_currency_at_the_same_price_is_asked(place: Place) -> None:
    """In the drawer, and for several; together with another price it is not."""
    desk = place.visit("deals", open="demand_deals-1")
    clean(desk.button_group(key="drawer_shown").set_value("Change").run())
    desk.selectbox(key="change-demand_deals-1-currency").set_value("EUR").run()
    assert "the same price in EUR as before in USD" in question(clean(desk))
    desk.text_input(key="change-demand_deals-1-price").set_value("2.2").run()
    assert question(clean(desk)) == ""


def test_one_price_for_several_currencies_is_asked(place: Place) -> None:
    """A price set for deals in several currencies is confirmed; a percentage of each one's own is not."""
    place.deals.change(DemandDeal, 1, {"currency": "EUR", "price": Decimal(2)})
    place.deals.change(DemandDeal, 2, {"price": Decimal(3)})
    rows = [DealRow("demand_deals", number, f"Deal {number}") for number in (1, 2)]
    for change, expected in (
        (SharedChange(deal={"price": Decimal("2.1")}), "the same price for 1 deal in EUR, 1 in USD"),
        (SharedChange(percent=Decimal(5)), ""),
    ):
        plan = edit_plan(place.desk.bulk_actions, "demand_deals", rows)
        plan.source.ask_for(change, rows)
        plan.begin()
        while plan.phase == "reading":
            plan.step(place.deals)
        desk = place.visit("deals", deals_kind="Deals")
        desk.session_state["deals_several"] = plan
        asked = question(clean(desk.run()))
        assert (expected in asked, bool(asked)) == (True, bool(expected)), asked
        [table] = [table.value for table in desk.table]
        assert "2.00 EUR → 2.10 EUR" in table.to_csv()


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ({"currency": None}, {}, "2.00 → 4.00 (+100.0 %)"),
        ({"currency": "EUR"}, {}, "2.00 EUR → 4.00 EUR (+100.0 %)"),
        ({"currency": None}, {"currency": "EUR"}, "2.00 → 4.00 EUR"),
    ],
)
def test_a_preview_has_a_change_in_percent_of_like_with_like(
    before: dict[str, object], after: dict[str, object], text: str
) -> None:
    """Beside prices of two currencies there is no percentage."""
    before, after = {"price": Decimal(2), **before}, {"price": Decimal(4), **after}
    assert plan_steps.arrow(PlannedChange(("demand_deals", 1), "A", before, after), "price", USUAL) == text


def test_what_wins_cost_is_compared_with_prices_in_the_currency_of_the_report(deals: Deals) -> None:
    """A report in USD has the currency of deals without one and of those in USD; of no others."""
    report = DealReport("demo", "sold", None, dt.date(2026, 1, 1), None, currency="USD")  # type: ignore[arg-type]
    held = [report.has_currency_of(deal(1, "2", currency)) for currency in (None, "USD", "EUR")]
    assert held == [True, True, False]


def test_two_prices_for_shared_inventory_are_in_one_currency() -> None:
    """A seat that has a price in USD and one in EUR has no two prices; with two in EUR it has."""
    shared = SharedInventory(0, 1, *[type("Some", (), {"value": 5.0, "is_exact": True})()] * 3)
    usd, eur, dear = deal(1, "2"), deal(2, "3", "EUR"), deal(3, "4", "EUR")
    assert two_prices([[usd], [eur]], [shared]) == []
    [both] = two_prices([[usd, dear], [eur]], [shared])
    assert (both.prices, both.currency) == ((3, 4), "EUR")


@pytest.mark.parametrize(
    ("price", "currency", "before", "result", "fault"),
    [
        ("2,10 €", None, None, {"currency": "EUR"}, ""),
        ("2,10 €", "EUR", None, {}, ""),
        ("$2.10", None, None, {}, ""),
        ("$2.10", None, "EUR", {"currency": "USD"}, ""),
        ("2.10", None, "EUR", {}, ""),
        ("2,10 €", "USD", None, {}, "Price: '2,10 €' is in EUR, and the row's currency is USD."),
    ],
)
def test_a_pasted_price_takes_its_currency_along(
    price: str, currency: str | None, before: str | None, result: dict[str, str], fault: str
) -> None:
    """A cell like `2,10 €` sets the deal's currency where the row names none; else it is a fault."""
    faults: list[str] = []
    assert csv_deals.pasted_currency(price, currency, before, faults) == result
    assert faults == ([fault] if fault else [])


def test_what_was_answered_in_another_currency_is_not_agreed() -> None:
    """A buyer who accepted 2.50 EUR has not accepted 2.50 USD; taking it over sets the currency back."""
    answer = Round("buyer", "accepts", OfferTerms(Decimal("2.5"), currency="EUR"), "Bea", number=1)
    now = Negotiation(OfferTerms(Decimal("2.5"), currency="USD"), (answer,))
    assert not now.is_agreed
    assert now.waits_for_house
    _, changes = TakeOver.of(now, deal(1, "2.5"), [])
    assert [change.after for change in changes] == [{"currency": "EUR"}]
    same = Negotiation(OfferTerms(Decimal("2.5"), currency="EUR"), (answer,))
    assert same.is_agreed
    assert now.mark != same.mark
