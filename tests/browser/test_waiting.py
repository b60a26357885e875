"""While a database works: the page says so and for how long, and Cancel ends it there."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from conftest import copied, desk_over
from databases import await_active, new_database_of
from playwright.sync_api import Page, expect

from browser.conftest import enter
from lib.engines.connected_slicers import ConnectedSlicers
from lib.slicers.definition import Definition
from lib.slicers.warehouse import Warehouse

DEFINITION = Definition.model_validate(
    {
        "time": {"column": "day"},
        "key_fields": [{"name": "country"}],
        "data_fields": [{"name": "bids"}],
        "source": {"connection": "slow", "table": "sales"},
    }
)
SECONDS = re.compile(r"for ([3-9]|\d\d) s so far")
ROWS = """
CREATE TABLE rows AS SELECT (current_date - n) AS day, 'c' || n % 5 AS country, 1.0 * n AS bids
  FROM generate_series(1, 60) n;
CREATE TABLE pause AS SELECT 0 AS seconds;
CREATE VIEW sales AS SELECT rows.* FROM rows WHERE (SELECT pg_sleep(seconds) FROM pause) IS NOT NULL;
"""


@pytest.fixture(scope="module")
def url(postgres_server: str) -> str:
    """A new database."""
    return new_database_of(postgres_server).replace("postgresql+psycopg://", "postgresql://")


@pytest.fixture(scope="module")
def database(url: str) -> Iterator[psycopg.Connection]:
    """A connection to it, with the slicer's table, which takes as long as the table `pause` says."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(ROWS)
        yield connection


@pytest.fixture(scope="module")
def desk(
    home: Path, tmp_path_factory: pytest.TempPathFactory, url: str, database: psycopg.Connection
) -> Iterator[str]:
    """The address of a desk with that slicer."""
    own = copied(home, tmp_path_factory.mktemp("waiting") / "home")
    over = ConnectedSlicers({"slow": url})
    Warehouse(own / "warehouse", over.current).connect("demo", "slow", DEFINITION)
    connections = json.dumps({"slow": {"url": url}})
    with desk_over(own, TRANCHE_CONNECTIONS=connections, TRANCHE_DEADLINE_SECONDS="15") as (address, _):
        yield address


@pytest.fixture
def tab(desk: str, page: Page) -> tuple[Page, str]:
    """A tab, signed in, and the address of the page of the slicer."""
    enter(page, f"{desk}/slicers?project=demo&slicer=slow", "Admin")
    return page, f"{desk}/audience?project=demo&slicer=slow&start=-30d&end=yesterday"


def test_waiting_speaks_and_can_be_cancelled(tab: tuple[Page, str], database: psycopg.Connection) -> None:
    """The page names the database and the seconds so far; after Cancel no statement runs there."""
    page, address = tab
    database.execute("UPDATE pause SET seconds = 600")
    page.goto(address)
    status = page.locator(".tranche-overview").get_by_role("status")
    expect(status).to_contain_text("PostgreSQL, live")
    expect(status).to_contain_text(SECONDS)
    await_active(database, "sales", True)
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".tranche-overview").get_by_role("alert")).to_contain_text("Cancelled")
    await_active(database, "sales", False)
    database.execute("UPDATE pause SET seconds = 0")
    page.locator(".tranche-overview").get_by_role("button", name="Try again").click()
    expect(page.locator(".fig-value").first).to_have_text("465")


@pytest.mark.parametrize(
    ("screen", "block", "params", "found"),
    [
        ("audience", "The split", "&lower=split&split=country", "c4"),
        ("audience", "What moved", "&lower=moved", " against "),
        ("export", "The preview", "&split=country", "Download as CSV"),
        ("new_package", "Past delivery", "", "Last 30 days"),
    ],
)
def test_every_wait_speaks(
    tab: tuple[Page, str], database: psycopg.Connection, screen: str, block: str, params: str, found: str
) -> None:
    """Every part of a screen says what which database computes; what is cancelled can be computed later."""
    page, address = tab
    database.execute("UPDATE pause SET seconds = 600")
    page.goto(address.replace("/audience", f"/{screen}") + params)
    name = block[0].lower() + block[1:]
    words = page.get_by_text(f"PostgreSQL, live: {name} is being computed")
    expect(words).to_contain_text(SECONDS)
    page.locator('[class*="st-key-cancel_"]').get_by_role("button", name="Cancel").click()
    compute = page.get_by_role("button", name="Compute", exact=True)
    expect(compute).to_be_visible()
    if screen != "audience":
        await_active(database, "sales", False)
    database.execute("UPDATE pause SET seconds = 0")
    compute.click()
    expect(page.get_by_text(found).first).to_be_visible()
    expect(compute).to_have_count(0)
