"""Where a server listens, what it accepts from there, and by which address it counts a client."""

import ipaddress
from collections.abc import Collection
from dataclasses import dataclass

NO_ADDRESS = "no address"


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


def is_loopback(host: str) -> bool:
    """Whether the host, a name or an address, is this machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def is_address(host: str) -> bool:
    """Whether the host is an IP address, without brackets."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def client_network(address: str) -> str:
    """The address to count by: an IPv4 address, or the /64 network of an IPv6 address.

    A trusted proxy may forward what is no address; all such count as one.
    """
    try:
        address_parts = ipaddress.ip_address(address)
    except ValueError:
        return NO_ADDRESS
    ipv4 = address_parts.ipv4_mapped if isinstance(address_parts, ipaddress.IPv6Address) else None
    if ipv4 or address_parts.version == 4:
        return str(ipv4 or address_parts)
    return str(ipaddress.ip_network((int(address_parts), 64), strict=False))
