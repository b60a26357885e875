"""The split as a table, and as the component draws that: total first, then the rows, then the rest."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd

from lib.figures import numbers
from lib.figures.numbers import NOTHING, Numbers
from lib.figures.query import precision, split_rows
from lib.figures.query.compared_answers import Change
from lib.figures.query.split_rows import Bar, SplitRows
from lib.figures.query.state import ComparedColumn
from lib.figures.rows import Cell, Column, Row, Table
from lib.reporting.answers import LEVEL
from lib.reporting.models import AudienceQuery
from lib.slicers.models import DataField, Direction, Order

FileColumn = tuple[str, Sequence[float | None], float | None]
"""A further column of a file: its title, its values by row, and that of the total."""
TOTAL, OTHERS, SHARE, RANGE, CHANGE = "Total", "Others", "Share, %", "±, %", "Change, %"
RANK, GRAY = "Rank", "Gray: smaller than its uncertainty"
COMPARED_TEXTS: Mapping[ComparedColumn, Callable[[Numbers, DataField, float], str]] = {
    "previous": lambda figures, data_field, value: figures.plain(value, data_field),
    "amount": lambda figures, data_field, value: numbers.plus(value, figures.plain(value, data_field)),
}


@dataclass(frozen=True)
class SplitColumn:
    """A column: its title, its cells for the total, the rows and the rest, and how a figure is written.

    `order` is the field by which the service orders rows by this column, where it can. `changes`, of a
    column of these, are those of the total, of the rows, and of the rest. `name` tells a column of the days
    compared from that of its figures.
    """

    title: str
    total: Any
    rows: Sequence[Any]
    rest: Any = None
    write: Callable[[Any], str] = str
    about: str = ""
    order: str | None = None
    changes: Sequence[Change] = ()
    name: str = ""

    @property
    def kind(self) -> str:
        """What its figures are: the name of a data field, or the column that describes the first one."""
        return self.name or (CHANGE if self.changes else self.order or self.title)

    def is_vague(self, row: int) -> bool:
        """Whether the sample may have made the change in a row: 0 is the total, -1 the rest."""
        return bool(self.changes) and not self.changes[row].is_certain

    def cell(self, value: Any, is_vague: bool = False, bar: Bar | None = None) -> Cell:
        """A figure's cell; a dash where there is none."""
        text = NOTHING if value is None or pd.isna(value) else self.write(value)
        return Cell(text, is_faint=is_vague, bar=bar)


@dataclass(frozen=True)
class SplitTable:
    """Columns, those of the `keys` first. Row 0 is the total; the rest, where there is one, comes last."""

    columns: Sequence[SplitColumn]
    keys: Sequence[str]
    has_rest: bool

    @property
    def frame(self) -> pd.DataFrame:
        """The cells as numbers and texts, under their titles."""
        return pd.DataFrame(
            {c.title: [c.total, *c.rows, *([c.rest] if self.has_rest else [])] for c in self.columns}
        )


def table(
    split: SplitRows,
    more: Sequence[DataField],
    figures: Numbers,
    is_ranked: bool = False,
    column_kinds: Sequence[ComparedColumn] = (),
) -> SplitTable:
    """The split's table: key fields, the field in front with share, range and change, then `more` fields.

    Each field has the columns of `column_kinds` beside it, where there is a comparison. With `is_ranked`, the
    rows being the largest of the field in front, estimates have their rank too.
    """
    columns = [*_keys(split), *of_figures(split, more, figures, is_ranked, column_kinds)]
    # The columns under titles that differ: a second one of the same title gets a number.
    counts: dict[str, int] = {}
    distinct = []
    for column in columns:
        counts[column.title] = counts.get(column.title, 0) + 1
        count = counts[column.title]
        title = column.title if count == 1 else f"{column.title} ({count})"
        distinct.append(replace(column, title=title))
    return SplitTable(distinct, split.keys, split_rows.others(split) is not None)


