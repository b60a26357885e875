"""The rules of a company sign-in: which claims of an account give which role, grants and deals."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from lib.people.deals_grant import DealsGrant
from lib.people.person import READERS, Grant, Role
from lib.wire.errors import BadRequest

Claims = Mapping[str, Any]
"""What an ID token says of an account (OpenID Connect Core 1.0, section 2)."""


@dataclass(frozen=True, slots=True)
class Rights:
    """A role, grants, and the permission for deals."""

    role: Role
    grants: tuple[Grant, ...]
    deals: DealsGrant


@dataclass(frozen=True, slots=True)
class ClaimRule:
    """Whoever has this value in this claim has these rights."""

    claim: str
    value: str
    rights: Rights

    @classmethod
    def parse(cls, claim: str, value: str, role: Role, grants: Iterable[str], deals: str) -> Self:
        """The rule with these grants as text; BadRequest for a grant that is none, or beyond the role."""
        may = DealsGrant.parse(deals)
        if may != may.within(READERS.get(role)):
            raise BadRequest(f"a {role} can't change deals: grant read, or make the role manager")
        return cls(claim, value, Rights(role, tuple(map(Grant.parse, grants)), may))

    def matches(self, claims: Claims) -> bool:
        """Whether the claim has exactly this value, or a list with it."""
        found = found_in(claims, self.claim)
        values = found if isinstance(found, list | tuple) else [found]
        return self.value in [_text(value) for value in values if value is not None]


def rights(rules: Iterable[ClaimRule], claims: Claims) -> Rights | None:
    """The rights of these claims; None if no rule matches.

    The role and deals are those of the first rule that matches; the grants, those of all that match.
    """
    matching = [rule.rights for rule in rules if rule.matches(claims)]
    if not matching:
        return None
    grants = dict.fromkeys(grant for one in matching for grant in one.grants)
    return Rights(matching[0].role, tuple(grants), matching[0].deals)


def found_in(claims: Claims, name: str) -> Any:
    """The claim of that name, or at that path through nested ones: `realm_access.roles`; None without it."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
