"""The screen Deals: the list, and the drawer of the one that is open."""

import streamlit as st

from lib.ui import screens
from lib.ui.deals import abilities, bring_in, catalogue, drawer, table
from lib.ui.frame import Here
from lib.ui.markdown import plain
from lib.ui.problems import older, told


def draw(here: Here) -> None:
    """Packages and deals; where there are none yet, the way to the first."""
    with told("The deals", kept="Nothing was changed."):
        found, does = catalogue.listed(here), abilities.of(here)
        if trouble := catalogue.trouble(here):
            older(trouble, "The deals")
        if does.refuses:
            st.caption(f":material/lock: {plain(does.refuses)}.")
        if not does.lists:
            st.caption(f":material/history: {bring_in.WHAT_IT_IS}.")
        if found:
            table.draw(here, found)
        else:
            _nothing(here)
    drawer.draw(here)


def _nothing(here: Here) -> None:
    st.info("There are no packages and no deals yet.", icon=":material/handshake:")
    with st.container(horizontal=True, vertical_alignment="center"):
        if not abilities.of(here).why_not("supply_deals", "create"):
            st.page_link(screens.NEW_PACKAGE, label="Set up the first package", icon=":material/add_box:")
        bring_in.draw(here)
