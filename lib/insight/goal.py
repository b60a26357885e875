"""What a guaranteed deal delivered of its impressions: to date, expected by now, and projected to its end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone

import numpy as np

from lib.deals.models import DemandDeal, SupplyPackage
from lib.insight.deal_report import DealReport
from lib.insight.discrepancy import Numbers
from lib.insight.dossier import own_rows
from lib.reporting.answers import DayFigure
from lib.slicers.granularities import time_key_field
from lib.slicers.roles import IMPRESSIONS, field_of

DAY, ONE, LATELY = time_key_field("day"), timedelta(days=1), 7


@dataclass(frozen=True)
class GoalDelivery:
    """The impressions of a deal on the complete days of its booking, added up by day, and `even`: what they
    would be by then if the goal were met evenly. `field` is the report's; `days_left` are until the end.

    `is_exact`: every record was read. Days without data count nothing.
    """

    field: str
    goal: float
    days: tuple[date, ...]
    delivered: Numbers
    even: Numbers
    days_left: float
    is_exact: bool

    @property
    def to_date(self) -> float:
        return float(self.delivered[-1])

    @property
    def expected(self) -> float:
        """By the last complete day, if the goal is met evenly."""
        return float(self.even[-1])

    @property
    def daily(self) -> float:
        """The mean of the last seven days, or of as many as there are."""
        last = self.delivered[-1 - LATELY] if len(self.delivered) > LATELY else 0.0
        return (self.to_date - float(last)) / min(LATELY, len(self.delivered))

    @property
    def daily_need(self) -> float | None:
        """What each of the days left has to have, evenly, to meet the goal; None after the end."""
        return max(self.goal - self.to_date, 0.0) / self.days_left if self.days_left else None

    @property
    def projection(self) -> float:
        """In all by the end, if the days left are like the last seven."""
        return self.to_date + self.daily * self.days_left

    def sentence(self, write: Callable[[float], str]) -> str:
        """What the days left need and what the last had, with figures as `write` has them."""
        if self.daily_need is None:
            return "The booking has ended."
        lately = min(LATELY, len(self.days))
        days = "day" if lately == 1 else f"{lately} days"
        return (
            f"Each of the {self.days_left:.0f} days left needs {write(self.daily_need)} to meet the goal; "
            f"the last {days} had {write(self.daily)} a day."
        )


def goal_delivery(
    report: DealReport, deal: DemandDeal, packages: Sequence[SupplyPackage]
) -> GoalDelivery | None:
    """That of a deal with guaranteed impressions, from the first start to the last end of its `packages`.

    None without such impressions, without an end, before the first complete day, and where the report has no
    impressions by day. Raises why the report can't be read.
    """
    field = field_of(report.slicer, IMPRESSIONS)
    starts, ends = [package.start_date for package in packages], [package.end_date for package in packages]
    has_days = DAY in {key.name for key in report.slicer.key_fields}
    if deal.units is None or field is None or not has_days or not packages or None in starts or None in ends:
        return None
    zone = timezone(timedelta(hours=report.slicer.timezone))
    start, end = min(filter(None, starts)).astimezone(zone), max(filter(None, ends)).astimezone(zone)
    first, last = start.date(), min(report.period(1)[1], (end - timedelta(microseconds=1)).date())
    if last < first:
        return None
    length = (report.period(1)[1] - first).days + 1
    query = report.query(length, filters=own_rows(report, deal), data_fields=(field.name,), split_by=(DAY,))
    answer = report.ask(query)
    is_exact = answer.total_of(field.name).is_exact
    return of_days(
        field.name, float(deal.units), (start, end), answer.by_day(field.name, (first, last)), is_exact
    )


def of_days(
    field: str, goal: float, booking: tuple[datetime, datetime], daily: Sequence[DayFigure], is_exact: bool
) -> GoalDelivery:
    """The same from the figures of the days since the start, in the zone of the booking's start."""
    start, end = booking
    zone = start.tzinfo
    ends = [min(datetime.combine(figure.day + ONE, time(), zone), end) for figure in daily]
    parts = np.array([max((until - start) / (end - start), 0.0) for until in ends])
    values = np.array([figure.figure.value or 0.0 for figure in daily], dtype=np.float64)
    return GoalDelivery(
        field, goal, tuple(figure.day for figure in daily), np.cumsum(values), goal * parts,
        max((end - ends[-1]) / ONE, 0.0), is_exact,
    )  # fmt: skip
