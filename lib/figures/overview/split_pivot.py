"""A pivot as the component draws it: the total, each row with the rows below it, and what is left."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import pandas as pd

from lib.figures import numbers
from lib.figures.numbers import Numbers
from lib.figures.overview import split_table
from lib.figures.overview.pivot_cross import Cross
from lib.figures.overview.split_levels import Level
from lib.figures.overview.split_table import FileColumn
from lib.figures.query import filters, precision, split_rows
from lib.figures.query.compared_answers import Change
from lib.figures.query.split_rows import Bar
from lib.figures.query.state import ComparedColumn
from lib.figures.query.view_parts import Expansion, Path
from lib.figures.rows import Cell, Column, Row, Table, Values
from lib.reporting.answers import remainder
from lib.reporting.models import AudienceQuery
from lib.slicers.models import DataField, Order

STEP, LEAST_REST = " › ", 1e-9


@dataclass(frozen=True)
class Pivot:
    """The levels of a pivot, and what its figures are written with: `more` fields follow the one in front."""

    query: AudienceQuery
    levels: Sequence[Level]
    expansion: Expansion
    more: Sequence[DataField]
    figures: Numbers
    cross: Cross | None = None
    column_kinds: Sequence[ComparedColumn] = ()

    @cached_property
    def rows(self) -> dict[Path, tuple[Level, int]]:
        """Where each row is: its level and its place there."""
        return {path: (level, index) for level in self.levels for index, path in enumerate(level.paths)}

    @cached_property
    def below(self) -> dict[Path, list[Path]]:
        """The rows below each row, in the service's order."""
        paths = defaultdict(list)
        for path in self.rows:
            paths[path[:-1]].append(path)
        return paths

    @cached_property
    def columns(self) -> list[dict[str, split_table.SplitColumn]]:
        """The columns of figures of each level, by what they are: metrics, or the values across."""
        return [self._columns(level) for level in self.levels]

    def _columns(self, level: Level) -> dict[str, split_table.SplitColumn]:
        figures = split_table.of_figures(level.split, self.more, self.figures, column_kinds=self.column_kinds)
        columns = {column.kind: column for column in figures}
        if self.cross is None:
            return columns
        own = {name: columns[name] for name in self.with_comparison(self.front.name) if name in columns}
        return own | self.cross.columns(level, columns[self.front.name], self.column_kinds, self.figures)

    def with_comparison(self, name: str) -> list[str]:
        """The names of a column and of those of the days compared beside it."""
        return [name, *(split_table.compared_name(name, kind) for kind in self.column_kinds)]

    @cached_property
    def heads(self) -> dict[str, split_table.SplitColumn]:
        """A column of each kind, those of the field in front first."""
        front, *beside = self.with_comparison(self.front.name)
        own = [front, split_table.SHARE, split_table.RANGE, split_table.CHANGE, *beside]
        kinds = {name: column for columns in reversed(self.columns) for name, column in columns.items()}
        across = self.cross.names if self.cross is not None else ()
        others = [
            name
            for column in (*(f.name for f in self.more), *across)
            for name in self.with_comparison(column)
        ]
        return {name: kinds[name] for name in (*own, *others) if name in kinds}

    @cached_property
    def groups(self) -> dict[str, str]:
        """What columns beside each other have in common: their data field, or the key field across."""
        front, lead = self.front.name, numbers.title(self.front, with_unit=True)
        own = [*self.with_comparison(front), split_table.SHARE, split_table.RANGE, split_table.CHANGE]
        groups = dict.fromkeys(own, lead)
        groups |= {name: numbers.title(f) for f in self.more for name in self.with_comparison(f.name)}
        if self.cross is not None:
            across = [name for column in self.cross.names for name in self.with_comparison(column)]
            groups |= dict.fromkeys(across, self.cross.title)
        sizes = Counter(groups.get(name, "") for name in self.heads)
        return {name: group for name in self.heads if (group := groups.get(name, "")) and sizes[group] > 1}

    @cached_property
    def bars(self) -> list[list[Bar | None]]:
        """The bars of each level's rows: a full one is the whole question's total."""
        whole = self.levels[0].split.answer.total.values.get(self.front.name)
        return [split_rows.bars(level.split, whole) for level in self.levels]

    @cached_property
    def labels(self) -> list[list[str]]:
        """The label of each row of each level: its last value in words."""
        return [split_rows.labels(level.split).iloc[:, -1].tolist() for level in self.levels]

    @property
    def front(self) -> DataField:
        return self.levels[0].split.field

    def is_open(self, path: Path) -> bool | None:
        """Whether the rows below a row are shown; None on the last level."""
        keys = self.query.split_by
        return self.expansion.is_open(keys, path) if len(path) < len(keys) else None

    def values(self, path: Path) -> Values:
        """The values of a row, as filters take them."""
        return tuple(zip(self.query.split_by, path, strict=False))

    def figure(self, path: Path, name: str) -> float | None:
        """A column's figure of a row; that of the total for the empty path. None where there is none."""
        column = self.columns[max(len(path) - 1, 0)].get(name)
        if column is None:
            return None
        value = column.rows[self.rows[path][1]] if path else column.total
        return None if value is None or pd.isna(value) else value


