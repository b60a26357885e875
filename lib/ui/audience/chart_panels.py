"""Below the time chart: what its lines show, its values as a table, and the notes on its days."""

from collections.abc import Mapping
from datetime import date
from functools import partial
from typing import Any

import streamlit as st

from lib.figures import numbers
from lib.figures.board.over_time import (
    _title,
    fetch_value_lines,
    has_trend,
    lines,
    notes_of,
    second,
    table,
    text,
    title,
    trends,
    value_trends,
)
from lib.figures.query import ask, compared_answers
from lib.figures.query.focus import Focus
from lib.figures.series import TRENDS, ChartLine
from lib.reporting.answers import Audience
from lib.ui.kit import problems
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import straighten
from lib.ui.query import dates_picker, history, note_list
from lib.ui.query.note_list import NotePlace
from lib.wire.text import straight


def draw_line_choices(focus: Focus) -> None:
    """Draw the choices of what the lines show of their buckets, and of a metric on a second axis."""
    fields = {"": "No second metric"} | {
        field.name: numbers.title(field, with_unit=True) for field in focus.slicer.data_fields
    }
    trends = {name: trend.label for name, trend in TRENDS.items()}
    _draw_choice(focus, "trend", "Lines show", trends)
    _draw_choice(focus, "second", "Second metric, on its own axis", fields)


def _draw_choice(focus: Focus, name: str, label: str, labels: Mapping[str, str]) -> None:
    value: str = getattr(focus.view, name)
    key = dates_picker.followed_key(f"chart_{name}", value)
    st.selectbox(
        label, list(labels), format_func=labels.__getitem__, key=key, on_change=_choose,
        args=(focus.context, name, key),
    )  # fmt: skip


def _choose(context: PageContext, name: str, key: str) -> None:
    history.change_view(context, **{name: st.session_state[key]})


def draw_values(focus: Focus) -> None:
    """Draw the values of the chart's lines as a table."""
    with problems.report_errors("The values"):
        query = focus.over_time()
        now = ask.estimate(focus.context, query)
        values = value_trends(focus, fetch_value_lines(focus), now)
        comparisons = compared_answers.fetch_each(focus, query, now)
        data = [ChartLine(line.label, line.now) for line in values]
        data = data or trends(focus, lines(focus, now, comparisons), now)
        writes: dict[Any, Any] = {straight(line.label): _plain(focus, now) for line in data}
        if (other := second(focus)) is not None:
            label = title(other, now)
            data.append(ChartLine(label, trends(other, lines(other, now, [None]), now)[0].series))
            writes[straight(label)] = _plain(other, now)
        st.dataframe(
            straighten(table(data)).style.format(writes), hide_index=True,
            placeholder=numbers.NOTHING, width="stretch", alt=_title(focus),
        )  # fmt: skip


def _plain(focus: Focus, now: Audience) -> Any:
    if has_trend(focus, now) and TRENDS[focus.view.trend].has_total:
        return lambda value: text(focus, now, value)
    return lambda value: focus.numbers.plain(value, focus.field)


def draw_notes(focus: Focus) -> None:
    """Draw the notes on the question's days, and a form for another one."""
    (notes, trouble), context = notes_of(focus), focus.context
    if trouble is not None:
        problems.show(trouble, "The notes", "Your question is kept.")
        return
    index = NotePlace(
        "date",
        "note",
        "What happened",
        "Campaign began",
        "Everybody who may see this slicer sees its notes.",
        partial(context.clients.view_store.notes.add, context.project, context.slicer_name),
        focus.period[1],
        partial(_saved_text, focus),
    )
    note_list.draw(context, index, notes, f"No notes on {numbers.days(*focus.period)}.")


def _saved_text(focus: Focus, day: date) -> str:
    """The confirmation of a saved note; it says where to look if the day is not on screen."""
    if focus.period[0] <= day <= focus.period[1]:
        return "Saved."
    return f"Saved on {numbers.day(day)}, which is not among the days on screen."
