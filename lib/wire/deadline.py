"""The deadline of a request: one value, made when it arrives and checked while it is worked on.

`track` notes the deadlines of the calls that a session, or a part of it, waits for, so that they stop when
nobody needs them.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NoReturn
from weakref import WeakKeyDictionary, WeakSet

from lib.wire.errors import Abandoned, DeadlineExceeded

_lock = threading.Lock()
_sessions: WeakKeyDictionary["Deadline", str] = WeakKeyDictionary()
_group: ContextVar["CallGroup | None"] = ContextVar("call_group", default=None)


class Deadline:
    """A point in time after which work stops; sooner if the caller has gone.

    A thread can't be cancelled from outside, so whoever works in pieces calls `check` between them.
    """

    def __init__(self, seconds: float | None = None) -> None:
        """`seconds` from now; None never ends."""
        self.seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds
        self._abandoned_event = threading.Event()
        self._whole: Deadline | None = None  # a tracked one is found for as long as a part of it is used

    @property
    def is_abandoned(self) -> bool:
        return self._abandoned_event.is_set()

    def remaining(self) -> float | None:
        """Seconds left, never below zero; None without an end."""
        if self.is_abandoned:
            return 0.0
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def part(self, seconds: float | None = None) -> "Deadline":
        """A deadline for a part of the work: at most so many seconds from now; abandoned with this one."""
        part = Deadline(self.seconds if seconds is None else seconds)
        ends = [end for end in (self._end, part._end if seconds is not None else None) if end is not None]
        part._end, part._abandoned_event, part._whole = min(ends, default=None), self._abandoned_event, self
        return part

    def half(self) -> "Deadline":
        """A deadline for a part of the work: half of the time that is left."""
        remaining = self.remaining()
        return self.part(None if remaining is None else remaining / 2)

    def renew(self) -> None:
        self._end = None if self.seconds is None else time.monotonic() + self.seconds

    def abandon(self) -> None:
        """Note that the caller has gone: the next check stops the work."""
        self._abandoned_event.set()

    def check(self) -> None:
        """Raise DeadlineExceeded once the time is over, Abandoned once the caller has gone."""
        if self.is_abandoned:
            raise Abandoned("The caller is gone")
        if self._end is not None and time.monotonic() > self._end:
            self.raise_error()

    def raise_error(self) -> NoReturn:
        """Raise DeadlineExceeded with a message that says what to do."""
        raise DeadlineExceeded(
            f"The query took longer than the {self.seconds:g} seconds allowed; "
            "ask for fewer days, a smaller split or a lower audience_rows_limit"
        )


class CallGroup:
    """Calls for one purpose, from any number of threads, that can be abandoned together."""

    def __init__(self) -> None:
        self._waiting: WeakSet[Deadline] = WeakSet()
        self._is_abandoned = False

    @contextmanager
    def tracking(self) -> Iterator[None]:
        """Calls that this thread begins in the block belong to the group."""
        before = _group.set(self)
        try:
            yield
        finally:
            _group.reset(before)

    def abandon(self) -> None:
        """Abandon the calls under way, and every later one."""
        with _lock:
            self._is_abandoned = True
            waiting = [*self._waiting]
        for deadline in waiting:
            deadline.abandon()

    def add(self, deadline: Deadline) -> None:
        """Make the call with this deadline one of the group."""
        with _lock:
            self._waiting.add(deadline)
            is_abandoned = self._is_abandoned
        if is_abandoned:
            deadline.abandon()


def track(session_id: str, deadline: Deadline) -> Deadline:
    """The deadline of a call of this session and of the current group; `abandon` ends it under way."""
    if session_id:
        with _lock:
            _sessions[deadline] = session_id
    if (group := _group.get()) is not None:
        group.add(deadline)
    return deadline


def abandon(session_id: str) -> None:
    """Abandon the calls that this session waits for now; later calls are not affected."""
    with _lock:
        waiting = [deadline for deadline, owner in _sessions.items() if owner == session_id]
    for deadline in waiting:
        deadline.abandon()
