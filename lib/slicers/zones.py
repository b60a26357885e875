"""Time zones of questions: whole hours ahead of UTC, or a name of the IANA database, whose clocks may change.

Rows are of whole hours of UTC. An hour belongs to the hour and day that the zone's clocks show as it begins:
where they are half an hour off, a day begins with its first whole hour of UTC. An hour that clocks show twice
is one bucket of two hours in answers, one that they leave out never occurs: days have 23 to 25 hours.
"""

import datetime as dt
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from lib.wire import time_zones
from lib.wire.text import write_day

Ints = npt.NDArray[np.int64]
Zone = int | str
HOUR, DAY, DAY_HOURS = 3600, 86_400, 24
FARTHEST = 30  # more hours than any two clocks are apart
# Outside of these years clocks stand as at their edge: no rule is older, and none is known that far ahead.
_FIRST_YEAR, _LAST_YEAR = 1900, 2100
_EPOCH = dt.date(1970, 1, 1)


class ClockChange(NamedTuple):
    """When a zone's clocks change, in seconds since 1970, and by how many seconds: back if it is negative.

    `wall` is where the hour that comes twice, or never, begins on the clock.
    """

    time: int
    shift: int
    wall: int

    @property
    def hour(self) -> str:
        """The hour that comes twice or never: `25 Oct 2026 02:00`."""
        moment = dt.datetime.fromtimestamp(self.wall, dt.UTC)
        return f"{write_day(moment)} {moment:%H:%M}"


@cache
def names() -> frozenset[str]:
    """The names of zones of places, as `Europe/Berlin`; `UTC` and its like are whole hours."""
    return frozenset(name for name in time_zones.names() if "/" in name and not name.startswith("Etc/"))


def tzinfo(zone: Zone) -> dt.tzinfo:
    """The rules of a zone."""
    return time_zones.zone(zone) if isinstance(zone, str) else dt.timezone(dt.timedelta(hours=zone))


def title(zone: Zone) -> str:
    """A zone as people write it: `UTC+2`, `Europe/Berlin`."""
    return zone if isinstance(zone, str) else f"UTC{zone:+d}"


def by_city() -> Mapping[str, str]:
    """The zones of places in the order of their cities, each by its city, with its offset as of now.

    `Berlin, Europe · UTC+1`; `Buenos Aires, America, Argentina · UTC-3`.
    """
    return _by_city(dt.datetime.now(dt.UTC).replace(minute=0, second=0, microsecond=0))


@lru_cache(maxsize=1)
def _by_city(hour: dt.datetime) -> Mapping[str, str]:
    cities = sorted(names(), key=lambda name: name.replace("_", " ").rpartition("/")[::-1])
    titles = {}
    for name in cities:
        *areas, city = name.replace("_", " ").split("/")
        ahead = hour.astimezone(time_zones.zone(name)).strftime("%z")  # as +0530
        hours = f"{int(ahead[:3]):+d}{f':{ahead[3:]}'.removesuffix(':00')}"
        titles[name] = f"{', '.join([city, *areas])} · UTC{hours}"
    return titles


def clock_hours(zone: Zone, hours: Ints) -> Ints:
    """What clocks of the zone show at these hours of UTC, both in whole hours since 1970-01-01 00:00."""
    if isinstance(zone, int) or not len(hours):
        return hours + (zone if isinstance(zone, int) else 0)
    edges = np.array([hours.min(), hours.max()]).astype("datetime64[h]").astype("datetime64[Y]")
    first, last = np.clip(edges.astype(int) + 1970, _FIRST_YEAR, _LAST_YEAR).tolist()
    rules = time_zones.zone(zone)
    start = int(dt.datetime(first, 1, 1, tzinfo=dt.UTC).timestamp())
    times = [change.time for year in range(first, last + 1) for change in changes_of_year(rules, year)]
    ahead: Ints = np.array([_offset(rules, time) // HOUR for time in (start, *times)], np.int64)
    begins: Ints = np.array(times, np.int64) // HOUR
    return np.asarray(hours + ahead[np.searchsorted(begins, hours, side="right")])


def day_begins(zone: Zone, day: int) -> int:
    """The hour of UTC with which a day begins, both counted since 1970."""
    if isinstance(zone, int):
        return day * DAY_HOURS - zone
    around = day * DAY_HOURS + np.arange(-FARTHEST, FARTHEST)
    return int(around[np.argmax(clock_hours(zone, around) >= day * DAY_HOURS)])


def hours_of(zone: Zone, days: tuple[dt.date, dt.date]) -> Ints:
    """What clocks of the zone show at each hour of UTC of a range of days (see `clock_hours`)."""
    first, last = ((day - _EPOCH).days for day in days)
    return clock_hours(zone, np.arange(day_begins(zone, first), day_begins(zone, last + 1)))


def odd_days(zone: Zone, days: tuple[dt.date, dt.date]) -> dict[dt.date, int]:
    """The days of a range on which the zone's clocks change, and how many hours each has: `{…: 23}`."""
    if isinstance(zone, int):
        return {}
    numbers, counts = np.unique(hours_of(zone, days) // DAY_HOURS, return_counts=True)
    return {
        _EPOCH + dt.timedelta(days=number): count
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True)
        if count != DAY_HOURS
    }


@cache
def changes_of_year(zone: ZoneInfo, year: int) -> tuple[ClockChange, ...]:
    """The changes of a zone's clocks in a year of UTC, at the first whole hour of UTC that has them."""
    start = int(dt.datetime(year, 1, 1, tzinfo=dt.UTC).timestamp())
    hours = range(start, start + 367 * DAY, HOUR)
    days = [hour for hour in hours[::24] if _offset(zone, hour) != _offset(zone, hour + DAY)]
    changes = []
    for hour in (hour for day in days for hour in range(day, day + DAY, HOUR)):
        before, after = _offset(zone, hour), _offset(zone, hour + HOUR)
        if before != after:
            time = hour + HOUR
            changes.append(ClockChange(time, after - before, time + min(before, after)))
    return tuple(change for change in changes if dt.datetime.fromtimestamp(change.time, dt.UTC).year == year)


def _offset(zone: ZoneInfo, time: int) -> int:
    return int((dt.datetime.fromtimestamp(time, zone).utcoffset() or dt.timedelta()).total_seconds())
