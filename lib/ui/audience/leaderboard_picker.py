"""The picker of leaderboards, and of how changes are shown."""

from dataclasses import replace

import streamlit as st

from lib.ui.frame.frame import Here
from lib.ui.question import cards, filter_words, followed, question, remembered
from lib.ui.question.cards import Card
from lib.ui.question.focus import Focus
from lib.ui.question.view import CHANGES

FIELDS, SHOWN = "card_fields", "card_changes"
WORDS = {"percent": "Percent", "amount": "Amount"}


def draw(seen: Focus) -> None:
    """Draw a popover with the key fields of the cards, and a choice between percent and amounts."""
    with st.popover("Leaderboards", icon=":material/leaderboard:", type="tertiary"):
        key = followed.key(FIELDS, [card.name for card in seen.cards])
        st.multiselect(
            "Key fields with a leaderboard",
            [field.name for field in seen.slicer.key_fields],
            format_func=lambda name: filter_words.field(name, seen.slicer),
            key=key,
            max_selections=cards.MOST,
            filter_mode="contains",
            select_all=False,
            width=380,
            on_change=_ask_fields,
            args=(seen.here, key),
        )
        shown = followed.key(SHOWN, seen.view.changes)
        st.segmented_control(
            "Changes in",
            CHANGES,
            format_func=WORDS.__getitem__,
            key=shown,
            required=True,
            on_change=_ask_changes,
            args=(seen.here, shown),
        )


def _ask_fields(here: Here, key: str) -> None:
    """Change the cards to these key fields, keeping their orders; without any, to the default cards.

    They are remembered, but for the texts to find.
    """
    shown = {card.name: card for card in question.view(here).cards or cards.usual(here.slicer)}
    chosen = tuple(shown.get(name, Card(name)) for name in st.session_state[key])
    wanted = None if chosen == cards.usual(here.slicer) else chosen or None
    remembered.keep(here, wanted and tuple(replace(card, find="") for card in wanted))
    question.look(here, cards=wanted)
    st.rerun()


def _ask_changes(here: Here, key: str) -> None:
    question.look(here, changes=st.session_state[key])
    st.rerun()
