"""The company sign-in: people whose name and password are at an OpenID Connect provider.

An account is its issuer and subject (OpenID Connect Core 1.0, section 5.7), never its name or e-mail: these
may be changed there, and given to somebody else. So no claim makes an account a person who has a password
here, or the person of another account, whatever name it has. Rules say which claims of an account give which
role, grants and deals.
"""

import hashlib
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Self

from sqlalchemy import Connection, delete, insert, select, update

from lib.database import DatabaseScope
from lib.people.credentials import People
from lib.people.person import (
    BLOCK_KEY,
    BY_AN_ADMIN,
    COMPANY,
    LONGEST_NAME,
    NO_RULE,
    READERS,
    DealsGrant,
    Grant,
    Person,
    Record,
    Role,
    Username,
    block,
    cap_grant,
    email_fault,
    key,
    name_fault,
    person_of,
    record_of,
)
from lib.people.tables import id_tokens, people
from lib.wire.errors import BadRequest, NotAdmitted

Claims = Mapping[str, Any]
"""What an ID token says of an account (OpenID Connect Core 1.0, section 2)."""
LEEWAY = 120.0
FOREIGN = "Your company sign-in came from another provider than this desk's. Sign in again."
FOR_ANOTHER = "Your company sign-in was for another application than this desk. Sign in again."
NO_ACCESS = (
    "You signed in at your company, but no rule of this desk gives your account access. Ask an administrator."
)
NAMELESS = "Your company account has no {}, which this desk needs as a name. Ask an administrator."
NAMESAKE = "There is another person called '{}' here already. Ask an administrator to remove one of the two."


@dataclass(frozen=True, slots=True)
class Rights:
    """A role, grants, and the permissions for deals and for share links."""

    role: Role
    grants: tuple[Grant, ...]
    deals: DealsGrant
    shares: bool = False


@dataclass(frozen=True, slots=True)
class ClaimRule:
    """Whoever has this value in this claim has these rights."""

    claim: str
    value: str
    rights: Rights

    @classmethod
    def parse(
        cls, claim: str, value: str, role: Role, grants: Iterable[str], deals: str, shares: bool = False
    ) -> Self:
        """The rule with these grants as text; BadRequest for a grant that is none, or beyond the role."""
        may = DealsGrant.parse(deals)
        if may != may.within(READERS.get(role)):
            raise BadRequest(f"a {role} can't change deals: grant read or propose, or make the role manager")
        return cls(claim, value, Rights(role, tuple(map(Grant.parse, grants)), may, shares))

    def matches(self, claims: Claims) -> bool:
        """Whether the claim has exactly this value, or a list with it."""
        claim = found_in(claims, self.claim)
        values = claim if isinstance(claim, list | tuple) else [claim]
        texts = [(value, str(value)) for value in values if value is not None]
        return self.value in [text.lower() if isinstance(value, bool) else text for value, text in texts]


def rights(rules: Iterable[ClaimRule], claims: Claims) -> Rights | None:
    """The rights of these claims; None if no rule matches.

    The role and permissions are those of the first rule that matches; the grants, those of all that match.
    """
    matching = [rule.rights for rule in rules if rule.matches(claims)]
    if not matching:
        return None
    grants = dict.fromkeys(grant for rights in matching for grant in rights.grants)
    return replace(matching[0], grants=tuple(grants))


def found_in(claims: Claims, name: str) -> Any:
    """The claim of that name, or at that path through nested ones: `realm_access.roles`; None without it."""
    if name in claims:
        return claims[name]
    value: Any = claims
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


