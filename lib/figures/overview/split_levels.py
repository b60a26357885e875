"""The questions behind a split: its rows on the days compared, a grid of two fields, and an overlap.

Those behind a pivot are one per level of its rows, so that every subtotal is the service's own.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pandas as pd

from lib.figures import series
from lib.figures.query import ask, compared_answers
from lib.figures.query.compared_answers import WHOLE, ComparedAnswers
from lib.figures.query.focus import TIMES, Focus, volume
from lib.figures.query.split_rows import SplitRows
from lib.figures.query.view_parts import Path
from lib.reporting.answers import Audience, Values
from lib.reporting.models import AudienceQuery
from lib.slicers.granularities import SPAN_KEY_FIELDS, TIME_KEY_FIELDS
from lib.slicers.models import Order
from lib.wire.filters import Filter

ACROSS, DOWN = 14, 20
FRAMES = (
    "keys", "values", "percents", "descriptions", "low", "high", "n_eff", "currencies", "confidence_range",
)  # fmt: skip
MOST_FIRST, MOST_BELOW = 100, 5000
MOST_ROWS, LEAST_BELOW = {2: 200, 3: 600}, {2: 5, 3: 1}  # of the second and third level: rows in all, each


def both_sides(focus: Focus, query: AudienceQuery, answer: Audience) -> ComparedAnswers | None:
    """An answer's rows on the days compared; None without a comparison.

    Days, weeks and months are paired by their place in both periods: the first with the first.
    """
    if focus.comparison is None or not len(answer):
        return None
    values = {f.name: f for f in within(query.split_by, zip(*paths(answer), strict=True))}
    narrow = {
        "filters": (*focus.query.filters, *(f for name, f in values.items() if name not in SPAN_KEY_FIELDS)),
        "limit": None,
        "order_by": (),
        "data_fields": focus.compared_fields,
    }
    return pair_times(focus, compared_answers.fetch(focus, query.model_copy(update=narrow), answer))


def pair_times(focus: Focus, both: ComparedAnswers | None) -> ComparedAnswers | None:
    """The same with hours, days, weeks and months of before named as those that they are compared with."""
    times = [] if both is None else [name for name in both.before.names if name in SPAN_KEY_FIELDS]
    if both is None or focus.comparison is None or not times:
        return both
    names = both.before.names.copy()
    for name in times:
        names[name] = series.pair_buckets(SPAN_KEY_FIELDS[name], names[name].tolist(), *focus.comparison)
    indices = names[times].notna().all(axis="columns").to_numpy().nonzero()[0].tolist()
    before = take(replace(both.before, keys=names), indices)
    # A row has the same days on both sides, however long these are.
    coverage = both.coverage if both.coverage.is_thin else WHOLE
    return replace(both, before=before, coverage=coverage, weekdays={})


def grid(focus: Focus) -> Audience:
    """The first two key fields of the split against each other, the top values of each."""
    down, across = focus.query.split_by[:2]
    top = [
        Filter(name=name, value=tuple(answer.names[name]), match="equals") for name, _, answer in cuts(focus)
    ]
    filters = (*focus.query.filters, *top)
    fields = tuple(dict.fromkeys((focus.field.name, volume(focus.slicer, focus.field))))
    changes = {"split_by": (down, across), "filters": filters, "limit": None, "data_fields": fields}
    return ask.estimate(focus.context, focus.rows().model_copy(update={**changes, "order_by": ()}))


def cuts(focus: Focus) -> list[tuple[str, int, Audience]]:
    """Per key field of the grid, but for time: how many values it shows, and an answer that counts all."""
    sides = zip(focus.query.split_by[:2], (DOWN, ACROSS), strict=True)
    return [(name, count, _top(focus, name, count)) for name, count in sides if name not in TIME_KEY_FIELDS]


def overlap(focus: Focus, segmented: str) -> float | None:
    """How many values of a segmented key field a record has, weighted by the first plain data field.

    The sum of all values' shares over 100; None where nothing adds up.
    """
    by = volume(focus.slicer, focus.field)
    changes = {"split_by": (segmented,), "data_fields": (by,), "order_by": (), "limit": None, "precision": 0}
    answer = ask.estimate(focus.context, focus.rows().model_copy(update=changes))
    return float(answer.percents[by].sum()) / 100 if by in answer.percents else None


def _top(focus: Focus, name: str, count: int) -> Audience:
    by = volume(focus.slicer, focus.field)
    changes = {"split_by": (name,), "limit": count, "data_fields": (by,), "order_by": (Order(name=by),)}
    return ask.estimate(focus.context, focus.rows().model_copy(update=changes))


def take(answer: Audience, indices: Sequence[int]) -> Audience:
    """The rows at these places, in this order."""
    rows: dict[str, Any] = {
        name: frame.iloc[list(indices)].reset_index(drop=True)
        for name in FRAMES
        if (frame := getattr(answer, name)) is not None
    }
    return replace(answer, **rows)


def with_rows(answer: Audience, more: Audience) -> Audience:
    """The rows of both; without what either lacks, as a frame has a row per row of the answer."""
    rows: dict[str, Any] = {}
    for name in FRAMES:
        frames = [getattr(answer, name), getattr(more, name)]
        is_whole = all(frame is not None for frame in frames)
        rows[name] = pd.concat(frames, ignore_index=True) if is_whole else None
    return replace(answer, **rows)


def without_volume(answer: Audience) -> Audience:
    """The same rows with zero volume, for values that occur on other days only."""
    figures = ("values", "percents", "low", "high")
    nothing = {name: frame * 0.0 for name in figures if (frame := getattr(answer, name)) is not None}
    return replace(answer, **nothing)


@dataclass(frozen=True)
class Level:
    """The rows of one level that are shown, in the service's order, those of one row of the level above too.

    `counts` is how many rows each row of the level above has, as far as they came; with `is_cut` there may be
    more. Shares are those of the whole question.
    """

    split: SplitRows
    counts: Counter[Path]
    is_cut: bool

    @property
    def paths(self) -> list[Path]:
        """The rows' values, from the first level on."""
        return paths(self.split.answer)

    @property
    def depth(self) -> int:
        """Its place from the top, from 1."""
        return len(self.split.keys)


