"""The kinds of chart of a split: what each asks for, how it is drawn, and the notes on it.

A new kind is its name in `query/state.py` (it stands in links) and its row in `KINDS`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from lib.figures.numbers import Numbers
from lib.figures.overview import pivot_cross, split_levels, split_pivot, split_table, split_tables
from lib.figures.overview.split_pivot import Pivot
from lib.figures.overview.split_table import FileColumn
from lib.figures.query import filters, precision, split_rows
from lib.figures.query.focus import Focus
from lib.figures.query.split_rows import SplitRows
from lib.figures.query.state import MOST_ROWS, Chart
from lib.reporting.answers import Audience
from lib.slicers.granularities import SPAN_KEY_FIELDS
from lib.slicers.models import DataField
from lib.ui.audience import split_charts
from lib.ui.charts import panels
from lib.ui.charts.panels import Panel
from lib.ui.kit.markdown import plain
from lib.ui.query import history


@dataclass(frozen=True)
class ChartData:
    """What a chart is drawn from: the rows of the split; for a pivot its levels, for lines their charts.

    `answer` has the figures in sight.
    """

    split: SplitRows
    answer: Audience
    pivot: Pivot | None = None
    lines: Sequence[Panel] = ()


@dataclass(frozen=True)
class ChartKind:
    """A kind of chart: `ask` raises the service's errors.

    `shortfall` says why a split can't be drawn so (empty if it can): bars are drawn instead. `picture` is
    the key of a chart that can be saved as a picture. `has_all_fields`: it shows all data fields, otherwise
    the first alone. `drills`: a click drills down in the way that is chosen. `passes`: it has the rows alone
    that pass the filters by figures.
    """

    icon: str
    ask: Callable[[Focus], ChartData]
    draw: Callable[[Focus, ChartData], None]
    notes: Callable[[Focus, ChartData], list[str]] = lambda focus, data: []
    shortfall: Callable[[Focus], str] = lambda focus: ""
    picture: str | None = None
    has_all_fields: bool = False
    drills: bool = False
    passes: bool = True


def kind(focus: Focus) -> ChartKind:
    """The kind that is drawn: the chosen one, or bars where the split can't be drawn so."""
    choice = KINDS[focus.view.chart]
    return KINDS["bars"] if choice.shortfall(focus) else choice


def fields(focus: Focus) -> list[DataField]:
    """The data fields shown, the main one first."""
    names = focus.fields if kind(focus).has_all_fields else focus.fields[:1]
    return [focus.slicer.data_field(name) for name in names]


def file_columns(focus: Focus, data: ChartData) -> list[FileColumn]:
    """The columns in sight beside the figures, which a file of them has too."""
    if data.pivot is not None:
        return split_pivot.compared_columns(data.pivot)
    if not kind(focus).has_all_fields:
        return []
    _, *more = fields(focus)
    return split_table.file_columns(data.split, more, focus.view.compared_columns, focus.numbers)


def notes(focus: Focus, data: ChartData) -> list[str]:
    """The notes on this chart, a sentence each."""
    sentences = [
        f"{plain(filters.field(name, focus.slicer))}: {focus.numbers.number(count, 1)} values per record: "
        "shares exceed 100 %."
        for name in data.split.segmented
        if (count := split_levels.overlap(focus, name)) is not None
    ]
    sentences += split_rows.doubts(data.split, focus.numbers)
    if kind(focus).drills and (per_day := split_rows.per_day(data.split)) is not data.split:
        sentences.append(f"{per_day.field.description}, as the values have unlike numbers of days.")
    sentences += map(plain, precision.codes(focus.slicer, data.split.keys))
    sentences.append(KINDS[focus.view.chart].shortfall(focus))
    if len(focus.comparisons) > 1 and kind(focus) is not KINDS["table"]:
        sentences.append("Only the first of the two comparisons is shown here; the table has both.")
    if focus.view.data_filters and not kind(focus).passes:
        sentences.append("Metric filters apply to the table, bars and lines, not here.")
    return [*filter(None, sentences), *kind(focus).notes(focus, data)]


def count_label(answer: Audience, row_count: int, numbers: Numbers) -> str:
    """How many of an answer's rows are shown; a number of rows in a sample is at least so many."""
    rows = f"{precision.count(answer, numbers)} row{'s' * (answer.total.records_found != 1)}"
    text = f"{numbers.number(row_count)} of {rows}" if answer.total.records_found > row_count else rows
    return text[0].upper() + text[1:]


def _ask_rows(focus: Focus) -> ChartData:
    split = split_tables.fetch_rows(focus)
    return ChartData(split, split.answer)


def _draw_table(focus: Focus, data: ChartData) -> None:
    split_charts.draw_rows(focus.context)
    _more(focus, data.answer, len(data.answer), MOST_ROWS)


