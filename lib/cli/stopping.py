"""Ending a command in order when its process is told to: what it has begun is cleaned up, and it says so."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class StopSignal(BaseException):
    """A signal asks the process to end. No Exception: what catches errors is not to go on."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.name = signal.Signals(number).name
        self.exit_code = 128 + number  # as shells report it


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise StopSignal in the block when a signal asks the process to end; further ones are ignored then.

    Signals that are ignored already, as SIGHUP below `nohup`, stay so. Only the main thread gets signals: in
    another one nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        for other in before:
            signal.signal(other, signal.SIG_IGN)
        raise StopSignal(number)

    before = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: handler for number, handler in before.items() if handler is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
