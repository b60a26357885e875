"""Several values over time: a line for each, dotted for the days compared, labelled at its end."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from lib.reporting.models import DataField
from lib.ui.charts import theme, time_chart
from lib.ui.charts.numbers import Numbers
from lib.ui.charts.series import Series
from lib.ui.charts.time_chart import TIME_HEIGHT, Named

APART, INSIDE = 14, TIME_HEIGHT - 40
LABEL_ROOM, LABEL_LENGTH = 150, 20


@dataclass(frozen=True)
class ValueLine:
    """A value over time, its colour, and the same value on the days compared."""

    label: str
    color: str
    now: Series
    before: Series | None = None


def over_time(
    lines: Sequence[ValueLine], field: DataField, numbers: Numbers, has_brush: bool = True
) -> go.Figure:
    """The field over time, a line per value."""
    times = lines[0].now
    figure = time_chart.empty(times, field, numbers, has_brush, LABEL_ROOM)
    for line in lines:
        named = Named(line.label, line.now)
        if line.before is not None:
            earlier = Named(f"{line.label}, before", line.before)
            figure.add_trace(time_chart.line(earlier, times, field, numbers, line.color, dotted=True))
        if not line.now.is_whole.all():
            figure.add_traces(time_chart.partial(named, field, numbers, line.color))
        figure.add_trace(time_chart.line(named, times, field, numbers, line.color))
    _label(figure, lines)
    return figure


def _label(figure: go.Figure, lines: Sequence[ValueLine]) -> None:
    """Label the lines at their right ends without overlaps."""
    ends = sorted(
        (float(line.now.values[known[-1]]), place)
        for place, line in enumerate(lines)
        if len(known := np.flatnonzero(~np.isnan(line.now.values)))
    )
    labels = theme.shorten([line.label for line in lines], LABEL_LENGTH)
    for (value, place), shift in zip(ends, _shifts(lines, [value for value, _ in ends]), strict=True):
        line = lines[place]
        known = np.flatnonzero(~np.isnan(line.now.values))
        figure.add_annotation(
            x=line.now.starts[known[-1]],
            y=value,
            text=f'<span style="color:{line.color}">●</span> {labels[place]}',
            showarrow=False,
            xanchor="left",
            xshift=8,
            yshift=shift,
            font={"size": 12},
        )


def _shifts(lines: Sequence[ValueLine], ends: Sequence[float]) -> list[float]:
    """The pixels by which each label is moved up to avoid overlaps; `ends` ascend."""
    most = max((float(np.nanmax(line.now.values)) for line in lines if len(line.now)), default=0.0)
    scale = INSIDE / most if most > 0 else 0.0
    shifts, below = [], -float("inf")
    for value in ends:
        at = max(value * scale, below + APART)
        shifts.append(at - value * scale)
        below = at
    return shifts
