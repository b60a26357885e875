"""Named periods, and the same part of the period before: worked out by hand with a calendar."""

from datetime import date, datetime

import pytest

from lib.figures.query import periods
from lib.figures.query.periods import PREVIOUS, Comparison
from lib.reporting import named_days
from lib.slicers import dates
from lib.slicers.models import Slicer
from lib.slicers.zones import Zone

WTD, TW, LW = ("-0w_first", "yesterday"), ("-0w_first", "today"), ("-1w_first", "-1w_last")
MTD, TM, LM = ("-0m_first", "yesterday"), ("-0m_first", "today"), ("-1m_first", "-1m_last")
QTD, TQ, LQ = ("-0q_first", "yesterday"), ("-0q_first", "today"), ("-1q_first", "-1q_last")
L3M, L7, L30, YD = ("-3m_first", "-1m_last"), ("-7d", "yesterday"), ("-30d", "yesterday"), ("yesterday",) * 2
ROWS = [
    (WTD, "2026-11-28", "2026-11-23", "2026-11-27", "2026-11-16", "2026-11-20"),
    (WTD, "2026-11-24", "2026-11-23", "2026-11-23", "2026-11-16", "2026-11-16"),
    (WTD, "2026-11-23", "2026-11-16", "2026-11-22", "2026-11-09", "2026-11-15"),
    (WTD, "2027-01-02", "2026-12-28", "2027-01-01", "2026-12-21", "2026-12-25"),
    (TW, "2026-11-28", "2026-11-23", "2026-11-28", "2026-11-16", "2026-11-21"),
    (LW, "2026-11-28", "2026-11-16", "2026-11-22", "2026-11-09", "2026-11-15"),
    (LW, "2026-01-05", "2025-12-29", "2026-01-04", "2025-12-22", "2025-12-28"),
    (MTD, "2026-11-28", "2026-11-01", "2026-11-27", "2026-10-01", "2026-10-27"),
    (MTD, "2026-11-02", "2026-11-01", "2026-11-01", "2026-10-01", "2026-10-01"),
    (MTD, "2026-11-01", "2026-10-01", "2026-10-31", "2026-09-01", "2026-09-30"),
    (MTD, "2026-12-01", "2026-11-01", "2026-11-30", "2026-10-01", "2026-10-31"),
    (MTD, "2026-03-31", "2026-03-01", "2026-03-30", "2026-02-01", "2026-02-28"),
    (MTD, "2024-03-30", "2024-03-01", "2024-03-29", "2024-02-01", "2024-02-29"),
    (MTD, "2026-01-15", "2026-01-01", "2026-01-14", "2025-12-01", "2025-12-14"),
    (MTD, "2024-02-29", "2024-02-01", "2024-02-28", "2024-01-01", "2024-01-28"),
    (TM, "2026-11-28", "2026-11-01", "2026-11-28", "2026-10-01", "2026-10-28"),
    (TM, "2026-02-28", "2026-02-01", "2026-02-28", "2026-01-01", "2026-01-28"),
    (TM, "2026-03-31", "2026-03-01", "2026-03-31", "2026-02-01", "2026-02-28"),
    (LM, "2026-11-28", "2026-10-01", "2026-10-31", "2026-09-01", "2026-09-30"),
    (LM, "2026-03-10", "2026-02-01", "2026-02-28", "2026-01-01", "2026-01-31"),
    (LM, "2024-03-10", "2024-02-01", "2024-02-29", "2024-01-01", "2024-01-31"),
    (LM, "2026-01-01", "2025-12-01", "2025-12-31", "2025-11-01", "2025-11-30"),
    (L3M, "2026-11-28", "2026-08-01", "2026-10-31", "2026-05-01", "2026-07-31"),
    (L3M, "2026-03-01", "2025-12-01", "2026-02-28", "2025-09-01", "2025-11-30"),
    (QTD, "2026-11-28", "2026-10-01", "2026-11-27", "2026-07-01", "2026-08-27"),
    (QTD, "2026-06-01", "2026-04-01", "2026-05-31", "2026-01-01", "2026-02-28"),
    (QTD, "2026-10-01", "2026-07-01", "2026-09-30", "2026-04-01", "2026-06-30"),
    (TQ, "2026-11-28", "2026-10-01", "2026-11-28", "2026-07-01", "2026-08-28"),
    (LQ, "2026-11-28", "2026-07-01", "2026-09-30", "2026-04-01", "2026-06-30"),
    (LQ, "2026-05-05", "2026-01-01", "2026-03-31", "2025-10-01", "2025-12-31"),
    (("-8w_first", "-1w_last"), "2026-11-28", "2026-09-28", "2026-11-22", "2026-08-03", "2026-09-27"),
    (L7, "2026-11-28", "2026-11-21", "2026-11-27", "2026-11-14", "2026-11-20"),
    (L7, "2026-01-03", "2025-12-27", "2026-01-02", "2025-12-20", "2025-12-26"),
    (L30, "2026-11-28", "2026-10-29", "2026-11-27", "2026-09-29", "2026-10-28"),
    (("-27d", "yesterday"), "2026-11-28", "2026-11-01", "2026-11-27", "2026-10-05", "2026-10-31"),
    (("2026-11-01", "2026-11-27"), "2026-11-28", "2026-11-01", "2026-11-27", "2026-10-05", "2026-10-31"),
    (YD, "2026-11-28", "2026-11-27", "2026-11-27", "2026-11-26", "2026-11-26"),
    (YD, "2026-03-01", "2026-02-28", "2026-02-28", "2026-02-27", "2026-02-27"),
    (YD, "2024-03-01", "2024-02-29", "2024-02-29", "2024-02-28", "2024-02-28"),
    (("today", "today"), "2026-11-28", "2026-11-28", "2026-11-28", "2026-11-27", "2026-11-27"),
]


