"""Audience → figure: over time, bars, heatmap. Pure functions; what a click or brush means is elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import plotly.graph_objects as go

from lib.reporting.models import DataField
from lib.ui import look
from lib.ui.numbers import Numbers, title
from lib.ui.series import Series

TIME_HEIGHT, BAR, LABEL_LENGTH = 230, 26, 34


@dataclass(frozen=True)
class Named:
    """A series and what it is called on the chart."""

    label: str
    series: Series


def over_time(now: Named, before: Named | None, field: DataField, numbers: Numbers) -> go.Figure:
    """The field over time, what it is compared with dotted, the 95 % range as a band where sampled."""
    axis = {"tickformat": "~s", "rangemode": "tozero" if field.formula is None else "normal"}
    figure = look.figure(
        TIME_HEIGHT,
        numbers.separators,
        margin={"l": 0, "r": 96, "t": 8, "b": 0},
        hovermode="x unified",
        dragmode="select",
        selectdirection="h",
        newselection={"line": {"color": look.ACCENT, "width": 1, "dash": "solid"}},
    )
    figure.update_yaxes(axis)
    _band(figure, now.series)
    if before is not None:
        figure.add_trace(_line(before, now.series, field, numbers, dotted=True))
    figure.add_trace(_line(now, now.series, field, numbers, dotted=False))
    figure.update_xaxes(range=_edges(now.series))
    _label(figure, [found for found in (now, before) if found is not None], now.series)
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


@dataclass(frozen=True)
class Bars:
    """Rows of a split as bars: labels, values, and the sides of their ranges (None where exact)."""

    labels: Sequence[str]
    values: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


def bars(rows: Bars, field: DataField, numbers: Numbers) -> go.Figure:
    """Horizontal bars from zero, the first row on top, each with its value and, where sampled, its range."""
    places = list(range(len(rows.labels)))
    values = np.asarray(rows.values, dtype=float)
    figure = look.figure(len(places) * BAR + 36, numbers.separators, bargap=0.3, clickmode="event+select")
    figure.add_trace(
        go.Bar(
            x=values,
            y=places,
            orientation="h",
            marker={"color": look.ACCENT},
            error_x=_errors(rows, values),
            text=[f" {numbers.full(value, field)}" for value in values],
            textposition="outside",
            cliponaxis=False,
            customdata=list(rows.labels),
            hovertemplate="%{customdata}<br>%{text}<extra></extra>",
        )
    )
    widest = float(np.nanmax(np.abs(values), initial=0)) or 1.0
    figure.update_xaxes(showgrid=True, gridcolor=look.FAINT, tickformat="~s", nticks=6)
    figure.update_xaxes(range=[min(0.0, float(np.nanmin(values, initial=0))) * 1.15, widest * 1.15])
    figure.update_yaxes(
        tickmode="array",
        tickvals=places,
        ticktext=[shortened(label) for label in rows.labels],
        autorange="reversed",
        showgrid=False,
    )
    return figure


def _errors(rows: Bars, values: np.ndarray) -> dict[str, object] | None:
    if rows.low is None or rows.high is None or not np.any(np.asarray(rows.high) > np.asarray(rows.low)):
        return None
    return {
        "type": "data",
        "symmetric": False,
        "array": np.clip(np.asarray(rows.high) - values, 0, None),
        "arrayminus": np.clip(values - np.asarray(rows.low), 0, None),
        "color": look.GREY,
        "thickness": 1,
        "width": 3,
    }


def heatmap(
    across: Sequence[str], down: Sequence[str], values: np.ndarray, field: DataField, numbers: Numbers
) -> go.Figure:
    """Values (D down × A across; NaN: nothing there) as shades, under clear squares that take clicks."""
    figure = look.figure(len(down) * BAR + 90, numbers.separators, clickmode="event+select")
    texts = [[numbers.short(value, field) for value in row] for row in values]
    figure.add_trace(
        go.Heatmap(
            z=values,
            x=list(range(len(across))),
            y=list(range(len(down))),
            colorscale=look.SCALE,
            showscale=False,
            xgap=2,
            ygap=2,
            text=texts,
            texttemplate="%{text}" if len(across) <= 14 else None,
            hoverinfo="skip",
        )
    )
    places = [(column, row) for row in range(len(down)) for column in range(len(across))]
    figure.add_trace(
        go.Scatter(
            x=[column for column, _ in places],
            y=[row for _, row in places],
            mode="markers",
            marker={"symbol": "square", "size": BAR, "color": look.CLEAR},
            customdata=[
                f"{down[row]} · {across[column]}<br>{title(field)}: {texts[row][column]}"
                for column, row in places
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
    )
    figure.update_xaxes(
        side="top",
        tickmode="array",
        tickvals=list(range(len(across))),
        ticktext=[shortened(t, 18) for t in across],
        tickangle=-35 if len(across) > 8 else 0,
    )
    figure.update_yaxes(
        autorange="reversed",
        tickmode="array",
        tickvals=list(range(len(down))),
        ticktext=[shortened(t) for t in down],
        showgrid=False,
    )
    return figure


def shortened(text: str, length: int = LABEL_LENGTH) -> str:
    """A label that fits beside a chart."""
    return text if len(text) <= length else f"{text[: length - 1]}…"
