"""Small multiples: a chart over time per value, side by side, each with its own scale."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from lib.figures import palette
from lib.figures.numbers import Numbers
from lib.figures.series import ChartLine, ValueLine
from lib.slicers.models import DataField
from lib.ui.charts import theme, time_chart

ACROSS = 3  # panels in a row
PLOT_HEIGHT = 88  # of a panel, in pixels
TITLE_HEIGHT = 42  # of a panel's name and figure above its plot, in pixels
OWN_SCALES = "Each chart has its own scale."
LABEL_LENGTH, SPARE = 24, 0.06


@dataclass(frozen=True)
class Panel:
    """A value over time, and its formatted figure for all days."""

    line: ValueLine
    figure: str


DATES_HEIGHT = 36  # of the days below the lowest row, in pixels


def figure(panels: Sequence[Panel], field: DataField, numbers: Numbers) -> go.Figure:
    """A chart per value, three in a row, with its name and figure above; the days compared are dotted."""
    down = -(-len(panels) // ACROSS)
    height = down * (TITLE_HEIGHT + PLOT_HEIGHT) + DATES_HEIGHT
    chart = theme.figure(height, numbers.separators, hovermode="closest", dragmode=False)
    chart.update_layout(margin={"l": 0, "r": 8, "t": 0, "b": DATES_HEIGHT})
    labels = theme.shorten([panel.line.label for panel in panels], LABEL_LENGTH)
    for index, panel in enumerate(panels):
        _axes(chart, index, len(panels), panel, field)
        line = panel.line
        now = ChartLine(line.label, line.now)
        traces = time_chart.band(line.now)
        if line.before is not None:
            earlier = ChartLine(f"{line.label}, before", line.before)
            traces.append(time_chart.line(earlier, line.now, field, numbers, palette.GRAY, is_dotted=True))
        if not line.now.is_whole.all():
            traces += time_chart.partial(now, field, numbers, line.color)
        traces.append(time_chart.line(now, line.now, field, numbers, line.color))
        name = _number(index)
        for trace in traces:
            trace.update(marker={"size": 3}, hoverlabel={"namelength": -1})
            chart.add_trace(trace.update(xaxis=f"x{name}", yaxis=f"y{name}"))
        chart.add_annotation(
            text=f"<b>{labels[index]}</b><br>{theme.plain_text(panel.figure)}", xref=f"x{name} domain",
            yref=f"y{name} domain", x=0, y=1, yshift=4, xanchor="left", yanchor="bottom", align="left",
            showarrow=False, font={"size": theme.FONT},
        )  # fmt: skip
    return chart


GAP = 0.06  # between panels of a row, as a part of the figure's width


def _axes(chart: go.Figure, index: int, count: int, panel: Panel, field: DataField) -> None:
    """The panel's place and its scale; days are at the foot of the figure."""
    row, column = divmod(index, ACROSS)
    down = -(-count // ACROSS)
    width = (1 - GAP * (ACROSS - 1)) / ACROSS
    x, head = column * (width + GAP), TITLE_HEIGHT / (TITLE_HEIGHT + PLOT_HEIGHT)
    top = 1 - (row + head) / down
    # The range of a panel with a margin; it starts at zero except for formulas.
    lines = [line for line in (panel.line.now, panel.line.before) if line is not None]
    sides = [side for line in lines for side in (line.values, line.low, line.high) if side is not None]
    values = np.concatenate([side[np.isfinite(side)] for side in sides] or [np.zeros(0)])
    if field.formula is None:
        values = np.append(values, 0.0)
    least, most = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    spare = (most - least) * SPARE or 1.0
    name, is_lowest = _number(index), index + ACROSS >= count
    chart.update_layout(
        {
            f"xaxis{name}": {
                **time_chart.time_axis(panel.line.now, most=3),
                "domain": [x, x + width],
                "anchor": f"y{name}",
                "showgrid": False,
                "zeroline": False,
                "nticks": 3,
                "tickangle": 0,
                "showticklabels": is_lowest,
            },
            f"yaxis{name}": {
                "domain": [1 - (row + 1) / down, top],
                "anchor": f"x{name}",
                "range": [least - (spare if least else 0.0), most + (spare if most else 0.0)],
                "gridcolor": theme.FAINT,
                "zeroline": False,
                "nticks": 3,
                "automargin": column == 0,
            },
        }
    )


def _number(index: int) -> str:
    """Plotly's axes are `x`, `x2`, `x3`…"""
    return "" if index == 0 else str(index + 1)


def alternative(panels: Sequence[Panel], title: str) -> str:
    """The alternative text: each value's figure, and when it is highest."""
    parts = []
    for panel in panels:
        values = panel.line.now.values
        indices = np.flatnonzero(~np.isnan(values))
        parts.append(f"{panel.line.label} {panel.figure}")
        if len(indices):
            parts[-1] += f", highest on {panel.line.now.names[indices[np.argmax(values[indices])]]}"
    return f"{title}: {'; '.join(parts)}"
