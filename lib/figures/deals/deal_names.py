"""What packages, deals, seats and DSPs are called."""

from collections.abc import Iterable, Sequence

from lib.deals.models import DemandDeal, PackageOrDeal, Seat

ATTRIBUTES = ("name", "status", "deal_id", "media_type", "start_date", "end_date", "price", "currency")
"""The fields that rows and documents have in places of their own; all others go by their titles."""
KINDS = {"supply_deals": "Package", "demand_deals": "Deal"}


def seat_of(deal: DemandDeal) -> str:
    """The seat that may buy it, by name or id; empty where the service does not tell it."""
    return "" if deal.seat is None or deal.seat.id is None else seat_name(deal.seat, deal.seat.id)


def dsp_of(deal: DemandDeal) -> str:
    """The name of its DSP; empty where it is not known."""
    dsp = deal.dsp or (deal.seat.dsp if deal.seat else None)
    return (dsp and dsp.name) or ""


def deal_number(deal_id: str | None, number: int | None) -> str:
    """The deal id; where the service returns none, the number of the deal."""
    return deal_id or str(number)


def seat_label(seats: Iterable[str], dsps: Sequence[str]) -> str:
    """`Bluebird (Alder Bidder)`."""
    dsp = f" ({dsps[0]})" if dsps else ""
    return f"{', '.join(seats)}{dsp}"


def deal_label(deal: DemandDeal) -> str:
    """`Morning News - Bluebird · Alder Bidder · 17`: to be found by name, seat, DSP or id."""
    seat, name = seat_of(deal), title_of(deal)
    return " · ".join(filter(None, (name, "" if seat in name else seat, dsp_of(deal), str(deal.id))))


def title_of(entity: PackageOrDeal) -> str:
    """What a package or a deal is called: `Deal 17` without a name."""
    return entity.name or f"{KINDS[entity.entity]} {entity.id}"


def seat_name(seat: Seat | None, seat_id: int) -> str:
    """A seat by name, or by its id where it is not known."""
    return (seat and seat.name) or f"Seat {seat_id}"
