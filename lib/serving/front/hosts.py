"""Checks the Host and Origin headers: protection against DNS rebinding and other sites' pages."""

import re
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send

from lib.serving.front.request_timeout import POLICY_VIOLATION, WholeRequests
from lib.wire.errors import BadRequest
from lib.wire.network import Network, is_address, is_loopback
from lib.wire.policy import SecurityHeaders
from lib.wire.problems import problem

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:/?#@\\\s]+)(?::[0-9]{0,5})?")
MISDIRECTED_REQUEST = 421
REASON = "This server does not answer to that host name; other names must be in the setting `origins`"


class SameOrigin:
    """ASGI middleware: a WebSocket that a page from elsewhere opens is refused.

    Its page is the desk's own if it comes from the scheme and host that are asked, or from one of `origins`
    (such as `https://desk.example`): names that the desk has behind a proxy. Left to itself Streamlit would
    take pages of every other server on this machine for the desk's own, and ask a service on the internet for
    the address of this machine.
    """

    def __init__(self, app: ASGIApp, origins: Collection[str] = ()) -> None:
        self._app, self._origins = app, frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            headers = Headers(scope=scope)
            origin, host = headers.get("origin"), headers.get("host", "")
            if origin is not None and not _is_own(origin, scope, self._origins):
                await refuse_socket(receive, send)
                return
            if origin is not None and origin.partition("://")[2] != host:
                scope = {**scope, "headers": [*scope["headers"]]}
                MutableHeaders(scope=scope)["origin"] = f"{scope['scheme']}://{host}"
        await self._app(scope, receive, send)


async def refuse_socket(receive: Receive, send: Send) -> None:
    """Answer the handshake of a WebSocket by closing it (RFC 6455, 7.4.1)."""
    await receive()
    await send({"type": "websocket.close", "code": POLICY_VIOLATION})


def is_from_own_page(scope: Scope, origins: Collection[str]) -> bool:
    """Whether a request that changes something was sent by a page of the desk, as far as its browser says.

    Browsers send `Origin` with every POST, and `Sec-Fetch-Site` (Fetch Metadata) wherever TLS or a loopback
    address is; a link or a form of another site has others.
    """
    headers = Headers(scope=scope)
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
    return site == "same-origin" and origin is not None and _is_own(origin, scope, origins)


def _is_own(origin: str, scope: Scope, origins: Collection[str]) -> bool:
    """Whether this is where the desk's own pages come from: one of `origins`, or scheme, host and port that
    are asked (RFC 6454, 5). A page at another scheme of the same host may be of another server.
    """
    scheme = "https" if scope["scheme"] in ("https", "wss") else "http"
    return origin in origins or origin == f"{scheme}://{Headers(scope=scope).get('host', '')}"


class OwnHosts:
    """ASGI middleware: a request for a host that is not ours is refused (421; RFC 9110, 15.5.20).

    A page of another site whose name was pointed at this machine sends that site's name, in `Host` and in
    `Origin`. Ours are the loopback names, the `host` that is listened on, and those of `origins`. A server
    that listens beyond this machine also answers to every IP address: an address can't be pointed elsewhere.
    """

    def __init__(self, app: ASGIApp, host: str, origins: Collection[str]) -> None:
        self._app = app
        self._names = LOOPBACK_NAMES | {_plain(host), *(_name(urlsplit(origin).netloc) for origin in origins)}
        self._takes_addresses = not is_loopback(_plain(host))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = _name(Headers(raw=scope.get("headers", [])).get("host", ""))
        is_ours = name in self._names or (self._takes_addresses and is_address(name))
        if scope["type"] == "lifespan" or is_ours:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await refuse_socket(receive, send)
        else:
            answer = problem(scope["path"], BadRequest(REASON), MISDIRECTED_REQUEST)
            answer.headers["Connection"] = "close"
            await answer(scope, receive, send)


def _name(host: str) -> str:
    """The host without its port: `[::1]:8501` → `::1`; empty if this is no host and port (RFC 9110, 7.2)."""
    match = HOST.fullmatch(host)
    return _plain(match[1]) if match else ""


def _plain(host: str) -> str:
    return host.strip("[]").lower().removesuffix(".")


def guard(app: ASGIApp, network: Network, scripts: Collection[str] = ()) -> ASGIApp:
    """`app` behind the checks of a request's host, origin and length; answers carry the headers of policy.py.

    `scripts` are the hashes of the inline scripts that may run.
    """
    own = SameOrigin(WholeRequests(app), network.origins)
    return SecurityHeaders(OwnHosts(own, network.host, network.origins), scripts)
