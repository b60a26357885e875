"""What a targeting is expected to have: in a booked period, for its buyers, and in its first week."""

import math
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from lib.deals.comparisons import Supply
from lib.deals.models import Seat, SupplyPackage, Targeting
from lib.deals.targeting.filters import Lists, report_filters
from lib.insight import forecast, seat_prices
from lib.insight.deal_report import DealReport
from lib.insight.forecast import Forecast
from lib.insight.win_prices import win_fields
from lib.slicers.dates import Days
from lib.slicers.roles import BIDS, IMPRESSIONS, field_of, tells_seats

ONE_DAY = timedelta(days=1)
Booking = tuple[datetime | None, datetime | None]


def available(
    report: DealReport,
    package: SupplyPackage,
    lists: Lists,
    buyers: Sequence[tuple[Seat, Decimal | None]],
    now: datetime,
) -> Supply | None:
    """The forecast impressions of a package's targeting from now to its end: what its buyers may win at or
    above their prices, else, where they won nothing there, what all buyers together may have.

    What the report can't filter by is left out, so the figure is rather too high. None where it has no such
    field, no days or no data. Raises why the report can't be asked.
    """
    field, start, end = field_of(report.slicer, IMPRESSIONS), package.start_date, package.end_date
    has_days = forecast.DAY in report.slicer.key_names
    if field is None or end is None or not has_days:
        return None
    filters = report_filters(package, report.slicer, lists, package.media_type).filters
    booking = (max(start or now, now), end, report.slicer.timezone)
    is_by_seat = 0 < len(buyers) <= Forecast.MOST_SEATS and tells_seats(report.slicer)
    wins = win_fields(report.slicer) if is_by_seat else None
    if wins is not None:
        lookup = seat_prices.daily_lookup(report, wins, filters, buyers, Forecast.HISTORY_DAYS)
        answers = [report.ask(query) for query in lookup.queries]
        outlook = Forecast.of_booking(lookup.read(answers), *booking)
        # Nothing at these prices is an answer for those who won below them.
        if any(answer.total.values.get(wins.wins) for answer in answers) and math.isfinite(outlook.value):
            who, whose = ("this seat", "its price") if len(buyers) == 1 else ("these seats", "their prices")
            return Supply(outlook.value, f"{who} may win at {whose}")
    query = report.query(
        Forecast.HISTORY_DAYS, filters=filters, data_fields=(field.name,), split_by=(forecast.DAY,)
    )
    answer = report.ask(query)
    outlook = Forecast.of_booking(answer.by_day(field.name, report.period(Forecast.HISTORY_DAYS)), *booking)
    return Supply(outlook.value) if math.isfinite(outlook.value) else None


def of_targeting(
    report: DealReport, targeting: Targeting, lists: Lists, media_type: str | None, booking: Booking
) -> dict[str, Any] | None:
    """The forecast of bids (else impressions) as a proposal has it: the first week from the booked start on.

    None where no estimate exists: without such a field, a range, or a start, and where the report can't say
    all of the targeting. One question to the report.
    """
    field = field_of(report.slicer, (*BIDS, *IMPRESSIONS))
    translation = report_filters(targeting, report.slicer, lists, media_type)
    days = first_week(booking, report.today, report.slicer.timezone)
    has_days = forecast.DAY in report.slicer.key_names
    if field is None or days is None or translation.left_out or not has_days:
        return None
    changes = {"filters": translation.filters, "data_fields": (field.name,), "split_by": (forecast.DAY,)}
    answer = report.ask(report.query(Forecast.HISTORY_DAYS, **changes))
    daily = answer.by_day(field.name, report.period(Forecast.HISTORY_DAYS))
    count = (days[1] - days[0]).days + 1
    parts = {(days[0] + number * ONE_DAY).weekday(): 1.0 for number in range(count)}
    outlook = forecast.forecast(daily, parts, max((days[0] - daily[-1].day).days - 1, 0))
    if not (math.isfinite(outlook.low) and math.isfinite(outlook.high)):
        return None
    return {
        "project": report.project,
        "slicer": report.name,
        "field": field.name,
        "filters": [
            {"name": only.name, "value": [*only.value], "match": only.match} for only in translation.filters
        ],
        "first_day": days[0].isoformat(),
        "last_day": days[1].isoformat(),
        "low": _decimal(max(outlook.low, 0.0)),
        "high": _decimal(outlook.high),
        "range_held": outlook.hits,
        "past_periods_tested": outlook.tests,
    }


def _decimal(value: float) -> Decimal:
    return Decimal(str(round(value, 6)))


WEEK = 7  # days


def first_week(booking: Booking, today: date, hours: int) -> Days | None:
    """The first seven whole days, or fewer, that are booked from today on; None without any."""
    start, end = booking
    if start is None:
        return None
    zone = timezone(timedelta(hours=hours))
    first = max(start.astimezone(zone).date(), today)
    last = first + (WEEK - 1) * ONE_DAY
    if end is not None:
        last = min(last, (end.astimezone(zone) - timedelta(seconds=1)).date())
    return (first, last) if first <= last else None
