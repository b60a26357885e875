"""Zones by name: what their clocks show at hours of UTC, and days of 23 and 25 hours."""

import calendar
import datetime as dt

import numpy as np
import pytest
from pydantic import ValidationError

from lib.figures import series
from lib.reporting.client import NO_ZONES, check_file, for_records, request_fields
from lib.reporting.models import AudienceQuery, ExportQuery, RecordsQuery
from lib.slicers import zones
from lib.slicers.models import Slicer
from lib.wire import time_zones
from lib.wire.errors import BadRequest

HOURS = np.arange(-20_000, 600_000, dtype=np.int64)  # 1967 to 2038
YEAR = dt.date(2026, 1, 1), dt.date(2026, 12, 31)
WHERE = {"project_name": "p", "slicer_name": "s", "start_date": "-7d", "end_date": "yesterday"}


@pytest.mark.parametrize(
    "name",
    ["Europe/Berlin", "America/New_York", "Australia/Sydney", "Australia/Lord_Howe", "Asia/Kolkata",
     "America/Santiago", "Africa/Casablanca", "Pacific/Apia", "Antarctica/Troll"],
)  # fmt: skip
def test_clocks_are_those_of_python(name: str) -> None:
    """Each hour of UTC is shown as Python converts it, whatever changes the zone had."""
    zone = time_zones.zone(name)
    clocks = [dt.datetime.fromtimestamp(hour * 3600, zone) for hour in HOURS[::7].tolist()]
    expected = [calendar.timegm(clock.timetuple()) // 3600 for clock in clocks]
    np.testing.assert_array_equal(zones.clock_hours(name, HOURS[::7]), expected)


@pytest.mark.parametrize(
    ("name", "odd"),
    [
        ("Europe/Berlin", {"2026-03-29": 23, "2026-10-25": 25}),
        ("Australia/Sydney", {"2026-04-05": 25, "2026-10-04": 23}),
        ("Asia/Kolkata", {}),
        (5, {}),
    ],
)
def test_days_on_which_clocks_change(name: zones.Zone, odd: dict[str, int]) -> None:
    """They are known with their hours; zones of whole hours have none."""
    hours_by_day = {str(day): hours for day, hours in zones.odd_days(name, YEAR).items()}
    assert hours_by_day == odd


def test_days_at_the_end_of_time() -> None:
    """A range over all days that can be written has a beginning and an end in every zone."""
    first, last = ((day - dt.date(1970, 1, 1)).days for day in (dt.date.min, dt.date.max))
    assert zones.day_begins("Pacific/Apia", first) < zones.day_begins("Pacific/Apia", last + 1)


def test_hours_of_the_chart() -> None:
    """An hour that clocks leave out is no bucket; one that they show twice is one, and marked."""
    spring, autumn = dt.date(2026, 3, 29), dt.date(2026, 10, 25)
    assert "2026-03-29 02:00" not in series.buckets("hour", (spring, spring), "Europe/Berlin")
    assert len(series.buckets("hour", (spring, spring), "Europe/Berlin")) == 23
    assert len(series.buckets("hour", (autumn, autumn), "Europe/Berlin")) == 24
    marks = series.mark_texts("hour", (autumn, autumn), "Europe/Berlin")
    assert marks == {"2026-10-25 02:00": "2 hours"}
    assert series.mark_texts("day", (spring, autumn), "Europe/Berlin") == {
        "2026-03-29": "23 hours",
        "2026-10-25": "25 hours",
    }


@pytest.mark.parametrize("wrong", ["Europe/Berln", "UTC", "EST", "", "../etc/passwd", "localtime"])
def test_unknown_names(wrong: str) -> None:
    """A name that is no zone of a place is refused with what would be right."""
    with pytest.raises(ValidationError, match=r"Europe/Berlin|did you mean|hours like 2"):
        AudienceQuery.model_validate(WHERE | {"timezone": wrong})


def test_a_service_without_names() -> None:
    """A service that knows whole hours alone is asked for no name, in no verb."""
    plain = Slicer(extensions=("records",))
    zone = WHERE | {"timezone": "Europe/Berlin"}
    for ask in (
        lambda: request_fields(AudienceQuery.model_validate(zone), plain.extensions),
        lambda: check_file(ExportQuery.model_validate(zone | {"export_format": "csv"}), plain.extensions),
        lambda: for_records(RecordsQuery.model_validate(zone), plain),
    ):
        with pytest.raises(BadRequest, match=NO_ZONES):
            ask()
