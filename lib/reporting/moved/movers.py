"""The values of a key field that moved more than noise, and how much of the difference they explain.

Key fields are ranked by how well they explain it, after Bhagwan et al., "Adtributor", NSDI 2014: explanatory
power is the share of the difference that a few values have; surprise, how far their shares of the whole
moved, as their part of the Jensen-Shannon divergence of the two distributions. The paper prefers explanations
that are succinct by a limit on their length; here surprise counts per value of the explanation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.special import rel_entr

from lib.reporting.moved.quantity import (
    Additive,
    Contributions,
    Formula,
    Numbers,
    Pair,
    Quantity,
    Ratio,
    beyond,
    contributions,
    difference,
    values,
)
from lib.reporting.moved.sides import Sides
from lib.slicers.formulas import Field

ENOUGH = 0.67
MOST_TESTS, MOST_MOVERS, LEAST_SHARE = 30, 5, 0.05


@dataclass(frozen=True)
class Explanation:
    """The places of the values that explain, their share of the difference, and their surprise per value."""

    places: tuple[int, ...]
    power: float
    surprise: float

    @property
    def rank(self) -> tuple[bool, float]:
        """The larger, the stronger: what explains enough first, then by surprise per value."""
        return self.power >= ENOUGH, self.surprise


def surprise(quantity: Quantity, pair: Pair) -> Numbers:
    """Per value its part of the divergence; of what is put together from sums, of those of all of them."""
    sums = [quantity.expression]
    if isinstance(quantity, Ratio):
        sums = [quantity.above, quantity.below]
    elif isinstance(quantity, Formula):
        sums = [Field(name) for name in sorted(quantity.expression.fields())]
    divergence = np.zeros(len(pair.now))
    for part in map(Additive, sums):
        before, now = _shares(values(part, pair.before)), _shares(values(part, pair.now))
        middle = (before + now) / 2
        divergence += 0.5 * (rel_entr(before, middle) + rel_entr(now, middle))
    return divergence


def explanation(
    contribution: Numbers, surprising: Numbers, indices: Sequence[int], whole: float
) -> Explanation:
    """The fewest of these values, the most surprising first, that explain enough of the whole difference."""
    subset: list[int] = []
    power = 0.0
    for index in sorted(indices, key=lambda at: -surprising[at]):
        subset.append(index)
        power = float(contribution[subset].sum() / whole) if whole else 0.0
        if power >= ENOUGH:
            break
    mean = float(surprising[subset].mean()) if subset else 0.0
    return Explanation(tuple(subset), power, mean)


def _shares(parts: Numbers) -> Numbers:
    """Shares of the sum; what has the other sign has none."""
    positive: Numbers = np.clip(np.nan_to_num(parts) * np.sign(np.nansum(parts)), 0, None)
    return positive / positive.sum() if positive.sum() > 0 else positive


@dataclass(frozen=True)
class Mover:
    """A value: its contribution to the difference, and its own figure before and now.

    Of a ratio, `mix` and `rate` add up to what it contributes, and `shares` are its parts of the volume
    before and now, from 0 to 1: the mix comes from these.
    """

    code: str
    words: str
    contribution: float
    before: float
    now: float
    mix: float | None = None
    rate: float | None = None
    shares: tuple[float, float] | None = None


@dataclass(frozen=True)
class Moves:
    """The movers of a key field, the largest first, and how well its values explain the difference.

    What is said of the key field is said of these movers, in their order. `adds_up`: with those of all other
    values the contributions are the difference. The values of an overlapping (segmented) key field count in
    several rows: it is not ranked. `alike` is between which relative changes all large values are, where they
    all changed about as much as the whole: then no value explains anything.
    """

    name: str
    movers: tuple[Mover, ...]
    explanation: Explanation
    is_overlapping: bool = False
    adds_up: bool = True
    alike: tuple[float, float] | None = None


TOLERANCE = 0.25  # the part of the whole change by which a value's may differ and be alike, or a mix move
LEAST_TOLERANCE = 0.005  # relative changes that differ by no more are alike, however small both are
FEWEST_ALIKE = 2  # large values, of which can be said that all changed alike
NOISE_DEVIATIONS = 3.0  # of a value's noise, within which its change is like that of the whole


@dataclass(frozen=True)
class Candidate:
    """A key field with a place per value: contributions, and their standard errors by sampling."""

    of: Quantity
    sides: Sides
    pair: Pair
    parts: Contributions
    error: Numbers
    is_overlapping: bool

    @property
    def volume(self) -> Numbers:
        """The volume of each value: the first data field's mean of both periods."""
        first = self.pair.now.columns[0]
        both: Numbers = (self.pair.before[first].abs() + self.pair.now[first].abs()).to_numpy() / 2
        return both

    @property
    def largest(self) -> list[int]:
        """The places of the values that contribute the most: these are tested."""
        order = np.argsort(-np.abs(self.parts.whole), kind="stable")
        return [int(index) for index in order[:MOST_TESTS]]

    @property
    def explanation(self) -> Explanation:
        """How well the values explain the difference before any is tested."""
        return _explain(self, [index for index in self.largest if self._is_large(index)])

    @property
    def beyond(self) -> Numbers:
        """What each value contributes beyond the change that most had."""
        return beyond(self.of, self.pair, self.parts.whole, self.is_overlapping)

    def moves(self, indices: Sequence[int], spread: Numbers) -> Moves:
        """The moves with these values as movers, as far as they matter; `spread` is each value's noise."""
        large = [index for index in indices if self._is_large(index)]
        large.sort(key=lambda index: -abs(self.parts.whole[index]))
        movers = tuple(map(self._mover, large[:MOST_MOVERS]))
        explanation = _explain(self, large)
        alike = self._alike(spread)
        adds_up = self.parts.adds_up and not self.is_overlapping
        return Moves(self.sides.name, movers, explanation, self.is_overlapping, adds_up, alike)

    def _alike(self, spread: Numbers) -> tuple[float, float] | None:
        """Between which relative changes all large values are, where each is near that of the whole.

        Near is within three times the value's noise and within a quarter of the whole change, and the same
        way. Of a ratio, shares must be as they were too: a mix that moved is a cause.
        """
        before, now = values(self.of, self.pair.before), values(self.of, self.pair.now)
        whole = float(values(self.of, self.pair.whole_before)[0])
        change = difference(self.of, self.pair)
        ratio = change / whole if whole else 0.0
        volume = self.volume
        large = [
            at for at in range(len(before)) if self._is_large(at) or volume[at] >= LEAST_SHARE * volume.sum()
        ]
        mix, weight = self.parts.mix, np.abs(before)
        has_moved_shares = mix is not None and np.abs(mix).sum() > TOLERANCE * abs(change)
        if not ratio or len(large) < FEWEST_ALIKE or has_moved_shares:
            return None
        if isinstance(self.of, Ratio):  # a relative change counts by the value's share
            below = np.abs(values(Additive(self.of.below), self.pair.before))
            weight = weight * (below / max(float(below.sum()), 1e-300))
        with np.errstate(all="ignore"):
            changes = (now[large] - before[large]) / np.abs(before[large])
            noise = NOISE_DEVIATIONS * spread[large] / weight[large]
        near = np.abs(changes - ratio) <= np.clip(
            np.nan_to_num(noise), LEAST_TOLERANCE, max(LEAST_TOLERANCE, TOLERANCE * abs(ratio))
        )
        if not bool(np.all(near & (changes * ratio > 0))):
            return None
        return float(changes.min()), float(changes.max())

    def _is_large(self, index: int) -> bool:
        """Whether a value contributes a twentieth of all movement."""
        every = np.abs(self.parts.whole).sum()
        return bool(every > 0 and abs(self.parts.whole[index]) >= LEAST_SHARE * every)

    def _mover(self, index: int) -> Mover:
        code, parts = self.sides.codes[index], self.parts
        return Mover(
            code,
            self.sides.words.get(code, code),
            float(parts.whole[index]),
            float(values(self.of, self.pair.before)[index]),
            float(values(self.of, self.pair.now)[index]),
            None if parts.mix is None else float(parts.mix[index]),
            None if parts.rate is None else float(parts.rate[index]),
            None if parts.shares is None else (float(parts.shares[0][index]), float(parts.shares[1][index])),
        )


