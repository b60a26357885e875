"""The list of deals in a browser: finding, opening, ordering, changing in two browsers, pausing several."""

import re
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from dealing import SOLD, Desk
from playwright.sync_api import Locator, Page, expect

from browser.conftest import PHONE, Visitor, at, enter, settled, sideways
from browser.grids import cells, grid
from lib.deals.models import DemandDeal, SupplyPackage


def row(page: Page | Locator, name: str, listing: str = "Deals") -> Locator:
    """A row of a list by its name."""
    grid_ = page.get_by_role("grid", name=listing, exact=True)
    return grid_.locator("tbody tr").filter(has_text=name)


def names(page: Page, listing: str = "Deals") -> list[str]:
    """The names in a list, in order."""
    return page.get_by_role("grid", name=listing, exact=True).get_by_role("rowheader").all_text_contents()


def open_drawer(page: Page, desk: Desk, key: str, person: str = "Manager") -> None:
    """The list with the drawer of this one open."""
    enter(page, f"{desk.address}/deals?open={key}", person)
    expect(page.get_by_role("dialog")).to_be_visible()
    settled(page)


def test_open_and_close(selling: Desk, page: Page) -> None:
    """A click anywhere on a row opens its drawer, whose address can be shared; closing it leaves the list."""
    enter(page, f"{selling.address}/deals?find=sports&deals_kind=Packages")
    row(page, "Evening Sports", "Packages").get_by_text("News sites").click()
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_role("heading", name="Evening Sports")).to_be_visible()
    expect(drawer.get_by_text("News sites")).to_be_visible()
    page.wait_for_url(at("deals", open="supply_deals-2", find="sports"))
    drawer.get_by_role("button", name="Close").click()
    expect(drawer).to_have_count(0)
    settled(page)
    assert "open=" not in page.url


def test_enter_on_a_row_opens_it(selling: Desk, page: Page) -> None:
    """The list has one Tab stop; arrows go from row to row, Space chooses, Enter opens."""
    enter(page, f"{selling.address}/deals?deals_kind=Deals&find=morning&deals_order=name")
    row(page, "Morning News - Alpha Buying").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause 1")).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url(at("deals", open="demand_deals-2"))
    expect(
        page.get_by_role("dialog").get_by_role("heading", name="Morning News - Beta Media")
    ).to_be_visible()


def test_a_header_orders_all_rows(selling: Desk, page: Page) -> None:
    """A click on Price orders by it at the service, a second the other way; the deal id is in view."""
    enter(page, f"{selling.address}/deals?deals_kind=Deals")
    expect(page.get_by_role("columnheader", name="Deal id")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Price, USD CPM").click()
    page.wait_for_url(at("deals", deals_order="-price"))
    settled(page)
    assert names(page)[0] == "Evening Sports - Alpha Buying"
    page.get_by_role("button", name="Price, USD CPM").click()
    page.wait_for_url(at("deals", deals_order="price"))
    settled(page)
    assert names(page)[0] == "Morning News - Alpha Buying"
    expect(page.get_by_role("columnheader", name="Price, USD CPM")).to_have_attribute(
        "aria-sort", "ascending"
    )


def test_a_figure_orders_all_rows(selling: Desk, page: Page) -> None:
    """A click on a figure of the last days orders by it, the most first; what the list shows is in order."""
    enter(page, f"{selling.address}/deals?deals_kind=Deals&project=demo&slicer={SOLD}")
    deals, spend = (
        page.get_by_role("grid", name="Deals"),
        page.get_by_role("columnheader", name="Spend, 7 days"),
    )
    place = [head.split(",")[0] for head in deals.locator("thead th").all_inner_texts()].index("Spend")
    column = deals.locator(f"tbody tr > :nth-child({place + 1})")
    expect(column.first).to_have_text(re.compile(r"^\d+\.\d\d$"))
    spend.get_by_role("button").click()
    page.wait_for_url(at("deals", deals_order="-spend_7_days"))
    expect(spend).to_have_attribute("aria-sort", "descending")
    settled(page)
    figures = [float(text) for text in column.all_inner_texts()]
    assert figures == sorted(figures, reverse=True)
    assert len({*figures}) > 1


def test_from_a_package_to_its_deal(selling: Desk, page: Page) -> None:
    """A click on a linked deal shows that one in the drawer."""
    open_drawer(page, selling, "supply_deals-1")
    row(page.get_by_role("dialog"), "Morning News - Beta Media").click()
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
    page.get_by_role("link", name="Open in Audience").click()
    page.wait_for_url(at("audience", slicer="sold", **{"is.deal": "2"}))


def test_two_browsers(selling: Desk, visitor: Visitor) -> None:
    """Two people change one deal: the second is told what changed, keeps what they typed, and decides."""
    first, second = visitor().new_page(), visitor().new_page()
    for page, person in ((first, "Manager"), (second, "Admin")):
        open_drawer(page, selling, "demand_deals-3", person)
        page.get_by_role("dialog").get_by_text("Change", exact=True).click()
        expect(page.get_by_role("textbox", name="Price")).to_have_value("3.25")
    for page, price in ((first, "3.5"), (second, "4")):
        page.get_by_role("textbox", name="Price").fill(price)
        page.get_by_role("textbox", name="Price").press("Enter")
        settled(page)
        page.get_by_role("button", name="Save", exact=True).click()
        settled(page)
    assert selling.deals.get(DemandDeal, 3).price == Decimal("3.5")
    expect(second.get_by_text("Somebody else has changed this")).to_be_visible()
    expect(second.get_by_text("Price, USD CPM went from 3.25 to 3.50 (manager, ")).to_be_visible()
    expect(second.get_by_text("you typed 4.00.")).to_be_visible()
    expect(second.get_by_role("textbox", name="Price")).to_have_value("4")
    second.get_by_role("button", name="Overwrite their version").click()
    settled(second)
    assert selling.deals.get(DemandDeal, 3).price == Decimal(4)
    first.get_by_role("dialog").get_by_text("History", exact=True).click()
    settled(first)
    expect(cells(grid(first, "Changes, latest first"), "Price, USD CPM: 3.50 → 4.00")).to_have_count(1)
    expect(cells(grid(first, "Changes, latest first"), "admin")).to_have_count(1)


def test_what_is_depended_on_stays(selling: Desk, page: Page) -> None:
    """Whoever wants to delete a package with deals is told which, and can't."""
    open_drawer(page, selling, "supply_deals-1")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("3 deals depend on this package.")).to_be_visible()
    expect(page.get_by_text("Morning News - Gamma Trading (3)")).to_be_visible()
    expect(page.get_by_role("button", name="Delete permanently")).to_have_count(0)


