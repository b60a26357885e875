"""Rate limit: the number of requests of a caller in any 60 seconds."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from itertools import islice

from lib.wire.errors import Throttled

WINDOW_SECONDS = 60.0
CALLERS_BEFORE_A_SWEEP = 1000
SHARED_AFTER = 20  # a process sends its count to others when it is this part of the limit
OtherCounts = tuple[tuple[float, int], ...]
Share = Callable[[Hashable, int], OtherCounts | None]
"""Sends other processes a caller's count of new requests; returns theirs as (seconds ago, requests)."""
Tallies = Callable[[str], Share | None]
"""What the throttle of a name shares; None if it counts alone."""


def no_tally(name: str) -> None:
    """No throttle shares anything."""


@dataclass
class _Caller:
    """The times of a caller's requests here and in other processes, and how many are still to be sent."""

    times: deque[float] = field(default_factory=deque)
    other_counts: OtherCounts | None = None
    backlog: int = 0
    exchange: Future[None] | None = None
    turn: threading.Lock = field(default_factory=threading.Lock)


class Throttle:
    """The times of each caller's requests in the last minute. Safe among threads.

    Processes that share count together: each tells the others after a twentieth of the limit, so that all of
    them admit at most a twentieth (or one) more for each further process. With an `executor` requests don't
    wait for that, unless the one before is under way: then it is at most a tenth (or two).
    """

    def __init__(
        self,
        a_minute: int,
        now: Callable[[], float] = time.monotonic,
        share: Share | None = None,
        executor: Executor | None = None,
    ) -> None:
        """`now` gives seconds that never run backwards."""
        self.a_minute = a_minute
        self._now, self._share, self._executor = now, share, executor
        self._every = max(1, a_minute // SHARED_AFTER)
        self._lock = threading.Lock()
        self._callers: dict[Hashable, _Caller] = {}

    def admit(self, caller: Hashable) -> None:
        """Count a request; Throttled, which is not counted, if the limit of the last minute is reached."""
        with self._lock:
            state = self._callers.setdefault(caller, _Caller())
        if self._share is None:
            self._admit(caller, state)
        else:
            with state.turn:  # exchanges side by side would each admit more, and the older answer could win
                self._admit(caller, state)

    def _admit(self, caller: Hashable, state: _Caller) -> None:
        if state.other_counts is None:
            self._exchange(caller, state, self._take_backlog(state))
        with self._lock:
            now = self._now()
            while state.times and now - state.times[0] >= WINDOW_SECONDS:
                state.times.popleft()
            others = tuple(count for count in state.other_counts or () if now - count[0] < WINDOW_SECONDS)
            if len(state.times) + sum(count for _, count in others) >= self.a_minute:
                first = min([*islice(state.times, 1), *(at for at, _ in others)])
                wait = max(1, math.ceil(first + WINDOW_SECONDS - now))
                reason = f"More than {self.a_minute} requests a minute; try again in {wait} seconds"
                raise Throttled(wait, reason)
            state.times.append(now)
            state.backlog += 1
            is_due = state.backlog >= self._every
            if len(self._callers) > CALLERS_BEFORE_A_SWEEP:
                # Callers without a request in the last minute.
                for other, other_state in list(self._callers.items()):
                    if not other_state.times or now - other_state.times[-1] >= WINDOW_SECONDS:
                        del self._callers[other]
        if not is_due or self._share is None:
            return
        backlog = self._take_backlog(state)
        if self._executor is None:
            self._exchange(caller, state, backlog)
        else:
            if state.exchange is not None:
                state.exchange.result()
            state.exchange = self._executor.submit(self._exchange, caller, state, backlog)

    def _take_backlog(self, state: _Caller) -> int:
        with self._lock:
            backlog, state.backlog = state.backlog, 0
            return backlog

    def _exchange(self, caller: Hashable, state: _Caller, backlog: int) -> None:
        """Sync counts across processes; what can't be sent now is sent the next time."""
        if self._share is None:
            return
        share = self._share(caller, backlog)
        with self._lock:
            if share is None:
                state.backlog += backlog
            else:
                now = self._now()
                state.other_counts = tuple((now - ago, count) for ago, count in share)
