"""The split as a table or pivot: what it asks for, and the rows that the component draws and a file has."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce

import pandas as pd

from lib.figures import numbers
from lib.figures.overview import headline, pivot_cross, split_levels, split_pivot, split_table
from lib.figures.overview.split_pivot import Pivot
from lib.figures.query import ask, compared_answers, filters
from lib.figures.query.focus import Focus
from lib.figures.query.split_rows import SplitRows
from lib.figures.rows import Table
from lib.reporting.answers import Audience

ALL = "(all)"


def tables(focus: Focus) -> list[Table]:
    """The table or pivot of the split; none of one without rows, or that is drawn otherwise."""
    if not focus.query.split_by or focus.view.chart not in ("table", "pivot"):
        return []
    if focus.view.chart == "table":
        split = fetch_rows(focus)
        return [table(focus, split)] if headline.is_there(split.answer) else []
    levels = fetch_pivot(focus)
    return [pivot(focus, levels)] if headline.is_there(as_split(levels).answer) else []


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
    by = focus.order[0]
    is_ranked = (by.name, by.direction) == (focus.field.name, "desc") and not focus.query.offset
    cells = split_table.table(split, more, focus.numbers, is_ranked, focus.view.compared_columns)
    return split_table.overview_table(cells, split, focus.query, focus.order, alternative(focus, split.keys))


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


def as_split(pivot: Pivot) -> SplitRows:
    """A pivot's rows as they are shown, from top to bottom; a subtotal has `(all)` for key fields below it.

    The total is that of the first level; how much was read, and without that the range of the figures, is
    that of the first level that is sampled.
    """
    widen = partial(pd.DataFrame.reindex, columns=list(pivot.levels[-1].split.keys), fill_value=ALL)

    def with_keys(answer: Audience) -> Audience:
        labels = answer.descriptions
        return replace(
            answer, keys=widen(answer.names), descriptions=None if labels is None else widen(labels)
        )

    answers = [level.split.answer for level in pivot.levels]
    whole = reduce(split_levels.with_rows, _alike([*map(with_keys, answers)]))
    starts = [sum(len(level.paths) for level in pivot.levels[:depth]) for depth in range(len(pivot.levels))]
    indices = [starts[len(path) - 1] + pivot.rows[path][1] for path in split_pivot.visible_paths(pivot, ())]
    read = [answer.precision for answer in answers]
    sampled = next(
        (precision for precision in read if precision is not None and precision.is_sampled), read[0]
    )
    ranges = [answer.total.confidence_range for answer in answers]
    total = replace(whole.total, confidence_range=next(filter(None, ranges), None))
    audience = replace(split_levels.take(whole, indices), precision=sampled, total=total)
    return replace(pivot.levels[0].split, answer=audience, pair=None)


def _alike(answers: list[Audience]) -> list[Audience]:
    """The answers, with ranges of no width for exact rows where those of another one have ranges."""
    if any(answer.low is not None for answer in answers):
        answers = [
            answer if answer.low is not None else replace(answer, low=answer.values, high=answer.values)
            for answer in answers
        ]
    if all(answer.confidence_range is None for answer in answers):
        return answers
    return [
        answer
        if answer.confidence_range is not None
        else replace(answer, confidence_range=pd.Series(0.0, index=range(len(answer))))
        for answer in answers
    ]


def alternative(focus: Focus, keys: Sequence[str]) -> str:
    """The alternative text of a chart of the split."""
    fields = ", ".join(filters.field(key, focus.slicer) for key in keys)
    return f"{numbers.title(focus.field)} by {fields}, {numbers.days(*focus.period)}"
