"""A pivot as the component draws it: the total, each row with the rows below it, and what is left."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from lib.reporting.models import AudienceQuery, DataField, Direction, Order
from lib.ui.audience import split_table
from lib.ui.audience.split_levels import Level
from lib.ui.charts.change import Change, is_sampled, of_total
from lib.ui.charts.numbers import NOTHING, Numbers
from lib.ui.kit.rows import Cell, Column, Row, Table, Values
from lib.ui.query import filter_words, folds, precision, split_rows
from lib.ui.query.folds import Folds, Path
from lib.ui.query.split_rows import SplitRows

Bar = tuple[float, float, float]


def board(
    found: split_table.SplitTable, split: SplitRows, query: AudienceQuery, order: Sequence[Order], label: str
) -> Table:
    """The table for the component. `order` is that of the rows; `query` has the filters that mark values."""
    now = {by.name: by.direction for by in order[:1]}
    asked = kept_filters(query)
    bars = lengths(split, split.answer.total.values.get(split.field.name))
    rows = [
        Row(
            _split_board_cells(found, place + 1, bars[place]),
            values,
            tuple(value in asked for value in values),
        )
        for place, values in enumerate(_values(split))
    ]
    rest = [Row(_split_board_cells(found, -1), kind="rest")] if found.has_rest else []
    columns = [_column(found, place, now) for place in range(len(found.columns))]
    return Table("split", label, columns, [Row(_split_board_cells(found, 0), kind="total"), *rows, *rest])


def _column(found: split_table.SplitTable, place: int, now: dict[str, Direction]) -> Column:
    column, is_key = found.columns[place], place < len(found.keys)
    first: Direction = "asc" if is_key else "desc"
    return Column(
        id=column.order or (found.keys[place] if is_key else column.title),
        title=column.title,
        is_key=is_key,
        order=first if column.order else None,
        sorted=now.get(column.order) if column.order else None,
        about=column.about,
    )


def _split_board_cells(found: split_table.SplitTable, row: int, bar: Bar | None = None) -> list[Cell]:
    """The cells of a row by its place: 0 is the total, -1 the rest."""
    front, cells = len(found.keys), []
    for place, column in enumerate(found.columns):
        value = [column.total, *column.rows, column.rest][row]
        if place < front and value is not None:
            cells.append(Cell(column.write(value)))
        else:
            cells.append(figure(column, value, column.is_vague(row), bar if place == front else None))
    return cells


def figure(
    column: split_table.SplitColumn, value: Any, is_vague: bool = False, bar: Bar | None = None
) -> Cell:
    """A figure's cell; a dash where there is none."""
    text = NOTHING if value is None or pd.isna(value) else column.write(value)
    return Cell(text, is_faint=is_vague, bar=bar)


def kept_filters(query: AudienceQuery) -> set[tuple[str, str]]:
    """The values of key fields that filters include."""
    return {(f.name, value) for f in query.filters if f.match == "equals" for value in f.value}


def _values(split: SplitRows) -> list[Values]:
    """The values of the rows' key fields, as in filters."""
    rows = split.answer.names.itertuples(index=False, name=None)
    return [tuple(zip(split.keys, map(str, row), strict=True)) for row in rows]


def lengths(split: SplitRows, whole: float | None) -> list[Bar | None]:
    """Each row's bar with the ends of its range, as shares of the whole; none where values are below zero.

    A full bar is the whole: a value that makes a sixth of the total fills a sixth of its bar.
    """
    name, answer = split.field.name, split.answer
    values = answer.values[name]
    if not split.is_additive or not values.max() > 0 or values.min() < 0:
        return [None] * len(values)
    is_sampled = answer.low is not None and answer.high is not None and name in answer.low
    low = answer.low[name] if is_sampled and answer.low is not None else values
    high = answer.high[name] if is_sampled and answer.high is not None else values
    sides = pd.DataFrame({"value": values, "low": low, "high": high})
    shares = sides.div(whole or values.sum()).clip(0, 1)
    return [None if any(map(pd.isna, row)) else row for row in shares.itertuples(index=False, name=None)]


