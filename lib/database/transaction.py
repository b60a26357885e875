"""Transactions with a deadline, retries where they are safe, and database errors as errors of ours.

`process_lock` is for work that one process of all those over a database does, like checking alerts.
"""

import logging
import random
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum, auto
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolExhausted

from lib import private
from lib.database.engine import DEADLINE, writing
from lib.wire.deadline import Deadline
from lib.wire.errors import DeadlineExceeded, StoreAway, StoreUnavailable, StoreUnwritable

LOCKS = 7_226_245  # of advisory locks, as in engine.py: the first of two numbers
TRY_LOCK = text("select pg_try_advisory_lock(:of, :key)")
COUNT_LOCKS = text(
    "select count(*) from pg_locks where locktype = 'advisory' and granted and pid = pg_backend_pid() "
    "and classid = :of and objid = :key and database = (select oid from pg_database where datname = "
    "current_database())"
)
LIVELY = "set tcp_keepalives_idle = 20; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3"
log = logging.getLogger(__name__)
Result = TypeVar("Result")
Work = Callable[[Connection], Result]
ATTEMPTS = 6
FIRST_PAUSE = 0.01
STEPS_BETWEEN_LOOKS = 20_000
WRITERS_LOCK = 7_226_244  # of an advisory lock, as in engine.py
TOO_LATE = "The database did not answer in time; nothing was changed"
LOST_WHILE_SAVING = (
    "The database was lost while it was saving: see whether the change is there before you repeat it"
)


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
    "40": Failure.UNDONE,
    "55P03": Failure.LOCKED,
    "57014": Failure.STOPPED,
    "53100": Failure.UNWRITABLE,
    "25006": Failure.UNWRITABLE,
    "53": Failure.LOST,
    "08": Failure.LOST,
    "57": Failure.LOST,
    "58": Failure.LOST,
}


_SQLITE = {
    "SQLITE_BUSY": Failure.LOCKED,
    "SQLITE_LOCKED": Failure.LOCKED,
    "SQLITE_INTERRUPT": Failure.STOPPED,
    "SQLITE_FULL": Failure.UNWRITABLE,
    "SQLITE_IOERR_WRITE": Failure.UNWRITABLE,
    "SQLITE_CANTOPEN": Failure.LOST,
    "SQLITE_IOERR": Failure.LOST,
    "SQLITE_NOTADB": Failure.DAMAGED,
    "SQLITE_CORRUPT": Failure.DAMAGED,
    "SQLITE_IOERR_SHMSIZE": Failure.UNWRITABLE,
    "SQLITE_IOERR_TRUNCATE": Failure.UNWRITABLE,
    "SQLITE_READONLY": Failure.UNWRITABLE,
}


def failure(error: DBAPIError | PoolExhausted) -> Failure:
    """The kind of this error."""
    if isinstance(error, PoolExhausted):
        return Failure.LOCKED
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        return _failure_kind(_SQLITE, getattr(cause, "sqlite_errorname", None) or "")
    state = getattr(cause, "sqlstate", None)
    if state is None:
        return Failure.LOST
    return _failure_kind(_POSTGRES, state)


def _failure_kind(kinds: dict[str, Failure], code: str) -> Failure:
    """The kind of the longest known prefix of the code."""
    matching = [name for name in kinds if code.startswith(name)]
    return kinds[max(matching, key=len)] if matching else Failure.OTHER


REASONS = {
    Failure.LOST: "The database can't be reached right now; nothing was changed. Try again later",
    Failure.DAMAGED: "The database's file is damaged; nothing was changed. Restore it from a backup",
    Failure.LOCKED: "The database is busy; nothing was changed. Try again",
    Failure.OTHER: "The database had an internal error; nothing was changed. The log has the details",
}


def transact(engine: Engine, work: Work[Result], deadline: Deadline) -> Result:
    """Run `work` in a transaction and return its result after the commit.

    Writers take turns, on PostgreSQL as on SQLite: what one has read stays true until it commits. The work is
    run again, on a fresh transaction, when the database undid it because of another one: so it must do
    nothing but through its connection. DeadlineExceeded or StoreUnavailable, in which case nothing was
    written; IntegrityError is the caller's to explain.
    """
    return _retry(lambda: _run_write(writing(engine), work, deadline), deadline, _PASSING)


