"""The people of a data directory, for tests that prepare or change them; and the file of earlier versions."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import bcrypt
import yaml

from lib import database
from lib.people import People, Person
from lib.people.cookies import SignIn
from lib.people.people_file import FORMAT, carry_over
from lib.people.person import record_of
from lib.serving import connect

ENDS = 4_000_000_000.0
bcrypt.gensalt = partial(bcrypt.gensalt, 4)  # a cheap hash: the usual one takes a fifth of a second


def people_in(home: Path, url: str = "", **options: Any) -> People:
    """The people of this data directory, or of the database of this URL, as whoever opens it sees them."""
    engine = database.engine(url or f"sqlite:///{home}/tranche.db")
    database.migrate(engine)
    carry_over(engine, home / "people.yaml")
    return People(engine, **options)


def write_people(path: Path, people: Iterable[Person], password: str) -> None:
    """Write the file in which earlier versions kept people; whoever opens its home carries them over."""
    path.parent.mkdir(parents=True, exist_ok=True)
    hashed = bcrypt.hashpw(password.encode(), bcrypt.gensalt()).decode()
    records = {person.username: record_of(person) | {"password": hashed} for person in people}
    path.write_text(yaml.safe_dump({"format": FORMAT, "usernames": records}, sort_keys=False))


def signed_in(installation: connect.Installation, name: str) -> dict[str, str]:
    """The headers of a browser in which this person is signed in."""
    installation.sessions.begin(name, ENDS)
    cookies = installation.cookies
    return {"Cookie": f"{cookies.session_name}={cookies.session_value(SignIn(name, ENDS))}"}
