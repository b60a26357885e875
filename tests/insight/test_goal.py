"""What a guaranteed deal delivered of its goal: by hand, on made days."""

import datetime as dt
from decimal import Decimal

import pandas as pd
import pytest

from lib.deals.models import DemandDeal, Seat, SupplyPackage
from lib.insight.deal_report import DealReport
from lib.insight.goal import GoalDelivery, goal_deliveries
from lib.reporting.answers import Audience, Total
from lib.reporting.models import AudienceQuery
from lib.slicers.dates import date_range
from lib.slicers.models import DataField, KeyField, Slicer

DAY = dt.timedelta(days=1)
LAST = dt.date(2026, 11, 21)
MIDNIGHT = dt.datetime(2026, 11, 22, tzinfo=dt.UTC)
SLICER = Slicer(
    key_fields=(KeyField(name="deal"), KeyField(name="granularity_day")),
    data_fields=(DataField(name="imps"),),
    first_date="2026-01-01",
    last_date=LAST.isoformat(),
)


def goal_of(days_ago: float, days: float | None, units: int | None = 3_000) -> GoalDelivery | None:
    """That of a deal that began so many days before the end of the report, for so many days; it had 100
    impressions on each day until seven days ago, and 30 on each since."""

    def ask(query: AudienceQuery) -> Audience:
        first, last = date_range(query.start_date, query.end_date, LAST + DAY)
        every = [first + place * DAY for place in range((last - first).days + 1)]
        values = [100.0 if day <= LAST - 7 * DAY else 30.0 for day in every]
        names = [day.isoformat() for day in every]
        frame = pd.DataFrame({"imps": values})
        total = Total({"imps": sum(values)}, len(names), tuple(names))
        return Audience(pd.DataFrame({"deal": "7", "granularity_day": names}), frame, frame, total)

    report = DealReport("demo", "sold", SLICER, LAST + DAY, ask)
    start = MIDNIGHT - days_ago * DAY
    package = SupplyPackage(id=1, start_date=start, end_date=None if days is None else start + days * DAY)
    deal = DemandDeal(id=7, units=None if units is None else Decimal(units))
    return goal_deliveries(report, [deal], lambda _: [package]).get(7)


def test_to_date_expected_and_projected() -> None:
    """Ten days of thirty: three of 100 and seven of 30; a third of the goal is expected; twenty days like the
    last seven follow, each of which needs more."""
    goal = goal_of(10, 30)
    assert goal is not None
    assert (goal.to_date, goal.expected, goal.days_left) == (510, pytest.approx(1_000), pytest.approx(20))
    assert goal.projection == pytest.approx(510 + 20 * 30)
    assert goal.daily_need == pytest.approx((3_000 - 510) / 20)
    assert [*goal.delivered[:4]] == [100, 200, 300, 330]
    assert [*goal.even[:2]] == [pytest.approx(100), pytest.approx(200)]
    text = goal.sentence(lambda value: f"{value:.1f}")
    assert text == ("Each of the 20 days left needs 124.5 to meet the goal; the last 7 days had 30.0 a day.")


def test_a_booking_that_has_ended() -> None:
    """It is held against the whole goal, counts its own days alone, and needs nothing more."""
    goal = goal_of(12, 5)
    assert goal is not None
    assert (goal.to_date, goal.expected, goal.projection, goal.daily_need) == (500, 3_000, 500, None)


@pytest.mark.parametrize(
    ("days_ago", "days", "units"),
    [
        pytest.param(10, 30, None, id="no guarantee"),
        pytest.param(10, None, 3_000, id="no end"),
        pytest.param(-1, 30, 3_000, id="not begun"),
    ],
)
def test_without_a_goal(days_ago: float, days: float | None, units: int | None) -> None:
    """There is nothing to say without a guarantee, an end, or a complete day."""
    assert goal_of(days_ago, days, units) is None


def test_several_deals_are_read_by_one_question() -> None:
    """Each has the figures of its own rows since its start at its seat; another seat, a day
    before the start and a deal without a goal count nothing."""
    seat = "buyer.seat"
    slicer = SLICER.model_copy(update={"key_fields": (*SLICER.key_fields, KeyField(name=seat, role="seat"))})
    rows = [  # deal, seat, days before the end of the report, impressions
        ("7", "3", 0, 10.0), ("7", "3", 1, 20.0), ("7", "3", 5, 400.0), ("7", "4", 0, 800.0),
        ("8", "4", 0, 1.0), ("8", "4", 5, 2.0), ("9", "4", 0, 9.0),
    ]  # fmt: skip
    queries: list[AudienceQuery] = []

    def ask(query: AudienceQuery) -> Audience:
        queries.append(query)
        names = pd.DataFrame(
            {"deal": deal, seat: number, "granularity_day": (LAST - ago * DAY).isoformat()}
            for deal, number, ago, _ in rows
        )
        frame = pd.DataFrame({"imps": [value for *_, value in rows]})
        return Audience(names, frame, frame, Total({"imps": 1_242.0}, len(rows), ()))

    report = DealReport("demo", "sold", slicer, LAST + DAY, ask)
    deals = [
        DemandDeal(id=number, seat=Seat(id=of), units=units and Decimal(units))
        for number, of, units in ((7, 3, 100), (8, 4, 200), (9, 4, None))
    ]
    starts = {7: 2, 8: 6, 9: 6}

    def packages_of(deal: DemandDeal) -> list[SupplyPackage]:
        start = MIDNIGHT - starts[deal.id or 0] * DAY
        return [SupplyPackage(id=deal.id, start_date=start, end_date=start + 8 * DAY)]

    goals = goal_deliveries(report, deals, packages_of)
    assert len(queries) == 1
    assert {number: (goal.to_date, goal.expected, goal.days_left) for number, goal in goals.items()} == {
        7: (30, pytest.approx(25), pytest.approx(6)), 8: (3, pytest.approx(150), pytest.approx(2)),
    }  # fmt: skip