def test_deleting(selling: Desk, page: Page) -> None:
    """What nobody depends on is deleted after a second word, and is gone from the list."""
    made = selling.deals.create(DemandDeal, _deal("Short-lived"))
    open_drawer(page, selling, f"demand_deals-{made.id}")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete permanently").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    settled(page)
    assert "Short-lived" not in names(page, "Packages")
    expect(page.get_by_text(f"Deal {made.id} is deleted")).to_be_visible()
    assert selling.deals.list(DemandDeal, search="Short-lived").count == 0


def test_pausing_several(selling: Desk, page: Page) -> None:
    """Two deals are chosen; the number is confirmed before they are paused, and resumed again."""
    enter(page, f"{selling.address}/deals?find=morning&deals_kind=Deals")
    for name in ("Alpha Buying", "Beta Media"):
        page.get_by_label(f"Choose Morning News - {name}").click()
    for verb, done in (("Pause", "paused"), ("Resume", "resumed")):
        page.get_by_role("button", name=f"{verb} 2", exact=True).click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name=f"{verb} 2 deals").click()
        expect(dialog.get_by_text(f"2 deals {done}.")).to_be_visible()
        is_active = [selling.deals.get(DemandDeal, number).is_active for number in (1, 2, 3)]
        assert is_active == [verb == "Resume", verb == "Resume", True]
        dialog.get_by_role("button", name="Close").last.click()
        expect(dialog).to_have_count(0)
        settled(page)
        for name in ("Alpha Buying", "Beta Media") if verb == "Pause" else ():
            page.get_by_label(f"Choose Morning News - {name}").click()


def test_csv(selling: Desk, page: Page, tmp_path: Path) -> None:
    """The file has the rows that are shown."""
    enter(page, f"{selling.address}/deals?find=sports&deals_kind=Packages")
    page.get_by_role("button", name="CSV").click()
    with page.expect_download() as download:
        page.get_by_test_id("stDownloadButton").click()
    download.value.save_as(tmp_path / "deals.csv")
    frame = pd.read_csv(tmp_path / "deals.csv")
    assert list(frame["Name"]) == ["Evening Sports"]
    assert list(frame["Lowest price, USD CPM"]) == [7.0]


def test_viewers(selling: Desk, page: Page) -> None:
    """A viewer looks at a package without being offered to change it, and has no screen to make one."""
    open_drawer(page, selling, "supply_deals-1", "Viewer")
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_text("Facts", exact=True)).to_be_visible()
    for name in ("Pause", "Clone", "Delete", "Save"):
        expect(drawer.get_by_role("button", name=name)).to_have_count(0)
    expect(page.get_by_role("link", name="New package")).to_have_count(0)


