"""The list of deals in a browser: finding, opening, changing in two browsers, pausing several."""

from decimal import Decimal
from pathlib import Path

import pandas as pd
from dealing import Desk
from playwright.sync_api import Page, expect

from browser.conftest import Visitor, at, enter, settled
from browser.grids import cells, click, grid
from lib.deals.models import DemandDeal, SupplyPackage

CHECKBOX, NAME = 16.0, 90.0


def listed(page: Page) -> "pd.Series":
    """The names in the list, from its accessible twin."""
    return pd.Series(cells(grid(page, "Packages and deals")).all_text_contents())


def open_drawer(page: Page, desk: Desk, key: str, person: str = "Manager") -> None:
    """The list with the drawer of this one open."""
    enter(page, f"{desk.address}/deals?open={key}", person)
    expect(page.get_by_role("dialog")).to_be_visible()
    settled(page)


def test_open_and_close(selling: Desk, page: Page) -> None:
    """A click on a name opens its drawer, whose address can be shared; closing it leaves the list."""
    enter(page, f"{selling.address}/deals?find=sports")
    click(page, grid(page, "Packages and deals"), 0, NAME)
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_role("heading", name="Evening Sports")).to_be_visible()
    expect(drawer.get_by_text("News sites")).to_be_visible()
    page.wait_for_url(at("deals", open="supply_deals-2", find="sports"))
    drawer.get_by_role("button", name="Close").click()
    expect(drawer).to_have_count(0)
    settled(page)
    assert "open=" not in page.url


def test_from_a_package_to_its_deal(selling: Desk, page: Page) -> None:
    """A click on a linked deal shows that one in the drawer."""
    open_drawer(page, selling, "supply_deals-1")
    click(page, grid(page, "Deals"), 1, NAME)
    expect(
        page.get_by_role("dialog").get_by_role("heading", name="Morning News - Beta Media")
    ).to_be_visible()
    page.wait_for_url(at("deals", open="demand_deals-2"))


def test_delivery(selling: Desk, page: Page) -> None:
    """The delivery has figures and a chart, and leads to Audience with the same question."""
    open_drawer(page, selling, "demand_deals-2")
    page.get_by_role("dialog").get_by_text("Delivery", exact=True).click()
    expect(page.get_by_role("dialog").get_by_test_id("stMetric").first).to_be_visible()
    expect(page.get_by_role("dialog").get_by_test_id("stPlotlyChart")).to_be_visible()
    page.get_by_role("link", name="Look closer in Audience").click()
    page.wait_for_url(at("audience", slicer="sold", **{"is.deal": "2"}))


def test_two_browsers(selling: Desk, visitor: Visitor) -> None:
    """Two people change one deal: the second is told what changed, keeps what they typed, and decides."""
    first, second = visitor().new_page(), visitor().new_page()
    for page, person in ((first, "Manager"), (second, "Admin")):
        open_drawer(page, selling, "demand_deals-3", person)
        page.get_by_role("dialog").get_by_text("Change", exact=True).click()
        expect(page.get_by_label("Price")).to_have_value("3.25")
    for page, price in ((first, "3.5"), (second, "4")):
        page.get_by_label("Price").fill(price)
        page.get_by_label("Price").press("Enter")
        settled(page)
        page.get_by_role("button", name="Save", exact=True).click()
        settled(page)
    assert selling.deals.get(DemandDeal, 3).price == Decimal("3.5")
    expect(second.get_by_text("Somebody changed this meanwhile")).to_be_visible()
    expect(second.get_by_text("Price went from 3.25 to 3.50 (manager, ")).to_be_visible()
    expect(second.get_by_text("you typed 4.00.")).to_be_visible()
    expect(second.get_by_label("Price")).to_have_value("4.00")
    second.get_by_role("button", name="Save over it").click()
    settled(second)
    assert selling.deals.get(DemandDeal, 3).price == Decimal(4)
    first.get_by_role("dialog").get_by_text("History", exact=True).click()
    settled(first)
    expect(cells(grid(first, "Changes, the latest first"), "Price: 3.50 → 4.00")).to_have_count(1)
    expect(cells(grid(first, "Changes, the latest first"), "admin")).to_have_count(1)


