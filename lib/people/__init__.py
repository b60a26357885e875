"""Who may sign in, and what they may see: the credentials file."""

from lib.people.attempts import Attempts
from lib.people.credentials import People
from lib.people.person import ROLES, SHORTEST_PASSWORD, Grant, Person, Role

__all__ = ["ROLES", "SHORTEST_PASSWORD", "Attempts", "Grant", "People", "Person", "Role"]
