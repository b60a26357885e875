"""Sampling: sizes, the fixed random order, and the grid of thresholds.

Every record has a size s > 0 and a random u in (0, 1) of its own; inside a day records lie by q = u / s. A
sample is q < τ, a prefix of every day; a record is in it with probability min(1, τ·s) and weighs the inverse
(Poisson sampling with probability proportional to size: Särndal, Swensson, Wretman, *Model Assisted Survey
Sampling*, 3.6). A larger τ contains the smaller.

A size is the product of what the record is in its day (1 on average) and what the day is in the layout. So a
day's order follows from its own records, whatever days come and go.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

GRID_STEP = 2 ** (1 / 16)
SMALLEST_SAMPLE = 1000
LONGEST_GRID = 1024  # from all records down to one of 2^64
ROUNDING = 2.0**-40

Floats = npt.NDArray[np.float64]
Sizes = npt.NDArray[np.float32]


def sizes_in_day(columns: Iterable[tuple[str, Floats]], records: int) -> tuple[Sizes, dict[str, float]]:
    """The size of each record in its day: the mean of 1 and of |y| / mean|y| over the day's `columns`.

    A missing y counts as 0, and columns that are all zero are left out. Also returned: Σ|y| of each column.
    """
    total, volume = np.ones(records), {}
    for name, column in columns:
        absolute = np.fmax(np.abs(column), 0.0)
        volume[name] = float(absolute.sum())
        if volume[name] > 0:
            total += absolute / (volume[name] / records)
    fields = sum(sum_ > 0 for sum_ in volume.values())
    return np.asarray(total / (1 + fields), dtype=np.float32), volume


def sizes_of_days(volume: list[dict[str, float]], records: list[int]) -> list[float]:
    """The size of each day: the mean of 1 and of mean|y| in the day / mean|y| in all, over the fields."""
    names = volume[0] if volume else {}
    everything = {name: sum(day[name] for day in volume) for name in names}
    means = {name: total / sum(records) for name, total in everything.items() if total > 0}
    return [
        (1 + sum(day[name] / count / mean for name, mean in means.items())) / (1 + len(means))
        for day, count in zip(volume, records, strict=True)
    ]


def uniform(seed: int, day: int, records: int) -> Floats:
    """A fixed random number in (0, 1) per position of a day: SplitMix64 of seed, day and position."""
    with np.errstate(over="ignore"):
        start = _mix(np.uint64(seed) + _mix(np.array([day], dtype=np.int64).view(np.uint64)))
        positions = np.arange(1, records + 1, dtype=np.uint64)
        bits = _mix(start + positions * np.uint64(0x9E3779B97F4A7C15))
    return ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def _mix(value: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finalizer of SplitMix64 (Steele, Lea, Flood 2014)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def thresholds(days: list[Floats], sizes: list[float]) -> tuple[Floats, npt.NDArray[np.int64]]:
    """The grid of τ, ascending, and how many records of each day it draws: shape (days, thresholds).

    `days` are the sorted u / size in the day, `sizes` those of the days. The last τ draws everything; the
    first at most SMALLEST_SAMPLE.
    """
    last = (float(day[-1]) / size for day, size in zip(days, sizes, strict=True) if len(day))
    largest = max(last, default=1.0)
    descending = largest * (1 + ROUNDING) * GRID_STEP ** -np.arange(LONGEST_GRID, dtype=np.float64)
    counts = np.zeros((len(days), LONGEST_GRID), dtype=np.int64)
    for place, (day, size) in enumerate(zip(days, sizes, strict=True)):
        counts[place] = np.searchsorted(day, descending * size)
    enough = np.flatnonzero(counts.sum(axis=0) <= SMALLEST_SAMPLE)
    length = int(enough[0]) + 1 if len(enough) else LONGEST_GRID
    return descending[:length][::-1].copy(), counts[:, :length][:, ::-1].copy()


def weights(size: Sizes, tau: float) -> Floats:
    """The weight of each record drawn: the inverse of its inclusion probability."""
    return np.maximum(1.0, 1.0 / (tau * size.astype(np.float64)))
