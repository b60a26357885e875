"""The style of charts: colours for light and dark backgrounds, no frames, faint gridlines."""

import html
from typing import Any

import plotly.graph_objects as go

ACCENT, GREY = "#2a7f9e", "#8a95a3"
LINES = (ACCENT, "#d36f03", "#54ac86", "#4350b5", "#d4a910")
PART = "rgba(42,127,158,0.55)"
BAND, FAINT, CLEAR = "rgba(42,127,158,0.18)", "rgba(138,149,163,0.22)", "rgba(0,0,0,0)"
SCALE = [[0.0, "rgba(42,127,158,0.04)"], [1.0, "rgba(42,127,158,0.75)"]]
FONT, ROW, LABEL_LENGTH = 13, 26, 34
CONFIG = {"displayModeBar": False, "displaylogo": False, "scrollZoom": False, "doubleClick": False}


def ink(theme: str | None) -> str:
    """The colour of text on a `light` or `dark` background, where Plotly would choose its own."""
    return "#e4e8ee" if theme == "dark" else "#0d131b"


def figure(height: int, separators: str, **layout: Any) -> go.Figure:
    """An empty chart of that height in pixels; `layout` as Plotly takes it."""
    plain = go.Layout(
        height=height,
        separators=separators,
        margin={"l": 0, "r": 8, "t": 6, "b": 0},
        showlegend=False,
        hoverlabel={"font": {"size": FONT}},
        xaxis={"showgrid": False, "zeroline": False, "automargin": True, "tickfont": {"size": FONT}},
        yaxis={
            "gridcolor": FAINT,
            "zeroline": False,
            "automargin": True,
            "tickfont": {"size": FONT},
            "nticks": 5,
        },
    )
    return go.Figure(layout=plain.update(layout))


def shortened(text: str, length: int = LABEL_LENGTH) -> str:
    """A label that fits beside a chart."""
    return drawn(text if len(text) <= length else f"{text[: length - 1]}…")


def drawn(text: str) -> str:
    """Text from outside, escaped: Plotly would interpret HTML in it."""
    return html.escape(text, quote=False)
