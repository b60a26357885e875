"""How many requests each address gets without an account: a flood of them leaves the server to people.

A request is answered on the event loop, through which every click of a person goes too. So callers who are
neither signed in nor accepted by an API wait for their turn, as visitors do at the desk's socket.
"""

import asyncio
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lib.serving.front.socket_pace import ADDRESSES_BEFORE_A_SWEEP, Pace, Rate
from lib.wire.network import client_network

ANONYMOUS = Rate(300, 0.01)
"""A sign-in page and all that it loads are less than a hundred; a flood gets a tenth of a processor."""
COSTS = {"http": 1, "websocket": 3}
LONGEST_WAIT = 2.0
TOO_MANY_REQUESTS, REFUSED = 429, 400
APIS, AGENTS = ("/API/", "/api/"), "/mcp"
"""Paths whose callers bring a token, in a header or in the body: a request counts once it is refused."""
BUSY = "Too many requests without a sign-in come from this address; try again later"


class RequestPace:
    """ASGI middleware: requests and handshakes of an address without an account keep to a rate.

    `is_signed` says of a `Cookie` header whether the desk has made its session cookie; it is asked for every
    request, so that it may read no database. Whether the session still counts, the routes check.
    """

    def __init__(self, app: ASGIApp, is_signed: Callable[[str], bool], rate: Rate = ANONYMOUS) -> None:
        self._app, self._is_signed, self._rate = app, is_signed, rate
        self._paces: dict[str, Pace] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(raw=scope.get("headers", []))
        cookie = "; ".join(headers.getlist("cookie"))
        if scope["type"] == "lifespan" or (cookie and self._is_signed(cookie)):
            await self._app(scope, receive, send)
            return
        now = asyncio.get_running_loop().time()
        pace = self._pace((scope.get("client") or ("",))[0], now)
        if (wait := pace.wait(now)) > LONGEST_WAIT:
            await _refuse(scope, receive, send)
            return
        path = scope["path"]
        to_api = scope["type"] == "http" and (path.startswith(APIS) or path == AGENTS)
        for _ in range(0 if to_api else COSTS[scope["type"]]):
            pace.take(now)
        if wait:
            await asyncio.sleep(wait)
        await self._app(scope, receive, _counting(pace, send) if to_api else send)

    def _pace(self, address: str, now: float) -> Pace:
        if len(self._paces) > ADDRESSES_BEFORE_A_SWEEP:
            self._paces = {network: pace for network, pace in self._paces.items() if pace.wait(now) > 0}
        return self._paces.setdefault(client_network(address), Pace(self._rate))


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()  # websocket.connect
    headers = {"Retry-After": "5", "Connection": "close"}
    await PlainTextResponse(BUSY, TOO_MANY_REQUESTS, headers)(scope, receive, send)


def _counting(pace: Pace, send: Send) -> Send:
    """`send`, which counts the request once it is refused."""

    async def count(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] >= REFUSED:
            pace.take(asyncio.get_running_loop().time())
        await send(message)

    return count
