"""Circuit breaker: a service that keeps failing is not called for a while, so that nobody waits for it.

The pattern is Nygard's circuit breaker (Release It!, chapter 5).
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import ceil

import httpx

from lib.wire import request_ids
from lib.wire.errors import Abandoned, CircuitOpen, ResponseTimeout, Unreachable

FAILURES, REST_SECONDS = 4, 15.0
DEAD = frozenset({502, 503})
PASSING = DEAD | {429}
WAITED_FOR, LONGEST_REST = 10.0, 300.0
SILENT, WISHES = "does not answer", "asks to wait"


def retry_after(response: httpx.Response | None) -> float:
    """Seconds to wait by Retry-After (RFC 9110, 10.2.3); 0 without it."""
    value = "" if response is None else response.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdecimal():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return 0.0


class Breaker:
    """Shared by all callers of a service: opens after failures in a row, then lets one call try.

    A failure is no connection, a broken one, silence, or a gateway's 502 or 503; anything else is an answer,
    also the 503 of a service of Tranche's that says what is wrong with one slicer.
    A call that nobody waits for any more says nothing. A `Retry-After` that is too long for a call to wait
    for is a rest too, of five minutes at most.
    """

    def __init__(
        self,
        name: str,
        failures: int = FAILURES,
        seconds: float = REST_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`name` is the service in a sentence: "the reporting service"."""
        self.name = name
        self._most, self._seconds, self._now = failures, seconds, now
        self._lock = threading.Lock()
        self._failures = 0
        self._rests_until, self._why = 0.0, SILENT

    @property
    def rest(self) -> int:
        """Whole seconds until the service is asked again; 0 while it may be asked."""
        return ceil(max(0.0, self._rests_until - self._now()))

    @contextmanager
    def watching(self) -> Iterator[Callable[[httpx.Response], None]]:
        """Watch one call; yields a function that takes the response. CircuitOpen if the circuit is open."""
        with self._lock:
            now = self._now()
            if now < self._rests_until:
                raise CircuitOpen(self.name, ceil(self._rests_until - now), self._why)
            if self._failures >= self._most:
                self._rests_until = now + self._seconds
        responses: list[httpx.Response] = []
        try:
            yield responses.append
        except Abandoned:
            raise
        except (Unreachable, ResponseTimeout):
            self._note_failure()
            raise
        except BaseException:
            self._note_answer()
            raise
        if any(response.status_code in DEAD and not _says_why(response) for response in responses):
            self._note_failure()
        else:
            self._note_answer()
        for response in responses:
            seconds = retry_after(response) if response.status_code in PASSING else 0.0
            if seconds > WAITED_FOR:
                with self._lock:
                    self._rests_until, self._why = self._now() + min(seconds, LONGEST_REST), WISHES

    def _note_failure(self) -> None:
        with self._lock:
            self._failures += 1
            if self._failures >= self._most:
                self._rests_until, self._why = self._now() + self._seconds, SILENT

    def _note_answer(self) -> None:
        with self._lock:
            self._failures, self._rests_until = 0, 0.0


def _says_why(response: httpx.Response) -> bool:
    """Whether a service of Tranche's explains a 503 that lasts: what can pass has `Retry-After`."""
    is_json = response.headers.get("content-type", "").startswith("application/json")
    return is_json and request_ids.HEADER in response.headers and "retry-after" not in response.headers
