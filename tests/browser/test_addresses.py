"""Addresses with letters of all kinds, in a browser: each opens the desk, also after a reload."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from conftest import copied
from playwright.sync_api import Page, expect

from browser.conftest import Serve, Visitor, enter, settled
from lib.reporting import links
from lib.serving import connect
from lib.serving.connect import Clients
from lib.settings import Settings

KOREAN = "한국"
LETTERS = f"é ß שלום 😀 a\u00a0b {KOREAN}"
PARAMS = {"is.geo.country": LETTERS}
LINK = links.address("", {"project": "demo", "slicer": "delivery", **PARAMS})
"""As a mail, an alert and "Copy link" have it."""
NO_TEXT = "%ff%E2%82%ed%a0%80"
SCREENS = ("", "export", "slicers", "deals", "lists", "new_package", "access")


@pytest.fixture(scope="module")
def settings(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The settings of a desk of one's own, whose administrator may make share links."""
    demo_settings = Settings(home=copied(home, tmp_path_factory.mktemp("addresses") / "home"), demo=True)
    connect.installation(demo_settings).access.change("admin", "test", shares=True)
    return demo_settings


@pytest.fixture(scope="module")
def desk(settings: Settings, serve: Serve) -> Iterator[str]:
    """The address of that desk."""
    with serve(settings.home) as address:
        yield address


@pytest.fixture
def clients(settings: Settings) -> Clients:
    """The clients of its administrator."""
    admin = connect.installation(settings).people.get("admin")
    assert admin is not None
    return connect.connect(admin, settings)


def reload(page: Page) -> None:
    """Load the page again: it is answered, and shows the desk."""
    answer = page.reload()
    assert answer is not None
    assert answer.status == 200
    expect(page.get_by_text("Data to")).to_be_visible()
    settled(page)


def test_a_filter_survives_a_reload(desk: str, page: Page) -> None:
    """A link to Audience shows its filter, with every letter, before and after a reload."""
    enter(page, f"{desk}{LINK}")
    expect(page.get_by_text(KOREAN).first).to_be_visible()
    reload(page)
    expect(page.get_by_text(KOREAN).first).to_be_visible()


@pytest.mark.parametrize("screen", SCREENS)
def test_every_screen_opens(desk: str, page: Page, screen: str) -> None:
    """Every screen opens with such values in its address, and with bytes that are no text."""
    enter(page, f"{desk}/{screen}?{LINK.partition('?')[2]}&deals_q={NO_TEXT}&{NO_TEXT}={NO_TEXT}")
    reload(page)


def test_bytes_that_are_no_text_are_ignored(desk: str, page: Page) -> None:
    """A link to Audience whose value is no text opens the desk, with what it says besides."""
    enter(page, f"{desk}/audience?project=demo&slicer=delivery&is.geo.country=DE&{NO_TEXT}={NO_TEXT}")
    expect(page.get_by_text("Germany").first).to_be_visible()
    reload(page)
    expect(page.get_by_text("Germany").first).to_be_visible()


def test_the_way_back_after_a_sign_in(desk: str, visitor: Visitor) -> None:
    """Who has to sign in first comes to the question of the link."""
    page = visitor().new_page()
    page.goto(f"{desk}{LINK}")
    page.get_by_role("button", name="Manager", exact=True).click()
    expect(page.get_by_text("Data to")).to_be_visible()
    expect(page.get_by_text(KOREAN).first).to_be_visible()


def test_a_view_as_start_page(desk: str, clients: Clients, visitor: Visitor) -> None:
    """A saved view with such a filter opens as start page, and stays after a reload."""
    view = clients.view_store.views.save("demo", "delivery", LETTERS, PARAMS)
    clients.view_store.start.set(view.id)
    page = visitor().new_page()
    page.goto(desk)
    page.get_by_role("button", name="Admin", exact=True).click()
    expect(page.get_by_text(KOREAN).first).to_be_visible()
    settled(page)
    reload(page)
    expect(page.get_by_text(KOREAN).first).to_be_visible()


def test_a_share_link(desk: str, clients: Clients) -> None:
    """A share link to such a question opens without a sign-in, whatever is added to its address."""
    _link, key = clients.view_store.share_links.make("demo", "delivery", LETTERS, PARAMS)
    for more in ("", f"?{NO_TEXT}", LINK.partition("audience")[2]):
        answer = httpx.get(f"{desk}/shared/{key}{more}", timeout=60)
        assert (answer.status_code, KOREAN in answer.text) == (200, True), more
