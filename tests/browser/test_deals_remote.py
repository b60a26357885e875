"""Deals and New package in a browser, over a service that has the four calls of the specification alone."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import copied
from playwright.sync_api import Page, expect
from serving import serving
from standin.book import SETTINGS, Book
from standin.deals import deals
from standin.state import TOKEN, State

from browser.conftest import Serve, enter, settled
from browser.test_deals import row
from browser.test_new_package import choose, name, target, type_price

SEATS = [
    {"id": 71, "name": "Alder Trading", "dsp_id": 8, "dsp": "Alder DSP", "deal_sync": True},
    {"id": 72, "name": "Birch Media", "dsp_id": 9, "dsp": "Birch DSP"},
]


class Remote:
    """A data directory whose deals are those of a stand-in, and what the stand-in has."""

    def __init__(self, home: Path, address: str, book: Book) -> None:
        self.home, self.address, self.book = home, address, book
        self.set_up(is_confirmed=True)

    def set_up(self, is_confirmed: bool) -> None:
        """Write the settings of an administrator who has confirmed how the service writes, or has not."""
        tables = {f"targeting_names.{name}": names for name, names in SETTINGS["targeting_names"].items()}
        tables["fee_types"] = SETTINGS["fee_types"]
        lines = [
            "demo = true",
            f"curate_url = {json.dumps(self.address)}",
            f"deals_token = {json.dumps(TOKEN)}",
            f"deals_mapping_confirmed = {json.dumps(is_confirmed)}",
            f"seats = [{', '.join(map(_inline, SEATS))}]",
        ]
        for title, table in tables.items():
            lines += [f"[{title}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
        file = self.home / "tranche.toml"
        file.write_text("\n".join(lines))
        file.chmod(0o600)


def _inline(table: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{key} = {json.dumps(value)}" for key, value in table.items()) + "}"


@pytest.fixture
def remote(home: Path, tmp_path: Path) -> Iterator[Remote]:
    """A desk's data directory, and the stand-in that it asks for deals."""
    state = State({}, deals=Book())
    with serving(deals(state)) as address:
        yield Remote(copied(home, tmp_path / "home"), address, state.deals)


@contextmanager
def visited(serve: Serve, page: Page, remote: Remote, screen: str) -> Iterator[Page]:
    """A screen of a desk that is started for it, as the manager sees it."""
    with serve(remote.home) as address:
        enter(page, f"{address}/{screen}")
        yield page
        page.evaluate("window.onbeforeunload = null")
        page.goto("about:blank")


def listed(page: Page, *names: str) -> None:
    """Wait until the list has these names."""
    for one in names:
        expect(row(page, one)).to_have_count(1)


def test_a_package_from_the_form_to_a_changed_deal(serve: Serve, page: Page, remote: Remote) -> None:
    """Two seats of the settings and a targeting; the list has all of it, also after a restart of the desk."""
    with visited(serve, page, remote, "new_package"):
        name(page, "Autumn Evenings")
        target(page, "Country", "Only", "US")
        choose(page, "Seats", "Alder", "Birch")
        type_price(page, "Alder Trading", "2.5")
        type_price(page, "Birch Media", "3")
        page.get_by_role("button", name="Create package").dblclick()
        expect(page.get_by_text("is created as package")).to_be_visible()
        [package] = remote.book.packages.values()
        assert package["geo_targetings"] == [{"geo": {"kind": "COUNTRY", "code": "US"}, "exclude": 0}]
        page.get_by_role("link", name="Open in Deals").click()
        drawer = page.get_by_role("dialog")
        expect(drawer.get_by_text("As last known on")).to_be_visible()
        expect(drawer.get_by_text("This service can't change or delete a supply package")).to_be_visible()
        expect(drawer.get_by_text("Change", exact=True)).to_have_count(0)
    with visited(serve, page, remote, "deals?deals_kind=Packages"):
        expect(page.get_by_text("Created or opened in Tranche; this service has no list")).to_be_visible()
        expect(row(page, "Autumn Evenings", "Packages")).to_have_count(1)
        page.get_by_test_id("stButtonGroup").get_by_text("Deals").click()
        listed(page, "Autumn Evenings - Alder Trading", "Autumn Evenings - Birch Media")
        row(page, "Autumn Evenings - Alder Trading").click()
        drawer = page.get_by_role("dialog")
        drawer.get_by_text("Change", exact=True).click()
        settled(page)
        page.get_by_role("textbox", name="Price").fill("4.25")
        page.get_by_role("textbox", name="Price").press("Enter")
        settled(page)
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Saved", exact=True)).to_be_visible()
        assert {deal["price"] for deal in remote.book.deals.values()} == {"4.25", "3.00"}
        assert [body for method, _, body in remote.book.asked if method == "PUT"] == [{"price": 4.25}]
        drawer.get_by_text("History", exact=True).click()
        expect(page.get_by_text("Price, USD CPM: 2.50 → 4.25").first).to_be_attached()


