"""Work that one process of all those over a database does, like checking alerts."""

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from lib import private
from lib.database.transaction import explain_errors

LOCKS = 7_226_245  # of advisory locks, as in migrate.py: the first of two numbers
TAKEN = text("select pg_try_advisory_lock(:of, :key)")
HELD = text(
    "select count(*) from pg_locks where locktype = 'advisory' and granted and pid = pg_backend_pid() "
    "and classid = :of and objid = :key and database = (select oid from pg_database where datname = "
    "current_database())"
)
LIVELY = "set tcp_keepalives_idle = 20; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3"


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
            connection.execute(TAKEN, numbers)
        yield lambda: _holds(connection, numbers)


def _holds(connection: Connection, numbers: dict[str, int]) -> bool:
    try:
        return bool(connection.execute(HELD, numbers).scalar_one())
    except SQLAlchemyError:
        return False
