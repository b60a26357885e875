"""What a process opens once for its settings: people, tokens, slicers, and the APIs over them."""

import threading
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache, partial
from typing import Any

import httpx
from fastapi import FastAPI

from lib import operations
from lib.connect import parts
from lib.connect.parts import Lines
from lib.people import People
from lib.people.company import Company
from lib.people.secret import public_name, secret
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
from lib.wire.transport import InProcess

GRACE_SECONDS = 10
_opening = threading.Lock()


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
    lines: Lines
    meter: operations.Meter


def installation(settings: Settings) -> Installation:
    """The installation of these settings, opened on first use."""
    with _opening:
        return _opened(settings)


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
