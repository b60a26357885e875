"""How each kind of database is opened and interrupted. A kind is an entry of `OPENERS`, by its URL's scheme.

Tested: DuckDB, over a folder of Parquet or a database file, and PostgreSQL. What another kind needs that Ibis
knows is written in docs/connections.md.
"""

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit
from uuid import uuid4

import ibis
import ibis.expr.types as ir
import psycopg
import pyarrow as pa
from ibis.backends.sql import SQLBackend
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from lib.engines.connected import clickhouse, dialects, spark
from lib.engines.connected.dialects import url_options
from lib.engines.connected.parquet import Footers, snapshot_of
from lib.slicers.warehouse import StoredSlicer
from lib.wire import request_ids
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest, Misconfigured

POLL_SECONDS, CONNECT_SECONDS = 0.1, 10
PARQUET, POSTGRESQL, SPARK = "parquet", "postgresql", "sc"
FILES = (PARQUET, "delta", "iceberg")
TITLES = {
    PARQUET: "Parquet",
    "delta": "Delta",
    "iceberg": "Iceberg",
    "duckdb": "DuckDB",
    POSTGRESQL: "PostgreSQL",
    "clickhouse": "ClickHouse",
    SPARK: "Spark",
}
DUCKDB_OPTIONS = frozenset({"threads", "memory_limit"})
AGENT = "tranche"
_POSTGRESQL_OPTIONS = "-c default_transaction_read_only=on -c TimeZone=UTC"
LOCK_SECONDS, LOCK_SHARE = 30.0, 0.8  # for a lock: of what has no deadline, of the time until one
_BEGIN_STATEMENT = "SELECT set_config('application_name', %s, false), set_config('lock_timeout', %s, false)"
_slicer: ContextVar[str] = ContextVar("slicer", default="")


