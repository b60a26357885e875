"""The figures of share links to views and boards, in their owners' names, kept for minutes."""

from functools import partial

from lib.people import Person
from lib.settings import Settings
from lib.share import page
from lib.ui.audience.boards.blocks import BoardSnapshots
from lib.ui.audience.snapshots import Snapshots
from lib.ui.kit.session_cache import SessionCache
from lib.views import ShareLink
from lib.views.board_copies import BoardCopy

SECONDS, MOST = 300, 100


class LinkFigures:
    """The pages of links to views and boards (`lib.share.LinkPages` asks for them)."""

    def __init__(self, settings: Settings) -> None:
        self._snapshots, self._boards = Snapshots(settings), BoardSnapshots(settings)
        self._cache: SessionCache[str] = SessionCache(SECONDS, MOST)

    def __call__(self, link: ShareLink, owner: Person, version: str) -> str:
        return self._cache.get((owner, link.id, version), partial(self._html, link, owner))

    def _html(self, link: ShareLink, owner: Person) -> str:
        if (board := BoardCopy.from_params(link.params)) is not None:
            return page.html(self._boards.take(owner, board, link.name))
        about = (link.project, link.slicer)
        return page.html(self._snapshots.take(owner, about, link.params, link.name))