def test_on_a_phone(selling: Desk, visitor: Visitor) -> None:
    """On a narrow screen a row says name, status, seat and price; nothing is wider than the screen."""
    page = visitor().new_page()
    page.set_viewport_size(PHONE)
    enter(page, f"{selling.address}/deals?deals_kind=Deals&find=sports")
    shown = row(page, "Evening Sports - Alpha Buying")
    for text in ("Evening Sports - Alpha Buying", "Active", "Alpha Buying", "7.00"):
        expect(shown.get_by_text(text, exact=True)).to_be_in_viewport(ratio=1)
    assert sideways(page) == 0
    shown.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    settled(page)
    assert sideways(page) == 0


def test_the_list_on_a_phone_begins_early(selling: Desk, visitor: Visitor) -> None:
    """The first row begins above the middle of a phone; filters and orders are a tap away."""
    page = visitor().new_page()
    page.set_viewport_size(PHONE)
    enter(page, f"{selling.address}/deals?deals_kind=Deals&deals_order=price")
    listing = page.get_by_role("grid", name="Deals", exact=True)
    first = listing.locator("tbody tr").first
    expect(first).to_be_in_viewport(ratio=1)
    box = first.bounding_box()
    assert box is not None
    assert box["y"] < PHONE["height"] / 2
    heads = listing.locator("thead :is(select, input)")
    for number in range(heads.count()):
        expect(heads.nth(number)).to_be_in_viewport(ratio=1)
    choice = listing.get_by_role("combobox", name="Order")
    expect(choice).to_have_value("price asc")
    choice.select_option("Price, USD CPM ↓")
    page.wait_for_url(at("deals", deals_order="-price"))
    expect(first).to_contain_text("Evening Sports - Alpha Buying")
    expect(page.get_by_label("Seat", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Filters").click()
    expect(page.get_by_label("Seat", exact=True)).to_be_visible()


def test_eighteen_rows_fit_on_a_desktop(selling: Desk, visitor: Visitor) -> None:
    """Two rows of controls stand over the table, so that 18 rows fit; choosing moves none."""
    page = visitor().new_page()
    page.set_viewport_size({"width": 1440, "height": 900})
    enter(page, f"{selling.address}/deals?deals_kind=Deals")
    first = page.get_by_role("grid", name="Deals", exact=True).locator("tbody tr").first
    box = first.bounding_box()
    assert box is not None
    assert box["y"] + 18 * box["height"] <= 900
    controls = page.locator("[data-testid=stMain] :is(button, input)").evaluate_all(
        "nodes => nodes.map((node) => node.getBoundingClientRect()).filter(({ width }) => width > 1)"
        ".map(({ top, height }) => top + height / 2)"
    )
    lines = sorted(one for one in controls if 60 < one < box["y"] - box["height"])
    assert sum(after - before > 20 for before, after in pairwise([0, *lines])) == 2
    first.locator("input").click()
    expect(page.get_by_role("button", name="Edit 1")).to_be_visible()
    settled(page)
    assert first.bounding_box() == box


def test_undo_of_a_bulk_pause(selling: Desk, page: Page) -> None:
    """The result of a pause offers its undo, in the same place, which restores it at once."""
    enter(page, f"{selling.address}/deals?deals_kind=Deals&find=morning")
    for name in ("Alpha Buying", "Beta Media"):
        page.get_by_label(f"Choose Morning News - {name}").click()
    page.get_by_role("button", name="Pause 2").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Pause 2 deals").click()
    expect(dialog.get_by_text("2 deals paused.")).to_be_visible()
    assert not selling.deals.get(DemandDeal, 1).is_active
    dialog.get_by_role("button", name="Undo").click()
    expect(dialog.get_by_text("2 deals put back.")).to_be_visible()
    assert all(selling.deals.get(DemandDeal, number).is_active for number in (1, 2))
    dialog.get_by_role("button", name="Back").click()
    expect(dialog.get_by_text("undone by manager")).to_be_visible()


def test_messages_cover_nothing(selling: Desk, page: Page) -> None:
    """What was done is said in a line of the drawer; every button of its head can be clicked meanwhile."""
    open_drawer(page, selling, "demand_deals-4")
    for verb, done in (("Pause", "Paused"), ("Resume", "Resumed")):
        page.get_by_role("dialog").get_by_role("button", name=verb, exact=True).click()
        expect(page.get_by_role("dialog").locator("[class*=st-key-note_]").get_by_text(done)).to_be_visible()
        expect(page.get_by_test_id("stToast")).to_have_count(0)
        page.get_by_role("button", name="Delete", exact=True).click(trial=True)


def _deal(name: str) -> DemandDeal:
    seat = {"id": 1}
    return DemandDeal.model_validate({"name": name, "seat": seat, "price": 1})


def test_cloning(selling: Desk, page: Page) -> None:
    """A clone of a package is the form New package, filled with it."""
    open_drawer(page, selling, "supply_deals-2")
    page.get_by_role("button", name="Clone").click()
    page.wait_for_url(at("new_package"))
    expect(page.get_by_role("textbox", name="Name", exact=True)).to_have_value("Evening Sports (copy)")
    expect(page.get_by_text("Alpha Buying (Syncing DSP) at 7.00")).to_be_visible()
    page.evaluate("window.onbeforeunload = null")
    assert selling.deals.list(SupplyPackage, search="copy").count == 0


def test_the_menu_closes_when_a_screen_is_chosen(selling: Desk, visitor: Visitor) -> None:
    """On a phone the navigation lies over the page; once a screen is chosen it does no longer."""
    page = visitor().new_page()
    page.set_viewport_size(PHONE)
    enter(page, f"{selling.address}/deals")
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_test_id("stSidebarNavLink").filter(has_text="New package").click()
    page.wait_for_url(at("new_package"))
    expect(page.get_by_test_id("stSidebarNavLink").first).not_to_be_in_viewport()


def test_deals_from_a_file(selling: Desk, page: Page) -> None:
    """A CSV is read in the browser: its faults are shown with their lines; the next file creates deals."""
    enter(page, f"{selling.address}/deals?deals_kind=Deals")
    page.get_by_role("button", name="CSV").click()
    page.get_by_role("button", name="Create deals").click()
    dialog = page.get_by_role("dialog")

    def choose(text: bytes) -> None:
        file = {"name": "new.csv", "mimeType": "text/csv", "buffer": text}
        dialog.get_by_label("CSV file").set_input_files(file)  # type: ignore[arg-type]

    choose(b"Package,Seat,Price\nM\xfcnchen,1,2\n")
    expect(dialog.get_by_text("The file is not UTF-8.")).to_be_visible()
    choose(b"Package,Seat,Price\n2,Nobody,2\n")
    expect(dialog.get_by_text("1 fault in new.csv. Nothing was created.")).to_be_visible()
    choose(b"Package,Seat,Price\n2,Gamma Trading,2.25\n")
    dialog.get_by_role("button", name="Create 1 deal").click()
    expect(dialog.get_by_text("1 deal created.")).to_be_visible()
    made = selling.deals.list(DemandDeal, search="Evening Sports - Gamma Trading").results[0]
    assert made.price == Decimal("2.25")


def test_what_is_typed_while_an_error_appears_is_kept(selling: Desk, page: Page) -> None:
    """In Edit, keys that follow a wrong price at 40 ms stay in their field while the error comes above it."""
    enter(page, f"{selling.address}/deals?deals_kind=Deals&find=morning&deals_order=name")
    row(page, "Morning News - Alpha Buying").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Edit 1").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="Set to").click()
    price = dialog.get_by_role("textbox", name="Price, USD CPM")
    price.press_sequentially("2,5", delay=40)
    price.press("Tab")
    page.keyboard.type("2027-03-01 09:00", delay=40)
    expect(dialog.get_by_text("Write decimals with a point")).to_be_visible()
    settled(page)
    expect(dialog.get_by_role("textbox", name="Start")).to_have_value("2027-03-01 09:00")
    dialog.get_by_role("textbox", name="Start").press("Tab")
    page.keyboard.type("2027-04-01", delay=40)
    dialog.get_by_text("Remove the end").hover()
    settled(page)
    expect(dialog.get_by_role("textbox", name="Start")).to_have_value("2027-03-01 09:00")
    expect(dialog.get_by_role("textbox", name="End")).to_have_value("2027-04-01")


def test_columns_are_widened(selling: Desk, page: Page) -> None:
    """A column of the list is as wide as its edge is dragged, also when the page is opened again."""
    enter(page, f"{selling.address}/deals?deals_kind=Deals")
    head = page.get_by_role("grid", name="Deals").get_by_role("columnheader", name="Name", exact=True)
    before = width(head)
    edge = head.get_by_role("separator").bounding_box()
    assert edge is not None
    page.mouse.move(edge["x"] + 4, edge["y"] + 10)
    page.mouse.down()
    page.mouse.move(edge["x"] + 104, edge["y"] + 10)
    page.mouse.up()
    assert width(head) == pytest.approx(before + 100, abs=1)
    page.reload()
    expect(head).to_be_visible()
    assert width(head) == pytest.approx(before + 100, abs=1)
    head.get_by_role("button").press("Shift+ArrowRight")
    assert width(head) > before + 101
    assert "deals_order" not in page.url


def width(node: Locator) -> float:
    """Its width in pixels."""
    box = node.bounding_box()
    assert box is not None
    return box["width"]
