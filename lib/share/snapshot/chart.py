"""Draws the chart over time with matplotlib, which needs no browser: as a part of a page, and as a picture.

Colors of the page are written into its SVG as CSS variables, so that it follows light and dark.
"""

import io
import re
import threading
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import get_font_names
from matplotlib.ticker import FuncFormatter, MaxNLocator

from lib.figures.palette import ACCENT, GRAY, LIGHT, tick
from lib.share.snapshot.models import Chart, Line

INK, FAINT, GROUND = LIGHT["text"], LIGHT["border"], LIGHT["background"]
VARIABLES = {ACCENT: "--line", INK: "--ink", FAINT: "--rule", GROUND: "--ground"}
MOST_POINTS, ROOM_OF_A_TICK, NAMES_ACROSS = 45, 84, 4
FONTS = ("DejaVu Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans Arabic", "Noto Sans Devanagari")
NO_XML = re.compile(rb"[\0-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")  # not in XML 1.0, even escaped
DRAWING = threading.Lock()  # matplotlib draws on one thread at a time
Values = npt.NDArray[np.float64]

mpl.rcParams.update(
    {
        "font.family": [name for name in FONTS if name == FONTS[0] or name in get_font_names()],
        "svg.fonttype": "none",
        "text.parse_math": False,
    }
)


def drawing(chart: Chart, name: str, size: tuple[int, int]) -> tuple[str, list[float]]:
    """The chart as SVG of a page in so many pixels, width and height, and where its buckets are across.

    `name` makes its ids other than those of the next. The page has the names of the lines.
    """
    with DRAWING:
        figure, axes = _figure(chart, size, 12, 12)
        figure.patch.set_visible(False)
        starts = [(_seconds(start), 0.0) for start in chart.starts]
        places = axes.transData.transform(starts)[:, 0].tolist() if starts else []
        svg = _save(figure, "svg", name).decode()
    # The drawing as a part of a page: no prolog, ids of its own, the page's colors and fonts.
    text = svg[svg.index("<svg") :]
    text = re.sub(
        r'<svg [^>]*?viewBox="([^"]+)"[^>]*>', r'<svg viewBox="\1" aria-hidden="true">', text, count=1
    )
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font-size: \1", text)
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", text).replace("xlink:href", "href")
    for color, variable in VARIABLES.items():
        text = text.replace(color, f"var({variable})")
    return text, [round(x, 1) for x in places]


def picture(chart: Chart, kind: Literal["png", "svg"] = "png") -> bytes:
    """The chart on a light ground with the names of its lines, as PNG with two pixels for one of a screen."""
    with DRAWING:
        font = 11.0
        names = 2 * font * -(-len(chart.lines) // NAMES_ACROSS)
        figure, axes = _figure(chart, (720, 250), font, names + 8)
        handles = [
            axes.plot([], [], color=line.color or ACCENT, ls=_dashes(line), label=line.label[:32])[0]
            for line in chart.lines
        ]
        axes.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=NAMES_ACROSS, frameon=False,
            fontsize=font, borderaxespad=0.2, handlelength=1.6, labelcolor=INK,
        )  # fmt: skip
        return _save(figure, kind, "chart")


def _figure(chart: Chart, size: tuple[int, int], font: float, above: float) -> tuple[Figure, Axes]:
    """The chart drawn on a figure of so many pixels, a point each, so many of them `above` its axes."""
    width, height = size
    figure = Figure(figsize=(width / 72, height / 72), dpi=72)
    side, low, high = 48 / width, 26 / height, above / height
    axes = figure.add_axes((side, low, 1 - 2 * side, 1 - low - high))
    starts = [_seconds(start) for start in chart.starts]
    second_axes = axes.twinx() if any(line.is_beside for line in chart.lines) else axes
    for rank, line in enumerate(chart.lines):
        own = second_axes if line.is_beside else axes
        values = _numbers(line.values, len(starts))
        _course(own, line, np.array(starts), values, chart.parts, 10 - rank)
    for panel in {axes, second_axes}:
        lines = [line for line in chart.lines if line.is_beside == (panel is not axes)]
        _frame(panel, lines, chart.has_zero, font)
    if starts:
        margin = (starts[-1] - starts[0]) / 60 or 1.0
        axes.set_xlim(starts[0] - margin, starts[-1] + margin)
    top = axes.get_xaxis_transform()
    for index, sentence in chart.marks.items():
        axes.axvline(starts[index], color=GRAY, lw=1, ls=(0, (1, 3)))
        hours = sentence.partition(":")[0]
        axes.text(starts[index], 1, f" {hours}", color=GRAY, size=font - 1, transform=top, va="top")
    places = ticks(chart, max(2, int((width - 96) / ROOM_OF_A_TICK)))
    axes.set_xticks([starts[index] for index, _ in places], [text for _, text in places])
    axes.grid(visible=True, axis="y", color=FAINT, linewidth=1)
    axes.set_axisbelow(True)
    return figure, axes


