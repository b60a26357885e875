"""The file `people.yaml`, in which earlier versions kept people: `carry_over` puts them into the database."""

import json
import logging
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import Connection, Engine, insert, select

from lib.database import DatabaseScope
from lib.people.person import ROLES, Record, Records, Role, key, person_of, usual
from lib.people.tables import people
from lib.wire import private
from lib.wire.errors import Damaged
from lib.wire.shallow_yaml import ShallowLoader

FORMAT = 2  # of the file of before: since 2, who may do what with deals is stated for each person
log = logging.getLogger(__name__)
SECONDS = 60
OLD_SUFFIX = ".carried-over"


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


def _with_deals_grant(record: Record) -> Record:
    """A record of before, with the deals that a person of its role could see and change then."""
    roles = record.get("roles") or ["viewer"]
    role: Role = roles[0] if isinstance(roles, list) and roles[0] in ROLES else "viewer"
    return {"deals": str(usual(role))} | record


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
