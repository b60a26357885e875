"""What came of forecasts, against plain pandas on the same rows."""

import datetime as dt
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from conftest import LAST_DAY
from dealing import SOLD, clients, sold_rows

from lib.insight.conformal import Span
from lib.insight.outcomes import NO_WINS, Subject, booked_days, outcomes, to_keep
from lib.reporting.models import Filter, InfoQuery
from lib.settings import Settings

ONE = dt.timedelta(days=1)
WEEK = (LAST_DAY - 8 * ONE, LAST_DAY - 2 * ONE)
ONLY_US = Filter(name="geo.country", value=("US",), match="equals")
SUBJECT = Subject("demo", SOLD, "bids", (ONLY_US,))


@pytest.fixture
def ask(deals_home: Path):
    """What came of a subject in periods, from the slicer of the deals."""
    reporting = clients(Settings(home=deals_home, demo=True)).reporting
    slicer = reporting.info(InfoQuery(project_name="demo", slicer_name=SOLD))
    return lambda subject, *periods: outcomes(
        subject, slicer, partial(reporting.audience, slicer=slicer), periods
    )


def rows():
    """The rows of the slicer, with their days."""
    frame = sold_rows().to_pandas()
    return frame.assign(day=frame["time"].dt.date)


def within(frame, days):
    """Those of these days in the US."""
    return frame[(frame["day"] >= days[0]) & (frame["day"] <= days[1]) & (frame["geo.country"] == "US")]


def test_a_sum_is_that_of_the_rows(ask) -> None:
    """Of each period by the same filters, all by one question; of a day in part that part counts."""
    later = (LAST_DAY - 3 * ONE, LAST_DAY)
    assert ask(SUBJECT, WEEK, later) == pytest.approx(
        [within(rows(), days)["bids"].sum() for days in (WEEK, later)]
    )
    by_day = within(rows(), WEEK).groupby("day")["bids"].sum()
    shares = np.array([0.25, 1, 1, 1, 1, 1, 0.5])
    (part,) = ask(replace(SUBJECT, parts=(0.25, 0.5)), WEEK)
    assert part == pytest.approx(float((by_day.to_numpy() * shares).sum()))


def test_a_price_is_the_median_of_the_wins(ask) -> None:
    """Of the averages by site and day, weighted by impressions."""
    groups = within(rows(), WEEK).groupby(["site_domain", "day"])[["imps", "spend"]].sum()
    groups = groups.assign(cpm=1000 * groups["spend"] / groups["imps"]).sort_values("cpm")
    reached = groups["imps"].cumsum() >= groups["imps"].sum() / 2
    price = replace(SUBJECT, field="win_cpm", is_price=True)
    assert ask(price, WEEK) == pytest.approx([float(groups["cpm"][reached].iloc[0])])
    nobody = replace(price, filters=(Filter(name="geo.country", value=("XX",), match="equals"),))
    assert ask(nobody, WEEK) == [NO_WINS]


def test_what_can_not_be_said_says_why(ask) -> None:
    """A field and a key field that are gone, days without data, and seats that the slicer can't tell."""
    assert ask(replace(SUBJECT, field="clicks"), WEEK) == ["The slicer has no data field 'clicks' any more"]
    (gone,) = ask(replace(SUBJECT, filters=(Filter(name="city", value=("Lyon",), match="equals"),)), WEEK)
    assert "city" in gone
    ahead = (LAST_DAY, LAST_DAY + ONE)
    assert ask(SUBJECT, ahead) == [f"The report has no data for {LAST_DAY + ONE:%-d %b %Y}"]
    stored = {"filters": [], "prices": [{"seat": 3, "amount": "2.5", "fixed": False}]}
    (seats,) = ask(Subject.read("demo", SOLD, "imps", stored), WEEK)
    assert "seats" in seats


@pytest.mark.parametrize(
    "subject", [SUBJECT, replace(SUBJECT, is_price=True), replace(SUBJECT, parts=(0.5, 1.0))]
)
def test_a_subject_is_stored_whole(subject: Subject) -> None:
    """What is read from its document is the same."""
    assert Subject.read("demo", SOLD, "bids", subject.document) == subject


def test_the_days_of_a_booked_period() -> None:
    """In the slicer's zone, with the parts of the first and the last day."""
    start = dt.datetime(2026, 12, 1, 18, tzinfo=dt.UTC)
    assert booked_days(start, start + 2 * ONE, 0) == (
        (dt.date(2026, 12, 1), dt.date(2026, 12, 3)),
        (0.25, 0.75),
    )
    assert booked_days(start, start + ONE / 4, 6) == ((dt.date(2026, 12, 2),) * 2, (0.25, 1.0))
    midnight = dt.datetime(2026, 12, 1, tzinfo=dt.UTC)
    assert booked_days(midnight, midnight + 7 * ONE, 0) == (
        (dt.date(2026, 12, 1), dt.date(2026, 12, 7)),
        (1, 1),
    )


def test_only_forecasts_of_days_to_come_are_added() -> None:
    """With the range as shown and as made; none without a range, or of days that are known."""
    span = Span(100, 50, 200)
    (new,) = to_keep("targeting", SUBJECT, WEEK, WEEK[0] - ONE, span, 2.0)
    assert (new.low, new.high, new.raw_low, new.raw_high, new.scale) == (25, 400, 50, 200, 2)
    assert to_keep("targeting", SUBJECT, WEEK, WEEK[0], span, 1.0) == []
    assert to_keep("targeting", SUBJECT, WEEK, WEEK[0] - ONE, None, 1.0) == []
