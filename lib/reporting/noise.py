"""The noise of daily figures, calibrated by placebo: how much a difference moves where nothing happened.

A statistic of a series (a week less the week before, say) is computed at every past day without a change, as
it is on the day in question. Their mean square is its variance, whatever the noise: autocorrelation, weekdays
and drift are in it (Abadie, Diamond and Hainmueller 2010, "Synthetic control methods", section 3.4;
Chernozhukov, Wüthrich and Zhu 2021, "An exact and robust conformal inference method"). Placebos overlap and
follow each other, so that m of them are worth fewer: the variance has as many degrees of freedom as
m² / Σ ρ² (Satterthwaite 1946), with ρ the correlation that the statistic's weights and the persistence of the
series give any two of them. The statistic over its spread is then held against Student's t.

Evidence, what moved, alerts and forecasts tell a change from noise by this file.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

Numbers = npt.NDArray[np.float64]
FEWEST_FREEDOM, MOST_PERSISTENT, WEEK = 3.0, 0.97, 7
OUT_OF_LINE = 6.0  # robust standard deviations from the same weekdays around; an outage is further off
LEAST_OUTAGE = math.log(1.6)  # a smaller distance is no outage, however little else moves
TO_DEVIATION = 1.4826  # times a median deviation is the standard deviation of normal noise: 1 / Φ⁻¹(¾)


@dataclass(frozen=True)
class Spread:
    """The usual size of a statistic: its standard deviation about zero, the degrees of freedom of it, and the
    sizes of the placebos in order."""

    scale: float
    freedom: float
    sizes: Numbers

    def side(self, confidence: float) -> float:
        """The half width of the interval with this confidence, 0 to 1.

        By Student's t, and for heavy tails at least as wide as this share of the placebos needs.
        """
        by_spread = self.scale * float(stdtrit(self.freedom, (1 + confidence) / 2))
        return max(by_spread, self.rank_side(confidence))

    def rank_side(self, confidence: float) -> float:
        """The same by the rank among the placebos alone, which is enough where there are many.

        One rank further than if each were independent: neighbors among them are alike.
        """
        rank = min(math.ceil(confidence * (len(self.sizes) + 1)) + 1, len(self.sizes))
        return float(self.sizes[rank - 1])

    def power_margin(self, power: float) -> float:
        """By how much a statistic must be beyond a side to leave it in this share of cases, 0 to 1."""
        return self.scale * float(stdtrit(self.freedom, power))

    def p_value(self, movement: float) -> float:
        """The probability of a movement this large in noise, two-sided."""
        return 2 * float(stdtr(self.freedom, -abs(movement) / self.scale))


def spread(placebos: Numbers, weights: Sequence[float], persistence: float, step: int = 1) -> Spread | None:
    """The spread of a statistic, by its values at past days (NaN: none), `step` days apart.

    `weights` are what each day counts in the statistic, day after day. None where the placebos are worth
    fewer than FEWEST_FREEDOM degrees of freedom, or none of them moved: then nothing can be said.
    """
    sizes = np.sort(np.abs(placebos[np.isfinite(placebos)]))
    degrees = freedom(len(sizes), weights, persistence, step)
    scale = float(np.sqrt(np.mean(sizes**2))) if len(sizes) else 0.0
    return Spread(scale, degrees, sizes) if degrees >= FEWEST_FREEDOM and scale > 0 else None


def freedom(count: int, weights: Sequence[float], persistence: float, step: int = 1) -> float:
    """How many degrees of freedom the mean square of so many placebos has, `step` days apart: m² / Σ ρ².

    The correlation of two placebos is that of the weighted sums of a first-order autoregression.
    """
    if count < 2:
        return float(count)
    products = np.correlate(weights, weights, "full")
    reach = len(weights) - 1 + step * (count - 1)
    decay = persistence ** np.abs(np.arange(-reach, reach + 1))
    covariance = np.convolve(products, decay, "valid")[-1 - step * (count - 1) :: step]
    correlation = covariance[1:] / covariance[0]
    return count**2 / (count + 2 * float(((count - np.arange(1, count)) * correlation**2).sum()))


def persistence(series: Numbers, season: int = WEEK) -> float:
    """The correlation of neighbors beyond the season's means (NaN: no figure), corrected for its bias.

    A short series looks less persistent than it is, by (1 + 4r) / n (Marriott and Pope 1954, "Bias in the
    estimation of autocorrelations"; each weekday has a mean of its own here).
    """
    rest = np.asarray(series, dtype=np.float64).copy()
    for weekday in range(min(season, len(rest))):
        same = rest[weekday::season]
        present = same[np.isfinite(same)]
        rest[weekday::season] = same - (present.mean() if len(present) else 0.0)
    both = np.isfinite(rest[1:]) & np.isfinite(rest[:-1])
    whole = np.nanmean(rest**2) if np.isfinite(rest).any() else 0.0
    if both.sum() < 2 or whole <= 0:
        return 0.0
    correlation = float(np.mean(rest[1:][both] * rest[:-1][both]) / whole)
    return min(max(correlation + (1 + 4 * correlation) / int(both.sum()), 0.0), MOST_PERSISTENT)


MOST_OUTAGES = 0.15  # the part of all figures that outages may be


def without_outages(figures: Numbers, season: int = WEEK) -> Numbers:
    """The figures with those that are far out of line (Hampel) set to the median of the same weekday around.

    Unchanged where some are negative, and where so many are out of line that this is their way.
    """
    if (figures < 0).any():
        return figures
    logarithms = np.log(np.where(figures > 0, figures, np.nan))
    is_outage = np.zeros(len(figures), bool)
    # Twice: an outage distorts what the weeks around it are held against, until it is known.
    for _ in range(2):
        medians = medians_around(np.where(is_outage, np.nan, logarithms), season)
        distances = np.abs(logarithms - medians)
        if not np.isfinite(distances).any():
            return figures
        limit = max(OUT_OF_LINE * TO_DEVIATION * float(np.nanmedian(distances)), LEAST_OUTAGE)
        is_outage = np.isfinite(medians) & ((distances > limit) | (figures == 0))
    return figures if is_outage.mean() > MOST_OUTAGES else np.where(is_outage, np.exp(medians), figures)


NEAR_WEEKS = 3  # before and after a figure, of whose same weekday the median is taken


def medians_around(figures: Numbers, season: int = WEEK) -> Numbers:
    """The median of the same weekday in the weeks before and after each figure; NaN without any."""
    padding = np.pad(figures, NEAR_WEEKS * season, constant_values=np.nan)
    shifts = [week * season for week in range(2 * NEAR_WEEKS + 1) if week != NEAR_WEEKS]
    around = np.array([padding[shift : shift + len(figures)] for shift in shifts])
    medians, has_around = np.full(len(figures), np.nan), np.isfinite(around).any(axis=0)
    medians[has_around] = np.nanmedian(around[:, has_around], axis=0)
    return medians
