"""Who waits for which answers, so that questions whose asker has gone stop."""

import threading
from weakref import WeakKeyDictionary

from lib.wire.deadline import Deadline

_lock = threading.Lock()
_askers: WeakKeyDictionary[Deadline, str] = WeakKeyDictionary()


def asks(asker: str, deadline: Deadline) -> Deadline:
    """The deadline, abandoned as soon as this asker (the id of a session) has gone."""
    with _lock:
        _askers[deadline] = asker
    return deadline


def gone(asker: str) -> None:
    """Abandon whatever this asker waits for now; what it asks later is waited for again."""
    with _lock:
        waiting = [deadline for deadline, who in _askers.items() if who == asker]
    for deadline in waiting:
        deadline.abandon()
