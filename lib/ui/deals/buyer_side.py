"""What a deal's DSP knows and says of it: when it fetched the deal last, and the status that it reports."""

from datetime import UTC, datetime, tzinfo

import streamlit as st

from lib.deals.models import DemandDeal
from lib.deals.sync.models import BuyerSeat
from lib.ui.frame import clock
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.supply import catalogue, facts
from lib.wire.errors import NotFound, TrancheError

UNNAMED = "The DSP can't fetch it yet: the seat has no id at the DSP."


def draw(here: Here, deal: DemandDeal) -> None:
    """Draw it for a synchronised deal; nothing over a service that does not tell."""
    client = catalogue.client(here)
    if not deal.deal_sync or not deal.deal_id or not client.abilities.syncs:
        return
    try:
        lines = sentences(client.buyer_seat(deal.deal_id), clock.zone())
    except NotFound as error:
        named = deal.seat is None or deal.seat.external_id
        lines = [f"{error.reason.rstrip('.')}." if named else UNNAMED]
    except TrancheError as error:
        lines = [f"What the DSP reports could not be read: {error.reason.rstrip('.')}."]
    st.markdown("  \n".join(f":material/sync: {plain(line)}" for line in lines))


def sentences(found: BuyerSeat, zone: tzinfo = UTC) -> list[str]:
    """What the DSP said last, and when it fetched the deal; times in that zone."""
    said = [
        f"The DSP says: {one.words}{_when(one.ext.reported_at, one.ext.reported_by, zone)}."
        for one in found.buyerstatus
    ]
    fetched = _when(found.ext.fetched_at, found.ext.fetched_by, zone)
    return [
        *(said or ["The DSP has not reported a status yet."]),
        f"It fetched the deal last{fetched}." if fetched else "It has not fetched the deal yet.",
    ]


def _when(at: datetime | None, who: str | None, zone: tzinfo) -> str:
    """` on 21 Nov 2026, 10:00 UTC+1, by Alder Bidder (token 3)`; empty where the time is not known."""
    if at is None:
        return ""
    return f" on {facts.moment(at.astimezone(zone))}{f', by {who}' if who else ''}"
