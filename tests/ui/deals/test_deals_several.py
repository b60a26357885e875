"""Price and dates of several deals: a preview, one change each, and what failed stays chosen."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from dealing import START, Visit, clean, table_rows
from streamlit.testing.v1 import AppTest

from lib.deals.bulk_actions import BulkActions
from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage
from lib.ui.deals.changes.edit_dialog import edit_plan, unsaved_rows
from lib.ui.deals.changes.plan import ChangePlan
from lib.ui.deals.changes.shared_change import SharedChange, SharedSource
from lib.ui.deals.list.deal_rows import DealRow
from lib.wire.errors import ResponseTimeout

ROWS = [DealRow("demand_deals", number, f"Deal {number}") for number in range(1, 5)]
MANY = frozenset({("demand_deals", 1)})


def chosen(desk: AppTest, *keys: str) -> AppTest:
    """The screen with the dialog open for these rows."""
    desk.session_state["deals_list"] = {"acts": {"by": "browser", "list": [[1, "tick", list(keys), True]]}}
    return clean(clean(desk.run()).button(key="deals_edit").click().run())


def press(desk: AppTest, *keys: str) -> AppTest:
    """The screen after clicks on these buttons."""
    for key in keys:
        desk = clean(desk.button(key=key).click().run())
    return desk


def by_percent(desk: AppTest, text: str) -> AppTest:
    """The dialog with this percentage typed."""
    clean(desk.button_group(key="several_how").set_value("Change by %").run())
    return clean(desk.text_input(key="several_amount").set_value(text).run())


def table(desk: AppTest) -> list[dict[str, str]]:
    """The rows of the preview or of the result."""
    return table_rows(desk, "What changes, before and after", "The result of each change")


def prices(deals: Deals) -> list[Decimal | None]:
    """The prices of the four deals."""
    return [deals.get(DemandDeal, number).price for number in (1, 2, 3, 4)]


def test_prices_by_percent(visit: Visit, deals: Deals) -> None:
    """The preview shows each deal before and after, and nothing is changed until it is saved."""
    desk = chosen(visit("deals", deals_kind="Deals"), "demand_deals-1", "demand_deals-3")
    desk = press(by_percent(desk, "7.5"), "several_preview")
    assert [row["Price, USD CPM"] for row in table(desk)] == ["2.50 → 2.69 (×1.08)", "3.25 → 3.49 (×1.07)"]
    assert prices(deals) == [Decimal("2.5"), 3, Decimal("3.25"), 7]
    desk = press(desk, "several_save")
    assert prices(deals) == [Decimal("2.69"), 3, Decimal("3.49"), 7]
    assert "2 deals saved" in desk.success[0].value
    assert [change.action for change in deals.history(DemandDeal, 1)] == ["changed", "created"]
    desk = press(desk, "several_close")
    assert desk.button(key="deals_edit").disabled, "what was saved is not chosen any more"


def test_dates_of_packages(visit: Visit, deals: Deals) -> None:
    """The dates of a deal are its package's: changed once for all of them, in the package's own zone."""
    desk = chosen(visit("deals", deals_kind="Deals"), "demand_deals-1", "demand_deals-2")
    clean(desk.text_input(key="several_end").set_value("2027-01-31").run())
    desk = press(desk, "several_preview")
    [row] = table(desk)
    assert (row["Name"], row["End"]) == ("Morning News", "no end → 31 Jan 2027, 00:00 UTC+1")
    assert table_rows(desk, "Other deals that change") == [
        {"Deal": "Morning News - Gamma Trading", "Package": "Morning News"}
    ]
    assert any("**1 other deal** changes too" in one.value for one in desk.markdown)
    press(desk, "several_save")
    package = deals.get(SupplyPackage, 1)
    assert package.end_date == dt.datetime(2027, 1, 31, tzinfo=START.tzinfo)
    assert package.start_date == START
    assert len(deals.history(SupplyPackage, 1)) == 2, "one change, though two of its deals were chosen"


def test_refused_before_it_is_sent(visit: Visit, deals: Deals) -> None:
    """An end before the start is refused in the preview, with the reason; the other package is saved."""
    deals.change(SupplyPackage, 2, {"start_date": dt.datetime(2027, 6, 1, tzinfo=dt.UTC)})
    desk = chosen(visit("deals", deals_kind="Packages"), "supply_deals-1", "supply_deals-2")
    clean(desk.text_input(key="several_end").set_value("2027-01-31").run())
    desk = press(desk, "several_preview")
    assert any("1 refused" in one.value for one in desk.markdown)
    assert [row["Deal"] for row in table_rows(desk, "Other deals that change")] == [
        "Morning News - Alpha Buying",
        "Morning News - Beta Media",
        "Morning News - Gamma Trading",
    ]
    notes = {row["Name"]: row["Note"] for row in table(desk)}
    assert notes == {"Morning News": "", "Evening Sports": "The end would not be after the start."}
    desk = press(desk, "several_save")
    assert "1 package saved, 1 failed" in desk.warning[0].value
    assert desk.session_state["deals_view"].selection.keys() == {"supply_deals-2"}


def test_somebody_elses_change_is_kept(visit: Visit, deals: Deals) -> None:
    """What changed since the preview is not overwritten: it is named with the reason, and stays chosen."""
    desk = chosen(visit("deals", deals_kind="Deals"), "demand_deals-1", "demand_deals-2")
    desk = press(by_percent(desk, "10"), "several_preview")
    deals.change(DemandDeal, 2, {"price": Decimal(4)})
    desk = press(desk, "several_save")
    assert prices(deals)[:2] == [Decimal("2.75"), 4]
    saved, failed = table(desk)
    assert (saved["Result"], failed["Result"]) == ("Saved", "Failed")
    assert "price from 3 to 4, by manager" in failed["Note"]
    desk = press(desk, "several_again", "several_save")
    assert prices(deals)[:2] == [Decimal("2.75"), Decimal("4.4")], "the first one is not raised twice"
    assert desk.session_state["deals_view"].selection == {}


def test_slips_are_confirmed_or_refused(visit: Visit, deals: Deals) -> None:
    """A price of 0 is saved only once it is confirmed; what is no number is refused beside the field."""
    desk = chosen(visit("deals", deals_kind="Deals"), "demand_deals-1")
    desk = press(by_percent(desk, "a lot"), "several_preview")
    assert any("Not a number" in said.value for said in desk.markdown)
    desk = press(by_percent(desk, "-100"), "several_preview")
    assert desk.button(key="several_save").disabled
    [meant] = [box for box in desk.checkbox if (box.key or "").startswith("several_meant_")]
    assert meant.label.replace("\\", "") == "Confirm a price of 0 (USD CPM)"
    clean(meant.check().run())
    press(desk, "several_save")
    assert prices(deals)[0] == 0


@pytest.mark.parametrize(
    ("price", "percent", "after"),
    [("2.5", "7.5", "2.69"), ("0.125", "10", "0.138"), ("100", "-33.3333", "66.67"), ("3", "0", "3")],
)
def test_rounding(price: str, percent: str, after: str) -> None:
    """A percentage is rounded half up to cents, or to the decimals that the price has already."""
    deal = DemandDeal(id=1, name="One", price=Decimal(price))
    effect = SharedChange(percent=Decimal(percent)).of_deal(deal, MANY)
    assert effect.after.get("price", deal.price) == Decimal(after)


def test_no_price_has_no_percentage() -> None:
    """A deal without a price is refused for a percentage, and takes a price that is set."""
    deal = DemandDeal(id=1, name="One")
    assert SharedChange(percent=Decimal(5)).of_deal(deal, MANY).refusal
    assert SharedChange(deal={"price": Decimal(5)}).of_deal(deal, MANY).after == {"price": 5}


def test_an_unknown_result_is_not_applied_twice(
    deals: Deals, actions: BulkActions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an answer the rest is not sent; a second preview finds what was saved, and leaves it."""
    plan, change = edit_plan(actions, "demand_deals", ROWS[:3]), deals.change

    def saved_unheard(entity: str, entity_id: int, fields: Any, etag: str | None = None) -> None:
        change(entity, entity_id, fields, etag)
        if entity_id == 2:
            raise ResponseTimeout("No answer in 30 s")

    monkeypatch.setattr(deals, "change", saved_unheard)
    _until(plan, deals, SharedChange(percent=Decimal(100)), ROWS[:3])
    assert [one.is_open for one in plan.outcomes] == [False, True]
    assert [row.id for row in unsaved_rows(plan)] == [2, 3]
    assert prices(deals) == [5, 6, Decimal("3.25"), 7]
    monkeypatch.setattr(deals, "change", change)
    _until(plan, deals, plan.source.shared_change, unsaved_rows(plan))
    assert prices(deals) == [5, 6, Decimal("6.5"), 7]
    assert unsaved_rows(plan) == []


def _until(
    plan: ChangePlan[SharedSource], deals: Deals, wanted: SharedChange, rows: Sequence[DealRow]
) -> None:
    """The whole of a change: the preview, then the saving."""
    plan.source.ask_for(wanted, rows)
    plan.begin()
    while plan.phase == "reading":
        plan.read(deals)
    plan.start()
    while plan.phase == "writing":
        plan.write(deals)
