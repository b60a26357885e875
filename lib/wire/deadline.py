"""The deadline of a request: one value, made when it arrives and checked while it is worked on."""

import threading
import time
from typing import NoReturn

from lib.wire.errors import Abandoned, DeadlineExceeded


class Deadline:
    """A point in time after which work stops; sooner if the caller has gone.

    A thread can't be cancelled from outside, so whoever works in pieces calls `check` between them.
    """

    def __init__(self, seconds: float | None = None) -> None:
        """`seconds` from now; None never ends."""
        self.seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds
        self._abandoned = threading.Event()

    @property
    def is_abandoned(self) -> bool:
        """Whether the caller has gone."""
        return self._abandoned.is_set()

    def remaining(self) -> float | None:
        """Seconds left, never below zero; None without an end."""
        if self.is_abandoned:
            return 0.0
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def part(self, seconds: float | None = None) -> "Deadline":
        """A deadline for a part of the work: at most so many seconds from now; abandoned with this one."""
        part = Deadline(self.seconds if seconds is None else seconds)
        ends = [end for end in (self._end, part._end if seconds is not None else None) if end is not None]
        part._end, part._abandoned = min(ends, default=None), self._abandoned
        return part

    def half(self) -> "Deadline":
        """A deadline for a part of the work: half of the time that is left."""
        left = self.remaining()
        return self.part(None if left is None else left / 2)

    def renew(self) -> None:
        """Start again from now."""
        self._end = None if self.seconds is None else time.monotonic() + self.seconds

    def abandon(self) -> None:
        """Note that the caller has gone: the next check stops the work."""
        self._abandoned.set()

    def check(self) -> None:
        """Raise DeadlineExceeded once the time is over, Abandoned once the caller has gone."""
        if self.is_abandoned:
            raise Abandoned("The caller is gone")
        if self._end is not None and time.monotonic() > self._end:
            self.exceeded()

    def exceeded(self) -> NoReturn:
        """Raise DeadlineExceeded with a message that says what to do."""
        raise DeadlineExceeded(
            f"The query took longer than the {self.seconds:g} seconds allowed; "
            "ask for fewer days, a smaller split or a lower audience_rows_limit"
        )
