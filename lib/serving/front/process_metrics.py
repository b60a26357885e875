"""`/metrics` of several processes behind one port: those of all of them, each sample with its `process`."""

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import httpx
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from lib.serving.front.processes import COOKIE, Process
from lib.wire.sockets import client

PATH, SECONDS = "/metrics", 5.0
UP = "tranche_process_up"


class ProcessMetrics:
    """ASGI middleware: whichever process is asked for `/metrics` asks all of them, by their cookie.

    `tranche_process_up` is 0 for one that does not answer.
    """

    def __init__(self, app: ASGIApp, process: Process) -> None:
        self._app, self._process = app, process

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != PATH:
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        number = cookie_parser(headers.get("cookie", "")).get(COOKIE)
        if number == str(self._process.number):
            return await self._app(scope, receive, send)
        if number is None:
            answer = await asyncio.to_thread(self._collect, headers.get("authorization", ""))
        else:  # that process has ended, and the parent gave its request to this one
            answer = PlainTextResponse("This process does not run", 503)
        return await answer(scope, receive, send)

    def _collect(self, authorization: str) -> Response:
        numbers, own = range(1, self._process.count + 1), self._process.number
        others = [number for number in numbers if number != own]
        with client(self._process.address, None, base_url=self._process.address, timeout=SECONDS) as http:
            ask = partial(_ask, http, authorization)
            answers = {own: ask(own)}
            if (answer := answers[own]) is not None and answer.is_client_error:  # a token that is wrong
                names = ("www-authenticate", "content-type")
                headers = {name: answer.headers[name] for name in names if name in answer.headers}
                return Response(answer.content, answer.status_code, headers)
            with ThreadPoolExecutor(len(others)) as threads:
                answers |= zip(others, threads.map(ask, others), strict=True)
        texts = {number: answer.text for number, answer in answers.items() if answer and answer.is_success}
        families = [_up(numbers, texts), *merge(texts)]
        return Response(generate_latest(_Collector(families)), media_type=CONTENT_TYPE_LATEST)


def merge(texts: dict[int, str]) -> list[Metric]:
    """The measurements of all processes (number → Prometheus text format), by name."""
    families: dict[str, Metric] = {}
    for number, text in texts.items():
        for family in text_string_to_metric_families(text):
            same = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
            same.samples += [
                sample._replace(labels={**sample.labels, "process": str(number)}) for sample in family.samples
            ]
    return [*families.values()]


class _Collector:
    """What `generate_latest` takes for a registry."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        """The measurements."""
        return self._families


def _up(numbers: Iterable[int], texts: dict[int, str]) -> Metric:
    family = GaugeMetricFamily(UP, "Whether the process answers.", labels=["process"])
    for number in numbers:
        family.add_metric([str(number)], float(number in texts))
    return family


def _ask(http: httpx.Client, authorization: str, number: int) -> httpx.Response | None:
    """What that process answers; None if it does not. The parent gives a cookie's request to its process."""
    headers = {"Authorization": authorization, "Cookie": f"{COOKIE}={number}", "Connection": "close"}
    try:
        answer = http.get(PATH, headers=headers)
    except httpx.HTTPError:
        return None
    return answer
