"""The split as a table or pivot: what it asks for, and the rows that the component draws."""

from collections.abc import Sequence
from dataclasses import replace

from lib.figures import numbers
from lib.figures.board import headline, pivot_cross, pivot_rows, split_levels, split_pivot, split_table
from lib.figures.board.split_pivot import Pivot
from lib.figures.query import ask, compared_answers, filters
from lib.figures.query.focus import Focus
from lib.figures.query.split_rows import SplitRows
from lib.figures.rows import Table
from lib.reporting.answers import Audience


def rows_of(focus: Focus) -> Table | None:
    """The table or pivot of the split; None of one without rows, or that is drawn otherwise."""
    if not focus.query.split_by or focus.view.chart not in ("table", "pivot"):
        return None
    if focus.view.chart == "table":
        split = fetch_rows(focus)
        return table(focus, split) if headline.is_there(split.answer) else None
    levels = fetch_pivot(focus)
    return pivot(focus, levels) if headline.is_there(pivot_rows.as_split(levels).answer) else None


def fetch_rows(focus: Focus) -> SplitRows:
    """The split's rows that pass the filters by figures, each compared with the other days."""
    answer = ask.estimate(focus.context, focus.passing_rows())
    first, *others = (_compared_rows(side, answer) for side in focus.comparisons)
    return replace(first, also=next(iter(others), None))


def _compared_rows(focus: Focus, answer: Audience) -> SplitRows:
    both = split_levels.both_sides(focus, focus.rows(), answer)
    whole = None if both is None else compared_answers.of_whole(focus)
    against = numbers.span(*focus.comparison.before, focus.period[1].year) if focus.comparison else ""
    rows = SplitRows.of(focus, answer, both, whole, bool(focus.view.data_filters))
    return replace(rows, against=against)


def table(focus: Focus, split: SplitRows) -> Table:
    """The split's table."""
    more = [focus.slicer.data_field(name) for name in focus.metrics if name != focus.field.name]
    cells = split_table.table(split, more, focus.numbers, _is_ranked(focus), focus.view.compared_columns)
    return split_table.board(cells, split, focus.query, focus.order, alternative(focus, split.keys))


def fetch_pivot(focus: Focus) -> Pivot:
    """The pivot, from a question per level of its rows, and one more each for the values across."""
    more = [focus.slicer.data_field(name) for name in focus.metrics if name != focus.field.name]
    rows = pivot_cross.row_focus(focus)
    levels = split_levels.fetch_levels(rows)
    cross = pivot_cross.fetch(focus, levels)
    column_kinds = focus.view.compared_columns
    return Pivot(rows.query, levels, focus.view.expansion, more, focus.numbers, cross, column_kinds)


def pivot(focus: Focus, pivot: Pivot) -> Table:
    """The pivot as a table whose rows open."""
    order = split_levels.order(pivot_cross.row_focus(focus), pivot.query.split_by[:1])
    return split_pivot.table(pivot, order, alternative(focus, focus.query.split_by))


def _is_ranked(focus: Focus) -> bool:
    """Whether the rows are the largest of all by the field in front."""
    first = focus.order[0]
    return (first.name, first.direction) == (focus.field.name, "desc") and not focus.query.offset


def alternative(focus: Focus, keys: Sequence[str]) -> str:
    """The alternative text of a chart of the split."""
    fields = ", ".join(filters.field(key, focus.slicer) for key in keys)
    return f"{numbers.title(focus.field)} by {fields}, {numbers.days(*focus.period)}"
