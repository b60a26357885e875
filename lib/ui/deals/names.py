"""What deals are called in pickers and sentences."""

from lib.deals.models import DemandDeal


def deal_label(deal: DemandDeal) -> str:
    """`Morning News - Bluebird · Alder Bidder · 17`: to be found by name, seat, DSP or id."""
    dsp = deal.dsp or (deal.seat.dsp if deal.seat else None)
    seat = (deal.seat.name if deal.seat else None) or ""
    name = deal.name or f"Deal {deal.id}"
    parts = (name, "" if seat in name else seat, (dsp.name if dsp else None) or "", str(deal.id))
    return " · ".join(filter(None, parts))
