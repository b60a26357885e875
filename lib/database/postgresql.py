"""PostgreSQL: its connections, of which every wait ends on this side too, whatever becomes of the server."""

import time
from functools import partial
from typing import Any

import psycopg
from psycopg import errors
from psycopg.abc import RV, PQGen
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL, Dialect
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

from lib.database.transaction import BUSY_SECONDS, begin_on_postgresql
from lib.wire.deadline import Deadline

CONNECT_SECONDS = 5
STATEMENT_SECONDS, IDLE_SECONDS = 10, 60
GRACE_SECONDS = 1.0  # a server that is well ends a statement itself, and the connection stays good
POLL_SECONDS = 0.1
IDLE_SINCE = "tranche_idle_since"


class PostgresConnection(psycopg.Connection[Any]):
    """A connection that is closed when nothing comes from its server in time.

    A server that is frozen, or behind a network that swallows bytes, enforces no `statement_timeout`.
    `deadline` is that of the transaction; without one, a statement may take ten seconds.
    """

    deadline: Deadline | None = None

    def wait(self, gen: PQGen[RV], interval: float = POLL_SECONDS, timeout: float | None = None) -> RV:
        """As psycopg's; QueryCanceled, as for a statement that the server ends, when the time is over."""
        seconds = STATEMENT_SECONDS if self.deadline is None else self.deadline.remaining()
        if timeout is None and seconds is not None:
            timeout = seconds + GRACE_SECONDS
        try:
            return super().wait(gen, interval, timeout)
        except errors._WaitTimeout:
            self.close()  # a late answer would be read as that of the next statement
            raise errors.QueryCanceled("The server did not answer; its connection was closed") from None


def engine(url: URL) -> Engine:
    """An engine whose connections and statements end within their time, waits for the pool included."""
    options = {"connect_timeout": CONNECT_SECONDS}
    server = create_engine(url, hide_parameters=True, pool_timeout=BUSY_SECONDS, connect_args=options)
    event.listen(server, "do_connect", _connect)
    event.listen(server, "connect", _limit_statements)
    event.listen(server, "checkin", _note_return)
    event.listen(server, "checkout", partial(_check_idle, server.dialect))
    event.listen(server, "begin", begin_on_postgresql)
    return server


def _connect(
    dialect: Dialect, entry: ConnectionPoolEntry, arguments: Any, parameters: Any
) -> PostgresConnection:
    try:
        return PostgresConnection.connect(*arguments, **parameters)
    except errors.ConnectionTimeout as error:
        raise errors.QueryCanceled(f"The server did not answer: {error}") from None


def _limit_statements(connection: PostgresConnection, entry: ConnectionPoolEntry) -> None:
    """What any statement may take, lock waits included, unless its transaction has a deadline."""
    connection.execute(f"SET statement_timeout = {1000 * STATEMENT_SECONDS}")
    connection.commit()


def _note_return(connection: PostgresConnection | None, entry: ConnectionPoolEntry) -> None:
    entry.info[IDLE_SINCE] = time.monotonic()
    if connection is not None:  # as it is for one that was lost
        connection.deadline = None


def _check_idle(
    dialect: Dialect, connection: PostgresConnection, entry: ConnectionPoolEntry, proxy: PoolProxiedConnection
) -> None:
    """Ask whether a connection is alive that was idle for long: a firewall or a restart may have ended it.

    Others are used as they are, which saves every request a round trip. Where one is lost, the pool opens all
    of them anew, and what only reads, or has not begun to write, is repeated.
    """
    idle_since = entry.info.get(IDLE_SINCE)
    if idle_since is None or time.monotonic() - idle_since < IDLE_SECONDS:
        return
    connection.deadline = Deadline(CONNECT_SECONDS)
    try:
        dialect.do_ping(connection)  # type: ignore[arg-type]
    except psycopg.Error as error:
        raise DisconnectionError from error  # the pool then takes a new connection
    connection.deadline = None
