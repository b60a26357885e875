"""The hours and days that the filters of a question on times let through, such as those on dates or weekdays.

A figure has so many days, by which it is compared with another. On all others it is unknown, and not 0.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime

import numpy as np
import numpy.typing as npt

from lib.reporting.models import AudienceQuery
from lib.slicers.dates import Days
from lib.slicers.granularities import CYCLE_KEY_FIELDS, CYCLES, GRANULARITIES, TIME_KEY_FIELDS
from lib.wire.filters import Filter, lets_through

WEEKDAY = CYCLES["weekday"].key_field
_WITHIN_DAY = {GRANULARITIES["hour"].key_field, CYCLES["hour_of_day"].key_field}


def days(query: AudienceQuery, period: Days, with_data: Sequence[str] = ()) -> list[date]:
    """The days of a period, of those `with_data` (all if it is empty), of which filters let hours through."""
    span = np.arange(np.datetime64(period[0], "D"), np.datetime64(period[1], "D") + 1)
    if with_data:
        span = span[np.isin(span, np.array(with_data, dtype="datetime64[D]"))]
    filters = (*query.filters, *(filter_ for group in query.any_of for filter_ in group))
    hours = np.arange(24 if any(filter_.name in _WITHIN_DAY for filter_ in filters) else 1, dtype="m8[h]")
    return list(span[passes(query, np.add.outer(span, hours)).any(axis=1)].tolist())


def passes(query: AudienceQuery, hours: npt.NDArray[np.datetime64]) -> npt.NDArray[np.bool_]:
    """Which of these hours the filters let through, in the shape that they have."""
    mask = np.ones(hours.shape, dtype=bool)
    for group in (*((filter_,) for filter_ in query.filters), *query.any_of):
        if all(
            filter_.name in TIME_KEY_FIELDS for filter_ in group
        ):  # else other records of any hour may pass
            mask &= np.any([_mask(filter_, hours) for filter_ in group], axis=0)
    return mask


def days_by(
    key_field: str,
    query: AudienceQuery,
    period: Days,
    with_data: Sequence[str] = (),
    until: datetime | None = None,
) -> Counter[str]:
    """On how many days each weekday or hour of the day is, by its value; of hours if begun `until` then."""
    hours = np.array(days(query, period, with_data), dtype="datetime64[h]")
    if key_field != WEEKDAY:
        hours = np.add.outer(hours, np.arange(24, dtype="m8[h]")).ravel()
        hours = hours[passes(query, hours)]
        hours = hours if until is None else hours[hours <= np.datetime64(until)]
    return Counter(CYCLE_KEY_FIELDS[key_field].form(hours).tolist())


def _mask(filter_: Filter, hours: npt.NDArray[np.datetime64]) -> npt.NDArray[np.bool_]:
    texts, places = np.unique(TIME_KEY_FIELDS[filter_.name].form(hours), return_inverse=True)
    return np.array([lets_through(filter_, text) for text in texts.tolist()], dtype=bool)[places]
