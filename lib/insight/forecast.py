"""Volume of a targeting per day, and a forecast for a booked period with a range that was tried on the past.

The forecast is the last week over again (seasonal naive), or the mean of the last four where its range is the
narrower one: a level that wanders is better known by its last week, rare counts by more of them. How far off
it is is seen in the past: from each day on it is made for a period as long and as far ahead, and held against
what came. Where almost all of these errors have one sign, as with a trend, it is shifted by their median. The
range is that of such placebos (lib/reporting/noise.py). On each past day the same range is made of the errors
that were known then; where too few of these held there is none. Seasons and holidays are not known.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import ClassVar

import numpy as np

from lib.reporting import noise
from lib.reporting.answers import DayFigure
from lib.reporting.noise import WEEK, Numbers
from lib.slicers.granularities import time_key_field

DAY, ONE_DAY = time_key_field("day"), timedelta(days=1)
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Forecast:
    """A figure in a period of `days` with its 95 % range; `hits` of `tests` such ranges of past days held.

    `low` and `high` are NaN where too few past ranges could be tried or held.
    """

    HISTORY_DAYS: ClassVar[int] = 182
    """Complete days, from which a forecast and its past tests are: twenty-six weeks."""
    MOST_SEATS: ClassVar[int] = 12
    """Seats whose wins are asked for, one by one; with more of them it is what all buyers may have."""

    value: float
    low: float = math.nan
    high: float = math.nan
    hits: int = 0
    tests: int = 0
    days: int = 0

    @classmethod
    def of_booking(cls, daily: Sequence[DayFigure], start: datetime, end: datetime, hours: int) -> "Forecast":
        """The figure between two moments, from its past days in a zone so many hours ahead of UTC."""
        ahead = (start.astimezone(timezone(timedelta(hours=hours))).date() - daily[-1].day).days - 1
        return forecast(daily, weekdays(start, end, hours), max(ahead, 0))


def weekdays(start: datetime, end: datetime, hours: int) -> dict[int, float]:
    """How many days of each weekday lie between two moments, in a zone so many hours ahead of UTC; a day
    counts with the part of it that lies between them. Empty where the end is not after the start."""
    zone = timezone(timedelta(hours=hours))
    first, last = start.astimezone(zone), end.astimezone(zone)
    if last <= first:
        return {}
    weeks = (last - first) // timedelta(weeks=1)
    parts = dict.fromkeys(range(7), float(weeks)) if weeks else {}
    at = first + weeks * timedelta(weeks=1)
    while at < last:
        midnight = at.replace(hour=0, minute=0, second=0, microsecond=0) + ONE_DAY
        until = min(midnight, last)
        parts[at.weekday()] = parts.get(at.weekday(), 0.0) + (until - at) / ONE_DAY
        at = until
    return parts


BASE_WEEKS = (1, 4)  # of whose mean a forecast may be made; with equal ranges, of the fewest
FEWEST_TESTS = 5  # past ranges that must have been tried
LEAST_HELD = 0.8  # the part of them that must have held
ONE_SIGN = 0.9  # the part of the errors with one sign from which the forecast is shifted, as under a trend


def forecast(days: Sequence[DayFigure], parts: Mapping[int, float], ahead: int = 0) -> Forecast:
    """The figure in a period with so many days of each weekday, `ahead` days after the last of these days."""
    series = np.array([math.nan if day.figure.value is None else day.figure.value for day in days])
    if len(series) < WEEK or not parts:
        return Forecast(math.nan)
    from_last = np.roll([parts.get(weekday, 0.0) for weekday in range(WEEK)], -days[-1].day.weekday() - 1)
    forecasts = [
        _forecast(series, from_last, weeks, ahead) for weeks in BASE_WEEKS if len(series) >= weeks * WEEK
    ]
    return min(forecasts, key=lambda each: math.inf if math.isnan(each.low) else each.high - each.low)


def _forecast(series: Numbers, parts: Numbers, weeks: int, ahead: int) -> Forecast:
    """By the mean of so many weeks; `parts` by weekday, that of the day after the last one first."""
    in_period = parts > 0
    value = float(parts[in_period] @ series[-weeks * WEEK :].reshape(weeks, WEEK).mean(axis=0)[in_period])
    length = max(1, round(parts.sum()))
    # What was forecast from each past day on, and what came; NaN where a day of either has no data.
    base = np.tile(np.bincount((np.arange(length) + ahead) % WEEK, minlength=WEEK) / weeks, weeks)
    if len(series) < len(base) + ahead + length:
        return Forecast(value)
    forecasts = np.correlate(series[: len(series) - ahead - length], base, "valid")
    actual = np.correlate(series[len(base) + ahead :], np.ones(length), "valid")
    has_value = np.isfinite(forecasts) & np.isfinite(actual)
    forecasts, actual = forecasts[has_value], actual[has_value]
    is_positive = value > 0 and bool(np.all(forecasts > 0) and np.all(actual > 0))
    errors = np.log(actual / forecasts) if is_positive else actual - forecasts
    weights = [*-base, *np.zeros(ahead), *np.ones(length)]
    persistence = noise.persistence(series)

    def range_of(errors: Numbers) -> tuple[float, float] | None:
        """The middle of these errors, zero or their median where almost all have one sign, and the side."""
        is_shifted = max(np.mean(errors > 0), np.mean(errors < 0)) >= ONE_SIGN
        middle = float(np.median(errors)) if is_shifted else 0.0
        spread = noise.spread(errors - middle, weights, persistence)
        return None if spread is None else (middle, spread.side(CONFIDENCE))

    # What came of a past forecast was known no earlier than its last day.
    counts = range(2, len(errors) - ahead - length + 1)
    trials = [(range_of(errors[:count]), errors[count + ahead + length - 1]) for count in counts]
    is_hit = [bool(abs(error - past[0]) <= past[1]) for past, error in trials if past is not None]
    final = range_of(errors) if len(is_hit) >= FEWEST_TESTS else None
    if final is None or sum(is_hit) < LEAST_HELD * len(is_hit) or not math.isfinite(value):
        return Forecast(value)
    middle, side = final
    if is_positive:
        value, low, high = (value * math.exp(error) for error in (middle, middle - side, middle + side))
    else:
        value += middle
        if np.nanmin(series) >= 0:
            value = max(value, 0.0)  # what never was negative falls no further
        low, high = value - side, value + side
    return Forecast(value, max(low, min(value, 0.0)), high, sum(is_hit), len(is_hit), length)
