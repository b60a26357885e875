"""A data field over time: a value per bucket, without gaps; each alone, added up, or its share of a total."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from lib.figures import numbers
from lib.reporting import time_filters
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery
from lib.slicers import zones
from lib.slicers.dates import Days
from lib.slicers.granularities import GRANULARITIES, Granularity, time_key_field
from lib.slicers.models import DataField
from lib.slicers.zones import Zone

Values = npt.NDArray[np.float64]
MOST_TICKS, MOST_LABELS = 13, 31
SHARE_DIGITS = 1
EACH = "each"


@dataclass(frozen=True)
class Series:
    """Values of B buckets from `starts` on; NaN where nothing is known. `low` and `high` where sampled.

    `names` are the buckets as values of the key field of the granularity `grain`.

    `parts` says of a bucket how much of it the values are of (`3 of 7 days`); empty for a whole one. `marks`
    says which days and hours are longer or shorter than others (`25 hours`).
    """

    names: tuple[str, ...]
    starts: tuple[datetime, ...]
    values: Values
    low: Values | None = None
    high: Values | None = None
    parts: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    grain: Granularity = "day"

    def __post_init__(self) -> None:
        """Default `parts`: all buckets are whole."""
        object.__setattr__(self, "parts", self.parts or ("",) * len(self.names))

    def __len__(self) -> int:
        return len(self.names)

    @property
    def labels(self) -> list[str]:
        """The buckets in words."""
        return [*map(GRANULARITIES[self.grain].label, self.names)]

    @property
    def ticks(self) -> list[str]:
        """The buckets on an axis."""
        return [*map(GRANULARITIES[self.grain].tick, self.names)]

    @property
    def is_whole(self) -> npt.NDArray[np.bool_]:
        """A mask of the complete buckets."""
        return np.array([not part for part in self.parts], dtype=bool)

    @property
    def without_parts(self) -> "Series":
        """The same with only the values of whole buckets."""
        return replace(self, values=np.where(self.is_whole, self.values, np.nan))


@dataclass(frozen=True)
class ChartLine:
    """A series and its name on the chart."""

    label: str
    series: Series


@dataclass(frozen=True)
class ValueLine:
    """A value over time, its color, and the same value on the days compared."""

    label: str
    color: str
    now: Series
    before: Series | None = None


def usual_grain(period: Days, grains: Sequence[Granularity]) -> Granularity:
    """The granularity for a range of days: hours for three days, days for a hundred, weeks, then months."""
    length = (period[1] - period[0]).days + 1
    grain = next(name for name, row in GRANULARITIES.items() if length <= row.most_days)
    return grain if grain in grains else grains[0]


def over(
    audience: Audience,
    field: str,
    grain: Granularity,
    period: Days,
    now: datetime | None = None,
    days: Days | None = None,
    zone: Zone = 0,
    query: AudienceQuery | None = None,
) -> Series:
    """The field of an audience that is split by that granularity: the buckets of `period`.

    Of these the answer has the days `days`, all by default. It is `now` on the clocks of the `zone`: the day
    is not over yet. Hours that these leave out are no buckets.

    A bucket without a row is 0 for an additive field on a day (an hour) that has data and that the filters of
    the `query` let through, and unknown otherwise, as are hours that have not come, and all buckets of money
    in several currencies.
    """
    axis = _axis(grain, period, days or period, now and now.date(), zone)
    row_of_name = {name: row for row, name in enumerate(audience.names[time_key_field(grain)])}
    rows = np.array([row_of_name.get(name, -1) for name in axis.names])
    currencies = () if audience.currencies is None else audience.currencies.get(field, ())
    if len({*currencies} - {""}) > 1:
        return replace(axis, values=np.full(len(rows), np.nan))
    values = _take(audience.values[field].to_numpy(), rows)
    if field in audience.percents:
        days_with_data = [*map(date.fromisoformat, audience.total.dates)]
        if query is not None and days_with_data:
            days_with_data = time_filters.days(query, days or period, audience.total.dates)
        with_data = {name for day in days_with_data for name in buckets(grain, (day, day))}
        has_begun = np.array([now is None or start <= now for start in axis.starts], dtype=bool)
        if query is not None and grain == "hour":
            has_begun &= time_filters.passes(query, np.array(axis.starts, dtype="datetime64[h]"))
        values[(rows < 0) & has_begun & np.isin(axis.names, list(with_data))] = 0.0
    if audience.low is None or audience.high is None or field not in audience.low:
        return replace(axis, values=values)
    low, high = (_take(side[field].to_numpy(), rows) for side in (audience.low, audience.high))
    return replace(axis, values=values, low=low, high=high)


def days_of(period: Days) -> Series:
    """The days of a period, each with a value of zero."""
    return _axis("day", period, period, None, 0)


@lru_cache(maxsize=64)
def _axis(grain: Granularity, period: Days, days: Days, today: date | None, zone: Zone) -> Series:
    """The buckets of a period, without values."""
    names, marks = buckets(grain, period, zone), mark_texts(grain, period, zone)
    return Series(
        names=tuple(names),
        starts=tuple(GRANULARITIES[grain].span(name)[0] for name in names),
        values=np.zeros(len(names)),
        parts=tuple(part(grain, name, days, today) for name in names),
        marks=tuple(marks.get(name, "") for name in names),
        grain=grain,
    )


def mark_texts(grain: Granularity, period: Days, zone: Zone) -> dict[str, str]:
    """What is to be said of the hours and days of a period that aren't as long as others, by their names."""
    row = GRANULARITIES[grain]
    odd_days = zones.odd_days(zone, period) if row.clock_hours else {}
    hours = [zones.hours_of(zone, (day, day)) for day in odd_days] or [np.zeros(0, np.int64)]
    names, counts = np.unique(row.write(np.concatenate(hours)), return_counts=True)
    lengths = zip(names.tolist(), counts.tolist(), strict=True)
    return {name: f"{length} hours" for name, length in lengths if length != row.clock_hours}


