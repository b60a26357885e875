"""How far off an estimate may be: the 95 % interval of a weighted sum, of a formula, of a count of users.

A sum over a sample splits into C, the exact sum of the records that were certain to be drawn, and R, the
weighted sum of the light ones, with the variance V = Σ w(w-1)y². The gamma quantiles of Fay and Feuer (1997)
for weighted sums of Poisson counts have shape R²/V and scale V/R below; above, shape (R+m)²/(V+m²) and scale
(V+m²)/(R+m), as one record more, which was not drawn, would have added m. They take the largest weight for m,
far too wide for sizes this uneven; here it is what a light record of the layout usually adds. Such intervals
of few records hold too often, as exact ones of counts do; mid-p (Lancaster 1961) has half of the record that
decides on either side. bench/range_coverage.py measures how often the intervals hold.

Sums with negative values get Student's t, with about as many degrees of freedom as there are effective
records (Satterthwaite 1946). A formula is a quotient of two such figures, and has the interval that their own
intervals and their correlation leave it (Donner and Zou 2012, "Closed-form confidence intervals for functions
of the normal mean and standard deviation", MOVER).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import bdtrin, chdtri, stdtrit

from lib.engines import Aggregate, Sample
from lib.reporting.answers import NORMAL, TAIL, slack
from lib.slicers.formulas import Expression
from lib.slicers.measures import RECORDS, Measure, Numbers, is_additive

MANY = 100.0


@dataclass(frozen=True)
class Ranges:
    """The 95 % interval of each of G values, and the effective records behind it; each of shape (G,).

    A quotient has none (NaN) where what it divides by may be zero.
    """

    low: Numbers
    high: Numbers
    n_eff: Numbers


def ranges(measure: Measure, value: Numbers, aggregate: Aggregate, sample: Sample | None) -> Ranges:
    """The intervals of a data field's values over an aggregate; an exact value has one of no width, and one
    that float64 can't hold to the last digit that of its digits."""
    inexact = [atom for atom in measure.atoms if not _is_exact(atom, aggregate)]
    if not inexact:
        off = slack(value) if measure.additive_atom is not None else 0.0
        return Ranges(value - off, value + off, aggregate.records)
    # of a sampled answer a total can be exact: it has no moments
    quotient = _quotient(measure.expression, aggregate, None if aggregate.exact else sample)
    # The intervals within what the data field can be at all.
    fields = measure.expression.fields()
    signed = {atom for atom in fields if is_additive(atom)} if sample is None else sample.signed
    least, most = (sample.bounds if sample is not None else {}).get(measure.name, (None, None))
    if least is None and measure.expression.is_nonnegative(signed):
        least = 0.0
    low = quotient.low if least is None else np.minimum(np.maximum(quotient.low, least), value)
    high = quotient.high if most is None else np.maximum(np.minimum(quotient.high, most), value)
    return Ranges(low, high, quotient.n_eff)


def relative(ranges: Ranges, value: Numbers) -> Numbers:
    """The larger side of each interval in percent of the value; NaN where the value is not above zero."""
    wider = np.fmax(ranges.high - value, value - ranges.low)
    return 100 * wider / np.where(value > 0, value, np.nan)


def is_exact(measure: Measure, aggregate: Aggregate) -> bool:
    """Whether the data field's values over the aggregate leave nothing out."""
    return all(_is_exact(atom, aggregate) for atom in measure.atoms)


def _is_exact(atom: str, aggregate: Aggregate) -> bool:
    return aggregate.exact if is_additive(atom) else aggregate.share.get(atom, 1.0) == 1.0


@dataclass(frozen=True)
class _Side:
    """What stands above or below the line of a quotient: its interval, and how it changes with each atom."""

    value: Numbers
    low: Numbers
    high: Numbers
    slopes: dict[str, Numbers]


def _quotient(expression: Expression, aggregate: Aggregate, sample: Sample | None) -> Ranges:
    """The interval of a formula as a quotient; below the line of most is 1."""
    above, below = (_side(side, aggregate, sample) for side in expression.fraction())
    joint, *own = (
        _covariance(first.slopes, second.slopes, aggregate, sample, 1)
        for first, second in ((above, below), (above, above), (below, below))
    )
    correlation = np.clip(_divide(joint, np.sqrt(own[0] * own[1])), -1, 1)
    slopes = _slopes(expression, aggregate)
    # what of both sides is not in step has a variance of few records
    apart = (1 - correlation**2) * (_student(slopes, aggregate, sample) / NORMAL) ** 2
    correlation = np.sign(correlation) * np.sqrt(np.maximum(1 - apart, 0))
    opposite = _Side(-above.value, -above.high, -above.low, above.slopes)
    low, high = _least(above, below, correlation), -_least(opposite, below, -correlation)
    return Ranges(low, high, _effective(slopes, aggregate, sample))


