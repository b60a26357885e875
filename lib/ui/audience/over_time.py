"""The field over time: a chart with a brush, and its table."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

import pandas as pd
import streamlit as st

from lib.reporting.answers import Audience
from lib.ui.charts import numbers, series, time_chart, value_lines
from lib.ui.charts.series import Series
from lib.ui.charts.time_chart import Named
from lib.ui.charts.value_lines import ValueLine
from lib.ui.kit.straight import straightened
from lib.ui.query import ask, drill, export_menu, question
from lib.ui.query.compared_answers import ComparedAnswers
from lib.ui.query.focus import Focus
from lib.views import Note
from lib.wire.text import straight

CHART, TWIN = "time_chart", "time_table"
TABLE_WIDTH = 420


def lines(focus: Focus, now: Audience, found: ComparedAnswers | None) -> list[Named]:
    """The line of the period and the one compared; none without time key fields."""
    if focus.grain is None:
        return []
    name, today = focus.field.name, ask.today(focus.context, focus.query)
    line = series.over(now, name, focus.grain, focus.period, today)
    shown = [Named(numbers.span(*focus.period), line)]
    if found is not None and focus.compared is not None and focus.comparison is not None:
        there = focus.comparison.before
        earlier = series.over(found.before, name, focus.grain, focus.compared, today, there)
        shown.append(Named(numbers.span(*there), earlier))
    return shown


def named(value_lines: Sequence[ValueLine]) -> list[Named]:
    """The lines of values, for the table."""
    return [Named(line.label, line.now) for line in value_lines]


def draw(
    focus: Focus, shown: Sequence[Named], values: Sequence[ValueLine] = (), noted: Sequence[Note] = ()
) -> None:
    """Draw the chart, of `values` if any are chosen, with a mark on each day that has notes.

    A range brushed on it becomes the question's days.
    """
    has_brush = not _is_touched()
    if values:
        figure = value_lines.over_time(values, focus.field, focus.numbers, has_brush)
    else:
        figure = time_chart.over_time(shown, focus.field, focus.numbers, has_brush)
    time_chart.draw(figure, noted, shown[0].series)
    st.plotly_chart(
        figure,
        key=CHART,
        on_select=lambda: _zoom(focus, shown[0].series),
        selection_mode="box",
        config=export_menu.config(focus, CHART),
        alt=alternative(focus, values, noted),
    )


def alternative(focus: Focus, values: Sequence[ValueLine] = (), noted: Sequence[Note] = ()) -> str:
    """The chart in words, for screen readers."""
    about = f"{_title(focus)}{_of(values)}, {numbers.days(*focus.period)}; the table is above the chart"
    return about + time_chart.spoken(noted)


def draw_table(focus: Focus, shown: Sequence[Named]) -> None:
    """Draw the chart's table in a popover."""
    popover = st.popover("Table", icon=":material/table_rows:", type="tertiary", key=TWIN, on_change="rerun")
    if popover.open:
        writes: dict[Any, Any] = {straight(line.label): _plain(focus) for line in shown}
        popover.dataframe(
            straightened(table(str(focus.grain), shown)).style.format(writes),
            hide_index=True,
            placeholder=numbers.NOTHING,
            width=TABLE_WIDTH,
            alt=_title(focus),
        )


def draw_zoom_out(focus: Focus) -> None:
    """Draw the button that leaves a zoom."""
    if focus.view.zoom:
        st.button(
            "Zoom out",
            icon=":material/zoom_out:",
            type="tertiary",
            on_click=_zoom_out,
            args=(focus,),
        )


def table(grain: str, shown: Sequence[Named]) -> pd.DataFrame:
    """A row per bucket of the first line, a column per line; the n-th of each side by side."""
    first = shown[0].series
    buckets = [series.said(name, part) for name, part in zip(first.names, first.parts, strict=True)]
    columns: dict[str, Any] = {grain.capitalize(): buckets}
    for line in shown:
        columns[line.label] = pd.Series(line.series.values).reindex(range(len(buckets)))
    return pd.DataFrame(columns)


def days_of(box: Sequence[Any], series: Series) -> tuple[date, date] | None:
    """The days that a brushed range of the time axis touches: those of its buckets, at least one."""
    low, high = sorted(datetime.fromisoformat(str(edge)[:19]) for edge in box)
    starts = series.starts
    length = starts[-1] - starts[-2] if len(starts) > 1 else timedelta(days=1)
    buckets = list(zip(starts, [*starts[1:], starts[-1] + length], strict=True))
    touched = [bucket for bucket in buckets if low <= bucket[0] <= high]
    touched = touched or [bucket for bucket in buckets if bucket[0] <= high and bucket[1] > low][:1]
    if not touched:
        return None
    return touched[0][0].date(), (touched[-1][1] - timedelta(seconds=1)).date()


def _of(values: Sequence[ValueLine]) -> str:
    return f" of {', '.join(line.label for line in values)}" if values else ""


def _title(focus: Focus) -> str:
    return f"{numbers.title(focus.field, with_unit=True)} by {focus.grain}"


def _plain(focus: Focus) -> Any:
    return lambda value: focus.numbers.plain(value, focus.field)


def _is_touched() -> bool:
    """Whether the device has a touch screen, where a drag over a chart scrolls."""
    return "Mobi" in st.context.headers.get("User-Agent", "")


def _zoom(focus: Focus, series: Series) -> None:
    """Change the question to the brushed days; the link keeps dates and granularity from before the zoom."""
    boxes = st.session_state[CHART].selection.box
    found = days_of(boxes[0]["x"], series) if boxes else None
    if found is None or found == focus.period:
        return
    query, changes = drill.zoomed(question.current(focus.context), focus.view, found)
    question.look(focus.context, query, **changes)
    st.rerun()


def _zoom_out(focus: Focus) -> None:
    query, changes = drill.zoomed_out(question.current(focus.context), focus.view)
    question.look(focus.context, query, **changes)
    st.rerun()
