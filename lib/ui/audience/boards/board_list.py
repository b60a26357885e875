"""The popover Boards: a row per board, the form for a new one, and panels that change, mail or delete one."""

from collections.abc import Iterator, Sequence
from functools import partial

import streamlit as st

from lib.ui.audience.boards import question
from lib.ui.kit.frame import PageContext
from lib.ui.query import entries, mail
from lib.ui.query.entries import Action, EntryShelf
from lib.views import Board
from lib.views.entries import read_number

BOARDS = EntryShelf(
    "board_",
    lambda context: context.clients.view_store.boards,
    "boards",
    "Share with everybody who may see one of its views",
    "Everybody loses it, and its start pages and mails.",
)
OPEN, POPOVER, WIDTH = BOARDS.state("open"), "boards_menu", 420


def open_board(boards: Sequence[Board]) -> Board | None:
    """The board that the address names, else the one that was open last, else the only one."""
    number_text = st.query_params.get("board", "")
    number = read_number(number_text)
    number = st.session_state.get(OPEN) if number is None else number
    only = boards[0] if len(boards) == 1 and not number_text else None
    board = next((board for board in boards if board.id == number), only)
    if number_text and board is None:
        st.warning("This board was deleted, or you may not see it.", icon=":material/dashboard:")
    st.session_state[OPEN] = None if board is None else board.id
    return board


def draw(context: PageContext, boards: Sequence[Board], board: Board | None) -> None:
    """Draw the popover; its label is the open board."""
    label = "Boards" if board is None else entries.label(board, False)
    with st.popover(label, icon=":material/dashboard:", key=POPOVER, on_change="rerun") as popover:
        if not popover.open:
            return
        with st.container(width=WIDTH):
            entries.problem(BOARDS)
            if (entry := BOARDS.open_entry(boards)) is not None:
                panel = st.session_state.get(BOARDS.state("panel"), "edit")
                entries.head(BOARDS, entry)
                if panel == "mail":
                    mail.draw(context, BOARDS, entry)
                elif panel == "delete":
                    entries.deletion(context, BOARDS, entry)
                else:
                    entries.edit(context, BOARDS, entry)
                return
            entries.new(BOARDS, "New board", partial(_save, context))
            start = context.clients.view_store.start.board()
            for other in boards:
                more = " · start page" * (start is not None and start.id == other.id)
                entries.row(BOARDS, other, other == board, _go, _actions(context, other, start), more)


def _actions(context: PageContext, board: Board, start: Board | None) -> Iterator[Action]:
    if mail.is_possible():
        yield "mail", "mail", f"Mail {board.name}", partial(BOARDS.show, board, "mail")
    yield entries.start_action(BOARDS, board, start, context.clients.view_store.start.set_board)
    yield from entries.changes(context, BOARDS, board)


def _save(context: PageContext, name: str, is_shared: bool) -> None:
    _go(context.clients.view_store.boards.save(name, is_shared))


def _go(board: Board) -> None:
    st.session_state[OPEN], st.session_state[POPOVER] = board.id, False
    question.write_address(board, question.last_params(board))
