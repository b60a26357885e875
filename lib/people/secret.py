"""Secrets of an installation, the same for all desks over its database."""

import hashlib
import secrets as random

from sqlalchemy import Engine, insert, select

from lib.database import DatabaseScope
from lib.people.tables import secrets


def secret(engine: Engine, name: str) -> str:
    """The secret of that name: 43 characters from 32 random bytes, made on first use.

    Processes that ask for it at the same time get the same one. StoreUnavailable without the database.
    """
    query, scope = select(secrets.c.value).where(secrets.c.name == name), DatabaseScope(engine)
    if row := scope.row(query):
        return str(row.value)
    with scope.write() as connection:
        if row := connection.execute(query).one_or_none():  # another process was first
            return str(row.value)
        value = random.token_urlsafe(32)
        connection.execute(insert(secrets).values(name=name, value=value))
        return value


def public_name(value: str) -> str:
    """A name of its own for each installation: eight characters of it tell nothing of this secret."""
    return f"tranche-{hashlib.sha256(f'name of {value}'.encode()).hexdigest()[:8]}"
