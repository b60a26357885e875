"""How far off an estimate may be: the 95 % interval of a weighted sum, of a formula, of a count of users.

A sum over a sample splits into C, the exact sum of the records that were certain to be drawn, and R, the
weighted sum of the light ones, with the variance V = Σ w(w-1)y². The gamma quantiles of Fay and Feuer (1997)
for weighted sums of Poisson counts have shape R²/V and scale V/R below; above, shape (R+m)²/(V+m²) and scale
(V+m²)/(R+m), as one record more, which was not drawn, would have added m. They take the largest weight for m,
far too wide for sizes this uneven; here it is what a light record of the layout usually adds. Such intervals
of few records hold too often, as exact ones of counts do; mid-p (Lancaster 1961) has half of the record that
decides on either side. bench/range_coverage.py measures how often the intervals hold.

Formulas, and sums with negative values, get the normal interval by linearisation, with that record's moments
added to those of the group. A formula's variance rests on few, skewed contributions: it is raised by the mean
leverage 1/n of n effective records (MacKinnon and White 1985, HC3), and the interval is Student's t for n/2
degrees of freedom, as many as a variance of contributions with a kurtosis of 5 is worth (Satterthwaite 1946).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrin, chdtri, stdtrit

from lib.reporting.answers import NORMAL, TAIL, slack
from lib.reporting.engines.sums import Aggregate, Numbers, Sample
from lib.reporting.formulas import Field
from lib.reporting.measures import Measure, is_additive

UNSEEN = -float(np.log(TAIL))
MANY = 100.0
TOO_FEW = 3.0
SKEW = 2.0


@dataclass(frozen=True)
class Ranges:
    """The 95 % interval of each of G values, and the effective records behind it; each of shape (G,).

    A formula of fewer than TOO_FEW effective records has none where it would be wider than the value: NaN.
    """

    low: Numbers
    high: Numbers
    n_eff: Numbers


def ranges(measure: Measure, value: Numbers, aggregate: Aggregate, sample: Sample | None) -> Ranges:
    """The intervals of a data field's values over an aggregate; an exact value has one of no width, and one
    that float64 can't hold to the last digit that of its digits."""
    atom = measure.additive_atom
    if atom is not None:
        return _sum(atom, aggregate, sample)
    parts = [part for part in measure.atoms if not _is_exact(part, aggregate)]
    if not parts:
        return Ranges(value, value, aggregate.records)
    if isinstance(measure.expression, Field) and not is_additive(parts[0]):
        return _users(parts[0], aggregate)
    return _within(measure, _formula(measure, value, aggregate, sample), value, sample)


def relative(ranges: Ranges, value: Numbers) -> Numbers:
    """The larger side of each interval in percent of the value; NaN where the value is not above zero."""
    wider = np.fmax(ranges.high - value, value - ranges.low)
    return 100 * wider / np.where(value > 0, value, np.nan)


def is_exact(measure: Measure, aggregate: Aggregate) -> bool:
    """Whether the data field's values over the aggregate leave nothing out."""
    return all(_is_exact(atom, aggregate) for atom in measure.atoms)


def _is_exact(atom: str, aggregate: Aggregate) -> bool:
    return aggregate.exact if is_additive(atom) else aggregate.share.get(atom, 1.0) == 1.0


def _sum(atom: str, aggregate: Aggregate, sample: Sample | None) -> Ranges:
    value = aggregate.estimate[atom]
    if aggregate.exact or sample is None:
        off = slack(value)
        return Ranges(value - off, value + off, aggregate.records)
    certain, variance, more = (
        aggregate.certain[atom],
        aggregate.moments[atom, atom],
        sample.contribution[atom],
    )
    light, n_eff = value - certain, _effective(atom, aggregate, sample)
    if atom in sample.signed:
        half = NORMAL * np.sqrt(variance + more**2)
        return Ranges(value - half, value + half, n_eff)
    low, high = _poisson(light, variance, more)
    return Ranges(certain + np.minimum(low, light), certain + np.maximum(high, light), n_eff)


def _effective(atom: str, aggregate: Aggregate, sample: Sample) -> Numbers:
    """Effective records of the light part of a sum, with the variance of one more."""
    light = aggregate.estimate[atom] - aggregate.certain[atom]
    return _divide(light**2, aggregate.moments[atom, atom] + sample.contribution[atom] ** 2)


def _poisson(light: Numbers, variance: Numbers, more: float) -> tuple[Numbers, Numbers]:
    """The interval of a weighted sum of Poisson counts: mid-p, between the gamma quantiles with and without
    the record that may be missing. Of nothing at all, as many are missing as are in 5 of 100 samples.
    """
    sums = ((light, variance), (light + more, variance + more**2))
    without, one_more = (
        [_gamma(tail, _divide(of**2, var), _divide(var, of)) for tail in (TAIL, 1 - TAIL)] for of, var in sums
    )
    low = np.cbrt(without[0] ** 2 * one_more[0])
    return low, np.where(light > 0, (without[1] + one_more[1]) / 2, -np.log(2 * TAIL) * more)


def _users(atom: str, aggregate: Aggregate) -> Ranges:
    """Users counted on a share of all: k of U are binomial, and the range is of those U that k is usual for.

    By the mid-p inversion (Lancaster 1961): the mean of the exact limits with and without k itself in the
    tail. From MANY on by the score interval (Wilson 1927). Both sides shrink by √(1 - U/N), as the share is
    drawn of N users without replacement (Cochran 1977, 3.2).
    """
    share, estimate = aggregate.share[atom], aggregate.estimate[atom]
    counts = np.round(estimate * share)
    low, high = _score(counts, share)
    few = counts < MANY
    low[few], high[few] = _invert(counts[few], share)
    finite = np.sqrt(np.maximum(0, 1 - estimate / aggregate.users[atom]))
    low = np.maximum(estimate - (estimate - low) * finite, counts)
    high = estimate + (high - estimate) * finite
    return Ranges(np.minimum(low, estimate), np.maximum(high, estimate), counts)


