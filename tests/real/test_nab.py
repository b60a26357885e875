"""Cost per click and per mille on three ad exchanges: 9,610 hourly values to average, never to sum."""

import csv
import io
from typing import Any

import pytest

from lib.reporting.answers import Audience
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, DataFilter, ExportQuery
from lib.slicers.models import Order
from lib.wire.filters import Filter
from real.folder import needs_data

pytestmark = needs_data
NAB = {"project_name": "real", "slicer_name": "nab"}
WHOLE = {"start_date": "2011-07-01", "end_date": "2011-09-07"}
EXCHANGES = [
    ("exchange-2", "cpc", 1624, 0.101823, 0.226598),
    ("exchange-2", "cpm", 1624, 0.336523, 1.051442),
    ("exchange-3", "cpc", 1538, 0.137259, 1.034),
    ("exchange-3", "cpm", 1538, 0.77279, 5.49754),
    ("exchange-4", "cpc", 1643, 0.086439, 3.126852),
    ("exchange-4", "cpm", 1643, 0.53383, 16.4382),
]
SMALLEST_DIGIT = 5e-7


def ask(reporting: Reporting, **fields: Any) -> Audience:
    """The answer about all days, unless told otherwise."""
    return reporting.audience(AudienceQuery(**(NAB | WHOLE | fields)))


def test_exchanges(reporting: Reporting) -> None:
    """6.1: rows, average and maximum by exchange and metric."""
    by_name = tuple(Order(name=name, direction="asc") for name in ("exchange", "metric"))
    answer = ask(reporting, split_by=("exchange", "metric"), order_by=by_name)
    assert [*answer.names.itertuples(index=False, name=None)] == [line[:2] for line in EXCHANGES]
    assert answer.values["n"].tolist() == [line[2] for line in EXCHANGES]
    assert answer.values["avg"].tolist() == pytest.approx([line[3] for line in EXCHANGES], abs=SMALLEST_DIGIT)
    assert answer.values["max"].tolist() == pytest.approx([line[4] for line in EXCHANGES], abs=SMALLEST_DIGIT)


def test_the_average_of_all(reporting: Reporting) -> None:
    """The total is the average of all values, not a sum or an average of averages."""
    total = ask(reporting, split_by=("exchange", "metric")).total.values
    average = sum(n * average for _, _, n, average, _ in EXCHANGES) / 9610
    assert (total["n"], total["avg"]) == (9610, pytest.approx(average, abs=SMALLEST_DIGIT))


def test_no_shares_of_averages(reporting: Reporting) -> None:
    """Averages and maxima have no share of the total; the number of values has."""
    assert list(ask(reporting, split_by=("exchange",)).percents) == ["n"]


def test_days(reporting: Reporting) -> None:
    """6.2: exchange-2 cpm by day, the first three days of July."""
    filters = tuple(
        Filter(name=name, match="equals", value=(value,))
        for name, value in (("exchange", "exchange-2"), ("metric", "cpm"))
    )
    answer = ask(reporting, split_by=("granularity_day",), filters=filters, end_date="2011-07-03")
    assert answer.names["granularity_day"].tolist() == ["2011-07-01", "2011-07-02", "2011-07-03"]
    assert answer.values["n"].tolist() == [24, 24, 24]
    assert answer.values["avg"].tolist() == pytest.approx([0.421838, 0.417948, 0.361674], abs=SMALLEST_DIGIT)


def test_doubled_hours(reporting: Reporting) -> None:
    """6.3: the hours that an exchange reported more than once, found by a data filter."""
    query = ExportQuery(
        **NAB, **WHOLE, split_by=("exchange", "metric", "granularity_hour"), export_format="tsv2",
        data_fields=("n", "avg"), data_filters=(DataFilter(name="n", match=">", value=1),),
    )  # fmt: skip
    text = reporting.export(query).content.read().decode()
    header, *lines = csv.reader(io.StringIO(text), delimiter="\t")
    assert header == ["exchange", "metric", "granularity_hour", "n", "avg"]
    assert [line[:4] for line in sorted(lines)] == [
        ["exchange-2", "cpc", "2011-08-24 12:00", "2"], ["exchange-2", "cpm", "2011-08-24 12:00", "2"],
    ]  # fmt: skip
    averages = [float(line[4]) for line in sorted(lines)]
    assert averages == pytest.approx([0.125351, 0.435117], abs=SMALLEST_DIGIT)
