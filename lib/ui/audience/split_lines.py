"""The split as small charts over time: the top values of a key field, from one query."""

from dataclasses import dataclass

import streamlit as st

from lib.figures import palette
from lib.figures.board import over_time, split_levels
from lib.figures.query import ask, split_rows
from lib.figures.query.focus import Focus
from lib.figures.query.split_rows import SplitRows
from lib.figures.query.view_parts import line_colors
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery
from lib.slicers.granularities import TIME_KEY_FIELDS, time_key_field
from lib.ui.charts import panels
from lib.ui.charts.panels import Panel
from lib.ui.query import export_menu
from lib.wire.filters import Filter

KEY, MOST_LINES = "split_lines", 12


@dataclass(frozen=True)
class LinesOverTime:
    """The values with their figures, and the field of each of them over time."""

    split: SplitRows
    answer: Audience
    panels: list[Panel]


def key_field(focus: Focus) -> str | None:
    """The key field whose values have a chart each: the first that is not time; None without one."""
    names = [name for name in focus.query.split_by if name not in TIME_KEY_FIELDS]
    return names[0] if names and focus.grain is not None else None


def fetch_over_time(focus: Focus, name: str) -> LinesOverTime:
    """The top values of the order, then each over time."""
    changes = {"split_by": (name,), "order_by": split_levels.order(focus, (name,)), "limit": MOST_LINES}
    query = focus.passing_rows().model_copy(update=changes)
    top = ask.estimate(focus.context, query)
    split = SplitRows.of(focus, top)
    values = tuple(map(str, top.names[name]))
    if not values:
        return LinesOverTime(split, top, [])
    query_over_time = _over_time(focus, name, values)
    colors = line_colors(focus.value_lines)
    lines = over_time.fetch_lines(
        focus,
        query_over_time,
        dict(zip(values, split_rows.row_labels(split), strict=True)),
        {value: colors.get((name, value), palette.ACCENT) for value in values},
    )
    figures = [focus.numbers.full(value, focus.field) for value in top.values[focus.field.name]]
    panels = [Panel(line, text) for line, text in zip(lines, figures, strict=True)]
    return LinesOverTime(split, ask.estimate(focus.context, query_over_time), panels)


def draw(focus: Focus, lines: LinesOverTime, title: str) -> None:
    """Draw the charts."""
    st.plotly_chart(
        panels.figure(lines.panels, focus.field, focus.numbers), key=KEY,
        config=export_menu.config(focus, KEY), alt=panels.alternative(lines.panels, title),
    )  # fmt: skip


def _over_time(focus: Focus, name: str, values: tuple[str, ...]) -> AudienceQuery:
    only = Filter(name=name, value=values, match="equals")
    changes = {
        "split_by": (time_key_field(focus.grain or "day"), name),
        "filters": (*focus.query.filters, only),
        "data_fields": (focus.field.name,),
    }
    return focus.over_time().model_copy(update=changes)
