"""The inventory that packages share: the bids that satisfy both targetings, and seats with two prices for it.

The filters of two targetings together select what satisfies both, so that each pair is one question. Dates
are left aside: what would be shared if both ran. Where filters leave a part of a targeting out, the figures
are of more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations

from lib.deals.models import DemandDeal
from lib.insight import estimate
from lib.insight.deal_report import DealReport
from lib.reporting.answers import Audience, Estimate
from lib.reporting.query_batch import Lookup
from lib.wire.filters import Filter

DAYS = 30
Filters = tuple[Filter, ...]


@dataclass(frozen=True)
class SharedInventory:
    """What two packages share, by their places: how much, and in percent of what each of them has."""

    first: int
    second: int
    volume: Estimate
    of_first: Estimate
    of_second: Estimate

    @property
    def may_be_any(self) -> bool:
        """Whether something is shared, or may be: a sample can't say that nothing is."""
        return bool(self.volume.value) or not self.volume.is_exact


@dataclass(frozen=True)
class TwoPrices:
    """A seat that is offered the inventory that two packages share at these prices in one currency (None: the
    usual one), the lowest first."""

    pair: SharedInventory
    seat: str
    prices: tuple[Decimal, ...]
    currency: str | None = None


def lookup(
    report: DealReport, packages: Sequence[Filters], field: str
) -> Lookup[tuple[list[Estimate], list[SharedInventory]]]:
    """What packages, each by the filters of its targeting, have and share of what `field` counts lately."""
    queries = [report.query(DAYS, filters=filters, data_fields=(field,)) for filters in questions(packages)]
    return Lookup(queries, lambda answers: overlaps(answers, len(packages), field))


def questions(packages: Sequence[Filters]) -> list[Filters]:
    """The filters to ask for: those of each package, then those of each pair."""
    pairs = [tuple(dict.fromkeys((*first, *second))) for first, second in combinations(packages, 2)]
    return [*packages, *pairs]


def overlaps(
    answers: Sequence[Audience], count: int, field: str
) -> tuple[list[Estimate], list[SharedInventory]]:
    """What each of `count` packages has, and what each pair shares; `answers` are those to `questions`."""
    estimates = [answer.total_of(field) for answer in answers]
    single = estimates[:count]
    pairs = [
        SharedInventory(
            first, second, both, estimate.part(both, single[first]), estimate.part(both, single[second])
        )
        for (first, second), both in zip(combinations(range(count), 2), estimates[count:], strict=True)
    ]
    return single, pairs


def two_prices(deals: Sequence[Sequence[DemandDeal]], pairs: Sequence[SharedInventory]) -> list[TwoPrices]:
    """The seats with several prices in one currency for what a pair shares, the most shared first.

    `deals` are those of each package; paused ones, and those without a seat or a price, don't count.
    """
    conflicts = []
    for pair in pairs:
        sides = [_prices(deals[index]) for index in (pair.first, pair.second)]
        for seat, currency in sides[0].keys() & sides[1].keys():
            names, prices = zip(*(sides[0][seat, currency] + sides[1][seat, currency]), strict=True)
            if len(set(prices)) > 1 and pair.may_be_any:
                conflicts.append(TwoPrices(pair, names[0], tuple(sorted(set(prices))), currency))
    return sorted(conflicts, key=lambda conflict: (-(conflict.pair.volume.value or 0.0), conflict.seat))


def _prices(deals: Sequence[DemandDeal]) -> dict[tuple[int, str | None], list[tuple[str, Decimal]]]:
    """The seats' names and prices, by seat id and currency."""
    prices: dict[tuple[int, str | None], list[tuple[str, Decimal]]] = {}
    for deal in deals:
        if deal.is_active is not False and deal.seat is not None and deal.seat.id and deal.price is not None:
            name = deal.seat.name or f"Seat {deal.seat.id}"
            prices.setdefault((deal.seat.id, deal.currency), []).append((name, deal.price))
    return prices
