"""The pages of share links: snapshots in the name of whoever made the link, kept for minutes."""

from functools import cached_property, partial

from lib import connect
from lib.connect import Reports
from lib.front.shared_route import SharedPage
from lib.people import Person
from lib.settings import Settings
from lib.snapshot import page
from lib.ui.audience.snapshots import Snapshots
from lib.ui.kit.session_cache import SessionCache
from lib.views import ShareLink
from lib.views.share_links import find_link, note_opening

SECONDS, MOST = 300, 100
CLOSED = "This link does not work"
WHY = "It may have ended or been revoked. Ask whoever sent it to you for another one."
FAILED = "The figures could not be loaded"
AGAIN = "Try again in a few minutes."


class SnapshotPages:
    """The pages of an installation's share links (`SharedPages`)."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._installation = connect.installation(settings)
        self._reports = Reports(self._installation)
        self._snapshots = Snapshots(settings)
        self._cache: SessionCache[str] = SessionCache(SECONDS, MOST)

    def page(self, number: int, secret: str) -> SharedPage:
        """The page of this key, or the one that says that it does not work. Raises the service's errors."""
        engine = self._installation.access.store.engine
        link = (
            find_link(engine, self._settings.base_url, number, secret) if self._settings.share_links else None
        )
        owner = None if link is None else self._owner(link)
        if link is None or owner is None:
            return self.closed()
        version = self._reports.version(link.project, link.slicer)
        html = self._cache.get((owner, link.id, version), partial(self._html, link, owner))
        note_opening(engine, link)
        return SharedPage(html, page.policy(link.origins))

    def closed(self) -> SharedPage:
        """The page that says that a link does not work: the same whatever the reason."""
        return self._closed

    def failed(self) -> SharedPage:
        """The page that says that the figures could not be loaded."""
        return SharedPage(page.error(FAILED, AGAIN), page.policy(()), 503)

    @cached_property
    def _closed(self) -> SharedPage:
        return SharedPage(page.error(CLOSED, WHY), page.policy(()), 404)

    def _html(self, link: ShareLink, owner: Person) -> str:
        about = (link.project, link.slicer)
        return page.html(self._snapshots.take(owner, about, link.params, link.name))

    def _owner(self, link: ShareLink) -> Person | None:
        """Who made the link, as they are now; None if they may not share it any more."""
        people = self._installation.people
        person = people.get(link.owner)
        if person is None or people.is_locked(person) or not person.may_share:
            return None
        is_namesake = person.added is not None and link.created < person.added
        is_there = (link.project, link.slicer) in self._reports.slicers()
        may_see = person.may_see(link.project, link.slicer)
        return person if may_see and is_there and not is_namesake else None