def part(grain: Granularity, name: str, period: Days, today: date | None = None) -> str:
    """How much of a bucket is in the period and past: `3 of 7 days`; empty if it is whole."""
    if GRANULARITIES[grain].is_within_day:
        return ""
    start, last = GRANULARITIES[grain].span(name)
    first = start.date()
    days = (last - first).days + 1
    begins, ends = max(first, period[0]), min(last, period[1])
    is_today = today is not None and begins <= today <= ends
    past_days = (ends - begins).days + 1 - is_today
    if past_days >= days:
        return ""
    return f"{max(past_days, 0)} of {days} days" if days > 1 else "not over yet"


def pair_buckets(grain: Granularity, names: Sequence[str], now: Days, before: Days) -> list[str | None]:
    """The buckets of the days `now` at the places that these have in the days `before`.

    None where there is none, and where it is of fewer or more days than its counterpart.
    """
    if GRANULARITIES[grain].clock_hours:
        offset = now[0] - before[0]
        days = (date.fromisoformat(name[:10]) + offset for name in names)
        pairs = zip(days, names, strict=True)
        return [f"{day}{name[10:]}" if day <= now[1] else None for day, name in pairs]
    sides = [[(name, _length(grain, name, days)) for name in buckets(grain, days)] for days in (before, now)]
    names_now = {old: name for (old, length), (name, other) in zip(*sides, strict=False) if length == other}
    return [names_now.get(name) for name in names]


def _length(grain: Granularity, name: str, period: Days) -> int:
    """How many days of a period are in a bucket."""
    start, last = GRANULARITIES[grain].span(name)
    return (min(last, period[1]) - max(start.date(), period[0])).days + 1


def buckets(grain: Granularity, period: Days, zone: Zone = 0) -> list[str]:
    """The names of all buckets that the days touch, in order: `2026-11-14`, `2026-W47`…"""
    row = GRANULARITIES[grain]
    step = 1 if row.is_within_day else 20  # a day has at least 23 hours
    return list(dict.fromkeys(row.write(zones.hours_of(zone, period)[::step]).tolist()))


def _take(values: npt.NDArray[np.float64], rows: npt.NDArray[np.int64]) -> Values:
    if not len(values):
        return np.full(len(rows), np.nan)
    return np.where(rows >= 0, values[rows], np.nan)


def has_course(course: Series) -> bool:
    """Whether there are two known values, between which a line can be drawn."""
    return bool(np.isfinite(course.values).sum() >= 2)


def text(course: Series, field: DataField, period: Days, reader: numbers.Numbers) -> str:
    """The alternative text: every value, or of many the first, the least, the greatest and the last."""
    indices = np.flatnonzero(np.isfinite(course.values))
    head = f"{numbers.title(field)} by {course.grain}, {numbers.days(*period)}"
    if len(course) <= MOST_LABELS:
        return f"{head}: {', '.join(reader.full(value, field) for value in course.values.tolist())}"
    points: Sequence[tuple[str, int]] = (
        ("first", indices[0]),
        ("least", indices[int(np.argmin(course.values[indices]))]),
        ("greatest", indices[int(np.argmax(course.values[indices]))]),
        ("last", indices[-1]),
    )
    labels = course.labels
    parts = [f"{word} {reader.full(course.values[at], field)} ({labels[at]})" for word, at in points]
    return f"{head}: {', '.join(parts) or numbers.NOTHING}"


@dataclass(frozen=True)
class Trend:
    """`line` makes a line from that of the buckets and that of the total (only where it `has_total`).

    All but the first are for data fields that add up. `title` is that of the chart, `write` how a value is
    written.
    """

    label: str
    line: Callable[[Series, Series], Series]
    title: Callable[[DataField], str] = lambda field: numbers.title(field, with_unit=True)
    write: Callable[[numbers.Numbers, float, DataField], str] = lambda write, value, field: write.full(
        value, field
    )
    has_total: bool = False


def _add_up(line: Series, total: Series) -> Series:
    """The sum from the first bucket on; a bucket without data adds nothing and has no value."""
    values = np.where(np.isnan(line.values), np.nan, np.nancumsum(line.values))
    return replace(line, values=values, low=None, high=None)


def _share(line: Series, total: Series) -> Series:
    """In percent of the same bucket's total; unknown where that is zero."""
    whole = np.resize(total.values, len(line))
    values = np.divide(100 * line.values, whole, out=np.full(len(line), np.nan), where=whole > 0)
    return replace(line, values=values, low=None, high=None)


TRENDS: Mapping[str, Trend] = {
    EACH: Trend("Value per bucket", lambda line, total: line),
    "cumulative": Trend(
        "Cumulative", _add_up, lambda field: f"{numbers.title(field, with_unit=True)}, cumulative"
    ),
    "share": Trend(
        "Share of total",
        _share,
        lambda field: f"{numbers.title(field)}, share of total, %",
        lambda write, value, field: f"{write.number(value, SHARE_DIGITS)} %",
        has_total=True,
    ),
}
