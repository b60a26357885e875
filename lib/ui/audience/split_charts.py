"""Draws the rows, the bars or the heatmap of a split, with clicks on them, or its values over time."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from lib.figures import palette
from lib.figures.context import RequestContext
from lib.figures.overview import over_time, split_levels
from lib.figures.overview.split_tables import alternative
from lib.figures.query import ask, filters, split_rows
from lib.figures.query.focus import Focus, volume
from lib.figures.query.split_rows import SplitRows
from lib.figures.query.view_parts import line_colors
from lib.reporting.answers import Audience
from lib.slicers.granularities import TIME_KEY_FIELDS, time_key_field
from lib.ui.charts import bars as bar_chart
from lib.ui.charts import heatmap as heat_chart
from lib.ui.charts import panels, theme
from lib.ui.charts.bars import Bars
from lib.ui.charts.heatmap import Grid
from lib.ui.charts.panels import Panel
from lib.ui.kit import rows_mount
from lib.ui.query import export_menu, history, page_clicks
from lib.wire.filters import Filter

LINES, MOST_LINES = "split_lines", 12


def draw_rows(context: RequestContext) -> None:
    """Draw table or pivot. A click on a value keeps it alone, a click on a figure keeps its whole row."""
    # What is drawn acknowledges these clicks: they are read before the state, so that it has them at least.
    receipt = history.receipt(page_clicks.BOARD)
    request = {
        "project": context.project,
        "slicer": context.slicer_name,
        "params": history.current(context).params,
        "part": "split",
    }
    edition = [context.slicer.as_of, [field.model_dump() for field in context.slicer.own_fields]]
    rows_mount.draw_from_route(
        page_clicks.BOARD, request, edition, receipt, partial(page_clicks.catch_up, context)
    )


def bars(focus: Focus, split: SplitRows) -> None:
    """Draw the bars. A click drills into the bar's row."""
    split = split_rows.per_day(split)
    answer, name = split.answer, focus.field.name
    sampled = answer.low is not None and answer.high is not None and name in answer.low
    bars = Bars(
        split_rows.row_labels(split),
        answer.comparable(name).tolist(),
        answer.low[name].tolist() if sampled and answer.low is not None else None,
        answer.high[name].tolist() if sampled and answer.high is not None else None,
    )
    key = page_clicks.key("split_bars")
    st.plotly_chart(
        bar_chart.figure(bars, split.field, focus.numbers), key=key,
        on_select=partial(_keep_bar, focus, split, key), selection_mode="points",
        config=export_menu.config(focus, "split_bars"),
        alt=alternative(replace(focus, field=split.field), split.keys),
    )  # fmt: skip


def heatmap(focus: Focus, split: SplitRows) -> None:
    """Draw the heatmap of two key fields. A click drills into both values of the cell."""
    split = split_rows.per_day(split)
    grid = cells(split)
    descriptions = {
        key: dict(zip(split.answer.names[key], split_rows.labels(split)[key], strict=True))
        for key in split.keys
    }
    down, across = split.keys
    few = split.answer.names.assign(value=split_rows.few(split).astype(float))
    few = few.pivot(index=down, columns=across, values="value")
    label_grid = Grid(
        across=[filters.value_label(code, descriptions[across]) for code in grid.columns],
        down=[filters.value_label(code, descriptions[down]) for code in grid.index],
        values=grid.to_numpy(),
        few=few.reindex(index=grid.index, columns=grid.columns).fillna(value=False).to_numpy(dtype=bool),
    )
    figure = heat_chart.figure(label_grid, split.field, focus.numbers, theme.ink(st.context.theme.type))
    key = page_clicks.key("split_heatmap")
    st.plotly_chart(
        figure, key=key, on_select=partial(_keep_square, focus, split, grid, key), selection_mode="points",
        config=export_menu.config(focus, "split_heatmap"),
        alt=alternative(replace(focus, field=split.field), split.keys),
    )  # fmt: skip


def cells(split: SplitRows) -> pd.DataFrame:
    """The field's values with the first key field's codes down and the second's across.

    Codes are in the order of their volume, those of time key fields as time runs.
    """
    down, across = split.keys
    grid = split.answer.names.assign(value=split.answer.comparable(split.field.name)).pivot(
        index=down, columns=across, values="value"
    )
    return grid.loc[_order(split, down), _order(split, across)]


def _order(split: SplitRows, key: str) -> list[str]:
    codes = split.answer.names[key]
    if key in TIME_KEY_FIELDS:
        return sorted(codes.unique())
    volumes = pd.Series(split.answer.comparable(volume(split.slicer, split.field)))
    return [str(code) for code in volumes.groupby(codes).sum().sort_values(ascending=False).index]


def _keep_bar(focus: Focus, split: SplitRows, key: str) -> None:
    for point in st.session_state[key].selection.points[:1]:
        row = split.answer.names.iloc[round(point["y"])]
        page_clicks.into(focus.context, [(name, str(row[name])) for name in split.keys])


def _keep_square(focus: Focus, split: SplitRows, grid: pd.DataFrame, key: str) -> None:
    for point in st.session_state[key].selection.points[:1]:
        down, across = split.keys
        row, column = str(grid.index[round(point["y"])]), str(grid.columns[round(point["x"])])
        page_clicks.into(focus.context, [(down, row), (across, column)])


def line_field(focus: Focus) -> str | None:
    """The key field whose values have a chart each: the first that is not time; None without one."""
    names = [name for name in focus.query.split_by if name not in TIME_KEY_FIELDS]
    return names[0] if names and focus.grain is not None else None


def fetch_lines(focus: Focus, name: str) -> tuple[SplitRows, Audience, list[Panel]]:
    """The top values of the order with their figures; and each over time: its answer, and its chart."""
    changes = {"split_by": (name,), "order_by": split_levels.order(focus, (name,)), "limit": MOST_LINES}
    query = focus.passing_rows().model_copy(update=changes)
    top = ask.estimate(focus.context, query)
    split = SplitRows.of(focus, top)
    values = tuple(map(str, top.names[name]))
    if not values:
        return split, top, []
    changes = {
        "split_by": (time_key_field(focus.grain or "day"), name),
        "filters": (*focus.query.filters, Filter(name=name, value=values, match="equals")),
        "data_fields": (focus.field.name,),
    }
    query = focus.over_time().model_copy(update=changes)
    colors = line_colors(focus.value_lines)
    lines = over_time.fetch_lines(
        focus,
        query,
        dict(zip(values, split_rows.row_labels(split), strict=True)),
        {value: colors.get((name, value), palette.ACCENT) for value in values},
    )
    figures = [focus.numbers.full(value, focus.field) for value in split_rows.amounts(top, focus.field.name)]
    charts = [Panel(line, text) for line, text in zip(lines, figures, strict=True)]
    return split, ask.estimate(focus.context, query), charts


def lines(focus: Focus, split: SplitRows, charts: Sequence[Panel]) -> None:
    """Draw a chart over time per value."""
    st.plotly_chart(
        panels.figure(charts, focus.field, focus.numbers), key=LINES,
        config=export_menu.config(focus, LINES),
        alt=panels.alternative(charts, alternative(focus, split.keys)),
    )  # fmt: skip
