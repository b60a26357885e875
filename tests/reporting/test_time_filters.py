"""The days that filters on time let through, beside pandas."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pandas as pd
import pytest

from lib.reporting import time_filters
from lib.reporting.models import AudienceQuery
from lib.wire.filters import Filter

PERIOD = date(2026, 10, 20), date(2026, 11, 17)
DAYS = pd.date_range(*PERIOD)
NOON = pd.Timestamp("2026-11-17 12:00")
WITH_DATA = [*DAYS.strftime("%Y-%m-%d")[3:20]]
MONDAY = Filter(name="granularity_weekday", match="equals", value=("1 Monday",))
SITE = Filter(name="site", match="equals", value=("7",))


def on(cycle: str, match: str, *values: str, **options: int) -> Filter:
    """A filter on a key field of time."""
    return Filter.model_validate({"name": f"granularity_{cycle}", "match": match, "value": values} | options)


CASES: dict[str, tuple[dict[str, Any], Callable[[pd.DatetimeIndex], Any]]] = {
    "none": ({}, lambda days: days.day > 0),
    "another key field": ({"filters": (SITE,)}, lambda days: days.day > 0),
    "mondays": ({"filters": (MONDAY,)}, lambda days: days.day_of_week == 0),
    "no mondays": (
        {"filters": (on("weekday", "not equals", "1 Monday"),)}, lambda days: days.day_of_week != 0
    ),
    "any case": (
        {"filters": (on("weekday", "contains", "SUN", "sat", case_insensitive=1),)},
        lambda days: days.day_of_week > 4,
    ),
    "a date": ({"filters": (on("day", "equals", "2026-11-03"),)}, lambda days: days == "2026-11-03"),
    "a month": ({"filters": (on("month", "begins with", "2026-11"),)}, lambda days: days.month == 11),
    "a week": (
        {"filters": (on("week", "equals", "2026-W45"),)},
        lambda days: days.isocalendar().week.eq(45).to_numpy(),
    ),
    "both": (
        {"filters": (MONDAY, on("month", "equals", "2026-11"))},
        lambda days: (days.day_of_week == 0) & (days.month == 11),
    ),
    "either": (
        {"any_of": ((MONDAY, on("day", "equals", "2026-11-03")),)},
        lambda days: (days.day_of_week == 0) | (days == "2026-11-03"),
    ),
    "a Monday or a site": ({"any_of": ((MONDAY, SITE),)}, lambda days: days.day > 0),
    "an hour": ({"filters": (on("hour_of_day", "equals", "09:00"),)}, lambda days: days.day > 0),
    "hours of a day": (
        {"filters": (on("hour", "begins with", "2026-11-03 1"),)}, lambda days: days == "2026-11-03"
    ),
    "an hour of no day": (
        {"filters": (on("hour", "equals", "2026-11-03 10:00"), on("hour_of_day", "equals", "09:00"))},
        lambda days: days.day < 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_days_that_filters_let_through(name: str) -> None:
    """Filters on times keep days of which an hour passes, of all or of those with data; others every day."""
    fields, passes = CASES[name]
    query = AudienceQuery.model_validate(
        {"project_name": "p", "slicer_name": "s", "start_date": "-7d", "end_date": "yesterday"} | fields
    )
    expected = [day.date() for day in DAYS[passes(DAYS)]]
    assert time_filters.days(query, PERIOD) == expected
    with_data = [day for day in expected if day.isoformat() in WITH_DATA]
    assert time_filters.days(query, PERIOD, WITH_DATA) == with_data


@pytest.mark.parametrize("name", CASES)
def test_days_of_weekdays_and_hours(name: str) -> None:
    """Each weekday, and each hour that has begun, has as many days as pandas counts, by values of rows."""
    fields, passes = CASES[name]
    query = AudienceQuery.model_validate(
        {"project_name": "p", "slicer_name": "s", "start_date": "-7d", "end_date": "yesterday"} | fields
    )
    days = DAYS[passes(DAYS)]
    counts = days.strftime("%u %A").value_counts().to_dict()
    assert time_filters.days_by("granularity_weekday", query, PERIOD) == counts
    if "hour" not in name:
        hours = [day + pd.Timedelta(hours=hour) for day in days for hour in range(24)]
        begun = pd.Series([f"{at:%H:00}" for at in hours if at <= NOON])
        counts = time_filters.days_by("granularity_hour_of_day", query, PERIOD, until=NOON.to_pydatetime())
        assert counts == begun.value_counts().to_dict()