def candidate(quantity: Quantity, sides: Sides, whole: Pair, is_overlapping: bool) -> Candidate:
    """A key field's figures."""
    pair = sides.pair(whole)
    parts = contributions(quantity, pair, is_overlapping)
    # By sampling: each sum is moved by its own error, and the contributions' movements added in quadrature.
    # Sums of the same records move together, so that this errs on the wide side for ratios.
    variance = np.zeros(len(parts.whole))
    codes = sides.codes
    for which, side in (("before", sides.before), ("now", sides.now)):
        errors = side.errors_of(codes)
        sums: pd.DataFrame = getattr(pair, which)
        for name in errors.columns[errors.ne(0).any()]:  # an exact answer has none
            column = sums[name].to_numpy() + errors[name].to_numpy()
            new_pair = replace(pair, **{which: sums.assign(**{str(name): column})})
            variance += (contributions(quantity, new_pair, is_overlapping).whole - parts.whole) ** 2
    return Candidate(quantity, sides, pair, parts, np.sqrt(variance), is_overlapping)


def rest(candidate: Candidate) -> float:
    """The contribution of unknown values: the difference less the contributions of the others."""
    return difference(candidate.of, candidate.pair) - float(candidate.parts.whole.sum())


def _explain(candidate: Candidate, indices: Sequence[int]) -> Explanation:
    whole = difference(candidate.of, candidate.pair)
    surprising = surprise(candidate.of, candidate.pair)
    return explanation(candidate.parts.whole, surprising, indices, whole)
