"""Throttles password guessing without blocking a thread."""

import ipaddress
import math
import threading
import time
from collections.abc import Callable

from lib.wire.errors import TooManyAttempts

WINDOW = 300.0
LIMITS = {"pair": 5, "name": 50, "address": 50}
REMEMBERED = 20_000
NO_ADDRESS = "no address"

Key = tuple[str, str, str]


class Attempts:
    """Failures of the last five minutes, in memory: by name from one address, by name, and by address.

    Five failures of a name from one address are let through, then one per minute on average; the limits of
    a name alone and of an address alone are ten times that, for guesses spread over addresses or names. At
    most `REMEMBERED` keys are kept, each of at most 64 characters of a name and 43 of an address.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds that never run backwards."""
        self._clock = clock
        self._lock = threading.Lock()
        self._failures: dict[Key, list[float]] = {}

    def begin(self, username: str, address: str | None) -> None:
        """Count an attempt as failed before it is checked, so that parallel attempts can't pass the limit.

        Raises TooManyAttempts, without counting, while the limit is reached.
        """
        now = self._clock()
        keys = _keys(username, address)
        with self._lock:
            self._forget(now)
            recent = {key: [t for t in self._failures.get(key, ()) if t > now - WINDOW] for key in keys}
            wait = max(_wait(times, LIMITS[key[0]], now) for key, times in recent.items())
            if wait > 0:
                raise TooManyAttempts(math.ceil(wait))
            self._failures |= {key: [*times, now] for key, times in recent.items()}

    def succeeded(self, username: str, address: str | None) -> None:
        """Take the attempt back, and the earlier failures of this name from this address with it."""
        pair, *others = _keys(username, address)
        with self._lock:
            self._failures.pop(pair, None)
            for key in others:
                if times := self._failures.get(key):
                    times.pop()

    def _forget(self, now: float) -> None:
        """Bound the memory: beyond `REMEMBERED` keys, remove expired ones, then the oldest."""
        if len(self._failures) <= REMEMBERED:
            return
        recent = [(key, times) for key, times in self._failures.items() if times and times[-1] > now - WINDOW]
        self._failures = dict(recent[-REMEMBERED // 2 :])


def _wait(times: list[float], limit: int, now: float) -> float:
    """Seconds until the next attempt is allowed after failures at these times."""
    return times[-limit] + WINDOW - now if len(times) >= limit else 0.0


def _keys(username: str, address: str | None) -> list[Key]:
    """The keys to count by, the pair first. Without an address only the name, with the pair's limit."""
    if address is None:
        return [("pair", username, "")]
    origin = _origin(address)
    return [("pair", username, origin), ("name", username, ""), ("address", "", origin)]


def _origin(address: str) -> str:
    """The address to count by: an IPv4 address, or the /64 network of an IPv6 address.

    A trusted proxy may forward what is no address; all such count as one.
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return NO_ADDRESS
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    if mapped or found.version == 4:
        return str(mapped or found)
    return str(ipaddress.ip_network((int(found), 64), strict=False))
