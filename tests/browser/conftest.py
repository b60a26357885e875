"""A real Chromium before a real server. Nothing that it loads may come from anywhere but this machine."""

import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

import pytest
from conftest import COUNTRIES, desk_over
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Cookie,
    Error,
    Page,
    Playwright,
    Request,
    expect,
    sync_playwright,
)
from standin.app import Standin

expect.set_options(timeout=30_000)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--js-flags=--no-enable-lazy-source-positions",  # otherwise functions are parsed twice
]
SYSTEM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
SCREEN, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
WAIT_MILLISECONDS, POLL_MILLISECONDS, STILL_LOOKS = 30_000, 25, 7
RUNS = Path(__file__).parent / "runs.js"
Serve = Callable[..., AbstractContextManager[str]]
Service = Literal["embedded", "standin"]
Visitor = Callable[[], BrowserContext]
SESSION_COOKIE = re.compile("tranche-[0-9a-f]{8}")
SIGNED_IN: dict[tuple[str, str], list[Any]] = {}


def pytest_itemcollected(item: pytest.Item) -> None:
    """A browser on a busy machine may miss its moment: each has two more tries, and the run tells of them."""
    if Path(__file__).parent in item.path.parents:
        item.add_marker(pytest.mark.flaky(reruns=2))


# Playwright's event loop runs in this thread until it is stopped: asyncio.run of later tests would fail.
@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """A Chromium: the system's (without windows, where it is there: half the work), else Playwright's own.

    Without either, these tests are skipped.
    """
    with sync_playwright() as playwright:
        browser = _launched(playwright)
        yield browser
        browser.close()


def _launched(playwright: Playwright) -> Browser:
    paths = next((path for name in SYSTEM_NAMES if (path := shutil.which(name))), None)
    try:
        return playwright.chromium.launch(executable_path=paths, args=ARGUMENTS)
    except Error as error:
        pytest.skip(f"NO BROWSER TESTS: no Chromium here that starts ({str(error).splitlines()[0]})")


@pytest.fixture(scope="session")
def serve() -> Serve:
    """Start the desk over a data directory, in a process of its own; gives its address.

    What else it is told of its settings stands in the environment.
    """

    @contextmanager
    def served(home: Path, **environment: str) -> Iterator[str]:
        with desk_over(home, **environment) as (address, _):
            yield address

    return served


@pytest.fixture(scope="session")
def service(request: pytest.FixtureRequest) -> Service:
    """Which reporting service the desk has: its own, or the stand-in, on the same rows."""
    parameter: Service = getattr(request, "param", "embedded")
    return parameter


@pytest.fixture(scope="session")
def address(home: Path, serve: Serve, service: Service, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a desk over the shared data directory, with that reporting service."""
    told: dict[str, str] = {}
    if service == "standin":
        standing: Standin = request.getfixturevalue("standing")
        told = {
            "TRANCHE_BASE_URL": standing.address,
            "TRANCHE_REPORTING_TOKEN": standing.state.token,
            "TRANCHE_SLICERS": "demo/curation,demo/delivery",
        }
    with serve(home, **told) as address:
        yield address


@pytest.fixture(scope="session")
def country(service: Service) -> Callable[[str], str]:
    """What a country is called on the screen: by its description, or where none is sent, by its code."""
    return lambda code: COUNTRIES[code] if service == "embedded" else code


@pytest.fixture(scope="package")
def everyday(chromium: Browser) -> BrowserContext:
    """The browser of the tests that need no fresh one: what it has loaded once it need not load again."""
    return new_context(chromium)


def new_context(chromium: Browser, **options: Any) -> BrowserContext:
    """A fresh browser, with no cookies and nothing loaded, in whose tabs `settled` can wait."""
    context = chromium.new_context(**{"viewport": SCREEN, "locale": "en-US"} | options)
    context.set_default_timeout(WAIT_MILLISECONDS)
    context.add_init_script(path=RUNS)
    return context


@contextmanager
def _nothing_elsewhere() -> Iterator[Callable[[Request], None]]:
    """Notes the requests that it is told of; at the end, none of them may have gone to another machine."""
    asked: list[str] = []
    yield lambda request: asked.append(request.url)
    elsewhere = {url for url in asked if urlsplit(url).hostname not in ("127.0.0.1", None)}
    assert not elsewhere, f"asked of other machines: {sorted(elsewhere)}"


@pytest.fixture
def visitor(chromium: Browser) -> Iterator[Visitor]:
    """A fresh browser, with no cookies and nothing loaded, per call."""
    with _nothing_elsewhere() as note, ExitStack() as opened:

        def fresh() -> BrowserContext:
            context = new_context(chromium)
            context.on("request", note)
            opened.callback(context.close)
            return context

        yield fresh


@pytest.fixture
def page(everyday: BrowserContext) -> Iterator[Page]:
    """One tab, in a browser that keeps no cookie, permission or stored value of an earlier test."""
    with _nothing_elsewhere() as note:
        everyday.on("request", note)
        tab = everyday.new_page()
        yield tab
        everyday.remove_listener("request", note)
        if tab.url.startswith("http"):
            tab.evaluate("localStorage.clear()")
        for opened in everyday.pages:
            opened.close()
        everyday.clear_cookies()
        everyday.clear_permissions()


def enter(page: Page, url: str, person: str = "Manager") -> None:
    """Open a screen as a demo person; wait until the browser has its cookie and the screen stands still.

    Who has been at this address before brings the cookie of then. Where that sign-in is over, or none
    was, the button of the sign-in page is pressed.
    """
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
    page.context.add_cookies(SIGNED_IN.get((origin, person), []))
    page.goto(url)
    inside, button = page.get_by_text("Data to"), page.get_by_role("button", name=person, exact=True)
    expect(inside.or_(button).first).to_be_visible()
    if not inside.is_visible():
        button.click()
    expect(inside).to_be_visible()
    wait_for_cookie(page)
    settled(page)
    cookies = page.context.cookies(origin)
    SIGNED_IN[origin, person] = [cookie for cookie in cookies if "last_slicer" not in cookie["name"]]


def pick(page: Page, label: str, option: str) -> None:
    """Pick from one of the frame's pickers, and wait until the screen stands still and the URL says so."""
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option, exact=True).click()
    page.wait_for_url(at(**{label.lower(): option}))
    settled(page)


