"""What is read and written at one go, within a deadline, with retries where they are safe.

Stores use `DatabaseScope`; `transact` and `reading` are for work that has a deadline of its own.

`process_lock` is for work that one process of all those over a database does, like checking alerts.
"""

import logging
import random
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Executable, Row, Select, text
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolExhausted

from lib.database.failures import PASSING, Failure, explain, failure
from lib.wire import private
from lib.wire.deadline import Deadline
from lib.wire.errors import StoreTimeout, StoreUnavailable

BUSY_SECONDS = 10
WRITER_PAUSE_SECONDS = (0.001, 0.005)
WRITES, READS, DEADLINE = "tranche_writes", "tranche_reads", "tranche_deadline"
SINGLE = "tranche_single"  # a statement alone, without a transaction
# Of advisory locks: any numbers that no other program takes in this database.
WRITERS_LOCK, LOCKS = 7_226_244, 7_226_245  # the second is the first of two numbers
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
SECONDS = 10.0
FIRST_PAUSE = 0.01
STEPS_BETWEEN_LOOKS = 20_000
LOST_WHILE_SAVING = (
    "The database was lost while it was saving: see whether the change is there before you repeat it"
)


@dataclass(frozen=True)
class DatabaseScope:
    """The transactions of a store. Each ends within ten seconds, waiting for other writers included.

    StoreUnavailable where that fails; nothing was written then. IntegrityError is the caller's to explain.
    """

    engine: Engine

    def rows(self, query: Select[Any]) -> list[Row[Any]]:
        """All rows of a query; repeated if the connection is lost."""
        return fetch(self.engine, lambda connection: [*connection.execute(query)], Deadline(SECONDS))

    def row(self, query: Select[Any], **values: str) -> Row[Any] | None:
        """The row of a query that has one at most; `values` are those of its parameters."""
        deadline = Deadline(SECONDS)
        return fetch(self.engine, lambda work: work.execute(query, values).one_or_none(), deadline)

    def read(self, work: Callable[[Connection], Result], seconds: float = SECONDS) -> Result:
        """The result of several queries, all of the same moment; repeated if the connection is lost."""
        return reading(self.engine, work, Deadline(seconds))

    @contextmanager
    def write(self, seconds: float = SECONDS) -> Iterator[Connection]:
        """A transaction that writes, committed at the end of the block and rolled back by an error.

        Writers take turns: what the block has read stays true until its end. The block runs once: what is
        repeated is the wait for its turn.
        """
        deadline = Deadline(seconds)
        try:
            with ExitStack() as stack:
                yield _begin_write(stack, self.engine, deadline)
        except IntegrityError:
            raise
        except (DBAPIError, PoolExhausted) as error:
            raise explain(error, deadline) from error

    def execute(self, *statements: Executable) -> None:
        """Write by these statements, all or none."""
        with self.write() as connection:
            for statement in statements:
                connection.execute(statement)


def transact(engine: Engine, work: Work[Result], deadline: Deadline) -> Result:
    """Run `work` in a transaction and return its result after the commit.

    Writers take turns, on PostgreSQL as on SQLite: what one has read stays true until it commits. The work is
    run again, on a fresh transaction, when the database undid it because of another one: so it must do
    nothing but through its connection. StoreUnavailable, in which case nothing was written;
    IntegrityError is the caller's to explain.
    """

    def attempt() -> Result:
        with ExitStack() as stack:
            return work(_begin_write(stack, engine, deadline))

    return _retry(attempt, deadline, PASSING)


def reading(engine: Engine, work: Work[Result], deadline: Deadline) -> Result:
    """Run `work`, which only reads, and return its result; retried if the connection is lost.

    All that it reads is of one moment, whoever writes meanwhile.
    """

    def attempt() -> Result:
        with _connect(engine, deadline, READS) as connection, connection.begin():
            return work(connection)

    return _retry(attempt, deadline, PASSING | {Failure.LOST})


def fetch(engine: Engine, work: Work[Result], deadline: Deadline) -> Result:
    """As `reading`, for work of one statement: it is of one moment by itself, and costs one round trip."""

    def attempt() -> Result:
        if engine.dialect.name == "sqlite":
            with _connect(engine, deadline, SINGLE) as connection:
                return work(connection)
        _check(deadline)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            driver: Any = connection.connection.dbapi_connection
            driver.deadline = deadline
            return work(connection)

    return _retry(attempt, deadline, PASSING | {Failure.LOST})


@contextmanager
def explain_errors() -> Iterator[None]:
    """Convert the errors of a short read outside of `reading` to StoreUnavailable."""
    try:
        yield
    except (DBAPIError, PoolExhausted) as error:
        raise explain(error) from error


