"""Selects rows of an answer, or joins those of two; the total stays that of the first."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from lib.reporting.answers import Audience

FRAMES = ("names", "values", "percents", "descriptions", "low", "high", "n_eff", "confidence_range")
Rows = pd.DataFrame | pd.Series


def taken(answer: Audience, places: Sequence[int]) -> Audience:
    """The rows at these places, in this order."""
    return _mapped(answer, lambda name: _at(getattr(answer, name), places))


def with_rows(answer: Audience, more: Audience) -> Audience:
    """The rows of both."""
    return _mapped(answer, lambda name: _both(getattr(answer, name), getattr(more, name)))


def without_volume(answer: Audience) -> Audience:
    """The same rows with zero volume, for values that occur on other days only."""
    figures = ("values", "percents", "low", "high")
    nothing = {name: frame * 0.0 for name in figures if (frame := getattr(answer, name)) is not None}
    return replace(answer, **nothing)


def _mapped(answer: Audience, change: Callable[[str], Rows | None]) -> Audience:
    return replace(answer, **{name: change(name) for name in FRAMES})  # type: ignore[arg-type]


def _at(rows: Rows | None, places: Sequence[int]) -> Rows | None:
    return None if rows is None else rows.iloc[list(places)].reset_index(drop=True)


def _both(first: Rows | None, more: Rows | None) -> Rows | None:
    """The rows of both frames; None if either is missing, as a frame has a row per row of the answer."""
    if first is None or more is None:
        return None
    parts: list[Any] = [first, more]
    both: Rows = pd.concat(parts, ignore_index=True)
    return both