@pytest.mark.parametrize(("names", "today", "first", "last", "before_first", "before_last"), ROWS)
def test_the_part_before(
    names: tuple[str, str], today: str, first: str, last: str, before_first: str, before_last: str
) -> None:
    """A period by name on a date of the clock, and the days that its figures are set against."""
    day = date.fromisoformat(today)
    period = named_days.resolve(*names, day, Slicer())
    assert tuple(map(str, period)) == (first, last)
    assert tuple(map(str, named_days.part_before(names[0], period, day, Slicer()).days)) == (
        before_first,
        before_last,
    )


NEAR_MIDNIGHT = [
    (WTD, "2026-11-29T11:30", "Pacific/Auckland", "2026-11-23", "2026-11-29", "2026-11-16", "2026-11-22"),
    (WTD, "2026-11-29T10:30", "Pacific/Auckland", "2026-11-23", "2026-11-28", "2026-11-16", "2026-11-21"),
    (WTD, "2026-11-29T11:30", 0, "2026-11-23", "2026-11-28", "2026-11-16", "2026-11-21"),
    (MTD, "2026-12-01T04:30", "America/New_York", "2026-11-01", "2026-11-29", "2026-10-01", "2026-10-29"),
    (MTD, "2026-12-01T05:30", "America/New_York", "2026-11-01", "2026-11-30", "2026-10-01", "2026-10-31"),
    (MTD, "2026-12-01T04:30", 0, "2026-11-01", "2026-11-30", "2026-10-01", "2026-10-31"),
    (QTD, "2026-09-30T23:59", 0, "2026-07-01", "2026-09-29", "2026-04-01", "2026-06-29"),
    (QTD, "2026-09-30T23:59", 1, "2026-07-01", "2026-09-30", "2026-04-01", "2026-06-30"),
    (LM, "2026-03-01T02:00", -5, "2026-01-01", "2026-01-31", "2025-12-01", "2025-12-31"),
    (LM, "2026-03-01T06:00", -5, "2026-02-01", "2026-02-28", "2026-01-01", "2026-01-31"),
    (TM, "2024-02-29T23:30", "Europe/Berlin", "2024-03-01", "2024-03-01", "2024-02-01", "2024-02-01"),
    (YD, "2026-03-29T00:30", "Europe/Berlin", "2026-03-28", "2026-03-28", "2026-03-27", "2026-03-27"),
]


