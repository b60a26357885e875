"""The store of boards: saved views side by side, over one or several slicers.

A board names its views by number. One that is deleted, or that its reader may not see, keeps its cell.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal, get_args

from sqlalchemy import Row, Table, select

from lib.views.entries import NamedEntries, SavedViews
from lib.views.models import LONGEST_NAME, LONGEST_NOTE, NamedEntry, SavedView, fitting
from lib.views.tables import boards, saved_views
from lib.wire.errors import BadRequest, UnknownName
from lib.wire.text import readable_line

BoardPart = Literal["headline", "chart", "leaderboard", "table", "text"]
BOARD_PARTS: tuple[BoardPart, ...] = get_args(BoardPart)
COLUMNS, MOST_CELLS = 4, 24


@dataclass(frozen=True)
class BoardCell:
    """A cell: a saved view, the part of it that is drawn, and over how many of the four columns.

    `card` is the key field of a leaderboard; empty: the view's first. Without an own `title` a cell is called
    by what it shows. One of part `text` has no view, but a title, a `text` of one paragraph, or both.
    BadRequest, or UnknownName for a part, where that can't be.
    """

    view_id: int = 0
    part: BoardPart = "headline"
    width: int = 2
    card: str = ""
    title: str = ""
    text: str = ""

    def __post_init__(self) -> None:
        if self.part not in BOARD_PARTS:
            raise UnknownName("part", self.part, BOARD_PARTS)
        if not 1 <= self.width <= COLUMNS:
            raise BadRequest(f"A cell is one to {COLUMNS} columns wide")
        for name, longest in (("title", LONGEST_NAME), ("text", LONGEST_NOTE)):
            value = getattr(self, name).strip()
            line = readable_line(value, f"The {name}", longest) if value else ""
            object.__setattr__(self, name, line)
        if self.part == "text" and not (self.title or self.text):
            raise BadRequest("Type a heading or a text")


@dataclass(frozen=True, slots=True)
class Board(NamedEntry):
    """A board, which is about no slicer of its own.

    `params` are the URL parameters of days, comparison and filters that stand in place of the views' own.
    """

    cells: Sequence[BoardCell]
    params: Mapping[str, str]


@dataclass(frozen=True)
class Boards(NamedEntries[Board]):
    """The boards that one person may see: their own, and shared ones of which they see at least one view."""

    model: ClassVar[type[Board]] = Board
    table: ClassVar[Table] = boards
    label: ClassVar[str] = "board"
    labels: ClassVar[str] = "boards"

    def all(self) -> list[Board]:
        return [board for board in self._of(self._about()) if self._is_visible(board)]

    def get(self, number: int) -> Board | None:
        """The board, or None if it does not exist or the person may not see it."""
        board = super().get(number)
        return board if board is not None and self._is_visible(board) else None

    def save(
        self,
        name: str,
        is_shared: bool = False,
        cells: Iterable[BoardCell] = (),
        params: Mapping[str, str] | None = None,
    ) -> Board:
        """Store a board under a new name. BadRequest for a name that is empty, long or taken, for too many
        cells, and beyond 200 boards.
        """
        values = {"name": name, "cells": _fit(cells), "params": fitting(params or {}), "is_shared": is_shared}
        return self._save(values, self._about())

    def change(
        self, number: int, cells: Iterable[BoardCell] | None = None, params: Mapping[str, str] | None = None
    ) -> Board:
        """Partial update; BadRequest if it is gone, AccessError for another person's."""
        values: dict[str, Any] = {} if cells is None else {"cells": _fit(cells)}
        values |= {} if params is None else {"params": fitting(params)}
        return self._change(number, values)

    def views_of(self, board: Board) -> dict[int, SavedView]:
        """The board's views that this person may see, by number."""
        numbers = {cell.view_id for cell in board.cells}
        rows = self.scope.rows(select(saved_views).where(saved_views.c.id.in_(numbers)))
        return {row.id: SavedViews(self.scope).entry(row) for row in rows if self.scope.sees(row)}

    def entry(self, row: Row[Any]) -> Board:
        """A board as this person sees it."""
        return replace(super().entry(row), cells=tuple(BoardCell(**cell) for cell in row.cells))

    def name_scope(self, row: Row[Any]) -> tuple[Any, ...]:
        return self._about()

    def _about(self) -> tuple[Any, ...]:
        return (boards.c.service == self.scope.service,)

    def _is_visible(self, board: Board) -> bool:
        return board.is_mine or bool(self.views_of(board))


def _fit(cells: Iterable[BoardCell]) -> list[dict[str, Any]]:
    items = [asdict(cell) for cell in cells]
    if len(items) > MOST_CELLS:
        raise BadRequest(f"A board has {MOST_CELLS} cells at most")
    return items
