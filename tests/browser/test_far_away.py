"""Deals and lists 150 ms away, used without pauses: what was typed is what the API has afterwards."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import pytest
from dealing import Desk
from playwright.sync_api import Locator, Page, expect

from browser.conftest import at, enter, settled
from browser.distance import far_away
from lib.deals.models import DemandDeal, DomainList, Seat


@pytest.fixture(scope="module")
def distant(selling: Desk) -> Iterator[Desk]:
    """The desk with deals, far away."""
    with far_away(selling.address) as address:
        yield replace(selling, address=address)


def drawer_of(page: Page, desk: Desk, key: str, section: str) -> Locator:
    """The drawer of this one, with the section chosen."""
    enter(page, f"{desk.address}/deals?open={key}")
    drawer = page.get_by_role("dialog")
    drawer.get_by_text(section, exact=True).click()
    return drawer


def retype(page: Page, field: Locator, text: str, delay: float) -> None:
    """Type over what is there, at so many milliseconds a key."""
    field.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(text, delay=delay)


def paste(page: Page, field: Locator, text: str) -> None:
    """Paste over what is there, as a person does: filling in thousands of lines takes a browser minutes."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    field.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("ControlOrMeta+v")


def deal(desk: Desk, name: str, seat: int, **terms: object) -> DemandDeal:
    """A deal that was just created."""
    fields = {"name": name, "seat": Seat(id=seat), "price": Decimal(4), **terms}
    return desk.deals.create(DemandDeal, DemandDeal.model_construct(**fields))


def test_a_changed_deal_is_stored_as_typed(distant: Desk, page: Page) -> None:
    """Name at 40 ms a key, price at 400 ms, then at once one click on Save: both are stored as shown."""
    new_deal = deal(distant, "Before", 1)
    drawer = drawer_of(page, distant, f"demand_deals-{new_deal.id}", "Change")
    retype(page, drawer.get_by_role("textbox", name="Name", exact=True), "Late Evening News, second run", 40)
    retype(page, drawer.get_by_label("Price, USD CPM"), "11.345678", 400)
    drawer.get_by_role("button", name="Save", exact=True).click()
    expect(drawer.get_by_text("Saved", exact=True)).to_be_visible()
    expect(drawer.get_by_label("Price, USD CPM")).to_have_value("11.345678")
    expect(drawer.get_by_role("textbox", name="Name", exact=True)).to_have_value(
        "Late Evening News, second run"
    )
    stored = distant.deals.get(DemandDeal, new_deal.id or 0)
    assert (stored.name, stored.price) == ("Late Evening News, second run", Decimal("11.345678"))


def test_a_header_and_a_row_right_after(distant: Desk, page: Page) -> None:
    """A click on a row, sent before the address has the order of a click on a header, keeps that order."""
    enter(page, f"{distant.address}/deals?deals_kind=Deals&deals_order=name")
    for pause, order in ((0, "-price"), (100, "price"), (250, "-price")):
        page.get_by_role("button", name="Price, USD CPM").click()
        page.wait_for_timeout(pause)
        page.get_by_role("grid", name="Deals").get_by_role("rowheader").nth(1).click()
        page.wait_for_url(at("deals", deals_order=order))
        expect(page.get_by_role("dialog")).to_be_visible()
        assert page.url.count("open=demand_deals-") == 1
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.wait_for_url(lambda url, order=order: "open=" not in url and f"deals_order={order}" in url)
        settled(page)


def test_five_thousand_entries_with_broken_ones(distant: Desk, page: Page) -> None:
    """One click adds what can be read; the others are named and stay in the box, added once repaired."""
    broken = {17: "no dot", 2_500: "10.0.0.1", 4_999: "-"}
    lines = [broken.get(line, f"site-{line}.example") for line in range(1, 5_001)]
    good = [line for line in lines if line not in broken.values()]
    enter(page, f"{distant.address}/lists")
    page.get_by_role("button", name="New list").click()
    page.get_by_role("textbox", name="Name", exact=True).press_sequentially("Pasted", delay=40)
    page.get_by_role("button", name="Create list").click()
    drawer = page.get_by_role("dialog")
    box = drawer.get_by_label("Add domains")
    paste(page, box, "\n".join(lines))
    drawer.get_by_role("button", name="Add domains").click()
    expect(drawer.get_by_text("4,997 added")).to_be_visible()
    expect(drawer.get_by_text("3 can't be read")).to_be_visible()
    expect(box).to_have_value("\n".join(broken.values()))
    stored = distant.deals.list(DomainList, search="Pasted").results[0]
    assert list(stored.domains) == good
    paste(page, box, "dot.example\nten.example\ndash.example")
    drawer.get_by_role("button", name="Add domains").click()
    expect(drawer.get_by_text("3 added")).to_be_visible()
    expect(box).to_have_value("")
    repaired = distant.deals.get(DomainList, stored.id or 0)
    assert list(repaired.domains) == [*good, "dot.example", "ten.example", "dash.example"]
