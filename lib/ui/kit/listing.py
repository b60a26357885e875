"""One page of a list: a row opens by a click or Enter, a header orders, boxes choose rows.

The service orders and pages; this draws what it is given. Clicks travel as acts (lib/figures/rows.py): none
is lost to a run that breaks off, none is applied twice, and each says what is to be.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Literal

import streamlit as st

from lib.figures import rows
from lib.figures.rows import NO_RECEIPT, ActReceipt, straighten
from lib.slicers.models import Direction
from lib.ui.kit import widgets
from lib.ui.kit.rows_mount import FOLDER, GRID

_mount = st.components.v2.component(
    "tranche_listing", html='<div class="listing"></div>', css=GRID + (FOLDER / "listing.css").read_text(),
    js="\n".join((FOLDER / name).read_text() for name in ("nodes.js", "column_width.js", "listing.js")),
)  # fmt: skip

PhonePlace = Literal["", "top", "left", "right", "below", "end"]


@dataclass(frozen=True)
class ListColumn:
    """A column, `width` in rem. `order` is the direction of a first click on its header; None: not sortable.

    `sorted` is the direction in which the list is ordered by it now. On a phone a row is a card with its
    first column, and those that have a place on it: right of the first, in its second line, or in its third.
    There its title stands before the text, if that says too little alone (`is_titled`). Where there is no
    room, `keeps_end` cuts in the middle, as the first column always is.
    """

    id: str
    title: str
    width: float
    order: Direction | None = None
    sorted: Direction | None = None
    is_right: bool = False
    on_phone: PhonePlace = ""
    is_titled: bool = False
    keeps_end: bool = False


@dataclass(frozen=True)
class ListCell:
    """A cell's text; with a `tone` (green, blue, orange, gray) it is drawn as a badge."""

    text: str
    tone: str = ""


@dataclass(frozen=True)
class ListRow:
    """A row: its key in acts, a cell per column, whether it is chosen, and whether it is open."""

    key: str
    cells: Sequence[ListCell]
    is_ticked: bool = False
    is_open: bool = False


@dataclass(frozen=True)
class Listing:
    """A page: its name for screen readers, the size of the whole list, and whether rows can be chosen.

    With `most_in_sight` it is a list of choices, one of which is open: it scrolls beyond so many rows, arrow
    keys open as they go.
    """

    label: str
    columns: Sequence[ListColumn]
    rows: Sequence[ListRow]
    count: int
    ticks: bool = False
    most_in_sight: int | None = None


@dataclass(frozen=True)
class OpenRow:
    """A click that opens this row."""

    key: str


@dataclass(frozen=True)
class SortBy:
    """A click that sorts the list by a column."""

    column: str
    direction: Direction


@dataclass(frozen=True)
class SelectRows:
    """A click that chooses these rows, or no longer chooses them."""

    keys: tuple[str, ...]
    is_ticked: bool


Act = OpenRow | SortBy | SelectRows


def draw(key: str, listing: Listing, receipt: ActReceipt, on_acts: Callable[[], None]) -> None:
    """Draw the page. `receipt` is the last act that is already applied to it."""
    json_rows = [asdict(row) | {"cells": [straighten(cell) for cell in row.cells]} for row in listing.rows]
    _mount(key=key, data=asdict(listing) | {"rows": json_rows, "taken": [*receipt]}, on_acts_change=on_acts)


def draw_links(key: str, listing: Listing, follow: Callable[[str], None]) -> None:
    """Draw a page whose rows only open; `follow`, a callback, gets the key of the one clicked last."""
    name = f"{key}_taken"

    def take() -> None:
        state = st.session_state
        acts, state[name] = new_acts(state.get(key), state.get(name, NO_RECEIPT))
        if keys := [act.key for act in acts if isinstance(act, OpenRow)]:
            follow(keys[-1])

    draw(key, listing, st.session_state.get(name, NO_RECEIPT), take)


def new_acts(state: object, receipt: ActReceipt) -> tuple[list[Act], ActReceipt]:
    """The acts after the last one taken, and the number of the new last one. Unreadable acts are skipped."""
    raw_acts, last = rows.new_acts(state, receipt)
    acts: list[Act] = []
    for raw in raw_acts:
        match raw:
            case ["open", str(key)]:
                acts.append(OpenRow(key))
            case ["order", str(column), "asc" | "desc" as direction]:
                acts.append(SortBy(column, direction))
            case ["tick", list(keys), bool(is_ticked)]:
                acts.append(SelectRows(tuple(str(key) for key in keys), is_ticked))
    return acts, last


def draw_pager(
    key: str, page: int, count: int, size: int, number: Callable[[int], str], turn: Callable[[int], None]
) -> None:
    """Draw buttons to other pages of `size` rows, if any; `turn` is a callback with a page, from 0."""
    last = max(0, (count - 1) // size)
    if not last:
        return

    def button(label: str, icon: str, to: int) -> None:
        act = partial(turn, to)
        widgets.icon_button(label, icon, f"{key}_{icon}", act, disabled=to == page or not 0 <= to <= last)

    first = page * size
    span = f"{number(first + 1)}–{number(min(count, first + size))}"
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="center"):
        button("First page", "first_page", 0)
        button("Previous page", "chevron_left", page - 1)
        st.caption(f"{span} of {number(count)}", width="content")
        button("Next page", "chevron_right", page + 1)
        button("Last page", "last_page", last)
