"""Where a server listens, and what it accepts from there."""

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Network:
    """`request_seconds` bound the arrival of a request's header, and then of its body, `reader_seconds` the
    time in which the reader of an answer takes nothing.

    Addresses and networks in `trusted_proxies` may name the client by X-Forwarded-For and the scheme by
    X-Forwarded-Proto; from everybody else these headers mean nothing. `origins` are the addresses by which
    the server is reached besides `host`.
    """

    host: str
    port: int
    origins: Collection[str] = ()
    request_seconds: float = 30
    trusted_proxies: Collection[str] = ()
    reader_seconds: float = 60
