"""The days of a question, and of what it is compared with."""

from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from lib.figures import numbers, series
from lib.figures.query import periods
from lib.reporting import named_days
from lib.reporting.answers import Audience, Total
from lib.reporting.models import AudienceQuery
from lib.slicers import dates
from lib.slicers.granularities import GRANULARITIES, Granularity
from lib.slicers.models import Slicer
from lib.wire.errors import BadRequest
from lib.wire.filters import Filter

TODAY = date(2026, 11, 21)
FRESH = Slicer(first_date="2026-09-22", last_date="2026-11-21")
OLD = Slicer(first_date="2015-09-08", last_date="2015-11-01")
WEEK = (date(2026, 11, 14), date(2026, 11, 20))


def test_the_usual_days_are_complete() -> None:
    """A question that names no days is about the last seven complete ones, in the API's relative dates."""
    assert dates.default_days(FRESH, TODAY) == ("-7d", "yesterday")
    assert dates.date_range(*dates.default_days(FRESH, TODAY), TODAY) == WEEK


def test_old_data_are_asked_up_to_their_end() -> None:
    """Where the data ended long ago, the presets are fixed dates up to the last day with data."""
    assert dates.default_days(OLD, TODAY) == ("2015-10-26", "2015-11-01")
    ends = {named_days.resolve(*preset[1:], TODAY, OLD)[1] for preset in periods.presets(OLD, TODAY)}
    assert ends == {date(2015, 11, 1)}


