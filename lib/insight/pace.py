"""What the days of a deal say: its trend, whether something caps it, and whether it ever reached scale.

A cap that no term names shows in its figures: the spend of most days is the highest spend, within CAP_WIDTH,
while the bid requests of these days vary much more. A deal never reached scale if even its best week is below
a settled share of its goal, or of what like deals (of its media type) had in the middle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr

from lib.insight.competition import PortfolioDeal
from lib.reporting import noise

HISTORY, WEEK, RUNNING = 63, 7, 14
CAP_WIDTH, CAP_DAYS, CAP_TIMES = 0.03, 0.6, 3.0
BUDGET_SHARE, SCALE, FEWEST_LIKE, CONFIDENCE = 0.97, 0.2, 8, 0.95
Numbers = npt.NDArray[np.float64]
Range = tuple[float, float]


@dataclass(frozen=True)
class DealDays:
    """A deal's figures per day, the last HISTORY days or fewer, the latest last; NaN: no data of that day.

    `life` are its wins and spend since it began, as far as the report goes back.
    """

    requests: Numbers
    wins: Numbers
    spend: Numbers
    life: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Cap:
    """What caps a deal: its `budget`, its guaranteed `units`, or `daily`, at this amount a day.

    `days` are those since its last win; of a daily cap, those at the cap.
    """

    kind: str
    amount: float
    days: int = 0


@dataclass(frozen=True)
class DealScale:
    """The spend (of a goal: the wins) per day of a deal's best week, and what it is held against.

    `span` is the 95 % range of that; a goal has none.
    """

    best: float
    against: float
    span: Range
    is_goal: bool

    @property
    def is_never(self) -> bool:
        """Whether it never reached scale, by the whole range."""
        return self.best < SCALE * self.span[0]


def trend(series: Numbers) -> float | None:
    """The relative change of the last week to the week before, if it is beyond the noise of earlier weeks."""
    if len(series) < 4 * WEEK or not np.isfinite(series[-2 * WEEK :]).all():
        return None
    sums = np.convolve(np.nan_to_num(series), np.ones(WEEK), "valid")
    with np.errstate(divide="ignore", invalid="ignore"):
        changes = np.log(sums[WEEK:] / sums[:-WEEK])
    weights = [-1 / WEEK] * WEEK + [1 / WEEK] * WEEK
    usual = noise.spread(changes[:-WEEK], weights, noise.persistence(series))
    last = float(changes[-1])
    if usual is None or not np.isfinite(last) or abs(last) <= usual.side(CONFIDENCE):
        return None
    return float(np.expm1(last))


def running_days(days: DealDays) -> int:
    """How many days it has run within the history: from the first with a bid request on."""
    delivery_days = np.flatnonzero(np.nan_to_num(days.requests) > 0)
    return len(days.requests) - int(delivery_days[0]) if len(delivery_days) else 0


def cap(deal: PortfolioDeal, days: DealDays, last: date) -> Cap | None:
    """What caps the deal, if something does; `last` is the last of the days."""
    wins, spend = days.life
    if deal.budget and spend >= BUDGET_SHARE * deal.budget:
        return Cap("budget", deal.budget, _idle_days(days))
    if deal.units and wins >= deal.units and (deal.end is None or deal.end > last):
        return Cap("units", deal.units, _idle_days(days))
    return _daily_cap(days.requests[-4 * WEEK :], days.spend[-4 * WEEK :])


def _idle_days(days: DealDays) -> int:
    """The days since its last win in the history."""
    win_days = np.flatnonzero(np.nan_to_num(days.wins) > 0)
    return len(days.wins) - 1 - int(win_days[-1]) if len(win_days) else len(days.wins)


def _daily_cap(requests: Numbers, spend: Numbers) -> Cap | None:
    is_running = np.isfinite(spend) & (spend > 0) & (np.nan_to_num(requests) > 0)
    if is_running.sum() < RUNNING:
        return None
    requests, spend = requests[is_running], spend[is_running]
    flat = spend >= (1 - CAP_WIDTH) * spend.max()
    if flat.mean() < CAP_DAYS:
        return None
    varies, moves = (float(np.std(of[flat]) / np.mean(of[flat])) for of in (requests, spend))
    return Cap("daily", float(spend.max()), int(flat.sum())) if varies > CAP_TIMES * moves else None


def best_week(series: Numbers) -> float:
    """The mean per day of the best seven days; all of them of fewer."""
    values = np.nan_to_num(series)
    if len(values) < WEEK:
        return float(values.mean()) if len(values) else 0.0
    return float(np.convolve(values, np.ones(WEEK) / WEEK, "valid").max())


def scales(deals: Sequence[PortfolioDeal], days: Mapping[int, DealDays]) -> dict[int, DealScale]:
    """What each deal that runs long enough is held against: its goal, else deals of its media type."""
    weeks = {
        deal.id: best_week(days[deal.id].spend)
        for deal in deals
        if deal.id in days and running_days(days[deal.id]) >= RUNNING
    }
    of_type: dict[str, list[int]] = {}
    for deal in deals:
        if deal.id in weeks:
            of_type.setdefault(deal.media_type, []).append(deal.id)
    spans = {name: _median([weeks[one] for one in ids]) for name, ids in of_type.items()}
    scales_by_deal: dict[int, DealScale] = {}
    for deal in deals:
        if deal.id not in weeks:
            continue
        if deal.units and deal.start and deal.end and deal.end > deal.start:
            pace = deal.units / ((deal.end - deal.start).days or 1)
            scales_by_deal[deal.id] = DealScale(best_week(days[deal.id].wins), pace, (pace, pace), True)
        elif (span := spans[deal.media_type]) is not None:
            scales_by_deal[deal.id] = DealScale(weeks[deal.id], *span, False)
    return scales_by_deal


def _median(values: Sequence[float]) -> tuple[float, Range] | None:
    """The median with its 95 % range, by the order of the values; None of fewer than FEWEST_LIKE."""
    if (count := len(values)) < FEWEST_LIKE:
        return None
    in_order = sorted(values)
    below = bdtr(np.arange(count), count, 0.5)
    place = max(int(np.searchsorted(below, (1 - CONFIDENCE) / 2)) - 1, 0)
    return float(np.median(in_order)), (in_order[place], in_order[count - 1 - place])
