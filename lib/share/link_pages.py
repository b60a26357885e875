"""The pages of share links: which link is open, in whose name, and who has to enter a code first."""

import logging
from functools import cached_property, partial

from lib.figures.caches import SessionCache
from lib.people import Person
from lib.serving import connect
from lib.serving.connect import Reports
from lib.serving.front.shared_route import SEE_OTHER, Fields, SharedPage
from lib.settings import Settings
from lib.share.documents.documents import Documents
from lib.share.dossier_pages import DossierPages
from lib.share.mail.outbox import send, tell
from lib.share.snapshot import page
from lib.share.snapshot.models import Code, Snapshot
from lib.views import ShareLink
from lib.views.board_copies import BoardCopy
from lib.views.link_codes import WRONG_CODE, LinkCodes
from lib.views.share_links import MOST_WRONG_CODES, find_link, note_opening
from lib.wire.errors import AccessError, BadRequest, Refused, StoreUnwritable, TrancheError

log = logging.getLogger(__name__)
UNPROCESSABLE = 422
CACHE_SECONDS, MOST_PAGES = 300, 100
DEAD_LINK_HELP = "It may have ended or been revoked. Ask whoever sent it to you for another one."
RETRY_HELP = "Try again in a few minutes."
NOT_STORED = "What you sent could not be stored"
CODE_SENT = "A code is on its way to the address that this link is for."
CLOSED_HELP = (
    f"{MOST_WRONG_CODES} wrong codes were entered. Ask whoever sent the link to you to open it again."
)
TELL_CLOSED = (
    f"{MOST_WRONG_CODES} wrong codes in a row were entered for the share link “{{}}”. It opens nothing "
    "now. If you know who that was, open it again in Access; else revoke it and make another."
)
NO_MAIL = "No mail can be sent from here: ask whoever sent you the link."
UNEXPECTED = "If you did not ask for it, somebody else has the link: tell whoever sent it to you."


