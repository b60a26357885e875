"""The ways to an application: embedded, and over a socket."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import httpx
import uvicorn
from starlette.types import ASGIApp

from lib.wire import server
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
    with server.listening("127.0.0.1", 0) as listener:
        serving = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=serving.run, kwargs={"sockets": [listener]})
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            with httpx.Client(base_url=address, timeout=SECONDS) as client:
                yield client
        finally:
            serving.should_exit = True
            thread.join()


TRANSPORTS: dict[str, Callable[[ASGIApp], AbstractContextManager[httpx.Client]]] = {
    "embedded": embedded,
    "socket": socket,
}
