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

TIME_HEIGHT, BAR, LABEL_LENGTH = 220, 26, 34
WIDEST, REACH = 1.5, 120


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
    figure = look.figure(
        len(places) * BAR + 30, numbers.separators, bargap=0.35, clickmode="event+select", dragmode=False
    )
    figure.add_trace(
        go.Bar(
            x=values,
            y=places,
            orientation="h",
            marker={"color": look.ACCENT},
            error_x=_errors(rows, values),
            customdata=list(zip(rows.labels, [numbers.full(value, field) for value in values], strict=True)),
            hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
        )
    )
    least, most = float(np.nanmin(values, initial=0)), float(np.nanmax(values, initial=0)) or 1.0
    ends = np.fmax(values, values if rows.high is None else np.asarray(rows.high, dtype=float))
    ends = np.fmin(ends, most * WIDEST)
    figure.add_trace(_texts(ends, [numbers.full(value, field) for value in values], places))
    figure.update_xaxes(showgrid=True, gridcolor=look.FAINT, nticks=6)
    figure.update_xaxes(range=[least * 1.1, float(np.nanmax(ends, initial=most)) * 1.1])
    figure.update_yaxes(
        tickmode="array",
        tickvals=places,
        ticktext=[shortened(label) for label in rows.labels],
        range=[len(places) - 0.5, -0.5],
        showgrid=False,
    )
    return figure


def _texts(ends: np.ndarray, texts: Sequence[str], places: Sequence[int]) -> go.Scatter:
    """The values in figures, right of the bars and of their ranges."""
    return go.Scatter(
        x=np.fmax(np.nan_to_num(ends), 0),
        y=places,
        mode="text",
        text=[f"  {text}" for text in texts],
        textposition="middle right",
        textfont={"size": 12},
        cliponaxis=False,
        hoverinfo="skip",
    )


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
    across: Sequence[str],
    down: Sequence[str],
    values: np.ndarray,
    field: DataField,
    numbers: Numbers,
    ink: str = look.GREY,
) -> go.Figure:
    """Values (D down × A across; NaN: nothing there) as shades, under clear squares that take clicks."""
    figure = look.figure(len(down) * BAR + 90, numbers.separators, clickmode="event+select", dragmode=False)
    figure.update_layout(margin={"r": 56}, hovermode="closest", hoverdistance=REACH)
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
            zmin=0 if field.formula is None else None,
            zmax=_darkest(values, field),
            texttemplate="%{text}",
            textfont={"color": ink},
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
    figure.update_xaxes(range=[-0.5, len(across) - 0.5])
    figure.update_yaxes(
        range=[len(down) - 0.5, -0.5],
        tickmode="array",
        tickvals=list(range(len(down))),
        ticktext=[shortened(t) for t in down],
        showgrid=False,
    )
    return figure


def _darkest(values: np.ndarray, field: DataField) -> float | None:
    """Where the scale ends: for a ratio before the extremes, which are those of the smallest cells."""
    known = values[~np.isnan(values)]
    return float(np.quantile(known, 0.95)) if len(known) and field.formula is not None else None


def shortened(text: str, length: int = LABEL_LENGTH) -> str:
    """A label that fits beside a chart."""
    return text if len(text) <= length else f"{text[: length - 1]}…"
