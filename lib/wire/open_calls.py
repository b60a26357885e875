"""The calls that each session, or a part of it, waits for, so that they stop when nobody needs them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from weakref import WeakKeyDictionary, WeakSet

from lib.wire.deadline import Deadline

_lock = threading.Lock()
_sessions: WeakKeyDictionary[Deadline, str] = WeakKeyDictionary()
_group: ContextVar["CallGroup | None"] = ContextVar("call_group", default=None)


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
