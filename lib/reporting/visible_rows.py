"""The rows of a slicer that a grant with filters opens: what they are, and on which days there are any.

Questions have these filters beside their own. What is not theirs alone (first and last date, days with data,
numbers of records) is counted here, once per version of the slicer.
"""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from lib.engines import Engine, Question
from lib.slicers.granularities import time_key_field
from lib.slicers.measures import RECORDS
from lib.slicers.models import Slicer
from lib.slicers.warehouse import StoredSlicer
from lib.slicers.zones import DAY_HOURS, Ints, Zone, clock_hours
from lib.wire.deadline import Deadline
from lib.wire.errors import LIMITED, AccessError
from lib.wire.filters import Filter

BYTES_PER_HOUR = 16
_EPOCH = dt.date(1970, 1, 1)


@dataclass(frozen=True)
class VisibleRows:
    """Records by hour, ascending: `hours` on the slicer's own clock (days: at 00:00), `counts` of records.

    Hours are counted since 1970. `timezone` is that of the clock; None where the slicer knows days only.
    """

    hours: Ints
    counts: npt.NDArray[np.int64]
    timezone: int | None

    @property
    def days(self) -> list[dt.date]:
        """The days with records, in the slicer's own zone, ascending."""
        return _days(self.hours)

    def within(self, period: tuple[dt.date, dt.date], timezone: Zone) -> tuple[tuple[dt.date, ...], int]:
        """The days with records of a period in that zone, and how many records it has."""
        is_daily = self.timezone is None
        hours = self.hours if is_daily else clock_hours(timezone, self.hours - (self.timezone or 0))
        first, last = ((day - _EPOCH).days for day in period)
        inside = (hours // DAY_HOURS >= first) & (hours // DAY_HOURS <= last)
        return tuple(_days(hours[inside])), int(self.counts[inside].sum())

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return BYTES_PER_HOUR * (1 + len(self.hours))


def check(filters: Iterable[Filter], slicer: StoredSlicer) -> None:
    """AccessError where the slicer has no such key field any more: a limit that can't be held opens nothing.

    Nor on a time key field: which rows pass would depend on the zone of the question.
    """
    names = {field.name for field in slicer.definition.key_fields}
    missing = [filter_.name for filter_ in filters if filter_.name not in names]
    if missing:
        raise AccessError(
            f"{LIMITED} {slicer.project}/{slicer.name} by a filter on {missing[0]}, which is no key field of "
            "its rows any more. Ask an administrator to set it again"
        )


def count_visible(
    slicer: StoredSlicer, filters: tuple[Filter, ...], engine: Engine, most_bytes: int, deadline: Deadline
) -> VisibleRows:
    """Count the records that pass, over all days of the slicer; every record is read."""
    definition, days = slicer.definition, list(slicer.rows)
    timezone = definition.timezone if definition.time.has_zones else None
    if not days:
        return VisibleRows(np.zeros(0, np.int64), np.zeros(0, np.int64), timezone)
    name = time_key_field(definition.time.granularity)
    question = Question(
        days[0],
        days[-1],
        timezone=definition.timezone,
        split_by=(name,),
        filters=filters,
        atoms=frozenset({RECORDS}),
        max_bytes=most_bytes,
    )
    sums = engine.audience(slicer, question, deadline)
    moments = pd.DatetimeIndex(pd.to_datetime(sums.groups[name].astype("str")))
    hours = moments.to_numpy().astype("datetime64[h]").astype(np.int64)
    order = np.argsort(hours)
    return VisibleRows(hours[order], sums.rows.records[order].astype(np.int64), timezone)


def _days(hours: Ints) -> list[dt.date]:
    return [_EPOCH + dt.timedelta(days=day) for day in np.unique(hours // DAY_HOURS).tolist()]


def restrict(slicer: Slicer, filters: tuple[Filter, ...], visible: VisibleRows) -> Slicer:
    """What info says to somebody who sees these rows alone."""
    days = visible.days
    first, last = (days[0].isoformat(), days[-1].isoformat()) if days else (None, None)
    return slicer.model_copy(update={"first_date": first, "last_date": last, "restrictions": filters})
