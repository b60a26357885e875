"""The granularities of time, a row each: how their values are written, read and labeled.

The values are those of the reporting specification ("Time-related key fields"); weeks are ISO 8601's.
Weekdays and hours of the day, which come again, are an extension. A new granularity is its name and its row;
engines that count its spans by a database have an expression for it (`lib/engines/connected/statements.py`)
where it isn't whole days.
"""

import calendar
import datetime as dt
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from lib.slicers.dates import shorten
from lib.wire.errors import BadRequest

Granularity = Literal["hour", "day", "week", "month", "quarter", "year"]
Cycle = Literal["weekday", "hour_of_day"]
Instants = npt.NDArray[np.datetime64]
Texts = npt.NDArray[np.str_]
Span = tuple[dt.datetime, dt.date]
_TEXT_TYPES = {"D": "U10", "M": "U7", "Y": "U4"}
_HOURS = np.array([f" {hour:02}:00" for hour in range(24)])
_WEEKS = np.array([f"-W{week:02}" for week in range(1, 54)])
_WEEKDAYS = np.array([f"{day} {name}" for day, name in enumerate(calendar.day_name, 1)])
_HOURS_OF_DAY = np.array([f"{hour:02}:00" for hour in range(24)])
_QUARTERS = np.array([f" Q{quarter}" for quarter in range(1, 5)])
_DAYS_FROM_MONDAY_1970 = 3


@dataclass(frozen=True)
class TimeGranularity:
    """One granularity.

    `form` writes hours (datetime64[h]) as values of years 0001 to 9999; `read` makes of the numbers in a
    value, which has the `pattern`, its first moment and its last day. `long` is its label in tooltips, rows
    and filters, `short` on an axis: formats of the first moment, empty for the value itself. It is the usual
    one of a period of up to `most_days`. `clock_hours` are the hours of an hour and a day, which a change of
    the clocks makes more or fewer; 0 of longer ones. `phrases` name it beside "by day" and "per day".
    """

    name: Granularity | Cycle
    example: str
    pattern: str
    form: Callable[[Instants], Texts]
    read: Callable[..., Span]
    phrases: tuple[str, ...]
    long: str = ""
    short: str = ""
    most_days: float = math.inf
    clock_hours: int = 0

    @property
    def key_field(self) -> str:
        """The name of the key field that splits by it, such as `granularity_day`."""
        return f"granularity_{self.name}"

    @property
    def is_within_day(self) -> bool:
        """Whether its values are parts of a day, so that rows of it can be put on other clocks."""
        return 0 < self.clock_hours < 24

    def write(self, hours: npt.NDArray[np.integer]) -> Texts:
        """The values of hours since 1970-01-01 00:00 in the zone that is shown."""
        return self.form(np.asarray(hours, dtype=np.int64).astype("datetime64[h]"))

    def span(self, text: str) -> Span:
        """The first moment and the last day of a value; BadRequest for a text that is none."""
        match = re.fullmatch(self.pattern, text, re.ASCII)
        try:
            if match:
                return self.read(*map(int, match.groups()))
        except (ValueError, OverflowError):
            match = None
        raise BadRequest(f"'{shorten(text)}' is not a valid {self.name}; write it like '{self.example}'")

    def label(self, text: str) -> str:
        """A value in words: `Sun 22 Nov 2026 13:00`, `Sun 22 Nov 2026`, `2026-W47`, `Nov 2026`, `2026 Q4`.

        A text that is no value stays as it is.
        """
        try:
            return self.long.format(self.span(text)[0]) if self.long else text
        except BadRequest:
            return text

    def tick(self, text: str) -> str:
        """A value on an axis: `13:00` (of midnight its day), `Sun 22 Nov`, a week's Monday, `Nov 2026`…"""
        start = self.span(text)[0]
        row = GRANULARITIES["day"] if self.is_within_day and not start.hour else self
        return row.short.format(start) or text


def _truncate(instants: Instants, unit: Literal["D", "M", "Y"]) -> Texts:
    return np.datetime_as_string(instants, unit=unit).astype(_TEXT_TYPES[unit])


def _write_hours(instants: Instants) -> Texts:
    return np.strings.add(_truncate(instants, "D"), _HOURS[instants.astype(np.int64) % 24])


