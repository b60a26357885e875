"""The style of charts: no frames, faint gridlines, and the colors of `.streamlit/config.toml`."""

import html
from collections import Counter
from collections.abc import Sequence
from os.path import commonprefix
from typing import Any

import plotly.graph_objects as go

from lib.figures.palette import ACCENT, GRAY, THEME
from lib.wire.text import straight

FONT, ROW, LABEL_LENGTH = 12, 26, 34
CONFIG = {"displayModeBar": False, "displaylogo": False, "scrollZoom": False, "doubleClick": False}


def translucent(color: str, opacity: float) -> str:
    """`#rrggbb` as `rgba(…)`; the opacity from 0 to 1."""
    red, green, blue = bytes.fromhex(color.removeprefix("#"))
    return f"rgba({red},{green},{blue},{opacity})"


PART, BAND = translucent(ACCENT, 0.55), translucent(ACCENT, 0.18)
FAINT, CLEAR = translucent(GRAY, 0.22), "rgba(0,0,0,0)"
SCALE = [[0.0, translucent(ACCENT, 0.04)], [1.0, translucent(ACCENT, 0.75)]]


def ink(theme: str | None) -> str:
    """The color of text on a `light` or `dark` background, where Plotly would choose its own."""
    return str(THEME["dark" if theme == "dark" else "light"]["textColor"])


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


def shorten(labels: Sequence[str], length: int = LABEL_LENGTH) -> list[str]:
    """Labels that fit beside a chart, cut in the middle; what tells one from the others is kept."""
    tail = (length - 1) // 2
    short = [
        text if len(text) <= length else f"{text[: length - 1 - tail]}…{text[-tail:]}" for text in labels
    ]
    times = Counter(short)
    return [
        plain_text(text if times[text] == 1 or label == text else _where_it_differs(label, labels, length))
        for label, text in zip(labels, short, strict=True)
    ]


def _where_it_differs(label: str, labels: Sequence[str], length: int) -> str:
    """The beginning of a label, and the part from where it first differs from the one most like it."""
    lengths = (len(commonprefix([label, other])) for other in labels if other != label)  # noqa: RUF071
    difference = max(lengths, default=0)
    head = length // 3
    space = length - head - 1
    begin = min(difference - 2, len(label) - space)
    if begin <= head:
        return f"{label[: length - 1]}…"
    rest = label[begin:]
    return f"{label[:head]}…{rest if len(rest) <= space else f'{rest[: space - 1]}…'}"


def plain_text(text: str) -> str:
    """Text from outside, escaped: Plotly would interpret HTML in it. It reads in one direction."""
    return html.escape(straight(text), quote=False)
