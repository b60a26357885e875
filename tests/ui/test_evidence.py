"""The evidence of a change in the drawer's history."""

import datetime as dt
import re
import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path

from conftest import LAST_DAY
from dealing import DATABASE, Visit, clean, sold_rows
from streamlit.testing.v1 import AppTest

from lib.deals.client import Deals
from lib.deals.models import DemandDeal

DAY = dt.timedelta(days=1)


def earlier(home: Path, change_days: int) -> None:
    """Everything was made a hundred days ago; the change of deal 4 was so many days before the last."""
    long_ago = dt.datetime.combine(LAST_DAY - 100 * DAY, dt.time(12), dt.UTC)
    changed = dt.datetime.combine(LAST_DAY - change_days * DAY, dt.time(12), dt.UTC)
    with closing(sqlite3.connect(home / DATABASE, timeout=30)) as database, database:
        stored = database.execute("select at from changes limit 1").fetchone()[0]
        shape = (
            (lambda at: at.isoformat(" ")[:19]) if isinstance(stored, str) else (lambda at: at.timestamp())
        )
        for table in ("demand_deals", "supply_packages"):
            database.execute(f"update {table} set created_at = ?, updated_at = ?", [shape(long_ago)] * 2)
        database.execute("update changes set at = ?", [shape(long_ago)])
        database.execute("update changes set at = ? where action = 'changed'", [shape(changed)])
        database.execute("update demand_deals set updated_at = ? where id = 4", [shape(changed)])


def evidence_of(desk: AppTest, change: int) -> AppTest:
    """The drawer's history with that change chosen, once its answers are there."""
    desk = clean(desk.button_group(key="drawer_shown").set_value("History").run())
    desk = clean(desk.selectbox(key="evidence_of").set_value(change).run())
    if "insights" in desk.session_state and "evidence" in desk.session_state["insights"]:
        desk.session_state["insights"]["evidence"][1].wait(60)
        desk = clean(desk.run())
    return desk


def test_a_week_before_and_after(visit: Visit, deals: Deals, own_deals_home: Path) -> None:
    """Figures of the deal and of the untouched ones are those of the rows; the note says what they are of."""
    deals.change(DemandDeal, 4, {"price": Decimal("9")})
    earlier(own_deals_home, 8)
    change = deals.history("demand_deals", 4)[0].id
    desk = evidence_of(visit("deals", slicer="sold", open="demand_deals-4"), change)
    shown = next(dataframe.value for dataframe in desk.dataframe if "Untouched before" in dataframe.value)
    rows = sold_rows().to_pandas()
    days, is_own = rows["time"].dt.date, rows["deal"] == "4"
    day = LAST_DAY - 8 * DAY
    before, after = days.between(day - 7 * DAY, day - DAY), days.between(day + DAY, day + 7 * DAY)
    expected = [rows[mask & own]["imps"].sum() for own in (is_own, ~is_own) for mask in (before, after)]
    at = list(shown["Figure"]).index("Impressions")
    assert [shown[title][at] for title in ("Before", "After", "Untouched before", "Untouched after")] == [
        f"{value:,.0f}" for value in expected
    ]
    assert shown["Difference"][at].startswith(("None beyond chance (", "+", "−"))
    assert re.fullmatch(r"Moved as much in \d+ of \d+ past fortnights", shown["Without a change"][at])
    note = " ".join(caption.value for caption in desk.caption).replace("\\", "")
    assert "Difference: beyond that of 3 deals not changed since" in note and "Exact" in note
    assert desk.get("download_button")


def test_too_early(visit: Visit, deals: Deals, own_deals_home: Path) -> None:
    """Before the report has four complete days after the change, it says from when on."""
    deals.change(DemandDeal, 4, {"price": Decimal("9")})
    earlier(own_deals_home, 2)
    change = deals.history("demand_deals", 4)[0].id
    desk = evidence_of(visit("deals", slicer="sold", open="demand_deals-4"), change)
    ready = LAST_DAY + 3 * DAY
    assert any(f"from {ready.day} {ready:%b}" in info.value for info in desk.info)


def test_nothing_to_choose_without_a_change(visit: Visit) -> None:
    """Of what was only created there is no evidence to choose."""
    desk = visit("deals", slicer="sold", open="demand_deals-1")
    desk = clean(desk.button_group(key="drawer_shown").set_value("History").run())
    assert not [selectbox for selectbox in desk.selectbox if selectbox.key == "evidence_of"]