def _save(figure: Figure, kind: str, name: str) -> bytes:
    """The figure as a file that is equal for equal figures: nothing of when or by what it was made."""
    file = io.BytesIO()
    mpl.rcParams["svg.hashsalt"] = name
    about = ("Software",) if kind == "png" else ("Creator", "Date", "Format", "Type")
    figure.savefig(file, format=kind, dpi=144 if kind == "png" else 72, metadata=dict.fromkeys(about))
    return NO_XML.sub(b"", file.getvalue()) if kind == "svg" else file.getvalue()


def ticks(chart: Chart, most: int) -> list[tuple[int, str]]:
    """Places and texts of at most so many ticks; of hours over more than two days their midnights."""
    midnights = [index for index, start in enumerate(chart.starts) if start.endswith("T00:00:00")]
    indices = midnights if len(midnights) > 2 else [*range(len(chart.starts))]
    return [(index, chart.ticks[index]) for index in indices[:: -(-len(indices) // most) or 1]]


def _course(axes: Axes, line: Line, x: Values, values: Values, parts: Sequence[str], order: int) -> None:
    color, is_part = line.color or ACCENT, np.array([bool(part) for part in parts] or [False] * len(x))
    if line.low is not None and line.high is not None:
        low, high = _numbers(line.low, len(x)), _numbers(line.high, len(x))
        axes.fill_between(x, low, high, color=color, alpha=0.18, linewidth=0, clip_on=False)
    style: dict[str, Any] = {"color": color, "zorder": order, "clip_on": False, "solid_joinstyle": "round"}
    if line.is_before or not is_part.any():
        axes.plot(x, values, ls=_dashes(line), lw=1.5 if line.is_before else 2, **style)
    else:
        axes.plot(x, np.where(is_part, np.nan, values), lw=2, **style)
        joins = is_part | np.roll(is_part, 1) | np.roll(is_part, -1)
        axes.plot(x, np.where(joins, values, np.nan), ls=(0, (2, 3)), lw=1.5, **style)
    if len(x) <= MOST_POINTS and not line.is_before:
        whole = np.where(is_part, np.nan, values)
        axes.plot(x, whole, "o", ms=4.5, **style)
        axes.plot(x, np.where(is_part, values, np.nan), "o", ms=6, mfc=GROUND, **style)


def _dashes(line: Line) -> str | tuple[int, tuple[float, ...]]:
    return (0, (2, 2.5)) if line.is_before else "--" if line.is_beside else "-"


def _frame(axes: Axes, lines: Sequence[Line], has_zero: bool, font: float) -> None:
    """The vertical axis: round steps, from zero where values add up, and no lines around it."""
    ends = [side for line in lines for side in (line.values, line.low, line.high) if side is not None]
    numbers = [value for side in ends for value in side if value is not None]
    low, high = (min(numbers), max(numbers)) if numbers else (0.0, 1.0)
    if has_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    locator = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10])
    steps = locator.tick_values(low, high if high > low else low + (abs(low) or 1.0))
    axes.set_ylim(steps[0], steps[-1])
    axes.yaxis.set_major_locator(locator)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(float(value))))
    axes.spines[:].set_visible(False)
    axes.patch.set_visible(False)
    axes.tick_params(length=0, pad=6, labelsize=font, labelcolor=INK)


def _numbers(values: Sequence[float | None], length: int) -> Values:
    """So many values; NaN where there are none."""
    numbers = [np.nan if value is None else value for value in values[:length]]
    return np.array(numbers + [np.nan] * (length - len(numbers)), dtype=np.float64)


def _seconds(start: str) -> float:
    return datetime.fromisoformat(start).timestamp()
