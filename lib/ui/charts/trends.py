"""What the lines of the time chart say of their buckets: each alone, added up, or its share of a total."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from lib.reporting.models import DataField
from lib.ui.charts import numbers
from lib.ui.charts.numbers import Numbers
from lib.ui.charts.series import Series

SHARE_DIGITS = 1
EACH = "each"


@dataclass(frozen=True)
class Trend:
    """`line` makes a line from that of the buckets and that of the total (only where it `has_total`).

    All but the first are for data fields that add up. `title` is that of the chart, `write` how a value is
    written.
    """

    label: str
    line: Callable[[Series, Series], Series]
    title: Callable[[DataField], str] = lambda field: numbers.title(field, with_unit=True)
    write: Callable[[Numbers, float, DataField], str] = lambda write, value, field: write.full(value, field)
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