@pytest.mark.parametrize("slicer", [FRESH, OLD, Slicer()])
@pytest.mark.parametrize("today", [TODAY, date(2026, 3, 1), date(2024, 2, 29), date(2026, 1, 1)])
def test_presets_are_ranges(slicer: Slicer, today: date, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every preset is a range of days that the API is sent in its own dates, on any day of the year."""
    monkeypatch.setattr(dates, "today", lambda timezone: today)
    for preset in periods.presets(slicer, today):
        query = AudienceQuery(
            project_name="demo", slicer_name="delivery", start_date=preset.start, end_date=preset.end
        )
        sent = named_days.for_api(query, slicer)
        assert dates.date_range(sent.start_date, sent.end_date, today) == named_days.days_of(query, slicer)


def test_weeks_and_quarters() -> None:
    """Weeks are ISO weeks and quarters those of the calendar: this one until today, the last one whole."""
    for today in pd.date_range("2023-12-25", "2028-03-05", freq="3D").date:
        fresh = Slicer(first_date="2020-01-01", last_date=today.isoformat())
        presets = periods.presets(fresh, today)
        days = {preset.label: named_days.resolve(*preset[1:], today, fresh) for preset in presets}
        yesterday = today - timedelta(days=1)
        for label, unit in (("week", "W"), ("month", "M"), ("quarter", "Q")):
            this = pd.Period(today, unit)
            first = this.start_time.date()
            before = (this - 1).start_time.date()
            to_date = (first if first < today else before, yesterday)
            assert days[f"This {label}"] == (first, today), today
            assert days[f"Last {label}"] == ((this - 1).start_time.date(), (this - 1).end_time.date()), today
            assert days[f"{label.capitalize()} to date"] == to_date, today


@pytest.mark.parametrize(
    ("count", "unit"), [(1, "day"), (45, "day"), (6, "week"), (1, "month"), (14, "month")]
)
def test_the_last_days_weeks_and_months(count: int, unit: str) -> None:
    """The last N days are complete ones; weeks and months are whole, and end before the one that runs."""
    for today in pd.date_range("2023-12-25", "2028-03-05", freq="17D").date:
        check_last(today, count, unit)


def check_last(today: date, count: int, unit: str) -> None:
    """What the last N days, weeks or months are on a day, written in each way."""
    yesterday = today - timedelta(days=1)
    frequency = unit[0].upper()
    running = pd.Period(today, frequency)
    days = ((running - count).start_time.date(), (running - 1).end_time.date())
    for last_date in (today, yesterday):
        fresh = Slicer(first_date="2015-01-01", last_date=last_date.isoformat())
        for text in (f"Last {count} {unit}s", f"{count} {unit}", f" {count}{frequency.lower()} "):
            preset = periods.parse_last(text, fresh, today)
            assert named_days.resolve(preset.start, preset.end, today, fresh) == days
        period = periods.preset_of(fresh, preset.start, preset.end, today)
        assert period is not None and period[1:] == preset[1:]
        assert preset.start.startswith("-")
    old = Slicer(first_date="2015-01-01", last_date=yesterday.isoformat())
    later = today + timedelta(days=400)
    preset = periods.parse_last(f"{count} {unit}s", old, later)
    assert (preset.start, preset.end) == tuple(day.isoformat() for day in days)


@pytest.mark.parametrize("text", ["", "0 days", "days", "45", "-3 days", "2 years", "99999 days", "٤ days"])
def test_a_text_that_is_no_number_of_days_is_refused(text: str) -> None:
    """What is no number of days, weeks or months is refused with a sentence that says what to write."""
    with pytest.raises(BadRequest, match="like 45 days, 6 weeks or 3 months"):
        periods.parse_last(text, FRESH, TODAY)


def test_a_year_ago() -> None:
    """A year ago are the same dates of the year before, and for a leap day the last of that February."""
    for day in pd.date_range("2023-12-25", "2025-03-05", freq="1D").date:
        expected = (pd.Timestamp(day) - pd.DateOffset(years=1)).date()
        assert periods.comparison((periods.YEAR,), (day, day), FRESH, TODAY)[0] == (expected, expected)


def test_previous_period() -> None:
    """The period before days without a name is as long as they are, and ends the day before them."""
    assert periods.comparison((periods.PREVIOUS,), WEEK, FRESH, TODAY)[0] == (
        date(2026, 11, 7),
        date(2026, 11, 13),
    )
    month = (date(2026, 2, 1), date(2026, 2, 28))
    assert periods.comparison((periods.PREVIOUS,), month, FRESH, TODAY)[0] == (
        date(2026, 1, 4),
        date(2026, 1, 31),
    )


@pytest.mark.parametrize("length", [1, 5, 7, 8, 30])
def test_same_weekdays(length: int) -> None:
    """The same weekdays are whole weeks earlier, as few as keep the two ranges apart."""
    period = (date(2026, 11, 10), date(2026, 11, 10) + timedelta(days=length - 1))
    first, last = periods.comparison((periods.WEEKDAYS,), period, FRESH, TODAY)[0] or period
    assert (first.weekday(), last.weekday()) == (period[0].weekday(), period[1].weekday())
    assert (last - first).days == length - 1
    assert period[0] - timedelta(days=7) <= last < period[0]


def test_same_weekdays_lose_the_same_days_on_both_sides() -> None:
    """Where the data begin late, the same number of the same weekdays is compared, not 30 days with 25."""
    period = (date(2026, 10, 22), date(2026, 11, 20))
    before = periods.comparison((periods.WEEKDAYS,), period, FRESH, TODAY)[0] or period
    now, then = periods.match_days(period, before, FRESH, TODAY) or (period, before)
    assert (then[0], then[1]) == (date(2026, 9, 22), date(2026, 10, 16))
    assert (now[0], now[1]) == (date(2026, 10, 27), date(2026, 11, 20))
    assert periods.length(now) == periods.length(then) == 25
    assert now[0].weekday() == then[0].weekday()


def test_today_is_not_compared() -> None:
    """Today is not over: it is compared with nothing, and a range that ends with it without it."""
    today = (TODAY, TODAY)
    assert (
        periods.match_days(
            today, periods.comparison((periods.PREVIOUS,), today, FRESH, TODAY)[0], FRESH, TODAY
        )
        is None
    )
    month = (date(2026, 11, 1), TODAY)
    before = periods.comparison((periods.PREVIOUS,), month, FRESH, TODAY)[0] or month
    now, then = periods.match_days(month, before, FRESH, TODAY) or (month, before)
    assert now == (date(2026, 11, 1), date(2026, 11, 20))
    assert then == (date(2026, 10, 11), date(2026, 10, 30))


def test_ranges_of_different_length_lose_their_own_days() -> None:
    """Of a chosen range of another length the days without data go, and nothing of the other side."""
    chosen = (date(2026, 9, 1), date(2026, 9, 30))
    now, then = periods.match_days(WEEK, chosen, FRESH, TODAY) or (WEEK, chosen)
    assert (now, then) == (WEEK, (date(2026, 9, 22), date(2026, 9, 30)))
    nothing = (date(2026, 8, 1), date(2026, 8, 31))
    assert periods.match_days(WEEK, nothing, FRESH, TODAY) is None


def test_a_range_to_compare_with() -> None:
    """A range of two date values is taken as it is; without one, or with no range, nothing is compared."""
    october = ("2026-10-01", "-1m_last")
    assert periods.comparison(october, WEEK, FRESH, TODAY)[0] == (date(2026, 10, 1), date(2026, 10, 31))
    assert periods.comparison((), WEEK, FRESH, TODAY)[0] is None
    assert periods.comparison(("2026-10-02", "2026-10-01"), WEEK, FRESH, TODAY)[0] is None


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
    assert [GRANULARITIES[grain].span(name)[0] for name in names] == sorted(
        GRANULARITIES[grain].span(name)[0] for name in names
    )
    assert len(series.buckets("hour", period)) == 72


def test_buckets_are_paired_by_their_place() -> None:
    """The first with the first; a month or a part of a week only where both have as many days."""
    october, september = (date(2026, 10, 1), date(2026, 10, 31)), (date(2026, 9, 1), date(2026, 9, 30))
    days = ["2026-09-01", "2026-09-30 23:00"]
    assert series.pair_buckets("day", days[:1], october, september) == ["2026-10-01"]
    assert series.pair_buckets("hour", days[1:], october, september) == ["2026-10-30 23:00"]
    assert series.pair_buckets("day", ["2026-10-31"], september, october) == [None]
    assert series.pair_buckets("month", ["2026-09"], october, september) == [None]
    july, later = (date(2026, 7, 1), date(2026, 7, 31)), (date(2026, 8, 1), date(2026, 9, 30))
    assert series.pair_buckets("month", ["2026-07"], later, july) == ["2026-08"]
    weeks = (date(2026, 11, 18), date(2026, 11, 28)), (date(2026, 11, 4), date(2026, 11, 14))
    assert series.pair_buckets("week", ["2026-W45", "2026-W46"], *weeks) == ["2026-W47", "2026-W48"]
    cut = (date(2026, 11, 7), date(2026, 11, 17))
    assert series.pair_buckets("week", ["2026-W45", "2026-W46", "2026-W47"], weeks[0], cut) == [
        None,
        None,
        None,
    ]


def by_day(values: dict[str, float], with_data: list[str], additive: bool = True) -> Audience:
    """An answer split by day."""
    frame = pd.DataFrame({"imps": list(values.values())})
    return Audience(
        keys=pd.DataFrame({"granularity_day": list(values)}),
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


def test_hours_that_have_not_come_are_not_zero() -> None:
    """Of today the hours that have begun are 0 without a row; those to come are unknown, not zeros."""
    rows = Audience(
        keys=pd.DataFrame({"granularity_hour": ["2026-11-21 00:00", "2026-11-21 02:00"]}),
        values=pd.DataFrame({"imps": [7.0, 9.0]}),
        percents=pd.DataFrame({"imps": [7.0, 9.0]}),
        total=Total({}, 2, ("2026-11-21",)),
    )
    line = series.over(rows, "imps", "hour", (TODAY, TODAY), datetime.fromisoformat("2026-11-21T04:10"))
    np.testing.assert_array_equal(line.values, [7, 0, 9, 0, 0, *[np.nan] * 19])


def test_hours_that_a_filter_leaves_out_are_not_zero() -> None:
    """Under a filter on hours of the day those that pass are 0 without a row, all others unknown."""
    rows = Audience(
        keys=pd.DataFrame({"granularity_hour": ["2026-11-21 02:00"]}),
        values=pd.DataFrame({"imps": [9.0]}),
        percents=pd.DataFrame({"imps": [9.0]}),
        total=Total({}, 1, ("2026-11-21",)),
    )
    hours = Filter(name="granularity_hour_of_day", match="equals", value=("02:00", "03:00"))
    query = AudienceQuery(
        project_name="p", slicer_name="s", start_date="today", end_date="today", filters=(hours,)
    )
    line = series.over(rows, "imps", "hour", (TODAY, TODAY), query=query)
    np.testing.assert_array_equal(line.values, [np.nan, np.nan, 9, 0, *[np.nan] * 20])


@pytest.mark.parametrize(
    ("grain", "parts"),
    [
        ("day", [""] * 15),
        ("week", ["3 of 7 days", "", "5 of 7 days"]),
        ("month", ["2 of 31 days", "13 of 30 days"]),
        ("quarter", ["15 of 92 days"]),
    ],
)
def test_parts_of_weeks_and_months_are_said(grain: Granularity, parts: list[str]) -> None:
    """A bucket that the period cuts says how many of its days there are; a whole one says nothing."""
    period = (date(2026, 10, 30), date(2026, 11, 13))
    assert [series.part(grain, name, period) for name in series.buckets(grain, period)] == parts


def test_today_is_a_part() -> None:
    """Today, and the week that it is in, are not over."""
    week = (date(2026, 11, 16), TODAY)
    assert series.part("day", "2026-11-21", week, TODAY) == "not over yet"
    assert series.part("day", "2026-11-20", week, TODAY) == ""
    assert series.part("week", "2026-W47", week, TODAY) == "5 of 7 days"


ZOOMED = (date(2026, 11, 18), date(2026, 11, 19))


@pytest.mark.parametrize(
    ("compare", "first"),
    [
        ((periods.PREVIOUS,), date(2026, 11, 11)),
        ((periods.WEEKDAYS,), date(2026, 11, 11)),
        ((periods.YEAR,), date(2025, 11, 18)),
        (("2026-10-01", "2026-10-07"), date(2026, 10, 5)),
    ],
)
def test_a_zoom_narrows_both_sides(compare: tuple[str, ...], first: date) -> None:
    """What zoomed days are compared with lies where their bucket of the line compared was."""
    old = FRESH.model_copy(update={"first_date": "2025-01-01"})
    days, pair = periods.comparison(compare, ZOOMED, old, TODAY, WEEK)
    assert days == (first, first + timedelta(days=1))
    assert pair == (ZOOMED, days)


def test_a_zoom_compares_no_days_outside_of_the_comparison() -> None:
    """A week against five days: of its fifth and sixth day only the fifth has another side."""
    period = (date(2026, 11, 18), date(2026, 11, 19))
    _, pair = periods.comparison(("2026-10-01", "2026-10-05"), period, FRESH, TODAY, WEEK)
    assert pair == ((date(2026, 11, 18),) * 2, (date(2026, 10, 5),) * 2)
    last = (WEEK[1], WEEK[1])
    assert periods.comparison(("2026-10-01", "2026-10-05"), last, FRESH, TODAY, WEEK)[1] is None


def test_the_days_of_a_link_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A link whose days move says by which name and which these are now; one of fixed days does so."""
    monkeypatch.setattr(dates, "today", lambda timezone: TODAY)
    query = AudienceQuery(project_name="demo", slicer_name="delivery", start_date="", end_date="")
    for start, end, expected in (
        ("-0w_first", "yesterday", "week to date"),
        ("-8w_first", "-1w_last", "last 8 weeks"),
        ("first", "last", "all data"),
        ("-9d", "-3d", "the latest days"),
        ("2026-11-16", "2026-11-20", "Always"),
    ):
        dated = query.model_copy(update={"start_date": start, "end_date": end})
        sentence = periods.sentence(dated, FRESH)
        assert expected in sentence
        assert numbers.days(*named_days.days_of(dated, FRESH)) in sentence
