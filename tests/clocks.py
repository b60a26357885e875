"""Clocks that stand still until a test moves them."""

from datetime import UTC, datetime


class Stopwatch:
    """Seconds, as `time.monotonic` counts them."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        """What it says."""
        return self.seconds


class Clock:
    """The time of day."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        """What it says."""
        return self.now
