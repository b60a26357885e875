"""A deal counted by its seller and by its buyer: the first step of the funnel at which both differ, and since
when.

Both sides of a day are held against each other as a logarithm of their ratio. Single days that fall out of
line with their neighbors are set to what these have; the rest is cut into spans of one level by the least
squares that pay for each cut (optimal partitioning; Jackson et al. 2005, "An algorithm for optimal
partitioning of data on an interval"). A span differs where its level, less its error, and most of its days
are beyond the settled share of the seller's counts. That is 10 % unless set otherwise (IAB UK, "Discrepancy
guidelines": a tolerance of 10 %, based on the publisher's figures).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import numpy.typing as npt

from lib.deals.buyer_counts import NOUNS
from lib.reporting.noise import TO_DEVIATION

Numbers = npt.NDArray[np.float64]
Counts = Mapping[str, Numbers]
"""Figures by day, by step; NaN where there are none."""
STEPS = tuple(NOUNS)
SHORTEST_SPAN = 3  # the least days of a span of one level
FEWEST_FOR_A_SHIFT, CALMER, RESTLESS = 10, 0.5, 0.03
"""The common days, the part of the scatter left, and the least scatter for which other days are assumed."""
FOLLOWS_WITHIN, FOLLOWS_SHARE, LEAST = 1, 0.1, 1e-6
"""The days and the part by which the gap of a later step may differ from the one that it hands on."""
HALVES = {"spend": 0.005}
ARRIVES_WITHIN, RAMP_WITHIN, RAMP_SHARE = 7, 28, 5 / 6
"""The newest days whose counts may still be arriving; the more where, in this share of all pairs of days, the
later one is less complete: a fall that is a step stays as deep as it is."""


@dataclass(frozen=True)
class Gap:
    """Days on which one step differs: `ratio` is the buyer's sum over the seller's; `last` is None where they
    go on to the last common day. Of a ramp each day is less complete than those before it."""

    step: str
    first: date
    last: date | None
    ratio: float
    is_ramp: bool


@dataclass(frozen=True)
class CountComparison:
    """What both sides say. `days` are common ones, `shift` the days by which the buyer's were moved for it.

    `gaps` has one gap at most for each step, in the order of the funnel; `ratios` the buyer's sums over the
    seller's, of the common days, by step.
    """

    days: tuple[date, ...]
    shift: int
    ratios: Mapping[str, float]
    gaps: tuple[Gap, ...]

    @property
    def main(self) -> Gap | None:
        """The first step that differs until now; else the first that did."""
        return next((gap for gap in self.gaps if gap.last is None), next(iter(self.gaps), None))

    def follows(self, gap: Gap) -> bool:
        """Whether a gap is that of the main one, handed on: it begins with it, and is as large."""
        main = self.main
        is_later = main is not None and STEPS.index(gap.step) > STEPS.index(main.step)
        if main is None or not is_later or gap.last != main.last:
            return False
        both = [max(ratio, LEAST) for ratio in (gap.ratio, main.ratio)]
        is_alike = abs(both[0] / both[1] - 1) <= FOLLOWS_SHARE
        return is_alike and abs((gap.first - main.first).days) <= FOLLOWS_WITHIN

    def may_arrive(self, gap: Gap) -> bool:
        """Whether a gap lies in the newest days alone, so that the buyer's counts may not be complete yet.

        When a day was entered tells nothing of it: who enters it the next morning enters an early count.
        """
        days = RAMP_WITHIN if gap.is_ramp else ARRIVES_WITHIN
        return gap.last is None and gap.ratio < 1 and (self.days[-1] - gap.first).days < days


COUNT_NOISE = 0.03  # the noise of a day with large counts, as a logarithm


def compare(days: Sequence[date], ours: Counts, theirs: Counts, tolerance: float) -> CountComparison:
    """Both sides of consecutive `days`; `tolerance` is the settled share, a part of the seller's counts."""
    # By how many days the buyer's must be moved: 0 unless the scatter from day to day falls by half.
    scatter = {shift: _scatter(ours, theirs, shift) for shift in (0, -1, 1)}
    best = min(scatter, key=lambda shift: scatter[shift])
    is_calmer = scatter[best] <= CALMER * scatter[0] and scatter[0] >= RESTLESS
    shift = best if is_calmer and np.isfinite(scatter[best]) else 0
    buyers = {step: shift_days(counts, shift) for step, counts in theirs.items()}
    ratios, gaps, common = {}, [], np.zeros(len(days), bool)
    for step in (step for step in STEPS if step in ours and step in buyers):
        has_both = _has_both(ours[step], buyers[step])
        common |= has_both
        if not has_both.any() or not ours[step][has_both].sum():
            continue
        ratios[step] = float(buyers[step][has_both].sum() / ours[step][has_both].sum())
        weight_step = "wins" if step == "spend" and "wins" in buyers and "wins" in ours else step
        # How much noisier a day is than one of large counts; as usual where a side has none.
        counts = np.nan_to_num(ours[weight_step][has_both]), np.nan_to_num(buyers[weight_step][has_both])
        noise = np.sqrt(1 + sum(1 / (side + 0.5) for side in counts) / COUNT_NOISE**2)
        gap = _gap(
            step, np.array(days)[has_both], (ours[step][has_both], buyers[step][has_both]), noise, tolerance
        )
        gaps += [] if gap is None else [gap]
    return CountComparison(tuple(np.array(days)[common]), shift, ratios, tuple(gaps))


NEIGHBOR_DAYS = 3  # on each side of a day, whose median it is held against
OUT_OF_LINE = 4.0  # deviations, beyond which a day is set to that median


def _gap(
    step: str, days: npt.NDArray[np.object_], sides: tuple[Numbers, Numbers], noise: Numbers, tolerance: float
) -> Gap | None:
    """The gap of a step that lasts until the last day; without one, the latest that is over."""
    if len(days) < SHORTEST_SPAN:
        return None
    ours, theirs = sides
    raw = _logarithms(step, ours, theirs)
    # The series with each day that is out of line with its neighbors set to their median (Hampel).
    limit = OUT_OF_LINE * _spread(raw, noise) * noise
    padding = np.pad(raw, NEIGHBOR_DAYS, constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padding, 2 * NEIGHBOR_DAYS + 1)
    medians = np.nanmedian(windows, axis=1)
    series = np.where(np.abs(raw - medians) > limit, medians, raw)
    spread = _spread(series, noise)
    bounds = np.log1p(-tolerance), np.log1p(tolerance)
    spans = [
        (first, last, _side(raw[first:last], series[first:last], noise[first:last], spread, bounds))
        for first, last in _spans(series, noise, spread)
    ]
    differing = [index for index, (_, _, side) in enumerate(spans) if side]
    if not differing:
        return None
    first = last = differing[-1]
    while first and spans[first - 1][2] == spans[last][2]:
        first -= 1
    begin, end = spans[first][0], spans[last][1]
    their_sum, our_sum = theirs[begin:end].sum(), ours[begin:end].sum()
    ratio = float(their_sum / our_sum) if our_sum else np.inf
    earlier, later = np.triu_indices(end - begin, 1)
    is_ramp = bool((raw[begin:end][later] < raw[begin:end][earlier]).mean() >= RAMP_SHARE)
    return Gap(step, days[begin], None if end == len(days) else days[end - 1], ratio, is_ramp)


STANDARD_ERRORS = 2.0  # by which a span's level must be beyond the settled share
LEAST_SHARE_BEYOND = 2 / 3  # of a span's days that must be beyond it too


def _side(raw: Numbers, series: Numbers, noise: Numbers, spread: float, bounds: tuple[float, float]) -> int:
    """1 where a span is above the bounds, -1 where it is below, 0 where neither is certain."""
    weights = 1 / noise**2
    level = float((series * weights).sum() / weights.sum())
    error = STANDARD_ERRORS * spread / float(np.sqrt(weights.sum()))
    if level + error < bounds[0] and (raw < bounds[0]).mean() >= LEAST_SHARE_BEYOND:
        return -1
    return int(level - error > bounds[1] and (raw > bounds[1]).mean() >= LEAST_SHARE_BEYOND)


CUT_PENALTY = 4.0  # what a cut costs, as a multiple of the logarithm of the days


def _spans(series: Numbers, noise: Numbers, spread: float) -> list[tuple[int, int]]:
    """The spans of one level, as places of their first day and of the day after their last."""
    weights, count = 1 / (noise * spread) ** 2, len(series)
    sums = [np.concatenate([[0.0], np.cumsum(weights * series**power)]) for power in (0, 1, 2)]
    cost, cut = np.full(count + 1, np.inf), np.zeros(count + 1, int)
    cost[0], price = 0.0, CUT_PENALTY * np.log(max(count, 2))
    for end in range(SHORTEST_SPAN, count + 1):
        begins = np.arange(0, end - SHORTEST_SPAN + 1)
        weight, linear, square = (total[end] - total[begins] for total in sums)
        costs = cost[begins] + square - linear**2 / weight + price
        cut[end] = begins[costs.argmin()]
        cost[end] = costs.min()
    spans, end = [], count
    while end > 0:
        spans.append((int(cut[end]), end))
        end = int(cut[end])
    return spans[::-1]


LEAST_SPREAD = 0.01  # the least noise of a day, as a logarithm


def _spread(series: Numbers, noise: Numbers) -> float:
    """The noise of a day without those that its counts make: by days beside each other, and three apart."""
    spreads = [LEAST_SPREAD]
    for lag in (1, 3):
        if len(series) > lag:
            distances = np.abs(series[lag:] - series[:-lag]) / np.hypot(noise[lag:], noise[:-lag])
            spreads.append(TO_DEVIATION * float(np.median(distances)))
    return max(spreads)


def _logarithms(step: str, ours: Numbers, theirs: Numbers) -> Numbers:
    """Of the ratios; half a count, or half a cent, is added, so that none of many is a figure too."""
    half = HALVES.get(step, 0.5)
    values: Numbers = np.log((theirs + half) / (ours + half))
    return values


def _has_both(ours: Numbers, theirs: Numbers) -> npt.NDArray[np.bool_]:
    """The days on which both sides counted, and one of them something."""
    both: npt.NDArray[np.bool_] = np.isfinite(ours) & np.isfinite(theirs)
    return both & ((np.nan_to_num(ours) > 0) | (np.nan_to_num(theirs) > 0))


def shift_days(counts: Numbers, shift: int) -> Numbers:
    """The counts of a day as those of the day `shift` later."""
    result = np.full_like(counts, np.nan)
    if shift == 0:
        return counts
    target, source = (
        (slice(shift, None), slice(None, -shift)) if shift > 0 else (slice(None, shift), slice(-shift, None))
    )
    result[target] = counts[source]
    return result


def _scatter(ours: Counts, theirs: Counts, shift: int) -> float:
    """The usual change of the ratio from day to day, in the median step; infinite with too few days."""
    changes = []
    for step in ours.keys() & theirs.keys():
        figures = shift_days(theirs[step], shift)
        has_both = _has_both(ours[step], figures)
        if has_both.sum() >= FEWEST_FOR_A_SHIFT:
            series = _logarithms(step, ours[step][has_both], figures[has_both])
            changes.append(float(np.median(np.abs(np.diff(series)))))
    return float(np.median(changes)) if changes else np.inf