@dataclass
class Backend:
    """An open connection: Ibis's own, what comes before a statement, what interrupts it and what comes after.

    `begin` gets the seconds that the statements may take (None: no limit), and a label for the database's own
    lists. `is_clean` may end what was left behind; where it is False, or raises, the connection is closed.
    """

    ibis: SQLBackend
    interrupt: Callable[[], object]
    begin: Callable[[float | None, str], object] = lambda seconds, label: None
    read: Callable[[ir.Table], pa.Table] | None = None
    is_clean: Callable[[], bool] = lambda: True
    was_interrupted: bool = False

    def rows(self, expression: ir.Table) -> pa.Table:
        """All rows of an expression."""
        return self.ibis.to_pyarrow(expression) if self.read is None else self.read(expression)

    @contextmanager
    def interrupted_at(self, deadline: Deadline) -> Iterator[None]:
        """Interrupt the statement of the block once the deadline is over or nobody waits any more."""
        # `tranche 4f2a… acme/auctions`: the id of the request and the slicer, as far as there are any.
        # PostgreSQL cuts names after 63 bytes: the id comes first.
        self.begin(
            deadline.remaining(),
            " ".join(part for part in (AGENT, request_ids.current(), _slicer.get()) if part),
        )
        stop = threading.Event()
        thread = threading.Thread(target=self._watch, args=(deadline, stop), daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            # a late interrupt would cancel the next statement of this connection
            thread.join()

    def _watch(self, deadline: Deadline, stop: threading.Event) -> None:
        while not stop.wait(POLL_SECONDS):
            if deadline.remaining() == 0:
                self.was_interrupted = True
                self.interrupt()


@contextmanager
def about(slicer: StoredSlicer) -> Iterator[None]:
    """The statements of the block are about this slicer, and say so in the database's lists."""
    before = _slicer.set(f"{slicer.project}/{slicer.name}")
    try:
        yield
    finally:
        _slicer.reset(before)


def open_backend(url: str) -> Backend:
    """A connection to the database at a URL. Misconfigured for a scheme that nothing opens."""
    parts = urlsplit(url)
    if parts.scheme not in OPENERS:
        raise Misconfigured(
            f"A connection's url begins with {', '.join(f'{scheme}://' for scheme in OPENERS)}"
        )
    return OPENERS[parts.scheme](parts, url)


def table_of(backend: Backend, url: str, name: str, footers: Footers) -> ir.Table:
    """The table that a definition names, with the types that the database gives its columns."""
    parts = urlsplit(url)
    if parts.scheme in FILES:
        if not re.fullmatch(r"[\w-]+", name):
            raise BadRequest(f"A table of Parquet files is named by letters, digits, - and _, not '{name}'")
        table = footers.table(backend.ibis.con, _folder(parts), name)
        snapshot = snapshot_of(table)
        if parts.scheme != PARQUET and (not snapshot or snapshot.title != TITLES[parts.scheme]):
            raise BadRequest(f"{name} is no table of {TITLES[parts.scheme]}")
        return table
    if parts.scheme == SPARK:
        return spark.table_of(backend.ibis, parts, name)
    schema, _, table = name.rpartition(".")
    if parts.scheme == POSTGRESQL:
        columns = dialects.postgresql_schema(backend.ibis, schema, table)
    else:
        columns = backend.ibis.table(table, database=schema or None).schema()
    return ibis.table(columns, name=table, database=schema or None)


def _folder(parts: SplitResult) -> Path:
    return Path(parts.netloc + parts.path)


def _open_parquet(parts: SplitResult, url: str) -> Backend:
    if not _folder(parts).is_dir():
        raise Misconfigured(f"There is no folder {_folder(parts)}")
    return _duckdb(dialects.duckdb(**url_options(parts, DUCKDB_OPTIONS, "A")))


def _open_duckdb(parts: SplitResult, url: str) -> Backend:
    if not _folder(parts).is_file():
        raise Misconfigured(f"There is no database file {_folder(parts)}")
    options = url_options(parts, DUCKDB_OPTIONS, "A")
    backend = _duckdb(dialects.duckdb(_folder(parts), read_only=True, **options))
    backend.is_clean = lambda: False  # an open file is locked for whoever writes it
    return backend


def _duckdb(ibis_backend: SQLBackend) -> Backend:
    ibis_backend.raw_sql("SET TimeZone = 'UTC'")
    return Backend(ibis_backend, ibis_backend.con.interrupt, is_clean=partial(_fetch_all, ibis_backend.con))


def _fetch_all(connection: Any) -> bool:
    """End a result that was not read to its end: DuckDB (from 2.0 on) refuses statements after such a one."""
    connection.execute("SELECT 1").fetchall()
    return True


def _open_postgresql(parts: SplitResult, url: str) -> Backend:
    """Statements can only read, whatever the role may do, and know no zone but UTC.

    They end when this process does: PostgreSQL looks for its client while it works (from 14 on, on Linux).
    """
    try:
        parameters = conninfo_to_dict(url)
    except psycopg.ProgrammingError:  # whose text has that of the URL
        raise Misconfigured(
            "A connection's url can't be read: in a name or password, write @ : / ? # % as %40 %3A %2F %3F "
            "%23 %25"
        ) from None
    options: dict[str, Any] = {name: value for name, value in parameters.items() if value is not None}
    database = options.pop("dbname", None)
    options.setdefault("connect_timeout", CONNECT_SECONDS)
    options.setdefault("application_name", AGENT)
    options["options"] = f"{options.get('options', '')} {_POSTGRESQL_OPTIONS}".strip()
    ibis_backend = dialects.postgresql(database=database, **options)
    with suppress(psycopg.errors.UndefinedObject, psycopg.errors.InvalidParameterValue):
        ibis_backend.con.execute("SET client_connection_check_interval = '5s'")
    connection = ibis_backend.con
    return Backend(
        ibis_backend,
        connection.cancel,
        partial(_begin_statement, connection),
        read=partial(dialects.rows_by_copy, ibis_backend),
        is_clean=lambda: connection.info.transaction_status is TransactionStatus.IDLE,
    )


def _begin_statement(connection: psycopg.Connection, seconds: float | None, label: str) -> None:
    """Name the next statement; its wait for a lock ends before its deadline, which tells no cause."""
    patience = LOCK_SECONDS if seconds is None else max(0.001, LOCK_SHARE * seconds)
    connection.execute(_BEGIN_STATEMENT, [label, f"{1000 * patience:.0f}ms"])


def _open_clickhouse(parts: SplitResult, url: str) -> Backend:
    """The server itself stops a statement that takes too long; nothing interrupts it from here."""
    ibis_backend = clickhouse.connect(parts)
    return Backend(ibis_backend, lambda: None, partial(clickhouse.begin, ibis_backend))


def _open_spark(parts: SplitResult, url: str) -> Backend:
    """What a thread asks has a tag, by which it can be cancelled."""
    ibis_backend, tag = spark.connect(parts), uuid4().hex
    return Backend(
        ibis_backend,
        lambda: spark.interrupt(ibis_backend, tag),
        lambda seconds, label: spark.begin(ibis_backend, tag, label),
    )


OPENERS: Mapping[str, Callable[[SplitResult, str], Backend]] = {
    **dict.fromkeys(FILES, _open_parquet),
    "duckdb": _open_duckdb,
    POSTGRESQL: _open_postgresql,
    "clickhouse": _open_clickhouse,
    SPARK: _open_spark,
}
