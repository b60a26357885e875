"""Beside a deal's price in the form Change: what wins cost in each of its packages, and where the price is.

It is computed in the background, over the same days as the deal's health, so that the two agree.
"""

from collections.abc import Sequence
from decimal import Decimal

import streamlit as st

from lib.deals.models import SupplyPackage
from lib.insight.filters import Translation, entries, report_filters
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.frame.problems import reported
from lib.ui.supply import catalogue, deal_health, pages, prices, report, seat_guide
from lib.ui.supply.seat_guide import GuidePlace

PLACE, MOST, NO_SEAT = "change_prices_{}", 3, 0


def draw(here: Here, seat: int | None, price: object, packages: Sequence[int]) -> None:
    """Draw a sentence per package, with what it is computed from; nothing without packages.

    `price` is what is typed, if it can be read.
    """
    if not packages:
        return
    with reported("What wins cost", kept="What you typed is kept."):
        seen = report.of_deals(here) or here
        known = pages.by_id(here, SupplyPackage, packages[:MOST])
        lists = entries(catalogue.lists(here))
        for place, package in enumerate(known):
            said = report_filters(package, seen.slicer, lists, package.media_type)
            title = f"{package.name or f'Package {package.id}'}: " if len(packages) > 1 else ""
            _one(seen, place, said, {seat or NO_SEAT: price if isinstance(price, Decimal) else None}, title)
        if len(packages) > MOST:
            st.caption(
                f":material/info: What wins cost is shown for the first {MOST} of {len(packages)} packages."
            )


def _one(seen: Here, place: int, said: Translation, typed: dict[int, Decimal | None], title: str) -> None:
    """Draw the guide of one package."""
    where = GuidePlace(PLACE.format(place), deal_health.DAYS)
    guide = seat_guide.of(seen, where, said, typed, prices.of(seen))
    for sentence in guide.by_seat.values():
        st.caption(plain(f"{title}{sentence}"))
    left_out = f"Not counted in: {' '.join(said.left_out)}" if said.left_out else ""
    seat_guide.draw_note(guide, left_out)
