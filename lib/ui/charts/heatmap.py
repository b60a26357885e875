"""A heatmap of two key fields of a split."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from lib.figures import palette
from lib.figures.numbers import Numbers, title
from lib.slicers.models import DataField
from lib.ui.charts import theme
from lib.ui.charts.theme import ROW, plain_text, shorten

REACH, ACROSS_FLAT, LABEL_ACROSS = 120, 8, 18
HATCHES = (-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Grid:
    """Labels across and down, and a value per cell (D down × A across; NaN: nothing there).

    `few` are the cells that rest on few records: they are hatched, and the colors leave them out.
    """

    across: Sequence[str]
    down: Sequence[str]
    values: np.ndarray
    few: np.ndarray | None = None

    @property
    def solid(self) -> np.ndarray:
        """The values, with those based on few records as NaN."""
        return self.values if self.few is None else np.where(self.few, np.nan, self.values)


def figure(grid: Grid, field: DataField, numbers: Numbers, ink: str = palette.GRAY) -> go.Figure:
    """The cells as colors and figures, under clear squares that take clicks. `ink`: the figures' color."""
    texts = [[plain_text(numbers.short(value, field)) for value in row] for row in grid.values]
    height = len(grid.down) * ROW + 90
    chart = theme.figure(height, numbers.separators, clickmode="event+select", dragmode=False)
    chart.update_layout(margin={"r": 56}, hovermode="closest", hoverdistance=REACH)
    chart.add_trace(_cells(grid, texts, field, ink))
    if grid.few is not None and grid.few.any():
        chart.add_trace(_hatches(grid.few))
    # Transparent squares over all cells, as the cells of a Plotly heatmap can't be selected by a click.
    squares = [(column, row) for row in range(len(grid.down)) for column in range(len(grid.across))]
    customdata = [
        f"{plain_text(grid.down[row])} · {plain_text(grid.across[column])}<br>"
        f"{plain_text(title(field))}: {texts[row][column]}"
        for column, row in squares
    ]
    markers = go.Scatter(
        x=[column for column, _ in squares], y=[row for _, row in squares], mode="markers",
        marker={"symbol": "square", "size": ROW, "color": theme.CLEAR}, customdata=customdata,
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip
    chart.add_trace(markers)
    chart.update_xaxes(
        side="top", range=[-0.5, len(grid.across) - 0.5], tickmode="array",
        tickvals=list(range(len(grid.across))), ticktext=shorten(grid.across, LABEL_ACROSS),
        tickangle=-35 if len(grid.across) > ACROSS_FLAT else 0,
    )  # fmt: skip
    chart.update_yaxes(
        range=[len(grid.down) - 0.5, -0.5], tickmode="array", tickvals=list(range(len(grid.down))),
        ticktext=shorten(grid.down), showgrid=False,
    )  # fmt: skip
    return chart


def _cells(grid: Grid, texts: list[list[str]], field: DataField, ink: str) -> go.Heatmap:
    solid = grid.solid[~np.isnan(grid.solid)]
    is_ratio = field.formula is not None and len(solid) > 0
    least = float(solid.min()) if is_ratio else 0.0
    # A ratio's scale ends below its extremes, which are those of the smallest cells.
    most = float(np.quantile(solid, 0.95)) if is_ratio else None
    return go.Heatmap(
        z=np.where(np.isnan(grid.solid) & ~np.isnan(grid.values), least, grid.values),
        x=list(range(len(grid.across))), y=list(range(len(grid.down))), colorscale=theme.SCALE,
        showscale=False, zmin=least, zmax=most, xgap=2, ygap=2, text=texts, texttemplate="%{text}",
        textfont={"color": ink}, hoverinfo="skip",
    )  # fmt: skip


def _hatches(few: np.ndarray) -> go.Scatter:
    """Diagonal hatches over cells based on few records, as one line with gaps."""
    x: list[float | None] = []
    y: list[float | None] = []
    for row, column in np.argwhere(few):
        for start in HATCHES:
            left, right = max(start, 0.0), min(1.0, 1.0 + start)
            x += [column - 0.5 + left, column - 0.5 + right, None]
            y += [row + 0.5 - (left - start), row + 0.5 - (right - start), None]
    return go.Scatter(
        x=x, y=y, mode="lines", line={"color": theme.FAINT, "width": 1}, hoverinfo="skip", connectgaps=False
    )
