"""The chart over time. A pure function; what a brush on it means is said where it is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import plotly.graph_objects as go

from lib.reporting.models import DataField
from lib.ui import look
from lib.ui.numbers import Numbers
from lib.ui.series import Series

TIME_HEIGHT = 220


@dataclass(frozen=True)
class Named:
    """A series and what it is called on the chart."""

    label: str
    series: Series


def over_time(
    lines: Sequence[Named], field: DataField, numbers: Numbers, has_brush: bool = True
) -> go.Figure:
    """The field over time: a line, a dotted one that it is compared with, a band for the 95 % range."""
    now, before = lines[0], lines[1] if len(lines) > 1 else None
    figure = look.figure(
        TIME_HEIGHT,
        numbers.separators,
        margin={"l": 0, "r": 96, "t": 8, "b": 0},
        hovermode="x unified",
        dragmode="select" if has_brush else False,
        selectdirection="h",
        newselection={"line": {"color": look.ACCENT, "width": 1, "dash": "solid"}},
    )
    figure.update_yaxes(rangemode="tozero" if field.formula is None else "normal")
    _band(figure, now.series)
    if before is not None:
        figure.add_trace(_line(before, now.series, field, numbers, dotted=True))
    figure.add_trace(_line(now, now.series, field, numbers, dotted=False))
    figure.update_xaxes(range=_edges(now.series))
    _label(figure, lines, now.series)
    return figure


def _line(shown: Named, times: Series, field: DataField, numbers: Numbers, dotted: bool) -> go.Scatter:
    """One line at the times of `times`; the hover names the bucket that the value is of."""
    count = min(len(shown.series), len(times))
    values = shown.series.values[:count]
    texts = [
        f"{numbers.full(value, field)}  ({name})"
        for name, value in zip(shown.series.names, values, strict=False)
    ]
    return go.Scatter(
        x=times.starts[:count],
        y=values,
        mode="lines+markers" if count <= 45 and not dotted else "lines",
        line={
            "color": look.GREY if dotted else look.ACCENT,
            "width": 1.5 if dotted else 2,
            "dash": "dot" if dotted else "solid",
        },
        marker={"size": 5},
        name=shown.label,
        customdata=texts,
        hovertemplate="%{customdata}",
        connectgaps=False,
    )


def _band(figure: go.Figure, shown: Series) -> None:
    """The 95 % range, where there is one."""
    if shown.low is None or shown.high is None or not np.any(shown.high > shown.low):
        return
    edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "x": shown.starts}
    figure.add_trace(go.Scatter(y=shown.low, **edge))
    figure.add_trace(go.Scatter(y=shown.high, fill="tonexty", fillcolor=look.BAND, **edge))


def _edges(times: Series) -> list[datetime]:
    """The time axis: from the first to the last bucket, with a hundredth of it to spare."""
    first, last = times.starts[0], times.starts[-1]
    spare = max((last - first) / 100, timedelta(hours=1))
    return [first - spare, last + spare]


def _label(figure: go.Figure, lines: Sequence[Named], times: Series) -> None:
    """The lines' names at their right ends, apart from each other."""
    ends = []
    for place, line in enumerate(lines):
        known = np.flatnonzero(~np.isnan(line.series.values[: len(times)]))
        if len(known):
            ends.append((float(line.series.values[known[-1]]), place, line.label, times.starts[known[-1]]))
    ends.sort()
    for rank, (value, place, text, at) in enumerate(ends):
        figure.add_annotation(
            x=at,
            y=value,
            text=text,
            showarrow=False,
            xanchor="left",
            xshift=8,
            yshift=0 if len(ends) == 1 else (-8, 8)[rank],
            font={"size": 12, "color": look.GREY if place else look.ACCENT},
        )
