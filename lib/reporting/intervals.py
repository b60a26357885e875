"""How far off an estimate may be: the 95 % range of a weighted sum, of a ratio, of a count of users.

A sum over a sample splits into C, the exact sum of the records that were certain to be drawn, and R, the
weighted sum of the light ones. With V = Σ w(w-1)y² and n_eff = R²/V, R ranges between the gamma quantiles
R·χ²(0.025; 2n)/2n and R·χ²(0.975; 2n+2)/2n (Fay and Feuer 1997, for weighted sums of Poisson counts).
Where no light record was seen, up to 3.69 of them may be missing: the upper 97.5 % limit of a Poisson count
of zero. Sums with negative values, ratios and other formulas get the normal range, by the delta method.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri

from lib.reporting.engines.sums import Aggregate, Numbers, Sample
from lib.reporting.expressions import Expression
from lib.reporting.measures import Measure, is_additive

UNSEEN = -float(np.log(0.025))
NORMAL = 1.959963984540054
MANY = 100.0
FEW = 30.0


@dataclass(frozen=True)
class Ranges:
    """The 95 % range of each of G values, and the effective records behind it; each of shape (G,)."""

    low: Numbers
    high: Numbers
    n_eff: Numbers


def ranges(measure: Measure, value: Numbers, aggregate: Aggregate, sample: Sample | None) -> Ranges:
    """The ranges of a data field's values over an aggregate; an exact value has a range of no width."""
    atom = measure.additive_atom
    if atom is not None:
        return _sum(atom, aggregate, sample)
    parts = [part for part in measure.atoms if not _is_exact(part, aggregate)]
    if not parts:
        return Ranges(value, value, aggregate.drawn)
    return _formula(measure.expression, value, aggregate, sample)


def relative(ranges: Ranges, value: Numbers) -> Numbers:
    """The larger side of each range in percent of the value; NaN where the value is not above zero."""
    wider = np.fmax(ranges.high - value, value - ranges.low)
    return 100 * wider / np.where(value > 0, value, np.nan)


def _is_exact(atom: str, aggregate: Aggregate) -> bool:
    return aggregate.exact if is_additive(atom) else aggregate.share.get(atom, 1.0) == 1.0


def _sum(atom: str, aggregate: Aggregate, sample: Sample | None) -> Ranges:
    value = aggregate.estimate[atom]
    if aggregate.exact or sample is None:
        return Ranges(value, value, aggregate.drawn)
    certain, variance = aggregate.certain[atom], aggregate.moments[atom, atom]
    light, unseen = value - certain, _unseen(atom, sample)
    seen = variance > 0
    n_eff = np.where(seen, light**2 / np.where(seen, variance, 1), aggregate.drawn)
    if atom in sample.signed:
        half = np.where(seen, NORMAL * np.sqrt(variance), unseen)
        return Ranges(value - half, value + half, n_eff)
    n = np.where(seen, np.maximum(n_eff, 1e-9), 1.0)
    low = np.where(seen, certain + light * _chi2(0.025, 2 * n) / (2 * n), value)
    high = np.where(seen, certain + light * _chi2(0.975, 2 * n + 2) / (2 * n), value + unseen)
    return Ranges(low, high, n_eff)


def _formula(expression: Expression, value: Numbers, aggregate: Aggregate, sample: Sample | None) -> Ranges:
    """By the gradient at the sums: g'Mg for sampled sums, g²·var for users (independent of each other)."""
    slope = {atom: expression.derivative(atom).evaluate(aggregate.estimate) for atom in expression.fields()}
    variance, n_eff, unseen = np.zeros(len(value)), np.full(len(value), np.inf), np.zeros(len(value))
    sums = sorted(atom for atom in slope if is_additive(atom))
    if sample is not None and not aggregate.exact:
        for place, first in enumerate(sums):
            n_eff = np.fmin(n_eff, _sum(first, aggregate, sample).n_eff)
            unseen = unseen + np.abs(slope[first]) * _unseen(first, sample)
            for second in sums[place:]:
                twice = 1 if first == second else 2
                variance = variance + twice * slope[first] * slope[second] * aggregate.moments[first, second]
    for atom in (atom for atom in slope if aggregate.share.get(atom, 1.0) < 1.0):
        counted = aggregate.estimate[atom] * aggregate.share[atom]
        variance = variance + slope[atom] ** 2 * _user_variance(atom, aggregate)
        n_eff = np.fmin(n_eff, counted)
        unseen = np.where(counted == 0, unseen + np.abs(slope[atom]) * UNSEEN / aggregate.share[atom], unseen)
    half = np.where(variance > 0, NORMAL * np.sqrt(np.maximum(variance, 0)), unseen)
    return Ranges(value - half, value + half, n_eff)


def _user_variance(atom: str, aggregate: Aggregate) -> Numbers:
    """U(1-θ)/θ · (1 - U/N): a share θ of all N users is drawn, without replacement (Cochran 1977, 3.2)."""
    share, found = aggregate.share[atom], aggregate.estimate[atom]
    return found * (1 - share) / share * np.maximum(0, 1 - found / aggregate.users[atom])


def _unseen(atom: str, sample: Sample) -> float:
    return UNSEEN * sample.max_weight * sample.typical[atom]


def _chi2(probability: float, freedom: Numbers) -> Numbers:
    """The χ² quantile; by Wilson and Hilferty (1931) where there are many degrees of freedom, to 5 digits."""
    z = NORMAL if probability > 0.5 else -NORMAL
    spread = 2 / (9 * freedom)
    near = freedom * (1 - spread + z * np.sqrt(spread)) ** 3
    few = freedom < 2 * MANY
    near[few] = chdtri(freedom[few], 1 - probability)
    return near
