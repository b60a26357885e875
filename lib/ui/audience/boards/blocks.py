"""The figures of a board: each cell is a part of its view's answer, under the board's days and filters."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from lib.people import Person
from lib.reporting import links
from lib.reporting.links import join_texts, split_texts
from lib.serving.front.board_route import BoardRequest
from lib.settings import Settings
from lib.share import snapshots
from lib.slicers import zones
from lib.ui.audience.board import BoardAnswers
from lib.ui.audience.snapshots import Params, live_address, snapshot_chart, snapshot_figure, snapshot_table
from lib.ui.charts import numbers
from lib.ui.kit import problems
from lib.ui.query import filters, state
from lib.ui.query.focus import Focus
from lib.views.board_copies import BoardCopy, BoardItem
from lib.views.boards import Board, BoardPart
from lib.wire.deadline import Deadline
from lib.wire.errors import AccessError, Refused, TrancheError
from lib.wire.text import straight

UNAVAILABLE = "View not available"
MISSING = "It was deleted, or you may not see it. Its cell is kept."
DAYS, COMPARISON = ("start", "end"), ("compare", "also")
OWN_PARAM = "own"  # marks a link that asks for the views' own days, comparison and filters
PARTS: Mapping[BoardPart, str] = {
    "headline": "head",
    "chart": "head",
    "leaderboard": "cards",
    "table": "split",
}


def params_of_link(board: Board, params: Params) -> dict[str, str]:
    """The board's parameters that a link to it asks for; without any those that are stored with it."""
    own = {name: text for name, text in params.items() if is_shared_param(name)}
    return own if own or OWN_PARAM in params else dict(board.params)


def link_params(board: Board, params: Params) -> dict[str, str]:
    """The parameters of a link to a board under these parameters; without those that are stored with it."""
    number = {"board": str(board.id)}
    if dict(params) == dict(board.params):
        return number
    return number | (dict(params) or {OWN_PARAM: "1"})


def is_shared_param(name: str) -> bool:
    """Whether a URL parameter of this name is one of a board: days, comparison, or a filter."""
    return name in (*DAYS, "compare") or links.FILTER.fullmatch(name) is not None


def under(params: Params, board_params: Params) -> dict[str, str]:
    """A view's parameters with the days, the comparison and the filters of a board in place of its own.

    A filter stands in place of all that the view has on the same field; those on others stay.
    """
    stale_names = {*DAYS, "zoom"} if board_params.keys() & {*DAYS} else set()
    stale_names |= {*COMPARISON} if "compare" in board_params else set()
    names = {*filter_fields(board_params)}
    own = {
        name: text
        for name, text in params.items()
        if name not in stale_names and not ((match := links.FILTER.fullmatch(name)) and _is_of(match, names))
    }
    return own | dict(board_params)


def _is_of(match: re.Match[str], names: set[str]) -> bool:
    """Whether a filter's parameter is about one of these fields, and no alternative among several."""
    group, *_, field = match.groups()
    return group is None and field in names


def filter_fields(params: Params) -> Iterator[str]:
    """The key fields that filters among these parameters are about."""
    for name in params:
        if match := links.FILTER.fullmatch(name):
            yield match.groups()[-1]


