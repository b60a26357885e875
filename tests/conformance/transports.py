"""The ways to an application: embedded, and over a socket."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import httpx
from serving import serving
from starlette.types import ASGIApp

from lib.wire.transport import InProcess

SECONDS = 60


@contextmanager
def embedded(app: ASGIApp) -> Iterator[httpx.Client]:
    """A client of the application in this process."""
    with httpx.Client(transport=InProcess(app), base_url="http://in-process", timeout=SECONDS) as client:
        yield client


@contextmanager
def socket(app: ASGIApp) -> Iterator[httpx.Client]:
    """A client of the application on a free port of this machine, served by a thread."""
    with serving(app) as address, httpx.Client(base_url=address, timeout=SECONDS) as client:
        yield client


TRANSPORTS: dict[str, Callable[[ASGIApp], AbstractContextManager[httpx.Client]]] = {
    "embedded": embedded,
    "socket": socket,
}
