"""A day of an account manager, with one desk: five seats, a slip, a guarantee, a repair, a buyer's answer."""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest
from dealing import clients
from peopled import people_in
from playwright.sync_api import Browser, BrowserContext, Page, expect

from browser.conftest import Serve, enter, settled
from browser.test_accessible import AXE, THEMES, findings
from browser.test_new_package import choose, name, price, type_price
from lib.deals.models import DemandDeal
from lib.demo import build, stories
from lib.demo.cast import DEALS, PROJECT, SEATS
from lib.demo.deals import date_back, seed
from lib.serving import connect
from lib.serving.connect import Clients
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse

SLICER, PACKAGE = "curation", "Autumn, five seats"
BUYERS = [seat.name for seat in SEATS[:5]]
RAISED = next(deal for deal in DEALS if deal.id == stories.CHEAP_DEAL)
SOLD = next(deal for deal in DEALS if deal.id == stories.DOUBTED_DEAL)
LATENCY, ROWS = 150, 300_000
HOSTILE = "<img src=x onerror=alert(1)>"


@dataclass
class Day:
    """The desk, and the clients of its account manager."""

    address: str
    api: Clients

    @property
    def created(self) -> list[DemandDeal]:
        """The deals of the package that is set up in the day."""
        return [*self.api.deals.list(DemandDeal, search=PACKAGE).results]


@pytest.fixture
def day(tmp_path_factory: pytest.TempPathFactory, serve: Serve) -> Iterator[Day]:
    """The demo up to today, whose manager may share."""
    home: Path = tmp_path_factory.mktemp("demo-day")
    (home / "tranche.toml").write_text("demo = true\n")
    today = dt.datetime.now(dt.UTC).date()
    build(Warehouse(home / "warehouse"), people_in(home), today, ROWS)
    settings = Settings(home=home, demo=True)
    started, installation = dt.datetime.now(dt.UTC), connect.installation(settings)
    seed(clients(settings).deals, today)
    date_back(installation.access.store.engine, today, started)
    installation.access.change("manager", "test", shares=True)
    with serve(home) as address:
        yield Day(address, clients(settings))


def test_a_day(day: Day, page: Page, chromium: Browser) -> None:
    """Nothing costly passes unasked, a repair is known, the buyer's answer is taken over with one click."""
    five_seats(day, page)
    repair(day, page)
    link = share(day, page)
    propose_without_script(chromium, link)
    take_over(day, page)
    accept_with_script(day, chromium, link)


def five_seats(day: Day, page: Page) -> None:
    """A price ten times too high is asked, a guarantee without impressions refused; five deals are made."""
    enter(page, f"{day.address}/new_package?project={PROJECT}&slicer={SLICER}")
    expect(page.get_by_role("heading", name="What will be created")).to_be_visible()
    name(page, PACKAGE)
    choose(page, "Seats", *BUYERS)
    for seat in BUYERS:
        type_price(page, seat, "2.10")
    type_price(page, BUYERS[4], "21.0")
    question = page.get_by_role("checkbox", name=re.compile(r"Confirm a price of 21\.00, .* times"))
    expect(question).to_be_attached()
    page.get_by_text("More terms").click()
    expect(page.get_by_role("combobox", name="Deal type")).to_be_visible()
    choose_deal_type(page, "Programmatic guaranteed")
    page.get_by_role("button", name="Create package").click()
    expect(page.get_by_text(re.compile("Not created. To fix: .*Guaranteed impressions"))).to_be_visible()
    assert findings(page) == {theme: [] for theme in THEMES}
    assert day.created == []
    choose_deal_type(page, "Private auction")
    type_price(page, BUYERS[4], "2.1")
    expect(question).to_have_count(0)
    expect(price(page, BUYERS[0])).to_have_value("2.10")
    page.get_by_role("button", name="Create package").click()
    expect(page.get_by_text("Not created")).to_have_count(0)
    expect(page.get_by_text(PACKAGE).first).to_be_visible()
    settled(page)
    assert sorted(deal.price or 0 for deal in day.created) == [Decimal("2.10")] * 5


def choose_deal_type(page: Page, deal_type: str) -> None:
    """Choose the deal type of all seats by typing: a click is lost while the form is drawn again."""
    box = page.get_by_role("combobox", name="Deal type")
    settled(page)
    box.focus()
    box.press_sequentially(deal_type)
    expect(page.get_by_role("option")).to_have_count(1)
    box.press("Enter")
    settled(page)
    expect(box).to_have_value(deal_type)


def open_deal(day: Day, page: Page, deal: int, section: str) -> None:
    """Open a section of a deal's drawer."""
    enter(page, f"{day.address}/deals?deals_kind=Deals&open=demand_deals-{deal}")
    expect(page.get_by_role("dialog")).to_be_visible()
    settled(page)
    page.get_by_role("dialog").get_by_role("radio", name=section).click()
    settled(page)


