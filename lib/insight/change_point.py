"""The day on which a rate fell: one change point per series, held against noise as persistent as its own.

The rate of a day is taken as a logarithm. For each day that may be the first one after a change, the days
from it on are held against the same weekdays of the four weeks before, and the largest fall over its standard
error is the statistic (a maximal test for an unknown change point; Andrews 1993, "Tests for parameter
instability"). How large it gets without a change depends on how neighboring days hang together, so it is
simulated: autoregressions of several strengths go through the same steps, and a series is held against those
that look as persistent as itself. What is no more than a slow drift, small, or over by now is no change.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from lib.reporting import noise

Numbers = npt.NDArray[np.float64]
DAYS = 63  # of a series: nine weeks
BASELINE = 28  # days before a change that those from it on are held against: four weeks
FEWEST_BEFORE = 21  # days with a rate before a change
FEWEST_AFTER = 3  # days with a rate from a change on
WEEK = 7  # days
LARGEST_REST, FALSE_CLAIMS = 0.7, 0.01
"""The part of a rate that may be left of it in a fall; the probability of a false claim per deal."""
FEWEST_COUNTS = 30.0  # in the four weeks before a fall, for it to be judged
FEWEST_EXPECTED = 10.0  # counts since the fall, by the rate before it
SIMULATIONS, PERSISTENCE, NEAREST = 1_500, (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.0), 1_500
"""Series that are simulated for each persistence (1 is a random walk), and how many of them a series is held
against."""


@dataclass(frozen=True)
class Fall:
    """A rate that fell: the index of the first day after, the rates before and after, and how often noise
    alone falls as far in one of the deal's series (`chance`, 0 to 1)."""

    start: int
    before: float
    after: float
    chance: float

    @property
    def rest(self) -> float:
        """What is left of the rate, as a part of it."""
        return self.after / self.before


@dataclass(frozen=True)
class _Maxima:
    """Of each series: its largest statistic, where, and the persistence of what is left around the change."""

    statistic: Numbers
    start: npt.NDArray[np.int64]
    persistence: Numbers


def falls(counts: Numbers, bases: Numbers, tests: int = 1) -> list[Fall | None]:
    """Of each series the fall that lasts to its end, if there is one; counts per day and what they are a part
    of, shape (series, days). Days with a base of zero, or NaN, have no rate.

    `tests` is how many series of the same deal are looked at: each of them may claim that much less.
    """
    series = _without_outages(logarithms(counts, bases))
    if series.shape[1] < FEWEST_BEFORE + FEWEST_AFTER:
        return [None] * len(series)
    best = _search(series)
    claims: list[Fall | None] = []
    for row in range(len(series)):
        start, own, base = int(best.start[row]), counts[row], bases[row]
        before, after = around(own, base, start)
        last_rate = around(own, base, max(start, len(own) - WEEK))[1]
        expected = before * float(np.nansum(base[start:]))
        is_enough = (
            float(np.nansum(own[weeks_before(start)])) >= FEWEST_COUNTS and expected >= FEWEST_EXPECTED
        )
        # None of a handful, none that is small, and none that is over by now.
        is_fall = (
            np.isfinite(best.statistic[row]) and is_enough and max(after, last_rate) <= LARGEST_REST * before
        )
        if not is_fall or _is_drift(series[row], start):
            claims.append(None)
            continue
        # How often a series without a change that looks as persistent reaches the statistic.
        persistences, statistics = _simulate(series.shape[1])
        nearest = np.searchsorted(persistences, float(best.persistence[row])) - NEAREST // 2
        first = int(np.clip(nearest, 0, len(persistences) - NEAREST))
        beyond = int((statistics[first : first + NEAREST] >= best.statistic[row]).sum())
        chance = tests * ((1 + beyond) / (1 + NEAREST))
        claims.append(Fall(start, before, after, chance) if chance <= FALSE_CLAIMS else None)
    return claims


LONGEST_OUTAGE = 3  # days; what lasts longer may be a fall


def _without_outages(series: Numbers) -> Numbers:
    """The series without outages, which would make a lasting fall look like noise.

    An outage is up to LONGEST_OUTAGE days far below the same weekdays around it, with others after it.
    """
    rows = series.copy()
    for row in rows:
        below = noise.medians_around(row) - row
        if not np.isfinite(below).any():
            continue
        limit = noise.OUT_OF_LINE * noise.TO_DEVIATION * float(np.nanmedian(np.abs(below)))
        is_out = below > max(limit, noise.LEAST_OUTAGE)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], is_out, [0]])))
        for first, end in edges.reshape(-1, 2):
            if end - first <= LONGEST_OUTAGE and end < len(row):
                row[first:end] = np.nan
    return rows


LEAST_FALL_RATIO = 2 / 3  # of another fall to the deal's, as logarithms: at least, for both to be alike
NEAR_DAYS = 2  # between the days on which both fell, at most


def fell_near(counts: Numbers, bases: Numbers, fall: Fall) -> bool:
    """Whether another series of counts per day fell with a deal: about as much, by more than noise, and on a
    day near."""
    before, after = around(counts, bases, fall.start)
    most_left = min(LARGEST_REST, max(fall.rest, 0.05) ** LEAST_FALL_RATIO)
    if not before > 0 or not after <= before * most_left:
        return False
    [other] = falls(counts[None, :], bases[None, :])
    return other is not None and abs(other.start - fall.start) <= NEAR_DAYS


