"""Tables that react to clicks: a header sorts, a row includes its value, a second control excludes it.

The browser keeps its clicks as acts, numbered from 1, and sends all that the server has not acknowledged; the
server applies those after the last one that it has taken, and acknowledges with its next answer. So no click
is lost to a run that breaks off, and none is applied twice. An act says what is to be, never "toggle". Until
it is acknowledged, the address of the page has it too (desk.js): a page that is loaded again has it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lib.slicers.models import Direction
from lib.wire.text import straight

Values = tuple[tuple[str, str], ...]
Act = list[Any]
"""Its kind, then what it is about: overview_route.py lists them, query/clicks.py applies them."""
ActReceipt = tuple[str, int]
NO_RECEIPT: ActReceipt = ("", 0)


@dataclass(frozen=True)
class Column:
    """A column. `order` is the direction of the first click on its header; None: not sortable.

    `sorted` is the direction in which the rows are ordered by it now. Where a card has no room for all of its
    columns, those of the lowest `rank` are shown. `is_change`: relative changes, in percent.
    """

    id: str
    title: str
    is_key: bool = False
    order: Direction | None = None
    sorted: Direction | None = None
    about: str = ""
    rank: int = 0
    is_change: bool = False
    group: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell's text. `bar` is the length of its bar and the bounds of its range, from 0 to 1.

    With `has_sides` the bar begins in the middle of the cell, and goes to the left where it is negative.
    """

    text: str
    is_faint: bool = False
    bar: tuple[float, float, float] | None = None
    about: str = ""
    has_sides: bool = False


@dataclass(frozen=True)
class Row:
    """A row: a cell per column, and the values of its key fields in the order of the key columns.

    `included` says of each value whether a filter asks for it, `excluded` whether one leaves it out; `color`
    is that of its line on a chart, where it has one. A row of another kind than `row` takes no clicks, and
    has no values, but in a tree, where a rest has those of the row that it belongs to.

    In a tree a row has the values from the first level on, and its one key cell is that of the last of them;
    `is_open` says whether the rows below it are shown (None: there are none).
    """

    cells: Sequence[Cell]
    values: Values = ()
    included: Sequence[bool] = ()
    excluded: Sequence[bool] = ()
    color: str | None = None
    kind: Literal["row", "total", "rest", "plain"] = "row"
    level: int = 1
    is_open: bool | None = None


@dataclass(frozen=True)
class CardHeader:
    """The frame of a table of one key field: title, a note on its values, and the search text.

    `message` stands there where there are no rows. In a card a click on a row adds its value to those kept.
    One that `is_picker` scrolls, has no way to all of its values, and a third control keeps a value alone.
    """

    title: str
    about: str = ""
    find: str = ""
    message: str = ""
    is_picker: bool = False


@dataclass(frozen=True)
class Table:
    """A table: its name (for screen readers), its columns, and its rows in order.

    `verb` is what a click on a row does, as its description says it: "Keep only", "Show in Audience". With
    `has_lines` a third control draws a row's value as a line on the chart, with `has_records` one shows the
    records of the row. In a tree the rows of a level
    stand below the row that they are part of, which opens and closes; it has one column of keys.
    """

    id: str
    label: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    verb: str = "Keep only"
    card: CardHeader | None = None
    has_lines: bool = False
    has_records: bool = False
    is_tree: bool = False


def straighten(part: Any) -> dict[str, Any]:
    """The fields of a part of a table, with its texts as screens show them, but for what comes back."""
    return {
        name: straight(value) if isinstance(value, str) and name not in ("id", "find") else value
        for name in part.__dataclass_fields__
        for value in [getattr(part, name)]
    }


def new_acts(state: object, receipt: ActReceipt) -> tuple[list[Act], ActReceipt]:
    """The acts in a component's state that come after the last one taken, and the number of the new last one.

    Each is without its number, and otherwise as it came from a browser: nothing of it is taken for granted.
    """
    message = state.get("acts") if isinstance(state, Mapping) else None
    if not isinstance(message, Mapping):
        return [], receipt
    by, last = str(message.get("by")), receipt[1] if receipt[0] == str(message.get("by")) else 0
    acts: list[Act] = []
    for number, *act in lists(message.get("list")):
        if isinstance(number, int) and number > last:
            last = number
            acts += [act] if act else []
    return acts, (by, last) if last else receipt


def lists(items: object) -> list[list[Any]]:
    """Those of the items from a browser that are lists with something in them."""
    return [item for item in items if isinstance(item, list) and item] if isinstance(items, list) else []


def as_json(table: Table) -> dict[str, Any]:
    """The data for the script: plain texts and numbers."""
    return straighten(table) | {
        "card": table.card and straighten(table.card),
        "columns": [straighten(column) for column in table.columns],
        "rows": [vars(row) | {"cells": [straighten(cell) for cell in row.cells]} for row in table.rows],
    }
