"""Makes the clients of a person from the settings; the only file that knows embedded from remote."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import lru_cache, partial
from typing import Any

import httpx
from fastapi import APIRouter, FastAPI
from sqlalchemy import make_url

from lib import operations, private, remote
from lib.deals import routes as deals_service
from lib.deals.admission import Admission
from lib.deals.client import Deals
from lib.deals.drafts import Drafts
from lib.deals.package_notes import PackageNotes
from lib.deals.package_questions import PackageQuestions
from lib.deals.service import DealsService
from lib.deals.sync import routes as sync_service
from lib.deals.sync.service import DealSync
from lib.deals.sync.settings import selling_side
from lib.people import People, Person
from lib.people.company import Company
from lib.people.secret import public_name, secret
from lib.people.sessions import Sessions
from lib.remote import Line, RemoteDeals
from lib.reporting import routes as service
from lib.reporting.client import ONCE, Reporting
from lib.reporting.connected import Connected
from lib.reporting.service import ReportingService
from lib.reporting.warehouse import Warehouse
from lib.settings import Settings
from lib.tokens import service as token_service
from lib.tokens.access import Access
from lib.tokens.company import company_of, streamlit_secrets
from lib.tokens.passes import Passes
from lib.views import Kept
from lib.views.scope import Scope
from lib.wire.apis import api
from lib.wire.breaker import Breaker
from lib.wire.errors import Misconfigured
from lib.wire.throttle import Throttle
from lib.wire.transport import InProcess

GRACE_SECONDS, SLICER_SECONDS = 10, 60
_opening = threading.Lock()


@dataclass(frozen=True)
class Clients:
    """The clients of one person: one per API, the slicers (project, name) that they may see, their draft.

    `package_questions` are the questions that packages came from, `package_notes` their owners and notes,
    `kept` saved views and notes on dates: all in the desk's own database whatever service answers.
    `reporting_address` and `deals_address` say where a remote service is; empty for one of this process.
    What a slicer is may be kept for `slicer_seconds` before it is asked again. `currency` and `price_unit`
    are those of prices.
    """

    reporting: Reporting
    open_deals: Callable[[], Deals]
    slicers: tuple[tuple[str, str], ...]
    drafts: Drafts
    package_questions: PackageQuestions
    package_notes: PackageNotes
    kept: Kept
    reporting_address: str = ""
    deals_address: str = ""
    slicer_seconds: float = 0
    currency: str = ""
    price_unit: str = ""

    @property
    def is_embedded(self) -> bool:
        """Whether the reporting API is embedded."""
        return not self.reporting_address

    @property
    def own(self) -> tuple[str, ...]:
        """The embedded APIs, for which tokens can be issued here."""
        return tuple(api for api in ("reporting", "deals") if api not in self.remote_addresses)

    @property
    def remote_addresses(self) -> dict[str, str]:
        """The remote APIs, and the address of each."""
        addresses = {"reporting": self.reporting_address, "deals": self.deals_address}
        return {api: address for api, address in addresses.items() if address}

    @property
    def deals(self) -> Deals:
        """The client of the deals API. Probes a remote service's features: ServiceProblem if that fails."""
        return self.open_deals()


@dataclass(frozen=True)
class Installation:
    """Resources that a process opens once: people, sign-ins, tokens, slicers, and the APIs over them.

    `cookie_key` and `cookie_name` belong to the cookie of a sign-in, the same at all desks over a database.
    `company` is the company sign-in, if there is one; `secrets` is what Streamlit has to know of it.
    """

    settings: Settings
    people: People
    sessions: Sessions
    cookie_key: str
    cookie_name: str
    company: Company | None
    secrets: dict[str, dict[str, Any]] = field(repr=False)
    access: Access
    warehouse: Warehouse
    api: FastAPI
    http: httpx.Client
    passes: Passes
    lines: "Lines"
    meter: operations.Meter


@dataclass(frozen=True)
class Lines:
    """The lines to remote services; None for an embedded service."""

    reporting: Line | None
    deals: RemoteDeals | None

    @property
    def breakers(self) -> list[Breaker]:
        """The circuit breakers of the remote services, shared by everybody at the desk."""
        lines = [self.reporting, self.deals and self.deals.line]
        return [breaker for line in lines if line for breaker in line.breakers]


def connect(person: Person, settings: Settings, session_id: str = "") -> Clients:
    """The clients of this person: each over the embedded service or a remote one.

    Queries of the session `session_id` stop when its tab is closed.

    Embedded services get a token of this person. Remote services get the desk's own token, so permissions
    are checked here.
    """
    here = installation(settings)
    return Clients(
        _reporting(here, person, session_id),
        partial(_deals, here, person),
        tuple(pair for pair in _slicers(here) if person.may_see(*pair)),
        Drafts(here.access.store.engine, settings.curate_url, person),
        PackageQuestions(here.access.store.engine, settings.curate_url, settings.base_url, person),
        PackageNotes(here.access.store.engine, settings.curate_url, person),
        Kept(Scope(here.access.store.engine, settings.base_url, person), settings.curate_url),
        settings.base_url,
        settings.curate_url,
        0 if here.lines.reporting is None else SLICER_SECONDS,
        settings.price_currency,
        settings.price_unit,
    )


def installation(settings: Settings) -> Installation:
    """The installation of these settings, opened on first use."""
    with _opening:
        return _opened(settings)


