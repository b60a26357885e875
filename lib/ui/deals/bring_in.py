"""Where the service keeps no list: what the list here is, and a deal that was made elsewhere, by its id."""

import streamlit as st

from lib.deals.models import DemandDeal
from lib.ui.deals import abilities, catalogue
from lib.ui.deals.places import OPEN, SAID
from lib.ui.frame import Here
from lib.ui.markdown import plain
from lib.wire.errors import NotFound, TrancheError

POPOVER, NUMBER, PROBLEM = "bring_in", "bring_in_id", "bring_in_problem"
WHAT_IT_IS = "What was made or opened here; this service keeps no list"


def draw(here: Here) -> None:
    """The way to a deal by its id; nothing where the service lists its deals."""
    if abilities.of(here).lists:
        return
    with st.popover(
        "Add a deal by id", icon=":material/add_link:", type="tertiary", key=POPOVER, on_change="rerun"
    ):
        st.markdown("A deal that was made elsewhere is in this list once it was opened here.")
        st.number_input(
            "Deal id", min_value=1, value=None, step=1, key=NUMBER, placeholder="As the service calls it"
        )
        st.button("Open it", type="primary", key="bring_in_open", on_click=open_it, args=(here,))
        if said := st.session_state.get(PROBLEM):
            st.error(said, icon=":material/error:")


def open_it(here: Here) -> None:
    """Read the deal, which brings it into the list, and open it. A callback."""
    state = st.session_state
    state.pop(PROBLEM, None)
    number = state.get(NUMBER)
    if number is None:
        state[PROBLEM] = "Type the id first."
        return
    try:
        found = catalogue.client(here).get(DemandDeal, int(number))
    except NotFound:
        state[PROBLEM] = f"The service has no deal {number}. Look at the id again."
    except TrancheError as error:
        state[PROBLEM] = f"{plain(error.reason.rstrip('.'))}. Nothing was changed."
    else:
        catalogue.forget()
        state[SAID] = f"{plain(found.name or f'Deal {number}')} is in the list now"
        st.query_params[OPEN] = f"demand_deals-{number}"
        state[POPOVER], state[NUMBER] = False, None