STEP, LEAST_LEFT = " › ", 1e-9


@dataclass(frozen=True)
class Pivot:
    """The levels of a pivot, and what its figures are written with: `more` fields follow the one in front."""

    query: AudienceQuery
    levels: Sequence[Level]
    folds: Folds
    more: Sequence[DataField]
    figures: Numbers

    @cached_property
    def rows(self) -> dict[Path, tuple[Level, int]]:
        """Where each row is: its level and its place there."""
        return {path: (level, place) for level in self.levels for place, path in enumerate(level.paths)}

    @cached_property
    def below(self) -> dict[Path, list[Path]]:
        """The rows below each row, in the service's order."""
        found = defaultdict(list)
        for path in self.rows:
            found[path[:-1]].append(path)
        return found

    @cached_property
    def columns(self) -> list[dict[str, split_table.SplitColumn]]:
        """The columns of figures of each level, by what they are."""
        return [
            {column.kind: column for column in columns}
            for columns in (
                split_table.of_figures(level.split, self.more, self.figures) for level in self.levels
            )
        ]

    @cached_property
    def heads(self) -> dict[str, split_table.SplitColumn]:
        """A column of each kind, those of the field in front first."""
        own = [self.front.name, split_table.SHARE, split_table.OFF, split_table.CHANGE]
        kinds = {name: column for columns in reversed(self.columns) for name, column in columns.items()}
        return {name: kinds[name] for name in (*own, *(f.name for f in self.more)) if name in kinds}

    @cached_property
    def bars(self) -> list[list[Bar | None]]:
        """The bars of each level's rows: a full one is the whole question's total."""
        whole = self.levels[0].split.answer.total.values.get(self.front.name)
        return [lengths(level.split, whole) for level in self.levels]

    @cached_property
    def labels(self) -> list[list[str]]:
        """The label of each row of each level: its last value in words."""
        return [split_rows.labels(level.split).iloc[:, -1].tolist() for level in self.levels]

    @property
    def front(self) -> DataField:
        """The data field in front."""
        return self.levels[0].split.field

    def is_open(self, path: Path) -> bool | None:
        """Whether the rows below a row are shown; None on the last level."""
        keys = self.query.split_by
        return folds.is_open(self.folds, keys, path) if len(path) < len(keys) else None

    def values(self, path: Path) -> Values:
        """The values of a row, as filters take them."""
        return tuple(zip(self.query.split_by, path, strict=False))

    def figure(self, path: Path, name: str) -> float | None:
        """A data field's figure of a row; that of the total for the empty path."""
        if not path:
            return self.levels[0].split.answer.total.values.get(name)
        level, place = self.rows[path]
        return float(level.split.answer.values[name].iloc[place])


def table(pivot: Pivot, order: Sequence[Order], label: str) -> Table:
    """The table for the component. `order` is that of the first level's rows."""
    now = {by.name: by.direction for by in order[:1]}
    slicer = pivot.levels[0].split.slicer
    title = STEP.join(filter_words.field(name, slicer) for name in pivot.query.split_by)
    columns = [
        Column(
            id=name,
            title=column.title,
            order="desc" if column.order else None,
            sorted=now.get(column.order) if column.order else None,
            about=column.about,
        )
        for name, column in pivot.heads.items()
    ]
    totals = _cells(pivot, 0, split_table.TOTAL, lambda column: column.total, 0)
    rows = [Row(totals, kind="total"), *_below(pivot, (), kept_filters(pivot.query))]
    return Table("split", label, [Column("key", title, is_key=True), *columns], rows, is_tree=True)


def _below(pivot: Pivot, above: Path, kept: set[tuple[str, str]]) -> Iterator[Row]:
    """The rows below a row, each with those below it, and what is left."""
    for path in pivot.below.get(above, []):
        yield _row(pivot, path, kept)
        if pivot.is_open(path):
            yield from _below(pivot, path, kept)
    yield from _other_rows(pivot, above)


