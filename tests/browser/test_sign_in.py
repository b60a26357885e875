"""Signing in and out, in a real browser."""

from pathlib import Path

import httpx
from playwright.sync_api import Page, expect

from browser.conftest import Serve, Visitor, at, session_cookie, settled, wait_for_cookie
from lib import database
from lib.people.tokens.audit import Audit

PASSWORD = "demo"

# A tab may notice by itself that nobody is signed in any more: then there is no such link.
CLICK_IF_THERE = "name => [...document.links].find((link) => link.textContent.includes(name))?.click()"


def sign_in(page: Page, name: str = "manager", password: str = PASSWORD) -> None:
    """Type name and password, and press Enter, once the page stands still: a form drawn again drops it."""
    expect(page.get_by_label("Name")).to_be_visible()
    settled(page)
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_label("Password", exact=True).press("Enter")


def expect_signed_in(page: Page) -> None:
    """The frame is there, which only somebody who is signed in sees."""
    expect(page.get_by_text("Data to")).to_be_visible()


def expect_signed_out(page: Page) -> None:
    """The sign-in is there, and nothing of the desk."""
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    expect(page.get_by_text("Data to")).not_to_be_visible()
    expect(page.get_by_role("link", name="Audience")).to_have_count(0)


def sign_out(page: Page) -> None:
    """Choose Sign out from the person's menu, which a run of the script would close."""
    settled(page)
    page.get_by_role("button", name="Max Manager").click()
    page.get_by_text("Sign out").click()


def test_cold_start(own_home: Path, serve: Serve, page: Page) -> None:
    """The very first visit to a fresh server, to a screen, leads to the sign-in.

    A fresh server might run the screen's file alone: what each of them shows then is in tests/test_desk.py.
    """
    with serve(own_home) as address:
        page.goto(f"{address}/export")
        expect_signed_out(page)
        assert "delivery" not in page.content()


def test_deep_link(address: str, page: Page) -> None:
    """A link to a screen and a slicer leads there after the sign-in."""
    page.goto(f"{address}/export?project=demo&slicer=delivery")
    sign_in(page)
    expect_signed_in(page)
    expect(page.get_by_role("combobox", name="Slicer")).to_have_value("delivery")
    page.wait_for_url(at("export", project="demo", slicer="delivery"))
    wait_for_cookie(page)  # it would come during the next test


def test_the_form_is_for_keyboards_and_password_managers(address: str, page: Page) -> None:
    """The fields say what they are for; after a refusal the name stays, the password goes, and the next is
    typed without a click."""
    page.goto(address)
    name, password = page.get_by_label("Name"), page.get_by_label("Password", exact=True)
    for field, purpose in ((name, "username"), (password, "current-password")):
        expect(field).to_have_attribute("autocomplete", purpose)
    settled(page)
    name.focus()
    page.keyboard.type("manager")
    page.keyboard.press("Tab")
    page.keyboard.type("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Incorrect name or password")).to_be_visible()
    expect(name).to_have_value("manager")
    expect(password).to_have_value("")
    expect(password).to_be_focused()
    expect(password).to_have_attribute("autocomplete", "current-password")
    settled(page)
    page.keyboard.type("demo")
    page.keyboard.press("Enter")
    expect_signed_in(page)
    wait_for_cookie(page)


def test_two_tabs_at_the_sign_in(address: str, visitor: Visitor) -> None:
    """A sign-in in one tab leaves another that shows the sign-in alone; the last one is the browser's."""
    context = visitor()
    first, second = context.new_page(), context.new_page()
    for tab in (first, second):
        tab.goto(address)
        expect_signed_out(tab)
    sign_in(first)
    expect_signed_in(first)
    wait_for_cookie(first)
    expect_signed_out(second)
    sign_in(second, "viewer")
    expect(second.get_by_role("button", name="Vera Viewer")).to_be_visible()
    settled(second)
    first.get_by_role("link", name="Export").click()
    expect(first.get_by_role("button", name="Max Manager")).to_be_visible()
    first.reload()
    expect(first.get_by_role("button", name="Vera Viewer")).to_be_visible()


def test_a_reload_right_after_the_sign_in(address: str, visitor: Visitor) -> None:
    """Who reloads as soon as the desk appears is still signed in."""
    page = visitor().new_page()
    page.goto(address)
    sign_in(page)
    page.get_by_text("Data to").wait_for(state="attached")
    page.reload()
    expect_signed_in(page)


