"""How many requests each address gets without an account: a flood of them leaves the server to people.

A request is answered on the event loop, through which every click of a person goes too. So callers who are
neither signed in nor accepted by an API wait for their turn, as visitors do at the desk's socket.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lib.serving.front.socket_pace import ADDRESSES_BEFORE_A_SWEEP, Pace, Rate
from lib.wire.network import client_network

Use = Callable[[str, float], float | None]
ANONYMOUS = Rate(300, 0.01)
"""A sign-in page and all that it loads are less than a hundred; a flood gets a tenth of a processor."""
COSTS = {"http": 1, "websocket": 3}
LONGEST_WAIT = 2.0
SHARED_AFTER, SHARING_THREADS = 20, 4  # other desks hear of each such part of what an address may do at once
TOO_MANY_REQUESTS, REFUSED = 429, 400
APIS, AGENTS = ("/API/", "/api/"), "/mcp"
"""Paths whose callers bring a token, in a header or in the body: a request counts once it is refused."""
BUSY = "Too many requests without a sign-in come from this address; try again later"


class RequestPace:
    """ASGI middleware: requests and handshakes of an address without an account keep to a rate.

    `is_signed` says of a `Cookie` header whether the desk has made its session cookie; it is asked for every
    request, so that it may read no database. Whether the session still counts, the routes check.

    `use(address, seconds)` adds to what all desks have used of an address's rate, and returns how long that
    lasts from now; None where the database does not answer. A request waits for it after each twentieth of
    what an address may do at once, so that all desks admit at most a twentieth more for each further desk.
    """

    def __init__(
        self, app: ASGIApp, is_signed: Callable[[str], bool], rate: Rate = ANONYMOUS, use: Use | None = None
    ) -> None:
        self._app, self._is_signed, self._rate, self._use = app, is_signed, rate, use
        self._every = max(1, rate.at_once // SHARED_AFTER)
        self._threads = ThreadPoolExecutor(SHARING_THREADS, "rate")
        self._paces: dict[str, _SharedPace] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        cookie = "; ".join(Headers(raw=scope.get("headers", [])).getlist("cookie"))
        if scope["type"] == "lifespan" or (cookie and self._is_signed(cookie)):
            await self._app(scope, receive, send)
            return
        now = asyncio.get_running_loop().time()
        address = client_network((scope.get("client") or ("",))[0])
        if len(self._paces) > ADDRESSES_BEFORE_A_SWEEP:
            self._paces = {network: pace for network, pace in self._paces.items() if pace.wait(now) > 0}
        pace = self._paces.setdefault(address, _SharedPace(self._rate))
        while self._use and pace.backlog >= self._every:
            pace.exchange = pace.exchange or asyncio.create_task(self._share(self._use, address, pace))
            await asyncio.shield(pace.exchange)
            now = asyncio.get_running_loop().time()
        if (wait := pace.wait(now)) > LONGEST_WAIT:
            if scope["type"] == "websocket":
                await receive()  # websocket.connect
            headers = {"Retry-After": "5", "Connection": "close"}
            await PlainTextResponse(BUSY, TOO_MANY_REQUESTS, headers)(scope, receive, send)
            return
        path = scope["path"]
        to_api = scope["type"] == "http" and (path.startswith(APIS) or path == AGENTS)
        for _ in range(0 if to_api else COSTS[scope["type"]]):
            pace.take(now)
        if wait:
            await asyncio.sleep(wait)

        async def count(message: Message) -> None:
            """Send on, and count the request once it is refused."""
            if message["type"] == "http.response.start" and message["status"] >= REFUSED:
                pace.take(asyncio.get_running_loop().time())
            await send(message)

        await self._app(scope, receive, count if to_api else send)

    async def _share(self, use: Use, address: str, pace: "_SharedPace") -> None:
        """Add to what all desks have used, and go on from there; alone while the database does not answer."""
        loop, count = asyncio.get_running_loop(), pace.backlog
        pace.backlog = 0
        try:
            lasts = await loop.run_in_executor(self._threads, use, address, count * self._rate.seconds)
            if lasts is not None:
                pace.go_on(loop.time() + lasts + pace.backlog * self._rate.seconds)
        finally:
            pace.exchange = None


class _SharedPace(Pace):
    """The pace of an address: how many other desks have not heard of, and the exchange that is under way."""

    def __init__(self, rate: Rate) -> None:
        super().__init__(rate)
        self.backlog = 0
        self.exchange: asyncio.Task[None] | None = None

    def take(self, now: float) -> float:
        self.backlog += 1
        return super().take(now)
