"""Charts over time, as pure functions: the large one, and the small one without axes."""

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from lib.figures import palette, series
from lib.figures.numbers import Numbers
from lib.figures.series import ChartLine, Series
from lib.slicers.dates import Days
from lib.slicers.granularities import GRANULARITIES
from lib.slicers.models import DataField
from lib.ui.charts import theme

KEY = "sparkline"
TIME_HEIGHT, LABEL_SPACE = 168, 96
SCALE_SPACE, DATES_SPACE = 52, 44
TICK_FORMATS = [
    {"dtickrange": [None, 86_399_999], "value": "%H:%M<br>%a %-d %b"},
    {"dtickrange": [86_400_000, None], "value": "%a %-d %b"},
]
"""Of ticks less than a day (in milliseconds) apart, and of others."""


def over_time(lines: Sequence[ChartLine], field: DataField, numbers: Numbers) -> go.Figure:
    """The field over time: a line, a dotted one for the days compared, and a band for the 95 % range."""
    now, before = lines[0], lines[1] if len(lines) > 1 else None
    figure = empty(now.series, field, numbers)
    figure.add_traces(band(now.series))
    if before is not None:
        figure.add_trace(line(before, now.series, field, numbers, palette.GRAY, is_dotted=True))
    if not now.series.is_whole.all():
        figure.add_traces(partial(now, field, numbers))
    figure.add_trace(line(now, now.series, field, numbers))
    # Label the lines at their right ends without overlaps, in the theme's text color.
    ends = []
    for index, chart_line in enumerate(lines):
        indices = np.flatnonzero(~np.isnan(chart_line.series.values[: len(now.series)]))
        if len(indices):
            ends.append((float(chart_line.series.values[indices[-1]]), index, chart_line.label))
    for rank, (value, _, text) in enumerate(sorted(ends)):
        figure.add_annotation(
            x=now.series.starts[-1], y=value, text=theme.plain_text(text), showarrow=False, xanchor="left",
            xshift=8, yshift=0 if len(ends) == 1 else (-8, 8)[rank], font={"size": theme.FONT},
        )  # fmt: skip
    return figure


def empty(times: Series, field: DataField, numbers: Numbers) -> go.Figure:
    """Axes for these times without lines, with space for the lines' names at the right.

    The space for the axes' own labels is fixed: the chart neither moves as they change, nor has to be laid
    out again for them, which takes a browser about an eighth of the time of a click.
    """
    figure = theme.figure(
        TIME_HEIGHT, numbers.separators,
        margin={"l": SCALE_SPACE, "r": LABEL_SPACE, "t": 8, "b": DATES_SPACE}, hovermode="x unified",
        dragmode=False,
    )  # fmt: skip
    figure.update_yaxes(rangemode="tozero" if field.formula is None else "normal", automargin=False)
    figure.update_xaxes(**time_axis(times), automargin=False)
    return figure