def reading(engine: Engine, work: Work[Result], deadline: Deadline) -> Result:
    """Run `work`, which only reads, and return its result; retried if the connection is lost.

    All that it reads is of one moment, whoever writes meanwhile.
    """
    return _retry(lambda: _read(engine, work, deadline), deadline, _PASSING | {Failure.LOST})


@contextmanager
def explain_errors() -> Iterator[None]:
    """Convert the errors of a short read outside of `reading` to StoreUnavailable."""
    try:
        yield
    except (DBAPIError, PoolExhausted) as error:
        raise _unavailable(error) from error


def _unavailable(error: DBAPIError | PoolExhausted) -> StoreUnavailable:
    log.error("The database failed: %s", error.orig if isinstance(error, DBAPIError) else error)
    kind = failure(error)
    if kind is Failure.UNWRITABLE:
        return StoreUnwritable()
    unavailable = StoreAway if kind in _AWAY else StoreUnavailable
    return unavailable(REASONS.get(kind, REASONS[Failure.LOCKED]))


_PASSING = frozenset({Failure.UNDONE, Failure.LOCKED})


_AWAY = _PASSING | {Failure.LOST, Failure.STOPPED}


def _retry(attempt: Callable[[], Result], deadline: Deadline, retryable: frozenset[Failure]) -> Result:
    for number in range(ATTEMPTS):
        try:
            return attempt()
        except (DBAPIError, PoolExhausted) as error:
            kind = failure(error)
            if isinstance(error, IntegrityError):
                raise
            if deadline.remaining() == 0 or kind is Failure.STOPPED:
                raise DeadlineExceeded(TOO_LATE) from error
            if kind not in retryable or number == ATTEMPTS - 1:
                raise _unavailable(error) from error
            time.sleep(random.uniform(0, FIRST_PAUSE * 2**number))  # noqa: S311
    raise AssertionError("unreachable: the last attempt returns or raises")


def _run_write(engine: Engine, work: Work[Result], deadline: Deadline) -> Result:
    with _connect(engine, deadline) as connection:
        transaction = connection.begin()
        try:
            if engine.dialect.name == "postgresql":
                connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": WRITERS_LOCK})
            result = work(connection)
            _check(deadline)
        except BaseException:
            transaction.rollback()
            raise
        try:
            transaction.commit()
        except DBAPIError as error:
            if failure(error) is Failure.LOST:
                log.error("The database was lost at a commit: %s", error.orig)
                raise StoreUnavailable(LOST_WHILE_SAVING) from error
            raise
        return result


def _read(engine: Engine, work: Work[Result], deadline: Deadline) -> Result:
    with _connect(engine, deadline) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        return work(connection)


@contextmanager
def _connect(engine: Engine, deadline: Deadline) -> Iterator[Connection]:
    """A connection whose statements and lock waits end with the deadline."""
    _check(deadline)
    with engine.connect().execution_options(**{DEADLINE: deadline}) as connection:
        if engine.dialect.name != "sqlite":
            yield connection
            return
        driver: Any = connection.connection.dbapi_connection
        driver.set_progress_handler(lambda: deadline.remaining() == 0, STEPS_BETWEEN_LOOKS)
        try:
            yield connection
        finally:
            driver.set_progress_handler(None, 0)


def _check(deadline: Deadline) -> None:
    if deadline.remaining() == 0:
        raise DeadlineExceeded(TOO_LATE)


@contextmanager
def process_lock(engine: Engine, work: str) -> Iterator[Callable[[], bool]]:
    """Try to be the only process over this database that does this work; gives whether it is, at any time.

    What is held goes with the process or its connection, however they end: with a machine that vanishes, in
    less than a minute. On SQLite it is the file `<work>.lock` beside the database. StoreUnavailable where the
    database can't be reached.
    """
    if engine.dialect.name == "sqlite":
        with private.process_lock(Path(str(engine.url.database)).with_name(f"{work}.lock")) as other:
            yield lambda: not other
        return
    numbers = {"of": LOCKS, "key": zlib.crc32(work.encode()) >> 1}
    with explain_errors():
        connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        connection.detach()  # its end is the end of the lock: no pool is to keep it
    with connection:
        with explain_errors():
            connection.exec_driver_sql(LIVELY)
            connection.execute(TRY_LOCK, numbers)
        yield lambda: _holds(connection, numbers)


def _holds(connection: Connection, numbers: dict[str, int]) -> bool:
    try:
        return bool(connection.execute(COUNT_LOCKS, numbers).scalar_one())
    except SQLAlchemyError:
        return False
