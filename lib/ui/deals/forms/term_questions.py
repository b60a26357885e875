"""Questions about terms that contradict each other or the report, before deals are created or changed.

Every form, preview and file asks by `of_deals`, about values; the others are for terms as they are typed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

from lib.deals import doubts
from lib.deals.models import SupplyPackage, Targeting
from lib.insight.filters import entries
from lib.insight.past_impressions import daily_impressions
from lib.ui.deals import catalog
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.draft import NewDeals, seat_name
from lib.ui.deals.insight import report
from lib.ui.kit import amounts
from lib.ui.kit.frame import PageContext
from lib.ui.query import ask
from lib.wire.errors import TrancheError


@dataclass(frozen=True)
class Supply:
    """What deals are sold of: a targeting, and from when to when."""

    targeting: Targeting
    media_type: str | None = None
    start: datetime | None = None
    end: datetime | None = None

    @classmethod
    def of(cls, package: SupplyPackage) -> "Supply":
        """That of a package."""
        return cls(package, package.media_type, package.start_date, package.end_date)


@dataclass(frozen=True)
class TermDoubts:
    """Sentences on each of several deals, and on all of them together."""

    each: list[list[str]]
    in_all: list[str]


def of_deals(
    context: PageContext, deals: Sequence[Mapping[str, Any]], supply: Supply | None = None
) -> TermDoubts:
    """What is to be confirmed of deals, as values by field, that are sold of one supply.

    Price × units is compared with the budget of each; all guaranteed impressions together with what the
    targeting had over as many days as are left. Without a supply, or an answer, that is not asked.
    """
    units = [Decimal(str(deal["units"])) for deal in deals if deal.get("units") is not None]
    in_all = []
    if units and supply is not None:
        in_all = doubts.of_guarantee(sum(units), supply.end, supply.start, _daily(context, supply))
    return TermDoubts([doubts.of_terms(deal) for deal in deals], in_all)


def pasted_currencies(context: PageContext, deals: NewDeals) -> list[str]:
    """What is to be confirmed of prices as typed: `$2.50 as EUR (Bluebird)`."""
    seats = catalog.seats(context)
    return [
        f"{sentence} ({seat_name(seats.get(seat), seat)})"
        for seat in deals.seats
        for sentence in _of_currency(context, deals.of(seat))
    ]


def of_change(context: PageContext, terms: inputs.FormValues, packages: Sequence[SupplyPackage]) -> list[str]:
    """What is to be confirmed of the terms of a deal, as typed, that is sold in these packages."""
    supply = Supply.of(packages[0]) if len(packages) == 1 else None
    term_doubts = of_deals(context, [_values(terms)], supply)
    return [*term_doubts.each[0], *_of_currency(context, terms), *term_doubts.in_all]


def _values(terms: inputs.FormValues) -> dict[str, Any]:
    return {name: inputs.value(name, terms.get(name)) for name in ("price", "units", "budget")}


def _of_currency(context: PageContext, terms: inputs.FormValues) -> list[str]:
    """A pasted currency that is another than the deal's."""
    text, currency = (terms.get("price") or "").strip(), terms.get("currency") or context.clients.currency
    code = amounts.currency(text)
    return [f"{text} as {currency}"] if code and currency and code != currency else []


def _daily(context: PageContext, supply: Supply) -> float | None:
    """The impressions a day that the targeting had lately; None where the report can't say."""
    try:
        deal_report = replace(
            report.deal_report(context, context.reporting), ask=partial(ask.audience, context)
        )
        lists = entries(catalog.lists(context))
        return daily_impressions(deal_report, supply.targeting, lists, supply.media_type)
    except TrancheError:  # a question less, and the form goes on
        return None
