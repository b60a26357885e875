"""`/mcp` beside the APIs: agents over HTTP (Model Context Protocol, streamable HTTP).

Each request is a POST with a token of the reporting or the deals API in `Authorization: Bearer …`; one of the
other API, of the same person, may be in `Tranche-Deals-Token`. Nothing is kept between requests: no session,
no stream to hold open, so GET and DELETE are refused as the protocol allows.
"""

import asyncio
import importlib
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from lib.people.tokens.access import Access
from lib.people.tokens.store import Caller
from lib.serving import connect
from lib.serving.front import hosts
from lib.settings import Settings
from lib.wire.errors import AccessError, TrancheError, Unauthorized
from lib.wire.fair import FairPool
from lib.wire.network import is_address, is_loopback
from lib.wire.problems import problem
from lib.wire.throttle import Throttle

PATH, DEALS_HEADER = "/mcp", "tranche-deals-token"
AUTH_THREADS = 2
NAMES = ("localhost", "127.0.0.1", "[::1]")
Result = TypeVar("Result")
Callers = tuple[Caller | None, Caller | None, Caller]
"""Whose tokens came: for the reporting API, for the deals API, and either of them, of one person."""


class AgentRoute:
    """ASGI middleware: answers `/mcp`, and nothing else."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._settings = app, settings
        self._access: Access = connect.installation(settings).access
        self._auth = FairPool(AUTH_THREADS, AUTH_THREADS, "agent-auth")
        self._calls = FairPool(settings.query_threads, settings.query_share, "agent")
        self._throttle = Throttle(settings.throttle_agents, share=self._access.tally("agents"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != PATH:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            refusal = await self._answer(request, send)
        except TrancheError as error:
            refusal = problem(PATH, error)
        if refusal is not None:
            refusal.headers["Cache-Control"] = "no-store"
            await refusal(scope, receive, send)

    async def _answer(self, request: Request, send: Send) -> Response | None:
        """Answer a request; or give the response that refuses it."""
        if request.method != "POST":
            return PlainTextResponse("Send a POST with a message of the protocol", 405, {"Allow": "POST"})
        callers = await self._away(None, self._auth, partial(self._callers, request))
        await asyncio.to_thread(importlib.import_module, "lib.agents.server")
        from lib.agents import server
        from lib.agents.python_client import Desk
        from lib.agents.python_client.clients import DeskClients
        from lib.agents.toolbox import Toolbox

        *apis, first = callers
        reporting, deals, slicers = connect.of_tokens(self._settings, *apis)
        desk = Desk.of(DeskClients(self._settings.address, reporting, lambda: deals, slicers))
        who, number = first.person.username, first.token.id
        address = request.client.host if request.client else None

        def note(detail: str) -> None:
            self._access.audit.note("agent call", who, who, f"token {number}, {detail}", address)

        await server.answer_request(
            server.server_of(Toolbox(who, desk, note), partial(self._away, who, self._calls)),
            security_options(self._settings, request.headers.get("host", "")),
            self._settings.max_body_bytes, request.scope, request.receive, send,
        )  # fmt: skip
        return None

    async def _away(self, who: str | None, pool: FairPool, work: Callable[[], Result]) -> Result:
        return await asyncio.wrap_future(pool.submit(who, work))

    def _callers(self, request: Request) -> Callers:
        """The callers of a request's tokens. Unauthorized without one that is valid; Throttled."""
        scheme, _, token = request.headers.get("authorization", "").strip().partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthorized
        other = request.headers.get(DEALS_HEADER, "").strip()
        reporting, deals = self._caller(token.strip(), "reporting"), None
        if other or reporting is None:
            deals = self._caller(other or token.strip(), "deals")
        first = reporting or deals
        if first is None or (other and (deals is None or reporting is None)):
            raise Unauthorized
        if reporting and deals and reporting.person.username != deals.person.username:
            raise Unauthorized("Both tokens must be those of one person")
        self._throttle.admit(first.token.id)
        return reporting, deals, first

    def _caller(self, token: str, api: str) -> Caller | None:
        try:
            return self._access.caller(token, self._settings.services[api])
        except AccessError:
            return None


def security_options(settings: Settings, host: str) -> dict[str, list[str]]:
    """The hosts and origins that the SDK's protection against DNS rebinding takes: those of the desk.

    A server that listens beyond this machine also answers to IP addresses, which can't be pointed elsewhere.
    """
    own = f"[{settings.host}]" if ":" in settings.host else settings.host
    names = [*NAMES, own, *(origin.partition("://")[2] for origin in settings.origins)]
    match = hosts.HOST.fullmatch(host)
    if not is_loopback(settings.host) and match and is_address(match[1].strip("[]")):
        names.append(host)
    host_forms = [form for name in dict.fromkeys(names) for form in (name, f"{name}:*")]
    origins = [f"{scheme}://{form}" for form in host_forms for scheme in ("http", "https")]
    return {"allowed_hosts": host_forms, "allowed_origins": [*settings.origins, *origins]}
