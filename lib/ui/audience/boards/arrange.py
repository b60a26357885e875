"""Arranging a board: cells are added, moved, named, resized and removed, by mouse, touch or keyboard."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import streamlit as st

from lib.reporting.links import split_texts
from lib.ui.audience.boards import question
from lib.ui.kit import rows_mount, widgets
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import attempt
from lib.ui.query import entries
from lib.ui.query.board_addition import PART_NAMES, USUAL_WIDTHS
from lib.views import COLUMNS, Board, BoardCell
from lib.views.board_copies import BoardItem

ARRANGING, PROBLEM, WHOLE = "board_arranging", "board_problem", -1
FOLDER = Path(__file__).parent
_mount = st.components.v2.component(
    "tranche_board_tiles", html='<ol aria-label="Order of the cells"></ol><div role="status"></div>',
    css=(FOLDER / "tiles.css").read_text(),
    js=(rows_mount.FOLDER / "nodes.js").read_text() + (FOLDER / "tiles.js").read_text(),
)  # fmt: skip


def is_on(context: PageContext, board: Board) -> bool:
    """Whether the board is being arranged, by somebody who may."""
    return st.session_state.get(ARRANGING) == board.id and entries.may_change(context, board)


def draw_buttons(context: PageContext, board: Board) -> None:
    """Draw the switch to arranging, and what stores changed days and filters, for who may change it."""
    if not entries.may_change(context, board):
        return
    params = question.of_board(board)
    if params != dict(board.params):
        st.button(
            "Save days and filters", icon=":material/save:", key="board_save_params",
            on_click=_store, args=(context, board, None, params),
        )  # fmt: skip
    is_arranging = is_on(context, board)
    label, icon = ("Done", "check") if is_arranging else ("Arrange", "dashboard_customize")
    switch = partial(st.session_state.__setitem__, ARRANGING, None if is_arranging else board.id)
    widgets.icon_button(label, icon, "board_arrange", switch)


def draw_problem(board: Board, index: int = WHOLE) -> None:
    """Draw why the last change failed, if it was one of this cell; the one after the last is being added."""
    *about, sentence = st.session_state.get(PROBLEM, [""])
    if sentence and about == [board.id, index]:
        st.error(plain(sentence), icon=":material/error:")


def draw_tiles(context: PageContext, board: Board, titles: Sequence[str]) -> None:
    """Draw a tile per cell, by whose order the cells are ordered, under the titles that they have."""
    key = f"board_{board.id}_tiles"
    cells = [
        {"id": name, "title": title, "width": cell.width}
        for (name, cell), title in zip(_by_name(board.cells).items(), titles, strict=True)
    ]
    data = {"cells": cells, "taken": st.session_state.get(key, {}).get("order", [0])[0]}
    _mount(key=key, data=data, on_order_change=partial(_order, context, board, key))


def _by_name(cells: Sequence[BoardCell]) -> dict[str, BoardCell]:
    """The cells by names that they keep wherever they are."""
    counts: Counter[BoardCell] = Counter()
    names = {}
    for cell in cells:
        counts[cell] += 1
        names[f"{crc32(repr(cell).encode())}-{counts[cell]}"] = cell
    return names


def _order(context: PageContext, board: Board, key: str) -> None:
    """Store the order of the tiles; cells that these don't know come last. A callback."""
    cells = _by_name(board.cells)
    names = dict.fromkeys(map(str, st.session_state[key]["order"][1:]))
    tile_cells = [cells.pop(name) for name in names if name in cells]
    _store(context, board, lambda: [*tile_cells, *cells.values()])