class Company:
    """The accounts of one provider, in the database of the people.

    Its ID tokens are for us if their only audience is `client_id`. `rules` are tried at each sign-in;
    `name_claim` gives a new person's user name. A session lasts `hours`.
    """

    def __init__(
        self,
        people: People,
        issuer: str,
        client_id: str,
        rules: Iterable[ClaimRule],
        name_claim: str = "email",
        hours: float = 12,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`clock` gives seconds since 1970."""
        self._scope, self._clock = DatabaseScope(people.engine), clock
        self.issuer, self._client_id = issuer, client_id
        self._rules, self._name_claim = tuple(rules), name_claim
        self._seconds = hours * 3600

    def arrive(self, claims: Claims) -> Person | None:
        """The person of the account with these claims, with the rights that its claims give now.

        A new account becomes a new person. None if its ID token has begun a session before: each begins one.
        NotAdmitted says why it may not sign in; a known person whose claims match no rule any more is locked
        out, with their tokens. StoreUnavailable without the database.
        """
        own_claims = verified_claims(claims)
        if str(own_claims.get("iss", "")).rstrip("/") != self.issuer.rstrip("/"):
            raise NotAdmitted(FOREIGN)
        if not _is_text(own_claims.get("sub")) or not _is_text(own_claims.get("nonce")):
            raise NotAdmitted(FOREIGN)
        if not is_for(self._client_id, own_claims):
            raise NotAdmitted(FOR_ANOTHER)
        account_rights = rights(self._rules, own_claims)
        with self._scope.write() as connection:
            query = select(id_tokens.c.digest).where(id_tokens.c.digest == _digest(own_claims))
            if connection.execute(query).one_or_none() is not None:
                return None
            if self._ends(own_claims) <= self._clock():
                raise NotAdmitted("Your company sign-in has expired. Sign in again.")
            outcome = self._let_in(connection, own_claims, account_rights)
        # raised once it is committed: who is refused for lack of a rule is blocked as well
        if isinstance(outcome, str):
            raise NotAdmitted(outcome)
        return outcome

    def _ends(self, claims: Claims) -> float:
        """When the ID token expires, with the leeway for clocks that differ; 0 if it does not say."""
        ends = claims.get("exp")
        return float(ends) + LEEWAY if isinstance(ends, int | float) and not isinstance(ends, bool) else 0.0

    def _let_in(self, connection: Connection, claims: Claims, rights: Rights | None) -> Person | str:
        username, record = _find(connection, claims)
        if rights is None:
            if record and record.get(BLOCK_KEY) != BY_AN_ADMIN:
                block(record, NO_RULE)
                _write(connection, username, record)
            return NO_ACCESS
        if record is None:
            claim = found_in(claims, self._name_claim)
            username = re.sub(r"[^a-z0-9._@+-]", "-", key(str(claim or "")))[:LONGEST_NAME]
            if not Username.fullmatch(username):
                return NAMELESS.format(self._name_claim)
            if connection.execute(select(people).where(people.c.username == username)).one_or_none():
                return NAMESAKE.format(username)
            connection.execute(insert(people).values(username=username, record={}))
        elif record.get(BLOCK_KEY) == BY_AN_ADMIN:
            return "Your company account is blocked here. Ask an administrator."
        # The person as the claims describe them; without a name that can be shown, their user name.
        name, email = str(claims.get("name") or "").strip(), str(claims.get("email") or "")
        before = None if record is None else person_of(username, record)
        person = Person(
            username, name if name and not name_fault(name) else username,
            email if email and not email_fault(email) else None, rights.role, rights.grants,
            before.added if before else datetime.now(UTC), cap_grant(rights.role, rights.deals),
            shares=rights.shares,
        )  # fmt: skip
        account = {"issuer": claims["iss"], "subject": str(claims["sub"])}
        fields = {name: value for name, value in (record or {}).items() if name != BLOCK_KEY}
        _write(connection, username, fields | record_of(person) | {COMPANY: account})
        # Note that the ID token has begun a session, for as long as a browser may bring it.
        ends = max(self._ends(claims), self._clock() + self._seconds)
        connection.execute(delete(id_tokens).where(id_tokens.c.ends <= self._clock()))
        connection.execute(insert(id_tokens).values(digest=_digest(claims), ends=ends))
        return person_of(username, _find(connection, claims)[1] or {})


def verified_claims(claims: Claims) -> dict[str, Any]:
    """The claims without an e-mail address of which `email_verified` says anything but JSON's true."""
    is_verified = claims.get("email_verified", True) is True
    return {name: value for name, value in claims.items() if name != "email" or is_verified}


def is_for(client_id: str, claims: Claims) -> bool:
    """Whether an ID token is for this client alone (OpenID Connect Core 1.0, 3.1.3.7, rules 3 to 5).

    A token for others too must not be taken, unless they are trusted; we trust none.
    """
    return claims.get("aud") in (client_id, [client_id]) and claims.get("azp", client_id) == client_id


def _find(connection: Connection, claims: Claims) -> tuple[str, Record | None]:
    """The user name and record of this account's person; an empty name and None without one."""
    account = (claims["iss"], str(claims["sub"]))
    for row in connection.execute(select(people)):
        link = row.record.get(COMPANY) or {}
        if (link.get("issuer"), link.get("subject")) == account:
            return row.username, row.record
    return "", None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _digest(claims: Claims) -> str:
    return hashlib.sha256(f"{claims['iss']} {claims['nonce']}".encode()).hexdigest()


def _write(connection: Connection, username: str, record: Record) -> None:
    connection.execute(update(people).where(people.c.username == username).values(record=record))