def _row(pivot: Pivot, path: Path, kept: set[tuple[str, str]]) -> Row:
    _, place = pivot.rows[path]
    depth = len(path) - 1
    values = pivot.values(path)
    return Row(
        _cells(
            pivot,
            depth,
            pivot.labels[depth][place],
            lambda column: column.rows[place],
            row=place + 1,
            bar=pivot.bars[depth][place],
        ),
        values,
        tuple(value in kept for value in values),
        level=depth + 1,
        is_open=pivot.is_open(path),
    )


def _cells(
    pivot: Pivot,
    depth: int,
    label: str,
    value: Callable[[split_table.SplitColumn], Any],
    row: int,
    bar: Bar | None = None,
) -> list[Cell]:
    """A row's cells; a dash for a column that its level does not have. `row` 0 is the total."""
    cells = [Cell(label)]
    for name, head in pivot.heads.items():
        column = pivot.columns[depth].get(name)
        shown = None if column is None else value(column)
        is_vague = column is not None and column.is_vague(row)
        cells.append(figure(head, shown, is_vague, bar if name == pivot.front.name else None))
    return cells


def _other_rows(pivot: Pivot, above: Path) -> Iterator[Row]:
    """Others: a row less those that are shown below it, of the fields that add up."""
    if len(above) >= len(pivot.levels):
        return
    level, shown = pivot.levels[len(above)], pivot.below.get(above, [])
    count = level.found[above] - len(shown)
    left = _volumes(pivot, above)
    is_unknown = bool(above) and level.is_cut
    if count <= 0 and not (is_unknown and _is_something(pivot, above, left)):
        return
    whole = pivot.figure((), pivot.front.name)
    if level.split.has_share and whole and pivot.front.name in left:
        left[split_table.SHARE] = 100 * left[pivot.front.name] / whole
    others = precision.others(level.split.answer, pivot.figures, split_table.OTHERS, count)
    changed = _other_change(pivot, above) if pivot.front.name in left else Change(None)
    left |= {split_table.CHANGE: ratio} if (ratio := split_table.in_percent(changed)) is not None else {}
    cells = [
        figure(head, left.get(name), name == split_table.CHANGE and not changed.is_certain)
        for name, head in pivot.heads.items()
    ]
    label = Cell(split_table.OTHERS if is_unknown else others)
    yield Row([label, *cells], pivot.values(above), kind="rest", level=len(above) + 1)


def _volumes(pivot: Pivot, above: Path) -> dict[str, float]:
    """The part of each field in rows that are not shown; none if a record has several values.

    Nor where estimates of the rows shown add up to more than their subtotal: what is left is not known then.
    """
    level = pivot.levels[len(above)]
    answer, places = level.split.answer, [pivot.rows[path][1] for path in pivot.below.get(above, [])]
    if level.split.slicer.key_field(level.split.keys[-1]).is_segmented:
        return {}
    names = [name for name in pivot.heads if name in answer.percents]
    wholes = {name: pivot.figure(above, name) for name in names}
    left = {
        name: whole - float(answer.values[name].iloc[places].sum())
        for name, whole in wholes.items()
        if whole is not None
    }
    is_estimate = is_sampled(answer)
    return {name: max(0.0, value) for name, value in left.items() if value >= 0 or not is_estimate}


def _other_change(pivot: Pivot, above: Path) -> Change:
    """The change of the rows below a row that are not shown."""
    below, whole = pivot.levels[len(above)].split.compared, pivot.levels[0].split.whole
    if below is None or whole is None:
        return Change(None)
    name, shown = pivot.front.name, pivot.below.get(above, [])
    if not above:
        return below.left(pivot.front, (of_total(whole.now, name), of_total(whole.before, name)), shown)
    upper = pivot.levels[len(above) - 1].split.compared
    sides = None if upper is None else upper.figures(pivot.front).get(above)
    return Change(None) if sides is None else below.left(pivot.front, sides, shown)


def _is_something(pivot: Pivot, above: Path, left: dict[str, float]) -> bool:
    """Whether there may be more rows, as far as the fields that add up say it."""
    return not left or any(value > LEAST_LEFT * abs(pivot.figure(above, n) or 0) for n, value in left.items())
