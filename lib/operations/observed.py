"""Requests as they pass: each has an id, and is counted and timed."""

import logging
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lib.operations.meter import Meter, kind_of
from lib.wire import request_ids

log = logging.getLogger(__name__)
SLICER = "tranche.slicer"
ABANDONED = 499  # nobody waited for an answer: nginx's code


class Observed:
    """ASGI middleware: gives each request its id, sends that back, and notes kind, status and seconds."""

    def __init__(self, app: ASGIApp, meter: Meter) -> None:
        self._app, self._meter = app, meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        began, status, seconds = time.perf_counter(), ABANDONED, 0.0
        request_id = request_ids.taken(Headers(scope=scope).get(request_ids.HEADER))

        async def observed(message: Message) -> None:
            nonlocal status, seconds
            if message["type"] == "http.response.start":
                status, seconds = message["status"], time.perf_counter() - began
                MutableHeaders(scope=message)[request_ids.HEADER] = request_id
            await send(message)

        with request_ids.under(request_id):
            try:
                await self._app(scope, receive, observed)
            finally:
                kind = kind_of(scope["method"], scope["path"])
                taken = seconds or time.perf_counter() - began
                self._meter.note(kind, status, taken, scope.get(SLICER, ""))
                more = {"kind": kind, "status": status, "seconds": round(taken, 4)}
                log.debug("%s: %d in %.4f s", kind, status, taken, extra={"more": more})
        return None


class OpenTabs:
    """ASGI middleware: counts the WebSockets that are open, one for each tab with a screen."""

    def __init__(self, app: ASGIApp, meter: Meter) -> None:
        self._app, self._open = app, 0
        meter.add_gauge("tranche_open_tabs", "Tabs with an open screen.", lambda: self._open)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, WebSocket or lifespan."""
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        self._open += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open -= 1
