"""Which days a question is about: the usual ones, the presets, and those to compare with.

Presets are the API's own relative dates, so that a link keeps its meaning. Where a slicer's data ended
before yesterday, relative dates would find nothing: its presets are fixed dates up to its last day.
"""

from datetime import date, timedelta
from typing import NamedTuple

from lib.reporting import dates
from lib.reporting.models import Slicer
from lib.wire.errors import BadRequest

PREVIOUS, WEEKDAYS = "previous", "weekdays"
DAY = timedelta(days=1)
Days = tuple[date, date]


class Preset(NamedTuple):
    """A range of days with a name; `start` and `end` as the API takes them."""

    label: str
    start: str
    end: str


def usual(slicer: Slicer, today: date) -> tuple[str, str]:
    """The dates of a question that names none: the last seven complete days with data."""
    week = presets(slicer, today)[1]
    return week.start, week.end


def presets(slicer: Slicer, today: date) -> list[Preset]:
    """What the dates picker offers, the second one being the usual; `today` in the slicer's zone."""
    if is_fresh(slicer, today):
        found = [
            Preset("Yesterday", "yesterday", "yesterday"),
            Preset("Last 7 days", "-7d", "yesterday"),
            Preset("Last 14 days", "-14d", "yesterday"),
            Preset("Last 30 days", "-30d", "yesterday"),
            Preset("Last 90 days", "-90d", "yesterday"),
            Preset("Today so far", "today", "today"),
            Preset("This month", "-0m_first", "today"),
            Preset("Last month", "-1m_first", "-1m_last"),
        ]
    else:
        last = date.fromisoformat(slicer.last_date or today.isoformat())
        found = [_fixed(days, last) for days in (1, 7, 14, 30, 90)]
    if slicer.first_date and slicer.last_date:
        found.append(Preset("All data", slicer.first_date, slicer.last_date))
    return found


def is_fresh(slicer: Slicer, today: date) -> bool:
    """Whether the data reach to yesterday, so that relative dates find them."""
    return slicer.last_date is not None and date.fromisoformat(slicer.last_date) >= today - DAY


def _fixed(days: int, last: date) -> Preset:
    label = "Last day" if days == 1 else f"Last {days} days of data"
    return Preset(label, (last - (days - 1) * DAY).isoformat(), last.isoformat())


def resolved(start: str, end: str, today: date) -> Days:
    """First and last day that the two values mean; BadRequest where they are no range."""
    return dates.date_range(start, end, today)


def compared(compare: tuple[str, ...], period: Days, today: date) -> Days | None:
    """The days that a period is compared with: as many before it, the same weekdays, or two date values.

    None where nothing is compared, or where the two values are no range.
    """
    first, last = period
    length = (last - first) + DAY
    if compare == (PREVIOUS,):
        return first - length, last - length
    if compare == (WEEKDAYS,):
        weeks = timedelta(weeks=-(-length.days // 7))
        return first - weeks, last - weeks
    if len(compare) != 2:
        return None
    try:
        return resolved(*compare, today)
    except BadRequest:
        return None
