"""The rows of a pivot as one answer: for a file, and for what is said of all of them."""

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce

import pandas as pd

from lib.reporting.answers import Audience
from lib.ui.audience import answer_rows
from lib.ui.audience.split_levels import Level
from lib.ui.audience.split_pivot import Pivot
from lib.ui.question.folds import Path
from lib.ui.question.split_rows import SplitRows

ALL = "(all)"


def split(pivot: Pivot) -> SplitRows:
    """The rows as they are shown, from top to bottom; a subtotal has `(all)` for the key fields below it.

    The total is that of the first level; how much was read, and without that the range of the figures, is
    that of the first level that is sampled.
    """
    keys = list(pivot.levels[-1].split.keys)
    answer = reduce(answer_rows.with_rows, _alike([_filled(level, keys) for level in pivot.levels]))
    starts = [sum(len(level.paths) for level in pivot.levels[:depth]) for depth in range(len(pivot.levels))]
    places = [starts[len(path) - 1] + pivot.rows[path][1] for path in _shown(pivot, ())]
    read = [level.split.answer.precision for level in pivot.levels]
    sampled = next((one for one in read if one is not None and one.is_sampled), read[0])
    ranges = [level.split.answer.total.confidence_range for level in pivot.levels]
    total = replace(answer.total, confidence_range=next(filter(None, ranges), None))
    shown = replace(answer_rows.taken(answer, places), precision=sampled, total=total)
    return replace(pivot.levels[0].split, answer=shown, compared=None)


def _filled(level: Level, keys: list[str]) -> Audience:
    answer = level.split.answer
    described = answer.descriptions
    return replace(
        answer,
        names=_widened(answer.names, keys),
        descriptions=None if described is None else _widened(described, keys),
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


def _shown(pivot: Pivot, above: Path) -> Iterator[Path]:
    for path in pivot.below.get(above, []):
        yield path
        if pivot.is_open(path):
            yield from _shown(pivot, path)
