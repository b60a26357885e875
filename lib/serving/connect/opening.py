"""What a process opens once for its settings (people, tokens, slicers, services, APIs), and their checks."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache, partial
from os import scandir
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from fastapi import FastAPI
from starlette.requests import cookie_parser

from lib.deals import routes as deals_routes
from lib.deals.endpoints import Admission, DealsApi
from lib.deals.package_records import PackageQuestions
from lib.deals.proposals.store import Proposals
from lib.deals.service import DealsService
from lib.deals.sync.documents import selling_side
from lib.deals.sync.service import DealSync
from lib.engines import ConnectedSlicers
from lib.people import People, Person
from lib.people.company import Company
from lib.people.cookies import Cookies
from lib.people.secret import secret
from lib.people.sessions import Sessions
from lib.people.tokens import service as token_service
from lib.people.tokens.access import Access
from lib.people.tokens.audit import Event
from lib.people.tokens.company import company_of, streamlit_secrets
from lib.people.tokens.desk_tokens import DeskTokens
from lib.people.tokens.store import Caller
from lib.reporting import routes as reporting_routes
from lib.reporting.service import ReportingService
from lib.serving import operations, remote
from lib.serving.connect import dependents
from lib.serving.connect.availability import OwnReports, RemoteReports, ReportAvailability, ReportCache
from lib.serving.connect.known_slicers import KnownSlicers
from lib.serving.remote import Line, RemoteDeals
from lib.settings import Settings
from lib.settings.optional import CompanyProvider
from lib.slicers.definition import RowSource
from lib.slicers.warehouse import Warehouse
from lib.wire.apis import api
from lib.wire.breaker import Breaker
from lib.wire.call import Call, call
from lib.wire.deadline import Deadline
from lib.wire.errors import Damaged, Misconfigured, StoreUnavailable, Unreachable, Unreadable
from lib.wire.sockets import client
from lib.wire.throttle import Throttle
from lib.wire.transport import InProcess

SIGN_IN, WEBHOOK, RECEIVER = "company sign-in", "alert webhook", "receiver of DSP {}"
SECONDS, MOST_BYTES = 5.0, 1_048_576
PORTS = {"http": 80, "https": 443}
Check = Callable[[Deadline], object]
GRACE_SECONDS = 10
BY_CPM = "CPM"
_opening = threading.Lock()


class ConnectionChecks:
    """Checks of all connections, and of all connected slicers: of those too whose connection has no settings.

    Each check raises an error that says what is wrong.
    """

    def __init__(self, settings: Settings, warehouse: Warehouse, connected: ConnectedSlicers) -> None:
        self._settings, self._warehouse, self._connected = settings, warehouse, connected

    def slicers(self) -> dict[tuple[str, str], tuple[RowSource, Check]]:
        """Connected slicers by project and name: where their rows lie, and whether they fit that table."""
        definitions = {}
        for pair in self._warehouse.slicers():
            with suppress(Damaged):  # what is damaged here is no connection
                definitions[pair] = self._warehouse.definition(*pair)
        return {
            pair: (definition.source, partial(self._connected.check, definition))
            for pair, definition in definitions.items()
            if definition.source is not None
        }

    def connections(self) -> dict[str, Check]:
        """A check of each connection: those of the settings, and those that slicers name."""
        of_slicers = (source.connection for source, _ in self.slicers().values())
        names = dict.fromkeys([*self._settings.connection_urls, *of_slicers])
        return {name: partial(self._connected.reach, name) for name in names}

    def all(self, deadline: Deadline) -> None:
        """Every connection, then the table of every slicer; raises the first failure."""
        if not (connections := self.connections()):
            raise operations.Absent
        operations.check_all(connections.values(), deadline)
        operations.check_all((check for _, check in self.slicers().values()), deadline)


def address_checks(settings: Settings) -> dict[str, Check]:
    """Checks of the company sign-in's provider, and of the hosts of the webhook and of DSPs, where set."""
    checks: dict[str, Check] = {}
    if settings.company.oidc is not None:
        checks[SIGN_IN] = partial(_check_provider, settings.company.oidc, settings.remote.ca_file)
    if settings.alerts.alerts_webhook is not None:
        checks[WEBHOOK] = partial(_reach, settings.alerts.alerts_webhook.get_secret_value())
    for dsp, receiver in settings.deal_sync.deal_sync_receivers.items():
        checks[RECEIVER.format(dsp)] = partial(_reach, receiver.url.get_secret_value())
    return checks