class BoardSnapshots:
    """Takes the figures of boards from the services of an installation, in the name of a person."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._answers = settings, BoardAnswers(settings)

    def take(
        self, person: Person, copy: BoardCopy, title: str, address: str = "", language: str = ""
    ) -> snapshots.Board:
        """The board with all of its cells. A cell whose view is missing or fails says so in its place."""
        blocks = [self.block(person, item, copy.params, language) for item in copy.items]
        facts = [("Taken", f"{datetime.now(UTC):%-d %b %Y, %H:%M} UTC")]
        return snapshots.Board(straight(title), facts, address, blocks)

    def version(self, person: Person, item: BoardItem) -> str:
        """A text that differs once a cell's data do; empty where there are none."""
        if item.is_missing or not person.may_see(item.project, item.slicer):
            return ""
        try:
            return self._answers.version(person, item.project, item.slicer)
        except TrancheError:
            return ""

    def block(
        self, person: Person, item: BoardItem, board_params: Params, language: str = ""
    ) -> snapshots.Block:
        """A cell of a board, exact where it can be."""
        block = snapshots.Block(UNAVAILABLE, "", item.width, message=MISSING)
        if item.is_missing:
            return block
        params = under(item.params, board_params)
        about = (item.project, item.slicer)
        request = BoardRequest(
            project=item.project,
            slicer=item.slicer,
            params=_params_of_part(params, item),
            parts=[PARTS[item.part]],
            locale=language,
        )
        try:
            deadline = Deadline(self._settings.deadline_seconds)
            focus, parts = self._answers.finish(request, person, deadline)
        except Refused as error:  # the desk's own credentials at a remote service, not the person's rights
            return replace(block, title=straight(item.name), message=problems.sentence(error))
        except AccessError:
            return block
        except TrancheError as error:
            return replace(block, title=straight(item.name), message=problems.sentence(error))
        block = replace(
            block,
            title=straight(item.name),
            about=straight(" · ".join(_about(focus))),
            address=live_address(self._settings.address, about, params),
            notes=tuple(_left_out(focus, item, board_params)),
            message="",
        )
        return _DRAWN[item.part](block, focus, parts[PARTS[item.part]])


def _params_of_part(params: Params, item: BoardItem) -> dict[str, str]:
    """The view's parameters with what its part alone needs: one leaderboard, and a split that is a table."""
    own = {name: text for name, text in params.items() if name not in ("project", "slicer")}
    if item.part == "leaderboard" and (texts := split_texts(own.get("cards", "") or item.card))[0]:
        names = {text.partition("!")[0]: text for text in texts}
        own["cards"] = join_texts([names.get(item.card, item.card) if item.card else texts[0]])
    if item.part == "table" and own.get("chart") != "pivot":
        own.pop("chart", None)
    return own


def _about(focus: Focus) -> Iterator[str]:
    """Which days, of which clock, compared with which, and which rows."""
    yield numbers.days(*focus.period)
    if focus.query.timezone is not None:
        yield zones.title(focus.query.timezone)
    against = [numbers.days(*other.comparison.before) for other in focus.comparisons if other.comparison]
    if against:
        yield f"vs {' and '.join(against)}"
    yield from filters.sentences(focus.query, focus.slicer, filters.MOST_NAMES)
    if focus.slicer.restrictions:
        yield f"only rows where {filters.restrictions(focus.slicer)}"


def _left_out(focus: Focus, item: BoardItem, board_params: Params) -> Iterator[str]:
    """What of the view and of the board's filters does not fit the slicer."""
    fields = {field.name for field in focus.slicer.key_fields}
    for name in dict.fromkeys(filter_fields(board_params)):
        if name not in fields:
            yield f"{item.slicer} has no {name}: the board's filter on it does not apply here."
    _, left_out = state.read(item.params, focus.slicer, item.project, item.slicer)
    yield from map(straight, left_out)


def _headline(block: snapshots.Block, focus: Focus, head: Any) -> snapshots.Block:
    if head["nothing"]:
        return replace(block, message=head["nothing"]["sentence"])
    return replace(block, figures=tuple(map(snapshot_figure, head["figures"])))


def _chart(block: snapshots.Block, focus: Focus, head: Any) -> snapshots.Block:
    if head["nothing"]:
        return replace(block, message=head["nothing"]["sentence"])
    field = head["fields"][head["field"]]
    if not field["now"]:
        return replace(block, message="This slicer has no time: there is nothing to draw over it.")
    return replace(block, chart=snapshot_chart(head, field))


def _leaderboard(block: snapshots.Block, focus: Focus, cards: Any) -> snapshots.Block:
    return replace(block, table=snapshot_table(cards[0], focus.numbers))


def _table(block: snapshots.Block, focus: Focus, split: Any) -> snapshots.Block:
    if split:
        return replace(block, table=snapshot_table(split[0], focus.numbers))
    reason = "No data for these filters and days." if focus.query.split_by else "This view has no split."
    return replace(block, message=reason)


_DRAWN = {"headline": _headline, "chart": _chart, "leaderboard": _leaderboard, "table": _table}
