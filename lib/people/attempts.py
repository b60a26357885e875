"""Throttles password guessing without blocking a thread."""

import ipaddress
import math
import time
from collections.abc import Callable

from sqlalchemy import ColumnElement, Connection, Engine, delete, func, insert, select

from lib.database import reading, transact
from lib.people.tables import attempts
from lib.wire.deadline import Deadline
from lib.wire.errors import TooManyAttempts

WINDOW = 300.0
LIMITS = {"pair": 5, "name": 50, "address": 50}
REMEMBERED = 60_000
SECONDS = 10
NO_ADDRESS = "no address"

Key = tuple[str, str, str]


class Attempts:
    """Failures of the last five minutes, in the database: by name from one address, by name, and by address.

    Five failures of a name from one address are let through, then one per minute on average; the limits of
    a name alone and of an address alone are ten times that, for guesses spread over addresses or names. All
    desks over the database count together. At most `REMEMBERED` rows are kept, up to three per attempt.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives seconds since 1970."""
        self._engine, self._clock = engine, clock

    def begin(self, username: str, address: str | None) -> None:
        """Count an attempt as failed before it is checked, so that parallel attempts can't pass the limit.

        Raises TooManyAttempts, without counting or writing, while the limit is reached.
        """
        now, keys = self._clock(), _keys(username, address)
        rows = [{"kind": kind, "name": name, "origin": origin, "at": now} for kind, name, origin in keys]

        def counted(connection: Connection) -> float:
            if wait := _longest_wait(connection, keys, now):
                return wait
            connection.execute(insert(attempts), rows)
            _forget(connection, now)
            return 0.0

        wait = reading(
            self._engine, lambda found: _longest_wait(found, keys, now), Deadline(SECONDS)
        ) or transact(self._engine, counted, Deadline(SECONDS))
        if wait > 0:
            raise TooManyAttempts(math.ceil(wait))

    def succeeded(self, username: str, address: str | None) -> None:
        """Take the attempt back, and the earlier failures of this name from this address with it."""
        pair, *others = _keys(username, address)

        def within(connection: Connection) -> None:
            connection.execute(delete(attempts).where(_of(pair)))
            for key in others:
                last = select(func.max(attempts.c.id)).where(_of(key)).scalar_subquery()
                connection.execute(delete(attempts).where(attempts.c.id == last))

        transact(self._engine, within, Deadline(SECONDS))


def _longest_wait(connection: Connection, keys: list[Key], now: float) -> float:
    """Seconds until an attempt with these keys is allowed."""
    return max(_wait(_recent(connection, key, now), LIMITS[key[0]], now) for key in keys)


def _recent(connection: Connection, key: Key, now: float) -> list[float]:
    """The times of the key's failures in the window, as many as its limit at most, in their order.

    A clock that was put back has left times to come: those beyond the window don't count.
    """
    recent = (attempts.c.at > now - WINDOW) & (attempts.c.at <= now + WINDOW)
    latest = select(attempts.c.at).where(_of(key), recent).order_by(attempts.c.at.desc())
    return list(connection.execute(latest.limit(LIMITS[key[0]])).scalars())[::-1]


def _forget(connection: Connection, now: float) -> None:
    """Bound the table: remove what is over, and beyond `REMEMBERED` rows the oldest."""
    over = (attempts.c.at <= now - WINDOW) | (attempts.c.at > now + WINDOW)
    oldest = select(attempts.c.id).order_by(attempts.c.id.desc()).limit(1).offset(REMEMBERED)
    connection.execute(delete(attempts).where(over | (attempts.c.id <= oldest.scalar_subquery())))


def _of(key: Key) -> ColumnElement[bool]:
    kind, name, origin = key
    return (attempts.c.kind == kind) & (attempts.c.name == name) & (attempts.c.origin == origin)


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
