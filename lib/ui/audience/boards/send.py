"""What sends a board to others: its link, its figures as a file, and a link for people without an account."""

from dataclasses import replace
from functools import partial

import streamlit as st

from lib.figures.query import board_params
from lib.reporting import links
from lib.settings import Settings
from lib.share import Documents, snapshots
from lib.ui.audience import sharing
from lib.ui.kit.frame import PageContext
from lib.ui.query import share
from lib.views import Board
from lib.views.board_copies import BoardCopy

WHOSE, NO_SLICER = "_board", ("", "")
READERS = "Opens for colleagues who may see one of its views."
NO_READERS = "Only you can open it: share the board first, under Boards."


def draw(context: PageContext, board: Board, copy: BoardCopy) -> None:
    """Draw the popover with all of it; `copy` is the board as it is on screen."""
    popover = st.popover("Link", icon=":material/link:", key="board_link", on_change="rerun", type="tertiary")
    if not popover.open:
        return
    params = board_params.link_params(board, copy.params)
    with popover, st.container(width=share.WIDTH):
        st.caption(READERS if board.is_shared else NO_READERS)
        st.code(share.address("boards", params), language=None, wrap_lines=True)
        sharing.draw_downloads(context, partial(_take, board, copy), "board", WHOSE)
        if copy.slicers:
            # The board as it is shared: with days that move on, and with fixed ones where it has days of
            # its own.
            items = [item for item in copy.items if not item.is_missing]
            visible_copy = replace(copy, items=items)
            choices = {sharing.LATEST: visible_copy.to_params()}
            if "start" in copy.params:
                fixed_params, label = sharing.fix_days(context, copy.params)
                choices[label] = replace(visible_copy, params=fixed_params).to_params()
            sharing.draw_form(context, NO_SLICER, choices, board.name, WHOSE)


def _take(board: Board, copy: BoardCopy, context: PageContext) -> snapshots.Board:
    settings = Settings.current()
    address = f"{settings.address}/{links.href('boards', board_params.link_params(board, copy.params))}"
    return Documents(settings).board(
        context.person, copy, board.name, address if settings.address else "", context.locale or ""
    )
