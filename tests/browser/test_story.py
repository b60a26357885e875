"""The story of the README, step by step in a browser: from a drop on the chart to a repaired package."""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pytest
from dealing import clients
from documents import ROOT
from peopled import people_in
from playwright.sync_api import Browser, Locator, Page, expect

from browser.conftest import Serve, enter, pick, settled
from lib.deals.models import DemandDeal, SupplyPackage
from lib.demo import build, stories
from lib.demo import buyer as demo_buyer
from lib.demo.cast import DEALS, PACKAGES, PROJECT
from lib.demo.deals import UNSOLD, changed_price, date_back, seed
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.serving import connect
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse
from lib.wire.filters import Filter

SLICER = "curation"
NOW, BEFORE = ("-7d", "yesterday"), ("-14d", "-8d")
TODAY = dt.datetime.now(dt.UTC).date()
DEAL = next(deal for deal in DEALS if deal.id == stories.CHEAP_DEAL)
PACKAGE = next(one for one in PACKAGES if one is DEAL.package)
DOUBTED = next(deal for deal in DEALS if deal.id == stories.DOUBTED_DEAL)


@dataclass
class Followed:
    """The demo, and the emphasized words of the story as far as they were followed."""

    address: str
    api: connect.Clients
    words: list[str] = field(default_factory=list)

    def word(self, text: str) -> str:
        """This word of the story is followed next."""
        self.words.append(text)
        return text

    def asked(
        self, days: tuple[str, str], fields: tuple[str, ...], split: tuple[str, ...] = (), **only: str
    ) -> Audience:
        """What the API says about these days."""
        slicer = self.api.reporting.info(InfoQuery(project_name=PROJECT, slicer_name=SLICER))
        query = AudienceQuery(
            project_name=PROJECT,
            slicer_name=SLICER,
            start_date=days[0],
            end_date=days[1],
            data_fields=fields,
            split_by=split,
            filters=tuple(Filter(name=name, value=(value,), match="equals") for name, value in only.items()),
            precision=1,
        )
        return self.api.reporting.audience(query, slicer)

    def total(self, days: tuple[str, str], name: str, **only: str) -> float:
        """The total of a data field."""
        return self.asked(days, (name,), **only).total.values[name] or 0.0


@pytest.fixture
def story(tmp_path_factory: pytest.TempPathFactory, serve: Serve) -> Iterator[Followed]:
    """The demo as it ships, up to today, with its deals."""
    home: Path = tmp_path_factory.mktemp("demo-story")
    (home / "tranche.toml").write_text("demo = true\n")
    build(Warehouse(home / "warehouse"), people_in(home), TODAY)
    manager = clients(Settings(home=home, demo=True))
    started = dt.datetime.now(dt.UTC)
    seed(manager.deals, TODAY)
    date_back(connect.installation(Settings(home=home, demo=True)).access.store.engine, TODAY, started)
    demo_buyer.enter_counts(manager.reporting, manager.deals, manager.buyer_counts, TODAY, 1)
    demo_buyer.propose(manager.deals, manager.negotiations, manager.usual_terms, 1)
    with serve(home) as address:
        yield Followed(address, manager)


def told() -> list[str]:
    """The emphasized words of the story, in order."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.split("## Five minutes")[1].split("\n## ")[0]
    steps = " ".join(line.strip() for line in section.splitlines() if re.match(r"\d+\. |   ", line))
    return re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", steps)


def test_from_a_drop_to_a_repaired_package(story: Followed, page: Page, chromium: Browser) -> None:
    """Every step of the README's story works on the demo, in its words, with the figures of the API."""
    drop(story, page)
    cause(story, page)
    health(story, page)
    price(story, page)
    package(story, page)
    buyer(story, page, chromium)
    assert story.words == told()


def drop(story: Followed, page: Page) -> None:
    """The fall of the impressions is on the first screen."""
    enter(page, f"{story.address}/audience?project={PROJECT}&slicer=delivery")
    pick(page, "Slicer", story.word(SLICER))
    now, before = (story.total(days, "imps") for days in (NOW, BEFORE))
    metric = page.locator(".fig").first
    expect(metric).to_contain_text(f"Impressions{now:,.0f}")
    expect(metric).to_contain_text(f"{abs(100 * (now / before - 1)):.1f} %")
    assert 0.7 < now / before < 0.8


