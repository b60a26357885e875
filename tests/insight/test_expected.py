"""What a proposed targeting is expected to have: its first week, a range, and what came of it."""

import datetime as dt
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from conftest import LAST_DAY
from inventory import DEFINITION, NAME, PROJECT, embedded, slicer

from lib.deals.models import GeoTarget, Targeting
from lib.insight import expected
from lib.insight.deal_report import DealReport
from lib.serving.connect import Clients

DAYS, LEVEL, ONE = 126, 100, dt.timedelta(days=1)
US = Targeting(geo_targetings=(GeoTarget(type="country", value="US"),))
CITY = Targeting(geo_targetings=(GeoTarget(type="city", value="Lyon"),))


@pytest.fixture
def of(own_home: Path) -> Clients:
    """126 days with about 100 bids a day in the US, and ten times as many in Germany."""
    draw = np.random.default_rng(3)
    first = dt.datetime.combine(LAST_DAY - (DAYS - 1) * ONE, dt.time(), dt.UTC)
    times = [first + number * ONE for number in range(DAYS) for _ in range(2)]
    level = np.tile([LEVEL, 10 * LEVEL], DAYS) * draw.normal(1, 0.05, 2 * DAYS)
    columns = {
        "time": times,
        "country": ["US", "DE"] * DAYS,
        "region": ["Somewhere"] * len(times),
        "browser": ["Chrome"] * len(times),
        "requested_sizes": [["300x250"]] * len(times),
        "media_type": ["banner"] * len(times),
        "bids": level.round(),
    }
    return embedded(own_home, pa.table(columns, schema=DEFINITION.schema()))


def report(of: Clients) -> DealReport:
    """The slicer, asked through its client."""
    info = slicer(of)
    return DealReport(PROJECT, NAME, info, LAST_DAY + ONE, partial(of.reporting.audience, slicer=info))


def test_the_first_week_has_a_range_about_its_level(of: Clients) -> None:
    """Seven days of about 100 bids of the targeting alone, of the days from the booked start on."""
    start = dt.datetime.combine(LAST_DAY + 3 * ONE, dt.time(), dt.UTC)
    of_us = expected.of_targeting(report(of), US, {}, "banner", (start, None))
    assert of_us is not None
    assert (of_us["first_day"], of_us["last_day"]) == (
        start.date().isoformat(),
        (start.date() + 6 * ONE).isoformat(),
    )
    assert 0.8 * 7 * LEVEL < of_us["low"] < 7 * LEVEL < of_us["high"] < 1.2 * 7 * LEVEL


def test_it_says_how_often_such_a_range_held(of: Clients) -> None:
    """In how many of the past weeks that it was tested on; a day farther ahead there is a period less, what
    came of one is known a day later, and one more must be known for a range: three tests fewer."""
    start = dt.datetime.combine(LAST_DAY + ONE, dt.time(), dt.UTC)
    tests = []
    for later in (0, 1):
        of_us = expected.of_targeting(report(of), US, {}, "banner", (start + later * ONE, None)) or {}
        assert 0.8 * of_us["past_periods_tested"] < of_us["range_held"] <= of_us["past_periods_tested"]
        tests.append(of_us["past_periods_tested"])
    assert tests[0] - tests[1] == 3


def test_no_estimate_where_the_report_can_not_say_it(of: Clients) -> None:
    """Without a start, after its end, and for a targeting that the slicer has no key field for."""
    start = dt.datetime.combine(LAST_DAY + ONE, dt.time(), dt.UTC)
    assert expected.of_targeting(report(of), US, {}, "banner", (None, None)) is None
    assert expected.of_targeting(report(of), US, {}, "banner", (start - 9 * ONE, start - 8 * ONE)) is None
    assert expected.of_targeting(report(of), CITY, {}, "banner", (start, None)) is None


def test_the_first_week_ends_with_the_booking() -> None:
    """An end at midnight is the end of the day before; days that have passed are not counted."""
    today = dt.date(2026, 12, 3)
    start, end = dt.datetime(2026, 12, 1, tzinfo=dt.UTC), dt.datetime(2026, 12, 6, tzinfo=dt.UTC)
    assert expected.first_week((start, end), today, 0) == (today, dt.date(2026, 12, 5))
    assert expected.first_week((start, None), today, 0) == (today, dt.date(2026, 12, 9))