class LinkPages:
    """The pages of an installation's share links (`SharedPages`)."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._documents = settings, Documents(settings)
        self._dossiers = DossierPages(settings)
        self._cache: SessionCache[str] = SessionCache(CACHE_SECONDS, MOST_PAGES)
        self._installation = connect.installation(settings)
        self._engine = self._installation.access.store.engine
        self._reports = Reports(self._installation)
        self._codes = LinkCodes(self._engine)

    def page(self, number: int, secret: str, visit: str = "") -> SharedPage:
        """The page of this key, or the one that says that it does not work. Raises the service's errors."""
        link, owner = self._open(number, secret)
        if link is None or owner is None:
            return self.dead_link()
        if link.is_closed:
            return self._closed_link
        if self._needs_code(link, visit):
            return self._ask_for_code(link)
        try:
            if link.deal is not None:
                html = self._dossiers.html(link, owner)
            else:
                version = " ".join(self._reports.version(*pair) for pair in self._slicers(link, owner))
                html = self._cache.get((owner, link.id, version), partial(self._figures, link, owner))
        except Refused:  # the desk's own credentials at a remote service, not the owner's rights
            raise
        except AccessError:  # the owner's grant opens nothing any more: a field that its filters need is gone
            html = None
        if html is None:
            return self.dead_link()
        note_opening(self._engine, link)
        return SharedPage(html, page.policy(link.origins, has_form=link.deal is not None))

    def enter(self, number: int, secret: str, fields: Fields, visit: str = "") -> SharedPage | None:
        """What follows on the form of this key's page; None where it has none. Raises as `page`."""
        link, owner = self._open(number, secret)
        if link is None or owner is None:
            return self.dead_link()
        if link.is_closed:
            return self._closed_link
        if self._needs_code(link, visit):
            return self._take_code(link, owner, fields)
        if link.deal is None:
            return None
        try:
            html = self._dossiers.enter(link, owner, fields)
        except Refused:
            raise
        except AccessError:
            html = None
        if html is None:
            return self.dead_link()
        return SharedPage(
            html, page.policy(link.origins, has_form=True), UNPROCESSABLE if html else SEE_OTHER
        )

    def _needs_code(self, link: ShareLink, visit: str) -> bool:
        return link.recipient is not None and not self._codes.is_visit(link, visit)

    def _take_code(self, link: ShareLink, owner: Person, fields: Fields) -> SharedPage:
        """Mail a code, or begin a visit with the one that was entered."""
        if fields.get("do") == "send":
            if not self._settings.mail.smtp_host or link.recipient is None:
                return self._ask_for_code(link, NO_MAIL)
            subject, duration = f"Code for {link.name}", f"It opens “{link.name}” for a quarter of an hour."
            try:
                parts = (f"Your code: {self._codes.make(link)}", duration, UNEXPECTED)
                is_sent = send(self._engine, self._settings, owner, link.recipient, subject, *parts)
            except BadRequest as error:
                return self._ask_for_code(link, f"{error.reason}.", UNPROCESSABLE)
            return self._ask_for_code(link, CODE_SENT if is_sent else NO_MAIL)
        code = fields.get("code", "")
        entry = self._codes.enter(link, code if isinstance(code, str) else "")
        if entry.closes_link:
            self._installation.access.audit.note(
                "share link closed", f"share link {link.id}", owner.username, f"'{link.name}', wrong codes"
            )
            subject, text = f"{link.name}: the share link is closed", TELL_CLOSED.format(link.name)
            try:
                tell(self._engine, self._settings, owner, subject, text, link=("Open Access", "access"))
            except TrancheError as error:
                log.warning("That share link %d is closed could not be mailed: %s", link.id, error.reason)
            return self._closed_link
        if not entry.key:
            return self._ask_for_code(link, f"{WRONG_CODE}.", UNPROCESSABLE)
        return SharedPage("", page.policy(link.origins), SEE_OTHER, entry.key)

    def _ask_for_code(self, link: ShareLink, note: str = "", status: int = 200) -> SharedPage:
        """The page with the form of the code; it names neither the address nor what it opens."""
        html = page.html(Snapshot("This page needs a code", (), ""), code=Code(note))
        return SharedPage(html, page.policy(link.origins, has_form=True), status)

    def _figures(self, link: ShareLink, owner: Person) -> str:
        """The figures of a view or board."""
        if (board := BoardCopy.from_params(link.params)) is not None:
            return page.html(self._documents.of_board(owner, board, link.name))
        about = (link.project, link.slicer)
        return page.html(self._documents.of_question(owner, about, link.params, link.name))

    def _open(self, number: int, secret: str) -> tuple[ShareLink | None, Person | None]:
        """The link of this key; and its owner, with no more rights than the link has, if it is open."""
        is_on, service = self._settings.share_links, self._settings.remote.base_url
        link = find_link(self._engine, service, number, secret) if is_on else None
        if link is None:
            return None, None
        # Who made the link, as they are now; nobody if they may not share it any more.
        person = self._installation.people.still(link.owner, link.created)
        owner = None if person is None or not person.may_share else link.reader(person)
        if owner is None or not self._slicers(link, owner):
            return link, None
        # Without a code, the page itself looks at the deal: one that is not open asks for none either.
        if link.deal is None or link.recipient is None:
            return link, owner
        return link, owner if self._dossiers.is_open(link, owner) else None

    def dead_link(self) -> SharedPage:
        """The page that says that a link does not work: the same whatever the reason."""
        return self._dead_link

    def unwritable(self, error: StoreUnwritable) -> SharedPage:
        """The page that says that nothing can be stored now."""
        return SharedPage(page.error(NOT_STORED, f"{error.reason}."), page.policy(()), error.http)

    def unavailable(self) -> SharedPage:
        """The page that says that the figures could not be loaded."""
        return SharedPage(page.error("The figures could not be loaded", RETRY_HELP), page.policy(()), 503)

    @cached_property
    def _closed_link(self) -> SharedPage:
        return SharedPage(page.error("This link is closed", CLOSED_HELP), page.policy(()), 403)

    @cached_property
    def _dead_link(self) -> SharedPage:
        return SharedPage(page.error("This link does not work", DEAD_LINK_HELP), page.policy(()), 404)

    def _slicers(self, link: ShareLink, owner: Person) -> list[tuple[str, str]]:
        """The slicers that a link shows, one or those of its board, as far as its owner sees them."""
        board = BoardCopy.from_params(link.params)
        pairs = {(link.project, link.slicer)} if board is None else board.slicers
        return [pair for pair in sorted(pairs & {*self._reports.slicers()}) if owner.may_see(*pair)]