def _write_weeks(instants: Instants) -> Texts:
    """The weeks by ISO 8601: a week belongs to the year of its Thursday."""
    days = instants.astype("datetime64[D]").astype(np.int64)
    thursdays = (days - (days + _DAYS_FROM_MONDAY_1970) % 7 + 3).astype("datetime64[D]")
    new_year = thursdays.astype("datetime64[Y]").astype("datetime64[D]")
    return np.strings.add(_truncate(thursdays, "Y"), _WEEKS[(thursdays - new_year).astype(np.int64) // 7])


def _write_quarters(instants: Instants) -> Texts:
    months = instants.astype("datetime64[M]").astype(np.int64) % 12
    return np.strings.add(_truncate(instants, "Y"), _QUARTERS[months // 3])


def _write_weekdays(instants: Instants) -> Texts:
    """`1 Monday` to `7 Sunday`, as ISO 8601 counts: texts in the order of the week."""
    days = instants.astype("datetime64[D]").astype(np.int64)
    return _WEEKDAYS[(days + _DAYS_FROM_MONDAY_1970) % 7]


def _read_cycle(*_: int) -> Span:
    raise ValueError("comes again, so that it has no first moment")


def _read_day(year: int, month: int, day: int, hour: int = 0) -> Span:
    date = dt.date(year, month, day)
    return dt.datetime.combine(date, dt.time(hour)), date


def _read_week(year: int, week: int) -> Span:
    first, last = (dt.date.fromisocalendar(year, week, weekday) for weekday in (1, 7))
    return dt.datetime.combine(first, dt.time()), last


def _read_months(year: int, month: int, count: int = 1) -> Span:
    last = month + count - 1
    return _read_day(year, month, 1)[0], dt.date(year, last, calendar.monthrange(year, last)[1])


GRANULARITIES: dict[Granularity, TimeGranularity] = {
    cast(Granularity, row.name): row
    for row in (
        TimeGranularity(
            "hour", "2026-11-21 09:00", r"(\d{4})-(\d\d)-(\d\d) (\d\d):00", _write_hours, _read_day,
            ("hourly",), "{0:%a} {0.day} {0:%b %Y %H:%M}", "{0:%H:%M}", 3, 1,
        ),
        TimeGranularity(
            "day", "2026-11-21", r"(\d{4})-(\d\d)-(\d\d)", lambda instants: _truncate(instants, "D"),
            _read_day, ("daily", "day by day", "by date"), "{0:%a} {0.day} {0:%b %Y}",
            "{0:%a} {0.day} {0:%b}", 100, 24,
        ),
        TimeGranularity(
            "week", "2026-W47", r"(\d{4})-W(\d\d)", _write_weeks, _read_week, ("weekly",),
            short="{0.day} {0:%b}", most_days=400,
        ),
        TimeGranularity(
            "month", "2026-11", r"(\d{4})-(\d\d)", lambda instants: _truncate(instants, "M"), _read_months,
            ("monthly",), "{0:%b %Y}", "{0:%b %Y}",
        ),
        TimeGranularity(
            "quarter", "2026 Q4", r"(\d{4}) Q(\d)", _write_quarters,
            lambda year, quarter: _read_months(year, 3 * quarter - 2, 3), ("quarterly",),
        ),
        TimeGranularity(
            "year", "2026", r"(\d{4})", lambda instants: _truncate(instants, "Y"),
            lambda year: _read_months(year, 1, 12), ("yearly",),
        ),
    )
}  # fmt: skip
"""By name, the finest first: spans of time, one after the other."""
CYCLES: dict[Cycle, TimeGranularity] = {
    "weekday": TimeGranularity("weekday", "1 Monday", r"[1-7] \w+", _write_weekdays, _read_cycle, ()),
    "hour_of_day": TimeGranularity(
        "hour_of_day", "09:00", r"\d\d:00", lambda instants: _HOURS_OF_DAY[instants.astype(np.int64) % 24],
        _read_cycle, (),
    ),
}  # fmt: skip
"""Parts of the week and of the day, which come again: split by like other key fields, not drawn over time."""
CYCLE_KEY_FIELDS = {row.key_field: row for row in CYCLES.values()}
SPAN_KEY_FIELDS = {row.key_field: grain for grain, row in GRANULARITIES.items()}
TIME_KEY_FIELDS = {row.key_field: row for row in GRANULARITIES.values()} | CYCLE_KEY_FIELDS


def time_key_field(granularity: Granularity) -> str:
    """The name of the key field that splits by time, `granularity_day` or a sibling."""
    return GRANULARITIES[granularity].key_field
