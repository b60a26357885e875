"""Dates of a question as calendar days: what they mean at one time, whenever it is asked."""

from datetime import UTC, datetime

import pytest

from lib.figures.query import state
from lib.slicers.models import Slicer

SLICER = Slicer(first_date="2026-03-01", last_date="2026-11-26", timezone=0, supports_timezone=1)
EVENING = datetime(2026, 11, 26, 22, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("params", "days"),
    [
        ({"start": "-7d", "end": "yesterday"}, {"start": "2026-11-19", "end": "2026-11-25"}),
        ({"start": "-7d", "end": "yesterday", "tz": "2"}, {"start": "2026-11-20", "end": "2026-11-26"}),
        (
            {"start": "-0m_first", "end": "today"},
            {"start": "2026-11-01", "end": "2026-11-26", "compare": "2026-10-01~2026-10-26"},
        ),
        ({"start": "-1w_first", "end": "-1w_last"}, {"start": "2026-11-16", "end": "2026-11-22"}),
        ({"start": "first", "end": "last"}, {"start": "2026-03-01", "end": "2026-11-26"}),
        (
            {"start": "-7d", "end": "yesterday", "compare": "-30d~-24d", "also": "-60d~-54d"},
            {
                "start": "2026-11-19", "end": "2026-11-25", "compare": "2026-10-27~2026-11-02",
                "also": "2026-09-27~2026-10-03",
            },
        ),
        (
            {"start": "2026-11-20", "end": "2026-11-21", "zoom": "-7d~yesterday"},
            {"start": "2026-11-20", "end": "2026-11-21", "zoom": "2026-11-19~2026-11-25"},
        ),
        (
            {"start": "2026-11-20", "end": "2026-11-21", "compare": "weekdays"},
            {"start": "2026-11-20", "end": "2026-11-21", "compare": "weekdays"},
        ),
    ],
)  # fmt: skip
def test_dates_become_the_days_that_they_mean_then(params: dict[str, str], days: dict[str, str]) -> None:
    """Names of days, in the question's time zone, those of data, those compared, and those before a zoom."""
    fixed = state.fixed_days(params, SLICER, "demo", "delivery", EVENING)
    assert fixed == {**params, **days}
    later = datetime(2027, 5, 1, tzinfo=UTC)
    assert state.fixed_days(fixed, SLICER, "demo", "delivery", later) == fixed


def test_days_by_name_are_those_of_the_reader() -> None:
    """In Auckland, ahead of the data's clock, yesterday is over and of that zone; what names a zone, or is of
    daily data or fixed dates, stays as it is."""
    yesterday, zone = {"start": "yesterday", "end": "yesterday"}, "Pacific/Auckland"
    slicer = SLICER.model_copy(update={"extensions": ("time_zones",)})
    daily = slicer.model_copy(update={"supports_timezone": 0})
    for about, params, days, added in (
        (slicer, yesterday, "2026-11-26", {"tz": zone}),
        (slicer, yesterday | {"tz": "-2"}, "2026-11-25", {}),
        (daily, yesterday, "2026-11-25", {}),
        (slicer, {"start": "2026-11-20", "end": "2026-11-20"}, "2026-11-20", {}),
    ):
        fixed = state.fixed_days(params, about, "demo", "delivery", EVENING, zone)
        assert fixed == {**params, "start": days, "end": days, **added}
