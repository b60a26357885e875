"""The focus of the page: its current state resolved, with the leaderboards that the person chose."""

import streamlit as st

from lib.figures.context import RequestContext
from lib.figures.query import focus
from lib.figures.query.ask import ANSWERS, Answers
from lib.figures.query.card import Card, cards_from_text, cards_text, log, own_cards_text
from lib.figures.query.focus import Focus
from lib.ui.kit import redraw, session_cache
from lib.ui.kit.frame import PageContext
from lib.ui.query import history
from lib.wire.errors import TrancheError

OWN_CARDS = "own_cards"


def current(context: PageContext) -> Focus:
    """The focus of the current state, with the leaderboards that the person chose where it names none."""
    page_state = history.current(context)
    cards = page_state.view.cards or own_cards(context)
    return focus.resolve(context, page_state.with_view(cards=cards))


def refine(part: str) -> None:
    """Rerun the screen once exact answers have arrived for the estimates that this part of it shows."""
    futures = session_cache.of(ANSWERS, Answers).pending()
    if futures:
        redraw.when(lambda: all(future.done() for future in futures), f"refined_{part}")


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
