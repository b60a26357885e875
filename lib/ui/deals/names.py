"""Labels of deals in pickers and sentences."""

from lib.deals.models import DemandDeal


def seat_name(deal: DemandDeal) -> str:
    """The seat that may buy it, by its name, else by its id; empty where the service does not tell it."""
    seat = deal.seat
    return "" if seat is None or seat.id is None else seat.name or f"Seat {seat.id}"


def deal_label(deal: DemandDeal) -> str:
    """`Morning News - Bluebird · Alder Bidder · 17`: to be found by name, seat, DSP or id."""
    dsp = deal.dsp or (deal.seat.dsp if deal.seat else None)
    seat = seat_name(deal)
    name = deal.name or f"Deal {deal.id}"
    parts = (name, "" if seat in name else seat, (dsp.name if dsp else None) or "", str(deal.id))
    return " · ".join(filter(None, parts))
