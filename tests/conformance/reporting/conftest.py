"""The service under test, its slicers, its people and their tokens: one data directory for all tests."""

import datetime as dt
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import httpx
import pyarrow as pa
import pytest
import sqlite_rows
from connected import CONNECTION, connected, publish, without_lists
from peopled import people_in

from conformance.conftest import DATABASES, WITHOUT_LISTS, Reach, Way
from conformance.reporting import hourly as hours
from conformance.reporting import others
from conformance.reporting.caller import Caller
from lib.engines import ENGINES, VARIABLE
from lib.engines.connected.backends import OPENERS, TITLES
from lib.people import DealsGrant, Grant, Person
from lib.serving import connect
from lib.serving.connect.opening import ConnectionChecks
from lib.settings import Settings
from lib.settings.local import Connection
from lib.slicers.definition import Definition
from lib.slicers.warehouse import Warehouse
from lib.wire.deadline import Deadline

PROJECT = "shop"
SLICERS = {
    "hourly": (hours.DEFINITION, {"country": hours.COUNTRIES, "category": hours.CATEGORIES}, hours.table),
    "daily": (others.DAILY, {}, others.daily),
    "wide": (others.WIDE, {}, others.wide),
    "long": (others.LONG, {}, others.long),
    "many": (others.MANY, {}, others.many),
    "mixed": (others.MIXED, {}, others.mixed),
    "money": (others.MONEY, {}, others.money),
    "bare": (others.BARE, {}, others.bare),
    "growing": (others.DAILY, {}, others.daily),
    "secret": (others.DAILY, {}, others.daily),
}
SEGMENTED = frozenset(
    field.name for definition, _, _ in SLICERS.values() for field in definition.key_fields if field.segmented
)
CHECKED = ("duckdb", "postgresql")
Token = Callable[..., str]
House = Callable[[str | None, str], Path]


@pytest.fixture(scope="session")
def houses(tmp_path_factory: pytest.TempPathFactory) -> House:
    """The data directory of a connection's URL (None: with rows of its own) and an engine, made once each.

    Installations are opened once per data directory, each with the engine of its first use.
    """

    @cache
    def house_of(url: str | None, engine: str) -> Path:
        home = tmp_path_factory.mktemp("conformance")
        warehouse = Warehouse(home / "warehouse")
        for name, (definition, mappings, table) in SLICERS.items():
            definition = without_lists(definition) if engine in WITHOUT_LISTS else definition
            names = {field.mapping for field in definition.key_fields} & mappings.keys()
            _add(warehouse, name, definition, {key: mappings[key] for key in names}, table(), url)
        add_people(home)
        return home

    return house_of


def _add(
    warehouse: Warehouse,
    name: str,
    definition: Definition,
    mappings: dict[str, dict[str, str]],
    rows: pa.Table,
    url: str | None,
) -> None:
    if url is not None:
        publish(hours.source() if name == "hourly" else rows, definition, url, name)
        warehouse.connect(PROJECT, name, connected(definition, name), mappings)
        return
    with warehouse.writer(PROJECT, name, definition, mappings) as writer:
        writer.write(rows)
        writer.commit("made by a test", "0")


def add_people(home: Path) -> None:
    """Add `ana`, who may see all slicers but `secret`."""
    seen = tuple(Grant(PROJECT, name) for name in SLICERS if name != "secret")
    people_in(home).add(Person("ana", "Ana", None, "viewer", seen, deals=DealsGrant("read")), "a password")


@pytest.fixture(scope="session")
def rows_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a folder for rows, of a DuckDB that adds up in one order; one for all files of tests."""
    return f"parquet://{tmp_path_factory.mktemp('rows')}?threads=1"


@pytest.fixture(scope="session")
def sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a file of SQLite, which can be opened meanwhile."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setitem(OPENERS, sqlite_rows.SCHEME, sqlite_rows.open_sqlite)
        monkeypatch.setitem(TITLES, sqlite_rows.SCHEME, sqlite_rows.TITLE)
        yield f"sqlite://{tmp_path_factory.mktemp('rows')}/rows.sqlite"


@pytest.fixture(scope="session")
def left_out(way: Way) -> frozenset[str]:
    """The key fields that the slicers of this engine are without."""
    return SEGMENTED if way.engine in WITHOUT_LISTS else frozenset()


@pytest.fixture(scope="session")
def url(way: Way, request: pytest.FixtureRequest) -> str | None:
    """Where the rows lie, of engines that ask a database."""
    return str(request.getfixturevalue(DATABASES[way.engine])) if way.engine in DATABASES else None


@pytest.fixture(scope="session")
def house(houses: House, url: str | None, way: Way) -> Path:
    """A data directory: the slicers; and `ana`, who may see all of them but `secret`."""
    return houses(url, way.engine)


@pytest.fixture(scope="session")
def installation(house: Path, way: Way, url: str | None) -> connect.Installation:
    """What a process opens over that directory."""
    # settings take the URLs of databases that the product opens
    connections = {} if url is None else {CONNECTION: Connection.model_construct(url=url)}
    settings = Settings(home=house, throttle_questions=10**6, deadline_seconds=300, connections=connections)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv(VARIABLE, way.engine if way.engine in ENGINES else "")
        return connect.installation(settings)


@pytest.fixture(scope="session")
def issued(installation: connect.Installation) -> Token:
    """A token of ana's: for the reporting API and an hour, with all of her grants, unless told otherwise."""

    def issue(
        *grants: Grant, service: str = "reporting", lifetime: dt.timedelta = dt.timedelta(hours=1)
    ) -> str:
        return installation.access.issue("ana", service, "test", lifetime, grants)

    return issue


@pytest.fixture(scope="session")
def http(way: Way, reach: Reach, installation: connect.Installation) -> Iterator[httpx.Client]:
    """A client of the service, over one transport and then over the next.

    Before each request to a connected slicer every check runs, as a readiness probe may at any time.
    """
    checks = ConnectionChecks(installation.settings, installation.warehouse, installation.reporting.connected)

    def check(request: httpx.Request) -> None:
        if way.engine in CHECKED:
            checks.all(Deadline(60))

    with reach(installation.api) as client:
        client.event_hooks["request"].append(check)
        yield client


@pytest.fixture(scope="session")
def hourly(http: httpx.Client, issued: Token, left_out: frozenset[str]) -> Caller:
    """Asks about the slicer with every kind of field."""
    return Caller(http, issued(), "hourly", left_out=left_out)


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