def test_no_script_gets_the_session_cookie(address: str, visitor: Visitor) -> None:
    """The server sets it, closed to scripts and other sites, and its value passes through no WebSocket."""
    page, frames = visitor().new_page(), list[str | bytes]()
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(frame)))
    page.goto(address)
    sign_in(page)
    expect_signed_in(page)
    wait_for_cookie(page)
    cookie = session_cookie(page)
    assert cookie is not None
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["secure"]) == (True, "Strict", False)
    assert frames
    assert not [frame for frame in frames if cookie["value"].encode() in _bytes(frame)]


def test_the_log_has_the_address(address: str, home: Path, page: Page) -> None:
    """A refused sign-in, a sign-in and a sign-out in a browser are logged with where it is."""
    page.goto(address)
    sign_in(page, password="wrong")
    expect(page.get_by_text("Incorrect name or password")).to_be_visible()
    sign_in(page)
    expect_signed_in(page)
    sign_out(page)
    expect_signed_out(page)
    _, entries = Audit(database.engine(f"sqlite:///{home}/tranche.db")).entries(3)
    assert [(entry.event, entry.about, entry.address) for entry in entries] == [
        ("signed out", "manager", "127.0.0.1"),
        ("signed in", "manager", "127.0.0.1"),
        ("sign-in refused", "manager", "127.0.0.1"),
    ]


def _bytes(frame: str | bytes) -> bytes:
    return frame.encode() if isinstance(frame, str) else frame


def test_media_files_belong_to_who_sees_them(address: str, visitor: Visitor) -> None:
    """A download is for its browser and person: not without cookies, for others, or once signed out."""
    first, second = visitor().new_page(), visitor().new_page()
    for page, name in ((first, "manager"), (second, "viewer")):
        page.goto(f"{address}/export?project=demo&slicer=delivery")
        sign_in(page, name)
        expect_signed_in(page)
    settled(first)
    with first.expect_download() as download:
        first.get_by_role("button", name="Download as CSV").click()
    file = download.value.url
    assert "/media/" in file
    assert first.context.request.get(file).status == 200
    assert httpx.get(file).status_code == 404
    assert second.context.request.get(file).status == 404
    sign_out(first)
    expect_signed_out(first)
    assert first.context.request.get(file).status == 404


def test_sign_out(address: str, visitor: Visitor) -> None:
    """Signing out ends it in a second tab too, and for a copy of the cookie in another browser."""
    first = visitor().new_page()
    first.goto(address)
    sign_in(first)
    expect_signed_in(first)
    wait_for_cookie(first)
    second = first.context.new_page()
    second.goto(f"{address}/export")
    expect_signed_in(second)
    copied = first.context.cookies()

    sign_out(first)
    expect_signed_out(first)
    second.evaluate(CLICK_IF_THERE, "Audience")
    expect_signed_out(second)
    wait_for_cookie(first, there=False)
    first.reload()
    expect_signed_out(first)
    other = visitor()
    other.add_cookies(copied)
    thief = other.new_page()
    thief.goto(address)
    expect_signed_out(thief)


def test_nothing_is_left_in_the_tab(address: str, page: Page) -> None:
    """What was typed, asked and picked is gone after a sign-out, from the address too, when another person
    signs in."""
    page.goto(f"{address}/audience?project=demo&slicer=curation&split=campaign_id")
    sign_in(page)
    expect_signed_in(page)
    settled(page)
    page.get_by_role("link", name="New package").click()
    page.get_by_role("textbox", name="Name", exact=True).fill("A secret draft")
    page.get_by_role("textbox", name="Name", exact=True).press("Tab")
    sign_out(page)
    expect_signed_out(page)
    page.wait_for_url(lambda url: "?" not in url)
    sign_in(page, "admin")
    expect(page.get_by_role("button", name="Ada Admin")).to_be_visible()
    settled(page)
    page.get_by_role("link", name="New package").click()
    expect(page.get_by_role("textbox", name="Name", exact=True)).to_have_value("")


def test_an_open_page_makes_no_file_after_a_sign_out_elsewhere(address: str, page: Page) -> None:
    """A download that a tab still offers leads to the sign-in once that ended in another tab."""
    page.goto(f"{address}/export")
    sign_in(page)
    expect_signed_in(page)
    wait_for_cookie(page)
    settled(page)
    button = page.get_by_role("button", name="Download as CSV")
    with page.expect_download():
        button.click()
    settled(page)
    second = page.context.new_page()
    second.goto(f"{address}/export")
    sign_out(second)
    expect_signed_out(second)
    downloads: list[object] = []
    page.on("download", lambda download: downloads.append(download))
    button.click()
    expect_signed_out(page)
    assert downloads == []
