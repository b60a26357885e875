"""The leaderboards that a person chose for a slicer, read from the database once per session."""

import logging

import streamlit as st

from lib.ui.kit.frame import PageContext
from lib.ui.query import cards
from lib.ui.query.cards import Card
from lib.wire.errors import TrancheError

REMEMBERED = "remembered_cards"
log = logging.getLogger(__name__)
Slicers = dict[tuple[str, str], str]


def chosen(context: PageContext) -> tuple[Card, ...] | None:
    """The choice for this slicer; None without one, or if the database fails (see the log)."""
    known: Slicers = st.session_state.get(REMEMBERED, {})
    about = (context.project, context.slicer_name)
    if about not in known:
        known = known | {about: _read(context)}
        st.session_state[REMEMBERED] = known
    return cards.from_text(known[about], context.slicer)


def keep(context: PageContext, wanted: tuple[Card, ...] | None) -> None:
    """Store this choice; None removes it. If the database fails, it is kept for this session."""
    text = cards.to_text(wanted or ())
    known: Slicers = st.session_state.get(REMEMBERED, {})
    st.session_state[REMEMBERED] = known | {(context.project, context.slicer_name): text}
    try:
        context.clients.view_store.cards.set(context.project, context.slicer_name, text)
    except TrancheError as error:
        log.warning("The choice of leaderboards could not be kept: %s", error.reason)


def _read(context: PageContext) -> str:
    try:
        return context.clients.view_store.cards.get(context.project, context.slicer_name)
    except TrancheError as error:
        log.warning("The choice of leaderboards could not be read: %s", error.reason)
        return ""
