"""Date values, against the specification's table and against datetime itself."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.slicers.dates import date_range, resolve, today
from lib.slicers.granularities import GRANULARITIES, Granularity
from lib.wire.errors import BadRequest

SATURDAY = dt.date(2026, 11, 21)
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001
DAYS = st.dates(dt.date(1000, 1, 1), dt.date(9998, 12, 31))
HOURS = st.lists(st.integers(-8_000_000, 70_000_000), max_size=50)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-02-28", "2026-02-28"),
        ("2024-02-29", "2024-02-29"),
        ("today", "2026-11-21"),
        ("yesterday", "2026-11-20"),
        ("-0d", "2026-11-21"),
        ("-7d", "2026-11-14"),
        ("-1day", "2026-11-20"),
        ("-365days", "2025-11-21"),
        ("-0m", "2026-11-21"),
        ("-1m", "2026-10-21"),
        ("-1month", "2026-10-21"),
        ("-11months", "2025-12-21"),
        ("-12m", "2025-11-21"),
        ("-0m_first", "2026-11-01"),
        ("-1month_first", "2026-10-01"),
        ("-11months_first", "2025-12-01"),
        ("-0m_last", "2026-11-30"),
        ("-9month_last", "2026-02-28"),
        ("-33months_last", "2024-02-29"),
    ],
)
def test_every_form_of_the_table(text: str, expected: str) -> None:
    """Each form of the specification's table, in singular and plural, gives the date that it describes."""
    assert resolve(text, SATURDAY) == dt.date.fromisoformat(expected)


@pytest.mark.parametrize(
    ("day", "text", "expected"),
    [
        ("2026-03-31", "-1m", "2026-02-28"),
        ("2024-03-31", "-1m", "2024-02-29"),
        ("2024-02-29", "-12m", "2023-02-28"),
        ("2026-12-31", "-1months", "2026-11-30"),
        ("2026-01-31", "-2m", "2025-11-30"),
    ],
)
def test_a_day_that_the_month_lacks(day: str, text: str, expected: str) -> None:
    """31 March minus one month is the last day of February."""
    assert resolve(text, dt.date.fromisoformat(day)) == dt.date.fromisoformat(expected)


@pytest.mark.parametrize(
    "text",
    [
        "", "Today", " today", "2026-11-21 ", "2026-11-21\n", "20261121", "2026-W47", "2026-1-2", "-d",
        "--1d", "7d", "+7d", "-7", "-7w", "-1.5d", "-1d_first", "-1m_middle", "-1m first",
        "-٣d", "２０２６-11-21",
    ],
)  # fmt: skip
def test_other_texts_are_refused(text: str) -> None:
    """Anything else is a bad request whose reason repeats the text and spells out what can be written."""
    with pytest.raises(BadRequest) as refused:
        resolve(text, SATURDAY)
    assert f"'{text}'" in refused.value.reason
    assert "YYYY-MM-DD" in refused.value.reason
    assert "-Nm_last" in refused.value.reason


@pytest.mark.parametrize(
    "text",
    ["2026-02-29", "2026-13-01", "0000-01-01", "-99999999d", "-999999999999m", "-30000m", f"-{'9' * 6000}d"],
)
def test_dates_that_do_not_exist_are_refused(text: str) -> None:
    """A date that is not in the calendar, however far back, is a bad request with a short reason."""
    with pytest.raises(BadRequest, match="no such date") as refused:
        resolve(text, SATURDAY)
    assert len(refused.value.reason) < 250


@given(day=DAYS, months=st.integers(0, 9000))
def test_months_back_against_pandas(day: dt.date, months: int) -> None:
    """Counting months back agrees with pandas' calendar, on the day itself and on both edges of the month."""
    month = pd.Period(year=day.year, month=day.month, freq="M") - months
    same_day = dt.date(month.year, month.month, min(day.day, month.days_in_month))
    assert resolve(f"-{months}m", day) == same_day
    assert resolve(f"-{months}m_first", day) == same_day.replace(day=1)
    assert resolve(f"-{months}months_last", day) == same_day.replace(day=month.days_in_month)


@given(day=DAYS, days=st.integers(0, 300_000))
def test_days_back_against_datetime(day: dt.date, days: int) -> None:
    """Counting days back agrees with datetime's arithmetic, and an absolute date is read as it is written."""
    assert resolve(f"-{days}days", day) == day - dt.timedelta(days=days)
    assert resolve(day.isoformat(), SATURDAY) == day


