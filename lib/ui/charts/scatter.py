"""Dots of two figures, the vertical one on a logarithmic scale, in groups with a color each."""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from lib.ui.charts import theme
from lib.ui.charts.numbers import Numbers

HEIGHT, SIZE, OPACITY = 280, 10, 0.8


@dataclass(frozen=True)
class Dot:
    """A dot: what it is, its id for clicks, and where; `y` is above zero."""

    id: int
    label: str
    x: float
    y: float


@dataclass(frozen=True)
class DotGroup:
    """Dots of one meaning and color; circles, where too little is known to draw more."""

    name: str
    color: str
    dots: Sequence[Dot]
    is_hollow: bool = False


def figure(groups: Sequence[DotGroup], titles: tuple[str, str], numbers: Numbers) -> go.Figure:
    """The chart; `titles` are those of the horizontal axis, in percent, and of the vertical one."""
    chart = theme.figure(HEIGHT, numbers.separators, hovermode="closest", dragmode=False, showlegend=True)
    for group in groups:
        chart.add_trace(
            go.Scatter(
                x=[dot.x for dot in group.dots],
                y=[dot.y for dot in group.dots],
                customdata=[dot.id for dot in group.dots],
                text=[_hover(dot, numbers) for dot in group.dots],
                name=group.name,
                mode="markers",
                marker={
                    "size": SIZE,
                    "color": group.color,
                    "opacity": OPACITY,
                    "symbol": "circle-open" if group.is_hollow else "circle",
                },
                hovertemplate="%{text}<extra></extra>",
            )
        )
    chart.update_layout(
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "font": {"size": 12}},
        margin={"t": 28},
    )
    chart.update_xaxes(range=[-3, 103], ticksuffix=" %", title={"text": titles[0], "font": {"size": 12}})
    chart.update_yaxes(
        type="log", dtick=1, nticks=None, title={"text": titles[1], "font": {"size": 12}}, automargin=True
    )
    return chart


def _hover(dot: Dot, numbers: Numbers) -> str:
    label = theme.plain_text(dot.label)
    return f"{label}<br>{numbers.percent(dot.x, 0)} · {numbers.number(dot.y, 2)}"
