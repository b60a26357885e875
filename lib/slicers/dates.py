"""Date values of a request, as the reporting specification has them ("Date values")."""

import calendar
import datetime as dt
import re

from lib.slicers.models import Slicer
from lib.slicers.zones import Zone, tzinfo
from lib.wire.errors import BadRequest

Days = tuple[dt.date, dt.date]  # the first and the last
ONE_DAY = dt.timedelta(days=1)
DATE_FORMS = (
    "YYYY-MM-DD, today, yesterday, -Nd or -Ndays, -Nm or -Nmonths, -Nm_first or -Nmonths_first, "
    "-Nm_last or -Nmonths_last"
)
_DAYS_BACK, _MONTHS_BACK = "-([0-9]+)d(?:ays?)?", "-([0-9]+)m(?:onths?)?(_first|_last)?"
RELATIVE = f"^(today|yesterday|{_DAYS_BACK}|{_MONTHS_BACK})$".replace("+", "{1,4}")
_ABSOLUTE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def resolve(text: str, today: dt.date) -> dt.date:
    """The date that an absolute or relative date value means on the day `today`.

    A day that the month lacks (31 March minus one month) becomes the month's last. BadRequest for any other
    text, and for a date outside the years 1 to 9999.
    """
    try:
        if text in ("today", "yesterday"):
            return today - dt.timedelta(days=text == "yesterday")
        if _ABSOLUTE.fullmatch(text):
            return dt.date.fromisoformat(text)
        if days := re.fullmatch(_DAYS_BACK, text):
            return today - dt.timedelta(days=int(days[1]))
        if months := re.fullmatch(_MONTHS_BACK, text):
            edge = months[2]
            year, month = divmod(today.year * 12 + today.month - 1 - int(months[1]), 12)
            first = dt.date(year, month + 1, 1)
            last = first.replace(day=calendar.monthrange(year, month + 1)[1])
            if edge is not None:
                return first if edge == "_first" else last
            return min(first + dt.timedelta(days=today.day - 1), last)
    except (ValueError, OverflowError):
        raise BadRequest(f"There is no such date as '{shorten(text)}'; write {DATE_FORMS}") from None
    raise BadRequest(f"Can't read the date '{shorten(text)}'; write {DATE_FORMS}")


def date_range(start: str, end: str, today: dt.date) -> tuple[dt.date, dt.date]:
    """First and last day that two date values mean; BadRequest where the first comes after the last."""
    first, last = resolve(start, today), resolve(end, today)
    if first > last:
        raise BadRequest(f"start_date '{start}' ({first}) must not be after end_date '{end}' ({last})")
    return first, last


def today(timezone: Zone, now: dt.datetime | None = None) -> dt.date:
    """The current date in a zone; `now` must know its own zone."""
    return day_of(now or dt.datetime.now(dt.UTC), timezone)


def clock(timezone: Zone) -> dt.datetime:
    """What the clocks of a zone show now, without their zone."""
    return dt.datetime.now(tzinfo(timezone)).replace(tzinfo=None)


def day_of(at: dt.datetime, timezone: Zone) -> dt.date:
    """The day of a moment in a zone."""
    return at.astimezone(tzinfo(timezone)).date()


def is_fresh(slicer: Slicer, today: dt.date) -> bool:
    """Whether the data reaches to yesterday, so that relative dates have data."""
    return slicer.last_date is not None and dt.date.fromisoformat(slicer.last_date) >= today - ONE_DAY


def default_days(slicer: Slicer, today: dt.date) -> tuple[str, str]:
    """The days of a query that names none: the last seven complete ones with data."""
    return last_days(slicer, today, 7)


def last_days(slicer: Slicer, today: dt.date, days: int) -> tuple[str, str]:
    """The last complete days: relative dates while the data are fresh, else up to the last day with data."""
    if is_fresh(slicer, today):
        return f"-{days}d", "yesterday"
    last = dt.date.fromisoformat(slicer.last_date) if slicer.last_date else today
    return (last - (days - 1) * ONE_DAY).isoformat(), last.isoformat()


def shorten(text: str) -> str:
    """The text in an error's reason: its first 40 characters."""
    return text if len(text) <= 40 else f"{text[:40]}…"
