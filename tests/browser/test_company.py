"""The company sign-in, in a real browser before a real desk and a real provider."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import copied
from peopled import people_in
from playwright.sync_api import Page, expect
from provider import Provider, toml_of
from serving import serving

from browser.conftest import Serve, at, wait_for_cookie

BUTTON = "Sign in with Example Corp"
ACCOUNTS = {
    "b-2": {"email": "bea@corp.example", "name": "Bea Buyer", "groups": ["staff", "traders"]},
    "c-3": {"email": "cem@corp.example", "name": "Cem Curious", "groups": ["staff"]},
}


@pytest.fixture(scope="module")
def provider() -> Provider:
    """The provider, with somebody whom a rule lets in and somebody without a rule."""
    return Provider(ACCOUNTS)


@pytest.fixture(scope="module")
def own(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory of one's own."""
    return copied(home, tmp_path_factory.mktemp("company") / "home")


@pytest.fixture(scope="module")
def desk(own: Path, provider: Provider, serve: Serve) -> Iterator[str]:
    """The address of a desk with that company sign-in."""
    with serving(provider.app()) as issuer:
        (own / "tranche.toml").write_text(toml_of(issuer, "traders viewer demo/delivery none"))
        (own / "tranche.toml").chmod(0o600)
        with serve(own) as address:
            yield address


def sign_in(page: Page, account: str) -> None:
    """Click the company's button, then the account at the provider."""
    page.get_by_role("button", name=BUTTON).click()
    page.get_by_role("link", name=f"Continue as {account}").click()


def test_in_and_out(desk: str, own: Path, provider: Provider, page: Page) -> None:
    """Who comes from the company sees what their rule grants, on the page where they began, also after a
    reload; blocked, they are out; a sign-out ends the provider's session, and the browser keeps nothing.
    """
    page.goto(f"{desk}/export?project=demo&slicer=delivery")
    sign_in(page, "b-2")
    expect(page.get_by_role("button", name="Bea Buyer")).to_be_visible()
    page.wait_for_url(at("export", project="demo", slicer="delivery"))
    expect(page.get_by_role("link", name="Deals")).to_have_count(0)
    wait_for_cookie(page)
    page.reload()
    expect(page.get_by_role("button", name="Bea Buyer")).to_be_visible()

    people = people_in(own)
    people.block("bea@corp.example", is_blocked=True)
    page.get_by_role("link", name="Audience").click()
    expect(page.get_by_role("button", name=BUTTON)).to_be_visible()
    expect(page.get_by_text("Data to")).not_to_be_visible()

    people.block("bea@corp.example", is_blocked=False)
    sign_in(page, "b-2")
    page.get_by_role("button", name="Bea Buyer").click()
    page.get_by_text("Sign out").click()
    expect(page.get_by_role("button", name=BUTTON)).to_be_visible()
    page.wait_for_url(f"{desk}/")
    assert provider.sign_outs[-1]["id_token_hint"]
    wait_for_cookie(page, there=False)
    left = {cookie["name"] for cookie in page.context.cookies() if not cookie["name"].endswith("-browser")}
    assert left <= {"_streamlit_xsrf", "last_slicer"}  # neither opens anything


def test_without_a_rule(desk: str, page: Page) -> None:
    """Who has no rule gets a sentence and a way out of the company account, and then may try as another."""
    page.goto(desk)
    sign_in(page, "c-3")
    expect(page.get_by_text("no rule of this desk gives your account access")).to_be_visible()
    page.get_by_role("button", name="Sign out of the company account").click()
    expect(page.get_by_text("no rule of this desk")).not_to_be_visible()
    sign_in(page, "b-2")
    expect(page.get_by_role("button", name="Bea Buyer")).to_be_visible()
