"""The split, as table, pivot, bars, lines or heatmap, with notes; a click on a value drills down."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import pandas as pd
import streamlit as st

from lib.reporting.answers import Audience
from lib.reporting.models import TIME_KEY_FIELDS, DataField
from lib.ui.audience import (
    answer_rows,
    figure_controls,
    nothing,
    split_charts,
    split_levels,
    split_lines,
    split_queries,
)
from lib.ui.audience.split_levels import Level
from lib.ui.audience.split_lines import Courses
from lib.ui.audience.split_pivot import Pivot
from lib.ui.charts.numbers import Numbers
from lib.ui.kit import problems
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.waiting import awaited
from lib.ui.query import (
    ask,
    drill,
    export_menu,
    filter_words,
    focus,
    folds,
    precision,
    question,
    shortfalls,
    split_picker,
    split_rows,
    values,
)
from lib.ui.query import compared_answers as compared
from lib.ui.query.focus import Focus
from lib.ui.query.folds import Folds, Path
from lib.ui.query.split_rows import SplitRows
from lib.ui.query.view import CHARTS, MOST, Chart

ALL = "(all)"


def rollup_split(pivot: Pivot) -> SplitRows:
    """The rows as they are shown, from top to bottom; a subtotal has `(all)` for the key fields below it.

    The total is that of the first level; how much was read, and without that the range of the figures, is
    that of the first level that is sampled.
    """
    keys = list(pivot.levels[-1].split.keys)
    answer = reduce(answer_rows.with_rows, _alike([_filled(level, keys) for level in pivot.levels]))
    starts = [sum(len(level.paths) for level in pivot.levels[:depth]) for depth in range(len(pivot.levels))]
    places = [starts[len(path) - 1] + pivot.rows[path][1] for path in _visible_paths(pivot, ())]
    read = [level.split.answer.precision for level in pivot.levels]
    sampled = next((one for one in read if one is not None and one.is_sampled), read[0])
    ranges = [level.split.answer.total.confidence_range for level in pivot.levels]
    total = replace(answer.total, confidence_range=next(filter(None, ranges), None))
    audience = replace(answer_rows.taken(answer, places), precision=sampled, total=total)
    return replace(pivot.levels[0].split, answer=audience, compared=None)


def _filled(level: Level, keys: list[str]) -> Audience:
    answer = level.split.answer
    frame = answer.descriptions
    return replace(
        answer,
        names=_widened(answer.names, keys),
        descriptions=None if frame is None else _widened(frame, keys),
    )


def _alike(answers: list[Audience]) -> list[Audience]:
    """The answers, with ranges of no width for exact rows where those of another one have ranges."""
    if any(answer.low is not None for answer in answers):
        answers = [
            answer if answer.low is not None else replace(answer, low=answer.values, high=answer.values)
            for answer in answers
        ]
    if any(answer.confidence_range is not None for answer in answers):
        answers = [
            answer
            if answer.confidence_range is not None
            else replace(answer, confidence_range=pd.Series(0.0, index=range(len(answer))))
            for answer in answers
        ]
    return answers


def _widened(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    return frame.reindex(columns=keys, fill_value=ALL)


def _visible_paths(pivot: Pivot, above: Path) -> Iterator[Path]:
    for path in pivot.below.get(above, []):
        yield path
        if pivot.is_open(path):
            yield from _visible_paths(pivot, path)


def split_notes(focus: Focus, split: SplitRows, chart: Chart) -> list[str]:
    """The notes on these rows, a sentence each."""
    found = []
    for name in split.segmented:
        count = split_queries.overlap(focus, name)
        if count is not None:
            field = focus.slicer.key_field(name).description or name
            found.append(
                f"{plain(field)}: {focus.numbers.number(count, 1)} values per record: shares exceed 100 %."
            )
    found += split_rows.doubts(split, focus.numbers)
    if chart == "heatmap" and split_rows.few(split).any():
        found.append(
            f"Hatched: fewer than {split_rows.FEW} records; the colour scale leaves these cells out."
        )
    found += map(plain, shortfalls.codes(focus.slicer, split.keys))
    if focus.view.chart == "heatmap" and len(split.keys) < 2:
        found.append("A heatmap needs two key fields: add one to the split.")
    if chart == "heatmap":
        found += [*_fields_left_out(focus, split.keys), *_values_left_out(focus)]
    if focus.view.chart == "lines" and chart != "lines":
        found.append("Lines need a key field other than time, in a slicer that has time.")
    if chart == "lines":
        found += _fields_left_out(focus, split.keys)
    return found


def _fields_left_out(focus: Focus, keys: Sequence[str]) -> list[str]:
    """Which key fields of the split a chart shows, where these are not all that it could show."""
    drawn = {*keys, *(TIME_KEY_FIELDS if focus.view.chart == "lines" else ())}
    left_out = [filter_words.field(name, focus.slicer) for name in focus.query.split_by if name not in drawn]
    if not left_out:
        return []
    shown = " and ".join(filter_words.field(name, focus.slicer) for name in keys)
    return [plain(f"Shown: {shown} alone, without {', '.join(left_out)}.")]


def _values_left_out(focus: Focus) -> list[str]:
    """How many of all values of its key fields a heatmap shows, where these are not all."""
    return [
        plain(
            f"{filter_words.field(name, focus.slicer)}: the {focus.numbers.number(shown)} largest of "
            f"{precision.count(answer, focus.numbers)} values."
        )
        for name, shown, answer in split_queries.cuts(focus)
        if answer.total.records_found > shown
    ]


CHART, HEIGHT, MORE = "split_chart", 380, 5
TABLES, DRILLED = ("table", "pivot"), ("bars", "heatmap")
PICTURES: dict[Chart, str] = {"bars": "split_bars", "lines": split_lines.KEY, "heatmap": "split_heatmap"}
ICONS: dict[Chart, str] = {
    "table": ":material/table_rows:",
    "pivot": ":material/account_tree:",
    "bars": ":material/bar_chart:",
    "lines": ":material/ssid_chart:",
    "heatmap": ":material/grid_on:",
}


@dataclass(frozen=True)
class Drawn:
    """The drawn data: the visible rows; for a pivot its levels, for lines their series."""

    split: SplitRows
    pivot: Pivot | None = None
    courses: Courses | None = None

    @property
    def answer(self) -> Audience:
        """The answer whose figures are in sight."""
        return self.split.answer if self.courses is None else self.courses.answer


@st.fragment(parallel=True)
def draw(context: PageContext) -> None:
    """The controls at once, then the answer in the shape that is chosen."""
    if not context.slicer.data_fields:
        return
    drill.catch_up(context)
    seen = focus.of(context)
    with st.container(horizontal=True, vertical_alignment="center", key="split"):
        split_picker.draw(context)
        if seen.query.split_by:
            _chart_picker(seen)
            if _chart(seen) in DRILLED:
                drill.draw_mode()
            if _chart(seen) == "pivot" and len(seen.query.split_by) > 1:
                _fold_buttons(seen)
            st.space("stretch")
            said = st.container(width="content")
            taken = st.container(width="content")
    if seen.query.split_by:
        with problems.reported("The split"):
            with awaited(HEIGHT, figure_controls.FIELD):
                drawn = _asked(seen)
            answer = drawn.answer
            if nothing.is_there(answer):
                said.caption(plain(_precision(seen, drawn)))
                with taken:
                    export_menu.draw(seen, "split", answer, _in_sight(seen), PICTURES.get(_chart(seen)))
                _shown(seen, drawn)
            ask.refined()


def _precision(focus: Focus, drawn: Drawn) -> str:
    """The precision of the figures; for lines, that of the values' figures and of their courses."""
    answers = (drawn.split.answer, drawn.answer)
    sentences = [precision.over(answer, _in_sight(focus), focus.numbers) for answer in answers]
    return next((words for words in sentences if words != precision.EXACT), precision.EXACT)


