"""The credentials file: YAML in the shape that streamlit-authenticator takes, with our grants beside it.

    format: 2
    usernames:
      ada: {name: Ada Example, email: null, roles: [manager], grants: [demo], deals: write, password: $2b$…}

Fields that we don't know are kept. Names are stored in lower case, as streamlit-authenticator looks them up.
"""

import copy
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import bcrypt

from lib import private
from lib.people import demo
from lib.people.attempts import Attempts
from lib.people.deals_grant import DealsGrant
from lib.people.person import LONGEST_NAME, ROLES, Grant, Person, Role, capped, email_fault, name_fault, usual
from lib.people.records import (
    Records,
    content_of,
    hash_of,
    is_current,
    key,
    parsed,
    person_of,
    record_of,
    text_of,
)
from lib.wire.errors import BadRequest, UnknownName

BCRYPT_BYTES = 72


class People:
    """The people in the credentials file: read again after changes, written atomically under a lock."""

    def __init__(
        self, path: Path, rounds: int = 12, attempts: Attempts | None = None, *, locks_demo: bool = False
    ) -> None:
        """`rounds` is bcrypt's cost: 12 takes a fifth of a second, each more doubles it.

        `locks_demo`: whoever has the password of the demo is locked out.
        """
        self._path = path
        self._rounds = rounds
        self._attempts = attempts or Attempts()
        self._locks_demo = locks_demo
        self._with_demo_password: dict[str, bool] = {}
        self._lock = threading.Lock()
        self._read: tuple[tuple[int, int, int] | None, Records] = (None, {})

    def get(self, username: str) -> Person | None:
        """The person of that name, ignoring case, or None."""
        name = key(username)
        record = self._records().get(name)
        return None if record is None else person_of(name, record)

    def known(self, username: str) -> Person:
        """The person of that name; UnknownName, with a suggestion, if there is none."""
        person = self.get(username)
        if person is None:
            raise UnknownName("person", key(username), self._records())
        return person

    def is_locked(self, person: Person) -> bool:
        """Whether a person has the demo password outside demo mode, where it does not work.

        The first look at a demo person's password takes as long as a sign-in.
        """
        if not self._locks_demo or person.username not in demo.NAMES:
            return False
        hashed = hash_of(self._records().get(person.username, {}))
        if hashed is None:
            return False
        if hashed not in self._with_demo_password:
            self._with_demo_password = {
                **self._with_demo_password,
                hashed: bcrypt.checkpw(demo.PASSWORD.encode(), hashed.encode()),
            }
        return self._with_demo_password[hashed]

    def locked(self) -> list[str]:
        """The user names of all people who are locked out."""
        return [person.username for person in self.everyone() if self.is_locked(person)]

    def everyone(self) -> list[Person]:
        """All people, by username."""
        return [person_of(name, record) for name, record in sorted(self._records().items())]

    def add(self, person: Person, password: str) -> None:
        """Add a person; BadRequest if the name is taken, or name, e-mail or password can't be stored."""
        _check(person)
        hashed = self._hashed(password)

        def added(records: Records) -> None:
            if person.username in records:
                raise BadRequest(f"There is a person '{person.username}' already")
            records[person.username] = record_of(person) | {"password": hashed}

        self._change(added)

    def remove(self, username: str) -> None:
        """Remove a person; UnknownName if there is none."""
        self._change(lambda records: records.pop(_known(username, records)))

    def grant(self, username: str, grants: Iterable[Grant]) -> Person:
        """Add grants to a person; returns the changed person."""
        more = tuple(grants)
        return self._regrant(username, lambda held: [*held, *(grant for grant in more if grant not in held)])

    def revoke(self, username: str, grants: Iterable[Grant]) -> Person:
        """Revoke grants; BadRequest for one that the person does not have in exactly this form."""
        less = tuple(grants)

        def without(held: list[Grant]) -> list[Grant]:
            for grant in less:
                if grant not in held:
                    holds = ", ".join(map(str, held)) or "nothing"
                    raise BadRequest(f"'{key(username)}' does not hold the grant '{grant}', but {holds}")
            return [grant for grant in held if grant not in less]

        return self._regrant(username, without)

    def set_role(self, username: str, role: Role) -> Person:
        """Change a person's role; returns the changed person. UnknownName: no such person or role.

        Who could do with deals what is usual for the old role can do what is usual for the new one; anything
        else that was granted stays, as far as the new role allows.
        """
        return self.change(username, role)

    def grant_deals(self, username: str, deals: DealsGrant) -> Person:
        """Set a person's permission for deals; returns the changed person.

        BadRequest for what their role does not allow; UnknownName without such a person.
        """
        return self.change(username, deals=deals)

    def change(
        self,
        username: str,
        role: Role | None = None,
        deals: DealsGrant | None = None,
        grants: tuple[Grant, ...] | None = None,
    ) -> Person:
        """`set_role`, `grant_deals` and these grants in place of others, all or nothing; None stays."""
        if role not in (None, *ROLES):
            raise UnknownName("role", str(role), ROLES)

        def changed(records: Records) -> None:
            name = _known(username, records)
            before = person_of(name, records[name])
            is_usual = before.deals == usual(before.role)
            now = role or before.role
            wanted = deals or (usual(now) if is_usual else capped(now, before.deals))
            after = replace(before, role=now, deals=wanted)
            records[name].update(roles=[after.role], deals=str(after.deals))
            if grants is not None:
                records[name]["grants"] = [str(grant) for grant in grants]

        records = self._change(changed)
        return person_of(key(username), records[key(username)])

    def migrate(self) -> None:
        """Upgrade a file without permissions for deals: write those that its people had."""
        if private.mark(self._path) is not None and not is_current(content_of(self._path)):
            self._change(lambda records: None)

    def set_password(self, username: str, password: str) -> None:
        """Give a person another password; UnknownName without such a person."""
        hashed = self._hashed(password)
        self._change(lambda records: records[_known(username, records)].update(password=hashed))

    def check(self, username: str, password: str, address: str | None = None) -> Person | None:
        """The person, if the password is theirs, else None; as fast for a name that is not known.

        `address` is where the attempt comes from. TooManyAttempts after repeated failures (see Attempts).
        A name that is longer than anybody's is refused at once, and not remembered.
        """
        if len(username) > LONGEST_NAME:
            return None
        name = key(username)
        self._attempts.begin(name, address)
        record = self._records().get(name, {})
        hashed = hash_of(record) or f"{bcrypt.gensalt(self._rounds).decode()}{'.' * 31}"
        given = password.encode("utf-8", "surrogatepass")
        right = bcrypt.checkpw(given[:BCRYPT_BYTES], hashed.encode()) and len(given) <= BCRYPT_BYTES
        if not right or not record or (self._locks_demo and password == demo.PASSWORD):
            return None
        self._attempts.succeeded(name, address)
        return person_of(name, record)

    def credentials(self) -> dict[str, Any]:
        """A fresh dict as streamlit-authenticator takes it, of those who have a hashed password."""
        records = self._records()
        return {
            "usernames": {name: copy.deepcopy(record) for name, record in records.items() if hash_of(record)}
        }

    def _hashed(self, password: str) -> str:
        if not password or len(password.encode()) > BCRYPT_BYTES:
            raise BadRequest(f"A password has 1 to {BCRYPT_BYTES} bytes (bcrypt reads no more)")
        return bcrypt.hashpw(password.encode(), bcrypt.gensalt(self._rounds)).decode()

    def _regrant(self, username: str, change: Callable[[list[Grant]], list[Grant]]) -> Person:
        def changed(records: Records) -> None:
            name = _known(username, records)
            held = list(person_of(name, records[name]).grants)
            records[name]["grants"] = [str(grant) for grant in change(held)]

        records = self._change(changed)
        return person_of(key(username), records[key(username)])

    def _change(self, change: Callable[[Records], object]) -> Records:
        """Read, change and write the file under its lock; returns the records as written."""
        with private.locked(self._path):
            records = copy.deepcopy(self._records())
            change(records)
            private.write(self._path, text_of(records))
        return records

    def _records(self) -> Records:
        """The file's records, read again if the file has changed. Do not modify them."""
        with self._lock:
            mark = private.mark(self._path)
            if mark != self._read[0]:
                self._read = (mark, {} if mark is None else parsed(self._path))
            return self._read[1]


def _check(person: Person) -> None:
    for what, value, fault in (
        ("name", person.name, name_fault(person.name)),
        ("e-mail", person.email, email_fault(person.email or "")),
    ):
        if fault:
            raise BadRequest(f"The {what} {value!r} can't be stored: {fault[0].lower()}{fault[1:-1]}")


def _known(username: str, records: Records) -> str:
    name = key(username)
    if name not in records:
        raise UnknownName("person", name, records)
    return name
