"""Explains a change ("What moved"): combines queries, contributions, noise and surprise.

Whether a difference is more than noise depends on that of the sample, and on the value's usual movement: the
mean square of its differences at earlier steps. There are few of these, so each value's variance is moderated
by those of all values (Smyth 2004, "Linear models and empirical Bayes methods", section 6): the prior's
logarithm runs linearly with that of the volume, and its weight follows from how much the variances scatter,
more with heavy tails. Tests of many values are held to a false discovery rate (Benjamini and Hochberg 1995).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import digamma, polygamma, stdtr

from lib.reporting import time_filters
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery
from lib.reporting.moved import movers, sides
from lib.reporting.moved.earlier_differences import EarlierDifferences, earlier_differences, earlier_periods
from lib.reporting.moved.movers import Candidate, Moves
from lib.reporting.moved.quantity import Numbers, Own, Pair, Quantity, Ratio, leaves, quantity, values
from lib.reporting.moved.sides import About, Ask
from lib.slicers.dates import Days
from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.slicers.models import DataField, Slicer

MOST_FIELDS, TESTED_FIELDS = 30, 10
RANKED_FIELDS, OVERLAPPING_FIELDS = 5, 2
WHOLE_RATE, DIFFERENT_RATE = 0.01, 0.05
Flags = npt.NDArray[np.bool_]
NEGLIGIBLE = 1e-12  # the part of a volume, or of a root, below which a movement, or a step, is rounding


@dataclass(frozen=True)
class Moved:
    """The figure before and now, and per key field what moved it: strongest first, overlapping ones last.

    Key fields of which all values changed alike are in `alike`, for they explain nothing. `weeks` is how
    many earlier differences a movement was held against, `value_count` how many values there were.
    `withheld` says why figures of money can't be compared; there is nothing else then. `is_sampled`: some of
    the figures are estimates. On `days` days now and before there is data.
    """

    kind: Quantity
    before: float
    now: float
    moves: tuple[Moves, ...]
    weeks: int
    value_count: int
    alike: tuple[Moves, ...] = ()
    withheld: str = ""
    is_sampled: bool = False
    days: tuple[int, int] = (1, 1)

    @property
    def top(self) -> tuple[Moves, ...]:
        """The key fields that a reader is shown: the strongest, then a few that overlap."""
        ranking = [moves for moves in self.moves if not moves.is_overlapping][:RANKED_FIELDS]
        return (*ranking, *[moves for moves in self.moves if moves.is_overlapping][:OVERLAPPING_FIELDS])

    @property
    def scale(self) -> float:
        """The largest contribution of all that are shown: the bars of all key fields are parts of it."""
        return max((abs(mover.contribution) for moves in self.top for mover in moves.movers), default=0.0)

    @property
    def difference(self) -> float:
        """By how much the figure moved."""
        return self.now - self.before


def explain(
    ask: Ask,
    query: AudienceQuery,
    slicer: Slicer,
    field: DataField,
    days: tuple[Days, Days],
    names: Sequence[str],
) -> Moved:
    """The values of the key fields `names` that moved a data field between two periods, `days` (before, now).

    `ask` answers questions in their order, side by side where it can; it is called four times, with at most
    2 · MOST_FIELDS questions, TESTED_FIELDS of the key fields being looked at closely. Raises what it raises.
    """
    fields = [name for name in names if name not in TIME_KEY_FIELDS][:MOST_FIELDS]
    segmented = {name for name in fields if slicer.key_field(name).is_segmented}
    about, quantity, whole, withheld, with_data = _figure(ask, query, slicer, field, days, fields)
    if withheld:
        return Moved(quantity, math.nan, math.nan, (), 0, 0, withheld=withheld, days=with_data)
    first = [
        movers.candidate(quantity, field_sides, whole, field_sides.name in segmented)
        for field_sides in sides.ask_sides(ask, about, fields)
        if len(field_sides.codes) > 1
    ]
    strongest = sorted(first, key=lambda candidate: candidate.explanation.rank, reverse=True)[:TESTED_FIELDS]
    complete = sides.complete(ask, about, [candidate.sides for candidate in strongest])
    candidates = [
        movers.candidate(quantity, field_sides, whole, field_sides.name in segmented)
        for field_sides in complete
    ]
    codes = {
        candidate.sides.name: [candidate.sides.codes[index] for index in candidate.largest]
        for candidate in candidates
    }
    pairs = earlier_periods(days, slicer)
    earlier = earlier_differences(ask, about, quantity, codes, pairs, segmented)
    value_count = sum(len(candidate.sides.codes) for candidate in first)
    before, now = (float(values(quantity, sums)[0]) for sums in (whole.whole_before, whole.whole_now))
    all_moves = _moves(candidates, earlier, value_count)
    moves = tuple(moves for moves in all_moves if moves.alike is None and moves.movers)
    alike = tuple(
        moves
        for moves in all_moves
        if moves.alike is not None and not earlier.is_usual(now - before, WHOLE_RATE)
    )
    is_sampled = any(bool(np.any(candidate.error != 0)) for candidate in candidates)  # NaN: of unknown error
    return Moved(quantity, before, now, moves, earlier.steps, value_count, alike, "", is_sampled, with_data)


def _figure(
    ask: Ask,
    query: AudienceQuery,
    slicer: Slicer,
    field: DataField,
    days: tuple[Days, Days],
    fields: Sequence[str],
) -> tuple[About, Quantity, Pair, str, tuple[int, int]]:
    """The kind of the figure, by the data fields that add up, its sums before and now, why these can't be
    compared, and on how many days there is data now and before."""
    about = About(query, tuple(dict.fromkeys((*leaves(field, slicer), field.name))), days)
    shares = [about.top(days[1], name).model_copy(update={"limit": 1}) for name in fields[:1]]
    old, new, *split = ask([*(about.query_of(day) for day in days), *shares])
    kind = quantity(field, slicer, {str(name) for answer in (old, new, *split) for name in answer.percents})
    with_data = _days(query, new, days[1]), _days(query, old, days[0])
    weight = 1.0 if isinstance(kind, Own) or not all(with_data) else with_data[0] / with_data[1]
    # The data fields of a figure, that by which values are large first.
    first = sorted(kind.below.fields()) if isinstance(kind, Ratio) else []
    about = About(query, tuple(dict.fromkeys((*first, *sorted(kind.expression.fields())))), days, weight)
    before, now = sides.whole(old, about, weight), sides.whole(new, about)
    texts = {answer.total.currencies.get(name, "") for answer in (old, new) for name in about.leaves}
    reasons = [answer.total.withheld(name) for answer in (old, new) for name in about.leaves]
    codes = sorted(texts - {""})
    reason = next(filter(None, reasons), f"in {' and '.join(codes)}" if len(codes) > 1 else "")
    return about, kind, Pair(before, now, before, now), reason, with_data


def _days(query: AudienceQuery, answer: Audience, days: Days) -> int:
    """The number of days with data that the filters let through; all if the service does not say."""
    return len(time_filters.days(query, days, answer.total.dates))


def _moves(
    candidates: Sequence[Candidate], earlier: EarlierDifferences, value_count: int
) -> tuple[Moves, ...]:
    """The movers of each key field: all values are tested together.

    A value has moved where it contributes more than it usually does, and the values of its key field did not
    all change alike: what they contribute beyond that must be unusual too, all of them together.
    """
    if not candidates:
        return ()
    error, volume = (_of_largest(candidates, name) for name in ("error", "volume"))
    parts = [earlier.fields[candidate.sides.name] for candidate in candidates]
    earlier_contribution, beyond = (
        np.concatenate(arrays) for arrays in zip(*((p.contribution, p.beyond) for p in parts), strict=True)
    )
    movement = np.concatenate([candidate.parts.whole[candidate.largest] for candidate in candidates])
    p = p_values(movement, error, earlier_contribution, volume, earlier.freedom)
    more = p_values(_of_largest(candidates, "beyond"), error, beyond, volume, earlier.freedom)
    spread, _ = spreads(error, beyond, volume, earlier.freedom)
    ends = np.cumsum([len(candidate.largest) for candidate in candidates])[:-1]
    differ = [
        together(field_values) <= DIFFERENT_RATE / len(candidates) for field_values in np.split(more, ends)
    ]
    p = np.where(np.repeat(differ, [len(candidate.largest) for candidate in candidates]), p, 1.0)
    is_mover = np.split(discoveries(p, value_count), ends)
    results = []
    for candidate, flags, noise in zip(candidates, is_mover, np.split(spread, ends), strict=True):
        of_all = candidate.error.copy()
        of_all[candidate.largest] = noise
        indices = [index for index, moves in zip(candidate.largest, flags, strict=True) if moves]
        results.append(candidate.moves(indices, of_all))
    return tuple(
        sorted(results, key=lambda moves: (not moves.is_overlapping, *moves.explanation.rank), reverse=True)
    )


def _of_largest(candidates: Sequence[Candidate], name: str) -> Numbers:
    """An attribute of the values that are tested, of all key fields."""
    return np.concatenate([getattr(candidate, name)[candidate.largest] for candidate in candidates])


def p_values(
    movement: Numbers, error: Numbers, earlier: Numbers, volume: Numbers, freedom: float | None = None
) -> Numbers:
    """The probability of a movement this large if nothing unusual happened, per value, two-sided.

    `error` is the standard error of `movement` by sampling; NaN, not known, counts as noise.
    `earlier` has a column per earlier difference (none: sampling alone counts, and exact figures are
    certain), together worth so many degrees of freedom (None: as many as there are). `volume` is how much
    there is of the value.
    """
    spread, degrees = spreads(error, earlier, volume, freedom)
    with np.errstate(all="ignore"):
        score = np.abs(movement) / spread
    probabilities = 2 * stdtr(min(degrees, 1e9), -score)
    still = np.abs(movement) <= NEGLIGIBLE * np.abs(volume)
    return np.where(still | np.isnan(error), 1.0, np.where(spread == 0, 0.0, probabilities))


def spreads(
    error: Numbers, earlier: Numbers, volume: Numbers, freedom: float | None = None
) -> tuple[Numbers, float]:
    """The standard deviation of each value's movement in noise, and the degrees of freedom of it."""
    if not earlier.shape[1]:
        return error, np.inf
    usual, degrees = _moderate(earlier, volume, float(earlier.shape[1]) if freedom is None else freedom)
    # The degrees of freedom of a Student's t whose tails are as heavy as those of all earlier movements
    # together, by their kurtosis, 3 + 6 / (degrees - 4). A few weeks show too few of the rare large ones: 1
    # is added to it.
    squares = (earlier[usual > 0] ** 2 / usual[usual > 0, None]).ravel()
    excess = float(np.mean(squares**2) / np.mean(squares) ** 2) - 3 if squares.any() else 0.0
    return np.sqrt(usual + error**2), min(degrees, (4 + 6 / (max(excess, 0.0) + 1)))


