"""Date values of a request, and the text forms of the time key fields.

Both follow the reporting specification ("Date values", "Time-related key fields"); weeks are ISO 8601's.
"""

import calendar
import datetime as dt
import re
from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from lib.slicers.models import Granularity, Slicer
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
_DAYS_FROM_MONDAY_1970 = 3
_TEXT_TYPES = {"D": "U10", "M": "U7", "Y": "U4"}


def resolve(text: str, today: dt.date) -> dt.date:
    """The date that an absolute or relative date value means on the day `today`.

    A day that the month lacks (31 March minus one month) becomes the month's last. BadRequest for any other
    text, and for a date outside the years 1 to 9999.
    """
    try:
        day = _resolve(text, today)
    except (ValueError, OverflowError):
        raise BadRequest(f"There is no such date as '{_shorten(text)}'; write {DATE_FORMS}") from None
    if day is None:
        raise BadRequest(f"Can't read the date '{_shorten(text)}'; write {DATE_FORMS}")
    return day


def date_range(start: str, end: str, today: dt.date) -> tuple[dt.date, dt.date]:
    """First and last day that two date values mean; BadRequest where the first comes after the last."""
    first, last = resolve(start, today), resolve(end, today)
    if first > last:
        raise BadRequest(f"start_date '{start}' ({first}) must not be after end_date '{end}' ({last})")
    return first, last


def today(timezone: Zone, now: dt.datetime | None = None) -> dt.date:
    """The current date in a zone; `now` must know its own zone."""
    return day_of(now or dt.datetime.now(dt.UTC), timezone)


def day_of(at: dt.datetime, timezone: Zone) -> dt.date:
    """The day of a moment in a zone."""
    return at.astimezone(tzinfo(timezone)).date()


def is_fresh(slicer: Slicer, today: dt.date) -> bool:
    """Whether the data reaches to yesterday, so that relative dates have data."""
    return slicer.last_date is not None and dt.date.fromisoformat(slicer.last_date) >= today - dt.timedelta(
        days=1
    )


def default_days(slicer: Slicer, today: dt.date) -> tuple[str, str]:
    """The days of a query that names none: the last seven complete ones with data."""
    return last_days(slicer, today, 7)


def last_days(slicer: Slicer, today: dt.date, days: int) -> tuple[str, str]:
    """The last complete days: relative dates while the data are fresh, else up to the last day with data."""
    if is_fresh(slicer, today):
        return f"-{days}d", "yesterday"
    last = dt.date.fromisoformat(slicer.last_date) if slicer.last_date else today
    return (last - (days - 1) * dt.timedelta(days=1)).isoformat(), last.isoformat()


def format_time(granularity: Granularity, hours: npt.NDArray[np.integer]) -> npt.NDArray[np.str_]:
    """The values of a time key field for hours since 1970-01-01 00:00 in the zone that is shown.

    "2026-11-21 09:00", "2026-11-21", "2026-W47", "2026-11", "2026 Q4", "2026"; years 0001 to 9999.
    """
    instants = np.asarray(hours, dtype=np.int64).astype("datetime64[h]")
    match granularity:
        case "hour":
            return _join(_truncate(instants, "D"), " ", _two_digits(instants.astype(np.int64) % 24), ":00")
        case "day":
            return _truncate(instants, "D")
        case "week":
            return _weeks(instants)
        case "month":
            return _truncate(instants, "M")
        case "quarter":
            quarter = instants.astype("datetime64[M]").astype(np.int64) % 12 // 3 + 1
            return _join(_truncate(instants, "Y"), " Q", quarter.astype("U1"))
        case "year":
            return _truncate(instants, "Y")


def bounds(granularity: Granularity, text: str) -> tuple[dt.date, dt.date]:
    """First and last day of a value of a time key field (of an hour: its day, twice).

    BadRequest for a text that is no such value.
    """
    pattern, days, example = _VALUES[granularity]
    match = re.fullmatch(pattern, text, re.ASCII)
    try:
        if match:
            return days(*map(int, match.groups()))
    except (ValueError, OverflowError):
        match = None
    raise BadRequest(f"'{_shorten(text)}' is not a valid {granularity}; write it like '{example}'")


