"""Carries people over from the file `people.yaml`, where earlier versions kept them, into the database."""

import json
import logging
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, insert, select

from lib import private
from lib.database import transact
from lib.people.records import Records, parse, person_of
from lib.people.tables import people
from lib.wire.deadline import Deadline
from lib.wire.errors import Misconfigured

log = logging.getLogger(__name__)
SECONDS = 60
DONE = ".carried-over"


def carry_over(engine: Engine, path: Path) -> None:
    """Carry the people of that file over into a database without people: all of them, or none.

    The file is then renamed to `<name>.carried-over`, and never read again. Where the database has people
    already, nothing is changed, and the log says so. Misconfigured names an entry that can't be read.
    """
    if not path.exists():
        return
    with private.lock(path):
        if not path.exists():  # another process was first
            return
        records = _plain(parse(path))
        if transact(engine, lambda connection: _carry(connection, records), Deadline(SECONDS)):
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
    held: Records = {row.username: row.record for row in connection.execute(select(people))}
    if held:
        return held == records
    rows = [{"username": name, "record": record} for name, record in records.items()]
    if rows:
        connection.execute(insert(people), rows)
    return True


def _plain(records: Records) -> Records:
    """The same as values of JSON, times as their text; Misconfigured for an entry that is no person."""
    plain: Records = {}
    for name, record in records.items():
        try:
            found: dict[str, Any] = json.loads(json.dumps(record, default=str))
        except (TypeError, ValueError) as error:
            raise Misconfigured(f"The entry of the person '{name}' can't be read: {error}") from error
        person_of(name, found)
        plain[name] = found
    return plain


def _put_aside(path: Path) -> None:
    try:
        path.rename(path.with_name(path.name + DONE))
    except OSError as error:
        log.warning("%s can't be renamed (%s): remove it, it is not read any more", path, error.strerror)
