"""For services without lists: explains the list, and adds a deal by its id."""

import streamlit as st

from lib.deals.models import DemandDeal
from lib.ui.deals import catalogue, permission, seats
from lib.ui.deals.view import OPEN, SAID
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import NotFound, TrancheError

POPOVER, NUMBER, PROBLEM = "bring_in", "bring_in_id", "bring_in_problem"
WHAT_IT_IS = "Created or opened in Tranche; this service has no list"


def draw(context: PageContext) -> None:
    """Draw the field for a deal's id; nothing if the service lists its deals."""
    if permission.of(context).lists:
        return
    with st.popover(
        "Add a deal by id", icon=":material/add_link:", type="tertiary", key=POPOVER, on_change="rerun"
    ):
        st.markdown(
            "A deal that was created outside Tranche appears in this list once you have opened it here."
        )
        st.text_input("Deal id", key=NUMBER, placeholder="The number in the service", autocomplete="off")
        st.button("Open deal", type="primary", key="bring_in_open", on_click=open_it, args=(context,))
        if said := st.session_state.get(PROBLEM):
            st.error(plain(said), icon=":material/error:")


def open_it(context: PageContext) -> None:
    """Read the deal, which adds it to the list, and open it. A callback."""
    state = st.session_state
    state.pop(PROBLEM, None)
    number = seats.read_number(state.get(NUMBER) or "")
    if number is None:
        state[PROBLEM] = "Type the id, a whole number like 4711."
        return
    try:
        deal = catalogue.client(context).get(DemandDeal, number)
    except NotFound:
        state[PROBLEM] = f"The service has no deal {number}. Check the id."
    except TrancheError as error:
        state[PROBLEM] = f"{error.reason.rstrip('.')}. Nothing was changed."
    else:
        catalogue.forget()
        state[SAID] = f"{deal.name or f'Deal {number}'} is in the list"
        st.query_params[OPEN] = f"demand_deals-{number}"
        state[POPOVER], state[NUMBER] = False, ""
