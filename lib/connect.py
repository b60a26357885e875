"""Settings and a person → clients. The one file that knows an embedded service from a remote one."""

import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import httpx
from fastapi import FastAPI

from lib.people import People, Person
from lib.people.sessions import Sessions
from lib.reporting import routes as service
from lib.reporting.client import Reporting
from lib.reporting.service import ReportingService
from lib.reporting.warehouse import Warehouse
from lib.settings import Settings
from lib.tokens import service as token_service
from lib.tokens.access import Access
from lib.wire.apis import api
from lib.wire.transport import InProcess

GRACE_SECONDS = 10
_opening = threading.Lock()


@dataclass(frozen=True)
class Clients:
    """What one person may ask: a client per API, and the slicers (project, name) that they may see."""

    reporting: Reporting
    slicers: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Installation:
    """What a process opens once: people and their sign-ins, tokens, slicers, and the APIs over them."""

    settings: Settings
    people: People
    sessions: Sessions
    access: Access
    warehouse: Warehouse
    api: FastAPI
    http: httpx.Client
    passes: "Passes"


def connect(person: Person, settings: Settings) -> Clients:
    """The clients of this person: over the services in this process, with a token of their own."""
    here = installation(settings)
    slicers = tuple(pair for pair in here.warehouse.slicers() if person.may_see(*pair))
    return Clients(Reporting(here.http, here.passes.token(person)), slicers)


def installation(settings: Settings) -> Installation:
    """What this process has opened for these settings; opened on first use."""
    with _opening:
        return _opened(settings)


@lru_cache(maxsize=8)
def _opened(settings: Settings) -> Installation:
    access = Access.of(settings)
    warehouse = Warehouse(settings.warehouse)
    lifetime = timedelta(seconds=settings.token_seconds)
    reporting = service.routes(ReportingService(warehouse, access, settings))
    tokens = token_service.routes(access, settings.services.values(), lifetime)
    app = api([reporting, tokens], settings.max_body_bytes)
    return Installation(
        settings=settings,
        people=access.people,
        sessions=Sessions(settings.home / "sessions.json", access.people),
        access=access,
        warehouse=warehouse,
        api=app,
        http=httpx.Client(
            transport=InProcess(app),
            base_url="http://in-process",
            timeout=settings.deadline_seconds + GRACE_SECONDS,
        ),
        passes=Passes(access, settings),
    )


class Passes:
    """Short-lived tokens for those who are signed in, so that the desk calls the APIs as they would."""

    def __init__(self, access: Access, settings: Settings) -> None:
        self._access, self._service = access, settings.reporting_service
        self._lifetime = timedelta(seconds=settings.token_seconds)
        self._lock = threading.Lock()
        self._issued: dict[tuple[str, datetime | None], tuple[str, datetime]] = {}

    def token(self, person: Person) -> str:
        """A token of this person with at least half of its life before it."""
        key, now = (person.username, person.added), datetime.now(UTC)
        with self._lock:
            token, renew_at = self._issued.get(key, ("", now))
            if now >= renew_at:
                token = self._access.store.issue(
                    person.username, self._service, "desk", self._lifetime, kind="temporary"
                )
                self._issued[key] = (token, now + self._lifetime / 2)
            return token
