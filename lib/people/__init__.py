"""Who may sign in, and what they may see."""

from lib.people.attempts import Attempts
from lib.people.credentials import People
from lib.people.person import (
    ALL_DEALS,
    NO_DEALS,
    READERS,
    ROLES,
    DealsAccess,
    DealsGrant,
    Grant,
    Person,
    Role,
    cap_grant,
)

__all__ = [
    "ALL_DEALS", "NO_DEALS", "READERS", "ROLES", "Attempts", "DealsAccess", "DealsGrant", "Grant", "People",
    "Person", "Role", "cap_grant",
]  # fmt: skip