@pytest.mark.parametrize(
    ("timezone", "expected"), [(-12, "2026-11-20"), (0, "2026-11-21"), (12, "2026-11-21")]
)
def test_today_depends_on_the_zone(timezone: int, expected: str) -> None:
    """At 11:59 UTC it is still yesterday twelve hours west, and still today twelve hours east."""
    now = dt.datetime(2026, 11, 21, 11, 59, tzinfo=dt.UTC)
    assert today(timezone, now) == dt.date.fromisoformat(expected)
    elsewhere = now.astimezone(dt.timezone(dt.timedelta(hours=5, minutes=45)))
    assert today(timezone, elsewhere) == today(timezone, now)


def test_today_by_the_clock() -> None:
    """Without a given moment it is the date of now."""
    before = dt.datetime.now(dt.UTC).date()
    assert before <= today(0) <= dt.datetime.now(dt.UTC).date()


def test_date_range() -> None:
    """A range is its first and last day, a single day is one, and a start after the end is a bad request."""
    assert date_range("-7d", "yesterday", SATURDAY) == (dt.date(2026, 11, 14), dt.date(2026, 11, 20))
    assert date_range("today", "2026-11-21", SATURDAY) == (SATURDAY, SATURDAY)
    with pytest.raises(BadRequest, match=r"start_date 'today' \(2026-11-21\).*end_date '-1m' \(2026-10-21\)"):
        date_range("today", "-1m", SATURDAY)


def _text(granularity: Granularity, hour: int) -> str:
    moment = EPOCH + dt.timedelta(hours=hour)
    year, week, _ = moment.isocalendar()
    return {
        "hour": f"{moment:%Y-%m-%d %H}:00",
        "day": moment.date().isoformat(),
        "week": f"{year:04}-W{week:02}",
        "month": moment.date().isoformat()[:7],
        "quarter": f"{moment.year:04} Q{(moment.month + 2) // 3}",
        "year": f"{moment.year:04}",
    }[granularity]


@pytest.mark.parametrize("granularity", GRANULARITIES)
@given(hours=HOURS)
def test_time_key_fields_against_datetime(granularity: Granularity, hours: list[int]) -> None:
    """The text of every hour is the one that datetime and isocalendar give, for none, one or many hours."""
    texts = GRANULARITIES[granularity].write(np.array(hours, dtype=np.int64))
    assert texts.tolist() == [_text(granularity, hour) for hour in hours]


def test_weeks_at_the_turn_of_the_year() -> None:
    """A week belongs to the ISO year of its Thursday, whatever the calendar year of the day."""
    days = ["2026-12-31", "2027-01-01", "2027-01-03", "2027-01-04", "2024-12-30", "2023-01-01"]
    hours = np.array(days, dtype="datetime64[h]").astype(np.int64)
    assert GRANULARITIES["week"].write(hours).tolist() == [
        "2026-W53", "2026-W53", "2026-W53", "2027-W01", "2025-W01", "2022-W52",
    ]  # fmt: skip


@pytest.mark.parametrize("granularity", GRANULARITIES)
@given(hour=st.integers(-8_000_000, 70_000_000))
def test_bounds_are_the_inverse(granularity: Granularity, hour: int) -> None:
    """First and last day of a value carry that value, the days beside them don't; an hour has its day."""
    text = _text(granularity, hour)
    start, last = GRANULARITIES[granularity].span(text)
    first = start.date()
    if granularity == "hour":
        assert first == last == (EPOCH + dt.timedelta(hours=hour)).date()
        return
    days = [first - dt.timedelta(days=1), first, last, last + dt.timedelta(days=1)]
    hours = np.array(days, dtype="datetime64[h]").astype(np.int64)
    assert (GRANULARITIES[granularity].write(hours) == text).tolist() == [False, True, True, False]


@pytest.mark.parametrize(
    ("granularity", "text"),
    [
        ("hour", "2026-11-21 24:00"),
        ("hour", "2026-11-21 09:30"),
        ("hour", "2026-11-21T09:00"),
        ("day", "2026-02-29"),
        ("day", "today"),
        ("week", "2025-W53"),
        ("week", "2026-W00"),
        ("week", "9999-W52"),
        ("week", "2026W47"),
        ("month", "2026-13"),
        ("month", "2026-1"),
        ("quarter", "2026 Q5"),
        ("quarter", "2026 Q0"),
        ("quarter", "2026Q1"),
        ("year", "0000"),
        ("year", "26"),
        ("year", "2026\n"),
        ("year", "9" * 6000),
    ],
)
def test_malformed_values_of_time_key_fields(granularity: Granularity, text: str) -> None:
    """What is no value of the time key field is a bad request that shows how one is written."""
    with pytest.raises(BadRequest, match=rf"is not a valid {granularity}; write it like '2026"):
        GRANULARITIES[granularity].span(text)
