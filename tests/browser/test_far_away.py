"""Deals and lists 150 ms away, used without pauses: what was typed is what the API has afterwards."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import pytest
from dealing import START, Desk
from playwright.sync_api import Locator, Page, expect

from browser.conftest import SCREEN, at, enter
from browser.distance import far_away
from lib.deals.models import DemandDeal, DomainList, Seat, SupplyPackage

PERCENT, CPM = 1, 3


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
    made = deal(distant, "Before", 1)
    drawer = drawer_of(page, distant, f"demand_deals-{made.id}", "Change")
    retype(page, drawer.get_by_role("textbox", name="Name", exact=True), "Late Evening News, second run", 40)
    retype(page, drawer.get_by_label("Price, USD CPM"), "12.345678", 400)
    drawer.get_by_role("button", name="Save", exact=True).click()
    expect(drawer.get_by_text("Saved", exact=True)).to_be_visible()
    expect(drawer.get_by_label("Price, USD CPM")).to_have_value("12.345678")
    expect(drawer.get_by_role("textbox", name="Name", exact=True)).to_have_value(
        "Late Evening News, second run"
    )
    stored = distant.deals.get(DemandDeal, made.id or 0)
    assert (stored.name, stored.price) == ("Late Evening News, second run", Decimal("12.345678"))


@pytest.mark.parametrize("pause", [0, 100, 250])
def test_a_header_and_a_row_right_after(distant: Desk, page: Page, pause: int) -> None:
    """A click on a row, sent before the address has the order of a click on a header, keeps that order."""
    enter(page, f"{distant.address}/deals?deals_kind=Deals&deals_order=name")
    page.get_by_role("button", name="Price, USD CPM").click()
    page.wait_for_timeout(pause)
    page.get_by_role("grid", name="Deals").get_by_role("rowheader").nth(1).click()
    page.wait_for_url(at("deals", deals_order="-price"))
    expect(page.get_by_role("dialog")).to_be_visible()
    assert page.url.count("open=demand_deals-") == 1
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.wait_for_url(lambda url: "open=" not in url and "deals_order=-price" in url)


def test_a_deal_is_added_to_a_package(distant: Desk, page: Page) -> None:
    """A seat, a price and one click add a deal to a package that exists; its other deal stays as it was."""
    package = distant.deals.get(SupplyPackage, 2)
    drawer = drawer_of(page, distant, "supply_deals-2", "Add deals")
    drawer.get_by_role("combobox", name="Seats").press_sequentially("Gamma", delay=40)
    page.get_by_role("option").filter(has_text="Gamma").click()
    page.mouse.click(SCREEN["width"] - 100, SCREEN["height"] - 20)
    retype(page, drawer.get_by_label("Price for Gamma Trading"), "2.05", 150)
    drawer.get_by_role("button", name="Add 1 deal").click()
    expect(drawer.get_by_text("1 deal added")).to_be_visible()
    found = distant.deals.list(DemandDeal, supply_deals=2, ordering="id").results
    assert [(one.name, one.price) for one in found] == [
        ("Evening Sports - Alpha Buying", Decimal(7)),
        ("Evening Sports - Gamma Trading", Decimal("2.05")),
    ]
    assert distant.deals.get(SupplyPackage, 2).name == package.name


def test_a_clone_keeps_each_deals_terms(distant: Desk, page: Page) -> None:
    """12.5 % of spend, 5 CPM, and a paused deal with another contact: so they are in the clone."""
    terms = {
        1: {"agency_curation_fee_type": PERCENT, "agency_curation_fee": Decimal("12.5")},
        2: {"agency_curation_fee_type": CPM, "agency_curation_fee": Decimal(5)},
        3: {"is_active": False, "contact_email": "third@desk.example"},
    }
    deals = [deal(distant, f"Terms {seat}", seat, **own) for seat, own in terms.items()]
    links = tuple({"id": one.id} for one in deals)
    fields = {"name": "Three terms", "media_type": "banner", "start_date": START, "demand_deals": links}
    package = distant.deals.create(SupplyPackage, SupplyPackage.model_validate(fields))
    enter(page, f"{distant.address}/deals?open=supply_deals-{package.id}")
    page.get_by_role("dialog").get_by_role("button", name="Clone").click()
    page.wait_for_url(at("new_package"))
    page.get_by_role("button", name="Create package").click()
    expect(page.get_by_text("with 3 demand deals")).to_be_visible()
    clone = distant.deals.list(SupplyPackage, search="Three terms (copy)").results[0]
    found = distant.deals.list(DemandDeal, supply_deals=clone.id).results
    names = ("agency_curation_fee_type", "agency_curation_fee", "is_active", "contact_email", "price")
    assert {one.seat.id: [getattr(one, name) for name in names] for one in found if one.seat} == {
        1: [PERCENT, Decimal("12.5"), True, None, Decimal(4)],
        2: [CPM, Decimal(5), True, None, Decimal(4)],
        3: [None, None, False, "third@desk.example", Decimal(4)],
    }


def test_five_thousand_entries_with_broken_ones(distant: Desk, page: Page) -> None:
    """One click adds what can be read; the others are named and stay in the box, added once repaired."""
    broken = {17: "no dot", 2_500: "10.0.0.1", 4_999: "-"}
    lines = [broken.get(line, f"site-{line}.example") for line in range(1, 5_001)]
    good = [one for one in lines if one not in broken.values()]
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