def _in_sight(focus: Focus) -> list[DataField]:
    """The data fields shown, the main one first: a table has them all."""
    names = focus.fields if _chart(focus) in TABLES else focus.fields[:1]
    return [focus.slicer.data_field(name) for name in names]


def _asked(focus: Focus) -> Drawn:
    if _chart(focus) == "pivot":
        pivot = split_charts.asked_pivot(focus)
        for level in pivot.levels:
            values.remember(focus.here, level.split.answer)
        return Drawn(rollup_split(pivot), pivot)
    if _chart(focus) == "lines" and (name := split_lines.key_field(focus)) is not None:
        courses = split_lines.asked(focus, name)
        values.remember(focus.here, courses.split.answer)
        return Drawn(courses.split, courses=courses)
    if _chart(focus) == "heatmap":
        answer = split_queries.grid(focus)
        both = None
    else:
        answer = ask.quickly(focus.here, focus.rows())
        both = split_queries.both_sides(focus, answer)
    values.remember(focus.here, answer)
    whole = None if both is None else compared.of_whole(focus)
    today = ask.today(focus.here, focus.query)
    return Drawn(SplitRows(answer, both, focus.field, focus.slicer, focus.period, today, whole))


def _shown(focus: Focus, drawn: Drawn) -> None:
    draw_as: dict[Chart, Callable[[Focus, SplitRows], None]] = {
        "table": split_charts.table,
        "bars": split_charts.bars,
        "heatmap": split_charts.heatmap,
    }
    if drawn.courses is not None:
        split_lines.draw(focus, drawn.courses, split_charts.alternative(focus, drawn.split.keys))
        st.caption(counted(drawn.split.answer, len(drawn.split.answer), focus.numbers), width="content")
    elif drawn.pivot is not None:
        split_charts.pivot(focus, drawn.pivot)
        level = drawn.pivot.levels[0]
        _more(focus, level.split.answer, len(level.paths), split_levels.MOST_FIRST)
    else:
        draw_as[_chart(focus)](focus, drawn.split)
        if _chart(focus) != "heatmap":
            _more(focus, drawn.split.answer, len(drawn.split.answer), MOST)
    notes = split_notes(focus, drawn.split, _chart(focus))
    if drawn.pivot is not None:
        notes.append(split_levels.note(focus, drawn.pivot.levels))
    if sentence := " ".join(filter(None, notes)):
        st.caption(sentence)


