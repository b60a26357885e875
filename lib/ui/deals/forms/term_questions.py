"""Questions about terms that contradict each other or the report, before deals are created or changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lib.deals import doubts
from lib.deals.models import SupplyPackage, Targeting
from lib.insight.estimate import IMPRESSIONS, field_of
from lib.insight.filters import entries, report_filters
from lib.ui.deals import catalog
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.draft import NewDeals, seat_name
from lib.ui.deals.insight import report
from lib.ui.kit import amounts
from lib.ui.kit.frame import PageContext
from lib.ui.query import ask
from lib.wire.errors import TrancheError

DAYS = 30


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


def of_new(context: PageContext, deals: NewDeals, supply: Supply) -> str:
    """What is to be confirmed of new deals, each seat's terms and all of them together; empty without any."""
    seats = catalog.seats(context)
    sentences: list[str] = []
    for seat in deals.seats:
        terms = deals.of(seat)
        of_seat = [*doubts.of_terms(_values(terms)), *_of_currency(context, terms)]
        sentences += [f"{sentence} ({seat_name(seats.get(seat), seat)})" for sentence in of_seat]
    return "; ".join([*sentences, *_of_guarantee(context, deals.total("units"), supply)])


def of_change(context: PageContext, terms: inputs.FormValues, packages: Sequence[SupplyPackage]) -> str:
    """What is to be confirmed of the terms of a deal, as typed, that is sold in these packages."""
    values = _values(terms)
    sentences = [*doubts.of_terms(values), *_of_currency(context, terms)]
    if len(packages) == 1:
        sentences += _of_guarantee(context, values.get("units"), Supply.of(packages[0]))
    return "; ".join(sentences)


def _values(terms: inputs.FormValues) -> dict[str, Any]:
    return {name: inputs.value(name, terms.get(name)) for name in ("price", "units", "budget")}


def _of_currency(context: PageContext, terms: inputs.FormValues) -> list[str]:
    """A pasted currency that is another than the deal's."""
    text, currency = (terms.get("price") or "").strip(), terms.get("currency") or context.clients.currency
    code = amounts.currency(text)
    return [f"{text} as {currency}"] if code and currency and code != currency else []


def _of_guarantee(context: PageContext, units: Any, supply: Supply) -> list[str]:
    if units is None:
        return []
    return doubts.of_guarantee(units, supply.end, supply.start, _daily(context, supply))


def _daily(context: PageContext, supply: Supply) -> float | None:
    """The impressions a day that the targeting had in the last days; None where the report can't say."""
    try:
        lists = entries(catalog.lists(context))
        filters = report_filters(supply.targeting, context.slicer, lists, supply.media_type).filters
        field = field_of(context.slicer, IMPRESSIONS)
        if field is None:
            return None
        totals = ask.audience(context, report.figures_query(context, filters, DAYS)).total.values
    except TrancheError:  # a question less, and the form goes on
        return None
    impressions = totals.get(field.name)
    return None if impressions is None else impressions / DAYS
