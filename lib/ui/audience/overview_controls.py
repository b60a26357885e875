"""Controls of the overview: cards and downloads beside its tabs, lines, values and notes of its chart, and
its parts of the menu More."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

import streamlit as st

from lib.figures import numbers
from lib.figures.context import RequestContext
from lib.figures.overview import headline, split_table
from lib.figures.overview.leaderboards import CardSource
from lib.figures.overview.over_time import notes_of
from lib.figures.query import ask, card, filters, state
from lib.figures.query.card import Card
from lib.figures.query.focus import Focus
from lib.figures.query.periods import granularities
from lib.figures.series import TRENDS
from lib.ui.audience import own_metrics
from lib.ui.kit import problems
from lib.ui.kit.frame import PageContext
from lib.ui.query import current_focus, dates_picker, export_menu, history, note_list, page_clicks
from lib.ui.query.bar import MenuPart
from lib.ui.query.note_list import NotePlace
from lib.wire.text import write_day

LONG_LIST: Mapping[str, Any] = {"filter_mode": "contains", "select_all": False, "width": 380}
PICKER = "leaderboard_picker"


def draw_leaderboard_picker(focus: Focus) -> None:
    """Draw the choice of the cards' key fields, how many are in a row, and the unit of changes."""
    context, slicer = focus.context, focus.slicer
    key = dates_picker.followed_key("card_fields", [source.name for source in focus.cards])
    titles = {field.name: filters.field(field.name, slicer) for field in slicer.key_fields}
    st.multiselect(
        "Key fields with a leaderboard", list(titles), format_func=titles.__getitem__, key=key,
        max_selections=card.MOST_CARDS, on_change=_ask_fields, args=(context, key), **LONG_LIST,
    )  # fmt: skip
    columns = {field.name: numbers.title(field) for field in slicer.data_fields}
    st.multiselect(
        "More columns in each card", list(columns), format_func=columns.__getitem__,
        max_selections=state.MOST_COLUMNS, **_follow(focus, "columns", "card_columns"), **LONG_LIST,
    )  # fmt: skip
    draw_compared_columns(focus)
    st.segmented_control(
        "Cards in a row", state.ACROSS, required=True, **_follow(focus, "across", "card_across")
    )
    st.segmented_control(
        "Changes in", state.CHANGES, format_func=str.capitalize, required=True,
        **_follow(focus, "changes", "card_changes"),
    )  # fmt: skip


def _follow(focus: Focus, name: str, key_name: str) -> dict[str, Any]:
    """The key of a control that shows this field of the view, and the callback that changes the field."""
    value = getattr(focus.view, name)
    key = dates_picker.followed_key(key_name, list(value) if isinstance(value, tuple) else value)
    return {"key": key, "on_change": history.change_by, "args": (focus.context, name, key)}


def draw_compared_columns(focus: Focus) -> None:
    """Draw the choice of columns of the days compared, of leaderboards and of the split alike."""
    key = dates_picker.followed_key("compared_columns", list(focus.view.compared_columns))
    titles = {"previous": "Previous", "amount": "Change, absolute"}
    st.pills(
        "Beside each figure, of the days compared", state.COMPARED_COLUMNS, format_func=titles.__getitem__,
        selection_mode="multi", key=key, on_change=_ask_compared_columns, args=(focus.context, key),
    )  # fmt: skip


def _ask_compared_columns(context: PageContext, key: str) -> None:
    history.change_view(context, compared_columns=state.compared_columns(st.session_state[key]))


def _ask_fields(context: RequestContext, key: str) -> None:
    """Change the cards to these key fields, keeping their orders; without any, to the default cards.

    They are remembered, but for the texts to find.
    """
    page_state, default_cards = history.current(context), card.default_cards(context.slicer)
    cards = page_state.view.cards or current_focus.own_cards(context) or default_cards
    before = {old.name: old for old in cards}
    selection = tuple(before.get(name, Card(name)) for name in st.session_state[key])
    new_cards = None if selection == default_cards else selection or None
    current_focus.store_own_cards(context, new_cards and tuple(replace(new, find="") for new in new_cards))
    history.change(page_state.with_view(cards=new_cards))


def draw_leaderboard_csv(focus: Focus) -> None:
    """Draw the choice of card and its download; its question has no filters on the card's own values."""
    cards = {source.name: source for source in focus.cards}
    name = st.selectbox(
        "Leaderboard", list(cards), format_func=lambda name: filters.field(name, focus.slicer),
        key="exported_card", width=380,
    )  # fmt: skip
    if name not in cards:
        return
    with problems.report_errors("The file of this leaderboard"):
        source = CardSource(focus, cards[name])
        leaderboard = source.leaderboard(source.rows())
        changes = {"split_by": (name,), "filters": source.query.filters, "order_by": ()}
        whole = focus.query.model_copy(update=changes)
        kinds = focus.view.compared_columns
        columns = split_table.file_columns(leaderboard.split, (), kinds, focus.numbers)
        label, card_focus = "Download these rows as CSV", replace(focus, query=whole)
        export_menu.rows(card_focus, "leaderboard", leaderboard.split.answer, [focus.field], label, columns)
        export_menu.way_on("Open all its values in Export", whole)


