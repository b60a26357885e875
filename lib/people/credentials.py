"""The people of an installation: rows of the database, with the fields that streamlit-authenticator knows.

    ada → {name: Ada Example, email: null, roles: [manager], grants: [demo], deals: write, password: $2b$…}

Fields that we don't know are kept. Names are stored in lower case, as streamlit-authenticator looks them up.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime

import bcrypt
from sqlalchemy import ColumnElement, Connection, Engine, delete, insert, select, update

from lib.database import DatabaseScope
from lib.people.attempts import Attempts
from lib.people.passwords import BCRYPT_BYTES, digest
from lib.people.person import (
    BLOCK_KEY,
    BY_AN_ADMIN,
    COMPANY,
    COMPANY_ONLY,
    LONGEST_NAME,
    ROLES,
    UNTIL,
    DealsGrant,
    Grant,
    Person,
    Record,
    Records,
    Role,
    block,
    cap_grant,
    email_fault,
    hash_of,
    key,
    labels,
    name_fault,
    person_of,
    record_of,
    usual,
    with_grants,
    without_places,
)
from lib.people.tables import people
from lib.wire.errors import BadRequest, UnknownName

NAMES = ("viewer", "manager", "admin")
PASSWORD = "demo"  # noqa: S105  (shown on the sign-in page; demo mode listens on loopback alone)


class People:
    """The people in a database whose tables `database.migrate` has made. They are read each time, so that
    a change by whichever process holds at once. StoreUnavailable without the database.
    """

    def __init__(self, engine: Engine, attempts: Attempts | None = None, *, locks_demo: bool = False) -> None:
        """`locks_demo`: whoever has the password of the demo is locked out."""
        self.engine, self._scope = engine, DatabaseScope(engine)
        self._attempts = attempts or Attempts(engine)
        self._locks_demo = locks_demo
        self._with_demo_password: dict[str, bool] = {}

    def record(self, username: str) -> Record | None:
        """What is stored of the person of that name, ignoring case, or None."""
        row = self._scope.row(select(people.c.record).where(_is(key(username))))
        return None if row is None else row.record

    def get(self, username: str) -> Person | None:
        """The person of that name, ignoring case, or None."""
        name = key(username)
        record = self.record(name)
        return None if record is None else person_of(name, record)

    def require(self, username: str) -> Person:
        """The person of that name; UnknownName, with a suggestion, if there is none."""
        person = self.get(username)
        if person is None:
            raise UnknownName("person", key(username), self._records())
        return person

    def still(self, username: str, since: datetime) -> Person | None:
        """The person who had this name then, as they are now; None where they are gone, locked out, or a
        namesake came instead."""
        person = self.get(username)
        if person is None or self.is_locked(person) or not person.had_name(since):
            return None
        return person

    def is_locked(self, person: Person, record: Record | None = None) -> bool:
        """Whether a person is blocked, or has the demo password outside demo mode, where it does not work.

        `record` is what was read of them, if it is at hand.
        """
        return bool(person.blocked) or self.has_demo_password(person, record)

    def has_demo_password(self, person: Person, record: Record | None = None) -> bool:
        """Whether a person has the demo password outside demo mode.

        The first look at a demo person's password takes as long as a sign-in.
        """
        if not self._locks_demo or person.username not in NAMES:
            return False
        own_hash = hash_of(record or self.record(person.username) or {})
        if own_hash is None:
            return False
        if own_hash not in self._with_demo_password:
            is_demo = bcrypt.checkpw(PASSWORD.encode(), own_hash.encode())
            self._with_demo_password = self._with_demo_password | {own_hash: is_demo}
        return self._with_demo_password[own_hash]

    def locked_names(self) -> list[str]:
        """The user names of all people who are locked out by the demo password."""
        return [person.username for person in self.everyone() if self.has_demo_password(person)]

    def everyone(self) -> list[Person]:
        return [person_of(name, record) for name, record in sorted(self._records().items())]

    def add(self, person: Person, password: str) -> None:
        """Add a person; BadRequest if the name is taken, or name, e-mail or password can't be stored."""
        for what, value, fault in (
            ("name", person.name, name_fault(person.name)),
            ("e-mail", person.email, email_fault(person.email or "")),
        ):
            if fault:
                raise BadRequest(f"The {what} {value!r} can't be stored: {fault[0].lower()}{fault[1:-1]}")
        row = {"username": person.username, "record": record_of(person) | {"password": digest(password)}}
        with self._scope.write() as connection:
            if connection.execute(select(people.c.username).where(_is(person.username))).one_or_none():
                raise BadRequest(f"There is a person '{person.username}' already")
            connection.execute(insert(people).values(row))

    def remove(self, username: str) -> None:
        """Remove a person; UnknownName if there is none."""
        name = key(username)
        with self._scope.write() as connection:
            if not connection.execute(delete(people).where(_is(name))).rowcount:
                raise UnknownName("person", name, _records(connection))

    def grant(self, username: str, grants: Iterable[Grant]) -> Person:
        """Add grants to a person; returns the changed person.

        One for a project or slicer that they have takes the place of that one, with its filters or without.
        """
        more = tuple(grants)
        return self._regrant(username, lambda own: with_grants(own, more))

    def revoke(self, username: str, grants: Iterable[Grant]) -> Person:
        """Revoke grants, whatever their filters; BadRequest for one that the person does not have."""
        less = tuple(grants)

        def without(grants: list[Grant]) -> list[Grant]:
            for grant in less:
                if grant.place not in {own.place for own in grants}:
                    holds, name = labels(grants) or "nothing", key(username)
                    raise BadRequest(f"'{name}' does not hold the grant '{grant.place}', but {holds}")
            return without_places(grants, less)

        return self._regrant(username, without)

    def change(
        self,
        username: str,
        role: Role | None = None,
        deals: DealsGrant | None = None,
        grants: tuple[Grant, ...] | None = None,
        email: str | None = None,
        shares: bool | None = None,
    ) -> Person:
        """Change role, grants, permissions and e-mail, all or nothing; None stays.

        An empty e-mail takes it away. Returns the person.

        Who could do with deals what is usual for the old role can do what is usual for the new one; anything
        else that was granted stays, as far as the new role allows. UnknownName for a person or role that does
        not exist, BadRequest for deals that the role does not allow.
        """
        if role not in (None, *ROLES):
            raise UnknownName("role", str(role), ROLES)
        if fault := email_fault(email or ""):
            raise BadRequest(f"The e-mail {email!r} can't be stored: {fault[0].lower()}{fault[1:-1]}")

        def edit(record: Record) -> None:
            before = person_of(key(username), record)
            is_usual = before.deals == usual(before.role)
            now = role or before.role
            access = deals or (usual(now) if is_usual else cap_grant(now, before.deals))
            after = replace(before, role=now, deals=access)
            record.update(roles=[after.role], deals=str(after.deals))
            if shares is not None:
                record["shares"] = shares
            if grants is not None:
                record["grants"] = [str(grant) for grant in grants]
            if email is not None:
                record["email"] = email or None

        return self._change(username, edit)

    def set_password(self, username: str, password: str) -> None:
        """Give a person another password; UnknownName without such a person."""
        new_hash = digest(password)
        self._change(username, lambda record: record.update(password=new_hash))

    def block(self, username: str, *, is_blocked: bool) -> Person:
        """Block a person who signs in with a company account, or let them sign in again; returns them.

        Whoever may sign in again has no session and no token until they do: rules may have changed meanwhile.
        BadRequest for somebody with a password: give them another, or remove them.
        """

        def edit(record: Record) -> None:
            if COMPANY not in record:
                raise BadRequest(f"'{key(username)}' has a password: change it, or remove them")
            if is_blocked or record.get(BLOCK_KEY) == BY_AN_ADMIN:
                block(record, BY_AN_ADMIN if is_blocked else UNTIL)

        return self._change(username, edit, is_ours=False)

    def check(
        self, username: str, password: str, address: str | None = None, device: str | None = None
    ) -> Person | None:
        """The person, if the password is theirs, else None; as fast for a name that is not known.

        `address` is where the attempt comes from, `device` a browser that they are known to use.
        TooManyAttempts after repeated failures (see Attempts).
        A name that is longer than anybody's is refused at once, and not remembered.
        """
        if len(username) > LONGEST_NAME:
            return None
        name = key(username)
        self._attempts.begin(name, address, device)
        record = self.record(name) or {}
        own_hash = hash_of(record) or f"{bcrypt.gensalt().decode()}{'.' * 31}"
        raw = password.encode("utf-8", "surrogatepass")
        right = bcrypt.checkpw(raw[:BCRYPT_BYTES], own_hash.encode()) and len(raw) <= BCRYPT_BYTES
        if not right or not record or (self._locks_demo and password == PASSWORD):
            return None
        self._attempts.take_back(name, address, device)
        return person_of(name, record)

    def _regrant(self, username: str, change: Callable[[list[Grant]], list[Grant]]) -> Person:
        def edit(record: Record) -> None:
            grants = list(person_of(key(username), record).grants)
            record["grants"] = [str(grant) for grant in change(grants)]

        return self._change(username, edit)

    def _change(self, username: str, change: Callable[[Record], object], *, is_ours: bool = True) -> Person:
        """Read, change and write a person's record; no other writer comes between. Returns the person.

        With `is_ours` BadRequest for somebody with a company account.
        """
        name = key(username)
        with self._scope.write() as connection:
            record = connection.execute(select(people.c.record).where(_is(name))).scalar_one_or_none()
            if record is None:
                raise UnknownName("person", name, _records(connection))
            if is_ours and COMPANY in record:
                raise BadRequest(COMPANY_ONLY.format(name))
            change(record)
            connection.execute(update(people).where(_is(name)).values(record=record))
            return person_of(name, record)

    def _records(self) -> Records:
        return self._scope.read(_records)


def _is(username: str) -> ColumnElement[bool]:
    return people.c.username == username


def _records(connection: Connection) -> Records:
    return {row.username: row.record for row in connection.execute(select(people))}