def _check_provider(provider: CompanyProvider, ca_file: Path | None, deadline: Deadline) -> None:
    """The provider describes itself, as the issuer of the settings (OpenID Connect Discovery 1.0, 4.3)."""
    address = urlsplit(provider.metadata_url)
    origin = f"{address.scheme}://{address.netloc}"
    with client(origin, ca_file, base_url=origin, timeout=SECONDS) as http:
        answer = call(http, Call("GET", address.path, deadline=deadline, max_bytes=MOST_BYTES))
    try:
        issuer = answer.json()["issuer"]
    except (ValueError, TypeError, LookupError):
        raise Unreadable(f"{provider.metadata_url} doesn't describe an OpenID Connect provider") from None
    if str(issuer).rstrip("/") != provider.issuer.rstrip("/"):
        raise Misconfigured(f"The provider calls itself {issuer}, not {provider.issuer}")


def _reach(address: str, deadline: Deadline) -> None:
    """The host takes a connection; nothing is sent. The rest of the address is handled like a password."""
    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    seconds = deadline.remaining()
    try:
        with socket.create_connection((host, port), SECONDS if seconds is None else max(seconds, 0.01)):
            return
    except OSError as error:
        raise Unreachable(f"{host}:{port} can't be reached: {error.strerror or error}") from None


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


def usage_meter(settings: Settings, answering: ReportingService, sessions: Sessions) -> operations.Meter:
    """What is measured of requests, and of what the reporting service and people do."""
    meter, cached = operations.Meter(names_slicers=settings.metrics_slicers), answering.answers
    meter.add_counter("tranche_rows_read", "Rows that queries read.", lambda: answering.rows_read)
    meter.add_counter("tranche_cache_hits", "Answers taken from the cache.", lambda: cached.hits)
    meter.add_counter("tranche_cache_misses", "Answers that had to be computed.", lambda: cached.misses)
    meter.add_gauge("tranche_cache_bytes", "Bytes of the cached answers.", lambda: cached.bytes)
    meter.add_gauge("tranche_sessions", "Sign-ins that have not ended.", sessions.count)
    return meter


def own_operations(
    settings: Settings,
    access: Access,
    lines: Lines,
    meter: operations.Meter,
    connections: ConnectionChecks,
    check_warehouse: Check,
) -> operations.Operations:
    """What tells whether the process is well, and what it does."""
    remotes = (lines.reporting, lines.deals and lines.deals.line)
    parts = operations.probes(
        access.store.engine,
        check_warehouse,
        (line for line in remotes if line),
        {**address_checks(settings), "connections": connections.all},
    )
    return operations.Operations(operations.Readiness(parts), meter, settings.metrics_token)


def _check_warehouse(warehouse: Warehouse, known_slicers: KnownSlicers, _: Deadline) -> None:
    """Its folder can be read, and has slicers if some are known; before the first import its parent can."""
    folder = warehouse.root
    with scandir(folder if folder.exists() else folder.parent) as entries:
        next(entries, None)
    known_slicers.note(warehouse.slicers())
    warehouse.check()


def deals_api(
    access: Access, desk_tokens: DeskTokens, settings: Settings, lines: Lines, own_reports: OwnReports
) -> DealsApi:
    """The deals API, and the documents that DSPs poll."""
    cache, line = ReportCache(), lines.reporting
    source = own_reports if line is None else RemoteReports(line, settings.remote.slicers, cache)
    is_cpm = settings.price_unit.upper() == BY_CPM
    reads = Throttle(settings.throttle_reads, share=access.tally("reads"))
    writes = Throttle(settings.throttle_writes, share=access.tally("writes"))
    admission = Admission(access, settings.deals_service, reads, writes, is_exempt=desk_tokens.is_own)
    return DealsApi(
        DealsService(access.store.engine, settings.usual_terms),
        DealSync(access.store.engine, selling_side(settings)),
        partial(_proposals_of, access, settings),
        admission,
        settings.deadline_seconds,
        lambda caller: ReportAvailability(caller, source, cache, settings.price_currency, is_cpm),
    )


