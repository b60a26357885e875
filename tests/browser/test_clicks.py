"""What an account manager does all day, in at most so many clicks of the mouse, on the demo.

Each task begins at the list of deals, as the navigation opens it, and is verified at the API. Keys count as
no click: what is typed, and Enter. What can be chosen is chosen by the mouse alone.
"""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest
from dealing import clients, package
from peopled import people_in
from playwright.sync_api import Locator, Page, expect

from browser.conftest import Serve, at, enter, settled
from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage
from lib.demo import build, stories
from lib.demo.deals import date_back, seed
from lib.serving import connect
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse
from lib.ui.deals.forms.draft import Draft
from lib.ui.deals.new_package.templates import body_of

TODAY, ROWS = dt.datetime.now(dt.UTC).date(), 300_000
SEATS = 5


@dataclass(frozen=True)
class Demo:
    """Where the demo is served, and its APIs in the manager's name."""

    address: str
    api: connect.Clients

    @property
    def deals(self) -> Deals:
        """The deals API."""
        return self.api.deals


class Mouse:
    """Clicks of a page's mouse, counted; the list of deals stands on the page at first."""

    def __init__(self, page: Page, demo: Demo) -> None:
        demo.api.drafts.discard()  # what a first try left would be asked about
        enter(page, f"{demo.address}/deals")
        self.page, self.clicks = page, 0

    def click(self, target: Locator, **options: object) -> None:
        """One click, and the page's answer to it."""
        target.click(**options)  # type: ignore[arg-type]
        self.clicks += 1
        settled(self.page)

    def type(self, text: str) -> None:
        """Type over what the focused field holds; no click."""
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.type(text, delay=5)
        settled(self.page)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, serve: Serve) -> Iterator[Demo]:
    """The demo with fewer rows, a template, and a package with a deal for each of five seats."""
    home: Path = tmp_path_factory.mktemp("demo-clicks")
    (home / "tranche.toml").write_text("demo = true\n")
    build(Warehouse(home / "warehouse"), people_in(home), TODAY, ROWS)
    api = clients(Settings(home=home, demo=True))
    started = dt.datetime.now(dt.UTC)
    seed(api.deals, TODAY)
    date_back(connect.installation(Settings(home=home, demo=True)).access.store.engine, TODAY, started)
    api.deals.create(SupplyPackage, package("Five Buyers", dict.fromkeys(range(1, SEATS + 1), "2")))
    api.view_store.templates.save("Video abroad", body_of(Draft.of(media_type="video", deals="new")))
    with serve(home) as address:
        yield Demo(address, api)


def row(page: Page, name: str) -> Locator:
    """The first row of the list with this text."""
    return page.get_by_role("grid").first.locator("tbody tr").filter(has_text=name).first


def row_of(page: Page, deal: DemandDeal) -> Locator:
    """The row of a deal in the list, whose columns don't name its deal id unless chosen."""
    return page.get_by_role("grid").first.locator(f'tbody tr[data-key="demand_deals-{deal.id}"]')


def button(page: Page | Locator, name: str) -> Locator:
    """A button whose name begins so."""
    return page.get_by_role("button", name=re.compile(f"^{name}")).first


def test_find_a_deal(demo: Demo, page: Page) -> None:
    """A deal is found by a part of its id with one click."""
    mouse, deal = Mouse(page, demo), demo.deals.get(DemandDeal, 7)
    mouse.click(page.get_by_role("searchbox"))
    mouse.type((deal.deal_id or "")[5:12])
    expect(row_of(page, deal)).to_contain_text(deal.name or "")
    expect(page.get_by_role("rowheader")).to_have_count(1)
    assert mouse.clicks <= 1


def test_why_a_deal_does_not_win(demo: Demo, page: Page) -> None:
    """Why a deal does not win, and what its price lets through, takes one click; its funnel two."""
    mouse, drawer = Mouse(page, demo), page.get_by_role("dialog")
    health = page.get_by_role("grid").get_by_text("Floor raised")
    expect(health.first).to_be_visible()
    mouse.click(health.first)
    expect(drawer.get_by_text("lets through less than a quarter")).to_be_visible()
    assert f"demand_deals-{stories.CHEAP_DEAL}" in page.url
    mouse.click(drawer.get_by_text("Delivery", exact=True))
    expect(drawer.get_by_text("Of the step before")).to_be_visible()
    assert mouse.clicks <= 2


