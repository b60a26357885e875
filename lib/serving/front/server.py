"""Serves an ASGI application on a port until stopped, and gives free memory back to the system."""

import ctypes
import errno
import gc
import logging
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.config import LOGGING_CONFIG

from lib.serving.front import logs
from lib.serving.front.request_timeout import BoundedSocket, RequestTimeout
from lib.wire.errors import Misconfigured
from lib.wire.network import Network

log = logging.getLogger(__name__)
BACKLOG = 2048
SECONDS_TO_FINISH = 5
KEEP_ALIVE_SECONDS = 75
ALLOCATOR = {
    -8: 2,  # M_ARENA_MAX
    -3: 1 << 25,  # M_MMAP_THRESHOLD, the most there is
    -1: 1 << 27,  # M_TRIM_THRESHOLD
}


def run(app: ASGIApp, network: Network, ready: Callable[[str], None]) -> None:
    """Serve `app`; `ready` is called with the address once it answers. Port 0 takes a free one.

    Misconfigured when host and port can't be listened on.
    """
    tune_allocator()
    # The address as a browser on this machine would ask.
    host = "localhost" if network.host in ("", "0.0.0.0", "::") else network.host  # noqa: S104
    with listening(network.host, network.port) as listener:
        address = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        config = uvicorn.Config(
            app,
            log_level="warning",
            log_config=None if logs.is_json() else LOGGING_CONFIG,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=SECONDS_TO_FINISH,
            **accepting(network),
        )
        _Server(config, lambda: ready(address)).run(sockets=[listener])


def accepting(network: Network) -> dict[str, Any]:
    """The part of the network that is uvicorn's."""
    return {
        "http": partial(
            RequestTimeout, seconds=network.request_seconds, reader_seconds=network.reader_seconds
        ),
        "ws": partial(BoundedSocket, seconds=network.request_seconds),
        # longer than proxies keep a connection (nginx and load balancers: 60 s): a request that is sent while
        # we close is lost, and nobody may repeat a POST
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
        "proxy_headers": bool(network.trusted_proxies),
        "forwarded_allow_ips": list(network.trusted_proxies),
    }


class _Server(uvicorn.Server):
    """Says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to answer, then say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note the signal that stops the server; a second Ctrl+C stops it at once."""
        log.info("Stopping, since the process received %s", signal.Signals(sig).name)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let open requests finish, then say how it ended."""
        await super().shutdown(sockets)
        log.info("Stopped %s", "at once" if self.force_exit else "in order")


def listening(host: str, port: int) -> socket.socket:
    """A listening socket that says that it is TCP: asyncio sets TCP_NODELAY on connections of such alone."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        reason = f"Can't listen on port {port} of {host}: {error.strerror or error}"
        if error.errno == errno.EADDRINUSE:
            choice = "stop what uses it, or choose another (TRANCHE_PORT or --port)"
            reason = f"Port {port} of {host} is in use: {choice}"
        raise Misconfigured(reason) from error
    return listener


def tune_allocator() -> bool:
    """Limit the arenas of the C library, and let it keep what is freed for a moment; whether it can.

    Call it before threads start. They get arenas of their own there, up to eight for each core: what one
    thread freed is of no use to the next. Thirty visits of a screen left 50 MB free in them; 30 MB once no
    more are made than the imports made, and 7 MB with MALLOC_ARENA_MAX=2 in the environment, from the first
    allocation on. An array of a megabyte that comes from the system and goes back to it costs a page fault
    for every 4 KB: a third of the processor time of an answer of 50,000 rows.
    """
    mallopt = _c_function("mallopt")
    return mallopt is not None and sum(mallopt(*option) for option in ALLOCATOR.items()) == len(ALLOCATOR)


def give_back() -> None:
    """Collect garbage, and return free memory to the system."""
    gc.collect()
    trim = _c_function("malloc_trim")
    if trim is not None:
        trim(0)


def _c_function(name: str) -> Any:
    """The C library's function of that name; None where there is none."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
