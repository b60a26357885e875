"""The days of a question: the default, the presets, the days to compare with, and the granularities.

Presets are names of days (the API's relative dates, and those of named_days.py), so that a link keeps its
meaning. Where a slicer's data ended before yesterday, relative dates would find nothing: its presets are
fixed dates up to its last day.
"""

import re
from datetime import date, timedelta
from typing import NamedTuple

from lib.figures import numbers
from lib.reporting import named_days
from lib.reporting.models import AudienceQuery
from lib.slicers import dates
from lib.slicers.dates import Days
from lib.slicers.granularities import GRANULARITIES, Granularity
from lib.slicers.models import Slicer
from lib.wire.errors import BadRequest

PREVIOUS, WEEKDAYS, YEAR = "previous", "weekdays", "year"
COMPARISONS = (PREVIOUS, WEEKDAYS, YEAR)
DAY = timedelta(days=1)
LAST_FORM = "Write a number of days, weeks or months, like 45 days, 6 weeks or 3 months"
_UNITS = {"d": "day", "w": "week", "m": "month"}
_LAST = re.compile(
    r"(?:last )?\s*(\d{1,4})\s*(d|w|m|day|week|month)s?(?: of data)?", re.ASCII | re.IGNORECASE
)


class Preset(NamedTuple):
    """A range of days with a label; `start` and `end` as links have them."""

    label: str
    start: str
    end: str


def presets(slicer: Slicer, today: date) -> list[Preset]:
    """The presets of the date picker, `today` in the slicer's zone; the second is the default."""
    if dates.is_fresh(slicer, today):
        items = [
            Preset("Yesterday", "yesterday", "yesterday"),
            Preset("Last 7 days", "-7d", "yesterday"),
            Preset("Last 14 days", "-14d", "yesterday"),
            Preset("Last 30 days", "-30d", "yesterday"),
            Preset("Last 90 days", "-90d", "yesterday"),
            Preset("Today so far", "today", "today"),
            *(preset for unit in ("week", "month", "quarter") for preset in _calendar(unit)),
        ]
    else:
        labels = {1: "Last day"} | {days: f"Last {days} days of data" for days in (7, 14, 30, 90)}
        items = [Preset(label, *dates.last_days(slicer, today, days)) for days, label in labels.items()]
    if slicer.first_date and slicer.last_date:
        items.append(Preset("All data", "first", "last"))
    return items


def parse_last(text: str, slicer: Slicer, today: date) -> Preset:
    """The days of a text like `Last 45 days`, `6 weeks` or `3m`. BadRequest for any other.

    Days are the last complete ones; weeks (ISO 8601) and months are whole ones, up to the last complete one.
    """
    match = _LAST.fullmatch(text.strip())
    count = int(match[1]) if match else 0
    if match is None or not count:
        raise BadRequest(LAST_FORM)
    unit, is_fresh = match[2][0].lower(), dates.is_fresh(slicer, today)
    label = f"Last {count} {_UNITS[unit]}{'s' * (count > 1)}"
    if unit == "d":
        of_data = "" if is_fresh else " of data"
        return Preset(label + of_data, *dates.last_days(slicer, today, count))
    if is_fresh:
        return Preset(label, f"-{count}{unit}_first", f"-1{unit}_last")
    last_date = date.fromisoformat(slicer.last_date) if slicer.last_date else today - DAY
    # So many whole weeks or months, as fixed dates, the last of which ends before this day.
    day = min(last_date + DAY, today)
    if unit == "m":
        first, last = (dates.resolve(text, day) for text in (f"-{count}m_first", "-1m_last"))
    else:
        monday = day - day.weekday() * DAY
        first, last = monday - count * 7 * DAY, monday - DAY
    return Preset(label, first.isoformat(), last.isoformat())


def preset_of(slicer: Slicer, start: str, end: str, today: date) -> Preset | None:
    """The preset of two date values; of names that go back any number of days, weeks or months too."""
    same = (preset for preset in presets(slicer, today) if (preset.start, preset.end) == (start, end))
    back = re.fullmatch(r"-([1-9]\d{0,3})(d|w|m)(_first)?", start, re.ASCII)
    if (preset := next(same, None)) is not None or back is None:
        return preset
    preset = parse_last(back[1] + back[2], slicer, today)
    return preset if (preset.start, preset.end) == (start, end) else None


