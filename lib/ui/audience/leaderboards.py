"""The leaderboards: a card per key field, all in one component, queried in parallel."""

from functools import partial

import streamlit as st

from lib.ui.audience import leaderboard
from lib.ui.audience import leaderboard_queries as queries
from lib.ui.frame import problems
from lib.ui.frame.frame import Here
from lib.ui.frame.waiting import awaited
from lib.ui.question import ask, cards, drill, focus, values
from lib.ui.question.focus import Focus
from lib.ui.rows import rows
from lib.ui.rows.rows import Table
from lib.wire.errors import TrancheError

HEIGHT, PLACE = 236, "cards"


def draw(here: Here) -> None:
    """Draw them in a place of their own, which has the height of a row of cards from the start."""
    with st.container(key=PLACE if cards.usual(here.slicer) else None):
        _draw(here)


@st.fragment(parallel=True)
def _draw(here: Here) -> None:
    """Query all cards, then draw them together; a card that fails shows its error."""
    if not here.slicer.data_fields:
        return
    drill.catch_up(here)
    seen = focus.of(here)
    with awaited(HEIGHT, drill.CARDS):
        tables = _tables(seen)
    rows.draw(drill.CARDS, tables, seen.taken_cards, partial(drill.follow, here))
    ask.refined()


def _tables(seen: Focus) -> list[Table]:
    """The tables. The rows of all cards are queried first, then their comparisons."""
    queries.begin(seen)
    found, failed = {}, {}
    for card in seen.cards:
        try:
            found[card] = queries.rows(seen, card)
        except TrancheError as error:
            failed[card] = leaderboard.failed(seen, card, problems.sentence(error))
    queries.begin_comparison(seen, list(found.items()))
    drawn = {}
    for card, answer in found.items():
        try:
            drawn[card] = leaderboard.table(seen, queries.board(seen, card, answer))
        except TrancheError as error:
            failed[card] = leaderboard.failed(seen, card, problems.sentence(error))
        values.remember(seen.here, answer)
    return [drawn.get(card) or failed[card] for card in seen.cards]
