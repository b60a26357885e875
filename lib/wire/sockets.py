"""Clients whose sockets keep to the deadline of the call.

The time-outs of httpx are those of one message: a service that sends a byte now and then, in its headers too,
would be waited for without an end. The network backend is httpcore's seam for this; httpx hands none
in, so that it is put into the pools of a client that is made.
"""

import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpcore
import httpx

from lib.wire.deadline import Deadline
from lib.wire.errors import Misconfigured
from lib.wire.network import is_loopback

LEAST = 0.001  # 0 would mean: do not wait at all
STEP_SECONDS = 0.25
STEP_BYTES = 64 * 1024
DIRECT = dict.fromkeys(("all://", "http://", "https://"))
_deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def until(deadline: Deadline) -> Iterator[None]:
    """Apply the deadline to all bounded sockets that this thread uses in the block."""
    before = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(before)


def steps(timeout: float | None) -> Iterator[float]:
    """The seconds in which to wait for a message, at least once: together
    its time-out, or what is left of the deadline.

    Between them whoever waits finds out that the deadline was abandoned, and waits no longer.
    """
    message = Deadline(timeout)
    remaining = _within(timeout)
    while remaining is None or remaining > 0:
        yield STEP_SECONDS if remaining is None else min(STEP_SECONDS, remaining)
        deadline = _deadline.get() or message
        rests = (message.remaining(), deadline.remaining())
        remaining = min((rest for rest in rests if rest is not None), default=None)


def client(address: str, ca_file: Path | None, **options: Any) -> httpx.Client:
    """A client for a service, with httpx's `options`; Misconfigured for a `ca_file` without certificates.

    It verifies certificates and follows no redirects, which would carry secrets to wherever they point. It
    uses the proxies of the environment, but not for a service on this machine: what may go there unencrypted
    is not for a proxy elsewhere.
    """
    direct = DIRECT if is_loopback(urlsplit(address).hostname or "") else None
    verify: ssl.SSLContext | bool = True
    if ca_file is not None:
        try:
            verify = ssl.create_default_context(cafile=str(ca_file))
        except (OSError, ssl.SSLError) as error:
            raise Misconfigured(f"ca_file {ca_file} can't be read as certificates: {error}") from None
    return keep_deadline(httpx.Client(follow_redirects=False, mounts=direct, verify=verify, **options))


def keep_deadline(http: httpx.Client) -> httpx.Client:
    """The client, whose sockets, also those to proxies, keep to the deadline of `until`."""
    for transport in (http._transport, *http._mounts.values()):
        if isinstance(transport, httpx.HTTPTransport):
            pool: Any = transport._pool
            # httpx has no way to hand one in, and its pools have a private name.
            pool._network_backend = BoundedBackend(pool._network_backend)
    return http


class BoundedBackend(httpcore.NetworkBackend):
    """A network backend whose connections keep to the deadline."""

    def __init__(self, backend: httpcore.NetworkBackend) -> None:
        self._backend = backend

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        stream = self._backend.connect_tcp(host, port, _within(timeout), local_address, socket_options)
        return BoundedStream(stream)

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.NetworkStream:
        return BoundedStream(self._backend.connect_unix_socket(path, _within(timeout), socket_options))

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


class BoundedStream(httpcore.NetworkStream):
    """A connection that keeps to the deadline."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read the next bytes; not after the deadline, even if they are there."""
        _check()
        for seconds in steps(timeout):
            try:
                return self._stream.read(max_bytes, seconds)
            except httpcore.ReadTimeout as error:
                late = error
        raise late

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for first in range(0, len(buffer), STEP_BYTES):
            _check()
            # A large write is one call of the driver, which would look at no deadline until it ends.
            self._stream.write(buffer[first : first + STEP_BYTES], _within(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return BoundedStream(self._stream.start_tls(ssl_context, server_hostname, _within(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _check() -> None:
    """Raise ReadTimeout after the deadline: a service that never stops sending would never be left."""
    deadline = _deadline.get()
    if deadline is not None and deadline.remaining() == 0:
        raise httpcore.ReadTimeout("The deadline is over")


def _within(timeout: float | None) -> float | None:
    """The time-out of one message, or what is left of the deadline where that is less."""
    deadline = _deadline.get()
    remaining = None if deadline is None else deadline.remaining()
    if remaining is None:
        return timeout
    return max(LEAST, remaining if timeout is None else min(remaining, timeout))
