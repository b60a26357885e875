"""Whether a difference is more than noise: the sample's, and the value's usual movement.

The usual movement of a value is the mean square of its differences at earlier steps. There are few of these,
so each value's variance is moderated by those of all values (Smyth 2004, "Linear models and empirical Bayes
methods", section 6): the prior's logarithm runs linearly with that of the volume, and its weight follows from
how much the variances scatter, more with heavy tails. Tests of many values are held to a false discovery rate
(Benjamini and Hochberg 1995).
"""

import numpy as np
import numpy.typing as npt
from scipy.special import digamma, polygamma, stdtr

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
RATE, FEWEST, ROUNDS, NEGLIGIBLE = 0.04, 10, 50, 1e-12


def p_values(
    moved: Numbers, error: Numbers, past: Numbers, volume: Numbers, freedom: float | None = None
) -> Numbers:
    """The probability of a movement this large if nothing unusual happened, per value, two-sided.

    `error` is the standard error of `moved` by sampling, NaN where it is not known: such a value is not told
    from noise. `past` has a column per earlier difference (none: sampling alone counts, and exact figures are
    certain), together worth so many degrees of freedom (None: as many as there are). `volume` is how much
    there is of the value.
    """
    spread, degrees = spreads(error, past, volume, freedom)
    with np.errstate(all="ignore"):
        score = np.abs(moved) / spread
    found = 2 * stdtr(min(degrees, 1e9), -score)
    still = np.abs(moved) <= NEGLIGIBLE * np.abs(volume)
    return np.where(still | np.isnan(error), 1.0, np.where(spread == 0, 0.0, found))


def spreads(
    error: Numbers, past: Numbers, volume: Numbers, freedom: float | None = None
) -> tuple[Numbers, float]:
    """The standard deviation of each value's movement in noise, and the degrees of freedom of it."""
    if not past.shape[1]:
        return error, np.inf
    usual, degrees = _moderate(past, volume, float(past.shape[1]) if freedom is None else freedom)
    return np.sqrt(usual + error**2), degrees


def together(p: Numbers) -> float:
    """The probability that all of these tests are of noise (Simes 1986)."""
    return float(np.min(np.sort(p) * len(p) / np.arange(1, len(p) + 1))) if len(p) else 1.0


def discoveries(p: Numbers, tested: int | None = None, rate: float = RATE) -> Flags:
    """A mask of the p-values that pass at this false discovery rate; `tested`: number of tests, if more."""
    order = np.argsort(p)
    limits = rate * np.arange(1, len(p) + 1) / max(tested or 0, len(p), 1)
    below = np.flatnonzero(p[order] <= limits)
    found = np.zeros(len(p), dtype=bool)
    if len(below):
        found[order[: below[-1] + 1]] = True
    return found


def _moderate(past: Numbers, volume: Numbers, count: float) -> tuple[Numbers, float]:
    """Per value the variance of its usual movement, and how many degrees of freedom it has; the mean square
    of `past` has `count`."""
    own = np.mean(past**2, axis=1)
    known = (own > 0) & (volume > 0)
    if known.sum() < FEWEST:
        return own, count
    logs, sizes = np.log(own[known]), np.log(volume[known])
    slope, level = np.polyfit(sizes, logs, 1) if np.ptp(sizes) > 0 else (0.0, logs.mean())
    rest = logs - (slope * sizes + level)
    more = float(np.sum(rest**2) / max(len(rest) - 2, 1) - polygamma(1, count / 2))
    weight = 2 * _inverse_trigamma(more) if more > 0 else np.inf
    bias = np.log(count / 2) - digamma(count / 2) + (_bias(weight) if np.isfinite(weight) else 0.0)
    usual = np.exp(slope * np.log(np.maximum(volume, _least(volume))) + level + bias)
    if not np.isfinite(weight):
        return usual, np.inf
    return (weight * usual + count * own) / (weight + count), weight + count


def _least(volume: Numbers) -> float:
    """The smallest volume above zero, for values that have none."""
    above = volume[volume > 0]
    return float(above.min()) if len(above) else 1.0


def _bias(weight: float) -> float:
    return float(digamma(weight / 2) - np.log(weight / 2))


def _inverse_trigamma(value: float) -> float:
    """The argument at which the trigamma function has this value, by Newton's method on its reciprocal."""
    found = 0.5 + 1 / value
    for _ in range(ROUNDS):
        there = float(polygamma(1, found))
        step = there * (1 - there / value) / float(polygamma(2, found))
        found += step
        if abs(step) < NEGLIGIBLE * found:
            break
    return found