def together(p: Numbers) -> float:
    """The probability that all of these tests are of noise (Simes 1986)."""
    return float(np.min(np.sort(p) * len(p) / np.arange(1, len(p) + 1))) if len(p) else 1.0


FALSE_DISCOVERY_RATE = 0.04  # the part that is noise, as expected, of the values that are named


def discoveries(p: Numbers, tests: int | None = None, rate: float = FALSE_DISCOVERY_RATE) -> Flags:
    """A mask of the p-values that pass at this false discovery rate; `tests`: number of tests, if more."""
    order = np.argsort(p)
    limits = rate * np.arange(1, len(p) + 1) / max(tests or 0, len(p), 1)
    below = np.flatnonzero(p[order] <= limits)
    is_discovery = np.zeros(len(p), dtype=bool)
    if len(below):
        is_discovery[order[: below[-1] + 1]] = True
    return is_discovery


FEWEST_VALUES = 10  # with a variance and a volume, to fit a prior to


def _moderate(earlier: Numbers, volume: Numbers, count: float) -> tuple[Numbers, float]:
    """Per value the variance of its usual movement, and how many degrees of freedom it has; the mean square
    of `earlier` has `count`."""
    own = np.mean(earlier**2, axis=1)
    has_both = (own > 0) & (volume > 0)
    if has_both.sum() < FEWEST_VALUES:
        return own, count
    logs, sizes = np.log(own[has_both]), np.log(volume[has_both])
    slope, level = np.polyfit(sizes, logs, 1) if np.ptp(sizes) > 0 else (0.0, logs.mean())
    rest = logs - (slope * sizes + level)
    more = float(np.sum(rest**2) / max(len(rest) - 2, 1) - polygamma(1, count / 2))
    weight = 2 * _inverse_trigamma(more) if more > 0 else np.inf
    bias = np.log(count / 2) - digamma(count / 2)
    bias += digamma(weight / 2) - np.log(weight / 2) if np.isfinite(weight) else 0.0
    least = volume[volume > 0].min(initial=np.inf) if (volume > 0).any() else 1.0
    usual = np.exp(slope * np.log(np.maximum(volume, least)) + level + bias)
    if not np.isfinite(weight):
        return usual, np.inf
    return (weight * usual + count * own) / (weight + count), weight + count


NEWTON_STEPS = 50  # of Newton's method, at most; it ends where a step is NEGLIGIBLE


def _inverse_trigamma(value: float) -> float:
    """The argument at which the trigamma function has this value, by Newton's method on its reciprocal."""
    root = 0.5 + 1 / value
    for _ in range(NEWTON_STEPS):
        trigamma = float(polygamma(1, root))
        step = trigamma * (1 - trigamma / value) / float(polygamma(2, root))
        root += step
        if abs(step) < NEGLIGIBLE * root:
            break
    return root
