"""The screen Portfolio: verdicts with evidence, who sees which deals, and the plan as proposals, once."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pytest
from boards import components
from conftest import LAST_DAY
from dealing import SOLD, Visit, clean, clients, listed, package, sold_rows
from serving import serving
from standin.book import SETTINGS, Book
from standin.deals import deals as standin_deals
from standin.state import TOKEN, State
from streamlit.testing.v1 import AppTest

from lib import connect
from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage
from lib.people import DealsGrant
from lib.settings import Settings
from lib.ui.deals.portfolio import CACHE, VIEW, PortfolioView

from .test_proposals import words


def come(desk: AppTest) -> AppTest:
    """The screen once the portfolio is computed."""
    cache = desk.session_state[CACHE]
    for entry in [*cache._entries.values()]:
        entry.future.result(60)
    return clean(desk.run())


@pytest.fixture
def spent(deals: Deals) -> Deals:
    """Deal 4 has a budget that is spent."""
    deals.change(DemandDeal, 4, {"budget": Decimal("1")})
    return deals


def chosen(desk: AppTest, *numbers: int) -> AppTest:
    """The screen with these deals chosen."""
    desk.session_state[VIEW] = PortfolioView(frozenset(numbers))
    return clean(desk.run())


def test_every_deal_with_its_share_and_verdict(visit: Visit, spent: Deals) -> None:
    """The four deals by spend; the share of deal 1 that Evening Sports does not reach, by plain pandas; what
    the slicer does not have is said."""
    desk = come(visit("portfolio", slicer=SOLD))
    rows = sold_rows().to_pandas()
    rows = rows[(rows["time"].dt.date > LAST_DAY - dt.timedelta(days=28)) & (rows["deal"] == "1")]
    alone = rows.loc[rows["site_domain"] != "news.example", "bids"].sum() / rows["bids"].sum()
    (table,) = (data for data in components(desk) if data.get("label") == "Portfolio")
    cells = {row["key"]: [cell["text"] for cell in row["cells"]] for row in table["rows"]}
    assert cells["1"][2] == f"{rows['spend'].sum():,.2f}"
    assert cells["1"][5] == f"{100 * alone:.0f} %"
    assert (cells["4"][1], cells["4"][7].split(" · ")[0]) == ("Capped", "Budget 1.00")
    assert [float(row["cells"][2]["text"]) for row in table["rows"]] == sorted(
        (float(row[2]) for row in cells.values()), reverse=True
    )
    assert "This slicer has no bid requests" in words(desk)


def test_a_deal_opens_with_its_evidence(visit: Visit, spent: Deals) -> None:
    """Above the facts of the deal stands what the verdict rests on."""
    desk = come(visit("portfolio", slicer=SOLD, open="demand_deals-4"))
    assert "Its budget of 1.00 is spent." in words(desk)
    assert any("Facts" in one.options for one in desk.button_group)


def test_a_plan_is_made_once_and_changes_nothing(visit: Visit, spent: Deals, own_deals_home: Path) -> None:
    """The preview has the change and why another deal has none; two clicks make one proposal, which asks the
    question of the deal; the deal is as before until somebody approves it."""
    manager = clients(Settings(home=own_deals_home, demo=True))
    desk = chosen(come(visit("portfolio", slicer=SOLD)), 1, 4)
    desk = clean(desk.button(key="portfolio_propose").click().run())
    assert "Budget: 1.00 →" in words(desk)
    assert "**No proposal.** Keep: nothing is known to change." in words(desk)
    assert "Morning News - Alpha Buying" in [one.value for one in desk.caption]
    assert manager.proposals.page(("open",), 10)[0] == 0
    clean(desk.button(key="portfolio_make").click().run())
    desk = clean(desk.button(key="portfolio_propose").click().run())
    clean(desk.button(key="portfolio_make").click().run())
    count, (proposal,) = manager.proposals.page(("open",), 10)
    assert (count, proposal.entity_id, [*proposal.fields]) == (1, 4, ["budget"])
    assert proposal.question.params["is.deal"] == "4"  # type: ignore[union-attr]
    assert manager.deals.get(DemandDeal, 4).budget == 1


def test_who_may_only_read_plans_nothing(visit: Visit, spent: Deals, own_deals_home: Path) -> None:
    """They see the list without the button, and of the seats that they may see alone."""
    settings = Settings(home=own_deals_home, demo=True)
    people = connect.installation(settings).people
    people.change("manager", deals=DealsGrant("read", (1,)))
    desk = come(visit("portfolio", slicer=SOLD))
    assert sorted(listed(desk)) == ["Evening Sports - Alpha Buying", "Morning News - Alpha Buying"]
    assert not [one for one in desk.button if one.key == "portfolio_propose"]
    assert "Deals of the seats that you may see" in words(desk)


def test_without_a_report_of_deals(visit: Visit) -> None:
    """Somebody who may see none that tells deals apart is told what is missing."""
    desk = visit("portfolio", "viewer")
    assert any("tells deals apart" in one.value for one in desk.info)


def test_over_a_service_with_the_four_calls_alone(
    visit: Visit, own_deals_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deal that the service calls pending is none of the active ones, and nothing fails."""
    with serving(standin_deals(State({}, deals=Book()))) as address:
        remote = {"curate_url": address, "deals_token": TOKEN, "deals_mapping_confirmed": True}
        for name, value in remote.items():
            monkeypatch.setenv(f"TRANCHE_{name.upper()}", str(value).lower() if value is True else str(value))
        settings = Settings(home=own_deals_home, demo=True, **remote, **SETTINGS)
        clients(settings).deals.create(SupplyPackage, package("Far Away", {71: "2.5"}))
        desk = come(visit("portfolio", slicer=SOLD))
        assert [one.value for one in desk.info] == ["There are no active deals yet."]
