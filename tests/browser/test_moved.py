"""The block "What moved" in a browser: the cause of the demo story is visible after one click."""

import datetime as dt
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

import pytest
from peopled import people_in
from playwright.sync_api import Locator, Page, expect

from browser.conftest import Serve, Visitor, enter, settled
from lib.demo import build, stories
from lib.reporting.warehouse import Warehouse

PUBLISHER = "bid_context_wrapper.supply.publisher_id"
ROWS, HEIGHT = 300_000, 900
PHONE = {"width": 390, "height": 844}
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


def block(page: Page) -> Locator:
    """The block of what moved."""
    return page.locator(".st-key-moved")


def first_table(page: Page) -> Locator:
    """The values of the key field that explains best."""
    return block(page).get_by_role("grid", name="What moved Win rate, by Publisher")


def test_from_the_click_to_the_filter(desk: str, page: Page) -> None:
    """One key shows the publisher on the first screen; its row filters, and the link keeps the block open."""
    enter(page, f"{desk}/{LINK}")
    button = page.get_by_role("button", name="Show what moved")
    button.focus()
    page.keyboard.press("Enter")
    sentence = block(page).get_by_role("listitem").first
    expect(sentence).to_contain_text("Publisher: Blue Door News")
    value = first_table(page).get_by_role("button", name="Blue Door News", exact=True)
    expect(value).to_be_visible()
    settled(page)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0
    for shown in (sentence, value):
        box = shown.bounding_box()
        assert box is not None and box["y"] + box["height"] <= HEIGHT
    expect(page.get_by_role("heading", name="What moved")).to_be_visible()
    value.click()
    page.wait_for_url(lambda url: f"is.{PUBLISHER}={stories.PUBLISHER}" in url)
    assert dict(parse_qsl(urlsplit(page.url).query))["moved"] == "1"
    settled(page)
    page.get_by_role("button", name="Hide what moved").click()
    expect(block(page)).to_have_count(0)
    page.wait_for_url(lambda url: "moved" not in url)


def test_a_link_on_a_phone(desk: str, visitor: Visitor) -> None:
    """A link with the block open shows it at 390 pixels, where the page does not scroll sideways."""
    page = visitor().new_page()
    page.set_viewport_size(PHONE)
    enter(page, f"{desk}/{LINK}&moved=1")
    expect(first_table(page)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