def _resolve(text: str, today: dt.date) -> dt.date | None:
    if text in ("today", "yesterday"):
        return today - dt.timedelta(days=text == "yesterday")
    if _ABSOLUTE.fullmatch(text):
        return dt.date.fromisoformat(text)
    if days := re.fullmatch(_DAYS_BACK, text):
        return today - dt.timedelta(days=int(days[1]))
    if months := re.fullmatch(_MONTHS_BACK, text):
        return _months_back(today, int(months[1]), months[2])
    return None


def _months_back(today: dt.date, months: int, edge: str | None) -> dt.date:
    year, month = divmod(today.year * 12 + today.month - 1 - months, 12)
    first, last = _month(year, month + 1)
    if edge is not None:
        return first if edge == "_first" else last
    return min(first + dt.timedelta(days=today.day - 1), last)


def _weeks(instants: npt.NDArray[np.datetime64]) -> npt.NDArray[np.str_]:
    """The weeks by ISO 8601: a week belongs to the year of its Thursday."""
    days = instants.astype("datetime64[D]").astype(np.int64)
    thursdays = (days - (days + _DAYS_FROM_MONDAY_1970) % 7 + 3).astype("datetime64[D]")
    new_year = thursdays.astype("datetime64[Y]").astype("datetime64[D]")
    week = (thursdays - new_year).astype(np.int64) // 7 + 1
    return _join(_truncate(thursdays, "Y"), "-W", _two_digits(week))


def _truncate(instants: npt.NDArray[np.datetime64], unit: Literal["D", "M", "Y"]) -> npt.NDArray[np.str_]:
    return np.datetime_as_string(instants, unit=unit).astype(_TEXT_TYPES[unit])


def _two_digits(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.str_]:
    return np.array([f"{number:02}" for number in range(100)])[numbers]


def _join(*parts: npt.NDArray[np.str_] | str) -> npt.NDArray[np.str_]:
    whole = np.asarray(parts[0])
    for part in parts[1:]:
        whole = np.strings.add(whole, part)
    return whole


def _month(year: int, month: int) -> tuple[dt.date, dt.date]:
    return dt.date(year, month, 1), dt.date(year, month, calendar.monthrange(year, month)[1])


def _day(year: int, month: int, day: int) -> tuple[dt.date, dt.date]:
    return dt.date(year, month, day), dt.date(year, month, day)


def _hour(year: int, month: int, day: int, hour: int) -> tuple[dt.date, dt.date]:
    dt.time(hour)
    return _day(year, month, day)


def _week(year: int, week: int) -> tuple[dt.date, dt.date]:
    return dt.date.fromisocalendar(year, week, 1), dt.date.fromisocalendar(year, week, 7)


def _quarter(year: int, quarter: int) -> tuple[dt.date, dt.date]:
    return dt.date(year, quarter * 3 - 2, 1), _month(year, quarter * 3)[1]


def _year(year: int) -> tuple[dt.date, dt.date]:
    return dt.date(year, 1, 1), dt.date(year, 12, 31)


def _shorten(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}…"


_VALUES: dict[Granularity, tuple[str, Callable[..., tuple[dt.date, dt.date]], str]] = {
    "hour": (r"(\d{4})-(\d\d)-(\d\d) (\d\d):00", _hour, "2026-11-21 09:00"),
    "day": (r"(\d{4})-(\d\d)-(\d\d)", _day, "2026-11-21"),
    "week": (r"(\d{4})-W(\d\d)", _week, "2026-W47"),
    "month": (r"(\d{4})-(\d\d)", _month, "2026-11"),
    "quarter": (r"(\d{4}) Q(\d)", _quarter, "2026 Q4"),
    "year": (r"(\d{4})", _year, "2026"),
}
