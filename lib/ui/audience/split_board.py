"""The split's table as a table of the component."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from lib.reporting.models import AudienceQuery, Direction, Order
from lib.ui.audience import split_table
from lib.ui.charts.numbers import NOTHING
from lib.ui.kit.rows import Cell, Column, Row, Table, Values
from lib.ui.query.split_rows import SplitRows

Bar = tuple[float, float, float]


def board(
    found: split_table.SplitTable, split: SplitRows, query: AudienceQuery, order: Sequence[Order], label: str
) -> Table:
    """The table for the component. `order` is that of the rows; `query` has the filters that mark values."""
    now = {by.name: by.direction for by in order[:1]}
    asked = kept(query)
    bars = lengths(split, split.answer.total.values.get(split.field.name))
    rows = [
        Row(
            _cells(found, place + 1, bars[place]),
            values,
            tuple(value in asked for value in values),
        )
        for place, values in enumerate(_values(split))
    ]
    rest = [Row(_cells(found, -1), kind="rest")] if found.has_rest else []
    columns = [_column(found, place, now) for place in range(len(found.columns))]
    return Table("split", label, columns, [Row(_cells(found, 0), kind="total"), *rows, *rest])


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


def _cells(found: split_table.SplitTable, row: int, bar: Bar | None = None) -> list[Cell]:
    """The cells of a row by its place: 0 is the total, -1 the rest."""
    front, cells = len(found.keys), []
    for place, column in enumerate(found.columns):
        value = [column.total, *column.rows, column.rest][row]
        vague = column.is_change and not found.changes[row].is_certain
        if place < front and value is not None:
            cells.append(Cell(column.write(value)))
        else:
            cells.append(figure(column, value, bool(vague), bar if place == front else None))
    return cells


def figure(
    column: split_table.SplitColumn, value: Any, is_vague: bool = False, bar: Bar | None = None
) -> Cell:
    """A figure's cell; a dash where there is none."""
    text = NOTHING if value is None or pd.isna(value) else column.write(value)
    return Cell(text, is_faint=is_vague, bar=bar)


def kept(query: AudienceQuery) -> set[tuple[str, str]]:
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