def table(pivot: Pivot, order: Sequence[Order], label: str) -> Table:
    """The table for the component. `order` is that of the first level's rows."""
    now = {by.name: by.direction for by in order[:1]}
    slicer = pivot.levels[0].split.slicer
    title = STEP.join(filters.field(name, slicer) for name in pivot.query.split_by)
    columns = [
        Column(
            id=name,
            title=column.title,
            order="desc" if column.order else None,
            sorted=now.get(column.order) if column.order else None,
            about=column.about,
            group=pivot.groups.get(name, ""),
        )
        for name, column in pivot.heads.items()
    ]
    marks = split_table.included_values(pivot.query)
    rows = [_row(pivot, line, marks) for line in lines(pivot)]
    return Table(
        "split", label, [Column("key", title, is_key=True), *columns], rows, is_tree=True,
        has_records=pivot.levels[0].split.slicer.knows("records"),
    )  # fmt: skip


@dataclass(frozen=True)
class PivotLine:
    """A row of a pivot as it is shown: its label, and its figures by the columns' names; None: it has none.

    `path` is that of the row, of the rest that of the row above it; `vague` are the columns whose figures the
    sample may have made.
    """

    kind: Literal["row", "total", "rest"]
    path: Path
    level: int
    label: str
    figures: Mapping[str, float | None]
    vague: frozenset[str] = frozenset()


def visible_paths(pivot: Pivot, above: Path) -> Iterator[Path]:
    """The rows below a row that are shown, from top to bottom."""
    for path in pivot.below.get(above, []):
        yield path
        if pivot.is_open(path):
            yield from visible_paths(pivot, path)


def compared_columns(pivot: Pivot) -> list[FileColumn]:
    """The columns of the days compared of each data field, with the figures of the rows that are shown."""
    fields = [pivot.front.name, *(field.name for field in pivot.more)]
    names = [name for field in fields for name in pivot.with_comparison(field)[1:] if name in pivot.heads]
    paths = [*visible_paths(pivot, ())]
    return [
        (pivot.heads[name].title, [pivot.figure(path, name) for path in paths], pivot.figure((), name))
        for name in names
    ]


def lines(pivot: Pivot) -> Iterator[PivotLine]:
    """The rows from top to bottom: the total, each row with those below it, and what is left."""
    yield _line(pivot, (), "total", split_table.TOTAL, 0)
    yield from _below(pivot, ())


def _below(pivot: Pivot, above: Path) -> Iterator[PivotLine]:
    for path in pivot.below.get(above, []):
        _, index = pivot.rows[path]
        yield _line(pivot, path, "row", pivot.labels[len(path) - 1][index], index + 1)
        if pivot.is_open(path):
            yield from _below(pivot, path)
    yield from _other_lines(pivot, above)


def _line(pivot: Pivot, path: Path, kind: Literal["row", "total"], label: str, row: int) -> PivotLine:
    """A row of a level by its place, from 1; 0 is the total. A level may lack some of the columns."""
    columns = pivot.columns[max(len(path) - 1, 0)]
    figures = {name: pivot.figure(path, name) for name in columns}
    vague = frozenset(name for name, column in columns.items() if column.is_vague(row))
    return PivotLine(kind, path, max(len(path), 1), label, figures, vague)