@pytest.mark.parametrize(
    ("names", "at", "zone", "first", "last", "before_first", "before_last"), NEAR_MIDNIGHT
)
def test_near_midnight_the_zone_says_which_day_it_is(
    names: tuple[str, str], at: str, zone: Zone, first: str, last: str, before_first: str, before_last: str
) -> None:
    """Both sides of a period by name are those of the day that it is in the question's zone."""
    day = dates.today(zone, datetime.fromisoformat(f"{at}+00:00"))
    period = named_days.resolve(*names, day, Slicer())
    assert tuple(map(str, period)) == (first, last)
    assert tuple(map(str, named_days.part_before(names[0], period, day, Slicer()).days)) == (
        before_first,
        before_last,
    )


LATE = [
    (MTD, "2026-11-28", "2026-11-20", "2026-11-01", "2026-11-20", "2026-10-01", "2026-10-20"),
    (LM, "2026-11-03", "2026-10-20", "2026-10-01", "2026-10-20", "2026-09-01", "2026-09-20"),
    (MTD, "2026-03-31", "2026-03-25", "2026-03-01", "2026-03-25", "2026-02-01", "2026-02-25"),
    (TM, "2026-11-28", "2026-11-28", "2026-11-01", "2026-11-27", "2026-10-01", "2026-10-27"),
    (TM, "2026-02-28", "2026-02-28", "2026-02-01", "2026-02-27", "2026-01-01", "2026-01-27"),
    (TM, "2026-03-31", "2026-03-31", "2026-03-01", "2026-03-30", "2026-02-01", "2026-02-28"),
    (LW, "2026-11-25", "2026-11-20", "2026-11-16", "2026-11-20", "2026-11-09", "2026-11-13"),
]


@pytest.mark.parametrize(
    ("names", "today", "last_date", "first", "last", "before_first", "before_last"), LATE
)
def test_days_to_come_are_compared_with_nothing(
    names: tuple[str, str],
    today: str,
    last_date: str,
    first: str,
    last: str,
    before_first: str,
    before_last: str,
) -> None:
    """Today, and days whose data are not there yet, are left out of both sides."""
    day, slicer = date.fromisoformat(today), Slicer(first_date="2025-01-01", last_date=last_date)
    period = named_days.resolve(*names, day, slicer)
    _, pair = periods.comparison((PREVIOUS,), period, slicer, day, start=names[0])
    now, before = (
        (date.fromisoformat(start), date.fromisoformat(end))
        for start, end in ((first, last), (before_first, before_last))
    )
    assert pair == Comparison(now, before)


@pytest.mark.parametrize(
    ("names", "today", "name"),
    [
        (WTD, "2026-11-28", "Same part of last week"),
        (WTD, "2026-11-23", "The week before"),
        (MTD, "2026-11-28", "Same part of last month"),
        (TM, "2026-11-30", "Same part of last month"),
        (TQ, "2026-11-30", "Same part of last quarter"),
        (LM, "2026-11-28", "The month before"),
        (L3M, "2026-11-28", "The 3 months before"),
        (L7, "2026-11-28", "Previous period"),
    ],
)
def test_the_part_before_has_a_name(names: tuple[str, str], today: str, name: str) -> None:
    """The picker says what the days before are: the same part of last week, or the month before."""
    day = date.fromisoformat(today)
    period = named_days.resolve(*names, day, Slicer())
    assert named_days.part_before(names[0], period, day, Slicer()).name == name
