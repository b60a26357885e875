"""Sign-ins to the desk.

The cookie that a browser keeps is signed, and can't be taken back: it outlives a sign-out and a changed
password. So it opens nothing by itself: each sign-in is noted in the database, and struck off when it ends.
"""

import hashlib
import hmac
import time
from collections.abc import Callable

from sqlalchemy import ColumnElement, delete, func, insert, select

from lib.database import DatabaseScope
from lib.people.credentials import People
from lib.people.person import END_KEY, Person, Record, key, person_of
from lib.people.tables import id_tokens, people, sign_ins


class Sessions:
    """The sign-ins of an installation, the same at all desks over its database.

    A sign-in is its person's name and its end (seconds since 1970), which the cookie tells, and a proof: a
    digest of what their password was then, and of when they were last blocked. StoreUnavailable without the
    database.
    """

    def __init__(self, people: People, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives seconds since 1970."""
        self._people, self._clock, self._scope = people, clock, DatabaseScope(people.engine)

    def begin(self, username: str, ends: float) -> None:
        """Note that this person signed in, and forget the sign-ins that are over."""
        row = {"username": username, "ends": ends, "proof": _proof(self._people.record(username) or {})}
        others = (sign_ins.c.ends <= self._clock()) | _of(username, ends)
        self._scope.execute(delete(sign_ins).where(others), insert(sign_ins).values(row))

    def end(self, username: str, ends: float) -> None:
        """End the sign-in in every tab that shares its cookie, at every desk."""
        self._scope.execute(delete(sign_ins).where(_of(username, ends)))

    def use_once(self, digest: str, until: float) -> bool:
        """Whether what has this digest is used for the first time, at any desk; remembered until then."""
        with self._scope.write() as connection:
            connection.execute(delete(id_tokens).where(id_tokens.c.ends <= self._clock()))
            same = select(id_tokens.c.digest).where(id_tokens.c.digest == digest)
            if connection.execute(same).one_or_none() is not None:
                return False
            connection.execute(insert(id_tokens).values(digest=digest, ends=until))
            return True

    def count(self) -> int:
        """How many sign-ins are not over."""
        valid = select(func.count()).select_from(sign_ins).where(sign_ins.c.ends > self._clock())
        return self._scope.read(lambda connection: connection.execute(valid).scalar_one())

    def person(self, username: str, ends: float) -> Person | None:
        """The person with their current role and grants, if this sign-in is valid.

        It is noted, not over, with the same password, and the person is not locked out.
        """
        if ends <= self._clock():
            return None
        name = key(username)
        tables = sign_ins.join(people, people.c.username == name)
        both = select(sign_ins.c.proof, people.c.record).select_from(tables).where(_of(username, ends))
        row = self._scope.row(both)
        if row is None or not hmac.compare_digest(row.proof, _proof(row.record)):
            return None
        person = person_of(name, row.record)
        return None if self._people.is_locked(person, row.record) else person


def _proof(record: Record) -> str:
    text = f"{record.get('added')} {record.get('password')}"
    text = f"{text} {record[END_KEY]}" if END_KEY in record else text
    return hashlib.sha256(text.encode()).hexdigest()


def _of(username: str, ends: float) -> ColumnElement[bool]:
    return (sign_ins.c.username == username) & (sign_ins.c.ends == ends)
