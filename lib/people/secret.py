"""Secrets of an installation, the same for all desks over its database."""

import hashlib
import secrets as random

from sqlalchemy import Connection, Engine, insert, select

from lib.database import reading, transact
from lib.people.tables import secrets
from lib.wire.deadline import Deadline

SECONDS = 10


def secret(engine: Engine, name: str) -> str:
    """The secret of that name: 43 characters from 32 random bytes, made on first use.

    Processes that ask for it at the same time get the same one. StoreUnavailable without the database.
    """
    query = select(secrets.c.value).where(secrets.c.name == name)

    def read(connection: Connection) -> str | None:
        stored_value: str | None = connection.execute(query).scalar_one_or_none()
        return stored_value

    def create(connection: Connection) -> str:
        if stored_value := read(connection):
            return stored_value
        value = random.token_urlsafe(32)
        connection.execute(insert(secrets).values(name=name, value=value))
        return value

    return reading(engine, read, Deadline(SECONDS)) or transact(engine, create, Deadline(SECONDS))


def public_name(prefix: str, value: str) -> str:
    """A name of its own for each installation: the prefix, and eight characters that tell nothing of it."""
    return f"{prefix}-{hashlib.sha256(f'name of {value}'.encode()).hexdigest()[:8]}"