def cause(story: Followed, page: Page) -> None:
    """What moved has the deal among what fell most; its row leads to its drawer."""
    page.get_by_role("button", name=story.word("What moved")).click()
    row = (
        page.locator(".st-key-moved")
        .get_by_role("grid", name="What moved Impressions")
        .locator("tbody tr")
        .filter(has=page.get_by_role("button", name=DEAL.name, exact=True))
    )
    now, before = (story.total(days, "imps", deal=str(DEAL.id)) for days in (NOW, BEFORE))
    for figure in (now - before, before, now):
        expect(row).to_contain_text(f"{figure:,.0f}".replace("-", "−"))
    row.get_by_role("button", name=story.word(DEAL.name), exact=True).click()
    page.wait_for_url(lambda url: f"is.deal={DEAL.id}" in url)
    settled(page)
    page.get_by_role("link", name=story.word("Open deal")).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    settled(page)


def section(story: Followed, page: Page, name: str) -> Locator:
    """A section of the drawer."""
    page.get_by_role("dialog").get_by_role("radio", name=story.word(name)).click()
    settled(page)
    return page.get_by_role("dialog")


def health(story: Followed, page: Page) -> None:
    """The deal bids and wins nothing since its floor was raised."""
    drawer = section(story, page, "Delivery")
    said = "Floor raised"
    expect(drawer.get_by_text(said).first).to_be_visible()
    week = ("-7d", "yesterday")
    bids, imps = (story.total(week, name, deal=str(DEAL.id)) for name in ("bids", "imps"))
    funnel = drawer.get_by_role("table").first
    expect(funnel.get_by_role("row", name="Bids").get_by_role("cell").first).to_have_text(f"{bids:,.0f}")
    assert imps == 0


