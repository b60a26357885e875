"""A deal's dossier in the drawer: the link for its buyer, and the buyer's counts beside ours."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from conftest import LAST_DAY
from dealing import Visit, clean, clients, shared_deal, sold_rows
from streamlit.testing.v1 import AppTest

from lib.deals.buyer_counts import DayCounts
from lib.deals.models import DemandDeal
from lib.serving import connect
from lib.serving.connect import Clients
from lib.settings import Settings

DEAL, SINCE = 2, LAST_DAY - timedelta(days=8)
MAKE = "Make a link for the buyer"


@pytest.fixture
def manager(own_deals_home: Path) -> Clients:
    """The manager, who may share."""
    settings = Settings(home=own_deals_home, demo=True)
    connect.installation(settings).access.change("manager", "test", shares=True)
    return clients(settings)


def drawer(visit: Visit, section: str, person: str = "manager") -> AppTest:
    """A section of the deal's drawer."""
    desk = visit("deals", person, open=f"demand_deals-{DEAL}")
    return clean(desk.button_group(key="drawer_shown").set_value(section).run())


def submit(desk: AppTest, label: str) -> AppTest:
    """Press the button of this label."""
    return clean(next(button for button in desk.button if button.label == label).click().run())


def test_a_link_is_made_for_the_buyer(visit: Visit, manager: Clients) -> None:
    """With a title and an end; its key is shown once, and the next visit names the link that works."""
    desk = drawer(visit, "Facts")
    desk.text_input(key=f"dossier_title_{DEAL}").set_value("For Beta")
    desk.selectbox(key=f"dossier_lifetime_{DEAL}").set_value("7 days")
    desk = submit(desk, MAKE)
    [link] = manager.view_store.share_links.of_deal(shared_deal(manager, DEAL))
    assert (link.name, link.deal, link.slicer) == ("For Beta", DEAL, "sold")
    assert link.expires - link.created == timedelta(days=7)
    assert [code.value for code in desk.code if f"/shared/{link.id}." in code.value]
    desk = drawer(visit, "Facts")
    assert not [code.value for code in desk.code if "/shared/" in code.value]
    assert [
        caption.value
        for caption in desk.caption
        if "For Beta, until" in caption.value and "never opened" in caption.value
    ]
    assert manager.view_store.share_links.of_deal(shared_deal(manager, 1)) == []


def test_who_may_not_share_has_no_form(visit: Visit, own_deals_home: Path) -> None:
    """It is for those with the permission alone."""
    assert MAKE not in [button.label for button in drawer(visit, "Facts").button]


def enter(manager: Clients, left: float) -> None:
    """Enter what the rows have, less from SINCE on."""
    rows = sold_rows().to_pandas().query(f"deal == '{DEAL}'")
    sums = rows.groupby(rows["time"].dt.date)[["bids", "imps", "spend"]].sum()
    days = {
        day: DayCounts(
            None, round(of["bids"] * part), round(of["imps"] * part), Decimal(f"{of['spend'] * part:.4f}")
        )
        for day, of in sums.iterrows()
        for part in [left if day >= SINCE else 1.0]
    }
    manager.buyer_counts.enter(manager.deals.get(DemandDeal, DEAL), days, 5)


def test_the_buyers_counts_are_beside_ours(visit: Visit, manager: Clients) -> None:
    """Which step differs since when, as the buyer reads it, with both sums; a click removes them."""
    enter(manager, 0.5)
    desk = drawer(visit, "Delivery")
    head = f"From {SINCE.day} {SINCE:%b %Y} on, the buyer counts 50 % fewer bids than we received."
    assert desk.warning[0].value == head
    assert any("Wins and spend follow." in markdown.value for markdown in desk.markdown)
    table = next(dataframe.value for dataframe in desk.dataframe if "Buyer" in dataframe.value.columns)
    bids = sold_rows().to_pandas().query(f"deal == '{DEAL}'")["bids"].sum()
    assert table.set_index("Step").loc["Bids", "Ours"] == f"{bids:,.0f}"
    assert any("through share link 5" in caption.value for caption in desk.caption)
    desk = submit(desk, "Remove these counts")
    assert not manager.buyer_counts.of(manager.deals.get(DemandDeal, DEAL)).days
    assert not desk.warning


def test_sides_that_agree_are_said_to(visit: Visit, manager: Clients) -> None:
    """Without a difference there is no warning."""
    enter(manager, 1.0)
    desk = drawer(visit, "Delivery")
    assert not desk.warning
    assert desk.info[0].value.startswith("Both sides agree within 10 %")
