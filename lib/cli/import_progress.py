"""How far an import has read, as a line on the standard error output."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from lib.wire.text import count_of

ON_A_TERMINAL, IN_A_LOG = 0.2, 10.0  # seconds between lines
_CLEAR = "\r\x1b[K"


class ImportProgress:
    """Counts bytes and rows, and writes them to `stream` every few seconds at most.

    `size` is what there is to read, in bytes. `clock` gives seconds. Counts may come from two threads,
    bytes from one and rows from another; only rows write.
    """

    def __init__(self, size: int, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._size, self._stream, self._clock = size, stream, clock
        self._is_terminal = stream.isatty()
        self._pause = ON_A_TERMINAL if self._is_terminal else IN_A_LOG
        self._began = self._last_write = clock()
        self._bytes = self._rows = 0
        self._is_shown = False

    def read(self, size: int) -> None:
        self._bytes += size

    def take(self, rows: int) -> None:
        """So many more rows were read and checked."""
        self._rows += rows
        now = self._clock()
        if now - self._last_write >= self._pause:
            self._last_write, left = now, ""
            if share := min(self._bytes / self._size, 1.0) if self._size else 0.0:
                left = f", {100 * share:.0f} %, {duration((now - self._began) * (1 - share) / share)} left"
            self._show(f"Reading: {count_of(self._rows, 'row')}{self._rate(now)}{left}", is_last=False)

    def end(self) -> None:
        """All was read, or it ended early: the last line says how many rows, where one was shown before."""
        if self._is_shown:
            self._show(f"Read: {count_of(self._rows, 'row')}{self._rate(self._clock())}", is_last=True)

    def _show(self, line: str, is_last: bool) -> None:
        self._is_shown = True
        in_place = f"{_CLEAR}{line}" + ("\n" if is_last else "")
        self._stream.write(in_place if self._is_terminal else f"{line}\n")
        self._stream.flush()

    def _rate(self, now: float) -> str:
        seconds = now - self._began
        return f", {self._rows / seconds:,.0f} rows/s" if seconds > 0 else ""


@contextmanager
def reading(size: int) -> Iterator[ImportProgress]:
    """The progress of reading `size` bytes, on the standard error output."""
    progress = ImportProgress(size, sys.stderr)
    try:
        yield progress
    finally:
        progress.end()


def duration(seconds: float) -> str:
    """Seconds in words: 8 s, 2 min 5 s, 1 h 2 min."""
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
