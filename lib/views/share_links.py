"""Share links: a question with fixed filters, or a deal, that people without an account open, until they end.

A link is its number and a secret, of which only a hash is stored. Beside it are the rights that it was made
under: the rows of its slicers that its owner saw, and the seat of the deal. Whoever opens it sees what both
these and its owner's rights of then allow: a link of somebody who lost what it shows, the permission or their
account, and one for another seat than the deal has, opens nothing.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Delete, Engine, Row, Update, delete, func, insert, select, update

from lib.database import DatabaseScope, from_row
from lib.people import Grant, Person
from lib.people.tables import made_by
from lib.views.board_copies import BoardCopy
from lib.views.entries import Scope
from lib.views.models import checked_name, fitting
from lib.views.tables import share_links
from lib.wire.errors import AccessError, BadRequest, StoreUnwritable
from lib.wire.text import LONGEST_EMAIL, is_mailable, line

MOST, MOST_ORIGINS = 200, 10
MOST_WRONG_CODES = 10
USUAL, LONGEST = timedelta(days=30), timedelta(days=366)
NOTED_EVERY = timedelta(minutes=1)
NO_PERMISSION = "Only administrators, and people with the permission for it, can make share links"
NO_LINK = "This share link is not there any more"
ORIGIN = re.compile(
    r"https?://([a-z0-9-]+\.)*[a-z0-9-]+(:[0-9]{1,5})?|https?://\[[0-9a-f:.]+\](:[0-9]{1,5})?"
)


@dataclass(frozen=True, slots=True)
class SharedDeal:
    """A deal that is shared: its id, and the seat that it has, 0 where that is not known."""

    id: int
    seat: int


@dataclass(frozen=True, slots=True)
class ShareLink:
    """A question or a deal that is shared, without its secret; `origins` may frame its page.

    `params` are those of a link to the question; of a board, which is about no single slicer, they have it
    whole (lib/views/board_copies.py). `deal` is the id of one of `deals_service`, and `seat` the seat that it
    had, 0 where that was not known; `grants` are the slicers, and their rows, that the owner saw. `opened` is
    when it was last opened (None: never). With `recipient` whoever opens it enters a code that was mailed
    there (link_codes.py); `wrong_codes` were entered since the last right one. Times are in UTC.
    """

    id: int
    project: str
    slicer: str
    name: str
    params: Mapping[str, str]
    origins: tuple[str, ...]
    owner: str
    created: datetime
    expires: datetime
    opened: datetime | None
    grants: tuple[Grant, ...]
    deal: int | None = None
    deals_service: str | None = None
    seat: int | None = None
    recipient: str | None = None
    wrong_codes: int = 0

    @property
    def about(self) -> str:
        """What it shows: a slicer, a board, or a deal for one seat."""
        if not (self.project or self.slicer):
            return "a board"
        seat = f", seat {self.seat}" if self.seat else ""
        return f"{self.project}/{self.slicer}{'' if self.deal is None else f', deal {self.deal}{seat}'}"

    @property
    def is_closed(self) -> bool:
        """Whether so many wrong codes were entered that it opens nothing until its owner opens it again."""
        return self.wrong_codes >= MOST_WRONG_CODES

    def is_for(self, deal: SharedDeal, deals_service: str) -> bool:
        """Whether it is about this deal, and for the seat that the deal has."""
        return (self.deal, self.seat, self.deals_service) == (deal.id, deal.seat, deals_service)

    def reader(self, owner: Person) -> Person:
        """Whoever opens the link, in its owner's name: with the owner's rights, and no more than it had."""
        return replace(owner, within=self.grants)


@dataclass(frozen=True)
class ShareLinks:
    """The share links of one person; of everybody, for an administrator. `note` writes into the audit log.

    Deals are those of `deals_service`, empty if embedded.
    """

    scope: Scope
    deals_service: str = ""
    note: Callable[[str, str], None] = lambda event, detail: None

    def make(
        self,
        project: str,
        slicer: str,
        name: str,
        params: Mapping[str, str],
        lifetime: timedelta = USUAL,
        origins: Iterable[str] = (),
        deal: SharedDeal | None = None,
        recipient: str = "",
    ) -> tuple[ShareLink, str]:
        """A new link to the question of `params`, or to a deal in this slicer for the seat that it has, and
        its key, which is returned once: `number.secret`. Whether its owner may see the deal is checked when
        it is opened.

        BadRequest for a name, lifetime or recipient that can't be, an origin that is none or beside a
        recipient, and beyond 200 links of a person; AccessError without the permission, or if the person may
        not see the slicer. A link to a board (`board_copies.py`) has empty texts for project and slicer.
        """
        grants = self._grants(project, slicer, BoardCopy.from_params(params))
        origins = check_origins(origins)
        if not timedelta() < lifetime <= LONGEST:
            raise BadRequest(f"A share link works for up to {LONGEST.days} days")
        recipient = recipient and line(recipient, "The address", LONGEST_EMAIL)
        if recipient and not is_mailable(recipient):
            raise BadRequest(f"'{recipient[:100]}' is not an e-mail address that mail can be sent to")
        if recipient and origins:
            raise BadRequest(
                "A link for one address can't be embedded, as browsers keep its cookie from other sites: "
                "leave out the sites or the address"
            )
        secret, now = secrets.token_urlsafe(24), datetime.now(UTC)
        values = {
            "service": self.scope.service, "project": project, "slicer": slicer, "name": checked_name(name),
            "params": fitting(params), "origins": [*origins], "secret_hash": _hash(secret),
            "owner": self.scope.person.username, "created": now, "expires": now + lifetime,
            "grants": [*map(str, grants)], "recipient": recipient or None,
        }  # fmt: skip
        if deal is not None:
            values |= {"deal": deal.id, "seat": deal.seat, "deals_service": self.deals_service}
        with self.scope.write() as connection:
            mine = select(func.count()).select_from(share_links).where(*self._own_rows())
            if connection.execute(mine).scalar_one() >= MOST:
                raise BadRequest(f"You have {MOST} share links: revoke one first")
            link = _link(connection.execute(insert(share_links).values(values).returning(share_links)).one())
        self.note("share link made", _describe(link))
        return link, f"{link.id}.{secret}"

    def _grants(self, project: str, slicer: str, board: BoardCopy | None) -> list[Grant]:
        """The rows of this slicer, or of those of this board, that the person sees and may share."""
        pairs = sorted({(project, slicer)} if board is None else board.slicers)
        for pair in pairs:
            self.scope.about(share_links, *pair)
        if board is not None and (project or slicer or not board.slicers):
            raise BadRequest("A share link to a board shows at least one of its views, and no slicer beside")
        if not self.scope.person.may_share:
            raise AccessError(NO_PERMISSION)
        return [Grant(*pair, self.scope.person.row_filters(*pair)) for pair in pairs]

    def everything(self) -> list[ShareLink]:
        """The links that this person may revoke, the latest first; those that have ended too."""
        service = share_links.c.service == self.scope.service
        mine = (service,) if self.scope.person.role == "admin" else self._own_rows()
        query = select(share_links).where(*mine).order_by(share_links.c.id.desc())
        return [_link(row) for row in self.scope.rows(query) if self._may_revoke(row)]

    def of_deal(self, deal: SharedDeal) -> list[ShareLink]:
        """Those of them that are about this deal, for its seat, and have not ended."""
        now = datetime.now(UTC)
        links = (link for link in self.everything() if link.expires > now)
        return [link for link in links if link.is_for(deal, self.deals_service)]

    def revoke(self, number: int) -> None:
        """Remove a link: it opens nothing any more. BadRequest if it is not there, or another person's."""
        self._change(number, delete(share_links), "share link revoked")

    def reopen(self, number: int) -> None:
        """Let a link that wrong codes closed work again. BadRequest as of `revoke`."""
        self._change(number, update(share_links).values(wrong_codes=0), "share link reopened")

    def _change(self, number: int, statement: Delete | Update, event: str) -> None:
        mine = share_links.c.id == number
        with self.scope.write() as connection:
            row = connection.execute(select(share_links).where(mine)).one_or_none()
            if row is None or not self._may_revoke(row):
                raise BadRequest(NO_LINK)
            connection.execute(statement.where(mine))
        self.note(event, _describe(_link(row)))

    def _may_revoke(self, row: Row[Any]) -> bool:
        is_ours = row.service == self.scope.service
        return is_ours and (self.scope.person.role == "admin" or self.scope.owns(row.owner, row.created))

    def _own_rows(self) -> tuple[Any, ...]:
        mine = made_by(self.scope.person, share_links.c.owner, share_links.c.created)
        return share_links.c.service == self.scope.service, *mine


