"""What drivers say of a failure, as the kinds that have a remedy of their own, and our errors for them."""

import logging
import sqlite3
from enum import Enum, auto

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolExhausted

from lib.wire.deadline import Deadline
from lib.wire.errors import StoreAway, StoreTimeout, StoreUnavailable, StoreUnwritable

log = logging.getLogger(__name__)


class Failure(Enum):
    """The kinds of errors, each with its own remedy."""

    UNDONE = auto()  # by the database, for the sake of another transaction
    LOCKED = auto()  # others were in the way for too long
    STOPPED = auto()  # by the deadline
    UNWRITABLE = auto()  # the disk is full or read-only
    LOST = auto()
    DAMAGED = auto()
    OTHER = auto()


_POSTGRES = {
    "40": Failure.UNDONE, "55P03": Failure.LOCKED, "57014": Failure.STOPPED, "53100": Failure.UNWRITABLE,
    "25006": Failure.UNWRITABLE, "53": Failure.LOST, "08": Failure.LOST, "57": Failure.LOST,
    "58": Failure.LOST,
}  # fmt: skip
_SQLITE = {
    "SQLITE_BUSY": Failure.LOCKED, "SQLITE_LOCKED": Failure.LOCKED, "SQLITE_INTERRUPT": Failure.STOPPED,
    "SQLITE_FULL": Failure.UNWRITABLE, "SQLITE_IOERR_WRITE": Failure.UNWRITABLE,
    "SQLITE_CANTOPEN": Failure.LOST, "SQLITE_IOERR": Failure.LOST, "SQLITE_NOTADB": Failure.DAMAGED,
    "SQLITE_CORRUPT": Failure.DAMAGED, "SQLITE_IOERR_SHMSIZE": Failure.UNWRITABLE,
    "SQLITE_IOERR_TRUNCATE": Failure.UNWRITABLE, "SQLITE_READONLY": Failure.UNWRITABLE,
}  # fmt: skip
PASSING = frozenset({Failure.UNDONE, Failure.LOCKED})
_AWAY = PASSING | {Failure.LOST}
REASONS = {
    Failure.LOST: "The database can't be reached right now; nothing was changed. Try again later",
    Failure.DAMAGED: "The database's file is damaged; nothing was changed. Restore it from a backup",
    Failure.LOCKED: "The database is busy; nothing was changed. Try again",
    Failure.OTHER: "The database had an internal error; nothing was changed. The log has the details",
}


def explain(error: DBAPIError | PoolExhausted, deadline: Deadline | None = None) -> StoreUnavailable:
    """The failure as an error that says what can be done; the log has the driver's own words."""
    log.error("The database failed: %s", error.orig if isinstance(error, DBAPIError) else error)
    kind = failure(error)
    if kind is Failure.STOPPED or (deadline is not None and deadline.remaining() == 0):
        return StoreTimeout()
    if kind is Failure.UNWRITABLE:
        return StoreUnwritable()
    error_class = StoreAway if kind in _AWAY else StoreUnavailable
    return error_class(REASONS.get(kind, REASONS[Failure.LOCKED]))


def failure(error: DBAPIError | PoolExhausted) -> Failure:
    """The kind of this error."""
    if isinstance(error, PoolExhausted):
        return Failure.LOCKED
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        return _failure_kind(_SQLITE, getattr(cause, "sqlite_errorname", None) or "")
    state = getattr(cause, "sqlstate", None)
    return Failure.LOST if state is None else _failure_kind(_POSTGRES, state)


def _failure_kind(kinds: dict[str, Failure], code: str) -> Failure:
    """The kind of the longest known prefix of the code."""
    matching = [name for name in kinds if code.startswith(name)]
    return kinds[max(matching, key=len)] if matching else Failure.OTHER
