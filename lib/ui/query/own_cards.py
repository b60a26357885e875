"""The leaderboards that a person chose for a slicer, shown where a link names none."""

import logging

import streamlit as st

from lib.ui.kit.frame import PageContext
from lib.ui.query import state
from lib.ui.query.state import Card
from lib.wire.errors import TrancheError

OWN_CARDS = "own_cards"
log = logging.getLogger(__name__)


def get(context: PageContext) -> tuple[Card, ...] | None:
    """The choice, read once a session; None without one."""
    choices: dict[tuple[str, str], str] = st.session_state.get(OWN_CARDS, {})
    about = (context.project, context.slicer_name)
    if about not in choices:
        choices = choices | {about: _read(context)}
        st.session_state[OWN_CARDS] = choices
    return state.cards_from_text(choices[about], context.slicer)


def read(context: PageContext) -> tuple[Card, ...] | None:
    """The choice as it is in the database; None without one, or if the database fails (see the log)."""
    return state.cards_from_text(_read(context), context.slicer)


def store(context: PageContext, cards: tuple[Card, ...] | None) -> None:
    """Store this choice; None removes it. If the database fails, it is kept for this session."""
    text = state.cards_text(cards or ())
    choices: dict[tuple[str, str], str] = st.session_state.get(OWN_CARDS, {})
    st.session_state[OWN_CARDS] = choices | {(context.project, context.slicer_name): text}
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