def repair(day: Day, page: Page) -> None:
    """A floor that was raised is put back in the drawer, and health says so, until it can be judged."""
    [change, *_] = day.api.deals.history("demand_deals", RAISED.id)
    before = Decimal(str((change.before or {})["price"]))
    open_deal(day, page, RAISED.id, "Change")
    drawer = page.get_by_role("dialog")
    drawer.get_by_label("Price, USD CPM").fill(f"{before}")
    drawer.get_by_label("Price, USD CPM").press("Tab")
    settled(page)
    drawer.get_by_role("button", name="Save", exact=True).click()
    expect(drawer.get_by_text("Saved", exact=True)).to_be_visible()
    open_deal(day, page, RAISED.id, "Delivery")
    expect(drawer.get_by_text(re.compile(f"Put back to {before:.2f} today")).first).to_be_visible()


def share(day: Day, page: Page) -> str:
    """The link for a deal's buyer, as the drawer makes it."""
    open_deal(day, page, SOLD.id, "Facts")
    drawer = page.get_by_role("dialog")
    drawer.get_by_text("Share with buyer").click()
    drawer.get_by_role("button", name="Make a link for the buyer").click()
    code = drawer.locator("code", has_text="/shared/")
    expect(code).to_be_visible()
    return code.inner_text()


def far_away(context: BrowserContext) -> Page:
    """A tab of a buyer, every request of whom takes a while longer."""
    tab = context.new_page()

    def wait(route: object) -> None:
        tab.wait_for_timeout(LATENCY)
        route.continue_()  # type: ignore[attr-defined]

    tab.route("**/*", wait)
    return tab


def propose_without_script(chromium: Browser, link: str) -> None:
    """On a phone: Enter in the price accepts nothing, hostile texts stay texts, and a proposal is stored."""
    phone = chromium.new_context(viewport={"width": 390, "height": 844}, java_script_enabled=False)
    tab = phone.new_page()
    tab.goto(link)
    tab.get_by_text("Propose other terms").click()
    tab.get_by_label("Your name").fill(f"Robin {HOSTILE}")
    tab.get_by_label("Price, USD CPM").fill("1.40")
    tab.get_by_label("Price, USD CPM").press("Enter")
    expect(tab.get_by_label("Price, USD CPM")).to_have_value("1.40")
    expect(tab.get_by_text("accepted")).to_have_count(0)
    tab.get_by_role("button", name="Accept").click()
    expect(tab.get_by_role("alert")).to_contain_text("You typed other terms")
    tab.get_by_role("button", name="Propose", exact=True).click()
    expect(tab.locator(".lead").filter(has_text="You proposed 1.40 USD CPM")).to_be_visible()
    expect(tab.locator(".rounds")).to_contain_text(HOSTILE)
    phone.close()


def take_over(day: Day, page: Page) -> None:
    """The list says who waits; the answer has its change, nothing that axe-core finds, and one button."""
    enter(page, f"{day.address}/deals?deals_kind=Deals")
    page.get_by_role("combobox", name="Show").click()
    page.get_by_role("option", name="Answered").click()
    settled(page)
    expect(page.locator("tbody tr")).to_have_count(1)
    page.locator("tbody tr").get_by_text(SOLD.name).click()
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_text("The buyer's answer")).to_be_visible()
    expect(drawer.get_by_text(re.compile(r"Price, USD CPM: .* → 1\.40"))).to_be_visible()
    settled(page)
    assert findings(page) == {theme: [] for theme in THEMES}
    drawer.get_by_role("button", name="Take over").click()
    expect(drawer.get_by_text("We accepted the proposal: 1.40 USD CPM")).to_be_visible()
    assert day.api.deals.get(DemandDeal, SOLD.id).price == Decimal("1.40")


def accept_with_script(day: Day, chromium: Browser, link: str) -> None:
    """From far away: a double click accepts once; a tab of before can't accept what has changed."""
    for theme in THEMES:
        with chromium.new_context(color_scheme=theme) as context:
            tab = context.new_page()
            tab.goto(link)
            tab.evaluate(AXE)
            result = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")
            assert [rule["id"] for rule in result["violations"]] == [], theme
    day.api.deals.change(DemandDeal, SOLD.id, {"price": Decimal("1.45")})
    with chromium.new_context() as context:
        tab, other = far_away(context), far_away(context)
        for opened in (tab, other):
            opened.goto(link)
            opened.get_by_label("Your name").fill("Robin Example")
        tab.get_by_role("button", name="Accept").dblclick()
        expect(tab.locator(".lead").filter(has_text="You accepted 1.45 USD CPM")).to_be_visible()
        day.api.deals.change(DemandDeal, SOLD.id, {"price": Decimal("9")})
        other.get_by_role("button", name="Accept").click()
        expect(other.get_by_role("alert")).to_contain_text("The offer has changed since you saw it")
    deal = day.api.deals.get(DemandDeal, SOLD.id)
    rounds = day.api.negotiations.latest()[deal.id or 0, (deal.seat and deal.seat.id) or 0]
    assert (rounds.act, rounds.terms.price) == ("accepts", Decimal("1.45"))
    [mine, *_] = [link for link in day.api.view_store.share_links.everything() if link.deal == SOLD.id]
    day.api.view_store.share_links.revoke(mine.id)
    with chromium.new_context() as context:
        tab = context.new_page()
        tab.goto(link)
        expect(tab.get_by_role("heading", name="This link does not work")).to_be_visible()
