"""Days by name: what a link, an alert and a request of the API make of them, on the day they are opened."""

from datetime import date, timedelta

import pandas as pd
import pytest

from lib.reporting import links, named_days, watched
from lib.reporting.models import AudienceQuery
from lib.slicers import dates
from lib.slicers.models import KeyField, Slicer
from lib.wire.errors import BadRequest

SLICER = Slicer(
    first_date="2024-01-01",
    last_date="2030-01-01",
    timezone=0,
    key_fields=(KeyField(name="site", description="Site"),),
)
NAMES = {
    "this week": ("-0w_first", "today", "W", 0),
    "week to date": ("-0w_first", "yesterday", "W", 0),
    "last week": ("-1w_first", "-1w_last", "W", 1),
    "last 8 weeks": ("-8w_first", "-1w_last", "W", 8),
    "quarter to date": ("-0q_first", "yesterday", "Q", 0),
    "last quarter": ("-1q_first", "-1q_last", "Q", 1),
    "month to date": ("-0m_first", "yesterday", "M", 0),
}


def expected_days(start: str, end: str, unit: str, count: int, today: date) -> tuple[date, date]:
    """What pandas says that a name means; to date, on a first day, is the unit before."""
    this = pd.Period(today, unit)
    first = (this - count).start_time.date()
    if end == "today":
        return first, today
    if end == "yesterday":
        before = (this - 1).start_time.date()
        return first if first < today else before, today - timedelta(days=1)
    return first, (this - 1).end_time.date()


@pytest.mark.parametrize("name", NAMES)
def test_a_link_alert_and_request_mean_the_days_of_when_they_are_opened(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link made once keeps the name; on every later day all that reads it is about the days of then."""
    start, end, unit, count = NAMES[name]
    params = {"start": start, "end": end}
    for today in pd.date_range("2026-11-20", "2027-02-20", freq="D").date:
        monkeypatch.setattr(dates, "today", lambda timezone, today=today: today)
        read = links.from_params(params, SLICER, "demo", "delivery")
        assert not read.left_out
        assert links.to_params(read.query).items() >= params.items()
        first, last = expected_days(start, end, unit, count, today)
        assert named_days.days_of(read.query, SLICER) == (first, last)
        complete = min(last, today - timedelta(days=1))
        if first <= complete:
            assert watched.complete_days(read.query, SLICER) == (first, complete)
        sent = named_days.for_api(read.query, SLICER)
        assert dates.date_range(sent.start_date, sent.end_date, today) == (first, last)


def test_a_name_is_of_the_zone_of_its_query(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is Monday already, last week is the one that ended yesterday."""
    monday = date(2026, 11, 23)
    monkeypatch.setattr(dates, "today", lambda timezone: monday - timedelta(days=timezone < 9))
    query = AudienceQuery(
        project_name="demo", slicer_name="delivery", start_date="-1w_first", end_date="-1w_last"
    )
    tokyo = query.model_copy(update={"timezone": 9})
    assert named_days.days_of(query, SLICER)[1] == date(2026, 11, 15)
    assert named_days.days_of(tokyo, SLICER)[1] == date(2026, 11, 22)


@pytest.mark.parametrize(("start", "end"), [("-9999q_first", "today"), ("first", "last")])
def test_a_name_without_days_is_an_error(start: str, end: str) -> None:
    """Weeks before the year 1, and all days of a slicer without data, are named as what can't be read."""
    with pytest.raises(BadRequest):
        named_days.resolve(start, end, date(2026, 11, 26), Slicer())
