"""The desk under test: reached in this process and over a socket, and in this process on PostgreSQL too."""

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from conformance.transports import TRANSPORTS
from databases import new_database_of
from peopled import people_in

from deals.caller import Caller, World, world
from lib.deals.client import Deals
from lib.people import ALL_DEALS, DealsGrant, Person
from lib.serving import connect
from lib.settings import Settings
from lib.wire.call import Patience

PASSWORD = "a password"
PEOPLE = (
    Person("viewer", "Vera Viewer", None, "viewer", deals=DealsGrant("read")),
    Person("manager", "Max Manager", None, "manager", deals=ALL_DEALS),
    Person("admin", "Ada Admin", None, "admin"),
)
UNLIMITED = 10**9
OVER_A_SOCKET = ("test_codes", "test_entities", "test_oauth_clients", "test_reliability", "test_schemathesis")
Token = Callable[..., str]
OpenRow = Callable[..., connect.Installation]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Over a socket run the tests of verbs and codes, on SQLite; embedded run all, on each database."""
    sockets = [item for item in items if _params(item).get("http") == "socket"]
    left = {
        item
        for item in sockets
        if _params(item).get("new_database") == "postgresql" or item.path.stem not in OVER_A_SOCKET
    }
    config.hook.pytest_deselected(items=list(left))
    items[:] = [item for item in items if item not in left]


def _params(item: pytest.Item) -> dict[str, object]:
    return item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def new_database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], str]:
    """Makes the URL of a new database without rows: first all tests on SQLite, then all on PostgreSQL."""
    if request.param == "sqlite":
        return lambda: f"sqlite:///{tmp_path_factory.mktemp('database')}/tranche.db"
    server, tables = request.getfixturevalue("postgres_server"), request.getfixturevalue("postgres_tables")
    return lambda: new_database_of(server, tables)


def open_desk(home: Path, database_url: str, **settings: object) -> connect.Installation:
    """A desk with three people, without a throttle unless the settings say otherwise."""
    people = people_in(home, database_url)
    for person in PEOPLE:
        people.add(person, PASSWORD)
    usual: dict[str, object] = {"database_url": database_url, "deal_sync_origin": "ssp.example"}
    usual |= {"throttle_reads": UNLIMITED, "throttle_writes": UNLIMITED}
    return connect.installation(Settings(home=home, **usual | settings))


@pytest.fixture(scope="session")
def opened(new_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> OpenRow:
    """Opens a desk over a new database, with the settings given."""
    return lambda **settings: open_desk(tmp_path_factory.mktemp("desk"), new_database(), **settings)


@pytest.fixture(scope="session")
def desk(opened: OpenRow) -> connect.Installation:
    """The desk of all tests that don't need one of their own."""
    return opened()


def issue(desk: connect.Installation, username: str = "manager", service: str = "deals") -> str:
    """A token of this person for an hour."""
    return desk.access.issue(username, service, "test", dt.timedelta(hours=1))


@pytest.fixture(scope="session", params=TRANSPORTS)
def http(request: pytest.FixtureRequest, desk: connect.Installation) -> Iterator[httpx.Client]:
    """A client of that desk, over one transport and then over the other."""
    with TRANSPORTS[request.param](desk.api) as client:
        yield client


@pytest.fixture(scope="session")
def manager(http: httpx.Client, desk: connect.Installation) -> Caller:
    """A caller who may change deals."""
    return Caller(http, issue(desk))


@pytest.fixture(scope="session")
def admin(http: httpx.Client, desk: connect.Installation) -> Caller:
    """Another caller who may change deals."""
    return Caller(http, issue(desk, "admin"))


@pytest.fixture(scope="session")
def viewer(http: httpx.Client, desk: connect.Installation) -> Caller:
    """A caller who may only see deals."""
    return Caller(http, issue(desk, "viewer"))


@pytest.fixture(scope="session")
def there(manager: Caller) -> World:
    """Seats, DSPs and lists to refer to."""
    return world(manager)


@pytest.fixture(scope="session")
def client(http: httpx.Client, manager: Caller) -> Deals:
    """Our own client with the manager's token."""
    assert manager.token
    return Deals(http, manager.token, Patience(seconds=30))
