"""What a guaranteed deal delivered of its impressions: to date, expected by now, and projected to its end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone

import numpy as np

from lib.deals.models import DemandDeal, SupplyPackage
from lib.deals.negotiation import seat_number
from lib.insight.deal_report import DealReport
from lib.insight.discrepancy import Numbers
from lib.insight.funnel_days import DAY, PATIENCE
from lib.slicers.roles import DEAL, IMPRESSIONS, field_of
from lib.wire.filters import Filter

ONE, LATELY = timedelta(days=1), 7


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

    @property
    def figures(self) -> dict[str, float | None]:
        """The figures by their names in lib/deals/delivery.py."""
        names = "units_to_date", "units_expected", "units_projected"
        return dict(zip(names, (self.to_date, self.expected, self.projection), strict=True))

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


Packages = Sequence[SupplyPackage]


def goal_deliveries(
    report: DealReport, deals: Sequence[DemandDeal], packages_of: Callable[[DemandDeal], Packages]
) -> dict[int, GoalDelivery]:
    """Those of deals with guaranteed impressions by id, from the first start to the last end of a deal's
    packages, at the seat that it has; by one question about all of them.

    None of a deal without such impressions, without an end, or before the first complete day, and none at all
    where the report has no impressions by day. Raises why the report can't be read.
    """
    field, last = field_of(report.slicer, IMPRESSIONS), report.period(1)[1]
    zone = timezone(timedelta(hours=report.slicer.timezone))
    bookings = {
        str(deal.id): (deal, booking[0].astimezone(zone), booking[1].astimezone(zone))
        for deal in deals
        if deal.units is not None and (booking := booking_of(packages_of(deal)))
    }
    bookings = {key: booking for key, booking in bookings.items() if booking[1].date() <= last}
    if field is None or not bookings or DAY not in report.slicer.key_names:
        return {}
    first = min(start.date() for _, start, _ in bookings.values())
    seats = {key: str(seat_number(deal) or "") for key, (deal, *_) in bookings.items()}
    split: tuple[str, ...] = (DEAL, DAY)
    filters = report.only([deal for deal, *_ in bookings.values()])
    if report.slicer.seat_field is not None:
        split += (report.slicer.seat_field,)
        if all(seats.values()):
            filters += (Filter(name=split[-1], value=tuple({*seats.values()}), match="equals"),)
    length = (last - first).days + 1
    changes = {"filters": filters, "data_fields": (field.name,), "split_by": split}
    answer = report.ask(report.query(length, **changes, exact_within=PATIENCE))
    daily = {key: np.zeros(length) for key in bookings}
    names = zip(*(answer.names[name].astype(str) for name in split), strict=True)
    for (key, day, *seat), value in zip(names, answer.values[field.name], strict=True):
        if key in daily and value == value and (not seat or seats[key] in ("", *seat)):
            daily[key][(date.fromisoformat(day[:10]) - first).days] += value
    is_exact = answer.total_of(field.name).is_exact
    return {
        int(key): of_days(field.name, float(deal.units or 0), booking, (first, daily[key]), is_exact)
        for key, (deal, *booking) in bookings.items()
    }


def booking_of(packages: Packages) -> tuple[datetime, datetime] | None:
    """From the packages' first start to their last end; None without both."""
    starts, ends = [package.start_date for package in packages], [package.end_date for package in packages]
    if not packages or None in starts or None in ends:
        return None
    return min(filter(None, starts)), max(filter(None, ends))


def of_days(
    field: str, goal: float, booking: Sequence[datetime], daily: tuple[date, Numbers], is_exact: bool
) -> GoalDelivery:
    """The same from figures by day from a first day on, in the zone of the booking's start."""
    (start, end), (first, values) = booking, daily
    whole = [first + index * ONE for index in range(len(values))]
    days = [day for day in whole if start.date() <= day <= (end - timedelta(microseconds=1)).date()]
    ends = [min(datetime.combine(day + ONE, time(), start.tzinfo), end) for day in days]
    parts = np.array([max((until - start) / (end - start), 0.0) for until in ends])
    index = whole.index(days[0])
    return GoalDelivery(
        field, goal, tuple(days), np.cumsum(values[index : index + len(days)]), goal * parts,
        max((end - ends[-1]) / ONE, 0.0), is_exact,
    )  # fmt: skip
