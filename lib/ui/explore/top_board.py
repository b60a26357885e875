"""The top values as a table of the component. A click on a value opens Audience with it as a filter."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from lib.reporting.confidence import LEVEL
from lib.reporting.models import AudienceQuery, DataField, Order
from lib.ui.charts.numbers import NOTHING, Numbers, title
from lib.ui.explore import top_values
from lib.ui.explore.top_values import TopValues
from lib.ui.kit import rows, screens
from lib.ui.kit.frame import PageContext
from lib.ui.kit.rows import Cell, Choice, Column, Ordering, Row, Table, Taken
from lib.ui.query import drill, question
from lib.ui.query.view import Explored, Lower

BOARD = "top_rows"


def catch_up(context: PageContext, explored: Explored) -> tuple[Taken, Explored]:
    """Apply clicks that are not applied yet; returns the last one applied, and the order they ask for."""
    acts, receipt = rows.new_acts(st.session_state.get(BOARD), question.taken(BOARD))
    orderings = [act for act in acts if isinstance(act, Ordering) and act.table == explored.key]
    if orderings:
        order = Order(name=orderings[-1].column, direction=orderings[-1].direction)
        explored = replace(explored, order=order)
    chosen = [act for act in acts if isinstance(act, Choice)]
    if chosen:
        carry(context, drill.apply(question.current(context), chosen, context.slicer), explored.data, receipt)
    elif acts:
        question.follow(context, [(question.current(context), {"explored": explored})], {BOARD: receipt})
    return receipt, explored


def follow() -> None:
    """The component's callback; the next run of the screen applies the clicks."""


def carry(
    context: PageContext,
    query: AudienceQuery,
    data_field: str,
    receipt: Taken | None = None,
    lower: Lower = "cards",
) -> None:
    """Open Audience with that question, data field and tab; `receipt` is the click that led there."""
    changes = {"field": data_field, "lower": lower}
    question.follow(context, [(query, changes)], {BOARD: receipt} if receipt else {})
    st.switch_page(screens.AUDIENCE, query_params=question.params())


def board(top: TopValues, numbers: Numbers) -> Table:
    """A row per value: its description, its code if it is mapped, and figures with share and range."""
    frame, key = top_values.frame(top), top.key_field
    in_words = "id" in frame
    columns = [_column(top, key.name, key.description or key.name, not in_words, is_key=True)]
    columns += [Column("id", "ID")] if in_words else []
    for field in top.shown:
        columns.append(_column(top, field.name, title(field, with_unit=True), True, about=field.annotation))
        columns += [Column(name, words, about=about) for name, words, about in _beside(frame, field)]
    rows = [
        Row(_cells(top, record, numbers), ((key.name, value),), (False,))
        for value, record in zip(top.values, frame.to_dict("records"), strict=True)
    ]
    label = f"Top values of {key.description or key.name} by {title(top.data_field)}"
    return Table(key.name, label, columns, rows, verb="Show in Audience:")


def _column(
    top: TopValues, name: str, words: str, orders: bool, is_key: bool = False, about: str | None = None
) -> Column:
    return Column(
        id=name,
        title=words,
        is_key=is_key,
        order=("asc" if is_key else "desc") if orders else None,
        sorted=top.by.direction if top.by.name == name else None,
        about=about or "",
    )


def _beside(frame: pd.DataFrame, field: DataField) -> list[tuple[str, str, str]]:
    columns = {
        f"share:{field.name}": ("Share, %", "Of the total of all values"),
        f"off:{field.name}": ("±, %", f"{LEVEL} confidence interval: how far off the figure may be"),
    }
    return [(name, *columns[name]) for name in columns if name in frame]


def _cells(top: TopValues, record: Mapping[Any, Any], numbers: Numbers) -> list[Cell]:
    cells = []
    for name, value in record.items():
        field = next((field for field in top.shown if field.name == name), None)
        if field is not None:
            cells.append(Cell(numbers.plain(value, field)))
        elif isinstance(value, float):
            cells.append(Cell(numbers.number(value, 1)))
        else:
            cells.append(Cell(str(value) if value else NOTHING))
    return cells