def _chart(focus: Focus) -> Chart:
    """A heatmap needs two key fields, lines need one other than time; without them, bars are drawn."""
    is_too_few = focus.view.chart == "heatmap" and len(focus.query.split_by) < 2
    is_no_line = focus.view.chart == "lines" and split_lines.key_field(focus) is None
    return "bars" if is_too_few or is_no_line else focus.view.chart


def _chart_picker(focus: Focus) -> None:
    st.session_state[CHART] = focus.view.chart
    st.segmented_control(
        "Show as",
        CHARTS,
        format_func=lambda chart: f"{ICONS[chart]} {plain(chart.capitalize())}",
        key=CHART,
        required=True,
        label_visibility="collapsed",
        on_change=_look_chart,
        args=(focus.here,),
    )


def _fold_buttons(focus: Focus) -> None:
    """Open or close all rows of the pivot; each is disabled where there is nothing for it to do."""
    for label, icon, opens in (("Expand all", "unfold_more", True), ("Collapse all", "unfold_less", False)):
        wanted = folds.everything(focus.query.split_by, opens)
        st.button(
            label,
            icon=f":material/{icon}:",
            type="tertiary",
            key=f"split_{icon}",
            disabled=focus.view.folds == wanted,
            on_click=_fold,
            args=(focus.here, wanted),
        )


def _fold(context: PageContext, wanted: Folds) -> None:
    question.look(context, folds=wanted)


def _more(focus: Focus, answer: Audience, shown: int, most: int) -> None:
    """Draw the number of rows and a button for more; of a pivot, those of the first level."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(counted(answer, shown, focus.numbers), width="content")
        if answer.total.records_found > shown and focus.view.rows < most:
            st.button("Show more", type="tertiary", on_click=_look_more, args=(focus,))


def counted(answer: Audience, shown: int, numbers: Numbers) -> str:
    """How many of an answer's rows are shown; a number of rows in a sample is at least so many."""
    rows = f"{precision.count(answer, numbers)} rows"
    text = f"{numbers.number(shown)} of {rows}" if answer.total.records_found > shown else rows
    return text[0].upper() + text[1:]


def _look_chart(context: PageContext) -> None:
    question.look(context, chart=st.session_state[CHART])


def _look_more(focus: Focus) -> None:
    question.look(focus.here, rows=min(focus.view.rows * MORE, MOST))
