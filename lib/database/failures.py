"""Classifies database errors by the codes of SQLite and PostgreSQL."""

import sqlite3
from enum import Enum, auto

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolExhausted


class Failure(Enum):
    """The kinds of errors, each with its own remedy."""

    UNDONE = auto()  # by the database, for the sake of another transaction
    LOCKED = auto()  # others were in the way for too long
    STOPPED = auto()  # by the deadline
    FULL = auto()
    LOST = auto()
    DAMAGED = auto()
    OTHER = auto()


_POSTGRES = {
    "40": Failure.UNDONE,
    "55P03": Failure.LOCKED,
    "57014": Failure.STOPPED,
    "53100": Failure.FULL,
    "53": Failure.LOST,
    "08": Failure.LOST,
    "57": Failure.LOST,
    "58": Failure.LOST,
}
_SQLITE = {
    "SQLITE_BUSY": Failure.LOCKED,
    "SQLITE_LOCKED": Failure.LOCKED,
    "SQLITE_INTERRUPT": Failure.STOPPED,
    "SQLITE_FULL": Failure.FULL,
    "SQLITE_IOERR_WRITE": Failure.FULL,
    "SQLITE_CANTOPEN": Failure.LOST,
    "SQLITE_IOERR": Failure.LOST,
    "SQLITE_NOTADB": Failure.DAMAGED,
    "SQLITE_CORRUPT": Failure.DAMAGED,
    "SQLITE_READONLY": Failure.LOST,
}


def failure(error: DBAPIError | PoolExhausted) -> Failure:
    """The kind of this error."""
    if isinstance(error, PoolExhausted):
        return Failure.LOCKED
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        return _named(_SQLITE, getattr(cause, "sqlite_errorname", None) or "")
    state = getattr(cause, "sqlstate", None)
    if state is None:
        return Failure.LOST
    return _named(_POSTGRES, state)


def _named(kinds: dict[str, Failure], code: str) -> Failure:
    """The kind of the longest known prefix of the code."""
    known = [name for name in kinds if code.startswith(name)]
    return kinds[max(known, key=len)] if known else Failure.OTHER
