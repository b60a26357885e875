"""An application on a socket of this machine, served by a thread of the test's own process; one to serve."""

import itertools
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from lib.reporting.routes import ReportingApi, router
from lib.reporting.service import ReportingService
from lib.serving.front import server
from lib.wire.apis import api

PORTS = range(10_000, 32_000)  # below those that systems give to outgoing connections
_next = itertools.count(os.getpid() * 61)  # another process of the tests begins elsewhere


def free_port() -> int:
    """A port on which nobody listens, and which no connection is given meanwhile."""
    for number in itertools.islice(_next, len(PORTS)):
        port = PORTS[number % len(PORTS)]
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("No port of this machine is free")


@contextmanager
def serving(app: ASGIApp, **options: Any) -> Iterator[str]:
    """Its address, on a free port, until the end of the block; `options` are uvicorn's."""
    usual = {"log_level": "critical", "timeout_graceful_shutdown": 1}
    with server.listening("127.0.0.1", 0) as listener:
        running = uvicorn.Server(uvicorn.Config(app, **(usual | options)))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            running.should_exit = True
            thread.join()


def reporting_app(service: ReportingService) -> FastAPI:
    """The reporting API of this service, as an application of its own."""
    return api([router], 10**6, reporting=ReportingApi(service))
