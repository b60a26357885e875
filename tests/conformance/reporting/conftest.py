"""The service under test, its slicers, its people and their tokens: one data directory for all tests."""

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from conformance.conftest import Reach, Way
from conformance.reporting import hourly as hours
from conformance.reporting import others
from conformance.reporting.caller import Caller
from lib import connect
from lib.people import DealsGrant, Grant, People, Person
from lib.reporting.warehouse import Warehouse
from lib.settings import Settings

PROJECT = "shop"
SLICERS = {
    "hourly": (hours.DEFINITION, {"country": hours.COUNTRIES, "category": hours.CATEGORIES}, hours.table),
    "daily": (others.DAILY, {}, others.daily),
    "wide": (others.WIDE, {}, others.wide),
    "long": (others.LONG, {}, others.long),
    "many": (others.MANY, {}, others.many),
    "mixed": (others.MIXED, {}, others.mixed),
    "bare": (others.BARE, {}, others.bare),
    "growing": (others.DAILY, {}, others.daily),
    "secret": (others.DAILY, {}, others.daily),
}
Token = Callable[..., str]


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory: the slicers; and `ana`, who may see all of them but `secret`."""
    home = tmp_path_factory.mktemp("conformance")
    warehouse = Warehouse(home / "warehouse")
    for name, (definition, mappings, table) in SLICERS.items():
        with warehouse.writer(PROJECT, name, definition, mappings) as writer:
            writer.write(table())
            writer.commit("made by a test", "0")
    seen = tuple(Grant(PROJECT, name) for name in SLICERS if name != "secret")
    People(home / "people.yaml", rounds=4).add(
        Person("ana", "Ana", None, "viewer", seen, deals=DealsGrant("read")), "a password"
    )
    return home


@pytest.fixture(scope="session")
def installation(house: Path, way: Way) -> connect.Installation:
    """What a process opens over that directory."""
    return connect.installation(
        Settings(home=house, engine=way.engine, throttle_questions=10**6, deadline_seconds=300)
    )


@pytest.fixture(scope="session")
def issued(installation: connect.Installation) -> Token:
    """A token of ana's: for the reporting API and an hour, with all of her grants, unless told otherwise."""

    def issue(
        *grants: Grant, service: str = "reporting", lifetime: dt.timedelta = dt.timedelta(hours=1)
    ) -> str:
        return installation.access.issue("ana", service, "test", lifetime, grants)

    return issue


@pytest.fixture(scope="session")
def http(reach: Reach, installation: connect.Installation) -> Iterator[httpx.Client]:
    """A client of the service, over one transport and then over the next."""
    with reach(installation.api) as client:
        yield client


@pytest.fixture(scope="session")
def hourly(http: httpx.Client, issued: Token) -> Caller:
    """Asks about the slicer with every kind of field."""
    return Caller(http, issued(), "hourly")


@pytest.fixture(scope="session")
def daily(hourly: Caller) -> Caller:
    """Asks about the slicer that knows days only."""
    return hourly.about("daily")


@pytest.fixture(scope="session")
def wide(hourly: Caller) -> Caller:
    """Asks about the slicer whose splits have a million rows."""
    return hourly.about("wide")


@pytest.fixture(scope="session")
def many(hourly: Caller) -> Caller:
    """Asks about the slicer with more records than a sample takes."""
    return hourly.about("many")