def _invert(counts: Numbers, share: float) -> tuple[Numbers, Numbers]:
    """Of which numbers of users a share has so many, by the binomial distribution; few users alone."""
    low, high = (
        np.mean([bdtrin(np.maximum(at, 0), tail, share) for at in (counts - 1, counts)], axis=0)
        for tail in (1 - TAIL, TAIL)
    )
    none = np.log(2 * TAIL) / np.log1p(-share)
    return np.where(counts == 0, 0.0, low), np.where(counts == 0, none, high)


def _score(counts: Numbers, share: float) -> tuple[Numbers, Numbers]:
    """The same for many users: (k - Uθ)² = z² Uθ(1-θ), solved for U."""
    middle = 2 * counts * share + NORMAL**2 * share * (1 - share)
    root = np.sqrt(np.maximum(middle**2 - (2 * share * counts) ** 2, 0))
    return (middle - root) / (2 * share**2), (middle + root) / (2 * share**2)


def _formula(measure: Measure, value: Numbers, aggregate: Aggregate, sample: Sample | None) -> Ranges:
    """By the gradient at the sums: g'Mg for sampled sums, g²·var for users (independent of each other)."""
    expression = measure.expression
    slope = {atom: expression.derivative(atom).evaluate(aggregate.estimate) for atom in expression.fields()}
    variance, n_eff, unseen = np.zeros(len(value)), np.full(len(value), np.inf), np.zeros(len(value))
    freedom = np.full(len(value), np.inf)
    sums = sorted(atom for atom in slope if is_additive(atom))
    if sample is not None and not aggregate.exact:
        for index, first in enumerate(sums):
            n_eff = np.fmin(n_eff, _effective(first, aggregate, sample))
            freedom = np.fmin(freedom, _records(first, aggregate, sample))
            for second in sums[index:]:
                twice = 1 if first == second else 2
                moment = aggregate.moments[first, second] + sample.moments[first, second]
                variance = variance + twice * slope[first] * slope[second] * moment
    for atom in (atom for atom in slope if aggregate.share.get(atom, 1.0) < 1.0):
        counts = aggregate.estimate[atom] * aggregate.share[atom]
        variance = variance + slope[atom] ** 2 * _user_variance(atom, aggregate)
        n_eff = np.fmin(n_eff, counts)
        unseen = np.where(counts == 0, unseen + np.abs(slope[atom]) * UNSEEN / aggregate.share[atom], unseen)
    spread = np.sqrt(np.maximum(variance, 0)) / (1 - 1 / np.maximum(freedom, 2))
    half = np.where(variance > 0, _student(freedom / SKEW) * spread, unseen)
    half = np.where((freedom < np.inf) & (n_eff < TOO_FEW) & ~(half <= np.abs(value)), np.nan, half)
    return Ranges(value - half, value + half, n_eff)


def _records(atom: str, aggregate: Aggregate, sample: Sample) -> Numbers:
    """How many effective records the light part of a sum rests on, the one that may be missing included."""
    light, more = aggregate.estimate[atom] - aggregate.certain[atom], sample.contribution[atom]
    return np.maximum(1.0, _divide((light + more) ** 2, aggregate.moments[atom, atom] + more**2))


def _within(measure: Measure, ranges: Ranges, value: Numbers, sample: Sample | None) -> Ranges:
    """The intervals within what the data field can be at all."""
    fields = measure.expression.fields()
    signed = {atom for atom in fields if is_additive(atom)} if sample is None else sample.signed
    least, most = (sample.bounds if sample is not None else {}).get(measure.name, (None, None))
    if least is None and measure.expression.is_nonnegative(signed):
        least = 0.0
    low = ranges.low if least is None else np.minimum(np.maximum(ranges.low, least), value)
    high = ranges.high if most is None else np.maximum(np.minimum(ranges.high, most), value)
    return Ranges(low, high, ranges.n_eff)


def _user_variance(atom: str, aggregate: Aggregate) -> Numbers:
    """U(1-θ)/θ · (1 - U/N): a share θ of all N users is drawn, without replacement (Cochran 1977, 3.2)."""
    share, users = aggregate.share[atom], aggregate.estimate[atom]
    return users * (1 - share) / share * np.maximum(0, 1 - users / aggregate.users[atom])


def _gamma(probability: float, shape: Numbers, scale: Numbers) -> Numbers:
    """The quantile of a gamma distribution; 0 where its shape is."""
    freedom = np.maximum(2 * shape, 1e-9)
    return np.where(shape > 0, scale * _chi2(probability, freedom) / 2, 0.0)


def _chi2(probability: float, freedom: Numbers) -> Numbers:
    """The χ² quantile; by Wilson and Hilferty (1931) where there are many degrees of freedom, to 5 digits."""
    z = NORMAL if probability > 0.5 else -NORMAL
    spread = 2 / (9 * freedom)
    near = freedom * (1 - spread + z * np.sqrt(spread)) ** 3
    few = freedom < 2 * MANY
    near[few] = chdtri(freedom[few], 1 - probability)
    return near


def _student(freedom: Numbers) -> Numbers:
    """The upper quantile of Student's t distribution; the normal one without an end of records."""
    return np.where(freedom < np.inf, stdtrit(np.clip(freedom, 1, 1e9), 1 - TAIL), NORMAL)


def _divide(above: Numbers, below: Numbers) -> Numbers:
    """above / below, 0 where that has no meaning."""
    return np.divide(above, below, out=np.zeros_like(above, dtype=np.float64), where=below > 0)
