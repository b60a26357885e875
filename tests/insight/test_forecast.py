"""The forecast: days and booked periods whose figures are worked out by hand in each test."""

import datetime as dt
import math
from pathlib import Path

import pyarrow as pa
import pytest
from conftest import LAST_DAY
from dealing import clients
from inventory import DEFINITION, asked, embedded, known
from standin.app import served
from standin.state import TOKEN, State

from lib.connect import Clients
from lib.insight.estimate import Estimate
from lib.insight.forecast import DayFigure, Forecast, daily, forecast, weekdays
from lib.reporting.models import DataField, Filter
from lib.settings import Settings
from lib.ui.charts import bars
from lib.ui.charts.numbers import Numbers
from lib.ui.deals import per_day

MONDAY = dt.date(2026, 11, 2)
BIDS = DataField(name="bids", description="Bids")
UTC = dt.UTC


def days(*values: float | None) -> tuple[DayFigure, ...]:
    """These figures, one a day, from Monday 2 November 2026 on."""
    return tuple(DayFigure(MONDAY + dt.timedelta(days=n), Estimate(value)) for n, value in enumerate(values))


def at(day: int, hour: int = 0) -> dt.datetime:
    """A moment of December 2026, which begins on a Tuesday."""
    return dt.datetime(2026, 12, day, hour, tzinfo=UTC)


TWO_WEEKS = days(10, 20, 30, 40, 50, 5, 6, 14, 18, 30, 44, 50, 9, 2)


def test_days_of_a_period() -> None:
    """Tuesday 1 December to Wednesday 9 December at noon: eight days, and half a Wednesday more."""
    assert weekdays(at(1), at(9, 12), 0) == {0: 1, 1: 2, 2: 1.5, 3: 1, 4: 1, 5: 1, 6: 1}
    assert weekdays(at(1, 18), at(2, 6), 0) == {1: 0.25, 2: 0.25}
    assert weekdays(at(2), at(1), 0) == {}


def test_the_zone_of_the_slicer() -> None:
    """Midnight in UTC is two o'clock in the morning where the days begin two hours earlier."""
    assert weekdays(at(1), at(2), 2) == {1: pytest.approx(22 / 24), 2: pytest.approx(2 / 24)}


def test_the_range_of_a_period() -> None:
    """A Monday and two Saturdays: 10 + 2 · 5 at the lowest, 14 + 2 · 9 at the highest."""
    assert forecast(TWO_WEEKS, {0: 1, 5: 2}) == Forecast(20, 32)


def test_the_range_of_estimates() -> None:
    """Of estimates the ends of their ranges count, and an unknown range makes no estimate."""
    first, second = (
        DayFigure(MONDAY + dt.timedelta(days=n), Estimate(10, low, high))
        for n, low, high in ((0, 8.0, 13.0), (7, 9.0, 15.0))
    )
    assert forecast([first, second], {0: 2}) == Forecast(16, 30)
    unknown = DayFigure(MONDAY, Estimate(10, math.nan, math.nan))
    assert math.isnan(forecast([unknown, second], {0: 2}).low)


def test_a_weekday_that_was_seen_once() -> None:
    """With data of one Monday there is no range for a period with a Monday; Sundays have one."""
    seen = days(None, 20, 30, 40, 50, 5, 6, 14, 18, 30, 44, 50, 9, 2)
    assert forecast(seen, {0: 1, 6: 1}).short == (0,)
    assert forecast(seen, {6: 1}) == Forecast(2, 6)


@pytest.fixture(params=["embedded", "specification alone"])
def of(request: pytest.FixtureRequest, own_home: Path):
    """A slicer with 7 bids in DE three days ago, none two days ago and 5 in DE and 9 in US yesterday."""
    rows = (("DE", 2, 7.0), ("DE", 0, 5.0), ("US", 0, 9.0))
    columns = {
        "time": [dt.datetime.combine(LAST_DAY - dt.timedelta(days=n), dt.time(9), UTC) for _, n, _ in rows],
        "country": [country for country, _, _ in rows],
        "region": ["Somewhere"] * 3,
        "browser": ["Chrome"] * 3,
        "requested_sizes": [["300x250"]] * 3,
        "media_type": ["banner"] * 3,
        "bids": [bids for _, _, bids in rows],
    }
    table = pa.table(columns, schema=DEFINITION.schema())
    if request.param == "embedded":
        yield embedded(own_home, table)
        return
    with served(State({("demo", "inventory"): known(table)})) as one:
        place = {"base_url": one.address, "reporting_token": TOKEN, "slicers": "demo/inventory"}
        yield clients(Settings(home=own_home, demo=True, **place))


def test_no_data_is_not_zero(of: Clients) -> None:
    """The day without any row has no data; a day with rows of others alone has zero."""
    start = LAST_DAY - dt.timedelta(days=2)
    filters = (Filter(name="country", value=("US",), match="equals"),)
    answer = asked(of, filters, start_date=start.isoformat(), split_by=("granularity_day",))
    assert [one.figure for one in daily(answer, "bids", (start, LAST_DAY))] == [
        Estimate(0),
        Estimate(None),
        Estimate(9),
    ]


def test_sentences() -> None:
    """The booked period in words: an estimate and its range, what is missing, and what can't be said."""
    shown = Numbers()
    both = [(BIDS, TWO_WEEKS)]
    assert per_day.sentences(both, (at(7), at(8)), 0, shown) == [
        "The booked period (1 day), estimated: 10 to 14 bids."
    ]
    assert per_day.sentences(both, (at(1), at(9, 12)), 0, shown) == [
        "The booked period (8.5 days), estimated: 188 to 208 bids."
    ]
    assert per_day.sentences(both, (at(7), None), 0, shown)[0].startswith(
        "The first 30 days (no end is booked)"
    )
    assert per_day.sentences(both, (None, None), 0, shown) == [
        "Choose a start to see what the booked period would have."
    ]
    assert per_day.sentences(both, (at(8), at(7)), 0, shown) == ["The booked period has no days."]
    assert per_day.sentences([(BIDS, TWO_WEEKS[:8])], (at(1), at(2)), 0, shown) == [
        "The booked period (1 day) can't be estimated: fewer than 2 days with data on Tuesday."
    ]
    assert "1 day has no data and is left out" in per_day.caution([(BIDS, days(None, 3))], "2–3 Nov 2026")


def test_the_chart_marks_weekdays() -> None:
    """Mondays are named, weekends are lighter, and a day without data says so."""
    seen = (*TWO_WEEKS[:9], DayFigure(MONDAY + dt.timedelta(days=9), Estimate(None)))
    chart = bars.day_bars_figure(
        [one.day for one in seen], [one.figure.value for one in seen], BIDS, Numbers()
    )
    assert chart.layout.xaxis.ticktext == ("Mon 2 Nov", "Mon 9 Nov")
    colors = chart.data[0].marker.color
    assert [place for place, color in enumerate(colors) if color != colors[0]] == [5, 6]
    assert chart.data[0].customdata[9] == "Wed 11 Nov 2026: no data"