def fetch_levels(focus: Focus) -> list[Level]:
    """The levels of the pivot, from the top down to the deepest one of which a row is open."""
    whole: Values = {}
    levels: list[Level] = []
    for depth in range(1, len(focus.query.split_by) + 1):
        above = open_rows(focus, levels[-1].paths) if levels else [()]
        if not above:
            break
        keys = focus.query.split_by[:depth]
        is_time = keys[0] in TIME_KEY_FIELDS
        first = max(min(focus.view.rows, MOST_FIRST), TIMES if is_time else 0)
        changes = {
            "split_by": keys,
            "filters": (*focus.query.filters, *within(keys, zip(*above, strict=True))),
            "order_by": order(focus, keys),
            "limit": first if depth == 1 else MOST_BELOW,
        }
        query = focus.rows().model_copy(update=changes)
        answer = ask.estimate(focus.context, query)
        whole = whole or answer.total.values
        # The answer with its shares of the whole: a level below asks about a part of it alone.
        shares = {
            name: 100 * answer.values[name] / (whole.get(name) or float("nan"))
            for name in map(str, answer.percents)
        }
        levels.append(_level(focus, query, replace(answer, percents=answer.percents.assign(**shares)), above))
    return levels


def open_rows(focus: Focus, rows: Sequence[Path]) -> list[Path]:
    """The open ones of these rows; none on the last level."""
    keys = focus.query.split_by
    return [row for row in rows if len(row) < len(keys) and focus.view.expansion.is_open(keys, row)]


def order(focus: Focus, keys: Sequence[str]) -> tuple[Order, ...]:
    """The order of a level's rows: as asked, where that is by a data field or by its own key field.

    Else time as it runs, and the rest by the field shown, or by volume.
    """
    above = set(focus.query.split_by) - {keys[-1]}
    orders = tuple(by for by in focus.query.order_by if by.name not in above)
    if orders:
        return orders
    by_volume = Order(name=volume(focus.slicer, focus.field))
    return (Order(name=keys[-1], direction="asc"), by_volume) if keys[-1] in TIME_KEY_FIELDS else (by_volume,)


def paths(answer: Audience) -> list[Path]:
    """The values of an answer's rows."""
    return [tuple(map(str, row)) for row in answer.names.itertuples(index=False, name=None)]


def within(keys: Sequence[str], columns: Iterable[Sequence[str]]) -> Iterator[Filter]:
    """Filters on the values that rows have of each key field; of the last ones they may have none."""
    for name, values in zip(keys, columns, strict=False):
        yield Filter(name=name, value=tuple(dict.fromkeys(values)), match="equals")


def _level(focus: Focus, query: AudienceQuery, answer: Audience, above: Sequence[Path]) -> Level:
    """The rows below these rows, as many of each as are shown."""
    parents, most = set(above), _most(focus, above)
    counts: Counter[Path] = Counter()
    indices = []
    for index, path in enumerate(paths(answer)):
        if path[:-1] in parents:
            counts[path[:-1]] += 1
            if counts[path[:-1]] <= most:
                indices.append(index)
    audience = take(answer, indices)
    both = both_sides(focus, query, audience)
    whole = compared_answers.of_whole(focus) if both is not None and above == [()] else None
    if above == [()]:
        counts[()] = answer.total.records_found
    split = SplitRows.of(focus, audience, both, whole)
    return Level(split, counts, answer.total.records_found > len(answer))


def _most(focus: Focus, above: Sequence[Path]) -> int:
    """How many rows below one row are shown: the fewer, the more rows are open."""
    depth = len(above[0]) + 1
    if depth == 1:
        return MOST_BELOW
    return min(focus.view.rows, max(LEAST_BELOW[depth], MOST_ROWS[depth] // len(above)))


def note(focus: Focus, levels: Sequence[Level]) -> str:
    """That fewer rows than usual are shown below each row, since many are open; empty where they aren't."""
    for upper, lower in pairwise(levels):
        above = open_rows(focus, upper.paths)
        most = _most(focus, above)
        if most < focus.view.rows and any(count > most for count in lower.counts.values()):
            number = focus.numbers.number
            return (
                f"With {number(len(above))} rows open, each shows its first {number(most)}; "
                "the rest is in Others. Close some rows to see more of the others."
            )
    return ""
