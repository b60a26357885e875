"""Share links in a browser: made in Link, opened by somebody without an account, with script and without."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from browser.conftest import PHONE, Visitor, enter, settled
from browser.test_accessible import THEMES

FIGURE = ".figure b"


@pytest.fixture
def link(address: str, page: Page) -> str:
    """A share link that an administrator makes of last week's figures of Germany."""
    enter(page, f"{address}/audience?project=demo&slicer=delivery&is.geo.country=DE", "Admin")
    settled(page)
    page.locator(".st-key-share button").first.click()
    page.get_by_role("textbox", name="Title").fill("Germany for the agency")
    page.get_by_role("button", name="Make a share link").click()
    expect(page.get_by_text("It is shown only now")).to_be_visible()
    return page.locator("code", has_text="/shared/").inner_text()


@pytest.fixture
def without_script(chromium: Browser) -> Iterator[BrowserContext]:
    """A browser that runs no script."""
    context = chromium.new_context(java_script_enabled=False)
    yield context
    context.close()


def test_a_link_opens_signed_out(link: str, visitor: Visitor) -> None:
    """Who has no account sees the figures; the chart says its values on hover, and tables sort by a click."""
    context = visitor()
    page = context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(link)
    expect(page.get_by_role("heading", name="Germany for the agency")).to_be_visible()
    expect(page.locator(FIGURE).first).to_be_visible()
    page.locator(".drawing.wide").hover()
    bucket, value = page.locator(".drawing.wide .tip b").all_inner_texts()[:2]
    row = page.locator("details tbody tr", has_text=bucket).first
    assert value in row.all_text_contents()[0]
    card = page.locator(".cards section", has_text="Campaign").first
    names = card.locator("tbody tr:not([class]) td:first-child")
    card.get_by_role("button", name="Name").click()
    texts = names.all_inner_texts()
    assert texts == sorted(texts)
    card.get_by_role("button", name="Name").click()
    assert names.all_inner_texts() == texts[::-1]
    assert requests == [link]
    assert context.cookies() == []


def test_a_link_needs_no_script(link: str, without_script: BrowserContext) -> None:
    """Without script there are the same figures, the chart, its values as a table, and the leaderboards."""
    page = without_script.new_page()
    page.goto(link)
    expect(page.locator(FIGURE).first).to_be_visible()
    expect(page.locator(".drawing.wide svg")).to_be_visible()
    page.get_by_text("Values of the chart").click()
    expect(page.locator("details table tbody tr")).to_have_count(7)
    expect(page.locator(".cards table").first).to_be_visible()


def test_a_link_prints(link: str, visitor: Visitor) -> None:
    """Printed in dark mode it is black on white; on neither paper is a row or figure cut at the side."""
    page = visitor().new_page()
    page.emulate_media(color_scheme="dark", media="print")
    page.set_viewport_size({"width": 720, "height": 1000})
    page.goto(link)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(page.get_by_text("Values of the chart")).to_be_hidden()
    for paper in ("A4", "Letter"):
        file = page.pdf(format=paper, print_background=True)
        assert file.startswith(b"%PDF")
        assert file.count(b"/Type /Page\n") <= 3


def test_a_link_is_accessible(link: str, visitor: Visitor) -> None:
    """Nothing scrolls sideways on a phone but tables, in light and dark."""
    page = visitor().new_page()
    page.set_viewport_size(PHONE)
    for scheme in THEMES:
        page.emulate_media(color_scheme=scheme)
        page.goto(link)
        expect(page.locator(".drawing.narrow svg")).to_be_visible()
        expect(page.locator(".drawing.wide")).to_be_hidden()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_link_is_revoked(address: str, link: str, page: Page, visitor: Visitor) -> None:
    """Access lists it with who made it; once revoked, the link says that it does not work."""
    opened = visitor().new_page()
    answer = opened.goto(link)
    assert answer is not None
    assert answer.status == 200
    page.goto(f"{address}/access")
    page.get_by_text("Share links").first.click()
    settled(page)
    box = page.locator("[data-testid=stDataFrame]").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 16, box["y"] + 52)
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("Revoked")).to_be_visible()
    closed = opened.goto(link)
    assert closed is not None
    assert closed.status == 404
    expect(opened.get_by_text("It may have ended or been revoked.")).to_be_visible()