def _retry(attempt: Callable[[], Result], deadline: Deadline, retryable: frozenset[Failure]) -> Result:
    for number in range(ATTEMPTS):
        try:
            return attempt()
        except IntegrityError:
            raise
        except (DBAPIError, PoolExhausted) as error:
            is_last = deadline.remaining() == 0 or number == ATTEMPTS - 1
            if is_last or failure(error) not in retryable:
                raise explain(error, deadline) from error
            time.sleep(random.uniform(0, FIRST_PAUSE * 2**number))  # noqa: S311
    raise AssertionError("unreachable: the last attempt returns or raises")


def _begin_write(stack: ExitStack, engine: Engine, deadline: Deadline) -> Connection:
    """A transaction that writes and ends with the stack; one that could not begin can be tried again."""
    retryable = PASSING | {Failure.LOST}
    return _retry(lambda: stack.enter_context(_write_turn(engine, deadline)), deadline, retryable)


@contextmanager
def _write_turn(engine: Engine, deadline: Deadline) -> Iterator[Connection]:
    """A transaction that begins when no other one writes; committed at the end, rolled back by an error."""
    with _connect(writing(engine), deadline) as connection:
        transaction = connection.begin()
        try:
            if engine.dialect.name == "postgresql":
                connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": WRITERS_LOCK})
            yield connection
            _check(deadline)
        except BaseException:
            transaction.rollback()
            raise
        try:
            transaction.commit()
        except DBAPIError as error:
            if error.connection_invalidated or failure(error) is Failure.LOST:
                log.error("The database was lost at a commit: %s", error.orig)
                raise StoreUnavailable(LOST_WHILE_SAVING) from error
            raise


@contextmanager
def _connect(engine: Engine, deadline: Deadline, *marks: str) -> Iterator[Connection]:
    """A connection whose statements and lock waits end with the deadline."""
    _check(deadline)
    with engine.connect().execution_options(
        **dict.fromkeys(marks, True), **{DEADLINE: deadline}
    ) as connection:
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
        raise StoreTimeout


def writing(engine: Engine) -> Engine:
    """The same engine for transactions that write.

    On SQLite they take the lock at the start: one that reads first and then finds another writer ahead of it
    would be refused at once, however patient it is.
    """
    return engine.execution_options(**{WRITES: True})


def begin_on_sqlite(connection: Connection) -> None:
    """Begin a transaction with its deadline; one that writes once no other writer is active."""
    options = connection.get_execution_options()
    deadline, is_waiting = options.get(DEADLINE), bool(options.get(WRITES))
    end = deadline or Deadline(BUSY_SECONDS)
    if is_waiting:
        # SQLite's own patience looks less and less often, up to ten times a second: among several busy
        # writers some starve, and the database idles meanwhile.
        connection.exec_driver_sql("PRAGMA busy_timeout=0")
    while is_waiting:
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            is_waiting = False
        except OperationalError as error:
            code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
            if code != sqlite3.SQLITE_BUSY or end.remaining() == 0:
                raise
            time.sleep(random.uniform(*WRITER_PAUSE_SECONDS))  # noqa: S311
    # These neither read the file nor wait, so that they need none of SQLAlchemy's care, which costs more.
    driver: Any = connection.connection.dbapi_connection
    driver.execute(f"PRAGMA busy_timeout={_timeout_milliseconds(deadline)}")
    if not options.get(WRITES) and not options.get(SINGLE):
        driver.execute("BEGIN")


def begin_on_postgresql(connection: Connection) -> None:
    """Let PostgreSQL enforce the transaction's deadline, and that all it reads is of one moment."""
    options = connection.get_execution_options()
    settings = []
    if (deadline := options.get(DEADLINE)) is not None:
        driver: Any = connection.connection.dbapi_connection
        driver.deadline = deadline
        milliseconds = 0 if deadline.remaining() is None else _timeout_milliseconds(deadline)
        settings.append(f"SET LOCAL statement_timeout = {milliseconds}")
    if options.get(READS):
        settings.append("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    if settings:
        connection.exec_driver_sql("; ".join(settings))  # one round trip


def _timeout_milliseconds(deadline: Deadline | None) -> int:
    """Milliseconds until the deadline, at least one; the usual patience without a deadline."""
    seconds = None if deadline is None else deadline.remaining()
    return max(1, round(1000 * (BUSY_SECONDS if seconds is None else seconds)))


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

        def holds() -> bool:
            try:
                return bool(connection.execute(COUNT_LOCKS, numbers).scalar_one())
            except SQLAlchemyError:
                return False

        yield holds
