"""Charts: what they show of an answer, and that they are honest about it."""

from datetime import datetime, timedelta

import numpy as np
import plotly.graph_objects as go
import pytest

from lib.figures import palette, series
from lib.figures.numbers import Numbers
from lib.figures.series import ChartLine, Series
from lib.slicers.models import DataField
from lib.ui.charts import bars, heatmap, theme, time_chart
from lib.ui.charts.bars import Bars
from lib.ui.charts.heatmap import Grid

IMPS = DataField(name="imps", description="Impressions")
CTR = DataField(name="ctr", description="CTR", formula="100 * clicks / imps", display_precision=2)
ENGLISH, GERMAN = Numbers.of("en"), Numbers.of("de")
START = datetime(2026, 11, 14)  # noqa: DTZ001


def line(values: list[float], low: list[float] | None = None, high: list[float] | None = None) -> Series:
    """A series by day."""
    days = [START + timedelta(days=place) for place in range(len(values))]
    sides = (None if side is None else np.array(side) for side in (low, high))
    return Series(tuple(f"{day:%Y-%m-%d}" for day in days), tuple(days), np.array(values, float), *sides)


def drawn(figure: go.Figure) -> list[go.Scatter]:
    """The lines that a reader sees."""
    return [trace for trace in figure.data if trace.line.width]


def test_comparison_is_dotted_and_aligned() -> None:
    """What is compared with is dotted gray at the times of the period, and its hover names its own days."""
    before = Series(("2026-11-07", "2026-11-08"), (START, START), np.array([1.0, 2.0]))
    figure = time_chart.over_time([ChartLine("now", line([3, 4])), ChartLine("then", before)], IMPS, ENGLISH)
    then, now = drawn(figure)
    assert (then.line.dash, then.line.color, now.line.dash) == ("dot", palette.GRAY, "solid")
    assert list(then.x) == list(now.x)
    assert then.customdata[0] == "1  (Sat 7 Nov 2026)"
    assert {note.text for note in figure.layout.annotations} == {"now", "then"}
    assert {note.font.color for note in figure.layout.annotations} == {None}, "the theme's own, on any ground"


def test_longer_comparison_is_cut() -> None:
    """Days compared with that the period has no counterpart for are not drawn."""
    lines = [ChartLine("now", line([3])), ChartLine("then", line([1, 2, 3]))]
    figure = time_chart.over_time(lines, IMPS, ENGLISH)
    assert [len(trace.x) for trace in drawn(figure)] == [1, 1]


def test_a_band_where_sampled() -> None:
    """Where records were sampled there is a band from the low to the high side; where exact there is none."""
    exact = time_chart.over_time([ChartLine("now", line([3, 4], [3, 4], [3, 4]))], IMPS, ENGLISH)
    assert len(exact.data) == 1
    sampled = time_chart.over_time([ChartLine("now", line([3, 4], [2, 3], [5, 6]))], IMPS, ENGLISH)
    low, high, _ = sampled.data
    assert (list(low.y), list(high.y), high.fill) == ([2, 3], [5, 6], "tonexty")


def weeks(values: list[float], *parts: str) -> Series:
    """A series by week, the first of which begins on Monday, 9 November."""
    starts = tuple(datetime(2026, 11, 9) + timedelta(weeks=place) for place in range(len(values)))  # noqa: DTZ001
    names = tuple(f"{start:%G-W%V}" for start in starts)
    return Series(names, starts, np.array(values, float), parts=parts, grain="week")


def test_partial_weeks_are_drawn_as_partial() -> None:
    """Weeks that the period cuts are hollow points on dotted light lines, and their hover says so."""
    shown = weeks([3, 7, 7, 4], "3 of 7 days", "", "", "4 of 7 days")
    figure = time_chart.over_time([ChartLine("now", shown)], IMPS, ENGLISH)
    dotted, hollow, solid = figure.data
    assert (dotted.line.dash, dotted.line.color, dotted.hoverinfo) == ("dot", theme.PART, "skip")
    np.testing.assert_array_equal(dotted.y, [3, 7, 7, 4])
    assert (hollow.marker.symbol, list(hollow.y)) == ("circle-open", [3, 4])
    assert list(hollow.customdata) == ["3  (2026-W46, 3 of 7 days)", "4  (2026-W49, 4 of 7 days)"]
    np.testing.assert_array_equal(solid.y, [np.nan, 7, 7, np.nan])


def test_ticks_are_at_the_weeks_starts() -> None:
    """Weeks have their ticks on their Mondays, months on their first days; many weeks have fewer ticks."""
    axis = time_chart.over_time([ChartLine("now", weeks([7, 7]))], IMPS, ENGLISH).layout.xaxis
    assert list(axis.tickvals) == [datetime(2026, 11, 9), datetime(2026, 11, 16)]  # noqa: DTZ001
    assert list(axis.ticktext) == ["9 Nov", "16 Nov"]
    many = time_chart.over_time([ChartLine("now", weeks([7] * 60))], IMPS, ENGLISH).layout.xaxis
    assert len(many.tickvals) <= series.MOST_TICKS
    assert {start.weekday() for start in many.tickvals} == {0}


