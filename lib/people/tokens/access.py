"""Authentication and permissions: combines tokens and people, audit log."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Self

from lib import database
from lib.people import DealsGrant, Grant, People, Person, Role
from lib.people.company import Claims, Company
from lib.people.person import labels, person_of
from lib.people.tokens.audit import Audit
from lib.people.tokens.store import Caller, Kind, Token, TokenStore
from lib.people.tokens.tally import Tally
from lib.settings import Settings
from lib.wire.errors import AccessError, BadRequest, NotAdmitted, TooManyAttempts

UNKNOWN, BY_RULE = "unknown name", "company sign-in"
DEMO_LOCK = "'{}' still has the password of the demo; give them another: tranche user password {}"


class Access:
    """Tokens and people. A token grants the intersection of its own grants and its owner's current ones.

    `deals_service` is the identifier of the deals API: its tokens have grants for deals, others have not.
    Changes are noted in `audit`; `by` is who makes them.
    """

    def __init__(self, store: TokenStore, people: People, deals_service: str = "deals") -> None:
        self.store = store
        self.people = people
        self.audit = Audit(store.engine)
        self._deals_service = deals_service

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Over the database of these settings; brings it up to date."""
        engine = database.engine(settings.database_url)
        database.migrate(engine)
        people = People(engine, locks_demo=not settings.demo)
        return cls(TokenStore(engine), people, settings.deals_service)

    def tally(self, throttle: str) -> Tally:
        """What the throttle of this name shares with those of other processes over the database."""
        return Tally(self.store.engine, throttle)

    def desk_tally(self, name: str) -> Tally | None:
        """As `tally`, for what desks alone count; None over SQLite, which has one desk."""
        return None if self.store.engine.dialect.name == "sqlite" else self.tally(name)

    def sign_in(
        self, username: str, password: str, address: str | None = None, device: str | None = None
    ) -> Person | None:
        """The person, if the password is theirs, else None. TooManyAttempts after repeated failures."""
        person = self.check(username, password, address, device)
        if person is not None:
            self.audit.note("signed in", person.username, person.username, "", address)
        return person

    def sign_in_with(self, company: Company, claims: Claims, address: str | None = None) -> Person | None:
        """As `Company.arrive`; who came, who was refused, and whose rights are others now is noted."""
        before = {person.username: person for person in self.people.everyone()}
        try:
            arrival = company.arrive(claims)
        except NotAdmitted as error:
            about = str(claims.get("email") or claims.get("sub"))[:100]
            detail = f"company account {about}: {error.reason}"
            self.audit.note("sign-in refused", UNKNOWN, UNKNOWN, detail, address)
            raise
        if arrival is None:
            return None
        name, earlier = arrival.username, before.get(arrival.username)
        if earlier is None:
            self.audit.note("person added", BY_RULE, name, _describe(arrival))
        elif _describe(earlier) != _describe(arrival):
            self.audit.note("person changed", BY_RULE, name, f"{_describe(earlier)} → {_describe(arrival)}")
        self.audit.note("signed in", name, name, "company account", address)
        return arrival

    def block(self, username: str, by: str, *, is_blocked: bool) -> Person:
        """Block somebody with a company account, whose sessions and tokens stop working, or undo that."""
        person = self.people.block(username, is_blocked=is_blocked)
        self.audit.note("person changed", by, person.username, "blocked" if is_blocked else "unblocked")
        return person

    def check(
        self, username: str, password: str, address: str | None = None, device: str | None = None
    ) -> Person | None:
        """As `People.check`; refused attempts are noted.

        A name that is not known is not written down: people type their passwords there.
        """
        person = self.people.get(username)
        about = person.username if person else UNKNOWN
        try:
            match = self.people.check(username, password, address, device)
        except TooManyAttempts:
            self.audit.note("sign-in refused", about, about, "too many attempts", address)
            raise
        if match is None:
            is_demo = person is not None and self.people.has_demo_password(person)
            why = "locked: it has the password of the demo" if is_demo else "wrong name or password"
            self.audit.note("sign-in refused", about, about, why, address)
        return match

    def caller(self, token: str, service: str) -> Caller:
        """The caller with this token for this service.

        AccessError, in the same words, for a token that is wrong, expired, revoked, for another service, or
        of an owner who is not there any more or is locked out.
        """
        claims, record = self.store.with_owner(token, service)
        owner = None if record is None else person_of(claims.owner, record)
        if owner is None or not owner.had_name(claims.created) or self.people.is_locked(owner, record):
            raise AccessError()
        return Caller(owner, claims)

    def issue(
        self,
        owner: str,
        service: str,
        name: str,
        lifetime: timedelta | None,
        grants: tuple[Grant, ...] = (),
        kind: Kind = "permanent",
        deals: DealsGrant | None = None,
        by: str | None = None,
        address: str | None = None,
    ) -> str:
        """A new token's text, granted at most what its owner has (nothing named: all of it).

        UnknownName without such a person; BadRequest naming what isn't theirs to grant, or isn't of this
        service: deals know no projects, and reports no seats. `by`: the owner, unless another is named.
        """
        person = self.people.require(owner)
        if person.blocked:
            raise BadRequest(f"'{person.username}' is blocked ({person.blocked}) and can't have tokens")
        if self.people.is_locked(person):
            raise BadRequest(DEMO_LOCK.format(person.username, person.username))
        self._check_deals(person, service, grants, deals)
        foreign = [grant.place for grant in grants if not person.may_see(grant.project, grant.slicer)]
        if foreign:
            raise BadRequest(
                f"'{person.username}' may not see {', '.join(foreign)}, so their token can't either; "
                f"they may see {labels(person.grants) or 'nothing yet'}"
            )
        text = self.store.issue(person.username, service, name, lifetime, grants, kind, deals)
        opens = str(deals or "") or labels(grants) or "all that its owner can see"
        detail = f"{kind}, {service}, '{name.strip()}', opens {opens}"
        self.audit.note("token made", by or person.username, person.username, detail, address)
        return text

    def revoke(self, token: Token, by: str) -> None:
        """Revoke a token, at once and permanently."""
        self.store.revoke(token.id)
        detail = f"{token.id}, {token.service}, '{token.name}'"
        self.audit.note("token revoked", by, token.owner, detail)

    def add(self, person: Person, password: str, by: str) -> None:
        """Add a person; BadRequest if the name is taken or the password can't be stored."""
        self.people.add(person, password)
        self.audit.note("person added", by, person.username, _describe(person))

    def change(
        self,
        username: str,
        by: str,
        role: Role | None = None,
        grants: Iterable[Grant] | None = None,
        deals: DealsGrant | None = None,
        email: str | None = None,
        shares: bool | None = None,
    ) -> Person:
        """Give a person this role, these grants and permissions, and this e-mail; what is None stays.

        All of it or nothing.

        Returns the person as they are now. UnknownName without such a person; BadRequest for what the role
        does not allow.
        """
        changes = (role, deals, None if grants is None else tuple(grants), email, shares)
        return self._change(username, by, lambda: self.people.change(username, *changes))

    def regrant(self, username: str, grants: Iterable[Grant], by: str, *, takes: bool = False) -> Person:
        """Grant more projects and slicers to a person, or take these away; returns them as they are now.

        UnknownName without such a person; BadRequest for a grant to take away that they do not hold.
        """
        change = self.people.revoke if takes else self.people.grant
        return self._change(username, by, lambda: change(username, grants))

    def _change(self, username: str, by: str, change: Callable[[], Person]) -> Person:
        before, after = self.people.require(username), change()
        if after != before:
            detail = f"{_describe(before)} → {_describe(after)}"
            self.audit.note("person changed", by, after.username, detail)
        return after

    def set_password(self, username: str, password: str, by: str, *, revokes_tokens: bool = True) -> int:
        """Give a person another password, which signs them out; returns how many tokens it revoked.

        Tokens go on to work without `revokes_tokens`: they know no password.
        """
        person = self.people.require(username)
        self.people.set_password(username, password)
        count = self.store.revoke_all(person.username) if revokes_tokens else 0
        outcome = "tokens kept" if not revokes_tokens else f"tokens revoked: {count}"
        self.audit.note("password changed", by, person.username, outcome)
        return count

    def remove(self, username: str, by: str = "") -> int:
        """Remove a person and revoke their tokens; returns how many. UnknownName without such a person."""
        person = self.people.require(username)
        self.people.remove(username)
        count = self.store.revoke_all(person.username)
        self.audit.note("person removed", by or person.username, person.username, f"tokens revoked: {count}")
        return count

    def _check_deals(
        self, person: Person, service: str, grants: tuple[Grant, ...], deals: DealsGrant | None
    ) -> None:
        if service != self._deals_service:
            if deals is not None:
                raise BadRequest("Only a token for the deals API can have a grant for deals")
            if not (person.grants or person.role == "admin"):
                raise BadRequest(f"'{person.username}' may see no slicer yet, so their token can't either")
            return
        if not person.deals.opens:
            lack = "has no access to deals, so their token would give access to none"
            raise BadRequest(f"'{person.username}' {lack}")
        if grants:
            advice = "narrow their token with a grant for deals"
            raise BadRequest(f"Deals belong to no project or slicer: {advice}")
        if deals is not None and (not deals.opens or deals.within(person.deals) != deals):
            raise BadRequest(
                f"'{person.username}' may {person.deals.words}, so their token can't {deals.words}"
                if deals.opens
                else "A token for the deals API needs sync, read, propose or write, not none"
            )


def _describe(person: Person) -> str:
    sees = "everything" if person.role == "admin" else labels(person.grants) or "nothing"
    shares = ", may share" if person.shares else ""
    mail = f", mail to {person.email}" if person.email else ""
    return f"{person.role}, sees {sees}, deals {person.deals}{shares}{mail}"
