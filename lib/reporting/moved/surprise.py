"""Ranks key fields by how well they explain a difference, after Bhagwan et al., "Adtributor", NSDI 2014.

Explanatory power is the share of the difference that a few values have; surprise, how far their shares of the
whole moved, as their part of the Jensen-Shannon divergence of the two distributions. The paper prefers
explanations that are succinct by a limit on their length; here surprise counts per value of the explanation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lib.reporting.expressions import Expression, Field
from lib.reporting.moved.contributions import Pair
from lib.reporting.moved.quantity import Additive, Formula, Own, Quantity, Ratio, values

Numbers = npt.NDArray[np.float64]
ENOUGH = 0.67


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


def surprise(of: Quantity, pair: Pair) -> Numbers:
    """Per value its part of the divergence; of what is put together from sums, of those of all of them."""
    sums = [Additive(part) for part in _sums(of)]
    parts = [_divergence(values(part, pair.before), values(part, pair.now)) for part in sums]
    every: Numbers = np.sum(parts, axis=0)
    return every


def explanation(
    contributed: Numbers, surprising: Numbers, places: Sequence[int], whole: float
) -> Explanation:
    """The fewest of these values, the most surprising first, that explain enough of the whole difference."""
    chosen: list[int] = []
    power = 0.0
    for place in sorted(places, key=lambda at: -surprising[at]):
        chosen.append(place)
        power = float(contributed[chosen].sum() / whole) if whole else 0.0
        if power >= ENOUGH:
            break
    mean = float(surprising[chosen].mean()) if chosen else 0.0
    return Explanation(tuple(chosen), power, mean)


def _sums(of: Quantity) -> list[Expression]:
    match of:
        case Ratio():
            return [of.above, of.below]
        case Formula():
            return [Field(name) for name in sorted(of.expression.fields())]
        case Additive() | Own():
            return [of.expression]


def _divergence(before: Numbers, now: Numbers) -> Numbers:
    p, q = _shares(before), _shares(now)
    middle = (p + q) / 2
    return 0.5 * (_information(p, middle) + _information(q, middle))


def _shares(parts: Numbers) -> Numbers:
    """Shares of the sum; what is below zero has none."""
    kept = np.clip(np.nan_to_num(parts), 0, None)
    return kept / kept.sum() if kept.sum() > 0 else kept


def _information(share: Numbers, middle: Numbers) -> Numbers:
    """share · log(share / middle), 0 where there is no share."""
    logs = np.log(np.divide(share, middle, out=np.ones_like(share), where=share > 0))
    return share * logs
