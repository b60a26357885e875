"""Hours that local clocks show twice or never: what tells that times without a zone are local ones."""

import datetime as dt
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

HOUR, DAY = 3600, 86_400
# One zone for each rule of when clocks change.
_ZONES = ("Europe/Berlin", "Europe/London", "America/New_York", "America/Chicago", "America/Los_Angeles",
          "Australia/Sydney", "America/Santiago")  # fmt: skip
_TWICE = 1.6  # times as many rows as in the same hour of other days
_FEWEST_DAYS = 3


def clock_change(seconds: npt.NDArray[np.int64]) -> str:
    """What is odd about the hours of a clock change, as a sentence; empty where nothing is.

    `seconds` are the rows' times, read as if they were of UTC.
    """
    hours, rows = np.unique(seconds // HOUR, return_counts=True)
    if len(np.unique(hours // 24)) < _FEWEST_DAYS:
        return ""
    counts = dict(zip(hours.tolist(), rows.tolist(), strict=True))
    first, last = int(hours[0]) // 24, int(hours[-1]) // 24
    for zone in _ZONES:
        for hour, is_doubled in _changes(ZoneInfo(zone), first, last):
            others = [
                counts.get(hour + 24 * days, 0) for days in range(first - last, last - first + 1) if days
            ]
            usual = np.median([count for count in others if count] or [0])
            is_odd = counts.get(hour, 0) >= _TWICE * usual if is_doubled else hour not in counts
            if usual and is_odd and hour - 1 in counts and hour + 1 in counts:
                moment = dt.datetime.fromtimestamp(hour * HOUR, dt.UTC)
                text = f"{moment.day} {moment:%b %Y %H:%M} {'occurs twice' if is_doubled else 'is missing'}"
                return f"{text}: these are local times; name their zone, as in --time-zone {zone}."
    return ""


def _changes(zone: ZoneInfo, first: int, last: int) -> list[tuple[int, bool]]:
    """The local hours since 1970 that a zone has twice (true) or never, between two days."""
    changes = []
    for day in range(first, last + 1):
        start = dt.datetime.fromtimestamp(day * DAY, dt.UTC).replace(tzinfo=zone)
        shift = (start + dt.timedelta(days=1)).utcoffset() != start.utcoffset()
        for hour in range(24) if shift else ():
            wall = start + dt.timedelta(hours=hour)
            offsets = [wall.replace(fold=fold).utcoffset() or dt.timedelta() for fold in (0, 1)]
            if offsets[0] != offsets[1]:
                changes.append((day * 24 + hour, offsets[0] > offsets[1]))
    return changes
