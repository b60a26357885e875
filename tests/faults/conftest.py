"""A service in this process, reached over sockets by way of proxies, and desks that ask it through them."""

import datetime as dt
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from conftest import PASSWORD, PEOPLE, copied
from dealing import stock

from faults.behaviours import through
from faults.proxy import Proxy, proxying
from lib import connect
from lib.people import People
from lib.settings import Settings
from lib.wire import server

SLICERS = ("demo/delivery", "demo/sold")
SECONDS = {"answer_seconds": 1.0, "connect_seconds": 0.5}
Told = Callable[..., Settings]


@pytest.fixture(scope="session")
def service(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator["Service"]:
    """The service behind the proxies: reports, deals and tokens of a data directory of its own."""
    there = copied(home, tmp_path_factory.mktemp("faults") / "service")
    installation = connect.installation(stock(there))
    with serving(installation) as address:
        yield Service(installation, address)


class Service:
    """Where the service is, and what it has open."""

    def __init__(self, installation: connect.Installation, address: str) -> None:
        self.installation, self.address = installation, address

    def token(self, api: str) -> str:
        """A permanent token of the manager for `reporting` or `deals`."""
        settings, access = self.installation.settings, self.installation.access
        return access.issue("manager", settings.services[api], "the desk", dt.timedelta(hours=1))


@pytest.fixture
def reports(service: Service) -> Iterator[Proxy]:
    """What stands before the reporting service."""
    with proxying(service.address, through) as proxy:
        yield proxy


@pytest.fixture
def deals(service: Service) -> Iterator[Proxy]:
    """What stands before the deals service."""
    with proxying(service.address, through) as proxy:
        yield proxy


@pytest.fixture
def tokens(service: Service) -> Iterator[Proxy]:
    """What stands before the token service."""
    with proxying(service.address, through) as proxy:
        yield proxy


@pytest.fixture
def told(tmp_path: Path, service: Service, reports: Proxy, deals: Proxy) -> Told:
    """Settings of a desk in an empty home, with permanent tokens, whose services stand behind the proxies."""

    def settings(**more: object) -> Settings:
        usual = {
            "home": tmp_path / "desk",
            "demo": True,
            "base_url": reports.address,
            "curate_url": deals.address,
            "reporting_token": service.token("reporting"),
            "deals_token": service.token("deals"),
            "deals_mapping_confirmed": True,
            "slicers": SLICERS,
            **SECONDS,
        }
        return Settings(**(usual | more))

    return settings


@pytest.fixture
def temporary(tokens: Proxy) -> dict[str, object]:
    """Settings for tokens that are asked for with a name and a password."""
    asked = {"service_username": "manager", "service_password": PASSWORD, "auth_url": tokens.address}
    return asked | {"reporting_token": None, "deals_token": None}


def inhabited(settings: Settings) -> Settings:
    """The settings, with the people of the demo in their home."""
    settings.home.mkdir(parents=True, exist_ok=True)
    people = People(settings.people_file, rounds=4)
    for person in PEOPLE:
        people.add(person, PASSWORD)
    return settings


@contextmanager
def serving(installation: connect.Installation) -> Iterator[str]:
    """Its APIs on a free port, until the end of the block."""
    with server.listening("127.0.0.1", 0) as listener:
        config = uvicorn.Config(installation.api, log_level="critical", timeout_graceful_shutdown=1)
        running = uvicorn.Server(config)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            running.should_exit = True
            thread.join()
