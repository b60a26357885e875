"""The people of a data directory, for tests that prepare or change them."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import bcrypt
from sqlalchemy import insert

from lib import database
from lib.people import People, Person
from lib.people.cookies import SignIn
from lib.people.person import record_of
from lib.people.tables import people as table
from lib.serving import connect

ENDS = 4_000_000_000.0
bcrypt.gensalt = partial(bcrypt.gensalt, 4)  # a cheap hash: the usual one takes a fifth of a second


def people_in(home: Path, url: str = "", **options: Any) -> People:
    """The people of this data directory, or of the database of this URL, as whoever opens it sees them."""
    engine = database.engine(url or f"sqlite:///{home}/tranche.db")
    database.migrate(engine)
    return People(engine, **options)


def add_people(url: str, people: Iterable[Person], password: str) -> None:
    """Add people with this password to the database of this URL."""
    engine = database.engine(url)
    database.migrate(engine)
    hashed = bcrypt.hashpw(password.encode(), bcrypt.gensalt()).decode()
    rows = [
        {"username": person.username, "record": record_of(person) | {"password": hashed}} for person in people
    ]
    with database.writing(engine).begin() as connection:
        connection.execute(insert(table), rows)
    engine.dispose()


def signed_in(installation: connect.Installation, name: str) -> dict[str, str]:
    """The headers of a browser in which this person is signed in."""
    installation.sessions.begin(name, ENDS)
    cookies = installation.cookies
    return {"Cookie": f"{cookies.session_name}={cookies.session_value(SignIn(name, ENDS))}"}