def test_hand_over(demo: Demo, page: Page) -> None:
    """What one buyer needs, and nobody else's deals, is in the clipboard after two clicks."""
    mouse, deal = Mouse(page, demo), demo.deals.get(DemandDeal, 11)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    mouse.click(row_of(page, deal))
    mouse.click(page.locator(".st-key-to_copy_buyer").get_by_role("button"))
    text = page.evaluate("navigator.clipboard.readText()")
    assert deal.deal_id in text and f"{deal.price:.2f}" in text and deal.supply_deals[0].name in text
    others = demo.deals.list(DemandDeal, supply_deals=deal.supply_deals[0].id).results
    assert not [
        other_deal for other_deal in others if other_deal.id != deal.id and (other_deal.deal_id or "") in text
    ]
    assert mouse.clicks <= 2


def test_price_of_one_seat(demo: Demo, page: Page) -> None:
    """The price of one seat is changed with four clicks."""
    mouse, drawer = Mouse(page, demo), page.get_by_role("dialog")
    deal = demo.deals.get(DemandDeal, 12)
    mouse.click(row_of(page, deal))
    mouse.click(drawer.get_by_text("Change", exact=True))
    mouse.click(drawer.get_by_role("textbox", name="Price"))
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("2.34")
    mouse.click(button(drawer, "Save"))  # while the field still has the focus
    expect(drawer.get_by_text("Saved", exact=True).first).to_be_visible()
    assert demo.deals.get(DemandDeal, 12).price == Decimal("2.34")
    assert mouse.clicks <= 4


def test_price_of_eight_deals(demo: Demo, page: Page) -> None:
    """Eight deals, one below the other, are chosen with two clicks, and their prices changed with six."""
    mouse, boxes, dialog = Mouse(page, demo), page.get_by_label("Choose "), page.get_by_role("dialog")
    keys = (
        page.get_by_role("grid")
        .locator("tbody tr")
        .evaluate_all("rows => rows.map((row) => row.dataset.key)")
    )
    chosen = [int(key.partition("-")[2]) for key in keys[2:10]]
    mouse.click(boxes.nth(2))
    mouse.click(boxes.nth(9), modifiers=["Shift"])
    mouse.click(button(page, "Edit 8"))
    mouse.click(dialog.get_by_role("textbox", name="Price"))
    mouse.type("3.75")  # within a factor of three of each, so there is nothing to confirm
    mouse.click(button(dialog, "Preview"))
    mouse.click(button(dialog, "Save 8"))
    expect(dialog.get_by_text("8 deals saved.")).to_be_visible()
    assert {demo.deals.get(DemandDeal, number).price for number in chosen} == {Decimal("3.75")}
    rest = demo.deals.list(DemandDeal, limit=200).results
    assert len([deal for deal in rest if deal.price == Decimal("3.75")]) == len(chosen)
    assert mouse.clicks <= 8


def test_pause_a_dsp_and_undo(demo: Demo, page: Page) -> None:
    """All deals of a DSP are paused with five clicks and Escape; one more undoes it for exactly those."""
    mouse, dialog = Mouse(page, demo), page.get_by_role("dialog")
    before = {deal.id: deal.is_active for deal in demo.deals.everything(DemandDeal)}
    of_dsp = {deal.id for deal in demo.deals.everything(DemandDeal, dsp=2)}
    mouse.click(page.get_by_role("combobox", name="DSP"))
    mouse.click(page.get_by_role("option", name="Birch Buying Desk"))
    page.keyboard.press("Escape")  # the list stays open, for a second value
    mouse.click(button(page, "Pause or resume"))
    mouse.click(page.get_by_role("menuitem", name=f"Pause all {len(of_dsp)}"))
    mouse.click(button(dialog, "Pause"))
    expect(dialog.get_by_text("paused.")).to_be_visible()
    now = {deal.id: deal.is_active for deal in demo.deals.everything(DemandDeal)}
    ended = {deal.id for deal in demo.deals.everything(DemandDeal, status="complete")}
    assert {number for number, is_active in now.items() if is_active} == {
        number
        for number, is_active in before.items()
        if is_active and (number not in of_dsp or number in ended)
    }
    assert mouse.clicks <= 5
    mouse.click(button(dialog, "Undo"))
    expect(dialog.get_by_text("put back.")).to_be_visible()
    assert {deal.id: deal.is_active for deal in demo.deals.everything(DemandDeal)} == before
    assert mouse.clicks <= 6


