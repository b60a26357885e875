"""Text that is not ours, in what leaves the desk: snapshots, mails, and the pages of share links.

What is opened stands in a browser that notes every request and every element that such a text could make.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from dealing import clients, deal_link
from hostile import HOSTILE
from mail_server import page as letter_page
from playwright.sync_api import Page
from serving import serving
from starlette.responses import PlainTextResponse

from lib.deals.models import DemandDeal, Seat, SupplyPackage
from lib.serving import connect
from lib.serving.front.shared_route import PREFIX, SharedRoute
from lib.settings import Settings
from lib.share import LinkPages
from lib.share.documents.documents import Documents
from lib.share.mail.digest import Digest
from lib.share.mail.letter import message
from lib.share.snapshot.page import html
from lib.wire.policy import SecurityHeaders

MARKUP = "a[href*='evil.example'], img:not([src^='data:']):not([src^='cid:']), script[src], iframe, .katex"
WEEK = {"start": "-7d", "end": "yesterday"}


@pytest.fixture
def settings(hostile_home: Path) -> Settings:
    """The settings of a desk whose slicers, values and people have hostile names."""
    return sharing(hostile_home)


def sharing(home: Path) -> Settings:
    """The settings of this data directory, whose administrator may make share links."""
    settings = Settings(home=home, demo=True)
    connect.installation(settings).access.change("admin", "test", shares=True)
    return settings


@contextmanager
def shared_pages(settings: Settings) -> Iterator[str]:
    """The address where share links are answered."""
    pages = LinkPages(settings)
    route = SharedRoute(PlainTextResponse("The desk"), pages, a_minute=10**4, forms_a_minute=10**4)
    with serving(SecurityHeaders(route)) as address:
        yield f"{address}{PREFIX}"


def shows_text_alone(page: Page) -> None:
    """The names are there as text, and made no element of themselves."""
    assert "evil.example" in page.locator("body").inner_text()
    locator = page.locator(MARKUP)
    assert locator.count() == 0, locator.first.evaluate("element => element.outerHTML")


def test_a_snapshot(settings: Settings, page: Page, tmp_path: Path) -> None:
    """The file of a question shows hostile names of values, fields and its title as they are written."""
    person = connect.installation(settings).people.require("admin")
    snapshot = Documents(settings).of_question(person, ("demo", "hostile"), WEEK, HOSTILE)
    file = tmp_path / "snapshot.html"
    file.write_text(html(replace(snapshot, address="")))
    page.goto(file.as_uri())
    shows_text_alone(page)


def test_a_mail(settings: Settings, page: Page, tmp_path: Path) -> None:
    """The mail of a saved view does, its attachment too."""
    mine = clients(settings, "admin")
    view = mine.view_store.views.save("demo", "hostile", HOSTILE[:80], WEEK)
    person = connect.installation(settings).people.require("admin")
    letter = Digest(settings).of_view(view, view.params, person, mine, with_snapshot=True)
    sent = message(
        replace(letter, files=()), "desk@desk.example", "ada@reader.example", "https://d.example/s"
    )
    for number, text in enumerate((letter_page(sent), letter.files[0].content.decode())):
        file = tmp_path / f"mail{number}.html"
        file.write_text(text)
        page.goto(file.as_uri())
        shows_text_alone(page)


def test_a_share_link_to_a_question(settings: Settings, page: Page) -> None:
    """The page of a share link does."""
    links = clients(settings, "admin").view_store.share_links
    with shared_pages(settings) as address:
        page.goto(f"{address}{links.make('demo', 'hostile', HOSTILE[:80], WEEK)[1]}")
        shows_text_alone(page)


def test_a_share_link_to_a_deal(own_deals_home: Path, page: Page) -> None:
    """The page of a deal does, with the names of its package, its buyer and itself."""
    settings = sharing(own_deals_home)
    mine = clients(settings, "admin")
    for model in (SupplyPackage, DemandDeal, Seat):
        mine.deals.change(model, 1, {"name": HOSTILE})
    key = deal_link(mine, 1, HOSTILE[:80])
    with shared_pages(settings) as address:
        page.goto(f"{address}{key}")
        shows_text_alone(page)
