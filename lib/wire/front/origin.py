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
            if origin is not None and origin.partition("://")[2] != host:
                if origin not in self._origins:
                    await receive()
                    await send({"type": "websocket.close", "code": POLICY_VIOLATION})
                    return
                scope = {**scope, "headers": [*scope["headers"]]}
                MutableHeaders(scope=scope)["origin"] = f"{scope['scheme']}://{host}"
        await self._app(scope, receive, send)
