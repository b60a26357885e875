"""What wins cost in a targeting, for one seat or for all: quartiles of the win CPM, and the win rate; and
what seats won per day at or above their prices.

Groups are a site on a day where the slicer can tell sites, else a deal, else a day (see win_prices.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import numpy as np

from lib.deals.models import DemandDeal, Seat
from lib.deals.targeting.kinds import KINDS, key_field
from lib.insight import forecast, win_prices
from lib.insight.deal_report import DealReport
from lib.insight.win_prices import WinFields, WinPrices
from lib.reporting.answers import Audience, DayFigure, Estimate
from lib.reporting.models import AudienceQuery
from lib.reporting.query_batch import Lookup
from lib.slicers.dates import Days
from lib.slicers.models import Slicer
from lib.slicers.roles import DEAL, WIN_RATE, field_of
from lib.wire.filters import Filter

MOST_GROUPS = 50_000


@dataclass(frozen=True)
class SeatPrices:
    """What was won: None where nothing was. The win rate is the service's own; None where it has none."""

    win_prices: WinPrices | None
    win_rate: float | None


def price_query(
    report: DealReport, days: int, fields: WinFields, filters: tuple[Filter, ...]
) -> AudienceQuery:
    """The question for the groups of a price in the last days."""
    query = report.query(days, filters=filters, split_by=price_groups(report.slicer))
    return win_prices.win_question(query, report.slicer, fields)


def prices_query(
    report: DealReport,
    base: AudienceQuery,
    fields: WinFields,
    seat: Seat | None,
    without: DemandDeal | None = None,
) -> AudienceQuery:
    """The question about a seat, or about all; `base` has the days and filters of the targeting."""
    slicer = report.slicer
    by_group = base.model_copy(update={"split_by": price_groups(slicer)})
    query = win_prices.win_question(by_group, slicer, fields)
    rate = field_of(slicer, WIN_RATE)
    filters = query.filters
    if seat is not None:
        filters = (*filters, *report.only([seat]))
    if without is not None and DEAL in slicer.key_names:
        filters = (*filters, report.without(without))
    data = (*(query.data_fields or ()), *(() if rate is None else (rate.name,)))
    return query.model_copy(update={"filters": filters, "data_fields": data})


def lookup(
    report: DealReport,
    fields: WinFields,
    filters: tuple[Filter, ...],
    seats: Sequence[Seat | None],
    days: int,
    without: DemandDeal | None = None,
) -> Lookup[list[SeatPrices]]:
    """What each of these seats won in the last days, None standing for all; `filters` are the targeting.

    The deal `without` is left out: its own wins say nothing of its price.
    """
    base, rate = report.query(days, filters=filters), field_of(report.slicer, WIN_RATE)
    return Lookup(
        [prices_query(report, base, fields, seat, without) for seat in seats],
        lambda answers: [
            SeatPrices(
                win_prices.win_prices(answer, fields),
                None if rate is None else answer.total.values.get(rate.name),
            )
            for answer in answers
        ],
    )


def daily_lookup(
    report: DealReport,
    fields: WinFields,
    filters: tuple[Filter, ...],
    prices: Sequence[tuple[Seat, Decimal | None]],
    days: int,
) -> Lookup[tuple[DayFigure, ...]]:
    """What these seats won on each of the last days at or above their prices by CPM; see `daily_wins`."""
    base, amounts = report.query(days, filters=filters), [price for _, price in prices]
    queries = [prices_query(report, base, fields, seat) for seat, _ in prices]
    return Lookup(
        [query.model_copy(update={"limit": MOST_GROUPS}) for query in queries],
        lambda answers: daily_wins(answers, amounts, fields, report.period(days)),
    )


def daily_wins(
    answers: Sequence[Audience], prices: Sequence[Decimal | None], fields: WinFields, days: Days
) -> tuple[DayFigure, ...]:
    """What these seats won each day at or above their prices, by the averages of groups; all that a seat
    without a price won. Days without data have no figure.

    Of more groups than MOST_GROUPS those with the fewest wins are taken to be like the others.
    """
    with_data = {day for answer in answers for day in answer.total.dates}
    wins_by_day = dict.fromkeys(with_data, 0.0)
    for answer, price in zip(answers, prices, strict=True):
        cpm, wins, _ = fields.read(answer)
        whole = answer.total.values.get(fields.wins) or wins.sum()
        scale = whole / wins.sum() if wins.sum() and answer.total.records_found > len(wins) else 1.0
        reach = np.ones(len(wins), bool) if price is None else cpm >= float(price)
        for day, count in zip(answer.names[forecast.DAY][reach], wins[reach] * scale, strict=True):
            wins_by_day[str(day)[:10]] = wins_by_day.get(str(day)[:10], 0.0) + float(count)
    every = (date.fromordinal(at) for at in range(days[0].toordinal(), days[1].toordinal() + 1))
    return tuple(DayFigure(day, Estimate(wins_by_day.get(day.isoformat()))) for day in every)


def price_groups(slicer: Slicer) -> tuple[str, ...]:
    """The key field whose values are the groups, if any."""
    site = next(key_field(kind, slicer) for kind in KINDS if kind.name == "domain_list")
    if site is not None and not site.is_segmented:
        return (site.name,)
    return tuple(field.name for field in slicer.key_fields if field.name == DEAL)
