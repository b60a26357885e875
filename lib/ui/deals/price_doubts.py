"""Whether a price looks like a slip: by itself, and among the prices of its seat's other deals."""

from decimal import Decimal
from functools import partial

from lib.deals.models import DemandDeal
from lib.ui.deals import catalogue
from lib.ui.kit import amounts, session_cache
from lib.ui.kit.frame import PageContext
from lib.ui.kit.session_cache import SessionCache
from lib.wire.errors import TrancheError

TIMES, FEWEST, SECONDS, MOST = 5, 4, 60.0, 200


def doubt(context: PageContext, seat: int | None, price: Decimal | None) -> str:
    """Why a price has to be confirmed, in a few words; empty for a usual one.

    Unusual is 0, a very high price, and one beyond five times the upper quartile of the seat's deals.
    """
    if (found := amounts.doubt(price)) or price is None or seat is None:
        return found
    quartile = upper_quartile(context, seat)
    if not quartile or price <= TIMES * quartile:
        return ""
    usual = f"{TIMES} times the upper quartile of this seat's deals ({quartile:,f})"
    return f"a price of {price:,f}, more than {usual}"


def upper_quartile(context: PageContext, seat: int) -> Decimal | None:
    """The price that a quarter of the seat's deals reach; None if there are fewer than four, or unknown.

    Kept for a minute, and read again once something was changed here.
    """
    cache: SessionCache[Decimal | None]
    cache = session_cache.of(catalogue.QUARTILES, partial(SessionCache, SECONDS, MOST))
    return cache.get((context.person.username, seat), partial(_fetch, context, seat))


def _fetch(context: PageContext, seat: int) -> Decimal | None:
    """In two small requests, however many deals there are. A service that can't answer raises no question."""
    client = catalogue.client(context)
    if not client.abilities.finds:
        return None
    try:
        count = client.list(DemandDeal, limit=1, seat=seat).count
        if count < FEWEST:
            return None
        reached = client.list(DemandDeal, limit=1, offset=(count - 1) // 4, seat=seat, ordering="-price")
    except TrancheError:
        return None
    return reached.results[0].price if reached.results else None
