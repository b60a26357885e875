"""A small chart of days as bars, with weekends lighter and Mondays named, as a pure function."""

from collections.abc import Sequence
from datetime import date

import plotly.graph_objects as go

from lib.reporting.models import DataField
from lib.ui.charts import theme
from lib.ui.charts.numbers import Numbers

HEIGHT, SATURDAY = 130, 5


def figure(
    days: Sequence[date], values: Sequence[float | None], field: DataField, numbers: Numbers
) -> go.Figure:
    """A bar per day; a day without a value has none, and its hover says "no data"."""
    chart = theme.figure(HEIGHT, numbers.separators, bargap=0.25, dragmode=False)
    texts = [
        f"{day:%a} {day.day} {day:%b %Y}: {'no data' if value is None else numbers.full(value, field)}"
        for day, value in zip(days, values, strict=True)
    ]
    chart.add_trace(
        go.Bar(
            x=list(range(len(days))),
            y=[0.0 if value is None else value for value in values],
            marker={"color": [theme.PART if day.weekday() >= SATURDAY else theme.ACCENT for day in days]},
            customdata=[theme.drawn(text) for text in texts],
            hovertemplate="%{customdata}<extra></extra>",
        )
    )
    mondays = [place for place, day in enumerate(days) if day.weekday() == 0]
    chart.update_xaxes(
        tickmode="array",
        tickvals=mondays,
        ticktext=[f"Mon {days[place].day} {days[place]:%b}" for place in mondays],
        range=[-0.6, len(days) - 0.4],
    )
    chart.update_yaxes(rangemode="tozero", nticks=4)
    return chart