def find_link(engine: Engine, service: str, number: int, secret: str) -> ShareLink | None:
    """The link of this number, if this is its secret and it has not ended; compared in constant time."""
    query = select(share_links).where(share_links.c.id == number, share_links.c.service == service)
    row = DatabaseScope(engine).row(query)
    is_right = hmac.compare_digest(_hash(secret), "" if row is None else row.secret_hash)
    return _link(row) if row is not None and is_right and row.expires > datetime.now(UTC) else None


def note_opening(engine: Engine, link: ShareLink) -> None:
    """Store that the link is opened now, once a minute; a full disk keeps nobody from opening it."""
    now = datetime.now(UTC)
    if link.opened is not None and now - link.opened < NOTED_EVERY:
        return
    change = update(share_links).where(share_links.c.id == link.id).values(opened=now)
    with suppress(StoreUnwritable):
        DatabaseScope(engine).execute(change)


def check_origins(origins: Iterable[str]) -> tuple[str, ...]:
    """The origins, in lower case and once each; BadRequest for a text that is no origin."""
    clean = tuple(dict.fromkeys(origin.strip().rstrip("/").lower() for origin in origins if origin.strip()))
    for origin in clean:
        try:
            is_origin = bool(ORIGIN.fullmatch(origin)) and urlsplit(origin).port != 0
        except ValueError:  # a port that is none
            is_origin = False
        if not is_origin:
            advice = "write https:// and a host, nothing after it"
            raise BadRequest(f"'{origin[:100]}' is not an origin: {advice}")
    if len(clean) > MOST_ORIGINS:
        raise BadRequest(f"At most {MOST_ORIGINS} sites may embed a share link")
    return clean


def _link(row: Row[Any]) -> ShareLink:
    grants = tuple(map(Grant.parse, row.grants or ()))
    return from_row(ShareLink, row, origins=tuple(row.origins), grants=grants)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _describe(link: ShareLink) -> str:
    origins = f", embedded in {', '.join(link.origins)}" if link.origins else ""
    about = f"{link.id}, '{link.name}', {link.about}, by {link.owner}"
    only = f", for {link.recipient} alone" if link.recipient else ""
    return f"{about}, until {link.expires:%Y-%m-%d}{origins}{only}"