def logarithms(counts: Numbers, bases: Numbers) -> Numbers:
    """The logarithms of rates; half a count is added so that none of many is a figure too."""
    has_value = np.isfinite(counts) & np.isfinite(bases) & (bases > 0)
    above, below = np.where(has_value, counts, 0.0) + 0.5, np.where(has_value, bases, 1.0) + 0.5
    return np.where(has_value, np.log(above / below), np.nan)


def around(counts: Numbers, bases: Numbers, start: int) -> tuple[float, float]:
    """The rate in the four weeks before a day, and from it on, of the sums; NaN without a base."""
    has_value = np.isfinite(counts) & np.isfinite(bases) & (bases > 0)
    spans = weeks_before(start), slice(start, None)
    sums = [(counts[span][has_value[span]].sum(), bases[span][has_value[span]].sum()) for span in spans]
    before, after = (above / below if below else np.nan for above, below in sums)
    return float(before), float(after)


def weeks_before(start: int) -> slice:
    """The four weeks before a day, as indices."""
    return slice(max(0, start - BASELINE), start)


def _weekday_means(series: Numbers, first: int, start: int) -> Numbers:
    """The means of the days first to start by weekday, one per day of the series; shape (series, days)."""
    means = np.empty_like(series)
    whole = _mean(series[:, first:start])
    for weekday in range(WEEK):
        days = np.arange(first, start)[(np.arange(first, start) % WEEK) == weekday]
        mean = _mean(series[:, days]) if len(days) else whole
        means[:, weekday::WEEK] = np.where(np.isfinite(mean), mean, whole)[:, None]
    return means


def _mean(values: Numbers) -> Numbers:
    """The mean of each row's figures; NaN without any."""
    has_value = np.isfinite(values)
    count = has_value.sum(axis=1)
    return np.where(count > 0, np.where(has_value, values, 0.0).sum(axis=1) / np.maximum(count, 1), np.nan)


def _search(series: Numbers) -> _Maxima:
    """The largest fall of each series over its standard error."""
    rows, days = series.shape
    best = _Maxima(np.full(rows, -np.inf), np.zeros(rows, np.int64), np.zeros(rows))
    for start in range(FEWEST_BEFORE, days - FEWEST_AFTER + 1):
        first = max(0, start - BASELINE)
        rest = series[:, first:] - _weekday_means(series, first, start)[:, first:]
        after = _mean(rest[:, start - first :])
        rest[:, start - first :] -= after[:, None]
        has_value = np.isfinite(rest)
        before_count, after_count = (
            has_value[:, part].sum(axis=1) for part in (slice(start - first), slice(start - first, None))
        )
        squares = np.where(has_value, rest, 0.0)
        variance = (squares**2).sum(axis=1) / np.maximum(before_count + after_count - WEEK - 1, 1)
        is_usable = (before_count >= FEWEST_BEFORE) & (after_count >= FEWEST_AFTER) & (variance > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.sqrt(variance * (1 / before_count + 1 / after_count))
            statistic = np.where(is_usable, -after / error, -np.inf)
        is_better = statistic > best.statistic
        best.statistic[is_better], best.start[is_better] = statistic[is_better], start
        # The lag-one correlation of each row, corrected for its bias (Marriott and Pope 1954).
        rest = squares[is_better]
        whole = np.maximum((rest**2).sum(axis=1), 1e-300)
        correlation = (rest[:, 1:] * rest[:, :-1]).sum(axis=1) / whole
        best.persistence[is_better] = np.clip(correlation + (1 + 4 * correlation) / rest.shape[1], -1.0, 1.0)
    return best


def _is_drift(series: Numbers, start: int) -> bool:
    """Whether a straight line says more of the series than a step on that day."""
    first = max(0, start - BASELINE)
    rest = (series - _weekday_means(series[None, :], first, start)[0])[first:]
    has_value = np.isfinite(rest)
    at, values = np.flatnonzero(has_value), rest[has_value]
    line = values - np.polyval(np.polyfit(at, values, 1), at)
    is_after = at >= start - first
    step = values - np.where(is_after, values[is_after].mean(), values[~is_after].mean())
    return bool((line**2).sum() <= (step**2).sum())


@lru_cache(maxsize=8)
def _simulate(days: int) -> tuple[Numbers, Numbers]:
    """Statistics of series without a change and how persistent these look, in the order of the latter."""
    draw, statistics, persistences = np.random.default_rng(1_993), [], []
    for strength in PERSISTENCE:
        levels = draw.normal(size=(SIMULATIONS, days)) * (np.sqrt(1 - strength**2) or 1.0)
        levels[:, 0] = draw.normal(size=SIMULATIONS)
        for day in range(1, days):
            levels[:, day] += strength * levels[:, day - 1]
        best = _search(levels)
        statistics.append(best.statistic)
        persistences.append(best.persistence)
    order = np.argsort(np.concatenate(persistences), kind="stable")
    return np.concatenate(persistences)[order], np.concatenate(statistics)[order]
