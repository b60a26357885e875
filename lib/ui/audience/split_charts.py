"""Draws a split as table, pivot, bars or heatmap, and handles clicks on it."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.ui.audience import pivot_cross, split_levels, split_pivot, split_table
from lib.ui.audience.split_pivot import Pivot
from lib.ui.charts import bars as bar_chart
from lib.ui.charts import heatmap as heat_chart
from lib.ui.charts import numbers, theme
from lib.ui.charts.bars import Bars
from lib.ui.charts.heatmap import Grid
from lib.ui.kit import rows
from lib.ui.kit.frame import PageContext
from lib.ui.kit.rows import Table
from lib.ui.query import clicks, export_menu, filters, focus, history, split_rows
from lib.ui.query.focus import Focus
from lib.ui.query.split_rows import SplitRows


def draw_rows(context: PageContext) -> None:
    """Draw table or pivot. A click on a value keeps it alone, a click on a figure keeps its whole row."""
    # What is drawn acknowledges these clicks: they are read before the state, so that it has them at least.
    receipt = history.receipt(clicks.BOARD)
    request = {
        "project": context.project,
        "slicer": context.slicer_name,
        "params": history.current(context).params,
        "part": "split",
    }
    edition = [context.slicer.as_of, [field.model_dump() for field in context.slicer.own_fields]]
    rows.draw_from_route(clicks.BOARD, request, edition, receipt, partial(clicks.catch_up, context))


def table(focus: Focus, split: SplitRows) -> Table:
    """The split's table."""
    more = [focus.slicer.data_field(name) for name in focus.metrics if name != focus.field.name]
    cells = split_table.table(split, more, focus.numbers, _is_ranked(focus), focus.view.compared_columns)
    return split_table.board(cells, split, focus.query, focus.order, alternative(focus, split.keys))


def fetch_pivot(focus: Focus) -> Pivot:
    """The pivot, from a question per level of its rows, and one more each for the values across."""
    more = [focus.slicer.data_field(name) for name in focus.metrics if name != focus.field.name]
    rows = pivot_cross.row_focus(focus)
    levels = split_levels.fetch_levels(rows)
    cross = pivot_cross.fetch(focus, levels)
    column_kinds = focus.view.compared_columns
    return Pivot(rows.query, levels, focus.view.expansion, more, focus.numbers, cross, column_kinds)


def pivot(focus: Focus, pivot: Pivot) -> Table:
    """The pivot as a table whose rows open."""
    order = split_levels.order(pivot_cross.row_focus(focus), pivot.query.split_by[:1])
    return split_pivot.table(pivot, order, alternative(focus, focus.query.split_by))


def _is_ranked(focus: Focus) -> bool:
    """Whether the rows are the largest of all by the field in front."""
    first = focus.order[0]
    return (first.name, first.direction) == (focus.field.name, "desc") and not focus.query.offset


def bars(focus: Focus, split: SplitRows) -> None:
    """Draw the bars. A click drills into the bar's row."""
    answer, name = split.answer, focus.field.name
    sampled = answer.low is not None and answer.high is not None and name in answer.low
    bars = Bars(
        split_rows.row_labels(split),
        answer.values[name].tolist(),
        answer.low[name].tolist() if sampled and answer.low is not None else None,
        answer.high[name].tolist() if sampled and answer.high is not None else None,
    )
    key = clicks.key("split_bars")
    st.plotly_chart(
        bar_chart.figure(bars, focus.field, focus.numbers), key=key,
        on_select=partial(_keep_bar, focus, split, key), selection_mode="points",
        config=export_menu.config(focus, "split_bars"), alt=alternative(focus, split.keys),
    )  # fmt: skip


def heatmap(focus: Focus, split: SplitRows) -> None:
    """Draw the heatmap of two key fields. A click drills into both values of the cell."""
    grid, few = cells(split), few_cells(split)
    descriptions = {
        key: dict(zip(split.answer.names[key], split_rows.labels(split)[key], strict=True))
        for key in split.keys
    }
    down, across = split.keys
    label_grid = Grid(
        across=[filters.value_label(code, descriptions[across]) for code in grid.columns],
        down=[filters.value_label(code, descriptions[down]) for code in grid.index],
        values=grid.to_numpy(),
        few=few.reindex(index=grid.index, columns=grid.columns).fillna(value=False).to_numpy(dtype=bool),
    )
    figure = heat_chart.figure(label_grid, focus.field, focus.numbers, theme.ink(st.context.theme.type))
    key = clicks.key("split_heatmap")
    st.plotly_chart(
        figure, key=key, on_select=partial(_keep_square, focus, split, grid, key), selection_mode="points",
        config=export_menu.config(focus, "split_heatmap"), alt=alternative(focus, split.keys),
    )  # fmt: skip


def cells(split: SplitRows) -> pd.DataFrame:
    """The field's values with the first key field's codes down and the second's across.

    Codes are in the order of their volume, those of time key fields as time runs.
    """
    down, across = split.keys
    grid = split.answer.names.assign(value=split.answer.values[split.field.name]).pivot(
        index=down, columns=across, values="value"
    )
    return grid.loc[_order(split, down), _order(split, across)]


def few_cells(split: SplitRows) -> pd.DataFrame:
    """A mask of the cells based on few records, with the same codes down and across, in any order."""
    down, across = split.keys
    few = split.answer.names.assign(value=split_rows.few(split).astype(float))
    return few.pivot(index=down, columns=across, values="value")


def _order(split: SplitRows, key: str) -> list[str]:
    codes = split.answer.names[key]
    if key in TIME_KEY_FIELDS:
        return sorted(codes.unique())
    volume = split.answer.values[focus.volume(split.slicer, split.field)]
    return [str(code) for code in volume.groupby(codes).sum().sort_values(ascending=False).index]


def alternative(focus: Focus, keys: Sequence[str]) -> str:
    """The alternative text of a chart of the split."""
    fields = ", ".join(filters.field(key, focus.slicer) for key in keys)
    return f"{numbers.title(focus.field)} by {fields}, {numbers.days(*focus.period)}"


def _keep_bar(focus: Focus, split: SplitRows, key: str) -> None:
    for point in _points(key):
        row = split.answer.names.iloc[round(point["y"])]
        clicks.into(focus.context, [(name, str(row[name])) for name in split.keys])


def _keep_square(focus: Focus, split: SplitRows, grid: pd.DataFrame, key: str) -> None:
    for point in _points(key):
        down, across = split.keys
        row, column = str(grid.index[round(point["y"])]), str(grid.columns[round(point["x"])])
        clicks.into(focus.context, [(down, row), (across, column)])


def _points(key: str) -> list[Any]:
    """The point that was clicked, if one was."""
    points: list[Any] = st.session_state[key].selection.points
    return points[:1]
