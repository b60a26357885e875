"""Volume of a targeting per day, and a forecast for a booked period with a range that was back-tested.

The forecast is the mean of each weekday over the last two weeks. How far such a forecast is off is seen in
the past: from each day on it is made for a period as long and as far ahead, and held against what came
(lib/reporting/noise.py). Where it is off the same way all the time, as with a trend, it is shifted by that.
The range knows no season or holiday beyond those days.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone

import numpy as np
import numpy.typing as npt

from lib.insight.estimate import Estimate
from lib.reporting import noise
from lib.reporting.answers import Audience
from lib.reporting.dates import Days
from lib.reporting.models import time_key_field

DAY, ONE = time_key_field("day"), timedelta(days=1)
WEEK, BASE, CONFIDENCE = 7, 14, 0.95
PERIODS = {1: "days", WEEK: "weeks", 2 * WEEK: "fortnights"}
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class DayFigure:
    """A day and its figure; without data where the slicer has none of that day, whatever the filters."""

    day: date
    figure: Estimate


@dataclass(frozen=True)
class Forecast:
    """A figure in a period of `days` with its 95 % range, which held in `hits` of `tests` past ones like it.

    Without enough days of data for a range, `low` and `high` are NaN; without any for the value, it is too.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    hits: int = 0
    tests: int = 0
    days: int = 0


def track_record(hits: int, tests: int, days: int) -> str:
    """`in 27 of 30 past fortnights`: how often such a range held, in periods as long and as far ahead."""
    return f"in {hits} of {tests} past {PERIODS.get(days, f'periods of {days} days')}"


def daily(audience: Audience, field: str, days: Days) -> tuple[DayFigure, ...]:
    """Every one of the days, from an answer that is split by day."""
    places = {str(name): place for place, name in enumerate(audience.names[DAY])}
    with_data = {*audience.total.dates, *places}
    day_figures = []
    for number in range((days[1] - days[0]).days + 1):
        day = days[0] + number * ONE
        if (place := places.get(day.isoformat())) is not None:
            day_figures.append(DayFigure(day, _figure(audience, field, place)))
        else:
            day_figures.append(DayFigure(day, Estimate(0.0 if day.isoformat() in with_data else None)))
    return tuple(day_figures)


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
        midnight = at.replace(hour=0, minute=0, second=0, microsecond=0) + ONE
        until = min(midnight, last)
        parts[at.weekday()] = parts.get(at.weekday(), 0.0) + (until - at) / ONE
        at = until
    return parts


def forecast(days: Sequence[DayFigure], parts: Mapping[int, float], ahead: int = 0) -> Forecast:
    """The figure in a period with so many days of each weekday, `ahead` days after the last of these days."""
    series = np.array([math.nan if day.figure.value is None else day.figure.value for day in days])
    length = max(1, round(sum(parts.values())))
    if len(series) < BASE or not parts:
        return Forecast(math.nan)
    week = series[-BASE:].reshape(-1, WEEK).mean(axis=0)
    first = days[-1].day.weekday() + 1
    value = float(sum(count * week[(weekday - first) % WEEK] for weekday, count in parts.items()))
    forecasts, actual = _back_test(series, length, ahead)
    is_positive = value > 0 and bool(np.all(forecasts > 0) and np.all(actual > 0))
    errors = np.log(actual / forecasts) if is_positive else actual - forecasts
    weights = [-1 / BASE] * BASE + [0.0] * ahead + [1 / length] * length
    drift = float(errors.mean()) if len(errors) and _drifts(errors, weights, series) else 0.0
    usual = noise.spread(errors - drift, weights, noise.persistence(series))
    if usual is None or not math.isfinite(value):
        return Forecast(value)
    side = usual.side(CONFIDENCE)
    if is_positive:
        value, low, high = (value * math.exp(drift + by) for by in (0.0, -side, side))
    else:
        value += drift
        if np.nanmin(series) >= 0:
            value = max(value, 0.0)  # what never was negative falls no further
        low, high = value - side, value + side
    hits = int(np.sum(usual.sizes <= side))
    return Forecast(value, max(low, min(value, 0.0)), high, hits, len(usual.sizes), length)


def _drifts(errors: Numbers, weights: Sequence[float], series: Numbers) -> bool:
    """Whether the errors are of one kind, as those of a trend are: their mean is beyond their own spread."""
    usual = noise.spread(errors - errors.mean(), weights, noise.persistence(series))
    return usual is not None and abs(float(errors.mean())) > usual.side(CONFIDENCE) / math.sqrt(usual.freedom)


def _back_test(series: Numbers, length: int, ahead: int) -> tuple[Numbers, Numbers]:
    """What was forecast from each past day on for a period so long and far ahead, and what came.

    Where a day of either has no data, there is no test.
    """
    starts = range(len(series) - BASE - ahead - length + 1)
    weekdays = (np.arange(length) + ahead) % WEEK
    forecasts = np.array(
        [series[at : at + BASE].reshape(-1, WEEK).mean(axis=0)[weekdays].sum() for at in starts]
    )
    actual = np.array([series[at + BASE + ahead :][:length].sum() for at in starts])
    has_value = np.isfinite(forecasts) & np.isfinite(actual)
    return forecasts[has_value], actual[has_value]


def _figure(audience: Audience, field: str, place: int) -> Estimate:
    """A row's figure; where records were read in part and no range came, the range is not known."""
    value = float(audience.values[field].iloc[place])
    if math.isnan(value):
        return Estimate(None)
    if audience.low is not None and audience.high is not None and field in audience.low:
        low, high = (float(side[field].iloc[place]) for side in (audience.low, audience.high))
        return Estimate(value) if low == high == value else Estimate(value, low, high)
    is_sampled = audience.confidence_range is not None or (
        audience.precision is not None and audience.precision.is_sampled
    )
    return Estimate(value, math.nan, math.nan) if is_sampled else Estimate(value)
