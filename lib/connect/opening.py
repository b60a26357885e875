"""What a process opens once for its settings: people, tokens, slicers, and the APIs over them."""

import threading
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache, partial
from typing import Any

import httpx
from fastapi import FastAPI
from starlette.requests import cookie_parser

from lib import operations
from lib.connect import parts
from lib.connect.parts import Lines
from lib.people import People
from lib.people.company import Company
from lib.people.cookies import Cookies
from lib.people.secret import secret
from lib.people.sessions import Sessions
from lib.reporting import routes as service
from lib.reporting.connected import Connected
from lib.reporting.service import ReportingService
from lib.reporting.warehouse import Warehouse
from lib.settings import Settings
from lib.tokens import service as token_service
from lib.tokens.access import Access
from lib.tokens.company import company_of, streamlit_secrets
from lib.tokens.passes import Passes
from lib.wire.apis import api
from lib.wire.errors import DeadlineExceeded, StoreUnavailable
from lib.wire.transport import InProcess

GRACE_SECONDS = 10
_opening = threading.Lock()


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
    passes: Passes
    lines: Lines
    meter: operations.Meter

    def has_session(self, cookies: str) -> bool:
        """Whether the browser with these cookies (the header) is signed in.

        Without the database that can't be known: the signature then counts.
        """
        try:
            return self.cookies.person(cookies) is not None
        except (StoreUnavailable, DeadlineExceeded):
            return self.cookies.sign_in(cookie_parser(cookies)) is not None


def installation(settings: Settings) -> Installation:
    """The installation of these settings, opened on first use."""
    with _opening:
        return _opened(settings)


@lru_cache(maxsize=8)
def _opened(settings: Settings) -> Installation:
    access = Access.of(settings)
    connected = Connected(settings.connection_urls)
    warehouse = Warehouse(settings.warehouse, connected.current)
    passes = Passes(access, settings)
    lifetime = timedelta(seconds=settings.token_seconds)
    answering = ReportingService(warehouse, access, settings, connected=connected, is_exempt=passes.made)
    sessions = Sessions(access.people)
    cookies = Cookies(secret(access.store.engine, "cookie"), sessions)
    meter = parts.usage_meter(settings, answering, sessions)
    lines = parts.remote_lines(settings, access)
    tokens = token_service.routes(access, settings.services.values(), lifetime)
    app = api(
        [
            service.routes(answering),
            parts.deals_routes(access, passes, settings),
            tokens,
            parts.operations_routes(settings, access, lines, meter),
        ],
        settings.max_body_bytes,
        partial(operations.Observed, meter=meter),
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
        passes=passes,
        lines=lines,
        meter=meter,
    )