def _draw_bars(focus: Focus, data: ChartData) -> None:
    split_charts.bars(focus, data.split)
    _more(focus, data.answer, len(data.answer), MOST_ROWS)


def _ask_grid(focus: Focus) -> ChartData:
    answer = split_levels.grid(focus)
    return ChartData(SplitRows.of(focus, answer), answer)


def _grid_notes(focus: Focus, data: ChartData) -> list[str]:
    note = f"Hatched: fewer than {split_rows.FEW} records; the color scale leaves these cells out."
    few = [note] if split_rows.few(data.split).any() else []
    # How many of all values of its key fields a heatmap shows, where these are not all.
    cuts = [
        plain(
            f"{filters.field(name, focus.slicer)}: the {focus.numbers.number(count)} largest of "
            f"{precision.count(answer, focus.numbers)} values."
        )
        for name, count, answer in split_levels.cuts(focus)
        if answer.total.records_found > count
    ]
    return [*few, *_fields_left_out(focus, data.split.keys), *cuts]


def _ask_lines(focus: Focus) -> ChartData:
    split, answer, charts = split_charts.fetch_lines(focus, split_charts.line_field(focus) or "")
    return ChartData(split, answer, lines=charts)


def _draw_lines(focus: Focus, data: ChartData) -> None:
    split_charts.lines(focus, data.split, data.lines)
    st.caption(count_label(data.split.answer, len(data.split.answer), focus.numbers), width="content")


def _lines_shortfall(focus: Focus) -> str:
    has_field = split_charts.line_field(focus) is not None
    return "" if has_field else "Lines need a key field other than time, in a slicer that has time."


def _ask_pivot(focus: Focus) -> ChartData:
    pivot = split_tables.fetch_pivot(focus)
    split = split_tables.as_split(pivot)
    return ChartData(split, split.answer, pivot=pivot)


def _draw_pivot(focus: Focus, data: ChartData) -> None:
    if data.pivot is not None:
        split_charts.draw_rows(focus.context)
        level = data.pivot.levels[0]
        _more(focus, level.split.answer, len(level.paths), split_levels.MOST_FIRST)


def _pivot_notes(focus: Focus, data: ChartData) -> list[str]:
    if data.pivot is None:
        return []
    cross = data.pivot.cross
    many = split_levels.note(pivot_cross.row_focus(focus), data.pivot.levels)
    return [*filter(None, [many, plain(pivot_cross.note(cross)) if cross is not None else ""])]


KINDS: dict[Chart, ChartKind] = {
    "table": ChartKind(":material/table_rows:", _ask_rows, _draw_table, has_all_fields=True),
    "pivot": ChartKind(
        ":material/account_tree:", _ask_pivot, _draw_pivot, _pivot_notes, has_all_fields=True, passes=False
    ),
    "bars": ChartKind(":material/bar_chart:", _ask_rows, _draw_bars, picture="split_bars", drills=True),
    "lines": ChartKind(
        ":material/ssid_chart:",
        _ask_lines,
        _draw_lines,
        lambda focus, data: [*_fields_left_out(focus, data.split.keys), panels.OWN_SCALES],
        _lines_shortfall,
        picture=split_charts.LINES,
    ),
    "heatmap": ChartKind(
        ":material/grid_on:",
        _ask_grid,
        lambda focus, data: split_charts.heatmap(focus, data.split),
        _grid_notes,
        lambda focus: (
            "" if len(focus.query.split_by) > 1 else "A heatmap needs two key fields: add one to the split."
        ),
        picture="split_heatmap",
        drills=True,
        passes=False,
    ),
}


def _more(focus: Focus, answer: Audience, row_count: int, most: int) -> None:
    """Draw the number of rows and a button for more; of a pivot, those of the first level."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(count_label(answer, row_count, focus.numbers), width="content")
        if answer.total.records_found > row_count and focus.view.rows < most:
            change = partial(history.change_view, focus.context, rows=min(focus.view.rows * 5, MOST_ROWS))
            st.button("Show more", type="tertiary", on_click=change)


def _fields_left_out(focus: Focus, keys: Sequence[str]) -> list[str]:
    """Which key fields of the split a chart shows, where these are not all that it could show."""
    visible_keys = {*keys, *(SPAN_KEY_FIELDS if kind(focus) is KINDS["lines"] else ())}
    left_out = [
        filters.field(name, focus.slicer) for name in focus.query.split_by if name not in visible_keys
    ]
    if not left_out:
        return []
    titles = " and ".join(filters.field(name, focus.slicer) for name in keys)
    return [plain(f"Shown: {titles} alone, without {', '.join(left_out)}.")]
