"""What wins cost in a targeting, for one seat or for all: quartiles of the win CPM, and the win rate.

Groups are a site on a day where the slicer can tell sites, else a deal, else a day (see win_prices.py).
"""

from dataclasses import dataclass
from decimal import Decimal

from lib.insight import win_prices
from lib.insight.estimate import WIN_RATE, field_of
from lib.insight.kinds import KINDS, key_field
from lib.insight.win_prices import WinFields, WinPrices
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery, Filter, Slicer

SEAT, DEAL, PACKAGE = "seat", "deal", "supply_package"


@dataclass(frozen=True)
class SeatPrices:
    """What was won: None where nothing was. The win rate is the service's own; None where it has none."""

    won: WinPrices | None
    win_rate: float | None


def tells_seats(slicer: Slicer) -> bool:
    """Whether its values of the key field `seat` are the ids of seats, as those of its deals are of deals."""
    return {SEAT, DEAL, PACKAGE} <= {field.name for field in slicer.key_fields}


def question(
    base: AudienceQuery, slicer: Slicer, fields: WinFields, seat: int | None, without: int | None = None
) -> AudienceQuery:
    """The question about a seat (its id), or about all; `base` has the days and filters of the targeting.

    The deal `without` is left out: its own wins say nothing of its price.
    """
    grouped = base.model_copy(update={"split_by": price_groups(slicer)})
    query = win_prices.win_question(grouped, slicer, fields)
    rate = field_of(slicer, WIN_RATE)
    filters = query.filters
    if seat is not None:
        filters = (*filters, Filter(name=SEAT, value=(str(seat),), match="equals"))
    if without is not None and DEAL in {field.name for field in slicer.key_fields}:
        filters = (*filters, Filter(name=DEAL, value=(str(without),), match="not equals"))
    data = (*(query.data_fields or ()), *(() if rate is None else (rate.name,)))
    return query.model_copy(update={"filters": filters, "data_fields": data})


def seat_prices(answer: Audience, slicer: Slicer, fields: WinFields) -> SeatPrices:
    """What an answer to `question` says."""
    rate = field_of(slicer, WIN_RATE)
    value = None if rate is None else answer.total.values.get(rate.name)
    return SeatPrices(win_prices.win_prices(answer, fields), value)


def standing(price: Decimal, won: WinPrices) -> str:
    """How many of these wins a floor at this price lets through: those that cost as much or more."""
    value = float(price)
    if value <= won.low:
        return "at least three quarters of these wins"
    if value <= won.median:
        return "half to three quarters of these wins"
    if value <= won.high:
        return "a quarter to a half of these wins"
    return "less than a quarter of these wins"


def price_groups(slicer: Slicer) -> tuple[str, ...]:
    """The key field whose values are the groups, if any."""
    site = next(key_field(kind, slicer) for kind in KINDS if kind.name == "domain_list")
    if site is not None and not site.is_segmented:
        return (site.name,)
    return tuple(field.name for field in slicer.key_fields if field.name == DEAL)
