"""Sampling: sizes, the fixed random order, and the grid of thresholds.

Every record has a size s > 0 and a random u in (0, 1) of its own; inside a day records lie by q = u / s. A
sample is q < τ, a prefix of every day; a record is in it with probability min(1, τ·s) and weighs the inverse
(Poisson sampling with probability proportional to size: Särndal, Swensson, Wretman, *Model Assisted Survey
Sampling*, 3.6). A larger τ contains the smaller.
"""

import numpy as np
import numpy.typing as npt

GRID_STEP = 2 ** (1 / 16)
SMALLEST_SAMPLE = 1000

Floats = npt.NDArray[np.float64]


def scales(sums: dict[str, float], records: int) -> dict[str, float]:
    """Mean |y| per additive field, from Σ|y|; fields that are all zero are left out."""
    return {name: total / records for name, total in sums.items() if total > 0}


def sizes(columns: dict[str, Floats], scale: dict[str, float], records: int) -> npt.NDArray[np.float32]:
    """The size of each record: the mean of 1 and of |y| / mean|y| over the fields of `scale`."""
    total = np.ones(records)
    for name, mean in scale.items():
        total += np.abs(np.nan_to_num(columns[name])) / mean
    return np.asarray(total / (1 + len(scale)), dtype=np.float32)


def uniform(seed: int, day: int, records: int) -> Floats:
    """A fixed random number in (0, 1) per position of a day: SplitMix64 of seed, day and position."""
    with np.errstate(over="ignore"):
        start = _mix(np.uint64(seed) + _mix(np.array([day], dtype=np.int64).view(np.uint64)))
        mixed = _mix(start + np.arange(1, records + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    return ((mixed >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def _mix(value: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def thresholds(days: list[Floats]) -> tuple[Floats, npt.NDArray[np.int64]]:
    """The grid of τ, ascending, and how many records of each day it draws: shape (days, thresholds).

    `days` are the sorted q of each day. The last τ draws everything; the first at most SMALLEST_SAMPLE.
    """
    largest = max((day[-1] for day in days if len(day)), default=1.0)
    grid = [float(np.nextafter(largest, np.inf))]
    while sum(int(np.searchsorted(day, grid[-1])) for day in days) > SMALLEST_SAMPLE:
        grid.append(grid[-1] / GRID_STEP)
    ascending = np.array(grid[::-1])
    return ascending, np.array([np.searchsorted(day, ascending) for day in days]).reshape(
        len(days), len(grid)
    )


def weights(size: npt.NDArray[np.float32], tau: float) -> Floats:
    """The weight of each record drawn: the inverse of its inclusion probability."""
    return np.maximum(1.0, 1.0 / (tau * size.astype(np.float64)))