def of_figures(
    split: SplitRows,
    more: Sequence[DataField],
    figures: Numbers,
    is_ranked: bool = False,
    column_kinds: Sequence[ComparedColumn] = (),
) -> list[SplitColumn]:
    """The same without the key fields; titles may be there twice."""
    columns = [*_front(split, figures), *_changes(split, figures)]
    columns += compared_columns(split, split.field, column_kinds, figures)
    if is_ranked and (ranks := split_rows.ranks(split)):
        about = f"Rows whose {LEVEL} ranges overlap share ranks: the sample can't tell their order"
        columns.append(SplitColumn(RANK, None, [rank or None for rank in ranks], about=about))
    for data_field in more:
        columns.append(_figures(split, data_field, figures))
        columns += compared_columns(split, data_field, column_kinds, figures)
    return columns


def overview_table(
    cells: SplitTable, split: SplitRows, query: AudienceQuery, order: Sequence[Order], label: str
) -> Table:
    """The table of the overview. `order` is that of the rows; `query` has the filters that mark values."""
    now = {by.name: by.direction for by in order[:1]}
    marks = included_values(query)
    bars = split_rows.bars(split, split.answer.total.values.get(split.field.name))
    # The values of the rows' key fields, as in filters.
    names = split.answer.names.itertuples(index=False, name=None)
    row_values = [tuple(zip(split.keys, map(str, row), strict=True)) for row in names]
    rows = [
        Row(_cells(cells, index, bar), values, tuple(value in marks for value in values))
        for index, (values, bar) in enumerate(zip(row_values, bars, strict=True), 1)
    ]
    rest = [Row(_cells(cells, -1), kind="rest")] if cells.has_rest else []
    columns = [_column(cells, index, now) for index in range(len(cells.columns))]
    total = Row(_cells(cells, 0), kind="total")
    has_records = split.slicer.knows("records")
    return Table("split", label, columns, [total, *rows, *rest], has_records=has_records)


def _column(cells: SplitTable, index: int, now: dict[str, Direction]) -> Column:
    column, is_key = cells.columns[index], index < len(cells.keys)
    first: Direction = "asc" if is_key else "desc"
    return Column(
        id=column.order or (cells.keys[index] if is_key else column.title),
        title=column.title,
        is_key=is_key,
        order=first if column.order else None,
        sorted=now.get(column.order) if column.order else None,
        about=column.about,
        is_change=bool(column.changes) and not column.name,
    )


def _cells(table: SplitTable, row: int, bar: Bar | None = None) -> list[Cell]:
    """The cells of a row by its place: 0 is the total, -1 the rest."""
    front, cells = len(table.keys), []
    for index, column in enumerate(table.columns):
        value = [column.total, *column.rows, column.rest][row]
        if index < front and value is not None:
            cells.append(Cell(column.write(value)))
        else:
            cells.append(column.cell(value, column.is_vague(row), bar if index == front else None))
    return cells


def included_values(query: AudienceQuery) -> set[tuple[str, str]]:
    """The values of key fields that filters include."""
    return {(f.name, value) for f in query.filters if f.match == "equals" for value in f.value}


def file_columns(
    split: SplitRows, more: Sequence[DataField], column_kinds: Sequence[ComparedColumn], figures: Numbers
) -> list[FileColumn]:
    """What a file has beside the figures: share and change of the first, `column_kinds` of all."""
    columns = [*_front(split, figures), *_changes(split, figures)]
    columns = [column for column in columns if column.title == SHARE or column.changes]
    for data_field in (split.field, *more):
        columns += compared_columns(split, data_field, column_kinds, figures)
    return [(column.title, column.rows, column.total) for column in columns]


def compared_columns(
    split: SplitRows, data_field: DataField, column_kinds: Sequence[ComparedColumn], figures: Numbers
) -> Iterator[SplitColumn]:
    """The columns of `column_kinds` of a data field, per comparison: figures of before, and differences."""
    for side in split.comparisons if column_kinds else ():
        if side.pair is None:
            continue
        rows = replace(side, field=data_field)
        changes = [split_rows.total_change(rows), *split_rows.changes(rows), split_rows.others_change(rows)]
        lead = "" if data_field == split.field else numbers.title(data_field)
        against = side.against if split.also is not None else ""
        for name in column_kinds:
            yield compared_column(name, data_field, changes, figures, lead, against)


