"""The rows of a pivot as those of a split, as a file and the notes on the rows have them."""

from dataclasses import replace
from functools import reduce

import pandas as pd

from lib.figures.board import split_levels, split_pivot
from lib.figures.board.split_levels import Level
from lib.figures.board.split_pivot import Pivot
from lib.figures.query.split_rows import SplitRows
from lib.reporting.answers import Audience

ALL = "(all)"


def as_split(pivot: Pivot) -> SplitRows:
    """The rows as they are shown, from top to bottom; a subtotal has `(all)` for the key fields below it.

    The total is that of the first level; how much was read, and without that the range of the figures, is
    that of the first level that is sampled.
    """
    keys = list(pivot.levels[-1].split.keys)
    answer = reduce(split_levels.with_rows, _alike([_fill(level, keys) for level in pivot.levels]))
    starts = [sum(len(level.paths) for level in pivot.levels[:depth]) for depth in range(len(pivot.levels))]
    indices = [starts[len(path) - 1] + pivot.rows[path][1] for path in split_pivot.visible_paths(pivot, ())]
    read = [level.split.answer.precision for level in pivot.levels]
    sampled = next((answer for answer in read if answer is not None and answer.is_sampled), read[0])
    ranges = [level.split.answer.total.confidence_range for level in pivot.levels]
    total = replace(answer.total, confidence_range=next(filter(None, ranges), None))
    audience = replace(split_levels.take(answer, indices), precision=sampled, total=total)
    return replace(pivot.levels[0].split, answer=audience, pair=None)


def _fill(level: Level, keys: list[str]) -> Audience:
    answer = level.split.answer
    frame = answer.descriptions
    return replace(
        answer,
        names=_widen(answer.names, keys),
        descriptions=None if frame is None else _widen(frame, keys),
    )


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


def _widen(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    return frame.reindex(columns=keys, fill_value=ALL)