def at(screen: str | None = None, **asked: str) -> Callable[[str], bool]:
    """A URL of this screen (any without one) that asks for this, whatever else it asks."""

    def matches(url: str) -> bool:
        parts = urlsplit(url)
        is_there = screen is None or parts.path == f"/{screen}"
        return is_there and asked.items() <= dict(parse_qsl(parts.query)).items()

    return matches


def settled(page: Page) -> None:
    """Wait until the page's script is found neither running nor asked to, some looks in a row.

    They are counted, and not timed: in a browser that is busy they take longer, as does what may yet begin.
    """
    page.wait_for_function(
        """([id, looks]) => {
            const runs = window.trancheRuns
            const isOver = document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]')
            if (runs.look !== id) Object.assign(runs, { look: id, still: 0 })
            runs.still = isOver && !runs.isAsked && !runs.isOn ? runs.still + 1 : 0
            return runs.still >= looks
        }""",
        arg=[time.monotonic(), STILL_LOOKS],
        polling=POLL_MILLISECONDS,
    )


def sideways(page: Page) -> int:
    """The pixels by which the page can be scrolled sideways: the desk scrolls within the document."""
    pixels: int = page.evaluate(
        """() => Math.max(...[document.documentElement, document.querySelector('[data-testid=stMain]')]
            .map(one => one.scrollWidth - one.clientWidth))"""
    )
    return pixels


def place(page: Page, selector: str) -> dict[str, float]:
    """Where an element stands once it is in view: its left (x), top (y), width and height.

    Looked up in one step, since the screen may draw it again at any moment.
    """
    handle = page.wait_for_function(
        """selector => {
            const element = document.querySelector(selector)
            element?.scrollIntoView({block: 'nearest'})
            const at = element?.getBoundingClientRect()
            return at?.width ? {x: at.x, y: at.y, width: at.width, height: at.height} : null
        }""",
        arg=selector,
    )
    box: dict[str, float] = handle.json_value()
    return box


def wait_for_cookie(page: Page, there: bool = True) -> None:
    """Wait until the browser has fetched the session cookie, or its deletion. No script can read it."""
    deadline = time.monotonic() + WAIT_MILLISECONDS / 1000
    while session_cookie(page) is None if there else session_cookie(page) is not None:
        assert time.monotonic() < deadline, "the cookie did not come" if there else "the cookie did not go"
        page.wait_for_timeout(50)
    assert "tranche-" not in page.evaluate("document.cookie")


def session_cookie(page: Page) -> Cookie | None:
    """The session cookie that the browser has, with its attributes."""
    cookies = page.context.cookies()
    return next((cookie for cookie in cookies if SESSION_COOKIE.fullmatch(cookie.get("name", ""))), None)
