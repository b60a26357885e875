"""Tokens: what is stored of one, and who comes with it.

A token is shown once, when it is issued; what is kept is its SHA-256 digest.
"""

import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import sqlalchemy as sa

from lib.database import DatabaseScope, Instant, from_row, metadata, optional, required
from lib.people import DealsGrant, Grant, Person
from lib.people.person import Record, row_filters
from lib.people.tables import people
from lib.wire.errors import AccessError, BadRequest, TrancheError
from lib.wire.filters import Filter
from lib.wire.text import readable_line

log = logging.getLogger(__name__)
Kind = Literal["permanent", "temporary"]
SECRET_BYTES, LONGEST_NAME = 32, 200
SHOWN_CHARACTERS = 4
USE_NOTED_EVERY = timedelta(minutes=1)
EXPIRED_KEPT_FOR = timedelta(days=1)

tokens = sa.Table(
    "tokens", metadata, sa.Column("id", sa.Integer, primary_key=True), *required(prefix=sa.String(40)),
    sa.Column("digest", sa.String(64), nullable=False, unique=True),
    sa.Column("owner", sa.String(64), nullable=False, index=True),
    *required(name=sa.String(LONGEST_NAME), service=sa.String(100), kind=sa.String(9), grants=sa.JSON),
    *required(created=Instant), *optional(expires=Instant, last_used=Instant, revoked=Instant, deals=sa.Text),
    sa.CheckConstraint("kind in ('permanent', 'temporary')", name="kind"), sa.Index(None, "kind", "expires"),
    sqlite_autoincrement=True,
)  # fmt: skip
WITH_OWNER = (
    sa.select(tokens, people.c.record)
    .outerjoin(people, people.c.username == tokens.c.owner)
    .where(tokens.c.digest == sa.bindparam("digest"))
)
OWNER = sa.select(people.c.record).where(people.c.username == sa.bindparam("owner"))
COLUMNS = [column for column in tokens.c if column.name != "digest"]


@dataclass(frozen=True, slots=True)
class Token:
    """A stored token: everything except its text. Times are in UTC; `expires` None is never.

    `prefix` is its readable beginning, by which a person recognizes it. Without grants it opens all that its
    owner may see; `deals` None: all that they may do with deals.
    """

    id: int
    prefix: str
    owner: str
    name: str
    service: str
    kind: Kind
    grants: tuple[Grant, ...]
    created: datetime
    expires: datetime | None
    last_used: datetime | None
    revoked: datetime | None
    deals: DealsGrant | None = None

    @property
    def permanent_name(self) -> str | None:
        """Its name, which somebody gave it; None of a temporary one, which stands for its person."""
        return self.name if self.kind == "permanent" else None

    def state(self, now: datetime) -> Literal["active", "expired", "revoked"]:
        """Whether it is still valid."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= now else "active"


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller and the token used."""

    person: Person
    token: Token

    def may_see(self, project: str, slicer: str | None = None) -> bool:
        """Whether the owner may see the slicer now, and the token was granted it too."""
        is_open = not self.token.grants or any(grant.covers(project, slicer) for grant in self.token.grants)
        return is_open and self.person.may_see(project, slicer)

    def row_filters(self, project: str, slicer: str) -> tuple[Filter, ...]:
        """The filters that the slicer's rows have to pass: those of the owner now, and those of the token."""
        both = (*self.person.row_filters(project, slicer), *row_filters(self.token.grants, project, slicer))
        return tuple(dict.fromkeys(both))

    @property
    def deals(self) -> DealsGrant:
        """The deals permissions that both the owner has now and the token was granted."""
        return self.person.deals.within(self.token.deals)

    @property
    def is_for_seats(self) -> bool:
        """Whether the token itself, whoever has it, is for some seats alone."""
        return self.token.deals is not None and self.token.deals.seats is not None