def test_gaps_stay_gaps() -> None:
    """A day of which nothing is known breaks the line."""
    (now,) = time_chart.over_time([ChartLine("now", line([3, np.nan, 4]))], IMPS, ENGLISH).data
    assert now.connectgaps is False
    assert np.isnan(now.y[1])
    assert now.customdata[1] == "–  (Sun 15 Nov 2026)"


@pytest.mark.parametrize("values", [[5.0, 3.0, 1.0], [5.0, -3.0, np.nan], [0.0, 0.0, 0.0]])
def test_bars_start_at_zero(values: list[float]) -> None:
    """Zero is on the axis of bars, and every bar is on it too."""
    figure = bars.figure(Bars(["a", "b", "c"], values), IMPS, ENGLISH)
    least, most = figure.layout.xaxis.range
    assert least <= min(0, np.nanmin(values))
    assert most > max(0, np.nanmax(values))
    assert list(figure.data[0].y) == [0, 1, 2]
    assert figure.layout.yaxis.range == (2.5, -0.5)


def test_bars_carry_their_error() -> None:
    """Each bar has its range, to both sides, and its figure stands beyond it."""
    figure = bars.figure(Bars(["a", "b"], [10, 5], low=[8, 5], high=[13, 5]), IMPS, ENGLISH)
    bar, text = figure.data
    assert (list(bar.error_x.array), list(bar.error_x.arrayminus)) == ([3, 0], [2, 0])
    assert (list(text.x), [label.strip() for label in text.text]) == ([13, 5], ["10", "5"])
    assert bars.figure(Bars(["a"], [10], [10], [10]), IMPS, ENGLISH).data[0].error_x.array is None


def test_one_wild_error_does_not_squeeze_the_bars() -> None:
    """The axis ends where the bars do, with half as much again for the errors."""
    figure = bars.figure(Bars(["a", "b"], [10, 5], [1, 1], [11, 5000]), IMPS, ENGLISH)
    assert figure.layout.xaxis.range[1] < 20


def test_heatmap_takes_clicks() -> None:
    """Over the cells lies a clear square per cell, whose place is the cell's."""
    values = np.array([[1.0, 2.0, np.nan], [4.0, 5.0, 6.0]])
    figure = heatmap.figure(Grid(["x", "y", "z"], ["a", "b"], values), IMPS, ENGLISH)
    cells, squares = figure.data
    np.testing.assert_array_equal(cells.z, values)
    assert set(zip(squares.x, squares.y, strict=True)) == {(x, y) for x in range(3) for y in range(2)}
    assert squares.marker.color == theme.CLEAR
    assert squares.customdata[2] == "a · z<br>Impressions: –"
    assert figure.layout.clickmode == "event+select"


def test_heatmap_of_a_ratio_is_not_ruled_by_its_extremes() -> None:
    """The scale of a ratio ends before its extremes, that of a sum at its largest value."""
    values = np.array([[0.1] * 30 + [9.0]])
    names = [str(place) for place in range(31)]
    assert heatmap.figure(Grid(names, ["a"], values), CTR, ENGLISH).data[0].zmax < 1
    assert heatmap.figure(Grid(names, ["a"], values), IMPS, ENGLISH).data[0].zmax is None


def test_figures_in_the_readers_marks() -> None:
    """Axes have the reader's marks, and values too."""
    figure = bars.figure(Bars(["a"], [1234.5]), CTR, GERMAN)
    assert figure.layout.separators == ",."
    assert figure.data[0].customdata[0][1] == "1.234,50"


def test_long_labels_are_cut() -> None:
    """A label too long to stand beside a chart is cut, and whole in the hover."""
    label = "a" * 60
    figure = bars.figure(Bars([label], [1]), IMPS, ENGLISH)
    assert figure.layout.yaxis.ticktext[0] == "a" * 17 + "…" + "a" * 16
    assert figure.data[0].customdata[0][0] == label


def test_labels_keep_what_tells_them_apart() -> None:
    """Long labels are cut in the middle; those that would end up alike keep the part that differs."""
    assert theme.shorten(["Morning News Network – Harlequin Direct"], 20) == ["Morning Ne…in Direct"]
    start, end = "a shared beginning that is long enough, ", " and an equally long shared end of it all"
    labels = [f"{start}{name}{end}" for name in ("Chrome", "Safari", "Samsung Internet")]
    short = theme.shorten(labels, 34)
    assert len(set(short)) == len(labels)
    assert all(len(text) <= 34 for text in short)
    assert all(name[:6] in text for name, text in zip(("Chrome", "Safari", "Samsung"), short, strict=True))
    assert theme.shorten(["<b>", "plain"], 34) == ["&lt;b&gt;", "plain"]


def test_bars_have_labels_that_differ() -> None:
    """No two bars of different rows have the same label."""
    labels = [
        f"Supply package of the curated marketplace, {size}" for size in ("300x250", "300x600", "320x50")
    ]
    figure = bars.figure(Bars(labels, [3.0, 2.0, 1.0]), IMPS, ENGLISH)
    assert len(set(figure.layout.yaxis.ticktext)) == 3
