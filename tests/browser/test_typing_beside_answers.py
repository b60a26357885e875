"""What is typed in a drawer or a dialog while answers of a slow reporting service come in beside it."""

import asyncio
import datetime as dt
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import desk_over
from dealing import clients
from peopled import people_in
from playwright.sync_api import Page, expect
from serving import serving
from starlette.types import Receive, Scope, Send

from browser.conftest import Visitor, enter
from lib.demo import build
from lib.demo.cast import PASSWORD, PEOPLE
from lib.demo.deals import seed
from lib.serving import connect
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse

TODAY, ROWS = dt.datetime.now(dt.UTC).date(), 20_000
MILLISECONDS_PER_KEY = 400


@pytest.fixture(scope="module")
def gate() -> threading.Event:
    """Questions are answered while it is set."""
    return threading.Event()


@pytest.fixture
def answering(gate: threading.Event) -> threading.Event:
    """Questions are answered from when it is set."""
    gate.clear()
    return gate


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, gate: threading.Event) -> Iterator[tuple[str, str]]:
    """A reporting service with the demo's slicers: its address, and a manager's token."""
    home = tmp_path_factory.mktemp("service")
    settings = Settings(home=home, demo=True, throttle_questions=10**6)
    build(Warehouse(settings.warehouse), people_in(settings.home), TODAY, ROWS)
    installation = connect.installation(settings)

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        while scope["type"] == "http" and scope["path"].endswith("/audience") and not gate.is_set():
            await asyncio.sleep(0.05)
        await installation.api(scope, receive, send)

    with serving(slow) as address:
        yield (
            address,
            installation.access.issue("manager", settings.reporting_service, "test", dt.timedelta(hours=1)),
        )
        gate.set()


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the people and deals of the demo, which no desk uses: each has a copy."""
    home = tmp_path_factory.mktemp("stocked")
    (home / "tranche.toml").write_text("demo = true\n")
    people = people_in(home)
    for person in PEOPLE:
        people.add(person, PASSWORD)
    seed(clients(Settings(home=home, demo=True)).deals, TODAY)
    return home


@pytest.fixture
def deals(
    tmp_path: Path, stocked: Path, service: tuple[str, str], answering: threading.Event, visitor: Visitor
) -> Iterator[Page]:
    """A tab with Deals, on a desk that asks that service, and has computed no health yet."""
    home, (address, token) = shutil.copytree(stocked, tmp_path / "desk"), service
    remote = {
        "TRANCHE_BASE_URL": address,
        "TRANCHE_SLICERS": "demo/curation",
        "TRANCHE_REPORTING_TOKEN": token,
    }
    with desk_over(home, **remote) as (desk, _):
        page = visitor().new_page()
        enter(page, f"{desk}/deals?deals_kind=Deals")
        yield page


def test_what_is_typed_while_health_arrives_is_kept(deals: Page, answering: threading.Event) -> None:
    """Keys typed in Edit all stay while the health of the deals comes in; it is drawn once Edit is closed."""
    checking = deals.get_by_text("Checking the health of the deals")
    expect(checking).to_be_visible()
    deals.get_by_role("grid", name="Deals").locator("tbody tr").first.focus()
    deals.keyboard.press("Space")
    deals.get_by_role("button", name="Edit 1").click()
    dialog = deals.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Start").click()
    deals.keyboard.type("2027-03-", delay=40)
    answering.set()
    deals.keyboard.type("01 09:00", delay=MILLISECONDS_PER_KEY)
    expect(dialog.get_by_role("textbox", name="Start")).to_have_value("2027-03-01 09:00")
    dialog.get_by_role("button", name="Close").click()
    expect(deals.get_by_role("gridcell", name="Delivers").first).to_be_visible()


def test_a_drawer_closed_as_health_arrives_stays_closed(deals: Page, answering: threading.Event) -> None:
    """The health came in behind a drawer: closing it leaves the list, with the health, and its address."""
    checking = deals.get_by_text("Checking the health of the deals")
    expect(checking).to_be_visible()
    deals.get_by_role("grid", name="Deals").locator("tbody tr").first.focus()
    deals.keyboard.press("Enter")
    expect(deals.get_by_role("dialog")).to_be_visible()
    answering.set()
    expect(checking).to_have_count(0)
    deals.keyboard.press("Escape")
    expect(deals.get_by_role("gridcell", name="Delivers").first).to_be_visible()
    expect(deals.get_by_role("dialog")).to_have_count(0)
    assert "open=" not in deals.url


def test_what_is_typed_while_prices_arrive_is_kept(deals: Page, answering: threading.Event) -> None:
    """Keys typed in a deal's name all stay while the prices of its seat come in above the field."""
    deals.goto(f"{deals.url.split('?')[0]}?open=demand_deals-14")
    dialog = deals.get_by_role("dialog")
    dialog.get_by_text("Change", exact=True).click()
    name = dialog.get_by_role("textbox", name="Name")
    expect(dialog.get_by_text("Computing what wins cost")).to_be_visible()
    expect(name).not_to_have_value("")
    before = name.input_value()
    name.press("End")
    deals.keyboard.type(" in the", delay=40)
    answering.set()
    deals.keyboard.type(" evening", delay=MILLISECONDS_PER_KEY)
    expect(dialog.get_by_text("Wins of this seat")).to_be_visible()
    expect(name).to_have_value(f"{before} in the evening")
