"""The models: a stored token, and the caller with a token."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from lib.people import DealsGrant, Grant, Person
from lib.people.person import row_filters
from lib.wire.filters import Filter

Kind = Literal["permanent", "temporary"]


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