def test_a_deal_by_its_id(serve: Serve, page: Page, remote: Remote) -> None:
    """A deal that was made elsewhere is opened by its id, with what only the service knows about it."""
    deal = remote.book.add(99, "1.10", agency_curation_fee="5", agency_curation_fee_type=7)
    with visited(serve, page, remote, "deals"):
        for number, seen in ((4711, "The service has no deal 4711"), (deal, f"Elsewhere {deal}")):
            opener = page.get_by_role("button", name="Add a deal by id")
            if not page.get_by_label("Deal id").is_visible():
                opener.click()
            page.get_by_label("Deal id").fill(str(number))
            page.get_by_label("Deal id").press("Enter")
            settled(page)
            page.get_by_role("button", name="Open deal").click()
            expect(page.get_by_text(seen).first).to_be_visible()
        drawer = page.get_by_role("dialog")
        expect(drawer.get_by_text("5.00 type 7 of the service")).to_be_visible()
        drawer.get_by_text("Other fields (3)").click()
        expect(drawer.get_by_text('"currency": "EUR"')).to_be_visible()
        drawer.get_by_role("button", name="Close").click()
        page.get_by_test_id("stButtonGroup").get_by_text("Deals").click()
        listed(page, f"Elsewhere {deal}")


def test_an_unconfirmed_mapping_is_read_only(serve: Serve, page: Page, remote: Remote) -> None:
    """Deals can be looked at; nothing can be changed or set up, and the reason stands on top."""
    deal = remote.book.add(71, "1.10")
    remote.set_up(is_confirmed=False)
    with visited(serve, page, remote, f"deals?open=demand_deals-{deal}"):
        drawer = page.get_by_role("dialog")
        expect(drawer.get_by_text("Deals are read-only until an administrator")).to_be_visible()
        expect(drawer.get_by_text("1.10")).to_be_visible()
        for offered in ("Change", "Pause", "Clone", "Delete"):
            expect(drawer.get_by_text(offered, exact=True)).to_have_count(0)
        drawer.get_by_role("button", name="Close").click()
        page.get_by_role("link", name="New package").click()
        expect(page.get_by_text("Deals are read-only until an administrator")).to_be_visible()
        expect(page.get_by_role("textbox", name="Name", exact=True)).to_be_disabled()
        expect(page.get_by_role("button", name="Create package")).to_be_disabled()
    assert {method for method, _, _ in remote.book.asked} == {"GET"}


def test_a_creation_of_which_nobody_knows(serve: Serve, page: Page, remote: Remote) -> None:
    """After an answer that says nothing, the form asks to look first, and creates no second package."""
    remote.book.garbles = 1
    with visited(serve, page, remote, "new_package"):
        name(page, "Once")
        page.get_by_text("None yet", exact=True).click()
        settled(page)
        create = page.get_by_role("button", name="Create package")
        create.dblclick()
        expect(page.get_by_text("It may have been created")).to_be_visible()
        expect(create).to_be_disabled()
        assert len(remote.book.packages) == 1
        page.get_by_text("It was not created: retry").click()
        expect(create).to_be_enabled()
        create.click()
        expect(page.get_by_text("is created as package")).to_be_visible()
    assert len(remote.book.packages) == 2
