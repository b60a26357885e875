"""How wide ranges have to be, by how far earlier ones were off: split conformal prediction.

A range is one of a nested family: scale 1 is the range as it was made, scale 2 is twice as wide, by
logarithms where all of it is above zero. The score of a past range is the scale at which it would just have
held. Where past and next are exchangeable, the ⌈(n + 1) · 95 %⌉th smallest of n scores is a scale at which
the next range holds with at least 95 % (Vovk, Gammerman and Shafer 2005, "Algorithmic Learning in a Random
World"; Lei et al. 2018, "Distribution-free predictive inference for regression"; for families, Gupta,
Kuchibhotla and Ramdas 2022, "Nested conformal prediction"). They are not where errors grow: then `drifts`
says so.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, binom

from lib.reporting.confidence import NORMAL, TAIL

CONFIDENCE = 1 - 2 * TAIL
FEWEST, LATEST, LATELY = 30, 200, 30
LEAST, MOST = 0.25, 2.5
"""A larger scale says that the report broke, and not how wide ranges have to be: once the break is in their
back-test they are made wider, and both together would say nothing."""
FALSE_DRIFTS = 0.01


@dataclass(frozen=True)
class Span:
    """An estimate with its range, all in the unit of the figure."""

    estimate: float
    low: float
    high: float

    @property
    def is_ratio(self) -> bool:
        """Whether its sides are factors: all of it is above zero."""
        return self.low > 0 and self.estimate > 0

    @property
    def width(self) -> float:
        """The width of the range as a share of the estimate; NaN of none."""
        return (self.high - self.low) / abs(self.estimate) if self.estimate else math.nan

    def holds(self, actual: float) -> bool:
        """Whether this figure is within the range."""
        return self.low <= actual <= self.high

    def scaled(self, scale: float) -> "Span":
        """The range of the same family that is so many times as wide on either side."""
        if scale == 1:
            return self
        if self.is_ratio:
            low, high = (self.estimate * (side / self.estimate) ** scale for side in (self.low, self.high))
        else:
            low, high = (self.estimate + scale * (side - self.estimate) for side in (self.low, self.high))
            low = max(low, 0.0) if self.low >= 0 else low
        return Span(self.estimate, low, high)

    def score(self, actual: float) -> float:
        """The scale at which the range would just hold this figure; infinite where none would."""
        side = self.high if actual >= self.estimate else self.low
        if self.is_ratio:
            if actual <= 0:
                return math.inf
            error, half = math.log(actual / self.estimate), math.log(side / self.estimate)
        else:
            error, half = actual - self.estimate, side - self.estimate
        if error == 0:
            return 0.0
        return error / half if half else math.inf


def learn(scores: Sequence[float]) -> float | None:
    """The scale by the latest of these scores, the oldest first; None where they are too few."""
    latest = np.sort(np.asarray(scores[-LATEST:], dtype=np.float64))
    if len(latest) < FEWEST:
        return None
    return float(np.clip(latest[_place(len(latest)) - 1], LEAST, MOST))


def drifts(scores: Sequence[float]) -> bool:
    """Whether the latest LATELY of these scores, the oldest first, are more often beyond the scale that all
    before them teach than exchangeable ones are in 99 of 100 cases.

    The number beyond the k-th smallest of n scores is a beta-binomial one.
    """
    before = np.sort(np.asarray(scores[:-LATELY], dtype=np.float64))
    if (count := len(before)) < FEWEST:
        return False
    place = _place(count)
    misses = sum(one > before[place - 1] for one in scores[-LATELY:])
    above, below, more = count + 1 - place, place, np.arange(misses, LATELY + 1)
    chances = binom(LATELY, more) * np.exp(betaln(more + above, LATELY - more + below) - betaln(above, below))
    return float(chances.sum()) < FALSE_DRIFTS


def _place(count: int) -> int:
    """Which of so many scores, the smallest first, is the scale."""
    return min(math.ceil((count + 1) * CONFIDENCE), count)


def wilson(hits: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share, 0 to 1, by Wilson (1927); all of it without any case."""
    if not count:
        return 0.0, 1.0
    share, square = hits / count, NORMAL**2
    middle = (share + square / (2 * count)) / (1 + square / count)
    side = NORMAL * math.sqrt(share * (1 - share) / count + square / (4 * count**2)) / (1 + square / count)
    return max(0.0, middle - side), min(1.0, middle + side)
