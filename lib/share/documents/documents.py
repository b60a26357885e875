"""Takes documents from the services of an installation, in the name of a person."""

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from lib.figures import error_text, numbers
from lib.figures.overview.overview_answers import OverviewAnswers
from lib.figures.query import state
from lib.figures.query.board_filters import for_slicer
from lib.figures.query.board_params import DAYS, under
from lib.people import Person
from lib.reporting import links
from lib.serving.front.overview_route import OverviewRequest
from lib.settings import Settings
from lib.share.documents import board, question
from lib.share.documents.question import About, Params, live_address
from lib.share.snapshot import models as snapshots
from lib.views.board_copies import BoardCopy, BoardItem
from lib.wire.deadline import Deadline
from lib.wire.errors import AccessError, Refused, TrancheError
from lib.wire.text import straight


class Documents:
    """The figures of questions and boards as plain values, exact where they can be."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._answers = settings, OverviewAnswers(settings)

    def of_question(
        self, person: Person, about: About, params: Params, title: str = "", language: str = ""
    ) -> snapshots.Snapshot:
        """The question of a link about `about`, project and slicer.

        `title` is that of a saved view, `language` the reader's. AccessError if the person may not see the
        slicer; raises the errors of the service.
        """
        own = {name: text for name, text in params.items() if name not in ("project", "slicer")}
        lower = state.tab(own)
        plain = {name: text for name, text in own.items() if name != "chart"} | {"lower": lower}
        request = OverviewRequest(
            project=about[0],
            slicer=about[1],
            params=plain,
            parts=["head", "cards", *(["split"] if lower == "split" else [])],
            locale=language,
        )
        focus, parts = self._answers.finish(request, person, Deadline(self._settings.deadline_seconds))
        address = live_address(self._settings.address, about, params)
        return question.snapshot(focus, parts, title, address, lower == "moved")

    def of_board(
        self, person: Person, copy: BoardCopy, title: str, address: str = "", language: str = ""
    ) -> snapshots.Board:
        """The board with all of its cells. A cell whose view is missing or fails says so in its place."""
        blocks = [self.block(person, item, copy, language) for item in copy.items]
        facts = [("Taken", numbers.moment(datetime.now(UTC)))]
        return snapshots.Board(straight(title), facts, address, blocks)

    def block(self, person: Person, item: BoardItem, copy: BoardCopy, language: str = "") -> snapshots.Block:
        """An item of the board as a cell."""
        if item.is_missing:
            return board.empty_block(item)
        if item.part == "text":
            return snapshots.Block(straight(item.title), "", item.width, text=straight(item.text))
        deadline = Deadline(self._settings.deadline_seconds)
        try:
            # Its parameters under those of the board, and a sentence for each filter that is left out.
            about, contexts, sentences = (item.project, item.slicer), {}, list[str]()
            has_filters = any(links.FILTER.fullmatch(name) for name in copy.params)
            for project, slicer in sorted(copy.slicers) if has_filters else ():
                request = OverviewRequest(project=project, slicer=slicer, params={}, parts=["head"])
                with suppress(TrancheError):
                    contexts[project, slicer] = self._answers.context(request, person, deadline)
            board_params = copy.params
            if about in contexts:
                days = {name: copy.params[name] for name in DAYS if name in copy.params}
                others, view_params = [*contexts.values()], under(item.params, days)
                board_params, sentences = for_slicer(copy.params, contexts[about], others, view_params)
            params = under(item.params, board_params)
            focus, parts = self._answers.finish(board.request(params, item, language), person, deadline)
        except TrancheError as error:
            # Refused: the desk's own credentials at a remote service, not the person's rights
            if isinstance(error, AccessError) and not isinstance(error, Refused):
                return board.empty_block(item)
            message = straight(error_text.sentence(error))
            return snapshots.Block(straight(item.title or item.name), "", item.width, message=message)
        address = live_address(self._settings.address, (item.project, item.slicer), params)
        return replace(board.block(item, copy, focus, parts, address, sentences), params=params)

    def title(self, person: Person, item: BoardItem, copy: BoardCopy) -> str:
        """What the item's cell is called, found without its figures."""
        if item.is_missing or item.title or item.part == "text":
            return straight(item.title or item.text or snapshots.UNAVAILABLE)
        request = board.request(under(item.params, copy.params), item, "")
        try:
            focus = self._answers.focus(request, person, Deadline(self._settings.deadline_seconds))
            return straight(board.title(item, copy, focus))
        except TrancheError:
            return straight(item.name)

    def version(self, person: Person, item: BoardItem) -> str:
        """A text that differs once a cell's data do; empty where there are none."""
        if not item.slicer or not person.may_see(item.project, item.slicer):
            return ""
        try:
            return self._answers.version(person, item.project, item.slicer)
        except TrancheError:
            return ""
