"""Marks for notes on dates at the top of a chart over time, with their escaped texts on hover."""

import textwrap
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, time

import plotly.graph_objects as go

from lib.ui.charts import numbers, theme
from lib.ui.charts.series import Series
from lib.views import Note

LINE_LENGTH, MOST_OF_A_BUCKET, MOST_SPOKEN = 60, 4, 20
HEIGHT = 0.97


def draw(figure: go.Figure, notes: Sequence[Note], times: Series) -> None:
    """Add a mark above each bucket of `times` whose days have notes; `notes` in the order of days."""
    by_bucket: dict[datetime, list[Note]] = defaultdict(list)
    for note in notes:
        place = bisect_right(times.starts, datetime.combine(note.day, time())) - 1
        if place >= 0:
            by_bucket[times.starts[place]].append(note)
    if not by_bucket:
        return
    for start in by_bucket:
        figure.add_shape(
            type="line", x0=start, x1=start, y0=0, y1=HEIGHT, yref="paper", layer="below",
            line={"color": theme.GREY, "width": 1, "dash": "dot"}, opacity=0.6,
        )  # fmt: skip
    figure.update_layout(yaxis2={"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True})
    figure.add_trace(
        go.Scatter(
            x=list(by_bucket),
            y=[HEIGHT] * len(by_bucket),
            yaxis="y2",
            mode="markers",
            marker={"symbol": "triangle-down", "size": 10, "color": theme.GREY},
            unselected={"marker": {"opacity": 1}},
            name="Noted",
            customdata=["<br>".join(_lines(found)) for found in by_bucket.values()],
            hovertemplate="%{customdata}",
            cliponaxis=False,
        )
    )


def spoken(notes: Sequence[Note]) -> str:
    """The notes as the end of a chart's alternative text; empty without notes."""
    if not notes:
        return ""
    more = f"; and {len(notes) - MOST_SPOKEN} more" if len(notes) > MOST_SPOKEN else ""
    return f". Noted: {'; '.join(_said(note) for note in notes[:MOST_SPOKEN])}{more}"


def _said(note: Note) -> str:
    return f"{numbers.days(note.day, note.day)}: {note.text}"


def _lines(notes: Sequence[Note]) -> Iterator[str]:
    """A bucket's notes in lines that fit into the hover."""
    for note in notes[:MOST_OF_A_BUCKET]:
        yield from (theme.drawn(line) for line in textwrap.wrap(_said(note), LINE_LENGTH))
    if len(notes) > MOST_OF_A_BUCKET:
        yield f"and {len(notes) - MOST_OF_A_BUCKET} more"
