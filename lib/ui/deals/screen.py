"""The screen Deals: the list, and the drawer of the open package or deal."""

import streamlit as st

from lib.ui.deals import bring_in, dead, drawer, overlap, table, undo
from lib.ui.deals.places import opened
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.frame.problems import older, reported
from lib.ui.supply import catalogue, pages, permission


def draw(here: Here) -> None:
    """Draw the packages or the deals."""
    with reported("The deals", kept="Nothing was changed."):
        does = permission.of(here)
        if does.refuses:
            st.caption(f":material/lock: {plain(does.refuses)}.")
        if not does.lists:
            st.caption(f":material/history: {bring_in.WHAT_IT_IS}.")
        table.draw(here)
        if trouble := pages.trouble(here) or catalogue.trouble(here):
            older(trouble, "The deals")
    if opened() is None:
        overlap.shown(here)
        dead.shown(here)
        undo.shown(here)
    drawer.draw(here)


def leave() -> None:
    """Another screen was opened: no dialog is to open again when this one is."""
    overlap.close()
    dead.leave()
    undo.leave()