def price(story: Followed, page: Page) -> None:
    """The raise is in the history; the floor is lowered by what it lets through, saved and in the history."""
    drawer = section(story, page, "History")
    assert story.api.deals.get(DemandDeal, DEAL.id).price == changed_price(DEAL.id)
    drawer = section(story, page, "Change")
    floor = drawer.get_by_text("As a floor, your price lets through less than a quarter of these wins.")
    expect(floor).to_be_visible()
    typed = drawer.get_by_label("Price, USD CPM")
    typed.fill(story.word("1.35"))
    typed.press("Tab")
    expect(floor).to_have_count(0)
    settled(page)
    drawer.get_by_role("button", name=story.word("Save"), exact=True).click()
    expect(drawer.get_by_text("Saved", exact=True)).to_be_visible()
    assert story.api.deals.get(DemandDeal, DEAL.id).price == Decimal("1.35")
    section(story, page, "History")
    drawer.get_by_role("combobox", name="Evidence of a change").click()
    page.get_by_role("option").filter(has_text="→ 1.35").first.click()
    expect(drawer.get_by_text("There is evidence once the report has 4 complete days")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def package(story: Followed, page: Page) -> None:
    """The dead target of the deal's package is removed after a preview, and put back."""
    settled(page)
    page.get_by_role("radio", name=story.word("Packages")).click()
    settled(page)
    page.get_by_role("button", name=story.word("Dead targets")).click()
    dialog = page.get_by_role("dialog")
    row = dialog.locator("tbody tr").filter(has_text=story.word(PACKAGE.name))
    expect(row).to_contain_text(UNSOLD[PACKAGE.id])
    row.get_by_role("checkbox").click()
    dialog.get_by_role("button", name=story.word("Preview removal of 1")).click()
    dialog.get_by_role("button", name=story.word("Save 1 package")).click()
    expect(dialog.get_by_text("1 package saved.")).to_be_visible()
    assert UNSOLD[PACKAGE.id] not in sizes(story)
    dialog.get_by_role("button", name=story.word("Undo")).click()
    expect(dialog.get_by_text("1 package put back.")).to_be_visible()
    assert UNSOLD[PACKAGE.id] in sizes(story)


def buyer(story: Followed, page: Page, chromium: Browser) -> None:
    """Both sides read since when they differ; the buyer corrects a day, without account and script."""
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    settled(page)
    page.get_by_role("radio", name=story.word("Deals"), exact=True).click()
    settled(page)
    page.locator("tbody tr").filter(has_text=story.word(DOUBTED.name)).get_by_text(DOUBTED.name).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    settled(page)
    drawer = section(story, page, "Delivery")
    since = TODAY - dt.timedelta(days=stories.DOUBTED_DAYS)
    said = f"the buyer counts {fewer(story, since)} % fewer bid requests"
    for place in (drawer.get_by_role("listitem"), drawer.get_by_test_id("stAlertContentWarning")):
        expect(place.filter(has_text=said)).to_be_visible()
    drawer = section(story, page, "Facts")
    drawer.get_by_text(story.word("Share with buyer")).click()
    settled(page)
    drawer.get_by_role("button", name=story.word("Make a link for the buyer")).click()
    code = drawer.locator("code", has_text="/shared/")
    expect(code).to_be_visible()
    signed_out = chromium.new_context(java_script_enabled=False)
    theirs = signed_out.new_page()
    theirs.goto(code.inner_text())
    lead = theirs.locator(".lead").filter(has_text="you count").first
    count = f"you count {fewer(story, since)} % fewer bid requests than we sent."
    expect(lead).to_have_text(f"From {since.day} {since:%b %Y} on, {count}")
    last = TODAY - dt.timedelta(days=1)
    theirs.get_by_label(f"Bid requests, {last.day} {last:%b %Y}").fill("123456")
    theirs.get_by_role("button", name=story.word("Save the days")).click()
    expect(theirs.locator("td", has_text="123,456").first).to_be_attached()
    deal = story.api.deals.get(DemandDeal, DOUBTED.id)
    assert story.api.buyer_counts.of(deal).days[last].requests == 123_456
    answer(story, page, theirs)
    signed_out.close()


def answer(story: Followed, page: Page, theirs: Page) -> None:
    """The buyer proposes another price, which changes nothing until it is taken over; then they read so."""
    expect(theirs.get_by_text("proposed 1.48 USD CPM").first).to_be_visible()
    theirs.get_by_text(story.word("Propose other terms")).click()
    theirs.get_by_label("Your name").fill("Robin Example")
    theirs.get_by_label("Price, USD CPM").fill(story.word("1.55"))
    theirs.get_by_role("button", name=story.word("Propose"), exact=True).click()
    expect(theirs.locator(".lead").filter(has_text="You proposed 1.55 USD CPM")).to_be_visible()
    before = story.api.deals.get(DemandDeal, DOUBTED.id).price
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    settled(page)
    answered = story.word("Answered")
    page.get_by_placeholder(story.word("Show all")).click()
    page.get_by_role("option", name=answered).click()
    settled(page)
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(1)
    rows.get_by_text(DOUBTED.name).click()
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_text(f"Price, USD CPM: {before:.2f} → 1.55")).to_be_visible()
    settled(page)
    drawer.get_by_role("button", name=story.word("Take over")).click()
    expect(drawer.get_by_text("We accepted the proposal: 1.55 USD CPM")).to_be_visible()
    assert story.api.deals.get(DemandDeal, DOUBTED.id).price == Decimal("1.55")
    theirs.reload()
    expect(theirs.get_by_text("The seller accepted the proposal: 1.55 USD CPM")).to_be_visible()


def fewer(story: Followed, since: dt.date) -> str:
    """By how much the buyer's requests are fewer than ours from this day on, in whole percent."""
    days = story.api.buyer_counts.of(story.api.deals.get(DemandDeal, DOUBTED.id)).days
    theirs = sum(counts.requests or 0 for day, counts in days.items() if day >= since)
    ours = story.total((since.isoformat(), "yesterday"), "bid_requests", deal=str(DOUBTED.id))
    return f"{100 * (1 - theirs / ours):.0f}"


def sizes(story: Followed) -> set[str]:
    """The sizes that the package targets."""
    response = story.api.deals.get(SupplyPackage, PACKAGE.id)
    return {f"{targeting.width}x{targeting.height}" for targeting in response.size_targetings}
