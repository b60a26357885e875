"""The screen Deals: the list, and the drawer of the one that is open."""

import streamlit as st

from lib.ui import screens
from lib.ui.deals import catalogue, drawer, table
from lib.ui.frame import Here
from lib.ui.problems import older, told


def draw(here: Here) -> None:
    """Packages and deals; where there are none yet, the way to the first."""
    with told("The deals", kept="Nothing was changed."):
        found = catalogue.listed(here)
        if trouble := catalogue.trouble(here):
            older(trouble, "The deals")
        if found:
            table.draw(here, found)
        else:
            _nothing(here)
    drawer.draw(here)


def _nothing(here: Here) -> None:
    st.info("There are no packages and no deals yet.", icon=":material/handshake:")
    if here.person.role != "viewer":
        st.page_link(screens.NEW_PACKAGE, label="Set up the first package", icon=":material/add_box:")
