"""A board with its views as they are: what is drawn, and what a share link keeps of it.

A share link holds a copy, so that a later change of the board or of a view never shows its reader more.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from lib.views.boards import Board, BoardPart
from lib.views.models import SavedView

BOARD_PARAM = "board"
Pair = tuple[str, str]


@dataclass(frozen=True)
class BoardItem:
    """A cell of a board with its view: project, slicer, name and parameters; without these it is missing,
    unless it is a text.

    `part`, `width`, `card`, `title` and `text` are those of the cell.
    """

    part: BoardPart
    width: int
    card: str = ""
    project: str = ""
    slicer: str = ""
    name: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    text: str = ""

    @property
    def is_missing(self) -> bool:
        """Whether its view is deleted, or may not be seen."""
        return not self.slicer and self.part != "text"


@dataclass(frozen=True)
class BoardCopy:
    """The items of a board in their order, and its own days, comparison and filters as parameters."""

    items: Sequence[BoardItem]
    params: Mapping[str, str]

    @property
    def slicers(self) -> set[Pair]:
        """The slicers that it shows figures of."""
        return {(item.project, item.slicer) for item in self.items if item.slicer}

    def rename_slicer(self, pair: Pair, to: Pair) -> "BoardCopy":
        """The same after a slicer was renamed."""
        items = [
            replace(item, project=to[0], slicer=to[1]) if (item.project, item.slicer) == pair else item
            for item in self.items
        ]
        return replace(self, items=items)

    def to_params(self) -> dict[str, str]:
        """The copy as the parameters of a share link."""
        return {BOARD_PARAM: json.dumps({"items": [*map(asdict, self.items)], "params": dict(self.params)})}

    @classmethod
    def from_params(cls, params: Mapping[str, str]) -> "BoardCopy | None":
        """The copy in the parameters of a share link; None of a link to a question."""
        if BOARD_PARAM not in params:
            return None
        body = json.loads(params[BOARD_PARAM])
        return cls([BoardItem(**item) for item in body["items"]], body["params"])


def copy_board(board: Board, views: Mapping[int, SavedView], params: Mapping[str, str]) -> BoardCopy:
    """A board with those of its views that its reader sees, and with other days and filters."""
    items = []
    for cell in board.cells:
        view = views.get(cell.view_id)
        about = (
            ("", "", "", {}) if view is None else (view.project, view.slicer, view.name, dict(view.params))
        )
        items.append(BoardItem(cell.part, cell.width, cell.card, *about, cell.title, cell.text))
    return BoardCopy(items, dict(params))
