"""The records of people: reads them into a Person, and writes them from one; and the file of before.

Earlier versions kept people in the file `people.yaml`: `carry_over` puts them into the database.
"""

import json
import logging
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import Connection, Engine, insert, select

from lib import private
from lib.database import DatabaseScope
from lib.people.person import ROLES, DealsGrant, Grant, Person, Role, cap_grant, usual
from lib.people.tables import people
from lib.wire.errors import BadRequest, Damaged, TrancheError
from lib.wire.shallow_yaml import ShallowLoader

Record = dict[str, Any]
Records = dict[str, Record]
COMPANY, BLOCK_KEY, END_KEY = "company", "blocked", "ended"
NO_RULE, UNTIL = "no rule matches", "until the next company sign-in"
FORMAT = 2  # of the file of before: since 2, who may do what with deals is stated for each person
COMPANY_ONLY = (
    "'{}' signs in with a company account: their role and grants come from the rules in the settings at each "
    "sign-in, and they have no password here"
)
Hash = re.compile(r"\$2[aby]\$\d\d\$.{53}")
log = logging.getLogger(__name__)
SECONDS = 60
OLD_SUFFIX = ".carried-over"


def key(username: str) -> str:
    """The normalized user name, as streamlit-authenticator normalizes it too."""
    return username.strip().lower()


def record_of(person: Person) -> Record:
    """The record of a new person, but for the password."""
    return {
        "name": person.name,
        "email": person.email,
        "roles": [person.role],
        "grants": [str(grant) for grant in person.grants],
        "deals": str(person.deals),
        "shares": person.shares,
        "added": (person.added or datetime.now(UTC)).isoformat(),
    }


def person_of(username: str, record: Record) -> Person:
    """The person that a record describes; Damaged names the entry that can't be read."""
    parts = (record.get("first_name"), record.get("last_name"))
    try:
        role = (record.get("roles") or ["viewer"])[0]
        return Person(
            username=username,
            name=record.get("name") or " ".join(part for part in parts if part) or username,
            email=record.get("email"),
            role=role,
            grants=tuple(Grant.parse(text) for text in record.get("grants") or ()),
            deals=cap_grant(role, DealsGrant.parse(str(record.get("deals") or "none"))),
            added=_instant(record["added"]) if record.get("added") else None,
            company=str((record.get(COMPANY) or {}).get("issuer") or ""),
            blocked=str(record.get(BLOCK_KEY) or ""),
            shares=record.get("shares") is True,
        )
    except (TrancheError, TypeError, ValueError, AttributeError) as error:
        raise Damaged(f"The entry of the person '{username}' can't be read: {error}") from error


def hash_of(record: Record) -> str | None:
    """The bcrypt hash; None for a plain-text password written by hand, which does not work."""
    value = record.get("password")
    return value if isinstance(value, str) and Hash.fullmatch(value) else None


def parse(path: Path) -> Records:
    """The records of a credentials file, by username in lower case; Damaged for another shape."""
    content = content_of(path)
    usernames = content.get("usernames") if isinstance(content, dict) else None
    if not isinstance(usernames, dict) or not all(isinstance(record, dict) for record in usernames.values()):
        raise Damaged(f"{path.name} must have 'usernames', with one mapping of fields per person")
    records = {key(str(name)): record for name, record in usernames.items()}
    return (
        records
        if is_current(content)
        else {name: _with_deals_grant(record) for name, record in records.items()}
    )


def content_of(path: Path) -> Any:
    """The parsed YAML; Damaged, with the line, if it is invalid."""
    try:
        text = path.read_text(encoding="utf-8")
        if not text.strip():
            raise Damaged(f"{path} is empty: restore it from a backup; or remove it, if it named nobody")
        return ShallowLoader(text).get_single_data() or {"usernames": {}}
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise Damaged(f"{path.name}{line}: not YAML ({error.problem})") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise Damaged(f"{path.name} is not YAML in UTF-8") from None


def is_current(content: Any) -> bool:
    """Whether a file's content has the current format."""
    return isinstance(content, dict) and content.get("format") == FORMAT


def block(record: Record, why: str) -> None:
    """Block a person in their record, and end their sessions: those of before stay ended when they return."""
    record.update({BLOCK_KEY: why, END_KEY: datetime.now(UTC).isoformat()})


def check_is_ours(username: str, record: Record) -> None:
    """BadRequest for somebody whose rights and password are at their company."""
    if COMPANY in record:
        raise BadRequest(COMPANY_ONLY.format(username))


def _with_deals_grant(record: Record) -> Record:
    """A record of before, with the deals that a person of its role could see and change then."""
    roles = record.get("roles") or ["viewer"]
    role: Role = roles[0] if isinstance(roles, list) and roles[0] in ROLES else "viewer"
    return {"deals": str(usual(role))} | record


def _instant(value: object) -> datetime:
    """A time that YAML gave as text or as a time; without a zone it is UTC."""
    moment = datetime.fromisoformat(str(value))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def carry_over(engine: Engine, path: Path) -> None:
    """Carry the people of that file over into a database without people: all of them, or none.

    The file is then renamed to `<name>.carried-over`, and never read again. Where the database has people
    already, nothing is changed, and the log says so. Damaged names an entry that can't be read.
    """
    if not path.exists():
        return
    with private.lock(path):
        if not path.exists():  # another process was first
            return
        records = _plain(parse(path))
        with DatabaseScope(engine).write(SECONDS) as connection:
            is_carried = _carry(connection, records)
        if is_carried:
            log.info("%s: %d people carried over into the database", path, len(records))
            _put_aside(path)
        else:
            log.warning(
                "%s is not read: people are in the database, and it differs. Move the file elsewhere; "
                "`tranche user` changes people",
                path,
            )


def _carry(connection: Connection, records: Records) -> bool:
    """Whether these are the people of the database now, because it had no others."""
    existing: Records = {row.username: row.record for row in connection.execute(select(people))}
    if existing:
        return existing == records
    rows = [{"username": name, "record": record} for name, record in records.items()]
    if rows:
        connection.execute(insert(people), rows)
    return True


def _plain(records: Records) -> Records:
    """The same as values of JSON, times as their text; Damaged for an entry that is no person."""
    plain: Records = {}
    for name, record in records.items():
        try:
            values: dict[str, Any] = json.loads(json.dumps(record, default=str))
        except (TypeError, ValueError) as error:
            raise Damaged(f"The entry of the person '{name}' can't be read: {error}") from error
        person_of(name, values)
        plain[name] = values
    return plain


def _put_aside(path: Path) -> None:
    try:
        path.rename(path.with_name(path.name + OLD_SUFFIX))
    except OSError as error:
        log.warning("%s can't be renamed (%s): remove it, it is not read any more", path, error.strerror)