@contextmanager
def one_desk(settings: Settings) -> Iterator[None]:
    """Lock this data directory, and restrict its files; Misconfigured if another desk runs over it.

    Desks with a database of PostgreSQL share a data directory with each other. The command line and `tranche
    serve` may work beside a desk.
    """
    is_shared = make_url(settings.database_url).get_backend_name() == "postgresql"
    with private.alone(settings.home / "desk.lock", shared=is_shared) as other:
        if other:
            whose = f" (process {other})" if other > 0 else ""
            raise Misconfigured(
                f"A desk is running over {settings.home} already{whose}: stop it, or give this one a home of "
                "its own by TRANCHE_HOME. Only desks over PostgreSQL (database_url) can share one"
            )
        private.close(settings.home)
        yield


def locked_out(settings: Settings) -> str:
    """A sentence about people who still have the demo password outside demo mode; empty if there are none."""
    names = installation(settings).people.locked()
    if not names:
        return ""
    return (
        f"Demo mode is off, and {', '.join(names)} can't sign in or use tokens: everybody knows their "
        "password. Give each another (tranche user password NAME) or remove them (tranche user remove NAME)."
    )


@lru_cache(maxsize=8)
def _opened(settings: Settings) -> Installation:
    access = Access.of(settings)
    key = secret(access.store.engine, "cookie")
    connected = Connected(settings.connection_urls)
    warehouse = Warehouse(settings.warehouse, connected.current)
    passes = Passes(access, settings)
    lifetime = timedelta(seconds=settings.token_seconds)
    answering = ReportingService(warehouse, access, settings, connected=connected, is_exempt=passes.made)
    sessions = Sessions(access.people)
    meter = _meter(settings, answering, sessions)
    lines = _lines(settings, access)
    tokens = token_service.routes(access, settings.services.values(), lifetime)
    app = api(
        [
            service.routes(answering),
            _deals_routes(access, passes, settings),
            tokens,
            _operations(settings, access, lines, meter),
        ],
        settings.max_body_bytes,
        partial(operations.Observed, meter=meter),
    )
    return Installation(
        settings=settings,
        people=access.people,
        sessions=sessions,
        cookie_key=key,
        cookie_name=public_name("tranche", key),
        company=company_of(settings, access.people),
        secrets=streamlit_secrets(settings, access.store.engine),
        access=access,
        warehouse=warehouse,
        api=app,
        http=httpx.Client(
            transport=InProcess(app),
            base_url="http://in-process",
            timeout=settings.deadline_seconds + GRACE_SECONDS,
        ),
        passes=passes,
        lines=lines,
        meter=meter,
    )


def _lines(settings: Settings, access: Access) -> Lines:
    return Lines(
        remote.reporting_line(settings) if settings.base_url else None,
        RemoteDeals(settings, remote.deals_line(settings), access.store.engine)
        if settings.curate_url
        else None,
    )


def _meter(settings: Settings, answering: ReportingService, sessions: Sessions) -> operations.Meter:
    """What is measured of requests, and of what the reporting service and people do."""
    meter, cached = operations.Meter(names_slicers=settings.metrics_slicers), answering.answers
    meter.add_counter("tranche_rows_read", "Rows that queries read.", lambda: answering.rows_read)
    meter.add_counter("tranche_cache_hits", "Answers taken from the cache.", lambda: cached.hits)
    meter.add_counter("tranche_cache_misses", "Answers that had to be computed.", lambda: cached.misses)
    meter.add_gauge("tranche_cache_bytes", "Bytes of the cached answers.", lambda: cached.bytes)
    meter.add_gauge("tranche_sessions", "Sign-ins that have not ended.", sessions.count)
    return meter


def _operations(settings: Settings, access: Access, lines: Lines, meter: operations.Meter) -> APIRouter:
    remotes = (lines.reporting, lines.deals and lines.deals.line)
    parts = operations.probes(access.store.engine, settings.warehouse, (line for line in remotes if line))
    return operations.routes(operations.Readiness(parts), meter, settings.metrics_token)


def _reporting(here: Installation, person: Person, session_id: str) -> Reporting:
    line = here.lines.reporting
    if line is None:
        return Reporting(here.http, here.passes.of(person, "reporting"), replace(ONCE, session=session_id))
    return Reporting(line.http, line.credential, replace(line.patience, session=session_id))


def _deals(here: Installation, person: Person) -> Deals:
    elsewhere = here.lines.deals
    return Deals(here.http, here.passes.of(person, "deals")) if elsewhere is None else elsewhere.of(person)


def _slicers(here: Installation) -> Iterable[tuple[str, str]]:
    """All slicers; of a remote service, those that the settings name."""
    if here.lines.reporting is None:
        return here.warehouse.slicers()
    return ((project, name) for project, _, name in (one.partition("/") for one in here.settings.slicers))


def _deals_routes(access: Access, passes: Passes, settings: Settings) -> APIRouter:
    reads = Throttle(settings.throttle_reads, share=access.tally("reads"))
    writes = Throttle(settings.throttle_writes, share=access.tally("writes"))
    admission = Admission(access, settings.deals_service, reads, writes, is_exempt=passes.made)
    router = deals_service.routes(
        DealsService(access.store.engine),
        admission,
        settings.deadline_seconds,
        with_packages=settings.legacy_packages,
    )
    sync = DealSync(access.store.engine, selling_side(settings))
    router.include_router(sync_service.routes(sync, admission, settings.deadline_seconds))
    return router
