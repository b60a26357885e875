"""A slicer's fields, and the top values of the chosen one, each of which leads to Audience."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from lib.reporting.models import DataField, KeyField
from lib.ui.charts import theme
from lib.ui.charts.numbers import Numbers, days, title
from lib.ui.explore import fields, screen, top_board, top_values
from lib.ui.explore.top_values import TopValues
from lib.ui.kit import problems, rows
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.rows import Taken
from lib.ui.kit.straight import straighten
from lib.ui.query import ask, precision, question
from lib.ui.query.explored import NOTHING, Explored

SEARCH, ROW = "fields_search", 33
NO_TOOLBAR = "<style>.st-key-fields [data-testid=stElementToolbar] { display: none; }</style>"


@dataclass(frozen=True)
class Shelf:
    """A table of fields, one of which is chosen. `key` stores the choice in the session.

    Whether searching chooses the first field that it finds says `follows_search`: a key field's top values
    are shown while its name is typed, but what is measured changes by a click alone.
    """

    key: str
    what: str
    fields: Sequence[Any]
    usual: str
    table: Callable[[Sequence[Any]], pd.DataFrame]
    rows: int
    follows_search: bool


@dataclass(frozen=True)
class ShelfDrawn:
    """The inputs of a drawn table: the search text, the field chosen, and how often it was recreated."""

    text: str = ""
    name: str = ""
    turn: int = 0


@dataclass(frozen=True)
class Picked:
    """The field chosen of a shelf, and what its table was drawn with (None: not drawn)."""

    shelf: Shelf
    name: str
    drawn: ShelfDrawn | None


@st.fragment
def explorer(context: PageContext) -> None:
    """Draw the fields on the left, and the top values of the chosen one on the right."""
    if not context.slicer.key_fields or not context.slicer.data_fields:
        st.info("This slicer has no fields yet.")
        return
    left, right = st.columns([11, 13], gap="medium")
    with left:
        text = st.text_input(
            "Search fields",
            type="search",
            placeholder="Search key fields and data fields",
            key=SEARCH,
            live=True,
            label_visibility="collapsed",
        )
        key_shelf, data_shelf = _shelves(context)
        with st.container(key="fields"):
            st.html(NO_TOOLBAR)
            linked = question.view(context).explored
            key = _pick(key_shelf, text or "", linked.key)
            data = _pick(data_shelf, text or "", linked.data)
        chosen = _remember(context, linked, key, data)
    with right:
        _answer(context, chosen)


def _shelves(context: PageContext) -> tuple[Shelf, Shelf]:
    slicer, where = context.slicer, f"{context.project}/{context.slicer_name}"
    first = next(iter(question.first_split(slicer)), slicer.key_fields[0].name)
    return (
        Shelf(f"key_field:{where}", "Key field", slicer.key_fields, first, fields.key_field_table, 8, True),
        Shelf(
            f"data_field:{where}",
            "Data field",
            slicer.data_fields,
            slicer.data_fields[0].name,
            fields.data_field_table,
            6,
            False,
        ),
    )


def _pick(shelf: Shelf, text: str, linked: str) -> Picked:
    """Draw the fields that the search finds; the one that is chosen: by a click, the link, or before."""
    matches = fields.matching(shelf.fields, text)
    name = linked or st.session_state.get(shelf.key, shelf.usual)
    name = fields.chosen_field(matches, name) if shelf.follows_search else name
    if not matches:
        st.caption(f"None of the {len(shelf.fields)} {plain(shelf.what.lower())}s matches.")
        return Picked(shelf, name, None)
    names = [field.name for field in matches]
    drawn: ShelfDrawn = st.session_state.get(f"{shelf.key}:drawn", ShelfDrawn())
    turn, before = drawn.turn, drawn.name if drawn.text == text else ""
    state = st.session_state.get(f"{shelf.key}:{text}:{turn}", {"selection": {"cells": []}})
    cells = state["selection"]["cells"]
    clicked = names[cells[0][0]] if cells and cells[0][0] < len(names) else before
    if clicked != before:
        name = clicked
    elif before and name != before:
        turn += 1  # the link changed: the table is made again, with the other field selected
    places = [at for at, other in enumerate(names) if other == name]
    st.dataframe(
        _highlight(straighten(shelf.table(matches)), places),
        height=ROW * (min(shelf.rows, len(matches)) + 1) + 2,
        hide_index=True,
        placeholder="",
        column_config={shelf.what: _count_label(shelf, len(matches))},
        key=f"{shelf.key}:{text}:{turn}",
        on_select="rerun",
        selection_mode="single-cell",
        selection_default={"selection": {"cells": [(at, shelf.what) for at in places]}},
        alt=f"{shelf.what}s of the slicer: choose one",
    )
    return Picked(shelf, name, ShelfDrawn(text, name, turn))


def _remember(context: PageContext, linked: Explored, key: Picked, data: Picked) -> Explored:
    """Put the chosen fields into the link, then remember them: in this order, no click is lost."""
    order = linked.order if (key.name, data.name) == (linked.key, linked.data) else None
    chosen = Explored(key.name, data.name, order)
    if chosen != linked and (
        linked != NOTHING or (key.name, data.name) != (key.shelf.usual, data.shelf.usual)
    ):
        question.look(context, explored=chosen)
    for one in (key, data):
        st.session_state[one.shelf.key] = one.name
        st.session_state[f"{one.shelf.key}:drawn"] = one.drawn or ShelfDrawn()
    return chosen


def _highlight(table: pd.DataFrame, places: list[int]) -> Styler:
    """The table with the chosen row highlighted, if the search finds it."""
    style = f"background-color: {theme.BAND}; font-weight: 600"
    return table.style.apply(lambda _: [style] * table.shape[1], axis=1, subset=(places, slice(None)))


def _count_label(shelf: Shelf, found: int) -> str:
    of_all = f" of {len(shelf.fields)}" if found < len(shelf.fields) else ""
    return f"{shelf.what} ({found}{of_all})"


def _answer(context: PageContext, chosen: Explored) -> None:
    """The chosen fields and the top values; a click on a value carries it to Audience."""
    taken, chosen = top_board.catch_up(context, chosen)
    key, data = context.slicer.key_field(chosen.key), context.slicer.data_field(chosen.data)
    with st.container(horizontal=True, vertical_alignment="center"):
        name = key.description or key.name
        st.header(f"{plain(name)} by {plain(title(data))}", anchor=False, width="stretch")
        if st.button(f"Split by {plain(name)} in Audience", icon=":material/call_split:", key="split_by_it"):
            top_board.carry(
                context, question.current(context).model_copy(update={"split_by": (key.name,)}), data.name
            )
    with problems.report_errors("The top values"):
        query = screen.last_days(context)
        top = top_values.top_values(
            partial(ask.quickly, context), query, context.slicer, key.name, data.name, chosen.order
        )
        numbers = Numbers.of(st.context.locale)
        shown_days = days(*screen.period(context, query))
        sentence = plain(precision.over(top.answer, top.shown, numbers))
        st.caption(f"{top_values.counted(top, numbers)} · {shown_days} · {sentence}")
        _about(context, key, data, top)
        _table(top, taken)
        ask.refine()


def _about(context: PageContext, key: KeyField, data: DataField, top: TopValues) -> None:
    for field in (key, data):
        if known := fields.about(field):
            st.caption(f"**{plain(field.description or field.name)}** {plain(' · '.join(known))}")
    for sentence in (
        *precision.codes(context.slicer, [key.name]),
        *precision.optional_field_note(context.slicer, data),
    ):
        st.caption(plain(sentence))
    if top.order != top.data_field and top.by.name == top.order.name:
        st.caption(
            f"Ordered by {plain(title(top.order))}: {plain(title(data))} is a formula, and formulas "
            "are highest in the smallest groups."
        )


def _table(top: TopValues, taken: Taken) -> None:
    if not top.values:
        st.info("No data in these days.", icon=":material/info:")
        return
    table = top_board.board(top, Numbers.of(st.context.locale))
    rows.draw(top_board.BOARD, [table], taken, top_board.follow)
