"""The days of a question, and of what it is compared with."""

from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest

from lib.reporting import dates
from lib.reporting.answers import Audience, Total
from lib.reporting.models import Granularity, Slicer
from lib.ui import over_time, periods, series
from lib.ui.charts import Named

TODAY = date(2026, 11, 21)
FRESH = Slicer(first_date="2026-09-22", last_date="2026-11-21")
OLD = Slicer(first_date="2015-09-08", last_date="2015-11-01")
WEEK = (date(2026, 11, 14), date(2026, 11, 20))


def test_the_usual_days_are_complete() -> None:
    """A question that names no days is about the last seven complete ones, in the API's relative dates."""
    assert periods.usual(FRESH, TODAY) == ("-7d", "yesterday")
    assert periods.resolved(*periods.usual(FRESH, TODAY), TODAY) == WEEK


def test_old_data_are_asked_up_to_their_end() -> None:
    """Where the data ended long ago, the presets are fixed dates up to the last day with data."""
    assert periods.usual(OLD, TODAY) == ("2015-10-26", "2015-11-01")
    assert {preset.end for preset in periods.presets(OLD, TODAY)} == {"2015-11-01"}


@pytest.mark.parametrize("slicer", [FRESH, OLD, Slicer()])
@pytest.mark.parametrize("today", [TODAY, date(2026, 3, 1), date(2024, 2, 29), date(2026, 1, 1)])
def test_presets_are_ranges(slicer: Slicer, today: date) -> None:
    """Every preset is a range of days that the API takes, on any day of the year."""
    for preset in periods.presets(slicer, today):
        first, last = dates.date_range(preset.start, preset.end, today)
        assert first <= last


def test_previous_period() -> None:
    """The previous period is as long as the period, and ends the day before it."""
    assert periods.compared((periods.PREVIOUS,), WEEK, TODAY) == (date(2026, 11, 7), date(2026, 11, 13))
    month = (date(2026, 2, 1), date(2026, 2, 28))
    assert periods.compared((periods.PREVIOUS,), month, TODAY) == (date(2026, 1, 4), date(2026, 1, 31))


@pytest.mark.parametrize("length", [1, 5, 7, 8, 30])
def test_same_weekdays(length: int) -> None:
    """The same weekdays are whole weeks earlier, as few as keep the two ranges apart."""
    period = (date(2026, 11, 10), date(2026, 11, 10) + timedelta(days=length - 1))
    first, last = periods.compared((periods.WEEKDAYS,), period, TODAY) or period
    assert (first.weekday(), last.weekday()) == (period[0].weekday(), period[1].weekday())
    assert (last - first).days == length - 1
    assert period[0] - timedelta(days=7) <= last < period[0]


def test_a_range_to_compare_with() -> None:
    """A range of two date values is taken as it is; without one, or with no range, nothing is compared."""
    october = ("2026-10-01", "-1m_last")
    assert periods.compared(october, WEEK, TODAY) == (date(2026, 10, 1), date(2026, 10, 31))
    assert periods.compared((), WEEK, TODAY) is None
    assert periods.compared(("2026-10-02", "2026-10-01"), WEEK, TODAY) is None


@pytest.mark.parametrize(
    ("grain", "names"),
    [
        ("day", ["2026-11-14", "2026-11-15", "2026-11-16"]),
        ("week", ["2026-W46", "2026-W47"]),
        ("month", ["2026-11"]),
        ("quarter", ["2026 Q4"]),
        ("year", ["2026"]),
    ],
)
def test_buckets(grain: Granularity, names: list[str]) -> None:
    """The buckets of a range are those that its days touch, each once and in order."""
    period = (date(2026, 11, 14), date(2026, 11, 16))
    assert series.buckets(grain, period) == names
    assert [series.start(grain, name) for name in names] == sorted(
        series.start(grain, name) for name in names
    )
    assert len(series.buckets("hour", period)) == 72


def by_day(values: dict[str, float], with_data: list[str], additive: bool = True) -> Audience:
    """An answer split by day."""
    frame = pd.DataFrame({"imps": list(values.values())})
    return Audience(
        names=pd.DataFrame({"granularity_day": list(values)}),
        values=frame,
        percents=frame if additive else pd.DataFrame(index=frame.index),
        total=Total({}, len(frame), tuple(with_data)),
    )


def test_days_without_rows_are_not_left_out() -> None:
    """A day with data but no rows is 0 for a sum, unknown for a ratio; one without data is unknown."""
    period = (date(2026, 11, 14), date(2026, 11, 16))
    there = ["2026-11-14", "2026-11-15"]
    line = series.over(by_day({"2026-11-14": 5}, there), "imps", "day", period)
    np.testing.assert_array_equal(line.values, [5, 0, np.nan])
    ratio = series.over(by_day({"2026-11-14": 5}, there, additive=False), "imps", "day", period)
    np.testing.assert_array_equal(ratio.values, [5, np.nan, np.nan])
    nothing = series.over(by_day({}, []), "imps", "day", period)
    assert np.isnan(nothing.values).all()


@pytest.mark.parametrize(
    ("box", "days"),
    [
        (["2026-11-14 20:00", "2026-11-16 03:00"], (15, 16)),
        (["2026-11-16 03:00:00.1234", "2026-11-14 20:00"], (15, 16)),
        (["2026-11-15 02:00", "2026-11-15 03:00"], (15, 15)),
        (["2026-11-10", "2026-11-30"], (14, 17)),
    ],
)
def test_a_brushed_range_is_whole_days(box: list[str], days: tuple[int, int]) -> None:
    """A range brushed on the chart means the days whose points it holds, or the one that it lies in."""
    period = (date(2026, 11, 14), date(2026, 11, 17))
    line = series.over(by_day({}, []), "imps", "day", period)
    assert over_time.days_of(box, line) == (date(2026, 11, days[0]), date(2026, 11, days[1]))


def test_a_brushed_range_of_hours_is_their_days() -> None:
    """Hours are brushed, days are asked: the API knows no hours in its dates."""
    period = (date(2026, 11, 14), date(2026, 11, 15))
    line = series.Series(
        *zip(*[(n, series.start("hour", n)) for n in series.buckets("hour", period)], strict=True),
        np.zeros(48),
    )
    assert over_time.days_of(["2026-11-14 20:10", "2026-11-14 23:30"], line) == (period[0], period[0])


def test_the_table_twin_has_all_of_the_chart() -> None:
    """The table beside the chart has a row per bucket, and the days compared with in the same order."""
    period, before = (date(2026, 11, 14), date(2026, 11, 16)), (date(2026, 11, 12), date(2026, 11, 13))
    now = series.over(by_day({"2026-11-14": 5.0, "2026-11-16": 7.0}, ["2026-11-14"]), "imps", "day", period)
    then = series.over(by_day({"2026-11-12": 1.0, "2026-11-13": 2.0}, []), "imps", "day", before)
    frame = over_time.table("day", [Named("now", now), Named("then", then)])
    assert list(frame) == ["Day", "now", "then"]
    assert frame["Day"].tolist() == ["2026-11-14", "2026-11-15", "2026-11-16"]
    np.testing.assert_array_equal(frame["now"], [5, np.nan, 7])
    np.testing.assert_array_equal(frame["then"], [1, 2, np.nan])
