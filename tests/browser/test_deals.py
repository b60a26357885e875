"""The list of deals in a browser: finding, opening, ordering, pausing several, typing, phones."""

import re
from decimal import Decimal
from itertools import pairwise

import pytest
from dealing import SOLD, Desk
from playwright.sync_api import Locator, Page, expect

from browser.conftest import PHONE, SCREEN, at, enter, settled, sideways
from lib.deals.models import DemandDeal


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
    """A click anywhere on a row opens its drawer, one on a linked deal there shows that deal; each
    address can be shared, and closing leaves the list."""
    enter(page, f"{selling.address}/deals?find=morning&deals_kind=Packages")
    row(page, "Morning News", "Packages").get_by_text("not smartphone").click()
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_role("heading", name="Morning News")).to_be_visible()
    expect(drawer.get_by_text("not smartphone").first).to_be_visible()
    page.wait_for_url(at("deals", open="supply_deals-1", find="morning"))
    row(drawer, "Morning News - Beta Media").click()
    expect(drawer.get_by_role("heading", name="Morning News - Beta Media")).to_be_visible()
    page.wait_for_url(at("deals", open="demand_deals-2"))
    settled(page)
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


def test_menus_by_keyboard_alone(selling: Desk, page: Page) -> None:
    """Enter opens a menu and chooses what is marked in it; Tab leads into what a button opens, in the drawer
    too, and from its ends back to the button; Escape closes it, and nothing else."""
    enter(page, f"{selling.address}/deals?deals_kind=Deals&find=morning")
    page.get_by_role("button", name="Pause or resume").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Pause all")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name=re.compile("Pause .* deal"))).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    settled(page)
    page.get_by_role("button", name="CSV").focus()
    page.keyboard.press("Enter")
    for name in ("Download list", "Create deals"):
        expect(page.get_by_role("button", name=name)).to_be_visible()
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name=name)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_label("CSV file")).to_be_visible()

    open_drawer(page, selling, "demand_deals-1")
    delete = page.get_by_role("button", name="Delete", exact=True)
    delete.focus()
    page.keyboard.press("Enter")
    sure = page.get_by_role("button", name="Delete permanently")
    expect(sure).to_be_visible()
    for key, focused in (("Tab", sure), ("Tab", delete), ("Tab", sure), ("Shift+Tab", delete), ("Tab", sure)):
        page.keyboard.press(key)
        expect(focused).to_be_focused()
    page.keyboard.press("Escape")
    expect(sure).to_have_count(0)
    expect(delete).to_be_focused()
    expect(page.get_by_role("heading", name="Morning News - Alpha Buying")).to_be_visible()


def test_the_first_filter_keeps_the_focus(selling: Desk, page: Page) -> None:
    """What is typed right after the first value of a filter chooses the second, in the same field."""
    enter(page, f"{selling.address}/deals?deals_kind=Deals")
    seat = page.get_by_role("combobox", name="Seat", exact=True)
    seat.click()
    for text in ("Alpha", "Beta"):
        page.keyboard.type(text, delay=40)
        page.get_by_role("option").filter(has_text=text).first.wait_for()
        page.keyboard.press("Enter")
        settled(page)
        expect(seat).to_be_focused()
    page.keyboard.press("Escape")
    expect(row(page, "Morning News - Beta Media")).to_be_visible()
    assert {name.split(" - ")[1] for name in names(page)} == {"Alpha Buying", "Beta Media"}


