"""Controls of the figures: data field, granularity, headline metrics, leaderboards; and notes on them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from lib.reporting.answers import Audience
from lib.reporting.models import API_ROWS_LIMIT
from lib.ui.audience import date_notes, headline, over_time
from lib.ui.audience import leaderboard_queries as queries
from lib.ui.audience.date_notes import Noted
from lib.ui.charts import numbers
from lib.ui.charts.time_chart import Named
from lib.ui.kit import problems
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import (
    cards,
    dates_picker,
    export_menu,
    filter_words,
    precision,
    question,
)
from lib.ui.query.cards import Card
from lib.ui.query.compared_answers import ComparedAnswers
from lib.ui.query.focus import Focus
from lib.ui.query.view import CHANGES, granularities

EXACTLY, AGAIN = "ask_exactly", "ask_as_usual"


def draw_exactly(focus: Focus, answer: Audience, sentence: str) -> None:
    """The sentence `said` about precision, as a button where a click can change it.

    A click reads all records instead of a sample, or goes back to the usual sample. The button is not offered
    where the period has more records than one query may read (specification, Limits).
    """
    other = headline.other_precision(focus, answer)
    if other is None:
        st.caption(plain(sentence), width="content")
        return
    is_usual = other.limit == API_ROWS_LIMIT
    st.button(
        plain(sentence),
        key=AGAIN if is_usual else EXACTLY,
        icon=":material/speed:" if is_usual else ":material/target:",
        type="tertiary",
        help=other.help,
        on_click=_ask,
        args=(focus.context, other.limit),
    )


def _ask(context: PageContext, limit: int) -> None:
    question.ask(question.current(context).model_copy(update={"audience_rows_limit": limit}))
    st.rerun()


FIELDS, SHOWN = "card_fields", "card_changes"
WORDS = {"percent": "Percent", "amount": "Amount"}


def draw_leaderboard_picker(focus: Focus) -> None:
    """Draw a popover with the key fields of the cards, and a choice between percent and amounts."""
    with st.popover("Leaderboards", icon=":material/leaderboard:", type="tertiary"):
        key = dates_picker.followed_key(FIELDS, [card.name for card in focus.cards])
        st.multiselect(
            "Key fields with a leaderboard",
            [field.name for field in focus.slicer.key_fields],
            format_func=lambda name: filter_words.field(name, focus.slicer),
            key=key,
            max_selections=cards.MOST,
            filter_mode="contains",
            select_all=False,
            width=380,
            on_change=_ask_fields,
            args=(focus.context, key),
        )
        shown = dates_picker.followed_key(SHOWN, focus.view.changes)
        st.segmented_control(
            "Changes in",
            CHANGES,
            format_func=WORDS.__getitem__,
            key=shown,
            required=True,
            on_change=_ask_changes,
            args=(focus.context, shown),
        )


def _ask_fields(context: PageContext, key: str) -> None:
    """Change the cards to these key fields, keeping their orders; without any, to the default cards.

    They are remembered, but for the texts to find.
    """
    shown = {card.name: card for card in question.view(context).cards or cards.usual(context.slicer)}
    chosen = tuple(shown.get(name, Card(name)) for name in st.session_state[key])
    wanted = None if chosen == cards.usual(context.slicer) else chosen or None
    question.keep(context, wanted and tuple(replace(card, find="") for card in wanted))
    question.look(context, cards=wanted)
    st.rerun()


def _ask_changes(context: PageContext, key: str) -> None:
    question.look(context, changes=st.session_state[key])
    st.rerun()


CARD, LABEL = "exported_card", "Leaderboard"


def draw_leaderboard_csv(focus: Focus) -> None:
    """Draw the choice of card and its download; its question has no filters on the card's own values."""
    names = {card.name: card for card in focus.cards}
    name = st.selectbox(
        LABEL,
        list(names),
        format_func=lambda name: filter_words.field(name, focus.slicer),
        key=CARD,
        width=380,
    )
    if name in names:
        with problems.reported("The file of this leaderboard"):
            _files(focus, names[name])


def _files(focus: Focus, card: Card) -> None:
    board = queries.board(focus, card, queries.rows(focus, card))
    whole = focus.query.model_copy(
        update={"split_by": (card.name,), "filters": queries.question(focus, card).filters, "order_by": ()}
    )
    asked = replace(focus, query=whole)
    export_menu.rows(asked, "leaderboard", board.split.answer, [focus.field], "Download its rows as CSV")
    export_menu.way_on("Open all its values in Export", whole)


FIELD, GRAIN, METRICS, NOTES = "shown_field", "shown_grain", "shown_metrics", "figure_notes"


def draw(focus: Focus, now: Audience, lines: Sequence[Named], noted: Noted) -> None:
    """Draw the controls in a row."""
    with st.container(horizontal=True, vertical_alignment="center"):
        _field(focus)
        if focus.grain is not None:
            _grain(focus)
        _metrics(focus)
        draw_leaderboard_picker(focus)
        if lines:
            over_time.draw_table(focus, lines)
            fields, more = headline.fields_in_sight(focus), partial(draw_leaderboard_csv, focus)
            export_menu.draw(focus, "chart", now, fields, over_time.CHART, more)
            date_notes.draw(focus, noted)
        over_time.draw_zoom_out(focus)


def draw_notes(focus: Focus, now: Audience, found: ComparedAnswers | None) -> None:
    """Draw the notes on the figures and their precision, in a line that is always there."""
    with st.container(horizontal=True, vertical_alignment="center", key=NOTES):
        sentences = " ".join(map(plain, headline.notes(focus, now, found)))
        st.caption(sentences or "\N{NO-BREAK SPACE}", width="stretch")
        draw_exactly(focus, now, precision.over(now, headline.fields_in_sight(focus), focus.numbers))


def _field(focus: Focus) -> None:
    st.session_state[FIELD] = focus.field.name
    st.selectbox(
        "Data field",
        [field.name for field in focus.slicer.data_fields],
        format_func=lambda name: numbers.title(focus.slicer.data_field(name), with_unit=True),
        key=FIELD,
        label_visibility="collapsed",
        filter_mode="contains",
        width=230,
        on_change=_look_field,
        args=(focus.context,),
    )


def _grain(focus: Focus) -> None:
    key = dates_picker.followed_key(GRAIN, focus.grain)
    st.segmented_control(
        "Granularity",
        granularities(focus.slicer),
        format_func=str.capitalize,
        key=key,
        required=True,
        label_visibility="collapsed",
        on_change=_look_grain,
        args=(focus.context, key),
    )


def _metrics(focus: Focus) -> None:
    with st.popover("Metrics", icon=":material/tune:", type="tertiary"):
        key = dates_picker.followed_key(METRICS, list(focus.metrics))
        st.multiselect(
            "Figures in the headline",
            [field.name for field in focus.slicer.data_fields],
            format_func=lambda name: _title(focus, name),
            key=key,
            filter_mode="contains",
            select_all=False,
            width=380,
            on_change=_ask_metrics,
            args=(focus.context, key),
        )


def _title(focus: Focus, name: str) -> str:
    return numbers.title(focus.slicer.data_field(name))


def _look_field(context: PageContext) -> None:
    question.look(context, field=st.session_state[FIELD])
    st.rerun()


def _look_grain(context: PageContext, key: str) -> None:
    question.look(context, grain=st.session_state[key])
    st.rerun()


def _ask_metrics(context: PageContext, key: str) -> None:
    chosen = tuple(st.session_state[key])
    question.ask(question.current(context).model_copy(update={"data_fields": chosen or None}))
    st.rerun()
