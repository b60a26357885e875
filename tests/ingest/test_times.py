# ruff: noqa: DTZ001, E501
"""Times: every usual spelling, zones with their clock changes, cut to the hour or to the slicer's own day."""

import datetime as dt
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.ingest.times import stored_times
from lib.slicers.definition import TimeColumn


def stored(
    value: object,
    granularity: str = "hour",
    zone_hours: int = 0,
    kind: pa.DataType | None = None,
    **more: str,
) -> str | None:
    """What is stored for a value, as text; None if it can't be read."""
    time = TimeColumn.model_validate({"column": "t", "granularity": granularity, **more})
    seconds, unreadable, _ = stored_times([pa.array([value], kind)], time, zone_hours)
    if unreadable[0]:
        return None
    return dt.datetime.fromtimestamp(int(seconds[0]), dt.UTC).strftime("%Y-%m-%d %H:%M")


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("2015-09-12T00:46:58.771Z", "2015-09-12 00:00"),
        ("2015-09-12 00:46:58", "2015-09-12 00:00"),
        ("2015-09-12T23:59", "2015-09-12 23:00"),
        ("2015-09-12T00:46:58,5", "2015-09-12 00:00"),
        ("2015-09-12t00:46:58z", None),
        ("2015-09-12 00:46:58+0200", "2015-09-11 22:00"),
        ("2015-09-12 00:46:58 +02:00", "2015-09-11 22:00"),
        ("2015-09-12T00:46:58-03", "2015-09-12 03:00"),
        ("2015-09-12T00:46:58.123456789Z", "2015-09-12 00:00"),
        (" 2015-09-12 ", "2015-09-12 00:00"),
        ("20150912", "2015-09-12 00:00"),
        ("1442018818", "2015-09-12 00:00"),
        ("1442018818.771", "2015-09-12 00:00"),
        ("1442018818771", "2015-09-12 00:00"),
        ("1442018818771000", "2015-09-12 00:00"),
        ("2015-13-12", None),
        ("2015-02-29", None),
        ("2015-09-12T24:01", None),
        ("12.09.2015", None),
        ("2015", None),
        ("now", None),
        ("0001-01-01", None),
        ("9999-12-31T23:59:59Z", None),
        ("٢٠١٥-٠٩-١٢", None),
    ],
)
def test_iso_8601_needs_no_telling(text: str, hour: str | None) -> None:
    """With or without time of day, fraction and offset, T or blank; also seconds and more since 1970."""
    assert stored(text) == hour


@pytest.mark.parametrize(
    ("value", "kind", "hour"),
    [
        (1442018818, None, "2015-09-12 00:00"),
        (1442018818771, None, "2015-09-12 00:00"),
        (1442018818.5, None, "2015-09-12 00:00"),
        (20150912, None, "2015-09-12 00:00"),
        (17, None, None),
        (dt.date(2015, 9, 12), pa.date32(), "2015-09-12 00:00"),
        (dt.datetime(2015, 9, 12, 5, 30), pa.timestamp("ns"), "2015-09-12 05:00"),
        (
            dt.datetime(2015, 9, 12, 5, 30, tzinfo=dt.UTC),
            pa.timestamp("ms", tz="America/New_York"),
            "2015-09-12 05:00",
        ),
        (True, None, None),
    ],
)
def test_numbers_and_timestamps_are_read(value: object, kind: pa.DataType | None, hour: str | None) -> None:
    """Columns of numbers, dates and timestamps are taken as what they are."""
    assert stored(value, kind=kind) == hour


@pytest.mark.parametrize(
    ("text", "form", "hour"),
    [
        ("12.09.2015 17:46", "%d.%m.%Y %H:%M", "2015-09-12 17:00"),
        ("9/12/15 5:46 PM", "%m/%d/%y %I:%M %p", "2015-09-12 17:00"),
        ("12/Sep/2015:17:46:58 +0200", "%d/%b/%Y:%H:%M:%S %z", "2015-09-12 15:00"),
        ("2015-09-12 17:46:58.25", "%Y-%m-%d %H:%M:%S.%f", "2015-09-12 17:00"),
        ("2015 255", "%Y %j", "2015-09-12 00:00"),
        ("2015-09-12 17:46", "%d.%m.%Y %H:%M", None),
        ("12.09.2015 17:46 more", "%d.%m.%Y %H:%M", None),
    ],
)
def test_a_format_is_followed(text: str, form: str, hour: str | None) -> None:
    """A format of strptime reads exactly what it says."""
    assert stored(text, format=form) == hour


@pytest.mark.parametrize(
    ("text", "zone", "hour"),
    [
        ("2026-01-15 12:30", "Europe/Berlin", "2026-01-15 11:00"),
        ("2026-07-15 12:30", "Europe/Berlin", "2026-07-15 10:00"),
        ("2026-07-15 12:30", "+05:30", "2026-07-15 07:00"),
        ("2026-07-15 12:30", "-02:00", "2026-07-15 14:00"),
        ("2026-07-15 12:30Z", "Europe/Berlin", "2026-07-15 12:00"),
        ("2026-10-25 02:30", "Europe/Berlin", "2026-10-25 00:00"),
        ("2026-03-29 02:30", "Europe/Berlin", "2026-03-29 01:00"),
        ("2026-07-15", "Europe/Berlin", "2026-07-14 22:00"),
    ],
)
def test_stamps_are_read_on_the_clock_of_their_zone(text: str, zone: str, hour: str) -> None:
    """Summer time counts; of an hour that comes twice the first is meant; one that is left out is the next."""
    assert stored(text, timezone=zone) == hour


