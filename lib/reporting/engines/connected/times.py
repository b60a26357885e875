"""Time key fields as whole numbers that any database can work out, and what these numbers are called."""

import ibis
import ibis.expr.types as ir
import numpy as np
import numpy.typing as npt

from lib.reporting.dates import format_time
from lib.reporting.engines.connected.columns import DAY_HOURS
from lib.reporting.models import Granularity

_WEEK, _DAYS_FROM_MONDAY_1970 = 7, 3
Hours = npt.NDArray[np.int64]


class TimeKey:
    """A time key field of a question: hours, days and weeks are counted, longer spans begin at known days.

    So no database has to know months, and none can differ about the weeks. `hours` are those with records.
    """

    def __init__(self, granularity: Granularity, hours: Hours) -> None:
        self._granularity = granularity
        days = np.unique(hours // DAY_HOURS)
        labels = format_time(granularity, days * DAY_HOURS)
        self._first_days = days[np.flatnonzero(np.r_[True, labels[1:] != labels[:-1]])] if len(days) else days

    def number(self, hour: ir.IntegerColumn) -> ir.IntegerValue:
        """The number of the span that an hour lies in."""
        day = hour // DAY_HOURS
        match self._granularity:
            case "hour":
                return hour
            case "day":
                return day
            case "week":
                return (day + _DAYS_FROM_MONDAY_1970) // _WEEK
            case _:
                spans = [ibis.ifelse(day >= int(first), 1, 0) for first in self._first_days[1:]]
                return sum(spans, start=ibis.literal(0, "int64"))

    def names(self, numbers: Hours) -> list[str]:
        """The texts of spans by their numbers."""
        match self._granularity:
            case "hour":
                hours = numbers
            case "day":
                hours = numbers * DAY_HOURS
            case "week":
                hours = (numbers * _WEEK - _DAYS_FROM_MONDAY_1970) * DAY_HOURS
            case _:
                hours = self._first_days[numbers] * DAY_HOURS
        names: list[str] = format_time(self._granularity, hours).tolist()
        return names