class TokenStore:
    """The tokens of one database, whose tables `database.migrate` has made, and those that it lends."""

    def __init__(self, engine: sa.Engine, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """`now` gives the time, with its zone."""
        self.engine, self._scope = engine, DatabaseScope(engine)
        self._now = now
        self._lent: dict[str, Token] = {}

    def issue(
        self,
        owner: str,
        service: str,
        name: str,
        lifetime: timedelta | None,
        grants: tuple[Grant, ...] = (),
        kind: Kind = "permanent",
        deals: DealsGrant | None = None,
    ) -> str:
        """A new token's text, which nothing keeps; `lifetime` None never ends. BadRequest for an odd name."""
        name = readable_line(name, "The token's name", LONGEST_NAME)
        if lifetime is not None and lifetime <= timedelta(0):
            raise BadRequest("A token's lifetime must be positive")
        now = self._now()
        prefix, secret = _prefix(service), secrets.token_urlsafe(SECRET_BYTES)
        row: dict[str, Any] = {"owner": owner, "name": name, "service": service, "kind": kind}
        row |= {"prefix": prefix + secret[:SHOWN_CHARACTERS], "digest": _digest(prefix + secret)}
        row |= {"grants": [str(grant) for grant in grants], "created": now}
        row |= {"expires": None if lifetime is None else now + lifetime}
        row |= {"deals": None if deals is None else str(deals)}
        # Scripts ask for many temporary tokens: old ones go with each new one.
        is_old = (tokens.c.kind == "temporary") & (tokens.c.expires < now - EXPIRED_KEPT_FOR)
        self._scope.execute(sa.delete(tokens).where(is_old), sa.insert(tokens).values(row))
        return prefix + secret

    def lend(
        self,
        owner: str,
        service: str,
        lifetime: timedelta,
        within: Token | None = None,
        grants: tuple[Grant, ...] = (),
    ) -> str:
        """A new temporary token's text, for this process alone: it is not in the database.

        It has the number of the token `within`, and opens no more, if there is one; else what `grants` do,
        without any all that its owner may see.
        """
        prefix, now = _prefix(service), self._now()
        text, times = prefix + secrets.token_urlsafe(SECRET_BYTES), (now, now + lifetime, None, None)
        number, grants, deals = (within.id, within.grants, within.deals) if within else (0, grants, None)
        token = Token(number, prefix, owner, "desk", service, "temporary", grants, *times, deals)
        valid = {digest: loan for digest, loan in self._lent.items() if loan.state(now) == "active"}
        self._lent = valid | {_digest(text): token}
        return text

    def is_lent(self, token: str) -> bool:
        """Whether this process lent the token, and it is still valid."""
        expiry = self._lent.get(_digest(token))
        return expiry is not None and expiry.state(self._now()) == "active"

    def verify(self, token: str, service: str) -> Token:
        """The token if it is valid for this service; AccessError as `with_owner`."""
        return self.with_owner(token, service)[0]

    def with_owner(self, token: str, service: str) -> tuple[Token, Record | None]:
        """The token if it is valid for this service, and the record of its owner, if there is one.

        Both are of the same moment, and cost one statement. Notes the token's use, at most once a minute.
        AccessError, in the same words, for a token that is wrong, expired, revoked or for another service.
        """
        digest = _digest(token)
        if (loan := self._lent.get(digest)) and self.is_lent(token) and loan.service == service:
            owner = self._scope.row(OWNER, owner=loan.owner)
            return loan, None if owner is None else owner.record
        row = self._scope.row(WITH_OWNER, digest=digest)
        if row is None or not hmac.compare_digest(row.digest, digest):
            raise AccessError()
        token_row, now = _token(row), self._now()
        if token_row.service != service or token_row.state(now) != "active":
            raise AccessError()
        if token_row.last_used is None or abs(now - token_row.last_used) >= USE_NOTED_EVERY:
            # Note the last use, for information only: a failure to write it does not affect the token.
            try:
                self._set(tokens.c.id == token_row.id, last_used=now)
            except TrancheError as error:
                log.warning("The use of token %d could not be recorded: %s", token_row.id, error.reason)
        return token_row, row.record

    def everything(self, owner: str | None = None) -> list[Token]:
        """All tokens, or those of one owner, oldest first; temporary ones until a day after their end."""
        query = sa.select(*COLUMNS).order_by(tokens.c.id)
        if owner is not None:
            query = query.where(tokens.c.owner == owner)
        return [_token(row) for row in self._scope.rows(query)]

    def get(self, token_id: int) -> Token:
        """The stored token of this number; BadRequest if there is none."""
        row = self._scope.row(sa.select(*COLUMNS).where(tokens.c.id == token_id))
        if row is None:
            raise BadRequest(f"There is no token {token_id}")
        return _token(row)

    def revoke(self, token_id: int) -> None:
        """Revoke the token, at once and permanently; BadRequest if there is none of this number."""
        self.get(token_id)
        self._set(tokens.c.id == token_id, tokens.c.revoked.is_(None), revoked=self._now())

    def revoke_all(self, owner: str) -> int:
        """Revoke all tokens of an owner; returns how many there were to revoke."""
        return self._set(tokens.c.owner == owner, tokens.c.revoked.is_(None), revoked=self._now())

    def _set(self, *which: sa.ColumnElement[bool], **values: datetime) -> int:
        with self._scope.write() as connection:
            return connection.execute(sa.update(tokens).where(*which).values(values)).rowcount


def _prefix(service: str) -> str:
    """How tokens begin, `trn_rep_` for the service `reporting`: people and secret scanners see what it is."""
    return f"trn_{re.sub('[^a-z0-9]', '', service.lower())[:3]}_"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _token(row: sa.Row[Any]) -> Token:
    deals = None if row.deals is None else DealsGrant.parse(row.deals)
    return from_row(Token, row, grants=tuple(map(Grant.parse, row.grants)), deals=deals)
