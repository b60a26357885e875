"""Hours that clocks show twice or never: what tells local times, and which of two equal hours a row is in."""

import datetime as dt
from collections.abc import Iterator, Mapping
from zoneinfo import ZoneInfo

import numpy as np

from lib.slicers.zones import DAY, HOUR, ClockChange, Ints, changes_of_year
from lib.wire import time_zones

# One zone for each rule of when clocks change.
_ZONES = ("Europe/Berlin", "Europe/London", "America/New_York", "America/Chicago", "America/Los_Angeles",
          "Australia/Sydney", "America/Santiago")  # fmt: skip
_TWICE = 1.6  # times as many rows as in another hour
_FEWEST_DAYS = 3


def local_times(counts: Mapping[int, int]) -> str:
    """What tells that hours which were read as UTC's are local ones; empty where nothing does.

    `counts` are the rows of a whole file by hour since 1970. The same hour of other days says how many are
    usual; in a file of a day or two the hours beside it.
    """
    days = sorted({hour // 24 for hour in counts})
    for name in _ZONES if days else ():
        for change in _changes(time_zones.zone(name), days[0] * DAY, (days[-1] + 1) * DAY):
            hour = change.wall // HOUR
            beside = [counts.get(hour - 1, 0), counts.get(hour + 1, 0)]
            others = [counts.get(day * 24 + hour % 24, 0) for day in days if day != hour // 24]
            is_long = len(days) >= _FEWEST_DAYS
            usual = float(np.median([count for count in others if count] or [0])) if is_long else max(beside)
            is_odd = counts.get(hour, 0) >= _TWICE * usual if change.shift < 0 else hour not in counts
            if usual and is_odd and all(beside):
                fault = "occurs twice" if change.shift < 0 else "is missing"
                option = f"name their zone, as in --time-zone {name}"
                return f"{change.hour} {fault}: these are local times; {option}."
    return ""


def doubled_hours(counts: Mapping[int, int], zone: dt.tzinfo) -> list[str]:
    """For each hour that a zone's clocks show twice, how many rows were read as which of the two.

    `counts` are the rows by hour of UTC since 1970, as they are stored.
    """
    first, last = (min(counts) * HOUR, (max(counts) + 1) * HOUR) if counts else (0, 0)
    sentences = []
    for change in _changes(zone, first, last):
        rows = [counts.get((change.time + offset) // HOUR, 0) for offset in (change.shift, 0)]
        if change.shift < 0 and any(rows):
            sentences.append(
                f"{change.hour} occurs twice in {zone}: by their order in the file, {rows[0]:,} rows were "
                f"read as the first and {rows[1]:,} as the second."
            )
    return sentences


def in_second_hour(seconds: Ints, zone: dt.tzinfo) -> Ints:
    """Times of rows in the order of their file, read as the first of two equal hours → as the right one.

    Rows that stand together are those of the second hour from where the clock steps back; where it does not,
    their second half, if they are as many as two hours have. Else they stay in the first.
    """
    readable = seconds[seconds > 0]
    if not len(readable) or not isinstance(zone, ZoneInfo):
        return seconds
    for change in _changes(zone, int(readable.min()), int(readable.max()) + HOUR):
        positions = np.flatnonzero((seconds >= change.time + change.shift) & (seconds < change.time))
        if change.shift < 0 and len(positions):
            seconds = seconds.copy()
            for rows in np.split(positions, np.flatnonzero(np.diff(positions) > 1) + 1):
                before, after = seconds[: rows[0]], seconds[rows[-1] + 1 :]
                is_backwards = bool(
                    (len(before) and before[-1] >= change.time) or (len(after) and 0 < after[0] < change.time)
                )
                differences = np.diff(seconds[rows])
                steps = np.flatnonzero(differences > 0 if is_backwards else differences < 0) + 1
                if not len(steps):
                    usual = max(_run(before[::-1], rows, change), _run(after, rows, change))
                    if not usual or len(rows) < _TWICE * usual:
                        continue
                    steps = np.array([len(rows) // 2])
                seconds[rows[: steps[0]] if is_backwards else rows[steps[0] :]] -= change.shift
    return seconds


def _run(beside: Ints, rows: Ints, change: ClockChange) -> int:
    """How many rows beside the doubled ones are in the one hour that comes next."""
    near = beside[: len(rows) + 1]
    return int((near // HOUR == near[0] // HOUR).cumprod().sum()) if len(near) else 0


def _changes(zone: dt.tzinfo, first: int, last: int) -> Iterator[ClockChange]:
    """The clock changes of a zone between two times."""
    if isinstance(zone, ZoneInfo):
        for year in range(
            dt.datetime.fromtimestamp(first, dt.UTC).year, dt.datetime.fromtimestamp(last, dt.UTC).year + 1
        ):
            yield from (
                change
                for change in changes_of_year(zone, year)
                if first <= change.time + HOUR and change.time <= last + DAY
            )
