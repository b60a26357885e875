"""Who may sign in, and what they may see: the credentials file."""

from lib.people.attempts import Attempts
from lib.people.credentials import People
from lib.people.person import ROLES, Grant, Person, Role

__all__ = ["ROLES", "Attempts", "Grant", "People", "Person", "Role"]
