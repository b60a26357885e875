"""How long an answer may take: one value, made when the question arrives, asked on the way."""

import time
from typing import NoReturn

from lib.wire.errors import DeadlineExceeded


class Deadline:
    """A point in time after which work stops by itself.

    A thread can't be cancelled from outside, so whoever works in pieces calls `check` between them.
    """

    def __init__(self, seconds: float | None = None) -> None:
        """`seconds` from now; None never ends."""
        self.seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds

    def remaining(self) -> float | None:
        """Seconds left, never below zero; None without an end."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def half(self) -> "Deadline":
        """A deadline of its own for a part of the work: half of the time that is left."""
        left = self.remaining()
        return Deadline(None if left is None else left / 2)

    def check(self) -> None:
        """Raise DeadlineExceeded once the time is over."""
        if self._end is not None and time.monotonic() > self._end:
            self.exceeded()

    def exceeded(self) -> NoReturn:
        """Raise DeadlineExceeded, in words that help."""
        raise DeadlineExceeded(
            f"The query took longer than the {self.seconds:g} seconds allowed; "
            "ask for fewer days, a smaller split or a lower audience_rows_limit"
        )
