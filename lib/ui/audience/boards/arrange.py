"""Arranging a board: cells are added, moved, made wider or narrower, and removed, with mouse or keyboard."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from lib.reporting.links import split_texts
from lib.ui.audience.boards import question
from lib.ui.audience.boards.board_list import BOARDS
from lib.ui.kit import widgets
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import entries
from lib.ui.query.board_addition import PART_NAMES, USUAL_WIDTHS
from lib.views import BOARD_PARTS, COLUMNS, Board, BoardCell
from lib.views.board_copies import BoardCopy

ARRANGING = "board_arranging"
FIRST_CARD = "First leaderboard"


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


def draw_cell_controls(context: PageContext, board: Board, copy: BoardCopy, index: int) -> None:
    """Draw the controls of a cell: its part, its width, its place, and its removal."""
    cell, item, count = board.cells[index], copy.items[index], len(board.cells)
    name = plain(item.name or "this cell")
    prefix = f"board_{board.id}_{index}_{cell.view_id}"
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        part_key = f"{prefix}_part_{cell.part}"
        st.selectbox(
            f"Show {name} as", BOARD_PARTS, BOARD_PARTS.index(cell.part), format_func=PART_NAMES.__getitem__,
            key=part_key, label_visibility="collapsed", width=140,
            on_change=_change, args=(context, board, index, "part", part_key),
        )  # fmt: skip
        width_key = f"{prefix}_width_{cell.width}"
        st.selectbox(
            f"Width of {name}", range(1, COLUMNS + 1), cell.width - 1,
            format_func=lambda width: "Whole width" if width == COLUMNS else f"{width} of {COLUMNS} columns",
            key=width_key, label_visibility="collapsed", width=130,
            on_change=_change, args=(context, board, index, "width", width_key),
        )  # fmt: skip
        if cell.part == "leaderboard" and not item.is_missing:
            _draw_card_picker(context, board, index, split_texts(item.params.get("cards", "")))
        for label, icon, is_possible, cells in (
            ("Move earlier", "arrow_back", index > 0, swap(board.cells, index - 1)),
            ("Move later", "arrow_forward", index < count - 1, swap(board.cells, index)),
            ("Remove", "close", True, without(board.cells, index)),
        ):
            act, is_disabled = partial(_store, context, board, cells, None), not is_possible
            widgets.icon_button(f"{label}: {name}", icon, f"{prefix}_{icon}", act, label, is_disabled)


def _draw_card_picker(context: PageContext, board: Board, index: int, texts: Sequence[str]) -> None:
    cell = board.cells[index]
    names = [text.partition("!")[0] for text in texts if text]
    options = list(dict.fromkeys(["", *names, cell.card]))
    key = f"board_{board.id}_{index}_{cell.view_id}_card_{cell.card}"
    st.selectbox(
        "Leaderboard", options, options.index(cell.card), format_func=lambda name: name or FIRST_CARD,
        key=key, label_visibility="collapsed", width=160,
        on_change=_change, args=(context, board, index, "card", key),
    )  # fmt: skip


def draw_addition(context: PageContext, board: Board) -> None:
    """Draw the form that adds a cell: a saved view of any slicer, and the part of it to show."""
    views = {view.id: view for view in context.clients.view_store.views.all()}
    if not views:
        st.info("There are no saved views yet: save one under Views on Audience.", icon=":material/bookmark:")
        return
    view_key, part_key = f"board_{board.id}_view", f"board_{board.id}_part"
    with (
        st.form(f"board_{board.id}_add", border=True),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        st.selectbox(
            "Add a saved view", views, key=view_key, filter_mode="contains", width=380,
            format_func=lambda number: f"{views[number].name} · {views[number].slicer}",
        )  # fmt: skip
        st.selectbox("as", BOARD_PARTS, format_func=PART_NAMES.__getitem__, key=part_key, width=160)
        st.form_submit_button(
            "Add", icon=":material/add:", type="primary", on_click=_add,
            args=(context, board, view_key, part_key),
        )  # fmt: skip


def swap(cells: Sequence[BoardCell], index: int) -> list[BoardCell]:
    """The cells with this one and the next in each other's place; as they are where one of them is none."""
    if not 0 <= index < len(cells) - 1:
        return [*cells]
    return [*cells[:index], cells[index + 1], cells[index], *cells[index + 2 :]]


def without(cells: Sequence[BoardCell], index: int) -> list[BoardCell]:
    """The cells without this one."""
    return [*cells[:index], *cells[index + 1 :]]


def _change(context: PageContext, board: Board, index: int, name: str, key: str) -> None:
    cell = replace(board.cells[index], **{name: st.session_state[key]})
    _store(context, board, [*board.cells[:index], cell, *board.cells[index + 1 :]], None)


def _add(context: PageContext, board: Board, view_key: str, part_key: str) -> None:
    part = st.session_state[part_key]
    cell = BoardCell(st.session_state[view_key], part, USUAL_WIDTHS[part])
    _store(context, board, [*board.cells, cell], None)


def _store(
    context: PageContext,
    board: Board,
    cells: Sequence[BoardCell] | None,
    params: question.Params | None,
) -> None:
    """Store cells or parameters. A callback; a failure is shown in the list of boards."""
    BOARDS.attempt(lambda: context.clients.view_store.boards.change(board.id, cells, params))
