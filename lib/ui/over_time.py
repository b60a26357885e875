"""The field over time: its controls, its chart, the brush that zooms, and its table."""

from datetime import date, datetime, timedelta
from typing import Any

import pandas as pd
import streamlit as st

from lib.reporting.answers import Audience
from lib.ui import charts, look, numbers, precision, question, series
from lib.ui.charts import Named
from lib.ui.focus import Focus
from lib.ui.frame import Here
from lib.ui.series import Series
from lib.ui.view import granularities

FIELD, GRAIN, CHART, METRICS, ZOOMED = (
    "shown_field",
    "shown_grain",
    "time_chart",
    "shown_metrics",
    "before_zoom",
)


def draw_controls(focus: Focus, now: Audience) -> None:
    """Which data field the page shows, at which granularity; and how precise it is."""
    names = [field.name for field in focus.slicer.data_fields]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.session_state[FIELD] = focus.field.name
        st.selectbox(
            "Data field",
            names,
            format_func=lambda name: numbers.title(focus.slicer.data_field(name), with_unit=True),
            key=FIELD,
            label_visibility="collapsed",
            filter_mode="contains",
            width=230,
            on_change=_look_field,
            args=(focus.here,),
        )
        if focus.grain is not None:
            st.session_state[GRAIN] = focus.grain
            st.segmented_control(
                "Granularity",
                granularities(focus.slicer),
                format_func=str.capitalize,
                key=GRAIN,
                required=True,
                label_visibility="collapsed",
                on_change=_look_grain,
                args=(focus.here,),
            )
        _metrics(focus, names)
        if before := st.session_state.get(ZOOMED):
            st.button(
                "Zoom out",
                icon=":material/zoom_out:",
                type="tertiary",
                on_click=_zoom_out,
                args=(focus.here, before),
            )
        st.space("stretch")
        st.caption(precision.sentence(now, focus.field.name, focus.numbers), width="content")


def draw_chart(focus: Focus, now: Audience, before: Audience | None) -> None:
    """The chart, whose days can be brushed, and its table twin, folded."""
    if focus.grain is None:
        return
    shown = series.over(now, focus.field.name, focus.grain, focus.period)
    lines = [Named(numbers.span(*focus.period), shown)]
    if before is not None and focus.compared is not None:
        earlier = numbers.span(*focus.compared)
        lines.append(Named(earlier, series.over(before, focus.field.name, focus.grain, focus.compared)))
    figure = charts.over_time(lines[0], lines[1] if len(lines) > 1 else None, focus.field, focus.numbers)
    title = numbers.title(focus.field)
    st.plotly_chart(
        figure,
        key=CHART,
        on_select=lambda: _zoom(focus, shown),
        selection_mode="box",
        config=look.CONFIG,
        alt=f"{title} by {focus.grain}, {numbers.days(*focus.period)}",
    )


def table(focus: Focus, lines: list[Named]) -> pd.DataFrame:
    """The chart's numbers: a row per bucket."""
    first = lines[0].series
    columns: dict[str, Any] = {str(focus.grain).capitalize(): first.names}
    for line in lines:
        padded = [*line.series.values[: len(first)], *[float("nan")] * (len(first) - len(line.series))]
        columns[line.label] = padded
    return pd.DataFrame(columns)


def days_of(box: list[Any], grain_starts: Series) -> tuple[date, date] | None:
    """The days that a brushed range of the time axis touches: those of its buckets, at least one."""
    low, high = sorted(datetime.fromisoformat(str(edge)[:19]) for edge in box)
    starts = grain_starts.starts
    ends = [*starts[1:], starts[-1] + (starts[-1] - starts[-2] if len(starts) > 1 else timedelta(days=1))]
    touched = [(a, b) for a, b in zip(starts, ends, strict=True) if a >= low and a <= high]
    if not touched:
        touched = [(a, b) for a, b in zip(starts, ends, strict=True) if a <= high and b > low][:1]
    if not touched:
        return None
    return touched[0][0].date(), (touched[-1][1] - timedelta(seconds=1)).date()


def _metrics(focus: Focus, names: list[str]) -> None:
    with st.popover("Metrics", icon=":material/tune:", type="tertiary"):
        st.session_state[METRICS] = list(focus.metrics)
        st.multiselect(
            "Figures in the headline",
            names,
            format_func=lambda name: numbers.title(focus.slicer.data_field(name)),
            key=METRICS,
            filter_mode="contains",
            select_all=False,
            width=380,
            on_change=_ask_metrics,
            args=(focus.here,),
        )


def _look_field(here: Here) -> None:
    question.look(here, field=st.session_state[FIELD])
    st.rerun()


def _look_grain(here: Here) -> None:
    question.look(here, grain=st.session_state[GRAIN])
    st.rerun()


def _ask_metrics(here: Here) -> None:
    question.ask(
        question.current(here).model_copy(update={"data_fields": tuple(st.session_state[METRICS]) or None})
    )
    st.rerun()


def _zoom(focus: Focus, shown: Series) -> None:
    boxes = st.session_state[CHART].selection.box
    found = days_of(boxes[0]["x"], shown) if boxes else None
    if found is None or found == focus.period:
        return
    st.session_state.setdefault(ZOOMED, (focus.query.start_date, focus.query.end_date))
    _ask_days(focus.here, found[0].isoformat(), found[1].isoformat())


def _zoom_out(here: Here, before: tuple[str, str]) -> None:
    del st.session_state[ZOOMED]
    _ask_days(here, *before)


def _ask_days(here: Here, start: str, end: str) -> None:
    question.ask(question.current(here).model_copy(update={"start_date": start, "end_date": end}))
    question.look(here, grain=None)
    st.rerun()