def test_without_a_zone_the_slicer_s_own_is_meant() -> None:
    """A stamp without offset, in a slicer five hours west, is five hours later in UTC."""
    assert stored("2026-07-15 12:30", zone_hours=-5) == "2026-07-15 17:00"
    assert stored("2026-07-15 12:30", zone_hours=-5, timezone="UTC") == "2026-07-15 12:00"


@pytest.mark.parametrize(
    ("text", "zone_hours", "day"),
    [
        ("2026-07-15T02:00:00Z", -5, "2026-07-14"),
        ("2026-07-15T02:00:00Z", 5, "2026-07-15"),
        ("2026-07-15T23:00:00Z", 2, "2026-07-16"),
        ("2026-07-15 23:00:00", 2, "2026-07-15"),
        ("2026-07-15", -5, "2026-07-15"),
        ("20260715", 12, "2026-07-15"),
    ],
)
def test_daily_rows_are_cut_to_the_slicer_s_own_day(text: str, zone_hours: int, day: str) -> None:
    """An instant falls on the day that the slicer's clock shows; a date is that day in any zone."""
    assert stored(text, "day", zone_hours) == f"{day} 00:00"


def test_a_date_stays_its_day_whatever_the_column_s_zone() -> None:
    """A date without a time of day means a day, not midnight somewhere else."""
    assert stored("2026-07-15", "day", -5, timezone="UTC") == "2026-07-15 00:00"
    assert stored("15.07.2026", "day", -5, timezone="UTC", format="%d.%m.%Y") == "2026-07-15 00:00"
    assert (
        stored("15.07.2026 00:00", "day", -5, timezone="UTC", format="%d.%m.%Y %H:%M") == "2026-07-14 00:00"
    )
    assert stored(dt.date(2026, 7, 15), "day", -5, pa.date32(), timezone="UTC") == "2026-07-15 00:00"


def test_missing_is_not_unreadable() -> None:
    """Nothing at all is told apart from what can't be read."""
    time = TimeColumn(column="t", granularity="hour")
    _, unreadable, missing = stored_times([pa.array(["2026-01-01", "", None, "x"])], time, 0)
    assert unreadable.tolist() == [False, False, False, True]
    assert missing.tolist() == [False, True, True, False]
    _, unreadable, missing = stored_times([pa.nulls(2)], time, 0)
    assert not unreadable.any() and missing.all()


@given(
    st.datetimes(dt.datetime(1971, 1, 1), dt.datetime(2150, 1, 1)),
    st.sampled_from(["Europe/Berlin", "America/St_Johns", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"]),
)
def test_zones_agree_with_the_standard_library(naive: dt.datetime, name: str) -> None:
    """For any wall-clock time that exists, the stored hour is that of zoneinfo."""
    instant = naive.replace(tzinfo=ZoneInfo(name)).astimezone(dt.UTC)
    if instant.astimezone(ZoneInfo(name)).replace(tzinfo=None) != naive:
        return
    expected = instant.replace(minute=0, second=0, microsecond=0).strftime("%Y-%m-%d %H:%M")
    assert stored(naive.isoformat(), timezone=name) == expected


@pytest.mark.parametrize(
    "odd", ["2026-01-05 13:00:00Z", "2026-01-05T13:00:00", "1767618000000000000", None, "x"]
)
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_a_column_of_stamps_is_read_like_each_of_them(odd: str | None, zone: str) -> None:
    """A column of nothing but plain stamps is read in one go, to the same hours as one with another in it."""
    stamps = [f"2026-{month:02d}-05 13:45:59" for month in range(1, 13)] + ["2026-02-30 00:00:00"][
        : odd == "x"
    ]
    time = TimeColumn(column="t", granularity="hour", timezone=zone)
    quick, bad, _ = stored_times([pa.array(stamps)], time, 0)
    mixed, _, _ = stored_times([pa.array([*stamps, odd])], time, 0)
    assert quick.tolist() == mixed[:-1].tolist() and bad.tolist() == [
        stamp.startswith("2026-02-30") for stamp in stamps
    ]


@pytest.mark.parametrize(
    ("text", "format_", "day"),
    [
        ("2026-03", "%Y-%m", "2026-03-01 00:00"),
        ("Mar 2026", "%b %Y", "2026-03-01 00:00"),
        ("2026-W12", "%G-W%V", "2026-03-16 00:00"),
        ("2020-W53", "%G-W%V", "2020-12-28 00:00"),
        ("2026-W54", "%G-W%V", None),
    ],
)
def test_months_and_weeks(text: str, format_: str, day: str | None) -> None:
    """A month is its first day, a week of ISO 8601 its Monday."""
    assert stored(text, "day", format=format_) == day


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("2026-01-05 10:00 EST", "2026-01-05 15:00"),
        ("2026-07-05 10:00 EDT", "2026-07-05 14:00"),
        ("2026-07-05 10:00 PST", "2026-07-05 18:00"),
        ("2026-07-05 10:00 CET", "2026-07-05 09:00"),
        ("2026-07-05 10:00 CEST", "2026-07-05 08:00"),
        ("2026-07-05 10:00 UTC", "2026-07-05 10:00"),
        ("2026-07-05 10:00 XYZT", None),
    ],
)
def test_named_zones(text: str, hour: str | None) -> None:
    """The name of a zone is its offset, whatever the season (RFC 5322, section 4.3)."""
    assert stored(text, format="%Y-%m-%d %H:%M %Z") == hour