def test_new_package_from_a_template(demo: Demo, page: Page) -> None:
    """A package for five seats that its template does not have takes twelve clicks, with a price for all."""
    mouse = Mouse(page, demo)
    mouse.click(page.get_by_role("link", name="New package"))
    page.wait_for_url(at("new_package"))
    settled(page)
    mouse.click(page.get_by_role("button", name="Templates"))
    mouse.click(page.get_by_role("button", name="Video abroad", exact=True))
    mouse.click(page.get_by_role("textbox", name="Name", exact=True))
    mouse.type("Video for five")
    mouse.click(page.get_by_role("combobox", name="Seats"))
    for _ in range(SEATS):
        mouse.click(page.get_by_role("option").first)
    mouse.click(page.get_by_placeholder("for all").and_(page.get_by_label("Price")))
    mouse.type("7.5")
    mouse.click(button(page, "Create package"))
    expect(page.get_by_text("is created")).to_be_visible()
    created = demo.deals.list(SupplyPackage, name="Video for five").results[0]
    sold = demo.deals.list(DemandDeal, supply_deals=created.id).results
    assert created.media_type == "video"
    assert len({deal.seat.id for deal in sold if deal.seat}) == SEATS
    assert {deal.price for deal in sold} == {Decimal("7.5")}
    assert mouse.clicks <= 12


def test_clone_a_package(demo: Demo, page: Page) -> None:
    """A package with five seats is cloned with six clicks."""
    package_id = demo.deals.list(SupplyPackage, name="Five Buyers").results[0].id
    for deal in demo.deals.list(DemandDeal, supply_deals=package_id).results:
        demo.deals.change(DemandDeal, deal.id or 0, {"price": Decimal(2)})  # as sold: no slip to confirm
    mouse = Mouse(page, demo)
    mouse.click(page.get_by_text("Packages", exact=True))
    packages = page.get_by_role("grid").first.locator('tbody tr[data-key^="supply_deals-"]')
    mouse.click(packages.filter(has_text="Five Buyers").first)  # not its deals, should they still be drawn
    mouse.click(button(page.get_by_role("dialog"), "Clone"))
    page.wait_for_url(at("new_package"))
    settled(page)
    mouse.click(button(page, "Create package"))
    expect(page.get_by_text("is created")).to_be_visible()
    clone = demo.deals.list(SupplyPackage, name="Five Buyers (copy)").results[0]
    terms = [
        {
            (deal.seat.id, deal.price)
            for deal in demo.deals.list(DemandDeal, supply_deals=of.id).results
            if deal.seat
        }
        for of in (clone, demo.deals.list(SupplyPackage, name="Five Buyers").results[0])
    ]
    assert len(terms[0]) == SEATS
    assert terms[0] == terms[1]
    assert mouse.clicks <= 6


def test_from_list_to_drawer_to_save_by_keys(demo: Demo, page: Page) -> None:
    """Without a mouse: a row is opened, its price typed and saved, and the drawer closed where it began."""
    enter(page, f"{demo.address}/deals?deals_order=id")
    deal, drawer = demo.deals.get(DemandDeal, 14), page.get_by_role("dialog")
    at_row, keys = row_of(page, deal), page.keyboard
    price = "4.21" if deal.price != Decimal("4.21") else "4.22"  # no slip, which had to be confirmed
    page.get_by_role("grid").locator("tbody tr").first.focus()
    while at_row.get_attribute("tabindex") != "0":
        keys.press("ArrowDown")
    keys.press("Enter")
    expect(drawer).to_be_visible()
    settled(page)
    _press_to(page, "Tab", "Facts")
    _press_to(page, "ArrowRight", "Change")
    keys.press("Enter")
    settled(page)
    _press_to(page, "Tab", "Price, USD CPM")
    keys.press("ControlOrMeta+a")
    keys.type(price, delay=5)
    keys.press("Control+Enter")
    expect(drawer.get_by_text("Saved", exact=True).first).to_be_visible()
    assert demo.deals.get(DemandDeal, 14).price == Decimal(price)
    settled(page)
    keys.press("Escape")
    expect(drawer).to_have_count(0)
    settled(page)
    expect(at_row).to_be_focused()
    expect(at_row).to_contain_text(price)


def _press_to(page: Page, key: str, name: str) -> None:
    """Press a key until what has the focus is called so, by its text or its label."""
    for _ in range(20):
        page.keyboard.press(key)
        focused = page.evaluate("[document.activeElement.ariaLabel, document.activeElement.textContent]")
        if name in focused:
            return
    raise AssertionError(f"{name} is not reached by {key}")