def draw_cell_controls(context: PageContext, board: Board, item: BoardItem, title: str, index: int) -> None:
    """Draw the controls of a cell: its part, width, leaderboard, title or text, and its removal."""
    cell, name = board.cells[index], plain(title)
    prefix = f"board_{board.id}_{index}_{cell.view_id}"

    def storing(part: str) -> dict[str, Any]:
        """The key of a control of this part of the cell, another one for another value, and its callback."""
        value = getattr(cell, part)
        key = f"{prefix}_{part}_{crc32(value.encode()) if part in ('title', 'text') else value}"
        arguments = context, board, index, part, key
        return {"key": key, "label_visibility": "collapsed", "on_change": _change, "args": arguments}

    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        if cell.part != "text":
            parts = [*PART_NAMES]
            st.selectbox(
                f"Show {name} as", parts, parts.index(cell.part), format_func=PART_NAMES.__getitem__,
                width=140, **storing("part"),
            )  # fmt: skip
        st.selectbox(
            f"Width of {name}", range(1, COLUMNS + 1), cell.width - 1,
            format_func=lambda width: "Whole width" if width == COLUMNS else f"{width} of {COLUMNS} columns",
            width=130, **storing("width"),
        )  # fmt: skip
        if cell.part == "leaderboard" and not item.is_missing:
            cards = [text.partition("!")[0] for text in split_texts(item.params.get("cards", "")) if text]
            options = list(dict.fromkeys(["", *cards, cell.card]))
            st.selectbox(
                f"Leaderboard of {name}", options, options.index(cell.card),
                format_func=lambda card: card or "First leaderboard", width=160, **storing("card"),
            )  # fmt: skip
        st.text_input(f"Title of {name}", cell.title, placeholder="Title", width=160, **storing("title"))
        if cell.part == "text":
            st.text_input(f"Text of {name}", cell.text, placeholder="Text", **storing("text"))
        others = [*board.cells[:index], *board.cells[index + 1 :]]
        remove = partial(_store, context, board, lambda: others, index=index)
        widgets.icon_button(f"Remove: {name}", "close", f"{prefix}_close", remove, "Remove")
    draw_problem(board, index)


def draw_addition(context: PageContext, board: Board) -> None:
    """Draw the forms that add a cell: a part of a saved view of any slicer, and a text."""
    views = {view.id: view for view in context.clients.view_store.views.all()}
    name, count = f"board_{board.id}", len(board.cells)
    row = partial(st.container, horizontal=True, vertical_alignment="bottom")
    if not views:
        st.info("There are no saved views yet: save one under Views on Audience.", icon=":material/bookmark:")
    else:
        with st.form(f"{name}_add", border=True), row():
            st.selectbox(
                "Add a saved view", views, key=f"{name}_view", filter_mode="contains", width=380,
                format_func=lambda number: f"{views[number].name} · {views[number].slicer}",
            )  # fmt: skip
            st.selectbox("as", PART_NAMES, format_func=PART_NAMES.__getitem__, key=f"{name}_part", width=160)
            st.form_submit_button(
                "Add", icon=":material/add:", type="primary", on_click=_add, args=(context, board)
            )
    draw_problem(board, count)  # below the form it would be below the window
    with st.form(f"{name}_add_text", border=True), row():
        st.text_input("Add a heading", key=f"{name}_heading_{count}", width=260)
        st.text_input("or a text", key=f"{name}_text_{count}")
        st.form_submit_button("Add", icon=":material/add:", on_click=_add_text, args=(context, board))


def _change(context: PageContext, board: Board, index: int, name: str, key: str) -> None:
    before, value = board.cells, st.session_state[key]
    _store(
        context,
        board,
        lambda: [*before[:index], replace(before[index], **{name: value}), *before[index + 1 :]],
        index=index,
    )


def _add(context: PageContext, board: Board) -> None:
    view_id, part = (st.session_state[f"board_{board.id}_{name}"] for name in ("view", "part"))
    cells = board.cells
    _store(context, board, lambda: [*cells, BoardCell(view_id, part, USUAL_WIDTHS[part])], index=len(cells))


def _add_text(context: PageContext, board: Board) -> None:
    prefix, count = f"board_{board.id}", len(board.cells)
    title, text = (st.session_state[f"{prefix}_{name}_{count}"] for name in ("heading", "text"))
    cell = partial(BoardCell, part="text", width=COLUMNS, title=title, text=text)
    _store(context, board, lambda: [*board.cells, cell()], index=count)


def _store(
    context: PageContext,
    board: Board,
    cells: Callable[[], Sequence[BoardCell]] | None = None,
    params: question.Params | None = None,
    index: int = WHOLE,
) -> None:
    """Store cells or parameters. A callback; a failure is shown by `draw_problem` with the same index."""
    boards = context.clients.view_store.boards
    _, sentence = attempt(lambda: boards.change(board.id, cells and cells(), params))
    st.session_state[PROBLEM] = (board.id, index, sentence)
    st.rerun()  # the list of boards shows what is stored, too