@st.fragment
def draw(context: PageContext) -> None:
    """Draw the controls; what is inside of one is computed only while it is open."""
    if not context.slicer.data_fields:
        return
    page_clicks.catch_up(context)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="overview_controls"):
        popover = st.popover(
            "Cards", icon=":material/leaderboard:", type="tertiary", key=PICKER, on_change="rerun"
        )
        # As high as what it will have: the browser opens it where there is room for what it has then.
        with popover, st.container(height=400, border=False):
            if popover.open:
                draw_leaderboard_picker(current_focus.current(context))
        if (menu := export_menu.open_menu("leaderboards")) is not None:
            with menu:
                page_focus = current_focus.current(context)
                draw_leaderboard_csv(page_focus)
                draw_chart_files(page_focus)
                export_menu.way_on()


def draw_chart_files(focus: Focus) -> None:
    """Draw the downloads of the time chart: its rows, and a picture; nothing without time key fields."""
    if focus.grain is None:
        return
    with problems.report_errors("The file of the time chart"):
        now = ask.estimate(focus.context, focus.over_time())
        fields = headline.fields_in_sight(focus)
        export_menu.rows(focus, "chart", now, fields, "Download the time chart's rows as CSV")
        export_menu.button("chart", file=export_menu.file(focus, "chart"))


def menu_parts(context: PageContext) -> dict[str, MenuPart]:
    """What the menu More has of the overview, by name; nothing about a slicer without data fields."""
    if not context.slicer.data_fields:
        return {}
    parts: dict[str, Callable[[Focus], None]] = {"Metrics": _metrics}
    if granularities(context.slicer):
        parts["Lines"] = draw_line_choices
        parts["Notes"] = draw_notes
    return {name: partial(_draw_part, draw=draw_part) for name, draw_part in parts.items()}


def _draw_part(context: PageContext, draw: Callable[[Focus], None]) -> None:
    page_clicks.catch_up(context)
    draw(current_focus.current(context))


def _metrics(focus: Focus) -> None:
    key = dates_picker.followed_key("shown_metrics", list(focus.metrics))
    st.multiselect(
        "Metrics in the headline", focus.slicer.data_names,
        format_func=lambda name: numbers.title(focus.slicer.data_field(name)), key=key,
        filter_mode="contains", select_all=False, on_change=_ask_metrics, args=(focus.context, key),
    )  # fmt: skip
    st.caption(
        "The lines below figures have one scale: their mean in the middle, at least 25 % to each side. A "
        "change has a color where it is more than noise, and good or bad news."
    )
    own_metrics.draw(focus.context)


def _ask_metrics(context: PageContext, key: str) -> None:
    names = tuple(st.session_state[key])
    history.change(history.current(context).with_query(data_fields=names or None))


def draw_line_choices(focus: Focus) -> None:
    """Draw the choices of what the lines show of their buckets, and of a metric on a second axis."""
    fields = {"": "No second metric"} | {
        field.name: numbers.title(field, with_unit=True) for field in focus.slicer.data_fields
    }
    trends = {name: trend.label for name, trend in TRENDS.items()}
    st.selectbox(
        "Lines show", list(trends), format_func=trends.__getitem__, **_follow(focus, "trend", "chart_trend")
    )
    st.selectbox(
        "Second metric, on its own axis", list(fields), format_func=fields.__getitem__,
        **_follow(focus, "second", "chart_second"),
    )  # fmt: skip


def draw_notes(focus: Focus) -> None:
    """Draw the notes on the question's days, and a form for another one."""
    (notes, trouble), context = notes_of(focus), focus.context
    if trouble is not None:
        problems.show(trouble, "The notes", "Your question is kept.")
        return
    place = NotePlace(
        "date", "note", "What happened", "Campaign began",
        "Everybody who may see this slicer sees its notes.",
        partial(context.clients.view_store.notes.add, context.project, context.slicer_name),
        focus.period[1], partial(_saved_text, focus),
    )  # fmt: skip
    note_list.draw(context, place, notes, f"No notes on {numbers.days(*focus.period)}.")


def _saved_text(focus: Focus, day: date) -> str:
    """The confirmation of a saved note; it says where to look if the day is not on screen."""
    if focus.period[0] <= day <= focus.period[1]:
        return "Saved."
    return f"Saved on {write_day(day)}, which is not among the days on screen."
