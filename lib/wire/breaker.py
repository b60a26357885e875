"""A service that fails again and again is left alone for a while, so that nobody waits for it in vain.

The pattern is Nygard's circuit breaker (Release It!, chapter 5).
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil

import httpx

from lib.wire.errors import DeadlineExceeded, Resting, Unreachable

FAILURES, REST_SECONDS = 4, 15.0
DEAD = frozenset({502, 503})


class Breaker:
    """Shared by all who ask one service: after failures in a row it refuses for a while, then lets one try.

    A failure is no connection, a broken one, silence, or a gateway's 502 or 503; anything else is an answer.
    """

    def __init__(
        self,
        name: str,
        failures: int = FAILURES,
        seconds: float = REST_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`name` is how the service is called in a sentence: "the reporting service"."""
        self.name = name
        self._most, self._seconds, self._now = failures, seconds, now
        self._lock = threading.Lock()
        self._failures = 0
        self._rests_until = 0.0

    @property
    def rest(self) -> int:
        """Whole seconds until the service is asked again; 0 while it may be asked."""
        return ceil(max(0.0, self._rests_until - self._now()))

    @contextmanager
    def watching(self) -> Iterator[Callable[[httpx.Response], None]]:
        """Around one call; what it gives is told the answer's head. Resting, where it may not begin."""
        self._admit()
        dead: list[bool] = []
        try:
            yield lambda response: dead.append(response.status_code in DEAD)
        except (Unreachable, DeadlineExceeded):
            self._failed()
            raise
        except BaseException:
            self._answered()
            raise
        if any(dead):
            self._failed()
        else:
            self._answered()

    def _admit(self) -> None:
        with self._lock:
            now = self._now()
            if now < self._rests_until:
                raise Resting(self.name, ceil(self._rests_until - now))
            if self._failures >= self._most:
                self._rests_until = now + self._seconds

    def _failed(self) -> None:
        with self._lock:
            self._failures += 1
            if self._failures >= self._most:
                self._rests_until = self._now() + self._seconds

    def _answered(self) -> None:
        with self._lock:
            self._failures, self._rests_until = 0, 0.0
