"""Changing existing deals by a CSV: every line is checked, and each batch is changed whole or not at all."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest
from dealing import START, Visit, clean, clients

from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage
from lib.settings import Settings
from lib.ui.deals.changes.plan import ChangePlan
from lib.ui.deals.csv.csv_changes import CHANGES, OPEN, csv_plan
from lib.ui.deals.csv.csv_deals import CsvSource
from lib.ui.deals.csv.csv_dialog import CsvUpload
from lib.wire import csv_text

UTC1 = START.tzinfo
Plan = ChangePlan[CsvSource]


@pytest.fixture
def ids(deals: Deals) -> dict[int, str]:
    """The deal ids by the ids of the deals: 1 to 3 are of package 1, 4 of package 2."""
    return {deal.id or 0: deal.deal_id or "" for deal in deals.list(DemandDeal).results}


def job(home: Path, lines: Sequence[str], titles: str = "Deal id,Price,Status,Start,End") -> Plan:
    """The job of a file, up to its preview."""
    desk = clients(Settings(home=home, demo=True))
    table = csv_text.read("\n".join((titles, *lines)), CHANGES)
    assert not table.faults
    plan = csv_plan(desk.deals, desk.bulk_actions, table.rows)
    while plan.phase == "reading":
        plan.read(desk.deals)
    return plan


@pytest.mark.parametrize("locale", ["en-US", "de-DE", None])
def test_no_locale_chooses_between_two_days(
    own_deals_home: Path, ids: dict[int, str], monkeypatch: pytest.MonkeyPatch, locale: str | None
) -> None:
    """An uploaded date that could be two days is refused once, naming both, in every locale."""
    monkeypatch.setattr("lib.ui.kit.times.st.context", SimpleNamespace(locale=locale))
    desk = clients(Settings(home=own_deals_home, demo=True))
    table = csv_text.read(f"Deal id,Start\n{ids[4]},03/04/2027", CHANGES)
    plan = csv_plan(desk.deals, desk.bulk_actions, table.rows)
    while plan.phase == "reading":
        plan.read(desk.deals)
    upload = CsvUpload("dates.csv", faults=table.faults, plan=plan)
    [fault] = upload.all_faults
    assert fault.text == "Start: It could be two days: write 2027-03-04 or 2027-04-03."


def save(plan: Plan, deals: Deals) -> Plan:
    """The job, once all is sent that can be."""
    plan.start()
    while plan.phase == "writing":
        plan.write(deals)
    return plan


def test_prices_status_and_dates(own_deals_home: Path, deals: Deals, ids: dict[int, str]) -> None:
    """A line changes its filled cells; the preview has these alone, and an empty cell keeps what is there."""
    plan = job(
        own_deals_home,
        [f"{ids[1]},4.25,,,", f"{ids[2]},3,paused,,", f"{ids[4]},,active,2026-02-01,none", f"{ids[3]},,,,"],
    )
    assert plan.source.faults == []
    changed = {change.key: (change.before, change.after) for change in plan.changes if change.is_change}
    package = deals.get(SupplyPackage, 2)
    assert {key: dict(after) for key, (_, after) in changed.items()} == {
        ("demand_deals", 1): {"price": Decimal("4.25")},
        ("demand_deals", 2): {"is_active": False},
        ("supply_deals", 2): {"start_date": dt.datetime(2026, 2, 1, tzinfo=UTC1), "end_date": None},
    }
    assert changed["supply_deals", 2][0]["end_date"] == package.end_date
    assert [outcome.reason for outcome in save(plan, deals).outcomes] == ["", "", ""]
    prices = {deal.id: (deal.price, deal.is_active) for deal in deals.list(DemandDeal).results}
    assert prices == {
        1: (Decimal("4.25"), True), 2: (Decimal(3), False), 3: (Decimal("3.25"), True), 4: (Decimal(7), True),
    }  # fmt: skip
    after = deals.get(SupplyPackage, 2)
    assert (after.start_date, after.end_date) == (dt.datetime(2026, 2, 1, tzinfo=UTC1), None)


def test_every_line_is_checked(own_deals_home: Path, deals: Deals, ids: dict[int, str]) -> None:
    """Each fault has its line; with any of them there is nothing to save."""
    plan = job(
        own_deals_home,
        [
            "TR-NONE,1,,,",
            f"{ids[1]},cheap,ended,soon,",
            f"{ids[1]},2,,,",
            f"{ids[2]},,,,2027-01-01",
            f"{ids[3]},,,,2028-01-01",
            ",1,,,",
        ],
    )
    faults = [(fault.line, fault.text) for fault in plan.source.faults]
    assert faults[0] == (2, "There is no deal 'TR-NONE'.")
    assert [line for line, _ in faults] == [2, 3, 3, 3, 4, 6, 7]
    texts = [text for _, text in faults]
    assert texts[1].startswith("Price: ")
    assert texts[2:4] == [
        "Status: write active or paused.",
        "Start: Not a date: write it like 2026-11-30 or 2026-11-30 09:00.",
    ]
    assert texts[4:] == [
        "Same deal as line 3.",
        "End is not that of line 5, whose deal has the same package.",
        "Deal id is empty.",
    ]
    assert plan.changes == []


def test_other_deals_of_the_package(own_deals_home: Path, ids: dict[int, str]) -> None:
    """Dates are those of the package: deals that are not in the file and change too are named."""
    plan = job(own_deals_home, [f"{ids[1]},,,,2029-01-01"])
    [change] = [change for change in plan.changes if change.is_change]
    assert sorted(change.others) == [2, 3]


def test_somebody_changed_a_deal_meanwhile(own_deals_home: Path, deals: Deals, ids: dict[int, str]) -> None:
    """Nothing of its batch is changed; the deal says what was changed, and nothing is left to undo."""
    plan = job(own_deals_home, [f"{ids[1]},8,,,", f"{ids[2]},9,,,"])
    deals.change(DemandDeal, 2, {"price": Decimal(5)})
    first, second = save(plan, deals).outcomes
    assert first.reason == "Not changed, because another change of the request was refused."
    assert second.reason.startswith("Changed since it was read, so nothing was saved: price from 3 to 5")
    assert [deal.price for deal in deals.list(DemandDeal, ordering="id").results][:2] == [Decimal("2.5"), 5]
    desk = clients(Settings(home=own_deals_home, demo=True))
    assert desk.bulk_actions.recent() == []


def test_it_can_be_undone(own_deals_home: Path, deals: Deals, ids: dict[int, str]) -> None:
    """What it changed is recorded as one action with its rows."""
    save(job(own_deals_home, [f"{ids[1]},8,,,", f"{ids[4]},,paused,,"]), deals)
    desk = clients(Settings(home=own_deals_home, demo=True))
    [action] = desk.bulk_actions.recent()
    assert (action.title, action.count) == ("Changed by CSV", 2)


def test_a_file_may_have_5_000_lines() -> None:
    """One more is refused, with the line that it begins in."""
    lines = ["Deal id,Price", *(f"TR-{number},1" for number in range(5_001))]
    assert csv_text.read("\n".join(lines[:-1]), CHANGES).faults == ()
    [fault] = csv_text.read("\n".join(lines), CHANGES).faults
    assert (fault.line, fault.text) == (
        5_002, "A file may have at most 5,000 lines below the titles. Split it."
    )  # fmt: skip


def test_the_dialog(visit: Visit, own_deals_home: Path, ids: dict[int, str], deals: Deals) -> None:
    """The dialog shows the changed cells, saves them, and offers to undo them."""
    desk = visit("deals", deals_kind="Deals")
    desk = clean(desk.button(key=f"{OPEN}_open").click().run())
    plan = job(own_deals_home, [f"{ids[1]},4.25,,,", f"{ids[3]},,,,"], "Deal id,Price,Status,Start,End")
    desk.session_state[OPEN] = CsvUpload("prices.csv", plan=plan)
    desk = clean(desk.run())
    [table] = [table.value for table in desk.table]
    assert [*table.columns][:2] == ["Name", "Price, USD CPM"]
    assert table.iloc[0].to_list()[:2] == ["Morning News - Alpha Buying", "2.50 → 4.25 (+70.0 %)"]
    assert len(table) == 1
    desk = clean(desk.button(key=f"{OPEN}_save").click().run())
    assert deals.get(DemandDeal, 1).price == Decimal("4.25")


def test_a_viewer_has_no_button(visit: Visit) -> None:
    """Who may not change deals can't change them by a file."""
    desk = visit("deals", "viewer", deals_kind="Deals")
    assert f"{OPEN}_open" not in {button.key for button in desk.button}