def compared_column(
    name: ComparedColumn,
    data_field: DataField,
    changes: Sequence[Change],
    figures: Numbers,
    lead: str = "",
    against: str = "",
) -> SplitColumn:
    """A column of the days compared; `changes` are those of the total, of the rows, and of the rest."""
    total, *values, rest = (getattr(change, name) for change in changes)
    title = numbers.compared_title(name, data_field)
    # Rows of weekdays have days of their own: the head says those of the total, or what all have.
    coverages = {change.coverage for change in changes if change.coverage}
    text = changes[0].coverage or (coverages.pop() if len(coverages) == 1 else "")
    days = f"({text})" if text else ""
    return SplitColumn(
        title=" ".join(
            filter(None, (f"{lead}: {title.lower()}" if lead else title, against and f"vs {against}", days))
        ),
        total=total,
        rows=values,
        rest=rest,
        write=partial(COMPARED_TEXTS[name], figures, data_field),
        about=GRAY if name == "amount" else "",
        changes=changes if name == "amount" else (),
        name=compared_name(data_field.name, name),
    )


def compared_name(column: str, name: ComparedColumn) -> str:
    """What a column of the days compared is called, beside the column of this name."""
    return f"{column}:{name}"


def _keys(split: SplitRows) -> Iterator[SplitColumn]:
    for index, (key, texts) in enumerate(split_rows.labels(split).items()):
        field = split.slicer.key_field(str(key))
        in_words = bool(field.mapping) and split.answer.descriptions is not None
        yield SplitColumn(
            title=field.description or field.name,
            total="" if index else f"{TOTAL} of all values" if split.is_chosen else TOTAL,
            rows=texts.tolist(),
            rest="" if index else OTHERS,
            order=None if in_words else field.name,
        )


def _front(split: SplitRows, figures: Numbers) -> Iterator[SplitColumn]:
    """The main field: its values, and where meaningful their share and range."""
    name, rest, write = split.field.name, split_rows.others(split), partial(figures.number, decimals=1)
    whole = split.answer.total.values.get(name)
    yield _figures(split, split.field, figures, rest)
    if split.has_share and whole:
        share = None if rest is None else 100 * rest / whole
        yield SplitColumn(
            SHARE, 100.0, split.answer.percents[name].tolist(), share, partial(figures.number, decimals=1)
        )
    if (per_day := split_rows.per_day(split)) is not split:
        yield replace(_figures(per_day, per_day.field, figures), total=None, order=None)
    half_ranges = split_rows.half_ranges(split)
    if (half_ranges >= precision.LEAST_RANGE).any():
        total = precision.total_range(split.answer, name)
        yield SplitColumn(
            RANGE,
            total,
            half_ranges.tolist(),
            None,
            write,
            f"{LEVEL} confidence interval: how far off the figure may be",
        )


def _changes(split: SplitRows, figures: Numbers) -> Iterator[SplitColumn]:
    """The main field's change, per comparison that says anything of any row."""
    for side in split.comparisons:
        rows = split_rows.changes(side) if side.pair is not None else []
        if all(change.ratio is None for change in rows):
            continue
        changes = [split_rows.total_change(side), *rows, split_rows.others_change(side)]
        total, *percents, rest = map(in_percent, changes)
        yield SplitColumn(
            numbers.change_title(split.field, side.against if split.also is not None else "")
            + split_rows.coverage(side),
            total,
            percents,
            rest,
            lambda value: figures.change(None if value is None else value / 100).removesuffix(" %"),
            GRAY,
            changes=changes,
        )


def in_percent(change: Change) -> float | None:
    """A relative change in percent."""
    return None if change.ratio is None else 100 * change.ratio


def _figures(
    split: SplitRows, data_field: DataField, figures: Numbers, rest: float | None = None
) -> SplitColumn:
    return SplitColumn(
        title=numbers.title(data_field, with_unit=True),
        total=split_rows.total_amount(split.answer, data_field.name),
        rows=split_rows.amounts(split.answer, data_field.name),
        rest=rest,
        write=lambda value: figures.plain(value, data_field),
        about=" · ".join(
            text
            for text in (
                split.answer.total.withheld(data_field.name),
                data_field.annotation,
                data_field.formula_description,
            )
            if text
        ),
        order=data_field.name,
    )
