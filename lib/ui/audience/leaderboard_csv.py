"""The export menu of the leaderboards: the values of a card as CSV, and a link to Export for all of them."""

from dataclasses import replace

import streamlit as st

from lib.ui.audience import leaderboard_queries as queries
from lib.ui.frame import problems
from lib.ui.question import export_menu, filter_words
from lib.ui.question.cards import Card
from lib.ui.question.focus import Focus

CARD, LABEL = "exported_card", "Leaderboard"


def draw(seen: Focus) -> None:
    """Draw the choice of card and its download; its question has no filters on the card's own values."""
    names = {card.name: card for card in seen.cards}
    name = st.selectbox(
        LABEL,
        list(names),
        format_func=lambda name: filter_words.field(name, seen.slicer),
        key=CARD,
        width=380,
    )
    if name in names:
        with problems.reported("The file of this leaderboard"):
            _files(seen, names[name])


def _files(seen: Focus, card: Card) -> None:
    board = queries.board(seen, card, queries.rows(seen, card))
    whole = seen.query.model_copy(
        update={"split_by": (card.name,), "filters": queries.question(seen, card).filters, "order_by": ()}
    )
    asked = replace(seen, query=whole)
    export_menu.rows(asked, "leaderboard", board.split.answer, [seen.field], "Download its rows as CSV")
    export_menu.way_on("Open all its values in Export", whole)
