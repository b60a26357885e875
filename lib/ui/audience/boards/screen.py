"""The screen Boards: the boards of a person, and the one that is open, whose cells are drawn one by one."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

import streamlit as st

from lib.figures.caches import SessionCache
from lib.figures.query import ask
from lib.figures.query.board_params import link_params
from lib.reporting import links
from lib.settings import Settings
from lib.share import Documents, page, snapshots
from lib.ui.audience import sharing
from lib.ui.audience.boards import arrange, board_list, question
from lib.ui.kit import problems, reader, screens, session_cache
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import share
from lib.views import COLUMNS, Board
from lib.views.board_copies import BoardCopy, BoardItem, copy_board

FOLDER = Path(__file__).parent
BLOCKS, SECONDS, MOST = "board_blocks", ask.SECONDS, 200
ABOUT = "A board shows saved views side by side, of one or several slicers."
THEME = """
:host { --ink: var(--st-text-color); --ground: var(--st-background-color); --link: var(--st-link-color);
  --soft: var(--st-secondary-background-color); --rule: var(--st-border-color);
  --line: var(--st-primary-color);
  --green: var(--st-green-color); --red: var(--st-red-color); color-scheme: inherit;
  --gray: color-mix(in srgb, var(--st-text-color) 68%, transparent); }
.place { color: var(--ink); font: 14px/1.5 var(--st-font); }
"""
_mount = st.components.v2.component(
    "tranche_board_cell", html='<div class="place"></div>',
    css=page.style().replace(":root", ":host") + THEME, js=page.script() + (FOLDER / "block.js").read_text(),
)  # fmt: skip


def draw(context: PageContext) -> None:
    """The list of boards and the open board; without any, how one is made."""
    with problems.report_errors("The boards"):
        boards = context.clients.view_store.boards.all()
        board = board_list.open_board(boards)
        row = partial(st.container, horizontal=True, vertical_alignment="center", gap="xsmall")
        with context.row, row(key="boards_bar"):
            board_list.draw(context, boards, board)
            if board is not None:
                views = context.clients.view_store.boards.views_of(board)
                copy = copy_board(board, views, question.of_board(board))
                question.write_address(board, copy.params)
                question.draw(context, board, sorted(copy.slicers))
                st.space("stretch")
                arrange.draw_buttons(context, board)
                _draw_link(context, board, copy)
        if board is None:
            what = "Open a board" if boards else f"{ABOUT} Name one"
            st.info(f"{what} under Boards.", icon=":material/dashboard:")
        else:
            _draw_grid(context, board, copy)


def _draw_grid(context: PageContext, board: Board, copy: BoardCopy) -> None:
    titles: list[str] = []
    arrange.draw_problem(board)
    if is_arranging := arrange.is_on(context, board):
        title = documents(Settings.current()).title
        titles = [title(context.person, item, copy) for item in copy.items]
        arrange.draw_tiles(context, board, titles)
    for row in rows_of(copy.items):
        widths = [copy.items[index].width for index in row]
        spare = COLUMNS - sum(widths)
        for index, column in zip(row, st.columns([*widths, *([spare] if spare else [])]), strict=False):
            key = f"board_cell_{copy.items[index].part}_{index}"  # by which its height is reserved
            with column, st.container(border=is_arranging, gap="xsmall", key=key):
                if is_arranging:
                    arrange.draw_cell_controls(context, board, copy.items[index], titles[index], index)
                _draw_cell(context, copy.items[index], copy, f"{board.id}_{index}")
    if is_arranging:
        arrange.draw_addition(context, board)
    elif not copy.items:
        st.info("This board is empty: choose Arrange, and add a saved view.", icon=":material/dashboard:")


def rows_of(items: Sequence[BoardItem]) -> list[list[int]]:
    """The places of the cells row by row, as many in each as the four columns hold."""
    rows: list[list[int]] = []
    room = 0
    for index, item in enumerate(items):
        if item.width > room:
            rows.append([])
            room = COLUMNS
        rows[-1].append(index)
        room -= item.width
    return rows


@st.fragment(parallel=True)
def _draw_cell(context: PageContext, item: BoardItem, copy: BoardCopy, name: str) -> None:
    """A cell: its title, which opens its view on Audience, its days and filters, and its part."""
    with st.spinner(f"Loading {plain(item.name)}") if item.name else st.container():
        # The cell's figures, of the data and with the rights of now; of a remote service, of minutes ago.
        person, settings = context.now(), Settings.current()
        cache = session_cache.of(BLOCKS, partial(SessionCache[snapshots.Block], SECONDS, MOST))
        key = (
            person.username,
            documents(settings).version(person, item),
            repr(item),
            repr((dict(copy.params), len(copy.slicers))),
        )
        language = reader.locale() or ""
        take = partial(documents(settings).block, person, item, copy, language)
        block = cache.get(key, take)
    is_text = item.part == "text"
    with st.container(gap=None):
        if not is_text:
            with st.container(gap=None, key=f"board_head_{name}"):
                if block.title == snapshots.UNAVAILABLE:
                    st.markdown(f"**{plain(block.title)}**", width="content")
                else:  # with a view to open
                    params = block.params or item.params
                    st.page_link(
                        screens.AUDIENCE, label=f"**{plain(block.title)}**",
                        query_params={"project": item.project, "slicer": item.slicer, **params},
                        help=plain(f"Open {item.name} on Audience"), width="content",
                    )  # fmt: skip
                if block.about:
                    st.caption(plain(block.about))
        _mount(key=f"board_block_{name}", data={"html": page.block_html(block, name, is_text)})


@lru_cache(maxsize=4)
def documents(settings: Settings) -> Documents:
    """What takes the figures; one per installation, as it keeps descriptions of slicers."""
    return Documents(settings)


WHOSE, NO_SLICER = "_board", ("", "")


def _draw_link(context: PageContext, board: Board, copy: BoardCopy) -> None:
    """Draw what sends a board to others: its link, its figures as a file, and a link for people without an
    account. `copy` is the board as it is on screen."""
    popover = st.popover("Link", icon=":material/link:", key="board_link", on_change="rerun", type="tertiary")
    if not popover.open:
        return
    params = link_params(board, copy.params)
    with popover, st.container(width=share.WIDTH):
        readers = "Opens for colleagues who may see one of its views."
        nobody = "Only you can open it: share the board first, under Boards."
        st.caption(readers if board.is_shared else nobody)
        st.code(share.address("boards", params), language=None, wrap_lines=True)
        sharing.draw_downloads(context, partial(_as_document, board, copy), "board", WHOSE)
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


def _as_document(board: Board, copy: BoardCopy, context: PageContext) -> snapshots.Board:
    settings = Settings.current()
    address = f"{settings.address}/{links.href('boards', link_params(board, copy.params))}"
    return Documents(settings).of_board(
        context.person, copy, board.name, address if settings.address else "", context.locale or ""
    )
