"""The figure that an alert watches: a question's total over its complete days.

The check and the form of an alert both take it from this file, so that they look at the same days.
"""

import math
from datetime import date, timedelta
from typing import NamedTuple

from lib.reporting import named_days
from lib.reporting.answers import Audience
from lib.reporting.dates import Days
from lib.reporting.models import API_ROWS_LIMIT, AudienceQuery, Slicer

DAY = timedelta(days=1)


class Figure(NamedTuple):
    """A figure, and the larger side of its 95 % range: 0 if exact, infinite where it is not known."""

    value: float
    side: float


class FigureUnavailable(Exception):
    """There is no figure to watch now; the text says why, as a sentence."""


def complete_days(query: AudienceQuery, slicer: Slicer) -> Days:
    """The question's days without today, which is not over.

    FigureUnavailable where there are none, and while the last of them has no data yet.
    """
    first, last = named_days.days_of(query, slicer)
    last = min(last, named_days.today(query, slicer) - DAY)
    if last < first:
        raise FigureUnavailable("The view's dates have no complete day.")
    if slicer.last_date is not None and date.fromisoformat(slicer.last_date) < last:
        raise FigureUnavailable(f"The data of {last.isoformat()} are not there yet.")
    return first, last


def total_query(query: AudienceQuery, field: str, days: Days) -> AudienceQuery:
    """The question of that data field's total alone, on these days."""
    start, end = (day.isoformat() for day in days)
    changes = {
        "start_date": start, "end_date": end, "data_fields": (field,), "split_by": (), "order_by": (),
        "limit": None, "offset": 0, "precision": 1, "audience_rows_limit": API_ROWS_LIMIT,
    }  # fmt: skip
    return query.model_copy(update=changes)


def figure(answer: Audience, field: str) -> Figure:
    """The total of an answer with its range; FigureUnavailable where it has none."""
    value = answer.total.values.get(field)
    if value is None or not math.isfinite(value):
        raise FigureUnavailable("The figure has no value on these days.")
    low, high = answer.total.low.get(field), answer.total.high.get(field)
    is_sampled = (
        answer.precision.is_sampled if answer.precision else answer.total.confidence_range is not None
    )
    if low is None or high is None:
        return Figure(value, math.inf if is_sampled else 0.0)
    side = max(high - value, value - low)
    return Figure(value, side if math.isfinite(side) else math.inf)
