"""Whether a price looks like a slip: by itself, and among the prices of its seat's other deals."""

import time
from decimal import Decimal

import streamlit as st

from lib.deals.models import DemandDeal
from lib.ui.deals import catalogue
from lib.ui.kit import amounts
from lib.ui.kit.frame import PageContext
from lib.wire.errors import TrancheError

TIMES, FEWEST, SECONDS = 5, 4, 60.0


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
    kept: dict[tuple[str, int], tuple[float, Decimal | None]]
    kept = st.session_state.setdefault(catalogue.QUARTILES, {})
    key, now = (context.person.username, seat), time.monotonic()
    if key not in kept or now - kept[key][0] > SECONDS:
        kept[key] = now, _fetch(context, seat)
    return kept[key][1]


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
