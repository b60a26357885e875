"""The tab "What moved" in a browser: the cause of the demo story is visible after one click."""

import datetime as dt
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

import pytest
from peopled import people_in
from playwright.sync_api import Locator, Page, expect

from browser.conftest import PHONE, Serve, Visitor, enter, settled, sideways
from lib.demo import build, stories
from lib.slicers.warehouse import Warehouse

PUBLISHER = "bid_context_wrapper.supply.publisher_id"
ROWS, HEIGHT = 300_000, 900
TODAY = dt.datetime.now(dt.UTC).date()
COLLAPSE = TODAY - dt.timedelta(days=stories.DAYS_BEFORE_END)
LINK = (
    f"audience?project=demo&slicer=delivery&field=win_rate&start={COLLAPSE}&end={COLLAPSE}&compare=weekdays"
)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, serve: Serve) -> Iterator[str]:
    """The address of a desk over a smaller demo that ends today."""
    home = tmp_path_factory.mktemp("demo-moved")
    (home / "tranche.toml").write_text("demo = true\n")
    build(Warehouse(home / "warehouse"), people_in(home), TODAY, rows=ROWS)
    with serve(home) as address:
        yield address


def ranked(page: Page) -> Locator:
    """The ranked values of all key fields."""
    return page.locator(".st-key-moved").get_by_role("grid", name="What moved Win rate")


def test_from_the_click_to_the_filter(desk: str, page: Page) -> None:
    """One key shows the publisher first, on the first screen; its row filters, and the tab stays in sight."""
    enter(page, f"{desk}/{LINK}")
    page.get_by_role("button", name="What moved").focus()
    page.keyboard.press("Enter")
    first = ranked(page).locator("tbody tr").first
    expect(first).to_contain_text("Blue Door News")
    settled(page)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0
    box = first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= HEIGHT
    first.get_by_role("button", name="Blue Door News", exact=True).click()
    page.wait_for_url(lambda url: f"is.{PUBLISHER}={stories.PUBLISHER}" in url)
    assert dict(parse_qsl(urlsplit(page.url).query))["lower"] == "moved"
    settled(page)
    page.get_by_role("button", name="Leaderboards").click()
    expect(ranked(page)).to_have_count(0)
    page.wait_for_url(lambda url: "lower" not in url)


def test_a_link_on_a_phone(desk: str, visitor: Visitor) -> None:
    """A link of before there were tabs shows it at 390 pixels, where the page does not scroll sideways."""
    page = visitor().new_page()
    page.set_viewport_size(PHONE)
    enter(page, f"{desk}/{LINK}&lower=moved")
    expect(ranked(page)).to_be_visible()
    assert sideways(page) == 0
