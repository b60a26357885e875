"""Proposals in a browser: from the form of somebody who may only propose to the changed deal."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from conftest import copied
from dealing import Desk, Serve, clients, stock
from playwright.sync_api import expect

from browser.conftest import PHONE, SCREEN, Visitor, enter, settled, sideways
from browser.test_deals import open_drawer, row
from lib.deals.models import DemandDeal
from lib.people import DealsGrant
from lib.serving import connect

REASON = "Win rate has fallen since the floor was raised"


@pytest.fixture(scope="module")
def proposing(home: Path, tmp_path_factory: pytest.TempPathFactory, serve: Serve) -> Iterator[Desk]:
    """A desk with deals, whose viewer may propose changes."""
    stocked: Path = copied(home, tmp_path_factory.mktemp("proposing") / "home")
    settings = stock(stocked)
    connect.installation(settings).people.change("viewer", deals=DealsGrant("propose"))
    with serve(stocked) as address:
        manager = clients(settings)
        yield Desk(address, manager.deals, manager.drafts)


def test_from_a_proposal_to_the_changed_deal(proposing: Desk, visitor: Visitor) -> None:
    """The viewer proposes a price with a reason; the manager clicks Approve twice, and it is applied once;
    the dialog fits on a phone."""
    proposing.deals.change(DemandDeal, 1, {"price": Decimal("2.5")})
    viewer = visitor().new_page()
    open_drawer(viewer, proposing, "demand_deals-1", "Viewer")
    drawer = viewer.get_by_role("dialog")
    drawer.get_by_text("Change", exact=True).click()
    drawer.get_by_role("textbox", name="Price").fill("2.75")
    drawer.get_by_role("textbox", name="Price").press("Enter")
    settled(viewer)
    drawer.get_by_role("textbox", name="Reason").fill(REASON)
    drawer.get_by_role("button", name="Propose change").click()
    expect(drawer.get_by_text("somebody who may change deals decides")).to_be_visible()
    manager = visitor().new_page()
    enter(manager, f"{proposing.address}/deals")
    expect(manager.get_by_role("link", name="Deals (1 proposed)")).to_be_visible()
    manager.get_by_role("button", name="Proposals 1").click()
    dialog = manager.get_by_role("dialog")
    row(dialog, "Change of Morning News - Alpha Buying", "Proposals").click()
    expect(dialog.get_by_text(REASON)).to_be_visible()
    expect(dialog.get_by_text("Price, USD CPM: 2.50 → 2.75")).to_be_visible()
    assert proposing.deals.get(DemandDeal, 1).price == Decimal("2.5")
    manager.set_viewport_size(PHONE)
    assert sideways(manager) == 0
    manager.set_viewport_size(SCREEN)
    dialog.get_by_role("button", name="Approve", exact=True).dblclick()
    expect(dialog.get_by_text("Approved by manager")).to_be_visible()
    settled(manager)
    assert proposing.deals.get(DemandDeal, 1).price == Decimal("2.75")
    latest, *_ = proposing.deals.history(DemandDeal, 1)
    assert (latest.who, latest.after) == ("manager", {"price": 2.75})
    dialog.get_by_role("button", name="Open deal 1").click()
    expect(manager.get_by_role("dialog").get_by_text("Evidence of a change")).to_be_visible()
