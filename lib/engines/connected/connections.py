"""The databases that the settings name, and their open connections."""

import logging
import os
import re
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar
from urllib.parse import urlsplit

import duckdb
import ibis
import ibis.expr.types as ir
import psycopg
import pyarrow as pa
from ibis.common.exceptions import IbisError, TableNotFound

from lib.engines.connected import clickhouse, spark
from lib.engines.connected.backends import POLL_SECONDS, SPARK, TITLES, Backend, open_backend, table_of
from lib.engines.connected.parquet import Footers
from lib.engines.connected.parts import Marks, marks_of, tables_of
from lib.wire.deadline import Deadline
from lib.wire.errors import (
    Abandoned,
    BadRequest,
    DeadlineExceeded,
    InternalError,
    Misconfigured,
    SourceLocked,
    SourceUnavailable,
)

log = logging.getLogger(__name__)
MOST_IDLE, MOST_STATEMENTS = 4, 2
ONE = ibis.literal(1).name("one").as_table()
Result = TypeVar("Result")
_DRIVER_ERRORS: tuple[type[Exception], ...] = (
    IbisError,
    duckdb.Error,
    psycopg.Error,
    OSError,
    *clickhouse.ERRORS,
    *spark.ERRORS,
)
_CONNECTION_ERRORS: tuple[type[Exception], ...] = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    duckdb.ConnectionException,
    OSError,
    *clickhouse.CONNECTION_ERRORS,
)
_REFUSED_LOGIN = re.compile(
    r"FATAL: +(password authentication failed|role .* does not exist|database .* does not exist|"
    r"no pg_hba\.conf entry|permission denied)|no password supplied|Authentication failed|"
    r"DB::Exception: (Wrong password|Unknown user|Database \S+ (doesn't|does not) exist)"
)
_NAMES_AND_RIGHTS = "42"  # a class of SQLSTATE (PostgreSQL's manual, appendix A)
_LOCKED_FILE = "Could not set lock"
_VARIABLE = re.compile(r"\$\{(\w+)\}")


class Queue:
    """So many statements at a time; the others wait, the first come first.

    More of them would not be done sooner, as each is divided among the database's processors already, and the
    first answer of a screen would come with the last.
    """

    def __init__(self, most: int) -> None:
        self._free, self._condition = most, threading.Condition()
        self._waiting: deque[object] = deque()

    @contextmanager
    def turn(self, deadline: Deadline) -> Iterator[None]:
        """Wait for a turn within the deadline, and give it back at the end of the block."""
        ticket = object()
        with self._condition:
            self._waiting.append(ticket)
            try:
                while not (self._free and self._waiting[0] is ticket):
                    self._condition.wait(POLL_SECONDS)
                    deadline.check()
                self._free -= 1
            finally:
                self._waiting.remove(ticket)
                self._condition.notify_all()
        try:
            yield
        finally:
            with self._condition:
                self._free += 1
                self._condition.notify_all()