def test_what_is_depended_on_stays(selling: Desk, page: Page) -> None:
    """Whoever wants to delete a package with deals is told which, and can't."""
    open_drawer(page, selling, "supply_deals-1")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("3 deals depend on this package.")).to_be_visible()
    expect(page.get_by_text("Morning News - Gamma Trading (3)")).to_be_visible()
    expect(page.get_by_role("button", name="Delete for good")).to_have_count(0)


def test_deleting(selling: Desk, page: Page) -> None:
    """What nobody depends on is deleted after a second word, and is gone from the list."""
    made = selling.deals.create(DemandDeal, _deal("Short-lived"))
    open_drawer(page, selling, f"demand_deals-{made.id}")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    settled(page)
    assert not listed(page).str.contains("Short-lived").any()
    assert selling.deals.list(DemandDeal, search="Short-lived").count == 0


def test_pausing_several(selling: Desk, page: Page) -> None:
    """Two deals are ticked and paused by one click, and resumed by another."""
    enter(page, f"{selling.address}/deals?find=morning&deals_kind=Deals")
    for row in (0, 1):
        click(page, grid(page, "Packages and deals"), row, CHECKBOX)
    page.get_by_role("button", name="Pause 2").click()
    expect(page.get_by_text("2 paused")).to_be_visible()
    settled(page)
    assert [selling.deals.get(DemandDeal, number).is_active for number in (1, 2, 3)] == [False, False, True]
    assert (listed(page) == "Paused").sum() == 2
    page.get_by_role("button", name="Resume 2").click()
    expect(page.get_by_text("2 resumed")).to_be_visible()
    assert selling.deals.get(DemandDeal, 1).is_active is True


def test_csv(selling: Desk, page: Page, tmp_path: Path) -> None:
    """The file has the rows that are shown."""
    enter(page, f"{selling.address}/deals?find=sports")
    with page.expect_download() as download:
        page.get_by_test_id("stDownloadButton").click()
    download.value.save_as(tmp_path / "deals.csv")
    frame = pd.read_csv(tmp_path / "deals.csv")
    assert list(frame["Name"]) == ["Evening Sports", "Evening Sports - Alpha Buying"]
    assert list(frame["Lowest price"]) == [7.0, 7.0]


def test_viewers(selling: Desk, page: Page) -> None:
    """A viewer looks at a package without being offered to change it, and has no screen to make one."""
    open_drawer(page, selling, "supply_deals-1", "Viewer")
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_text("Facts", exact=True)).to_be_visible()
    for name in ("Pause", "Clone", "Delete", "Save"):
        expect(drawer.get_by_role("button", name=name)).to_have_count(0)
    expect(page.get_by_role("link", name="New package")).to_have_count(0)


def test_on_a_phone(selling: Desk, visitor: Visitor) -> None:
    """On a narrow screen nothing is wider than the screen, in the list and in the drawer."""
    page = visitor().new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    open_drawer(page, selling, "supply_deals-1")
    for _ in range(2):
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.keyboard.press("Escape")
        settled(page)


def _deal(name: str) -> DemandDeal:
    seat = {"id": 1}
    return DemandDeal.model_validate({"name": name, "seat": seat, "price": 1})


def test_cloning(selling: Desk, page: Page) -> None:
    """A clone of a package is the form New package, filled with it."""
    open_drawer(page, selling, "supply_deals-2")
    page.get_by_role("button", name="Clone").click()
    page.wait_for_url(at("new_package"))
    expect(page.get_by_label("Name", exact=True)).to_have_value("Evening Sports (copy)")
    expect(page.get_by_text("Alpha Buying (Syncing DSP) at 7.00")).to_be_visible()
    page.evaluate("window.onbeforeunload = null")
    assert selling.deals.list(SupplyPackage, search="copy").count == 0