def test_a_header_orders_all_rows(selling: Desk, page: Page) -> None:
    """A click on a header orders by it, a second the other way: by a price at the service, by a figure of the
    last days what the report has; the last of the usual columns is in view, and names are whole."""
    enter(page, f"{selling.address}/deals?deals_kind=Deals&project=demo&slicer={SOLD}")
    deals = page.get_by_role("grid", name="Deals")
    spend, price = (
        deals.get_by_role("columnheader", name=title) for title in ("Spend, 7 days", "Price, USD CPM")
    )
    index = [head.split(",")[0] for head in deals.locator("thead th").all_inner_texts()].index("Spend")
    column = deals.locator(f"tbody tr > :nth-child({index + 1})")
    expect(column.first).to_have_text(re.compile(r"^\d+\.\d\d$"))
    spend.get_by_role("button").click()
    page.wait_for_url(at("deals", deals_order="-spend_7_days"))
    expect(spend).to_have_attribute("aria-sort", "descending")
    settled(page)
    figures = [float(text) for text in column.all_inner_texts()]
    assert figures == sorted(figures, reverse=True)
    assert len({*figures}) > 1
    expect(page.get_by_role("columnheader", name="Pacing", exact=True)).to_be_in_viewport(ratio=1)
    uncut = "nodes => nodes.map((node) => node.scrollWidth <= node.clientWidth)"
    assert {*deals.locator("tbody :is(.main, .in-left)").evaluate_all(uncut)} == {True}
    price.get_by_role("button").click()
    page.wait_for_url(at("deals", deals_order="-price"))
    settled(page)
    assert names(page)[0] == "Evening Sports - Alpha Buying"
    price.get_by_role("button").click()
    page.wait_for_url(at("deals", deals_order="price"))
    settled(page)
    assert names(page)[0] == "Morning News - Alpha Buying"
    expect(price).to_have_attribute("aria-sort", "ascending")


def test_on_a_phone(selling: Desk, page: Page) -> None:
    """The first row begins above the middle of a phone; filters and orders are a tap away, a row says name,
    status, seat and price, and nothing is wider than the screen."""
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
    for text in ("Evening Sports - Alpha Buying", "Active", "Alpha Buying", "7.00"):
        expect(first.get_by_text(text, exact=True)).to_be_in_viewport(ratio=1)
    expect(page.get_by_label("Seat", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Filters").click()
    expect(page.get_by_label("Seat", exact=True)).to_be_visible()
    assert sideways(page) == 0
    settled(page)
    first.get_by_text("7.00", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    settled(page)
    assert sideways(page) == 0


def test_eighteen_rows_fit_on_a_desktop(selling: Desk, page: Page) -> None:
    """Two rows of controls stand over the table, so that 18 rows fit; choosing moves none."""
    enter(page, f"{selling.address}/deals?deals_kind=Deals")
    first = page.get_by_role("grid", name="Deals", exact=True).locator("tbody tr").first
    box = first.bounding_box()
    assert box is not None
    assert box["y"] + 18 * box["height"] <= SCREEN["height"]
    controls = page.locator("[data-testid=stMain] :is(button, input)").evaluate_all(
        "nodes => nodes.map((node) => node.getBoundingClientRect()).filter(({ width }) => width > 1)"
        ".map(({ top, height }) => top + height / 2)"
    )
    lines = sorted(control for control in controls if 60 < control < box["y"] - box["height"])
    assert sum(after - before > 20 for before, after in pairwise([0, *lines])) == 2
    first.locator("input").click()
    expect(page.get_by_role("button", name="Edit 1")).to_be_visible()
    settled(page)
    assert first.bounding_box() == box


def test_messages_cover_nothing(selling: Desk, page: Page) -> None:
    """What was done is said in a line of the drawer; every button of its head can be clicked meanwhile."""
    open_drawer(page, selling, "demand_deals-4")
    for verb, done in (("Pause", "Paused"), ("Resume", "Resumed")):
        page.get_by_role("dialog").get_by_role("button", name=verb, exact=True).click()
        expect(page.get_by_role("dialog").locator("[class*=st-key-note_]").get_by_text(done)).to_be_visible()
        expect(page.get_by_test_id("stToast")).to_have_count(0)
        page.get_by_role("button", name="Delete", exact=True).click(trial=True)


def test_the_menu_closes_when_a_screen_is_chosen(selling: Desk, page: Page) -> None:
    """On a phone the navigation lies over the page; once a screen is chosen it does no longer."""
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
    expect(dialog.get_by_text("The text was read as Windows-1252.")).to_be_visible()
    choose(b"Package,Seat,Price\n2,Nobody,2\n")
    expect(dialog.get_by_text("1 fault in new.csv. Nothing was created.")).to_be_visible()
    choose(b"Package,Seat,Price\n2,Gamma Trading,2.25\n")
    dialog.get_by_text("Confirm a price of 2.25").click()
    dialog.get_by_role("button", name="Create 1 deal").click()
    expect(dialog.get_by_text("1 deal created.")).to_be_visible()
    deal = selling.deals.list(DemandDeal, search="Evening Sports - Gamma Trading").results[0]
    assert deal.price == Decimal("2.25")


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
    dialog.get_by_role("textbox", name="Start").focus()
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
