"""Compares prices with those that the person may know, as lib/deals/doubts.py says.

What was won is asked for once, and kept for a while.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cached_property, partial

from lib.deals.client import LARGEST_PAGE, Deals
from lib.deals.doubts import PriceScale, WinScales, price_slip
from lib.deals.models import DemandDeal, SupplyPackage
from lib.figures.caches import SessionCache
from lib.figures.deals import deal_report, field_text
from lib.ui.deals import catalog
from lib.ui.deals.insight import report
from lib.ui.kit import session_cache
from lib.ui.kit.frame import PageContext
from lib.wire.errors import TrancheError

SCALES = "deals_win_scales"
SECONDS, MOST_PACKAGES = 300.0, 50
ListPrice = tuple[Decimal | None, str | None]
"""A price and its currency; None: the usual one."""


class PriceGuard:
    """The prices that a person may know; a package's are read once."""

    def __init__(self, context: PageContext) -> None:
        self._context, self._money = context, field_text.prices_of(context)
        self._prices_by_package: dict[int, tuple[ListPrice, ...]] = {}

    def doubt(
        self,
        price: Decimal | None,
        currency: str | None,
        *,
        before: Decimal | None = None,
        seat: int | None = None,
        packages: Sequence[SupplyPackage] = (),
        others: Sequence[ListPrice] = (),
    ) -> str:
        """Why a price in this currency (None: the usual one) has to be confirmed, with both figures and the
        unit; empty for a usual price.

        `before` is the price that it replaces, in the same currency. A new one is compared with what the seat
        won in the medium of its `packages`, else with the prices of their deals and the `others` that are
        created with it, as far as they are in its currency.
        """
        money = self._money.of(currency)

        def scales() -> Iterator[PriceScale | None]:
            yield PriceScale.before(before)
            media = [package.media_type for package in packages if package.media_type]
            yield self._win_scales.find(seat, media) if money == self._money else None
            list_prices = [price for package in packages for price in self._prices_of(package.id)]
            yield PriceScale.of_package(
                price for price, own in [*list_prices, *others] if self._money.of(own) == money
            )

        slip = price_slip(price, scales())
        return f"{slip} ({money.terms})" if slip else ""

    @cached_property
    def _win_scales(self) -> WinScales:
        """What seats won at; nothing where prices are no CPMs."""
        context = self._context
        if field_text.prices_of(context).unit.upper() != field_text.BY_CPM:
            return WinScales({})
        cache: SessionCache[WinScales]
        cache = session_cache.of(SCALES, partial(SessionCache, SECONDS, 1))
        return cache.get((context.person.username, context.person.grants), partial(_ask_for_scales, context))

    def _prices_of(self, package: int | None) -> tuple[ListPrice, ...]:
        """The list prices of a package's deals; of the first packages alone, as each is a request."""
        prices = self._prices_by_package
        if package is not None and package not in prices and len(prices) < MOST_PACKAGES:
            prices[package] = _list_prices(self._context.deals, package)
        return prices.get(package or 0, ())


def _ask_for_scales(context: PageContext) -> WinScales:
    try:
        report_context = report.of_deals(context)
        if report_context is None:
            return WinScales({})
        return deal_report.insight(report_context).win_scales([*catalog.seats(context).values()])
    except TrancheError:
        return WinScales({})  # a report that can't answer raises no question, and keeps nobody from saving


def _list_prices(client: Deals, package: int) -> tuple[ListPrice, ...]:
    if not client.abilities.finds:
        return ()
    try:
        deals = client.list(DemandDeal, supply_deals=package, limit=LARGEST_PAGE).results
    except TrancheError:
        return ()
    return tuple((deal.price, deal.currency) for deal in deals if deal.price)