def _row(pivot: Pivot, line: PivotLine, marks: set[tuple[str, str]]) -> Row:
    values, is_row = pivot.values(line.path), line.kind == "row"
    bar = pivot.bars[line.level - 1][pivot.rows[line.path][1]] if is_row else None
    cells = [
        head.cell(line.figures.get(name), name in line.vague, bar if name == pivot.front.name else None)
        for name, head in pivot.heads.items()
    ]
    return Row(
        [Cell(line.label), *cells],
        values,
        tuple(value in marks for value in values) if is_row else (),
        kind=line.kind,
        level=line.level,
        is_open=pivot.is_open(line.path) if is_row else None,
    )


def _other_lines(pivot: Pivot, above: Path) -> Iterator[PivotLine]:
    """Others: a row less those that are shown below it, of the fields that add up."""
    if len(above) >= len(pivot.levels):
        return
    level, below = pivot.levels[len(above)], pivot.below.get(above, [])
    count = level.counts[above] - len(below)
    rest: dict[str, float | None] = {**_volumes(pivot, above)}
    is_unknown = bool(above) and level.is_cut
    if count <= 0 and not (is_unknown and _is_something(pivot, above, rest)):
        return
    whole, front = pivot.figure((), pivot.front.name), rest.get(pivot.front.name)
    if level.split.has_share and whole and front is not None:
        rest[split_table.SHARE] = 100 * front / whole
    others = precision.others(level.split.answer, pivot.figures, split_table.OTHERS, count)
    change = Change(None) if front is None else _other_change(pivot, above, pivot.front)
    rest[split_table.CHANGE] = split_table.in_percent(change)
    vague = frozenset() if change.is_certain else frozenset({split_table.CHANGE})
    rest |= _compared_rest(pivot, above, rest)
    label = split_table.OTHERS if is_unknown else others
    yield PivotLine("rest", above, len(above) + 1, label, rest, vague)


def _volumes(pivot: Pivot, above: Path) -> dict[str, float]:
    """The part of each field in rows that are not shown; none if a record has several values.

    Nor where estimates of the rows shown add up to more than their subtotal: what is left is not known then.
    """
    level, below = pivot.levels[len(above)], pivot.below.get(above, [])
    answer = level.split.answer
    if level.split.slicer.key_field(level.split.keys[-1]).is_segmented:
        return {}
    across = pivot.cross.names if pivot.cross is not None and pivot.front.name in answer.percents else ()
    wholes = {name: pivot.figure(above, name) for name in pivot.heads if name in {*answer.percents, *across}}
    rest = {
        name: remainder(whole, (pivot.figure(path, name) for path in below), answer.is_sampled)
        for name, whole in wholes.items()
    }
    return {name: value for name, value in rest.items() if value is not None}


def _compared_rest(
    pivot: Pivot, above: Path, rest: Mapping[str, float | None]
) -> Iterator[tuple[str, float | None]]:
    """The columns of the days compared for the rows that are not shown, of each column that they have."""
    changes = {
        field.name: partial(_other_change, pivot, above, field) for field in (pivot.front, *pivot.more)
    }
    if pivot.cross is not None:
        rest_below = partial(pivot.cross.rest_below, above, pivot.below.get(above, []))
        changes |= {column: partial(rest_below, code) for column, code in pivot.cross.codes.items()}
    for column, change_of in changes.items() if pivot.column_kinds else ():
        if rest.get(column) is not None:
            change = change_of()
            for name in pivot.column_kinds:
                yield split_table.compared_name(column, name), getattr(change, name)


def _other_change(pivot: Pivot, above: Path, field: DataField) -> Change:
    """The change of the rows below a row that are not shown."""
    below, whole = pivot.levels[len(above)].split.pair, pivot.levels[0].split.whole
    if below is None or whole is None:
        return Change(None)
    name, paths = field.name, pivot.below.get(above, [])
    if not above:
        return below.rest(field, (whole.now.total_of(name), whole.before.total_of(name)), paths)
    upper = pivot.levels[len(above) - 1].split.pair
    sides = None if upper is None else upper.figures(field).get(above)
    return Change(None) if sides is None else below.rest(field, sides, paths)


def _is_something(pivot: Pivot, above: Path, rest: Mapping[str, float | None]) -> bool:
    """Whether there may be more rows, as far as the fields that add up say it."""
    return not rest or any(
        value is not None and abs(value) > LEAST_REST * abs(pivot.figure(above, name) or 0)
        for name, value in rest.items()
    )
