"""Days by name in the desk's links: weeks and quarters beside the API's dates, and all days with data.

`-0w_first` is the Monday of this week and `-1w_last` the Sunday of the last one (ISO 8601), `-1q_last` the
last day of the quarter before; `first` and `last` are a slicer's first and last day with data. The API does
not know these: its client sends the days that they mean when it asks.
"""

import re
from datetime import date, timedelta
from typing import NamedTuple, TypeVar

import pandas as pd

from lib.reporting.models import Selection
from lib.slicers import dates
from lib.slicers.dates import Days
from lib.slicers.models import Slicer
from lib.slicers.zones import Zone
from lib.wire.errors import BadRequest

Query = TypeVar("Query", bound=Selection)
_BACK = re.compile(r"-(\d{1,4})([wq])_(first|last)", re.ASCII)
_RUNNING = re.compile(r"-0([wmq])_first", re.ASCII)
_CALENDAR = re.compile(r"-\d{1,4}(w|m|q)_first", re.ASCII)
_DAY = timedelta(days=1)


def resolve(start: str, end: str, today: date, slicer: Slicer) -> Days:
    """The first and last day that two date values mean on the day `today`; BadRequest if they are no range.

    A week, month or quarter to date has no complete day on its first: there it is the one before, whole.
    """
    first, last = _day(start, today, slicer), _day(end, today, slicer)
    running = _RUNNING.fullmatch(start)
    if running and first == today and end == "yesterday":
        first = _day(f"-1{running[1]}_first", today, slicer)
    return dates.date_range(first.isoformat(), last.isoformat(), today)


class PartBefore(NamedTuple):
    """The days that those of a period are set against unless others are chosen, and what they are called."""

    days: Days
    name: str = "Previous period"


def part_before(start: str, days: Days, today: date, slicer: Slicer) -> PartBefore:
    """The same part of the calendar's period before, for days whose first is named `start`.

    Of a week, month or quarter (or of several) that is whole that is the whole one before, of any length; of
    one that is not over as many of its days, where a date that the month lacks is its last. Of all other days
    it is as many before them. Today and days whose data are still to come have no counterpart: they are set
    against the days that follow, as far as there are such.
    """
    first, last = days
    match = _CALENDAR.fullmatch(start)
    if match is None:
        return PartBefore((first - (last - first) - _DAY, first - _DAY))
    complete, unit = max(first, min(last, last_complete(today, slicer))), match[1].upper()
    count = pd.Period(last, unit).ordinal - pd.Period(first, unit).ordinal + 1
    step = (
        pd.DateOffset(weeks=count) if unit == "W" else pd.DateOffset(months=count * (3 if unit == "Q" else 1))
    )
    is_whole = pd.Period(complete, unit).end_time.date() == complete
    end = first - _DAY if is_whole else (pd.Timestamp(complete) - step).date()
    later = end + (last - complete)
    noun = {"W": "week", "M": "month", "Q": "quarter"}[unit]
    span = noun if count == 1 else f"{count} {noun}s"
    is_running = not is_whole and start.startswith("-0")
    name = f"last {noun}" if is_running else f"the {span} before"
    name = name.capitalize() if is_whole else f"Same part of {name}"
    return PartBefore(((pd.Timestamp(first) - step).date(), later if later < first else end), name)


def last_complete(today: date, slicer: Slicer) -> date:
    """The last day that is over and has data."""
    return min(today - _DAY, date.fromisoformat(slicer.last_date)) if slicer.last_date else today - _DAY


def zone(query: Selection, slicer: Slicer) -> Zone:
    """The time zone of a query: the slicer's own unless it names another."""
    return slicer.timezone if query.timezone is None else query.timezone


def today(query: Selection, slicer: Slicer) -> date:
    """Today, in the time zone of a query."""
    return dates.today(zone(query, slicer))


def days_of(query: Selection, slicer: Slicer) -> Days:
    """The first and last day that a query is about, if it is asked now."""
    return resolve(query.start_date, query.end_date, today(query, slicer), slicer)


def for_api(query: Query, slicer: Slicer) -> Query:
    """The query in dates that the API understands; the days in place of names that it does not know."""
    texts = query.start_date, query.end_date
    is_to_date = texts[1] == "yesterday" and _RUNNING.fullmatch(texts[0])
    if not is_to_date and not any(text in ("first", "last") or _BACK.fullmatch(text) for text in texts):
        return query
    start, end = (day.isoformat() for day in days_of(query, slicer))
    return query.model_copy(update={"start_date": start, "end_date": end})


def _day(text: str, today: date, slicer: Slicer) -> date:
    if (day := {"first": slicer.first_date, "last": slicer.last_date}.get(text)) is not None:
        return date.fromisoformat(day)
    if (back := _BACK.fullmatch(text)) is None:
        return dates.resolve(text, today)
    count, unit, edge = int(back[1]), back[2], back[3]
    try:
        first, next_first = (_first(unit, count - later, today) for later in (0, 1))
    except (ValueError, OverflowError):
        raise BadRequest(f"There is no such date as '{text}'") from None
    return first if edge == "first" else next_first - _DAY


def _first(unit: str, count: int, today: date) -> date:
    """The first day of the week or quarter so many before this one."""
    if unit == "w":
        return today - timedelta(days=today.weekday(), weeks=count)
    year, quarter = divmod(today.year * 4 + (today.month - 1) // 3 - count, 4)
    return date(year, 3 * quarter + 1, 1)
