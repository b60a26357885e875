"""Volume of a targeting per day, and a forecast for a booked period with a range that was tried on the past.

The forecast is the last week over again (seasonal naive). How far off it is is seen in the past: from each
day on it is made for a period as long and as far ahead, and held against what came. Where almost all of these
errors have one sign, as with a trend, it is shifted by their median. The range reaches as far as the errors
do by their rank (conformal; Vovk, Gammerman and Shafer 2005). On each past day the same range is made of the
errors that were known then; where too few of these held there is none. Seasons and holidays are not known.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import numpy as np
import numpy.typing as npt

from lib.reporting.answers import DayFigure
from lib.slicers.granularities import time_key_field

DAY, ONE_DAY = time_key_field("day"), timedelta(days=1)
WEEK, CONFIDENCE = 7, 0.95
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Forecast:
    """A figure in a period of `days` with its 95 % range; `hits` of `tests` such ranges of past days held.

    `low` and `high` are NaN where too few past ranges could be tried or held, the value where no data are.
    """

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


FEWEST_ERRORS = 14  # of past forecasts for a range, and at least twice the days of its period
FEWEST_TESTS = 5  # past ranges that must have been tried
LEAST_HELD = 0.8  # the part of them that must have held


def forecast(days: Sequence[DayFigure], parts: Mapping[int, float], ahead: int = 0) -> Forecast:
    """The figure in a period with so many days of each weekday, `ahead` days after the last of these days."""
    series = np.array([math.nan if day.figure.value is None else day.figure.value for day in days])
    length = max(1, round(sum(parts.values())))
    if len(series) < WEEK or not parts:
        return Forecast(math.nan)
    first = days[-1].day.weekday() + 1
    value = float(sum(count * series[-WEEK:][(weekday - first) % WEEK] for weekday, count in parts.items()))
    forecasts, actual = _back_test(series, length, ahead)
    is_positive = value > 0 and bool(np.all(forecasts > 0) and np.all(actual > 0))
    errors = np.log(actual / forecasts) if is_positive else actual - forecasts
    least = max(FEWEST_ERRORS, 2 * length)
    # What came of a past forecast was known no earlier than its last day.
    counts = np.arange(least, len(errors) - ahead - length + 1)
    trials = [(_range(errors[:count]), errors[count + ahead + length - 1]) for count in counts]
    hits = sum(bool(abs(error - middle) <= side) for (middle, side), error in trials)
    if len(trials) < FEWEST_TESTS or hits < LEAST_HELD * len(trials) or not math.isfinite(value):
        return Forecast(value)
    middle, side = _range(errors)
    if is_positive:
        value, low, high = (value * math.exp(error) for error in (middle, middle - side, middle + side))
    else:
        value += middle
        if np.nanmin(series) >= 0:
            value = max(value, 0.0)  # what never was negative falls no further
        low, high = value - side, value + side
    return Forecast(value, max(low, min(value, 0.0)), high, hits, len(trials), length)


ONE_SIGN = 0.9  # the part of the errors with one sign from which the forecast is shifted, as under a trend


def _range(errors: Numbers) -> tuple[float, float]:
    """The middle of these errors, and how far CONFIDENCE of them are from it.

    It is zero, or their median where almost all have one sign. One rank further than if each were
    independent: overlapping periods are alike.
    """
    is_shifted = max(np.mean(errors > 0), np.mean(errors < 0)) >= ONE_SIGN
    middle = float(np.median(errors)) if is_shifted else 0.0
    rank = min(math.ceil(CONFIDENCE * (len(errors) + 1)) + 1, len(errors))
    return middle, float(np.sort(np.abs(errors - middle))[rank - 1])


def _back_test(series: Numbers, length: int, ahead: int) -> tuple[Numbers, Numbers]:
    """What was forecast from each past day on for a period so long and far ahead, and what came.

    Where a day of either has no data, there is no test.
    """
    starts = range(len(series) - WEEK - ahead - length + 1)
    weekdays = (np.arange(length) + ahead) % WEEK
    forecasts = np.array([series[start : start + WEEK][weekdays].sum() for start in starts])
    actual = np.array([series[start + WEEK + ahead :][:length].sum() for start in starts])
    has_value = np.isfinite(forecasts) & np.isfinite(actual)
    return forecasts[has_value], actual[has_value]
