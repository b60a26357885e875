"""The permission for deals: none, sync, read or write, for all seats or for some."""

import re
from dataclasses import dataclass
from typing import Literal, Self, get_args

from lib.wire.errors import BadRequest

DealsAccess = Literal["none", "sync", "read", "write"]
LEVELS: tuple[DealsAccess, ...] = get_args(DealsAccess)
LARGEST_SEAT = 2**53 - 1
HOW = "write none, read or write, and for some seats their ids: read:3,7; for a DSP's seats: sync:3,7"


@dataclass(frozen=True, slots=True)
class DealsGrant:
    """`none`, `read` or `write`, for the deals of all seats (`seats` is None) or of the seats of these ids.

    As text `write`, or `read:3,7`. `sync:3,7` is for a DSP: it fetches the documents of its seats' deals and
    reports their status, and sees nothing else. It names its seats: a DSP sees no other's deals.
    """

    access: DealsAccess = "none"
    seats: frozenset[int] | None = None

    def __post_init__(self) -> None:
        if self.access not in LEVELS:
            raise BadRequest(f"'{self.access}' is not a grant for deals: {HOW}")
        if self.access == "none" or self.seats == frozenset():
            object.__setattr__(self, "access", "none")
            object.__setattr__(self, "seats", None)
        if self.access == "sync" and self.seats is None:
            raise BadRequest(f"'{self.access}' is not a grant for deals: {HOW}")
        if any(not 0 < seat <= LARGEST_SEAT for seat in self.seats or ()):
            raise BadRequest(f"The id of a seat is a whole number from 1: {HOW}")

    @classmethod
    def parse(cls, text: str) -> Self:
        """The grant that a text like `write` or `read:3,7` means; BadRequest for another text."""
        match = re.fullmatch(r"(none|(?:sync|read|write)(?::([0-9]{1,16}(?:,[0-9]{1,16})*))?)", text.strip())
        if match is None:
            raise BadRequest(f"'{text}' is not a grant for deals: {HOW}")
        access: DealsAccess = text.strip().partition(":")[0]  # type: ignore[assignment]
        return cls(access, None if match[2] is None else frozenset(map(int, match[2].split(","))))

    def __str__(self) -> str:
        if self.seats is None:
            return self.access
        return f"{self.access}:{','.join(map(str, sorted(self.seats)))}"

    @property
    def words(self) -> str:
        """The permission in words that follow "may" in a sentence."""
        if not self.opens:
            return "see no deals"
        verb = {"sync": "fetch by deal sync", "read": "see", "write": "change"}[self.access]
        if self.seats is None:
            return f"{verb} all deals"
        ids = ", ".join(map(str, sorted(self.seats)))
        return f"{verb} the deals of the seat{'' if len(self.seats) == 1 else 's'} {ids}"

    @property
    def opens(self) -> bool:
        """Whether it allows anything at all."""
        return self.access != "none"

    @property
    def syncs(self) -> bool:
        """Whether it is a DSP's: for deal sync, and nothing else."""
        return self.access == "sync"

    @property
    def reads(self) -> bool:
        """Whether any deals may be seen."""
        return self.access in ("read", "write")

    @property
    def writes(self) -> bool:
        """Whether any deals may be changed."""
        return self.access == "write"

    def within(self, other: "DealsGrant | None") -> "DealsGrant":
        """The intersection of both; None allows everything."""
        if other is None:
            return self
        access = min(self.access, other.access, key=LEVELS.index)
        if self.seats is None or other.seats is None:
            return DealsGrant(access, other.seats if self.seats is None else self.seats)
        return DealsGrant(access, self.seats & other.seats)


NO_DEALS, ALL_DEALS = DealsGrant("none"), DealsGrant("write")
