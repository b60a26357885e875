"""Setting up a package in a browser: pickers, the grid of seats, errors that lose nothing, one package."""

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal

import pytest
from conftest import LAST_DAY
from dealing import SOLD, Desk, sold_rows
from playwright.sync_api import Page, expect

from browser.conftest import enter, settled
from browser.grids import cells, grid, type_into
from lib.deals.models import DemandDeal, SupplyPackage

PRICE = 0.4


@pytest.fixture
def form(selling: Desk, page: Page) -> Iterator[Page]:
    """The empty form, over the slicer in which deals were delivered."""
    enter(page, f"{selling.address}/new_package?project=demo&slicer={SOLD}")
    yield page
    page.evaluate("window.onbeforeunload = null")


def choose(page: Page, label: str, *texts: str) -> None:
    """Choose options of a picker by typing."""
    box = page.get_by_role("combobox", name=label)
    for text in texts:
        box.focus()
        box.press_sequentially(text)
        page.get_by_role("option").filter(has_text=text).first.wait_for()
        box.press("Enter")
        settled(page)
        box.press("Escape")
        expect(page.get_by_role("listbox")).to_have_count(0)


def target(page: Page, kind: str, side: str, *texts: str) -> None:
    """Choose values of a kind of targeting."""
    page.get_by_role("button", name=kind, exact=True).click()
    choose(page, side, *texts)
    page.keyboard.press("Escape")
    page.get_by_role("heading", name="Targeting", exact=True).click()
    settled(page)


def name(page: Page, text: str) -> None:
    """Name the package."""
    page.get_by_label("Name", exact=True).fill(text)
    page.get_by_label("Name", exact=True).press("Enter")
    settled(page)


def test_from_the_empty_form_to_the_list(form: Page, selling: Desk) -> None:
    """Three seats and a targeting; an error loses nothing; a double click creates one; it is in the list."""
    page, before = form, selling.deals.list(SupplyPackage).count
    name(page, "Autumn Evenings")
    target(page, "Country", "Only", "Germ", "US")
    target(page, "Device", "Never", "desk")
    choose(page, "Seats", "Alpha", "Beta", "Gamma")
    type_into(page, grid(page, "Seats, with price and deal sync"), 0, PRICE, "2.5")
    type_into(page, grid(page, "Seats, with price and deal sync"), 1, PRICE, "3")
    expect(
        page.get_by_text("Autumn Evenings sells banner supply: Germany, United States · not desktop.")
    ).to_be_visible()
    page.get_by_role("button", name="Create the package").click()
    settled(page)

    expect(page.get_by_text("Not created yet")).to_be_visible()
    seats = grid(page, "Seats, with price and deal sync")
    expect(page.get_by_text("Gamma Trading – Price: This field is required.")).to_be_visible()
    expect(cells(seats, "2.5")).to_have_count(1)
    expect(page.get_by_label("Name", exact=True)).to_have_value("Autumn Evenings")
    assert selling.deals.list(SupplyPackage).count == before

    type_into(page, seats, 2, PRICE, "4.75")
    expect(page.get_by_text("Not created yet")).to_have_count(0)
    page.get_by_role("button", name="Create the package").dblclick()
    expect(page.get_by_text("with 3 demand deals")).to_be_visible()
    settled(page)
    assert selling.deals.list(SupplyPackage).count == before + 1
    made = selling.deals.list(SupplyPackage, search="Autumn Evenings").results[0]
    prices = {deal.name: deal.price for deal in selling.deals.list(DemandDeal, supply_deals=made.id).results}
    assert prices == {
        "Autumn Evenings - Alpha Buying": Decimal("2.5"),
        "Autumn Evenings - Beta Media": Decimal("3"),
        "Autumn Evenings - Gamma Trading": Decimal("4.75"),
    }

    page.get_by_role("link", name="Look at it in Deals").click()
    expect(page.get_by_role("dialog").get_by_text("Germany, United States · not desktop")).to_be_visible()
    page.get_by_role("button", name="Close").click()
    expect(cells(grid(page, "Packages and deals"), "Autumn Evenings")).to_have_count(1)


def test_no_e_mail(form: Page) -> None:
    """What is no e-mail address is refused beside its field, and stays typed."""
    contact = form.get_by_role("textbox", name="Contact e-mail")
    contact.fill("nobody")
    contact.press("Tab")
    settled(form)
    form.get_by_role("button", name="Create the package").click()
    expect(form.get_by_text("an e-mail address")).to_be_visible()
    expect(contact).to_have_value("nobody")


def test_live_figures(form: Page) -> None:
    """Beside the form stands what the targeting had, as pandas finds it in the same rows."""
    target(form, "Country", "Only", "Fran")
    rows = sold_rows().to_pandas()
    week = rows[rows["time"].dt.date > LAST_DAY - dt.timedelta(days=7)]
    meant = week[week["geo.country"] == "FR"]
    table = form.get_by_role("table")
    expect(table.get_by_role("row", name="Impressions").get_by_role("cell").first).to_have_text(
        f"{meant['imps'].sum():,.0f}"
    )
    expect(table.get_by_role("row", name="Unique users").get_by_role("cell").first).to_have_text(
        str(meant["users"].nunique())
    )
    cpm = 1000 * meant["spend"].sum() / meant["imps"].sum()
    expect(table.get_by_role("row", name="Average win CPM").get_by_role("cell").first).to_have_text(
        f"${cpm:.2f}"
    )


def test_what_the_report_cannot_say(form: Page) -> None:
    """A part of the targeting that filters can't say is named under the figures."""
    form.get_by_role("button", name="City", exact=True).click()
    box = form.get_by_role("combobox", name="Only")
    box.click()
    box.press_sequentially("Lyon")
    box.press("Enter")
    expect(form.get_by_text("Not counted in: City: this slicer has no key field for it.")).to_be_visible()


def test_leaving_asks_first(form: Page) -> None:
    """With something entered the browser asks before the page is left; without, it does not."""
    asked: list[str] = []
    form.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    form.reload()
    expect(form.get_by_role("heading", name="Targeting", exact=True)).to_be_visible()
    settled(form)
    assert asked == []
    name(form, "Half done")
    form.reload()
    assert asked == ["beforeunload"]


def test_other_screens_and_back(form: Page) -> None:
    """Another screen and back: what was entered is still there."""
    name(form, "Kept")
    choose(form, "Seats", "Beta")
    type_into(form, grid(form, "Seats, with price and deal sync"), 0, PRICE, "1.5")
    form.get_by_role("link", name="Deals", exact=True).click()
    expect(grid(form, "Packages and deals")).to_be_visible()
    settled(form)
    form.get_by_role("link", name="New package").click()
    settled(form)
    expect(form.get_by_label("Name", exact=True)).to_have_value("Kept")
    expect(form.get_by_text("at 1.50")).to_be_visible()
    form.get_by_role("button", name="Start anew").click()
    settled(form)
    expect(form.get_by_label("Name", exact=True)).to_have_value("")
