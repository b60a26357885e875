"""Throttles password guessing without blocking a thread."""

import math
import time
from collections.abc import Callable

from sqlalchemy import ColumnElement, Connection, Engine, delete, func, insert, select

from lib.database import DatabaseScope
from lib.people.tables import attempts
from lib.wire.errors import TooManyAttempts
from lib.wire.network import client_network

WINDOW = 3600.0
FREE = {"pair": 5, "device": 5, "name": 50}
MANY, FREE_AMONG_MANY = 50, 1
FIRST_DELAY, LONGEST_DELAY = 5.0, 300.0
MOST_ROWS = 60_000

Key = tuple[str, str, str]


class Attempts:
    """Failures of the last hour, in the database: by name from one address, by name, and by address.

    Five failures of a name from one address are free; the next attempts wait 5 seconds after the last
    failure, then 10, 20 … and 300 at most. So do those of a name after fifty failures, for guesses spread
    over addresses. After fifty failures from an address one failure of each name there is free instead of
    five, which slows guesses spread over names: whoever shares the address still gets in at once.

    A browser with which this person has signed in before counts by itself, so that no failure elsewhere
    delays the right password there (OWASP, "device cookies"). All desks over the database count together. At
    most `MOST_ROWS` rows are kept, up to three per attempt.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives seconds since 1970."""
        self._scope, self._clock = DatabaseScope(engine), clock

    def begin(self, username: str, address: str | None, device: str | None = None) -> None:
        """Count an attempt as failed before it is checked, so that parallel attempts can't pass the limit.

        `device` is the number of a browser that this person is known to use. Raises TooManyAttempts, without
        counting or writing, until the delay is over.
        """
        now, keys = self._clock(), _keys(username, address, device)
        rows = [{"kind": kind, "name": name, "origin": origin, "at": now} for kind, name, origin in keys]
        if wait := self._scope.read(lambda connection: _longest_wait(connection, keys, now)):
            raise TooManyAttempts(math.ceil(wait))
        with self._scope.write() as connection:
            if wait := _longest_wait(connection, keys, now):
                raise TooManyAttempts(math.ceil(wait))
            connection.execute(insert(attempts), rows)
            # Bound the table: remove what is over, and beyond `MOST_ROWS` rows the oldest.
            is_over = (attempts.c.at <= now - WINDOW) | (attempts.c.at > now + LONGEST_DELAY)
            oldest = select(attempts.c.id).order_by(attempts.c.id.desc()).limit(1).offset(MOST_ROWS)
            connection.execute(delete(attempts).where(is_over | (attempts.c.id <= oldest.scalar_subquery())))

    def take_back(self, username: str, address: str | None, device: str | None = None) -> None:
        """Take the attempt back, and the earlier failures of this name from this address with it."""
        pair, *others = _keys(username, address, device)
        last = [select(func.max(attempts.c.id)).where(_of(key)).scalar_subquery() for key in others]
        conditions = [_of(pair), *(attempts.c.id == number for number in last)]
        self._scope.execute(*(delete(attempts).where(condition) for condition in conditions))


def _longest_wait(connection: Connection, keys: list[Key], now: float) -> float:
    """Seconds until an attempt with these keys is allowed.

    A clock that was put back has left times to come: those beyond the longest delay don't count.
    """
    recent = (attempts.c.at > now - WINDOW) & (attempts.c.at <= now + LONGEST_DELAY)
    failures: dict[str, tuple[int, float]] = {}
    for key in keys:
        query = select(func.count(), func.max(attempts.c.at)).where(_of(key), recent)
        count, last = connection.execute(query).one()
        failures[key[0]] = count, last or 0.0
    count, _ = failures.pop("address", (0, 0.0))
    free = FREE | ({"pair": FREE_AMONG_MANY} if count >= MANY else {})
    wait = 0.0
    for kind, (count, last) in failures.items():
        if (beyond := count - free[kind]) >= 0:
            delay = min(LONGEST_DELAY, FIRST_DELAY * 2.0 ** min(beyond, MANY))
            wait = max(wait, last + delay - now)
    return wait


def _of(key: Key) -> ColumnElement[bool]:
    kind, name, origin = key
    return (attempts.c.kind == kind) & (attempts.c.name == name) & (attempts.c.origin == origin)


def _keys(username: str, address: str | None, device: str | None) -> list[Key]:
    """The keys to count by, the pair first. Without an address only the name, with the pair's limit."""
    if device is not None:
        return [("device", username, device)]
    if address is None:
        return [("pair", username, "")]
    origin = client_network(address)
    return [("pair", username, origin), ("name", username, ""), ("address", "", origin)]
