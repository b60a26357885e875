"""When a figure changed by more than its noise."""

import math
from collections.abc import Sequence

from scipy.special import stdtrit

FEWEST, MOST, CONFIDENCE = 4, 8, 0.99


def usual(past: Sequence[float]) -> tuple[float, float] | None:
    """Between which bounds a figure is expected, after those of the same weekdays in earlier weeks.

    The two-sided 99 % prediction interval for one further observation of a normal sample: mean ± t · s ·
    √(1 + 1/n), with Student's t of n − 1 degrees of freedom and the sample's standard deviation s (Hahn and
    Meeker 1991, "Statistical Intervals", section 4.7). Where nothing has changed, about one check of another
    day in a hundred falls outside of it.

    None where nothing can be said: fewer than four earlier figures, or all of them alike.
    """
    count = len(past)
    if count < FEWEST:
        return None
    mean = math.fsum(past) / count
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in past) / (count - 1))
    if spread <= 1e-12 * abs(mean):
        return None
    side = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2)) * spread * math.sqrt(1 + 1 / count)
    return mean - side, mean + side
