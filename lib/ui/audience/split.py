"""The split: by which key fields, as table, bars or heatmap; a click on a value drills."""

from collections.abc import Callable

import streamlit as st

from lib.reporting.answers import Audience
from lib.reporting.models import DataField
from lib.ui.audience import figure_controls, nothing, split_charts, split_queries
from lib.ui.frame import problems
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.frame.waiting import awaited
from lib.ui.question import (
    ask,
    drill,
    export_menu,
    focus,
    precision,
    question,
    shortfalls,
    split_picker,
    split_rows,
    values,
)
from lib.ui.question.focus import Focus
from lib.ui.question.split_rows import Split
from lib.ui.question.view import CHARTS, MOST, Chart

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
    drill.catch_up(here)
    seen = focus.of(here)
    with st.container(horizontal=True, vertical_alignment="center", key="split"):
        split_picker.draw(here)
        if seen.query.split_by:
            _chart_picker(seen)
            if _chart(seen) != "table":
                drill.draw_mode()
            st.space("stretch")
            said = st.container(width="content")
            taken = st.container(width="content")
    if seen.query.split_by:
        with problems.told("The split"):
            with awaited(HEIGHT, figure_controls.FIELD):
                split = _asked(seen)
            if nothing.is_there(split.answer):
                said.caption(plain(precision.over(split.answer, _in_sight(seen), seen.numbers)))
                with taken:
                    export_menu.draw(seen, "split", split.answer, _in_sight(seen))
                _shown(seen, split)
            ask.refined()


def _in_sight(seen: Focus) -> list[DataField]:
    """The data fields whose figures are to be seen, the one in front first: the table has them all."""
    names = seen.fields if _chart(seen) == "table" else seen.fields[:1]
    return [seen.slicer.data_field(name) for name in names]


def _asked(seen: Focus) -> Split:
    if _chart(seen) == "heatmap":
        answer = split_queries.grid(seen)
        both = None
    else:
        answer = ask.quickly(seen.here, seen.rows())
        both = split_queries.both_sides(seen, answer)
    values.remember(seen.here, answer)
    return Split(answer, both, seen.field, seen.slicer, seen.period, ask.today(seen.here, seen.query))


def _shown(seen: Focus, split: Split) -> None:
    draw_as: dict[Chart, Callable[[Focus, Split], None]] = {
        "table": split_charts.table,
        "bars": split_charts.bars,
        "heatmap": split_charts.heatmap,
    }
    draw_as[_chart(seen)](seen, split)
    if _chart(seen) != "heatmap":
        _more(seen, split.answer)
    if notes := _notes(seen, split):
        st.caption(" ".join(notes))


def _chart(seen: Focus) -> Chart:
    """A heatmap takes two key fields; with one, bars stand in."""
    is_too_few = seen.view.chart == "heatmap" and len(seen.query.split_by) < 2
    return "bars" if is_too_few else seen.view.chart


def _chart_picker(seen: Focus) -> None:
    st.session_state[CHART] = seen.view.chart
    st.segmented_control(
        "Show as",
        CHARTS,
        format_func=lambda chart: f"{ICONS[chart]} {plain(chart.capitalize())}",
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
        count = split_queries.overlap(seen, name)
        if count is not None:
            field = seen.slicer.key_field(name).description or name
            notes.append(
                f"{plain(field)}: {seen.numbers.number(count, 1)} values per record: shares exceed 100 %."
            )
    notes += split_rows.doubts(split, seen.numbers)
    if _chart(seen) == "heatmap" and split_rows.few(split).any():
        notes.append(f"Hatched: fewer than {split_rows.FEW} records; the colours leave these cells out.")
    notes += map(plain, shortfalls.codes(seen.slicer, split.keys))
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