def _proposals_of(access: Access, settings: Settings, caller: Caller) -> Proposals:
    """The proposals to the embedded service, for this caller."""
    engine, person = access.store.engine, caller.person
    token, note = caller.token.id if caller.is_for_seats else None, partial(note_event, access, person)
    questions = PackageQuestions(engine, "", settings.remote.base_url, person)
    own = settings.approve_own_proposals
    name = caller.token.permanent_name
    return Proposals(engine, "", person, token, caller.deals, note, questions, own, name)


def note_event(access: Access, person: Person, event: Event, detail: str) -> None:
    """Note in the audit log what a person did."""
    access.audit.note(event, person.username, person.username, detail)


@dataclass(frozen=True)
class Installation:
    """Resources that a process opens once: people, sign-ins, tokens, slicers, and the APIs over them.

    `cookies` are those of a sign-in, with the same key and names at all desks over a database.
    `company` is the company sign-in, if there is one; `secrets` is what Streamlit has to know of it.
    """

    settings: Settings
    people: People
    sessions: Sessions
    cookies: Cookies
    company: Company | None
    secrets: dict[str, dict[str, Any]] = field(repr=False)
    access: Access
    warehouse: Warehouse
    reporting: ReportingService
    api: FastAPI
    http: httpx.Client
    desk_tokens: DeskTokens
    lines: Lines
    meter: operations.Meter

    def has_session(self, cookies: str) -> bool:
        """Whether the browser with these cookies (the header) is signed in.

        Without the database that can't be known: the signature then counts.
        """
        try:
            return self.cookies.person(cookies) is not None
        except StoreUnavailable:
            return self.cookies.sign_in(cookie_parser(cookies)) is not None


def installation(settings: Settings) -> Installation:
    """The installation of these settings, opened on first use."""
    with _opening:
        return _open(settings)


@lru_cache(maxsize=8)
def _open(settings: Settings) -> Installation:
    access = Access.of(settings)
    connected = ConnectedSlicers(settings.connection_urls)
    known_slicers = KnownSlicers(access.store.engine)
    warehouse = Warehouse(settings.warehouse, connected.current, known_slicers.read)
    dependents.finish_renames(warehouse, access)
    known_slicers.note(warehouse.slicers())
    desk_tokens = DeskTokens(access, settings)
    lifetime = timedelta(seconds=settings.token_seconds)
    answering = ReportingService(
        warehouse, access, settings, connected=connected, is_exempt=desk_tokens.is_own
    )
    sessions = Sessions(access.people)
    cookies = Cookies(secret(access.store.engine, "cookie"), sessions)
    meter = usage_meter(settings, answering, sessions)
    lines = Lines(
        remote.reporting_line(settings) if settings.remote.base_url else None,
        RemoteDeals(settings, remote.deals_line(settings), access.store.engine)
        if settings.remote.curate_url
        else None,
    )
    connections = ConnectionChecks(settings, warehouse, connected)
    check_warehouse = partial(_check_warehouse, warehouse, known_slicers)
    app = api(
        # a path is compared with each route before its own: those that anybody may ask come first
        [
            token_service.router,
            operations.router,
            reporting_routes.router,
            deals_routes.routes(with_packages=settings.legacy_packages),
        ],
        settings.max_body_bytes,
        partial(operations.RequestMeter, meter=meter),
        tokens=token_service.TokenApi(access, settings.services.values(), lifetime),
        operations=own_operations(settings, access, lines, meter, connections, check_warehouse),
        reporting=reporting_routes.ReportingApi(answering),
        deals=deals_api(access, desk_tokens, settings, lines, OwnReports(warehouse, answering)),
    )
    return Installation(
        settings=settings,
        people=access.people,
        sessions=sessions,
        cookies=cookies,
        company=company_of(settings, access.people),
        secrets=streamlit_secrets(settings, access.store.engine),
        access=access,
        warehouse=warehouse,
        reporting=answering,
        api=app,
        http=httpx.Client(
            transport=InProcess(app),
            base_url="http://in-process",
            timeout=settings.deadline_seconds + GRACE_SECONDS,
        ),
        desk_tokens=desk_tokens,
        lines=lines,
        meter=meter,
    )
