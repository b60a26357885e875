"""The style of charts: colours for light and dark backgrounds, no frames, faint gridlines."""

import html
from collections import Counter
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lib.wire.text import straight

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


def shortened(labels: Sequence[str], length: int = LABEL_LENGTH) -> list[str]:
    """Labels that fit beside a chart, cut in the middle; what tells one from the others is kept."""
    short = [_middle(label, length) for label in labels]
    times = Counter(short)
    return [
        drawn(text if times[text] == 1 or label == text else _where_it_differs(label, labels, length))
        for label, text in zip(labels, short, strict=True)
    ]


def _middle(text: str, length: int) -> str:
    tail = (length - 1) // 2
    return text if len(text) <= length else f"{text[: length - 1 - tail]}…{text[-tail:]}"


def _where_it_differs(label: str, labels: Sequence[str], length: int) -> str:
    """The beginning of a label, and the part from where it first differs from the one most like it."""
    place = max((_shared(label, other) for other in labels if other != label), default=0)
    head = length // 3
    room = length - head - 1
    begin = min(place - 2, len(label) - room)
    if begin <= head:
        return f"{label[: length - 1]}…"
    rest = label[begin:]
    return f"{label[:head]}…{rest if len(rest) <= room else f'{rest[: room - 1]}…'}"


def _shared(label: str, other: str) -> int:
    """The length of the beginning that two labels share."""
    pairs = enumerate(zip(label, other, strict=False))
    return next((place for place, (mine, theirs) in pairs if mine != theirs), min(len(label), len(other)))


def drawn(text: str) -> str:
    """Text from outside, escaped: Plotly would interpret HTML in it. It reads in one direction."""
    return html.escape(straight(text), quote=False)
