"""The pickers of a grant for deals: none, sync, read or write, for all seats or for some."""

from collections.abc import Mapping
from typing import Literal

import streamlit as st

from lib.deals.models import Seat
from lib.people import DealsAccess, DealsGrant
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

LEVELS: dict[DealsAccess, str] = {"none": "None", "sync": "Deal sync", "read": "Read", "write": "Write"}
ALL_SEATS, SEATS_OF_DSP = "All seats", "The seats of the DSP"


def draw(
    context: PageContext,
    key: str,
    grant: DealsGrant,
    most: DealsGrant,
    label: str = "Deals",
    least: DealsAccess = "none",
    width: int | Literal["stretch"] = "stretch",
) -> DealsGrant:
    """Draw the pickers and return the grant.

    `held` is what they begin with; what can be granted is between `least` and `most`.
    """
    names: list[DealsAccess] = list(LEVELS)
    levels = names[names.index(least) : names.index(most.access) + 1]
    level = st.segmented_control(
        label,
        levels,
        default=grant.access if grant.access in levels else levels[-1],
        format_func=LEVELS.__getitem__,
        required=True,
        key=f"{key}_level_{most.access}",
        disabled=len(levels) == 1,
        help="Deals belong to no project, and have their own permissions. Deal sync is for a DSP: it fetches "
        "the deals of its seats and reports their status, and sees nothing else",
    )
    if level == "none":
        return DealsGrant()
    labels = seats(context)
    known = {**{seat: f"Seat {seat}" for seat in sorted(grant.seats or ())}, **labels}
    offered = [seat for seat in known if most.seats is None or seat in most.seats]
    picked = st.multiselect(
        "Of these seats",
        offered,
        default=[seat for seat in sorted(grant.seats or ()) if seat in offered],
        format_func=lambda seat: known[seat],
        key=f"{key}_seats",
        placeholder=SEATS_OF_DSP if level == "sync" else ALL_SEATS if most.seats is None else "All of yours",
        select_all=False,
        width=width,
    )
    if level == "sync" and not picked:
        st.caption(":material/info: Choose the seats of the DSP.")
        return DealsGrant()
    return DealsGrant(level, frozenset(picked) if picked else most.seats)


def seats(context: PageContext) -> dict[int, str]:
    """The seats to choose from, by id; none if the deals service can't be reached."""
    try:
        seats = list(context.deals.everything(Seat, ordering="name"))
    except TrancheError as error:
        st.caption(f":material/info: The names of the seats can't be loaded: {plain(error.reason)}")
        return {}
    return {seat.id: _label(seat) for seat in seats if seat.id is not None}


def words(granted: DealsGrant, names: Mapping[int, str]) -> str:
    """A grant in a few words, as a cell of a table."""
    if granted.seats is None:
        return LEVELS[granted.access] if granted.access == "none" else f"{LEVELS[granted.access]}, all seats"
    listed = ", ".join(names.get(seat, f"seat {seat}") for seat in sorted(granted.seats))
    return f"{LEVELS[granted.access]}: {listed}"


def _label(seat: Seat) -> str:
    dsp = seat.dsp.name if seat.dsp else None
    return " · ".join(filter(None, (seat.name or f"Seat {seat.id}", dsp)))