def time_axis(times: Series, most: int = series.MOST_TICKS) -> dict[str, object]:
    """The range of an axis with these times, and a margin of one percent; and at most so many ticks.

    Those of hours and days are where the chart has them.
    """
    first, last = times.starts[0], times.starts[-1]
    spare = max((last - first) / 100, timedelta(hours=1))
    axis: dict[str, object] = {"range": [first - spare, last + spare]}
    if GRANULARITIES[times.grain].clock_hours:
        return axis | {"tickformatstops": TICK_FORMATS}
    every = -(-len(times) // most)
    return axis | {"tickmode": "array", "tickvals": times.starts[::every], "ticktext": times.ticks[::every]}


def line(
    source: ChartLine,
    times: Series,
    field: DataField,
    numbers: Numbers,
    color: str = palette.ACCENT,
    is_dotted: bool = False,
) -> go.Scatter:
    """One line at `times`; the hover names the bucket.

    A solid line is that of whole buckets alone.
    """
    count = min(len(source.series), len(times))
    values = source.series.values[:count]
    texts = _texts(source.series, field, numbers)[:count]
    values = values if is_dotted else np.where(source.series.is_whole[:count], values, np.nan)
    return go.Scatter(
        x=times.starts[:count], y=values, mode="lines+markers" if count <= 45 and not is_dotted else "lines",
        line={"color": color, "width": 1.5 if is_dotted else 2, "dash": "dot" if is_dotted else "solid"},
        marker={"size": 5}, name=theme.plain_text(source.label), customdata=texts,
        hovertemplate="%{customdata}", connectgaps=False,
    )  # fmt: skip


def partial(
    chart_line: ChartLine, field: DataField, numbers: Numbers, color: str | None = None
) -> list[go.Scatter]:
    """Partial buckets: hollow points, with dotted light lines to the whole buckets beside them."""
    line, whole = chart_line.series, chart_line.series.is_whole
    light = {"color": theme.PART} if color is None else {"color": color}
    joins = ~whole | np.append(~whole[1:], False) | np.insert(~whole[:-1], 0, False)
    indices = np.flatnonzero(~whole)
    texts = _texts(line, field, numbers)
    return [
        go.Scatter(
            x=line.starts, y=np.where(joins, line.values, np.nan), mode="lines",
            line={**light, "width": 2, "dash": "dot"}, opacity=1 if color is None else 0.55, hoverinfo="skip",
        ),
        go.Scatter(
            x=[line.starts[index] for index in indices], y=line.values[indices], mode="markers",
            marker={"size": 7, "symbol": "circle-open", "color": color or palette.ACCENT},
            name=theme.plain_text(chart_line.label), customdata=[texts[index] for index in indices],
            hovertemplate="%{customdata}",
        ),
    ]  # fmt: skip


def _texts(line: Series, field: DataField, numbers: Numbers) -> list[str]:
    """The hover text of each bucket: its value, its name, and how much of it is covered."""
    buckets = zip(line.labels, line.parts, line.values, strict=True)
    return [
        theme.plain_text(f"{numbers.full(value, field)}  ({label}{f', {part}' if part else ''})")
        for label, part, value in buckets
    ]


def band(line: Series) -> list[go.Scatter]:
    """The 95 % range, where there is one: its lower edge, and the upper one filled down to it."""
    if line.low is None or line.high is None or not np.any(line.high > line.low):
        return []
    edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "x": line.starts}
    fill = {"fill": "tonexty", "fillcolor": theme.BAND}
    return [go.Scatter(y=line.low, **edge), go.Scatter(y=line.high, **fill, **edge)]


def draw_sparkline(course: Series, field: DataField, period: Days, numbers: Numbers) -> None:
    """Draw the sparkline; nothing with fewer than two known values."""
    if not series.has_course(course):
        return
    with st.container(key=f"{KEY}_{field.name}"):
        st.image(picture(course.values), width="stretch", alt=series.text(course, field, period, numbers))


WIDTH = 120  # of a sparkline's viewBox, which is stretched to its column
HEIGHT = 24  # of it, in the same units
EDGE = 1.5  # left free on every side, in the same units
LEAST_SIDE = 0.25  # of the mean, shown above and below it at least


def picture(values: np.ndarray) -> str:
    """An SVG of one line per run of known values: their mean in the middle, at least 25 % to each side."""
    finite = values[np.isfinite(values)]
    mean = float(finite.mean())
    side = max(LEAST_SIDE * abs(mean), float(np.abs(finite - mean).max())) or 1.0
    low, span = mean - side, 2 * side
    across = np.linspace(EDGE, WIDTH - EDGE, len(values))
    heights = HEIGHT - EDGE - (values - low) / span * (HEIGHT - 2 * EDGE)
    steps, is_first = [], True
    for x, y in zip(across.tolist(), heights.tolist(), strict=True):
        if np.isfinite(y):
            steps.append(f"{'M' if is_first else 'L'}{x:.1f} {y:.1f}")
        is_first = not np.isfinite(y)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none">'
        f'<path d="{" ".join(steps)}" fill="none" stroke="{palette.ACCENT}" stroke-width="2" '
        'stroke-linejoin="round" stroke-linecap="round" vector-effect="non-scaling-stroke"/></svg>'
    )
