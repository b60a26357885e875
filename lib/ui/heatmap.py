"""Two key fields of a split against each other, as shades."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from lib.reporting.models import DataField
from lib.ui import look
from lib.ui.look import ROW, shortened
from lib.ui.numbers import Numbers, title

REACH, ACROSS_FLAT, LABEL_ACROSS = 120, 8, 18


@dataclass(frozen=True)
class Grid:
    """Labels across and down, and a value per cell (D down × A across; NaN: nothing there)."""

    across: Sequence[str]
    down: Sequence[str]
    values: np.ndarray


def figure(grid: Grid, field: DataField, numbers: Numbers, ink: str = look.GREY) -> go.Figure:
    """The cells in shades and figures, under clear squares that take clicks. `ink` is the figures' colour."""
    texts = [[numbers.short(value, field) for value in row] for row in grid.values]
    height = len(grid.down) * ROW + 90
    chart = look.figure(height, numbers.separators, clickmode="event+select", dragmode=False)
    chart.update_layout(margin={"r": 56}, hovermode="closest", hoverdistance=REACH)
    chart.add_trace(_cells(grid, texts, field, ink))
    chart.add_trace(_squares(grid, texts, field))
    chart.update_xaxes(
        side="top",
        range=[-0.5, len(grid.across) - 0.5],
        tickmode="array",
        tickvals=list(range(len(grid.across))),
        ticktext=[shortened(label, LABEL_ACROSS) for label in grid.across],
        tickangle=-35 if len(grid.across) > ACROSS_FLAT else 0,
    )
    chart.update_yaxes(
        range=[len(grid.down) - 0.5, -0.5],
        tickmode="array",
        tickvals=list(range(len(grid.down))),
        ticktext=[shortened(label) for label in grid.down],
        showgrid=False,
    )
    return chart


def _cells(grid: Grid, texts: list[list[str]], field: DataField, ink: str) -> go.Heatmap:
    return go.Heatmap(
        z=grid.values,
        x=list(range(len(grid.across))),
        y=list(range(len(grid.down))),
        colorscale=look.SCALE,
        showscale=False,
        zmin=0 if field.formula is None else None,
        zmax=_darkest(grid.values, field),
        xgap=2,
        ygap=2,
        text=texts,
        texttemplate="%{text}",
        textfont={"color": ink},
        hoverinfo="skip",
    )


def _squares(grid: Grid, texts: list[list[str]], field: DataField) -> go.Scatter:
    """Cells of a heatmap give no click: over each lies a square that does, all over the cell."""
    places = [(column, row) for row in range(len(grid.down)) for column in range(len(grid.across))]
    return go.Scatter(
        x=[column for column, _ in places],
        y=[row for _, row in places],
        mode="markers",
        marker={"symbol": "square", "size": ROW, "color": look.CLEAR},
        customdata=[
            f"{grid.down[row]} · {grid.across[column]}<br>{title(field)}: {texts[row][column]}"
            for column, row in places
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _darkest(values: np.ndarray, field: DataField) -> float | None:
    """Where the scale ends: for a ratio before the extremes, which are those of the smallest cells."""
    known = values[~np.isnan(values)]
    return float(np.quantile(known, 0.95)) if len(known) and field.formula is not None else None
