"""Labels of deals in pickers and sentences."""

from lib.deals.models import DemandDeal
from lib.ui.deals.words import seat_name


def seat_of(deal: DemandDeal) -> str:
    """The seat that may buy it, by name or id; empty where the service does not tell it."""
    return "" if deal.seat is None or deal.seat.id is None else seat_name(deal.seat, deal.seat.id)


def deal_label(deal: DemandDeal) -> str:
    """`Morning News - Bluebird · Alder Bidder · 17`: to be found by name, seat, DSP or id."""
    dsp = deal.dsp or (deal.seat.dsp if deal.seat else None)
    seat = seat_of(deal)
    name = deal.name or f"Deal {deal.id}"
    parts = (name, "" if seat in name else seat, (dsp.name if dsp else None) or "", str(deal.id))
    return " · ".join(filter(None, parts))
