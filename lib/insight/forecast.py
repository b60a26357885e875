"""Volume of a targeting per day, and a forecast for a booked period: a range, from the same weekdays.

The period's low end counts each of its days as the lowest day of the same weekday, the high end as the
highest. That is no 95 % interval: it is what the days seen allow, and it knows no season, holiday or trend
beyond them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone

from lib.insight.estimate import Estimate
from lib.reporting.answers import Audience
from lib.reporting.dates import Days
from lib.reporting.models import time_key_field

DAY, ONE = time_key_field("day"), timedelta(days=1)
FEWEST = 2


@dataclass(frozen=True)
class DayFigure:
    """A day and its figure; without data where the slicer has none of that day, whatever the filters."""

    day: date
    figure: Estimate


@dataclass(frozen=True)
class Forecast:
    """The range of a figure in a period.

    `short` are weekdays of the period (0 is Monday) with fewer than FEWEST days of data. Then there is no
    range: `low` and `high` are NaN.
    """

    low: float
    high: float
    short: tuple[int, ...] = ()


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


def forecast(days: Sequence[DayFigure], wanted: Mapping[int, float]) -> Forecast:
    """The range of the figure in a period with so many days of each weekday, by what the days had.

    Of estimates, the low sides make the low end and the high sides the high end.
    """
    seen: dict[int, list[Estimate]] = {weekday: [] for weekday in wanted}
    for one in days:
        if one.figure.value is not None and one.day.weekday() in seen:
            seen[one.day.weekday()].append(one.figure)
    short = tuple(sorted(weekday for weekday, found in seen.items() if len(found) < FEWEST))
    if short or not seen:
        return Forecast(math.nan, math.nan, short)
    lows = {weekday: [_low(figure) for figure in found] for weekday, found in seen.items()}
    highs = {weekday: [_high(figure) for figure in found] for weekday, found in seen.items()}
    if any(map(math.isnan, (side for sides in (lows, highs) for found in sides.values() for side in found))):
        return Forecast(math.nan, math.nan)
    low = sum(count * min(lows[weekday]) for weekday, count in wanted.items())
    high = sum(count * max(highs[weekday]) for weekday, count in wanted.items())
    return Forecast(low, high)


def _low(figure: Estimate) -> float:
    return (figure.value or 0.0) if figure.low is None else figure.low


def _high(figure: Estimate) -> float:
    return (figure.value or 0.0) if figure.high is None else figure.high


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
