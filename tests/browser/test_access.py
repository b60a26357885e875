"""Tokens and people in a browser; a token used by curl."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import copied
from playwright.sync_api import Page, expect

from browser.conftest import Serve, Visitor, enter, settled
from browser.distance import far_away
from browser.grids import cells, click, grid

CHECKBOX, NAME = 16.0, 60.0


@pytest.fixture(scope="module")
def address(home: Path, tmp_path_factory: pytest.TempPathFactory, serve: Serve) -> Iterator[str]:
    """A desk over a data directory of these tests; each test has persons and tokens of its own in it."""
    with serve(copied(home, tmp_path_factory.mktemp("access") / "home")) as address:
        yield address


def curl(*words: str) -> tuple[int, str]:
    """The HTTP code and the body that curl gets."""
    answer = subprocess.run(
        ["curl", "--silent", "--write-out", "\n%{http_code}", *words],
        capture_output=True,
        text=True,
        check=True,
    )
    body, _, code = answer.stdout.rpartition("\n")
    return int(code), body


def make_token(page: Page, name: str, service: str) -> str:
    """Create a token; its text as the dialog shows it."""
    page.get_by_role("combobox", name="Service").click()
    page.get_by_role("option", name=service).click()
    page.get_by_label("What it is for").fill(name)
    page.get_by_role("button", name="Create token").click()
    return page.get_by_role("dialog").get_by_test_id("stCode").first.inner_text().strip()


def test_a_token_from_making_to_revoking(address: str, page: Page) -> None:
    """A token is shown once, opens the API to curl, shows its last use, and opens nothing once revoked."""
    enter(page, f"{address}/access")
    text = make_token(page, "nightly", "Deals")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("dialog").get_by_test_id("stCode").first.hover()
    page.get_by_role("dialog").get_by_role("button", name="Copy to clipboard").first.click()
    assert page.evaluate("navigator.clipboard.readText()") == text
    page.get_by_role("button", name="I have copied it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert text not in page.content()
    call = ("--header", f"Authorization: Bearer {text}", f"{address}/api/supply_deals/")
    code, body = curl(*call)
    assert (code, json.loads(body)["results"]) == (200, [])

    page.reload()
    tokens = grid(page, "Access tokens")
    expect(cells(tokens, "nightly")).to_have_count(1)
    expect(cells(tokens, "never")).to_have_count(0)
    click(page, tokens, 0, CHECKBOX)
    page.get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("There are no active tokens")).to_be_visible()
    assert curl(*call)[0] == 401


def test_a_new_person(address: str, visitor: Visitor) -> None:
    """An administrator adds a person, who signs in and sees what they were granted; then they are removed."""
    page, theirs = visitor().new_page(), visitor().new_page()
    enter(page, f"{address}/access", "Admin")
    page.get_by_text("People", exact=True).click()
    page.get_by_role("button", name="Add a person").click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_role("textbox", name="User name").fill("nora")
    drawer.get_by_role("textbox", name="Name", exact=True).fill("Nora New")
    drawer.get_by_role("textbox", name="Password", exact=True).fill("long enough")
    grants = drawer.get_by_role("combobox", name="May see")
    grants.click()
    page.get_by_role("option", name="demo/curation").click()
    page.keyboard.press("Escape")
    drawer.get_by_role("button", name="Add", exact=True).click()
    expect(cells(grid(page, "People who may sign in"), "Nora New")).to_have_count(1)

    theirs.goto(address)
    theirs.get_by_label("Name").fill("nora")
    theirs.get_by_label("Password", exact=True).fill("long enough")
    theirs.get_by_label("Password", exact=True).press("Enter")
    expect(theirs.get_by_role("button", name="Nora New")).to_be_visible()
    expect(theirs.get_by_role("combobox", name="Slicer")).to_have_value("curation")

    settled(page)
    click(page, grid(page, "People who may sign in"), 2, NAME)
    page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
    page.get_by_role("button", name="Remove permanently").click()
    expect(cells(grid(page, "People who may sign in"), "Nora New")).to_have_count(0)
    theirs.get_by_role("link", name="Export").click()
    expect(theirs.get_by_role("button", name="Sign in")).to_be_visible()


def test_a_person_is_added_with_the_keyboard_far_away(address: str, page: Page) -> None:
    """The Tab key goes from field to field, 150 ms away: all that is typed arrives, and is judged at once."""
    with far_away(address) as distant:
        enter(page, f"{distant}/access", "Admin")
        page.get_by_text("People", exact=True).click()
        page.get_by_role("button", name="Add a person").click()
        drawer = page.get_by_role("dialog")
        drawer.get_by_role("textbox", name="User name").click()
        for text in ("cleo", "Cleo Carter", "bad mail", "long enough"):
            page.keyboard.type(text, delay=40)
            page.keyboard.press("Tab")
        drawer.get_by_role("button", name="Add", exact=True).click()
        expect(drawer.get_by_text("Not added. To fix: E-mail.")).to_be_visible()
        expect(drawer.get_by_role("textbox", name="Name", exact=True)).to_have_value("Cleo Carter")
        expect(drawer.get_by_label("Password", exact=True)).to_have_value("long enough")
        drawer.get_by_role("textbox", name="E-mail").fill("cleo@desk.example")
        drawer.get_by_role("button", name="Add", exact=True).click()
        expect(cells(grid(page, "People who may sign in"), "Cleo Carter")).to_have_count(1)


def test_a_new_password_far_away(own_home: Path, serve: Serve, page: Page) -> None:
    """Another person's new password revokes their tokens; for one's own, that is offered and can be left."""
    with serve(own_home) as address:
        change_passwords(address, page)


def change_passwords(address: str, page: Page) -> None:
    """What that test does at this desk, of which nobody else knows."""
    tokens = {name: temporary(address, name, "demo") for name in ("manager", "admin")}
    with far_away(address) as distant:
        enter(page, f"{distant}/access", "Admin")
        page.get_by_text("People", exact=True).click()
        set_password(page, "manager", "a longer word")
        expect(page.get_by_text("signed out, and the tokens revoked")).to_be_visible()
        assert [opens(address, tokens[name]) for name in ("manager", "admin")] == [401, 200]
        assert opens(address, temporary(address, "manager", "a longer word")) == 200
        set_password(page, "admin", "another long word", revokes=False)
        expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    assert opens(address, tokens["admin"]) == 200
    assert opens(address, temporary(address, "admin", "another long word")) == 200


def set_password(page: Page, username: str, password: str, revokes: bool = True) -> None:
    """A new password in the drawer of a person, typed at 40 ms a key; one click on the button at once."""
    page.get_by_role("searchbox", name="Search people").fill(username)
    people = grid(page, "People who may sign in")
    expect(people.locator("tbody tr")).to_have_count(1)
    expect(people.locator("tbody tr")).to_contain_text(username)
    settled(page)
    click(page, people, 0, NAME)
    drawer = page.get_by_role("dialog")
    if not revokes:
        drawer.get_by_text("Revoke my tokens too").click()
    drawer.get_by_role("textbox", name="New password").press_sequentially(password, delay=40)
    drawer.get_by_role("button", name="Set password").click()


def temporary(address: str, username: str, password: str) -> str:
    """A temporary token for the deals API, as a script gets one."""
    fields = {"grant_type": "password", "scope": "service_id=deals"}
    fields |= {"username": username, "password": password}
    words = [word for name, value in fields.items() for word in ("--data-urlencode", f"{name}={value}")]
    code, body = curl(*words, f"{address}/oauth2/token/")
    assert code == 200, body
    return str(json.loads(body)["access_token"])


def opens(address: str, token: str) -> int:
    """The HTTP code of the deals API for this token."""
    return curl("--header", f"Authorization: Bearer {token}", f"{address}/api/supply_deals/")[0]
