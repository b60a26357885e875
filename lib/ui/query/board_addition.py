"""Adding a saved view to a board, from the list of views: to which one, and which part of the view."""

import streamlit as st

from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import entries
from lib.ui.query.entries import EntryShelf
from lib.views import COLUMNS, BoardCell, BoardPart, SavedView

PART_NAMES: dict[BoardPart, str] = {
    "headline": "Headline",
    "chart": "Chart",
    "leaderboard": "Leaderboard",
    "table": "Table",
}
USUAL_WIDTHS = {"headline": COLUMNS, "chart": 2, "leaderboard": 1, "table": 2}
BOARD, PART, ADDED = "view_board", "view_board_part", "view_board_added"


def draw(context: PageContext, shelf: EntryShelf, view: SavedView) -> None:
    """Draw the form; it says once the view is on the board. Boards of others are not offered."""
    boards = {
        board.id: board.name
        for board in context.clients.view_store.boards.all()
        if entries.may_change(context, board)
    }
    if not boards:
        st.caption("You have no boards yet: make one under Boards.")
        return
    board = st.selectbox("Board", boards, format_func=boards.__getitem__, key=BOARD, filter_mode="contains")
    st.selectbox("Show it as", PART_NAMES, format_func=PART_NAMES.__getitem__, key=PART)
    st.button(
        "Add to board", type="primary", key="view_board_add", on_click=_add, args=(context, shelf, view)
    )
    if st.session_state.get(ADDED) == (view.id, board):
        st.success(plain(f"Added to {boards[board]}."))


def _add(context: PageContext, shelf: EntryShelf, view: SavedView) -> None:
    """Add the view as the last cell. A callback; a failure is shown in the list of views."""
    boards, part = context.clients.view_store.boards, st.session_state[PART]

    def add() -> None:
        board = next(board for board in boards.all() if board.id == st.session_state[BOARD])
        boards.change(board.id, [*board.cells, BoardCell(view.id, part, USUAL_WIDTHS[part])])
        st.session_state[ADDED] = view.id, board.id

    shelf.attempt(add)