def _calendar(unit: str) -> list[Preset]:
    """This week, month or quarter until today, its complete days, and the last one."""
    start, last = f"-0{unit[0]}_first", f"-1{unit[0]}"
    return [
        Preset(f"This {unit}", start, "today"),
        Preset(f"{unit.capitalize()} to date", start, "yesterday"),
        Preset(f"Last {unit}", f"{last}_first", f"{last}_last"),
    ]


def sentence(query: AudienceQuery, slicer: Slicer) -> str:
    """Which days a link or view of this query shows: the same ones always, or those a name means then."""
    days, now = named_days.days_of(query, slicer), named_days.today(query, slicer)
    if (query.start_date, query.end_date) == tuple(day.isoformat() for day in days):
        return f"Always shows {numbers.days(*days)}."
    preset = preset_of(slicer, query.start_date, query.end_date, now)
    label = f"{preset.label[0].lower()}{preset.label[1:]}" if preset else "the latest days"
    return f"Shows {label} whenever it is opened: now {numbers.days(*days)}."


class Comparison(NamedTuple):
    """The days compared: those of the question, and the earlier ones."""

    now: Days
    before: Days


def comparison(
    compare: tuple[str, ...],
    period: Days,
    slicer: Slicer,
    today: date,
    whole: Days | None = None,
    start: str = "",
) -> tuple[Days | None, Comparison | None]:
    """The days to compare a period with, and the part of both that can be compared.

    These are the same part of the period before (`named_days.part_before`), the same weekdays, the same dates
    a year before, or two date values; None where nothing is compared, or where two values are no range.

    `whole` are the days from which the period was zoomed in to. What they are compared with is so many days
    earlier, and so is what the zoomed days are compared with: a zoom narrows both sides alike. `start` names
    the first of these days, or of the period without a zoom, as a link does.
    """
    first, last = base = whole or period
    if compare == (PREVIOUS,):
        days = named_days.part_before(start, base, today, slicer).days
    elif compare == (WEEKDAYS,):
        weeks = timedelta(weeks=-(-length(base) // 7))
        days = first - weeks, last - weeks
    elif compare == (YEAR,):
        days = _year_before(first), _year_before(last)
    elif len(compare) != 2:
        return None, None
    else:
        try:
            days = dates.date_range(*compare, today)
        except BadRequest:
            return None, None
    before = shift(period, base, days) if whole else days
    limits = None if length(base) == length(days) else days
    return before, match_days(period, before, slicer, today, limits)


def shift(days: Days, from_: Days, to: Days) -> Days:
    """The days moved by as many as lie between the first days of `from_` and `to`."""
    offset = to[0] - from_[0]
    return days[0] + offset, days[1] + offset


def match_days(
    period: Days, before: Days, slicer: Slicer, today: date, limits: Days | None = None
) -> Comparison | None:
    """The part of two ranges of days that can be compared; None if nothing is left.

    Days without data and today, which is not over, have no counterpart. Of two ranges of one length both
    lose the same days, so that the weekdays stay the same on both sides; of others each loses its own.
    Days before that are outside of `limits` are not compared either.
    """
    first = date.fromisoformat(slicer.first_date) if slicer.first_date else date.min
    data_days = (first, named_days.last_complete(today, slicer))
    if length(period) != length(before):
        now, then = _within(period, data_days), _within(before, data_days)
    else:
        earlier = _within(_within(before, data_days), limits or data_days)
        now = _within(_within(period, data_days), shift(earlier, before, period))
        then = shift(now, period, before)
    return Comparison(now, then) if now[0] <= now[1] and then[0] <= then[1] else None


def length(days: Days) -> int:
    """The number of days in a range."""
    return (days[1] - days[0]).days + 1


def _within(days: Days, limits: Days) -> Days:
    return max(days[0], limits[0]), min(days[1], limits[1])


def _year_before(day: date) -> date:
    """The same date of the year before; of 29 February the day before 1 March."""
    is_leap_day = (day.month, day.day) == (2, 29)
    return day.replace(year=day.year - 1, day=28 if is_leap_day else day.day)


def granularities(slicer: Slicer) -> list[Granularity]:
    """The granularities that a slicer's rows allow, the finest first."""
    names = {*slicer.key_names}
    return [grain for grain, row in GRANULARITIES.items() if row.key_field in names]
