"""The credentials file: YAML in the shape that streamlit-authenticator takes, with our grants beside it.

    usernames:
      ada: {name: Ada Example, email: null, roles: [manager], grants: [demo], password: $2b$12$…, added: …}

Fields that we don't know are kept. Names are stored in lower case, as streamlit-authenticator looks them up.
"""

import copy
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import bcrypt
import yaml

from lib import private
from lib.people.attempts import Attempts
from lib.people.person import ROLES, Grant, Person, Role
from lib.people.records import Records, hash_of, key, parsed, person_of, record_of
from lib.wire.errors import BadRequest, UnknownName

BCRYPT_BYTES = 72


class People:
    """Everybody in the credentials file: read again when it has changed, written whole, under a lock."""

    def __init__(self, path: Path, rounds: int = 12, attempts: Attempts | None = None) -> None:
        """`rounds` is bcrypt's cost: 12 takes a fifth of a second, each more doubles it."""
        self._path = path
        self._rounds = rounds
        self._attempts = attempts or Attempts()
        self._lock = threading.Lock()
        self._read: tuple[tuple[int, int, int] | None, Records] = (None, {})

    def get(self, username: str) -> Person | None:
        """The person of that name, however it is capitalised; None without one."""
        name = key(username)
        record = self._records().get(name)
        return None if record is None else person_of(name, record)

    def everyone(self) -> list[Person]:
        """All people, by username."""
        return [person_of(name, record) for name, record in sorted(self._records().items())]

    def add(self, person: Person, password: str) -> None:
        """Add a person; BadRequest if the name is taken or the password can't be stored."""
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
        """Grant more to a person; returns them as they are now."""
        more = tuple(grants)
        return self._regrant(username, lambda held: [*held, *(grant for grant in more if grant not in held)])

    def revoke(self, username: str, grants: Iterable[Grant]) -> Person:
        """Take grants away; BadRequest for one that the person does not hold in just these words."""
        less = tuple(grants)

        def without(held: list[Grant]) -> list[Grant]:
            for grant in less:
                if grant not in held:
                    holds = ", ".join(map(str, held)) or "nothing"
                    raise BadRequest(f"'{key(username)}' does not hold the grant '{grant}', but {holds}")
            return [grant for grant in held if grant not in less]

        return self._regrant(username, without)

    def set_role(self, username: str, role: Role) -> Person:
        """Give a person another role; returns them as they are now. UnknownName: no such person, role."""
        if role not in ROLES:
            raise UnknownName("role", role, ROLES)
        records = self._change(lambda records: records[_known(username, records)].update(roles=[role]))
        return person_of(key(username), records[key(username)])

    def set_password(self, username: str, password: str) -> None:
        """Give a person another password; UnknownName without such a person."""
        hashed = self._hashed(password)
        self._change(lambda records: records[_known(username, records)].update(password=hashed))

    def check(self, username: str, password: str, address: str | None = None) -> Person | None:
        """The person, if the password is theirs, else None; as fast for a name that is not known.

        `address` is where the attempt comes from. TooManyAttempts after repeated failures (see Attempts).
        """
        name = key(username)
        self._attempts.begin(name, address)
        record = self._records().get(name, {})
        hashed = hash_of(record) or f"{bcrypt.gensalt(self._rounds).decode()}{'.' * 31}"
        given = password.encode("utf-8", "surrogatepass")
        right = bcrypt.checkpw(given[:BCRYPT_BYTES], hashed.encode()) and len(given) <= BCRYPT_BYTES
        if not right or not record:
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
        """Read, change and write in one piece, whoever else is at it; returns the records as written."""
        with private.locked(self._path):
            records = copy.deepcopy(self._records())
            change(records)
            text = yaml.safe_dump({"usernames": records}, sort_keys=False, allow_unicode=True)
            private.write(self._path, text)
        return records

    def _records(self) -> Records:
        """The file's records, read again if it is another file than the last time. Not to be changed."""
        with self._lock:
            mark = _mark(self._path)
            if mark != self._read[0]:
                self._read = (mark, {} if mark is None else parsed(self._path))
            return self._read[1]


def _known(username: str, records: Records) -> str:
    name = key(username)
    if name not in records:
        raise UnknownName("person", name, records)
    return name


def _mark(path: Path) -> tuple[int, int, int] | None:
    """What changes with the file; None without one."""
    try:
        state = path.stat()
    except FileNotFoundError:
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino
