"""Rate limit: the number of requests of a caller in any 60 seconds."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable

from lib.wire.errors import Throttled

WINDOW_SECONDS = 60.0
CALLERS_BEFORE_A_SWEEP = 1000


class Throttle:
    """The times of each caller's requests in the last minute. Safe among threads."""

    def __init__(self, a_minute: int, now: Callable[[], float] = time.monotonic) -> None:
        self.a_minute = a_minute
        self._now = now
        self._lock = threading.Lock()
        self._admitted: dict[Hashable, deque[float]] = {}

    def admit(self, caller: Hashable) -> None:
        """Count a request; Throttled, which is not counted, if the limit of the last minute is reached."""
        with self._lock:
            now = self._now()
            times = self._admitted.setdefault(caller, deque())
            while times and now - times[0] >= WINDOW_SECONDS:
                times.popleft()
            if len(times) >= self.a_minute:
                wait = max(1, math.ceil(times[0] + WINDOW_SECONDS - now))
                raise Throttled(
                    wait, f"More than {self.a_minute} requests a minute; try again in {wait} seconds"
                )
            times.append(now)
            if len(self._admitted) > CALLERS_BEFORE_A_SWEEP:
                self._sweep(now)

    def _sweep(self, now: float) -> None:
        """Remove callers without a request in the last minute."""
        idle = [one for one, times in self._admitted.items() if now - times[-1] >= WINDOW_SECONDS]
        for caller in idle:
            del self._admitted[caller]
