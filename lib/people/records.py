"""One person as the credentials file has them: a record, read into a Person and written from one."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from lib.people.person import Grant, Person
from lib.wire.errors import Misconfigured, TrancheError

Record = dict[str, Any]
Records = dict[str, Record]
Hash = re.compile(r"\$2[aby]\$\d\d\$.{53}")


def key(username: str) -> str:
    """The name as it is looked up: streamlit-authenticator does the same with what is typed."""
    return username.strip().lower()


def record_of(person: Person) -> Record:
    """The record of a new person, but for the password."""
    return {
        "name": person.name,
        "email": person.email,
        "roles": [person.role],
        "grants": [str(grant) for grant in person.grants],
        "added": (person.added or datetime.now(UTC)).isoformat(),
    }


def person_of(username: str, record: Record) -> Person:
    """The person that a record describes; Misconfigured names the entry that can't be read."""
    parts = (record.get("first_name"), record.get("last_name"))
    try:
        return Person(
            username=username,
            name=record.get("name") or " ".join(part for part in parts if part) or username,
            email=record.get("email"),
            role=(record.get("roles") or ["viewer"])[0],
            grants=tuple(Grant.parse(text) for text in record.get("grants") or ()),
            added=_instant(record["added"]) if record.get("added") else None,
        )
    except (TrancheError, TypeError, ValueError, AttributeError) as error:
        raise Misconfigured(f"The people file's entry '{username}' can't be read: {error}") from error


def hash_of(record: Record) -> str | None:
    """The bcrypt hash; None where a plain text was written into the file by hand, which opens nothing."""
    hashed = record.get("password")
    return hashed if isinstance(hashed, str) and Hash.fullmatch(hashed) else None


def parsed(path: Path) -> Records:
    """The records of a credentials file, by username in lower case; Misconfigured for another shape."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8")) or {"usernames": {}}
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise Misconfigured(f"{path.name}{line}: not YAML ({error.problem})") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise Misconfigured(f"{path.name} is not YAML in UTF-8") from None
    usernames = content.get("usernames") if isinstance(content, dict) else None
    if not isinstance(usernames, dict) or not all(isinstance(record, dict) for record in usernames.values()):
        raise Misconfigured(f"{path.name} must have 'usernames', with one mapping of fields per person")
    return {key(str(name)): record for name, record in usernames.items()}


def _instant(written: object) -> datetime:
    """A time that YAML gave as text or as a time; without a zone it is UTC."""
    moment = datetime.fromisoformat(str(written))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
