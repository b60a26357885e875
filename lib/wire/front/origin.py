"""Checks the origin of WebSockets: only the desk's own pages may open one (RFC 6455, 10.2)."""

from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send

POLICY_VIOLATION = 1008


class SameOrigin:
    """ASGI middleware: a WebSocket that a page from elsewhere opens is refused.

    Its page is the desk's own if it comes from the host that is asked, or from one of `origins` (such as
    `https://desk.example`): names that the desk has where a proxy in front of it changes the host. Left to
    itself Streamlit would take pages of every other server on this machine for the desk's own, and ask a
    service on the internet for the address of this machine.
    """

    def __init__(self, app: ASGIApp, origins: Collection[str] = ()) -> None:
        self._app, self._origins = app, frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, WebSocket or lifespan."""
        if scope["type"] == "websocket":
            headers = Headers(scope=scope)
            origin, host = headers.get("origin"), headers.get("host", "")
            if origin is not None and not is_own(origin, host, self._origins):
                await receive()
                await send({"type": "websocket.close", "code": POLICY_VIOLATION})
                return
            if origin is not None and origin.partition("://")[2] != host:
                scope = {**scope, "headers": [*scope["headers"]]}
                MutableHeaders(scope=scope)["origin"] = f"{scope['scheme']}://{host}"
        await self._app(scope, receive, send)


def is_own(origin: str, host: str, origins: Collection[str]) -> bool:
    """Whether a page of this origin is the desk's own, at the host that is asked or at one of `origins`."""
    return origin.partition("://")[2] == host or origin in origins


def is_from_own_page(headers: Headers, origins: Collection[str]) -> bool:
    """Whether a request that changes something was sent by a page of the desk, as far as its browser says.

    Browsers send `Origin` with every POST, and `Sec-Fetch-Site` (Fetch Metadata) wherever TLS or a loopback
    address is; a link or a form of another site has others.
    """
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
    return site == "same-origin" and origin is not None and is_own(origin, headers.get("host", ""), origins)
