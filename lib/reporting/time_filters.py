"""The days that the filters of a question let through, those on dates, weekdays, weeks and longer spans.

A figure has so many days, by which it is compared with another. On all others it is unknown, and not 0.
"""

from collections.abc import Sequence
from datetime import date

import numpy as np
import numpy.typing as npt

from lib.reporting.models import AudienceQuery
from lib.slicers.dates import Days
from lib.slicers.granularities import CYCLES, GRANULARITIES
from lib.wire.filters import Filter, lets_through

WEEKDAY = CYCLES["weekday"].key_field
_ROWS = {row.key_field: row for row in (*GRANULARITIES.values(), CYCLES["weekday"]) if not row.is_within_day}


def days(query: AudienceQuery, period: Days, with_data: Sequence[str] = ()) -> list[date]:
    """The days of a period, of those `with_data` (all if it is empty), that the filters let through."""
    span = np.arange(np.datetime64(period[0], "D"), np.datetime64(period[1], "D") + 1)
    if with_data:
        span = span[np.isin(span, np.array(with_data, dtype="datetime64[D]"))]
    for group in (*((filter_,) for filter_ in query.filters), *query.any_of):
        if all(filter_.name in _ROWS for filter_ in group):  # else other records of any day may pass
            span = span[np.any([_mask(filter_, span) for filter_ in group], axis=0)]
    return list(span.tolist())


def weekdays(days: Sequence[date]) -> list[str]:
    """The weekday of each day, as it splits rows: `1 Monday`."""
    return [str(text) for text in CYCLES["weekday"].form(np.array(days, dtype="datetime64[h]"))]


def _mask(filter_: Filter, span: npt.NDArray[np.datetime64]) -> npt.NDArray[np.bool_]:
    texts = _ROWS[filter_.name].form(span.astype("datetime64[h]")).tolist()
    return np.array([lets_through(filter_, text) for text in texts], dtype=bool)