def _side(expression: Expression, aggregate: Aggregate, sample: Sample | None) -> _Side:
    """One side of a quotient; of a sum of sums that can't be negative it is that of Poisson counts."""
    value, slopes = _broadcast(expression, aggregate), _slopes(expression, aggregate)
    signed = () if sample is None else sample.signed
    is_count = expression.is_sum and all(map(is_additive, slopes)) and expression.is_nonnegative(signed)
    if sample is not None and is_count:
        light = _sum(
            slope * (aggregate.estimate[atom] - aggregate.certain[atom]) for atom, slope in slopes.items()
        )
        more = _sum(slope * sample.contribution[atom] for atom, slope in slopes.items())
        variance = _covariance(slopes, slopes, aggregate, sample)
        # Mid-p: between the gamma quantiles with and without the record that may be missing. Of nothing at
        # all, as many are missing as are in 5 of 100 samples.
        sums = ((light, variance), (light + more, variance + more**2))
        without, one_more = (
            [_gamma(tail, _divide(of**2, var), _divide(var, of)) for tail in (TAIL, 1 - TAIL)]
            for of, var in sums
        )
        low = np.cbrt(without[0] ** 2 * one_more[0])
        high = np.where(light > 0, (without[1] + one_more[1]) / 2, -np.log(2 * TAIL) * more)
        return _Side(
            value, value - light + np.minimum(low, light), value - light + np.maximum(high, light), slopes
        )
    [atom, *more_atoms] = slopes or [""]
    if not more_atoms and expression.is_sum and not is_additive(atom) and not _is_exact(atom, aggregate):
        users = _users(atom, aggregate)
        ends = [slopes[atom] * end for end in (users.low, users.high)]
        return _Side(value, np.minimum(*ends), np.maximum(*ends), slopes)
    variance = np.maximum(_covariance(slopes, slopes, aggregate, sample, 1), 0)
    half = _student(slopes, aggregate, sample) * np.sqrt(variance)
    return _Side(value, value - half, value + half, slopes)


def _least(above: _Side, below: _Side, correlation: Numbers) -> Numbers:
    """The lower end of a quotient N / D: the least R for which N - R·D may be zero.

    (N - RD)² = a² + R²b² - 2ρRab, with a and b what N may be less and D more by; where N may be negative,
    what both may be less by.
    """
    sign = np.where(below.value < 0, -1.0, 1.0)
    n, d = sign * above.value, sign * below.value
    least_n = np.where(sign > 0, above.low, -above.high)
    least_d, most_d = (
        np.where(sign > 0, *ends) for ends in ((below.low, -below.high), (below.high, -below.low))
    )
    a, b = n - least_n, np.where(least_n >= 0, most_d - d, d - least_d)
    square, half, rest = d**2 - b**2, n * d - correlation * a * b, n**2 - a**2
    with np.errstate(all="ignore"):
        root = np.sqrt(np.maximum(half**2 - square * rest, 0))
        least = np.where(
            least_n > 0, rest / (half + root), np.where(least_n < 0, (half - root) / square, 0.0)
        )
    return np.where(least_d > 0, least, np.nan)


def _slopes(expression: Expression, aggregate: Aggregate) -> dict[str, Numbers]:
    """How an expression changes with each of its atoms, at the sums."""
    return {atom: _broadcast(expression.derivative(atom), aggregate) for atom in sorted(expression.fields())}


def _covariance(
    first: Mapping[str, Numbers],
    second: Mapping[str, Numbers],
    aggregate: Aggregate,
    sample: Sample | None,
    usual: int = 0,
) -> Numbers:
    """g'Mh, by the slopes of two expressions; M has the moments of so many usual light records more."""
    total = np.zeros(len(aggregate.records))
    for atom, slope in first.items():
        for second_atom, second_slope in second.items():
            pair = (min(atom, second_atom), max(atom, second_atom))
            if pair in aggregate.moments and sample is not None:
                moment = aggregate.moments[pair] + usual * sample.moments[pair]
            elif atom == second_atom and aggregate.share.get(atom, 1.0) < 1.0:
                # U(1-θ)/θ · (1 - U/N): a share θ of all N users is drawn, without replacement (Cochran
                # 1977, 3.2).
                share, users = aggregate.share[atom], aggregate.estimate[atom]
                moment = users * (1 - share) / share * np.maximum(0, 1 - users / aggregate.users[atom])
            else:
                continue
            total = total + slope * second_slope * moment
    return total


def _student(slopes: Mapping[str, Numbers], aggregate: Aggregate, sample: Sample | None) -> Numbers:
    """The quantile of Student's t for the variance of an expression.

    Of n normal contributions Σ w(w-1)y² has about as many degrees of freedom as there are effective records
    (Satterthwaite 1946), and more by the part that is the usual record's, which is known.
    """
    own, whole = (_covariance(slopes, slopes, aggregate, sample, count) for count in (0, 1))
    growth = _divide(whole, np.maximum(own, 1e-9 * whole))
    freedom = np.minimum(_effective(slopes, aggregate, sample), 1e9) * growth**2
    quantile: Numbers = np.where(whole > 0, stdtrit(np.clip(freedom, 1, 1e9), 1 - TAIL), NORMAL)
    return quantile


