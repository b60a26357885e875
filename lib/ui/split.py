"""The split: by which key fields, as table, bars or heatmap; a click on a value drills."""

from collections.abc import Callable

import streamlit as st

from lib.reporting.answers import Audience
from lib.ui import (
    ask,
    drill,
    figure_controls,
    focus,
    nothing,
    precision,
    problems,
    question,
    shortfalls,
    split_asks,
    split_charts,
    split_picker,
    split_rows,
    values,
)
from lib.ui.focus import Focus
from lib.ui.frame import Here
from lib.ui.split_rows import Split
from lib.ui.view import CHARTS, MOST, Chart
from lib.ui.waiting import awaited

CHART, HEIGHT, MORE = "split_chart", 380, 5
ICONS: dict[Chart, str] = {
    "table": ":material/table_rows:",
    "bars": ":material/bar_chart:",
    "heatmap": ":material/grid_on:",
}


@st.fragment(parallel=True)
def draw(here: Here) -> None:
    """The controls at once, then the answer in the shape that is chosen."""
    if not here.slicer.data_fields:
        return
    seen = focus.of(here)
    with st.container(horizontal=True, vertical_alignment="center", key="split"):
        split_picker.draw(here)
        if seen.query.split_by:
            _chart_picker(seen)
            drill.draw_mode()
            st.space("stretch")
            said = st.container(width="content")
    if seen.query.split_by:
        with problems.told("The split"):
            with awaited(HEIGHT, figure_controls.FIELD):
                split = _asked(seen)
            if nothing.is_there(split.answer):
                said.caption(precision.sentence(split.answer, seen.field.name, seen.numbers))
                _shown(seen, split)


def _asked(seen: Focus) -> Split:
    if _chart(seen) == "heatmap":
        answer = split_asks.grid(seen)
        split = Split(answer, None, seen.field, seen.slicer)
    else:
        answer = ask.audience(seen.here, seen.rows())
        split = Split(answer, split_asks.before(seen, answer), seen.field, seen.slicer)
    values.remember(seen.here, answer)
    return split


def _shown(seen: Focus, split: Split) -> None:
    draw_as: dict[Chart, Callable[[Focus, Split], None]] = {
        "table": split_charts.table,
        "bars": split_charts.bars,
        "heatmap": split_charts.heatmap,
    }
    if notes := _notes(seen, split):
        st.caption(" ".join(notes))
    draw_as[_chart(seen)](seen, split)
    if _chart(seen) != "heatmap":
        _more(seen, split.answer)


def _chart(seen: Focus) -> Chart:
    """A heatmap takes two key fields; with one, bars stand in."""
    is_too_few = seen.view.chart == "heatmap" and len(seen.query.split_by) < 2
    return "bars" if is_too_few else seen.view.chart


def _chart_picker(seen: Focus) -> None:
    st.session_state[CHART] = seen.view.chart
    st.segmented_control(
        "Show as",
        CHARTS,
        format_func=lambda chart: f"{ICONS[chart]} {chart.capitalize()}",
        key=CHART,
        required=True,
        label_visibility="collapsed",
        on_change=_look_chart,
        args=(seen.here,),
    )


def _notes(seen: Focus, split: Split) -> list[str]:
    """What a reader has to know about these rows."""
    notes = []
    for name in split.segmented:
        count = split_asks.overlap(seen, name)
        if count is not None:
            field = seen.slicer.key_field(name).description or name
            notes.append(f"{field}: {seen.numbers.number(count, 1)} values per record: shares exceed 100 %.")
    notes += split_rows.doubts(split, seen.numbers)
    notes += shortfalls.codes(seen.slicer, split.keys)
    if seen.view.chart == "heatmap" and len(split.keys) < 2:
        notes.append("A heatmap takes two key fields: add one to the split.")
    if _chart(seen) == "heatmap" and len(seen.query.split_by) > 2:
        notes.append("The heatmap shows the first two key fields.")
    return notes


def _more(seen: Focus, answer: Audience) -> None:
    found, shown = answer.total.records_found, len(answer)
    number = seen.numbers.number
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"{number(shown)} of {number(found)} rows" if found > shown else f"{number(found)} rows",
            width="content",
        )
        if found > shown and seen.view.rows < MOST:
            st.button("Show more", type="tertiary", on_click=_look_more, args=(seen,))


def _look_chart(here: Here) -> None:
    question.look(here, chart=st.session_state[CHART])


def _look_more(seen: Focus) -> None:
    question.look(seen.here, rows=min(seen.view.rows * MORE, MOST))