class Connections:
    """Connections by the name that the settings give them. Safe among threads: each works with its own."""

    def __init__(self, urls: Mapping[str, str]) -> None:
        """`urls`: name → URL, in which `${NAME}` is a variable of the environment."""
        self._urls = urls
        self._idle: defaultdict[str, list[Backend]] = defaultdict(list)
        self._queues = defaultdict[str, Queue](lambda: Queue(MOST_STATEMENTS))
        self._footers = Footers()
        self._lock = threading.Lock()

    def kind(self, connection: str) -> str:
        """The scheme of a connection's URL, such as "postgresql"."""
        return urlsplit(self._url(connection)).scheme

    def title(self, connection: str) -> str:
        """The name of a connection's database, as people call it; of one that is missing, its own."""
        url = self._urls.get(connection, "")
        return TITLES.get(url.partition(":")[0], f"Connection {connection}")

    def reach(self, connection: str, deadline: Deadline) -> None:
        """Whether the database answers. SourceUnavailable, Misconfigured.

        Of Spark its version is asked: a statement would take cores of the cluster.
        """
        if self.kind(connection) == SPARK:
            self._with(connection, deadline, lambda backend: spark.version(backend.ibis))
        else:
            self._with(connection, deadline, lambda backend: backend.rows(ONE))

    def table(self, connection: str, name: str, deadline: Deadline | None = None) -> ir.Table:
        """A table of a connection, for expressions. BadRequest where there is no such table."""
        url = self._url(connection)
        try:
            return self._with(
                connection,
                deadline or Deadline(),
                lambda backend: table_of(backend, url, name, self._footers),
            )
        except TableNotFound:
            raise BadRequest(f"The connection {connection} has no table '{name}'") from None

    def marks(self, connection: str, table: ir.Table) -> Marks:
        """The parts of a table, and marks that change with their rows (parts.py)."""
        url = self._url(connection)
        return self._with(connection, Deadline(), lambda backend: marks_of(backend, url, table))

    def part_tables(
        self, connection: str, table: ir.Table, parts: list[str]
    ) -> list[tuple[ir.Table, str | None]]:
        """Tables that together are these parts (parts.py)."""
        return list(tables_of(self._url(connection), table, parts)) if parts else []

    def rows(self, connection: str, expression: ir.Table, deadline: Deadline) -> pa.Table:
        """The rows of an expression. DeadlineExceeded once the time is over; the statement is interrupted."""
        deadline.check()
        with self._lock:
            queue = self._queues[connection]
        try:
            with queue.turn(deadline):
                return self._with(connection, deadline, lambda backend: backend.rows(expression))
        except Abandoned:
            raise
        except DeadlineExceeded:
            raise DeadlineExceeded(
                f"The database of the connection {connection} took longer than the time allowed; the query "
                "was cancelled there. Ask for fewer days, a smaller split or fewer data fields, or import "
                "the rows for quick estimates"
            ) from None

    def _with(self, connection: str, deadline: Deadline, work: Callable[[Backend], Result]) -> Result:
        """Run work on a connection; once more on a new one where the one at hand had been lost."""
        with self._failures(connection, deadline):
            with self._lock:
                idle = self._idle[connection]
                backend = idle.pop() if idle else None
            if backend is not None:
                try:
                    return self._run(connection, backend, deadline, work)
                except psycopg.errors.LockNotAvailable:
                    raise
                except _CONNECTION_ERRORS:
                    deadline.check()
            return self._run(connection, open_backend(self._url(connection)), deadline, work)

    def _run(
        self, connection: str, backend: Backend, deadline: Deadline, work: Callable[[Backend], Result]
    ) -> Result:
        try:
            with backend.interrupted_at(deadline):
                result = work(backend)
        except BaseException:
            _close(backend)
            raise
        # Whether another statement can follow: a late interrupt of the last would cancel it (PostgreSQL).
        is_clean = False
        try:
            is_clean = not backend.was_interrupted and backend.is_clean()
        except _DRIVER_ERRORS as error:
            log.debug("A connection is not used again: %s", error)
        with self._lock:
            idle = self._idle[connection]
            if is_clean and len(idle) < MOST_IDLE:
                idle.append(backend)
                return result
        _close(backend)
        return result

    def _url(self, connection: str) -> str:
        if connection not in self._urls:
            raise Misconfigured(
                f"The settings have no connection '{connection}': add [connections.{connection}] with its url"
            )
        for name in _VARIABLE.findall(self._urls[connection]):
            if name not in os.environ:
                raise Misconfigured(
                    f"The url of the connection {connection} needs the environment's variable {name}"
                )
        return _VARIABLE.sub(lambda match: os.environ[match[1]], self._urls[connection])

    @contextmanager
    def _failures(self, connection: str, deadline: Deadline) -> Iterator[None]:
        """A driver's error in our own words; its text may contain secrets."""
        try:
            yield
        except TableNotFound:
            raise
        except psycopg.errors.LockNotAvailable as error:
            log.warning("Connection %s: %s", connection, error)
            raise SourceLocked(connection) from None
        except duckdb.IOException as error:
            log.warning("Connection %s: %s", connection, error)
            if _LOCKED_FILE not in str(error):
                raise _refusal(connection, error) from None
            raise SourceUnavailable(
                connection, "is being written by another program; try again in a moment"
            ) from None
        except _DRIVER_ERRORS as error:
            deadline.check()
            is_connection = isinstance(error, _CONNECTION_ERRORS)
            log.log(
                logging.WARNING if is_connection else logging.ERROR, "Connection %s: %s", connection, error
            )
            if _REFUSED_LOGIN.search(str(error)):
                raise Misconfigured(
                    f"The database of the connection {connection} refused the login: check user, password "
                    f"and database in the url of [connections.{connection}]; the log has its words"
                ) from None
            if is_connection:
                raise SourceUnavailable(connection) from None
            raise _refusal(connection, error) from None


def _refusal(connection: str, error: Exception) -> InternalError:
    """In the database's own words where these are of names, files and rights, and of no value or secret."""
    cause = ""
    if isinstance(error, psycopg.Error) and (error.sqlstate or "").startswith(_NAMES_AND_RIGHTS):
        cause = error.diag.message_primary or ""
    elif isinstance(error, duckdb.CatalogException | duckdb.BinderException | duckdb.IOException):
        cause = str(error).partition("\n")[0].partition(": ")[2]
    why = f": {cause}" if cause else "; the log has the details"
    return InternalError(f"The database of the connection {connection} refused the query{why}")


def _close(backend: Backend) -> None:
    try:
        backend.ibis.disconnect()
    except _DRIVER_ERRORS as error:
        log.debug("A connection that was left could not be closed: %s", error)