def _effective(slopes: Mapping[str, Numbers], aggregate: Aggregate, sample: Sample | None) -> Numbers:
    """The effective records behind an expression: those of its atoms, by what each adds to its variance."""
    variances = {
        atom: _covariance({atom: slope}, {atom: slope}, aggregate, sample, 1)
        for atom, slope in slopes.items()
    }
    inverse = _sum(variance / _records(atom, aggregate, sample) for atom, variance in variances.items())
    infinite = np.full(len(aggregate.records), np.inf)
    count: Numbers = np.divide(_sum(variances.values()), inverse, out=infinite, where=inverse > 0)
    return count


def _records(atom: str, aggregate: Aggregate, sample: Sample | None) -> Numbers:
    """How many effective records an atom rests on, (Σ w|y|)² / Σ w(w-1)y², the one that may be missing
    included; of users, how many were counted.

    Where values may be negative, Σ w|y| is what so many records usually have: their own sum is near zero
    or far from it by chance.
    """
    if sample is None or not is_additive(atom):
        return np.maximum(aggregate.estimate[atom] * aggregate.share.get(atom, 1.0), 1.0)
    volume, more = aggregate.estimate[atom] - aggregate.certain[atom], sample.contribution[atom]
    if atom in sample.signed:
        volume = (aggregate.records - aggregate.certain[RECORDS]) * sample.moments[atom, atom] / (more or 1.0)
    return np.maximum(1.0, _divide((volume + more) ** 2, aggregate.moments[atom, atom] + more**2))


def _broadcast(expression: Expression, aggregate: Aggregate) -> Numbers:
    return np.broadcast_to(expression.evaluate(aggregate.estimate), aggregate.records.shape)


def _sum(parts: Iterable[Numbers]) -> Numbers:
    return np.asarray(sum(parts, np.float64(0.0)))


def _users(atom: str, aggregate: Aggregate) -> Ranges:
    """Users counted on a share of all: k of U are binomial, and the range is of those U that k is usual for.

    By the mid-p inversion (Lancaster 1961): the mean of the exact limits with and without k itself in the
    tail. From MANY on by the score interval (Wilson 1927). Both sides shrink by √(1 - U/N), as the share is
    drawn of N users without replacement (Cochran 1977, 3.2).
    """
    share, estimate = aggregate.share[atom], aggregate.estimate[atom]
    counts = np.round(estimate * share)
    # The score interval (Wilson 1927): (k - Uθ)² = z² Uθ(1-θ), solved for U.
    middle = 2 * counts * share + NORMAL**2 * share * (1 - share)
    root = np.sqrt(np.maximum(middle**2 - (2 * share * counts) ** 2, 0))
    low, high = (middle - root) / (2 * share**2), (middle + root) / (2 * share**2)
    few = counts < MANY
    low[few], high[few] = (
        np.mean([bdtrin(np.maximum(at, 0), tail, share) for at in (counts[few] - 1, counts[few])], axis=0)
        for tail in (1 - TAIL, TAIL)
    )
    low[counts == 0], high[counts == 0] = 0.0, np.log(2 * TAIL) / np.log1p(-share)
    finite = np.sqrt(np.maximum(0, 1 - estimate / aggregate.users[atom]))
    low = np.maximum(estimate - (estimate - low) * finite, counts)
    high = estimate + (high - estimate) * finite
    return Ranges(np.minimum(low, estimate), np.maximum(high, estimate), counts)


def _gamma(probability: float, shape: Numbers, scale: Numbers) -> Numbers:
    """The quantile of a gamma distribution; 0 where its shape is.

    By that of χ², of few degrees of freedom from a table, of many by Wilson and Hilferty (1931). Both to 5
    digits: the exact one would take longer than all sums of an answer.
    """
    freedom = np.maximum(2 * shape, 1e-9)
    z = NORMAL if probability > 0.5 else -NORMAL
    spread = 2 / (9 * freedom)
    few = np.exp(np.interp(np.log(freedom), *_chi2_table(probability)))
    chi2 = np.where(freedom < 2 * MANY, few, freedom * (1 - spread + z * np.sqrt(spread)) ** 3)
    return np.where(shape > 0, scale * chi2 / 2, 0.0)


@cache
def _chi2_table(probability: float) -> tuple[Numbers, Numbers]:
    """Logarithms of degrees of freedom, and of the quantile at each."""
    freedom = np.geomspace(1e-9, 2 * MANY, 10_000)
    return np.log(freedom), np.log(np.maximum(chdtri(freedom, 1 - probability), 1e-300))


def _divide(above: Numbers, below: Numbers) -> Numbers:
    """above / below, 0 where that has no meaning."""
    return np.divide(above, below, out=np.zeros_like(above, dtype=np.float64), where=below > 0)
