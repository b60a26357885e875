"""A service in this process, reached over sockets by way of proxies, and desks that ask it through them."""

import datetime as dt
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from conftest import PASSWORD, PEOPLE, copied
from dealing import stock
from file_settings import setting
from peopled import people_in
from pydantic import SecretStr
from serving import serving
from streamlit.testing.v1 import AppTest

from faults import behaviors as do
from faults.proxy import Proxy, proxying
from lib.serving import connect
from lib.settings import SECTIONS, SETTINGS, Settings
from lib.wire.breaker import Breaker

SCRIPT = Path(__file__).parents[2] / "lib" / "desk.py"
SECRETS = ("reporting_token", "deals_token")
ADDRESSES = ("base_url", "curate_url", "auth_url")
SLICERS = ("demo/delivery", "demo/sold")
CONNECT_SECONDS = 2.0
PATIENCE, LITTLE_PATIENCE = 4.5, 2.0
UNANSWERED = (do.silent, do.dripping, do.dripping_head)
SyncState = Callable[..., Settings]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Where little patience is needed, a busy machine may keep an honest answer too long: one more try."""
    if Path(__file__).parent in item.path.parents and _goes_unanswered(item):
        item.add_marker(pytest.mark.flaky(reruns=1))


def _goes_unanswered(item: pytest.Item) -> bool:
    asked = getattr(item, "callspec", None)
    params = asked.params if asked is not None else {}
    return getattr(params.get("fault"), "behavior", params.get("behavior")) in UNANSWERED


@pytest.fixture(scope="session")
def service(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator["Service"]:
    """The service behind the proxies: reports, deals and tokens of a data directory of its own."""
    there = copied(home, tmp_path_factory.mktemp("faults") / "service")
    installation = connect.installation(stock(there))
    with serving(installation.api) as address:
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
    with proxying(service.address, do.through) as proxy:
        yield proxy


@pytest.fixture
def deals(service: Service) -> Iterator[Proxy]:
    """What stands before the deals service."""
    with proxying(service.address, do.through) as proxy:
        yield proxy


@pytest.fixture
def tokens(service: Service) -> Iterator[Proxy]:
    """What stands before the token service."""
    with proxying(service.address, do.through) as proxy:
        yield proxy


@pytest.fixture
def patience(request: pytest.FixtureRequest) -> float:
    """The seconds for an answer: few where the test is about none at all, else enough for a busy machine."""
    return LITTLE_PATIENCE if _goes_unanswered(request.node) else PATIENCE


@pytest.fixture
def told(tmp_path: Path, service: Service, reports: Proxy, deals: Proxy, patience: float) -> SyncState:
    """Settings of a desk in an empty home, with permanent tokens, whose services stand behind the proxies."""
    return partial(behind, tmp_path / "desk", service, reports, deals, patience)


def behind(
    home: Path, service: Service, reports: Proxy, deals: Proxy, patience: float, **more: object
) -> Settings:
    """Settings of a desk whose services stand behind these proxies."""
    usual = {
        "home": home,
        "demo": True,
        "base_url": reports.address,
        "curate_url": deals.address,
        "reporting_token": service.token("reporting"),
        "deals_token": service.token("deals"),
        "deals_mapping_confirmed": True,
        "slicers": SLICERS,
        "answer_seconds": patience,
        "connect_seconds": CONNECT_SECONDS,
    }
    return Settings(**(usual | more))


@pytest.fixture
def temporary(tokens: Proxy) -> dict[str, object]:
    """Settings for tokens that are asked for with a name and a password."""
    asked = {"service_username": "manager", "service_password": PASSWORD, "auth_url": tokens.address}
    return asked | {"reporting_token": None, "deals_token": None}


def inhabited(settings: Settings) -> Settings:
    """The settings, with the people of the demo in their home."""
    settings.home.mkdir(parents=True, exist_ok=True)
    people = people_in(settings.home)
    for person in PEOPLE:
        people.add(person, PASSWORD)
    write(settings)
    return settings


@pytest.fixture
def desk(told: SyncState, monkeypatch: pytest.MonkeyPatch) -> "Desk":
    """A desk over the services behind the proxies."""
    return Desk(told, monkeypatch)


class Desk:
    """A desk, as its people see it, without a browser."""

    def __init__(self, told: SyncState, monkeypatch: pytest.MonkeyPatch) -> None:
        self._told, self._monkeypatch = told, monkeypatch
        self.settings = inhabited(told())
        monkeypatch.setenv("TRANCHE_HOME", str(self.settings.home))

    def visit(self, screen: str, person: str = "manager", **params: str) -> AppTest:
        """A screen as a demo person sees it who comes now, with these URL parameters."""
        visit = AppTest.from_file(str(SCRIPT), default_timeout=60)
        visit.query_params["slicer"] = "sold"
        visit.run()
        visit.button(key=f"demo_{person}").click().run()
        return self.open(visit, screen, **params)

    def open(self, visit: AppTest, screen: str, **params: str) -> AppTest:
        """The same visitor on this screen."""
        visit.switch_page(f"../pages/{screen}.py")
        for name, value in params.items():
            visit.query_params[name] = value
        return self.run(visit)

    def run(self, visit: AppTest) -> AppTest:
        """Another run, once it is sure that it did not break, nor tell what is not for everybody."""
        return self.clean(visit.run())

    def clean(self, visit: AppTest) -> AppTest:
        """The screen, once that is sure."""
        assert not visit.exception
        secrets = (setting(self.settings, name) for name in SECRETS)
        assert not any(
            secret.get_secret_value() in str(visit.main) for secret in secrets if secret is not None
        )
        told = [*visit.error, *visit.warning, *visit.code]
        said = " ".join(element.value for element in told if not element.value.startswith("curl"))
        addresses = (setting(self.settings, name) for name in ADDRESSES)
        assert not any(urlsplit(address).netloc in said for address in addresses if address)
        return visit

    def configure(self, **more: object) -> None:
        """Other settings, before the first visit."""
        self.settings = self._told(**more)
        write(self.settings)

    def breakers(self) -> list[Breaker]:
        """Those of the services that it asks."""
        return connect.installation(Settings.load()).lines.breakers

    def wake(self) -> None:
        """Let the rest of its breakers be over."""
        for breaker in self.breakers():
            self._monkeypatch.setattr(breaker, "_now", lambda: time.monotonic() + 600)

    def unbreakable(self) -> None:
        """Let it ask however often it fails, so that each failure is told as it is."""
        for breaker in self.breakers():
            self._monkeypatch.setattr(breaker, "_most", sys.maxsize)


def write(settings: Settings) -> None:
    """Put what the tests set into the file that the desk reads."""
    lines = []
    parts = (settings, *(getattr(settings, section) for section in SECTIONS if section))
    for name in {name for part in parts for name in part.model_fields_set} & SETTINGS.keys() - {"home"}:
        value = setting(settings, name)
        value = value.get_secret_value() if isinstance(value, SecretStr) else value
        if value is not None:
            lines.append(f"{name} = {json.dumps(value)}")
    path = settings.home / "tranche.toml"
    path.write_text("\n".join(lines))
    path.chmod(0o600)
