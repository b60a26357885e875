"""Accessibility of every screen: screen readers, contrast, and zoom.

One cold load per screen; axe-core (Deque) is asked in both themes.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import axe_playwright_python
import pytest
from dealing import Desk
from playwright.sync_api import Browser, ConsoleMessage, Page, Response, expect

from browser.conftest import PHONE, SCREEN, enter, new_context, settled, sideways

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text("utf-8")
SCREENS = {
    "slicers": "Slicers",
    "audience": "Audience",
    "export": "Export",
    "deals": "Deals",
    "new_package": "New package",
    "lists": "Lists",
    "access": "Access",
    "services": "Services",
}
OPENER = re.compile("^Open")
WITHOUT_PICKERS = ("lists", "services")
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
GROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 31)"}
ASKED = "project=demo&slicer=delivery"
LABELS = "all => all.map(one => one.getAttribute('aria-label') ?? one.textContent.trim())"
# How far what is drawn moves again, as a share of the window (https://web.dev/articles/cls).
SHIFTS = """
globalThis.shift = 0
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shift += entry.value
}).observe({ type: "layout-shift", buffered: true })
"""
MOST_SHIFT = 0.1  # what counts as good of cumulative layout shift (Core Web Vitals)
PICTURES = "all => all.filter(one => one.tagName === 'IMG').map(one => one.getAttribute('alt'))"


@pytest.fixture(scope="module")
def tab(selling: Desk, chromium: Browser) -> Iterator[Page]:
    """An administrator's tab: all screens are there, and something is on each."""
    with new_context(chromium) as context:
        page = context.new_page()
        page.add_init_script(SHIFTS)
        enter(page, f"{selling.address}/access?{ASKED}", "Admin")
        yield page


@pytest.fixture(params=SCREENS)
def screen(request: pytest.FixtureRequest) -> str:
    """The path of a screen."""
    path: str = request.param
    return path


def findings(page: Page) -> dict[str, list[str]]:
    """The findings of axe-core in each theme: rule, element, and message."""
    page.evaluate(AXE)
    by_theme = {}
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(
            "ground => getComputedStyle(document.querySelector('.stApp')).backgroundColor === ground",
            arg=GROUND[theme],
        )
        settled(page)
        result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        by_theme[theme] = [
            f"{rule['id']}: {node['html'][:200]} ({node['failureSummary']})"
            for rule in result["violations"]
            for node in rule["nodes"]
        ]
    return by_theme


def unformatted(cells: list[str]) -> list[str]:
    """Those cells that have more decimals than any field shows."""
    return [cell for cell in cells if cell.replace(".", "").isdigit() and len(cell.partition(".")[2]) > 4]


class Trouble:
    """What goes wrong in a tab unseen: answers that are errors, and what the browser's console says."""

    def __init__(self, page: Page) -> None:
        self.found: list[str] = []
        page.on("response", self._answered)
        page.on("console", self._logged)

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self.found.append(f"{response.status} {response.url}")

    def _logged(self, message: ConsoleMessage) -> None:
        if message.type in ("warning", "error"):
            self.found.append(message.text)


def test_every_screen(tab: Page, selling: Desk, screen: str) -> None:
    """Each screen is drawn in its place from the first frame, has one h1 and a title that name it, distinct
    names, nothing that axe-core finds, and doesn't scroll sideways on a phone."""
    trouble = Trouble(tab)
    tab.emulate_media(color_scheme="light")
    tab.goto(f"{selling.address}/{screen}?{ASKED}")
    expect(tab.get_by_text("Data to")).to_be_visible()
    settled(tab)
    assert trouble.found == [], "a cold deep link loads without an error or a warning"
    assert tab.evaluate("shift") < MOST_SHIFT
    expect(tab.locator("h1")).to_have_text([SCREENS[screen]])
    expect(tab).to_have_title(f"{SCREENS[screen]} · Tranche")
    assert None not in tab.get_by_role("img").evaluate_all(PICTURES)
    if screen not in WITHOUT_PICKERS:
        expect(tab.get_by_role("button", name=OPENER).first).to_be_attached()
    openers = [name for name in tab.get_by_role("button").evaluate_all(LABELS) if name.startswith("Open")]
    assert len(openers) == len(set(openers))
    assert unformatted(tab.get_by_role("gridcell").all_text_contents()) == []
    assert findings(tab) == {theme: [] for theme in THEMES}
    tab.set_viewport_size(PHONE)
    settled(tab)
    assert sideways(tab) == 0
    tab.set_viewport_size(SCREEN)


def test_a_pivot(tab: Page, selling: Desk) -> None:
    """A pivot with a key field across, whose columns can be widened, has nothing that axe-core finds."""
    split = "lower=split&split=campaign_id~geo.country&chart=pivot&cross=geo.country"
    tab.goto(f"{selling.address}/audience?{ASKED}&{split}")
    expect(tab.get_by_role("treegrid").get_by_role("columnheader", name="United States")).to_be_visible()
    settled(tab)
    assert findings(tab) == {theme: [] for theme in THEMES}


def test_sparklines_and_the_menu_more(tab: Page, selling: Desk) -> None:
    """A sparkline's alternative text has its values; axe-core finds nothing in the menu More."""
    tab.goto(f"{selling.address}/audience?{ASKED}")
    sparkline = tab.locator(".fig").get_by_role("img", name="Impressions by day, ")
    expect(sparkline).to_have_count(1)
    text = sparkline.get_attribute("aria-label") or ""
    assert len(text.partition(": ")[2].split(", ")) == 7
    tab.locator(".st-key-question_menu button").click()
    expect(tab.get_by_text("Metrics in the headline")).to_be_visible()
    settled(tab)
    assert findings(tab) == {theme: [] for theme in THEMES}


def test_the_sign_in(selling: Desk, page: Page) -> None:
    """The sign-in has one h1 and a title of its own, and axe-core finds nothing there."""
    trouble = Trouble(page)
    page.goto(f"{selling.address}/audience")
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    settled(page)
    assert trouble.found == []
    expect(page.locator("h1")).to_have_text(["Tranche"])
    expect(page).to_have_title("Sign in · Tranche")
    assert findings(page) == {theme: [] for theme in THEMES}
