"""The leaderboards that a person chose for a slicer, for the session and in the database."""

import streamlit as st

from lib.figures.context import RequestContext
from lib.figures.query.card import Card, cards_from_text, cards_text, log, own_cards_text
from lib.wire.errors import TrancheError

OWN_CARDS = "own_cards"


def own_cards(context: RequestContext) -> tuple[Card, ...] | None:
    """The leaderboards that the person chose for the slicer, read once a session; None without a choice."""
    choices: dict[tuple[str, str], str] = st.session_state.get(OWN_CARDS, {})
    about = (context.project, context.slicer_name)
    if about not in choices:
        choices = choices | {about: own_cards_text(context)}
        st.session_state[OWN_CARDS] = choices
    return cards_from_text(choices[about], context.slicer)


def store_own_cards(context: RequestContext, cards: tuple[Card, ...] | None) -> None:
    """Store the person's leaderboards of the slicer; None removes them.

    If the database fails, they are kept for this session.
    """
    text = cards_text(cards or ())
    choices: dict[tuple[str, str], str] = st.session_state.get(OWN_CARDS, {})
    st.session_state[OWN_CARDS] = choices | {(context.project, context.slicer_name): text}
    try:
        context.clients.view_store.cards.set(context.project, context.slicer_name, text)
    except TrancheError as error:
        log.warning("The choice of leaderboards could not be kept: %s", error.reason)
