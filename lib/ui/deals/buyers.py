"""The seats that are to buy a package, with the price of each: of a form, or of the deals linked to it."""

from collections.abc import Sequence

from lib.deals.models import DemandDeal
from lib.insight.seat_prices import SeatPrice
from lib.ui.deals import catalogue
from lib.ui.deals.draft import Draft
from lib.ui.kit.frame import PageContext


def is_fixed(context: PageContext, price_type: str | None) -> bool:
    """Whether a deal with this price type has a fixed price, else a floor; without one, the setting says."""
    return (price_type or context.clients.usual_terms.get("price_type")) == "fixed"


def of_draft(context: PageContext, draft: Draft) -> dict[int, SeatPrice]:
    """By the id of the seat; empty where no deal is chosen."""
    if draft.deals == "existing":
        return of_deals(context, draft.links)
    if draft.deals == "none":
        return {}
    return {
        seat: SeatPrice(terms.amount, is_fixed(context, (terms.own or draft.terms).get("price_type")))
        for seat, terms in draft.seats.items()
    }


def of_deals(context: PageContext, ids: Sequence[int]) -> dict[int, SeatPrice]:
    """By the id of the seat: that of its cheapest deal among these that is not paused."""
    price_of_seat: dict[int, SeatPrice] = {}
    for deal in catalogue.by_id(context, DemandDeal, ids):
        if deal.is_active is False or deal.seat is None or deal.seat.id is None:
            continue
        lowest, price = price_of_seat.get(deal.seat.id), deal.price
        if lowest is None or lowest.amount is None or (price is not None and price < lowest.amount):
            price_of_seat[deal.seat.id] = SeatPrice(price, is_fixed(context, deal.price_type))
    return price_of_seat
