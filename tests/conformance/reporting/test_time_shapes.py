"""Specification: the shapes of `name` values of time-related key fields."""

import datetime as dt
import re

import pytest

from conformance.reporting import hourly as hours
from conformance.reporting import oracle
from conformance.reporting.caller import Caller, agree, figures, rows, same

SHAPES = {
    "granularity_hour": r"\d{4}-\d\d-\d\d ([01]\d|2[0-3]):00",
    "granularity_day": r"\d{4}-\d\d-\d\d",
    "granularity_week": r"\d{4}-W(0[1-9]|[1-4]\d|5[0-3])",
    "granularity_month": r"\d{4}-(0[1-9]|1[0-2])",
    "granularity_quarter": r"\d{4} Q[1-4]",
    "granularity_year": r"\d{4}",
    "granularity_weekday": "1 Monday|2 Tuesday|3 Wednesday|4 Thursday|5 Friday|6 Saturday|7 Sunday",
    "granularity_hour_of_day": r"([01]\d|2[0-3]):00",
}
ZONES = [-12, 0, 3, 12]
NAMED_ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"]
WHOLE = {"start_date": "2000-01-01", "end_date": "2999-12-31"}


@pytest.mark.parametrize("name", SHAPES)
def test_shape(hourly: Caller, name: str) -> None:
    """The values of each time key field have its format."""
    for row in hourly.audience(split_by=[name])["rows"]:
        assert re.fullmatch(SHAPES[name], row["name"][0])


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("name", SHAPES)
def test_split_in_zones(hourly: Caller, name: str, zone: int) -> None:
    """A split by time puts each record where its time lies in the zone that is asked for."""
    first, last = hours.FIRST + dt.timedelta(days=25), hours.FIRST + dt.timedelta(days=45)
    dates = {"start_date": str(first), "end_date": str(last)}
    by_time = rows(hourly.audience(split_by=[name], timezone=zone, **dates))
    same(by_time, oracle.split(oracle.between(first, last, zone), [name], zone))


@pytest.mark.parametrize("zone", NAMED_ZONES)
def test_named_zones(hourly: Caller, zone: str) -> None:
    """So it does in a zone by name, whose clocks change; a filter by time finds the same records."""
    dates = {"start_date": str(hours.FIRST + 3 * dt.timedelta(days=1)), "end_date": str(hours.LAST)}
    within = oracle.between(hours.FIRST + 3 * dt.timedelta(days=1), hours.LAST, zone)
    for name in SHAPES:
        answer = hourly.audience(split_by=[name], timezone=zone, **dates)
        groups = oracle.split(within, [name], zone)
        same(rows(answer), groups)
        agree(figures(answer["total"]), oracle.figures(within))
        value = max(groups)[0]
        wanted = [{"name": name, "match": "equals", "value": [value]}]
        audience = hourly.audience(filters=wanted, timezone=zone, **dates)
        agree(figures(audience["total"]), groups[(value,)])


@pytest.mark.parametrize("zone", [-7, 3, 12])
@pytest.mark.parametrize("name", SHAPES)
def test_filter_in_zones(hourly: Caller, name: str, zone: int) -> None:
    """A filter by time compares the formatted value, in the zone that is asked for."""
    texts = oracle.values(hours.ROWS, name, zone).str[0]
    value = str(texts.iloc[len(texts) // 2])
    wanted = [{"name": name, "match": "equals", "value": [value]}]
    answer = hourly.audience(filters=wanted, timezone=zone, **WHOLE)
    agree(figures(answer["total"]), oracle.figures(hours.ROWS[texts == value]))


def test_rows_run_with_time(hourly: Caller) -> None:
    """Where nothing else is asked, rows split by time come in its order."""
    days = [row["name"][0] for row in hourly.audience(split_by=["granularity_day", "site_id"])["rows"]]
    assert days == sorted(days)


def test_a_day_slicer_has_no_hours(daily: Caller) -> None:
    """A slicer of days refuses a split by hour; its coarser time key fields work."""
    assert daily.reason("audience", split_by=["granularity_hour"]).startswith("Unknown key field")
    answer = daily.audience(
        start_date="2026-01-01", end_date="2026-12-31", split_by=["granularity_week", "granularity_day"]
    )
    assert {name: row["imps"] for name, row in rows(answer).items()} == {
        ("2026-W05", "2026-01-30"): 3,
        ("2026-W05", "2026-01-31"): 4,
        ("2026-W06", "2026-02-03"): 8,
    }


@pytest.mark.parametrize("verb", ["export", "records"])
def test_files_say_whose_clocks(hourly: Caller, verb: str) -> None:
    """In a named zone the header of a time column has its name, and a day of 25 hours."""
    asked = {"split_by": ["granularity_day"]} if verb == "export" else {"columns": ["granularity_day"]}
    day = {"start_date": "2026-10-25", "end_date": "2026-10-25"}
    file = hourly.post(verb, export_format="csv", timezone="Europe/Berlin", **day, **asked)
    assert file.text.startswith('"Day (Europe/Berlin, 2026-10-25 has 25 hours)"')


@pytest.mark.parametrize("verb", ["audience", "export", "records"])
def test_days_have_no_named_zone(daily: Caller, verb: str) -> None:
    """A slicer of days refuses a zone by name."""
    assert "timezone" in daily.reason(verb, timezone="Europe/Berlin")
