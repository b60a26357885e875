"""Text that is not ours, on the screens: it is shown as its characters, and loads, links and runs nothing."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from conftest import PASSWORD, started
from hostile import ANCHOR, IMAGE, LINK
from playwright.sync_api import Page, expect
from serving import free_port

from browser.conftest import Serve, settled, wait_for_cookie
from browser.hostile_texts import TEXTS

SCRIPT = Path(__file__).with_name("plain_script.py")
MARKUP = "a[href*=evil], a[href*=EVIL], img[src*=evil], .katex, svg a"
SCREENS = ("slicers", "audience", "export", "deals", "new_package", "access", "services")


def test_every_character_is_shown_as_itself(page: Page) -> None:
    """What went through `plain` is read and copied from every kind of widget, character by character."""
    port = free_port()
    options = ["--server.port", str(port), "--server.headless", "true", "--server.address", "127.0.0.1"]
    command = [sys.executable, "-m", "streamlit", "run", str(SCRIPT), *options]
    with started(command, Path(), PYTHONPATH=".") as address:
        page.goto(address)
        expect(page.locator(f".st-key-hostile-{len(TEXTS) - 1}").get_by_role("radiogroup")).to_be_visible()
        for number, text in enumerate(TEXTS):
            shown = page.locator(f".st-key-hostile-{number}")
            line = re.sub(r"[ \t\r\n\u2028]+", " ", text).strip()
            shown.evaluate("element => getSelection().selectAllChildren(element)")
            for copy in (shown.inner_text(), page.evaluate("getSelection().toString()")):
                assert {line.strip() for line in copy.splitlines() if line.strip()} == {line}
            assert shown.locator("a, img, svg, code, h1, li, table, em, strong, del, .katex").count() == 0


@pytest.fixture
def desk(hostile_home: Path, serve: Serve) -> Iterator[str]:
    """A desk over it."""
    with serve(hostile_home) as address:
        yield address


def test_hostile_names_are_text_on_every_screen(desk: str, page: Page) -> None:
    """Names in the URL, of fields, values, deals and people make no link, image or formula on any screen, the
    browser finds nothing that the content policy forbids, and asks nobody else."""
    violations: list[str] = []
    page.on(
        "console",
        lambda said: violations.append(said.text) if "Content Security Policy" in said.text else None,
    )
    page.on("pageerror", lambda error: violations.append(str(error)))
    page.goto(desk)
    page.get_by_role("textbox", name="Name").fill("eve")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_text("Data to")).to_be_visible()
    wait_for_cookie(page)
    asked = {"project": LINK, "slicer": "hostile", "split": IMAGE, "open": "supply_deals-1"}
    for screen in SCREENS:
        query = {"project": "demo", "slicer": "hostile"} if screen in ("slicers", "export") else asked
        page.goto(f"{desk}/{screen}?{urlencode(query)}")
        expect(page.locator(".st-key-person_menu")).to_be_visible()
        settled(page)
        locator = page.locator(MARKUP)
        assert locator.count() == 0, (screen, locator.first.evaluate("element => element.outerHTML"))
    for chart, split in (("bars", "geo.country"), ("heatmap", "geo.country~campaign_id")):
        page.goto(f"{desk}/audience?slicer=hostile&split={split}&chart={chart}")
        expect(page.locator(".js-plotly-plot").get_by_text(ANCHOR[:10]).first).to_be_visible()
        assert page.locator(MARKUP).count() == 0, chart
    page.goto(f"{desk}/docs")
    expect(page.locator(".opblock").first).to_be_visible()
    assert not violations
