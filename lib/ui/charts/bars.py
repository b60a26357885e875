"""Rows of a split as bars, with their ranges."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import plotly.graph_objects as go

from lib.figures import palette
from lib.figures.numbers import Numbers
from lib.slicers.models import DataField
from lib.ui.charts import theme
from lib.ui.charts.theme import ROW, plain_text, shorten
from lib.wire.text import write_day

HEIGHT, SATURDAY = 130, 5
WIDEST = 1.5


def day_bars_figure(
    days: Sequence[date], values: Sequence[float | None], field: DataField, numbers: Numbers
) -> go.Figure:
    """A bar per day; a day without a value has none, and its hover says "no data"."""
    chart = theme.figure(HEIGHT, numbers.separators, bargap=0.25, dragmode=False)
    texts = [
        f"{day:%a} {write_day(day)}: {'no data' if value is None else numbers.full(value, field)}"
        for day, value in zip(days, values, strict=True)
    ]
    chart.add_trace(
        go.Bar(
            x=list(range(len(days))),
            y=[0.0 if value is None else value for value in values],
            marker={"color": [theme.PART if day.weekday() >= SATURDAY else palette.ACCENT for day in days]},
            customdata=[theme.plain_text(text) for text in texts],
            hovertemplate="%{customdata}<extra></extra>",
        )
    )
    mondays = [index for index, day in enumerate(days) if day.weekday() == 0]
    chart.update_xaxes(
        tickmode="array",
        tickvals=mondays,
        ticktext=[f"Mon {days[index].day} {days[index]:%b}" for index in mondays],
        range=[-0.6, len(days) - 0.4],
    )
    chart.update_yaxes(rangemode="tozero", nticks=4)
    return chart


@dataclass(frozen=True)
class Bars:
    """Rows of a split as bars: labels, values, and the sides of their ranges (None where exact)."""

    labels: Sequence[str]
    values: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


def figure(rows: Bars, field: DataField, numbers: Numbers) -> go.Figure:
    """Horizontal bars from zero, the first row on top, each with its value and, if sampled, its range."""
    positions = list(range(len(rows.labels)))
    values = np.asarray(rows.values, dtype=float)
    low, high = (None if side is None else np.asarray(side, dtype=float) for side in (rows.low, rows.high))
    chart = theme.figure(
        len(positions) * ROW + 30, numbers.separators, bargap=0.35, clickmode="event+select", dragmode=False
    )
    texts = [plain_text(numbers.full(value, field)) for value in values]
    sides = None
    if low is not None and high is not None and np.any(high > low):
        sides = {
            "type": "data", "symmetric": False, "color": palette.GRAY, "thickness": 1, "width": 3,
            "array": np.clip(high - values, 0, None), "arrayminus": np.clip(values - low, 0, None),
        }  # fmt: skip
    chart.add_trace(
        go.Bar(
            x=values, y=positions, orientation="h", marker={"color": palette.ACCENT}, error_x=sides,
            customdata=list(zip(map(plain_text, rows.labels), texts, strict=True)),
            hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
        )
    )  # fmt: skip
    least, most = float(np.nanmin(values, initial=0)), float(np.nanmax(values, initial=0)) or 1.0
    ends = np.fmax(values, values if high is None else high)
    ends = np.fmin(ends, most * WIDEST)
    figures = go.Scatter(
        x=np.fmax(np.nan_to_num(ends), 0), y=positions, mode="text", text=[f"  {text}" for text in texts],
        textposition="middle right", textfont={"size": theme.FONT}, cliponaxis=False, hoverinfo="skip",
    )  # fmt: skip
    chart.add_trace(figures)
    chart.update_xaxes(showgrid=True, gridcolor=theme.FAINT, nticks=6)
    chart.update_xaxes(range=[least * 1.1, float(np.nanmax(ends, initial=most)) * 1.1])
    chart.update_yaxes(
        tickmode="array", tickvals=positions, ticktext=shorten(rows.labels),
        range=[len(positions) - 0.5, -0.5], showgrid=False,
    )  # fmt: skip
    return chart
