"""A figure now and before: by how much it changed, and whether that is more than its uncertainty."""

import math
from dataclasses import dataclass

from lib.reporting.answers import Total


@dataclass(frozen=True)
class Change:
    """`ratio` is relative to the figure before; None where one of the two is missing or the earlier is zero.

    It is certain when the figures' 95 % ranges leave room for it: |a - b| > √(side of a² + side of b²).
    """

    ratio: float | None
    is_certain: bool = True


@dataclass(frozen=True)
class Estimate:
    """A value and its range, NaN or None where there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def side(self) -> float:
        """The larger side of the range; 0 without a range."""
        if self.value is None or self.low is None or self.high is None:
            return 0.0
        side = max(self.high - self.value, self.value - self.low)
        return side if math.isfinite(side) else 0.0


def change(now: Estimate, before: Estimate) -> Change:
    """The change from one figure to the other."""
    if not _is_there(now.value) or not _is_there(before.value):
        return Change(None)
    difference = (now.value or 0.0) - (before.value or 0.0)
    is_certain = abs(difference) >= math.hypot(now.side, before.side)
    return Change(difference / abs(before.value) if before.value else None, is_certain)


def of_total(total: Total, field: str) -> Estimate:
    """The total of a data field, with its range where the answer has one."""
    return Estimate(total.values.get(field), total.low.get(field), total.high.get(field))


def _is_there(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
