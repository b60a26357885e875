"""Counts and times requests as they pass; each gets an id."""

import logging
import time
from collections.abc import Callable, Iterable
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lib.wire import request_ids

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
READING = ("GET", "HEAD")
REPORTING = {f"/API/v2/{verb}": verb for verb in ("info", "audience", "export")}
Read = Callable[[], float]
log = logging.getLogger(__name__)
SLICER = "tranche.slicer"
NO_CLIENT = 499  # nobody waited for an answer: nginx's code


class Meter:
    """Counts and times requests as they are answered; everything else is read when somebody asks for it.

    No label says who asked or for which values; `names_slicers` adds the slicer of a query.
    """

    def __init__(self, *, names_slicers: bool = False) -> None:
        self._collected = CollectorRegistry()
        ProcessCollector(registry=self._collected)  # memory, processor time, open files; on Linux alone
        self._names_slicers = names_slicers
        labels = ("kind", "slicer") if names_slicers else ("kind",)
        self._seconds = Histogram(
            "tranche_request_seconds",
            "Seconds until a response begins, by kind of request.",
            labels,
            buckets=SECONDS,
            registry=self._collected,
        )
        self._requests = Counter(
            "tranche_requests",
            "Requests to the APIs, those of the screens included, by kind and HTTP status.",
            (*labels, "status"),
            registry=self._collected,
        )

    def note(self, kind: str, status: int, seconds: float, slicer: str) -> None:
        more = {"kind": kind, "status": status, "seconds": round(seconds, 4)}
        log.debug("%s: %d in %.4f s", kind, status, seconds, extra={"more": more})
        labels = (kind, slicer) if self._names_slicers else (kind,)
        self._seconds.labels(*labels).observe(seconds)
        self._requests.labels(*labels, str(status)).inc()

    def add_counter(self, name: str, meaning: str, read: Read) -> None:
        """Something that only grows, counted elsewhere; the name ends in `_total` when it is shown."""
        self._collected.register(_Reading(CounterMetricFamily, name, meaning, read))

    def add_gauge(self, name: str, meaning: str, read: Read) -> None:
        """Something that is so much now."""
        self._collected.register(_Reading(GaugeMetricFamily, name, meaning, read))

    def text(self) -> bytes:
        """All measurements (Prometheus text format 0.0.4)."""
        return generate_latest(self._collected)


class _Reading(Collector):
    """A measurement that is read when it is asked for."""

    def __init__(self, family: Callable[..., Any], name: str, meaning: str, read: Read) -> None:
        self._family, self._name, self._meaning, self._read = family, name, meaning, read

    def collect(self) -> Iterable[Metric]:
        yield self._family(self._name, self._meaning, value=self._read())

    def describe(self) -> Iterable[Metric]:
        """Its metadata, without reading it."""
        yield self._family(self._name, self._meaning)


def kind_of(method: str, path: str) -> str:
    """The kind of a request: one of a few words, whatever is requested."""
    if path in REPORTING:
        return REPORTING[path]
    if path.startswith("/api/"):
        return "deals_read" if method in READING else "deals_write"
    return "token" if path.startswith("/oauth2/") else "other"


class RequestMeter:
    """ASGI middleware: gives each request its id, sends that back, and notes kind, status and seconds."""

    def __init__(self, app: ASGIApp, meter: Meter) -> None:
        self._app, self._meter = app, meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        began, status, seconds = time.perf_counter(), NO_CLIENT, 0.0
        request_id = request_ids.id_of_caller(Headers(scope=scope).get(request_ids.HEADER))

        async def note_status(message: Message) -> None:
            nonlocal status, seconds
            if message["type"] == "http.response.start":
                status, seconds = message["status"], time.perf_counter() - began
                MutableHeaders(scope=message)[request_ids.HEADER] = request_id
            await send(message)

        with request_ids.under(request_id):
            try:
                await self._app(scope, receive, note_status)
            finally:
                kind = kind_of(scope["method"], scope["path"])
                duration = seconds or time.perf_counter() - began
                self._meter.note(kind, status, duration, scope.get(SLICER, ""))
        return None


class OpenTabs:
    """ASGI middleware: counts the WebSockets that are open, one for each tab with a screen."""

    def __init__(self, app: ASGIApp, meter: Meter) -> None:
        self._app, self._open = app, 0
        meter.add_gauge("tranche_open_tabs", "Tabs with an open screen.", lambda: self._open)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        self._open += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open -= 1
