"""The calls that each session waits for, so that they stop when its tab is closed."""

import threading
from weakref import WeakKeyDictionary

from lib.wire.deadline import Deadline

_lock = threading.Lock()
_sessions: WeakKeyDictionary[Deadline, str] = WeakKeyDictionary()


def track(session_id: str, deadline: Deadline) -> Deadline:
    """The deadline of a call of this session; `abandon` ends it while the call is under way."""
    with _lock:
        _sessions[deadline] = session_id
    return deadline


def abandon(session_id: str) -> None:
    """Abandon the calls that this session waits for now; later calls are not affected."""
    with _lock:
        waiting = [deadline for deadline, owner in _sessions.items() if owner == session_id]
    for deadline in waiting:
        deadline.abandon()
