"""Opening the database, SQLite in a file of our own or PostgreSQL by its URL, and migrating it."""

import logging
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.pool import ConnectionPoolEntry

from lib.database.transaction import BUSY_SECONDS, begin_on_sqlite, writing
from lib.wire import private
from lib.wire.deadline import Deadline
from lib.wire.errors import Misconfigured

SCRIPTS = Path(__file__).parent / "migrations"
FIRST_REVISION = "0046"  # of the first release
POSTGRES_LOCK = 7_226_243  # of an advisory lock, as in transaction.py
_one_at_a_time = threading.RLock()


def engine(url: str) -> Engine:
    """An engine for a SQLAlchemy URL; nothing is migrated.

    SQLite: the file is made closed to others (0600), with a write-ahead log, foreign keys and ten seconds'
    patience for another writer. Transactions that write begin with `writing(engine).begin()`.
    """
    try:
        url_object = make_url(url)
        url_object.get_dialect().import_dbapi()
    except (ArgumentError, NoSuchModuleError):
        raise Misconfigured("database_url is no URL that SQLAlchemy knows, like sqlite:///file.db") from None
    except ImportError as error:
        raise Misconfigured(f"database_url: this database needs the Python package {error.name}") from None
    if url_object.get_backend_name() not in ("sqlite", "postgresql"):
        raise Misconfigured(f"database_url: SQLite or PostgreSQL, not {url_object.get_backend_name()}")
    if url_object.get_backend_name() != "sqlite":
        from lib.database import postgresql  # its driver is nothing for a desk over SQLite

        return postgresql.engine(url_object)
    if not url_object.database or url_object.database == ":memory:":
        example = "sqlite:////var/lib/tranche/tranche.db"
        raise Misconfigured(f"database_url: SQLite needs a file here, like {example}")
    _prepare(Path(url_object.database))
    engine = create_engine(url_object, hide_parameters=True, connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", begin_on_sqlite)
    return engine


def _prepare(path: Path) -> None:
    """Make the file with its mode and its log, once: later processes must not fight over the change.

    A file that is there is never opened but by SQLite: closing it would drop all locks that SQLite holds on
    it in this process, and lose writes (sqlite.org, How To Corrupt An SQLite Database File, 2.2).
    """
    try:
        with private.lock(path):
            if not path.exists():
                # Make the file beside its place: whoever is killed meanwhile leaves no empty one there.
                fresh = path.with_name(f".{path.name}.new")
                fresh.unlink(missing_ok=True)
                os.close(os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, private.FILE_MODE))
                try:
                    _use_log(fresh)
                    path.hardlink_to(fresh)
                finally:
                    fresh.unlink()
            elif path.stat().st_size == 0:
                raise Misconfigured(
                    f"database_url: {path} is empty, which it never is once Tranche has made it. Restore it "
                    "from a backup; or remove it, to start without people, tokens and deals"
                )
            _use_log(path)
    except (OSError, sqlite3.Error) as error:
        raise Misconfigured(f"database_url: {path} can't be used: {error}") from error


def _use_log(path: Path) -> None:
    with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")


def _configure(connection: sqlite3.Connection, entry: ConnectionPoolEntry) -> None:
    """Per connection; with `isolation_level` None the driver leaves BEGIN to `begin_on_sqlite`.

    FULL: what was acknowledged is there after a power cut too.
    """
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA synchronous=FULL")


def migrate(engine: Engine) -> None:
    """Run the migrations that are missing, all or none; processes that start together wait for one another.

    Misconfigured if the database can't be reached, or belongs to a later version of the program.
    """
    try:
        with engine.connect() as connection:
            # Whether a migration is missing is known without Alembic, which takes long to import.
            if inspect(connection).has_table("alembic_version"):
                newest = max(path.name for path in (SCRIPTS / "versions").glob("v*.py"))  # v0046_start.py
                revisions = connection.scalars(text("select version_num from alembic_version"))
                if [*revisions] == [newest[1:5]]:
                    return
        with _one_at_a_time, writing(engine).begin() as connection:
            upgrade(connection)
    except DBAPIError as error:
        raise Misconfigured(f"database_url: the database can't be used: {error.orig}") from error


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Run the migrations that are missing up to a revision, in the transaction of this connection.

    Misconfigured for a revision, given or in the database, that this version of the program does not know.
    """
    logging.getLogger("alembic.runtime.plugins").setLevel(logging.WARNING)  # it lists itself on import
    from alembic import command
    from alembic.config import Config
    from alembic.migration import MigrationContext
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    try:
        with _one_at_a_time:
            if connection.dialect.name == "postgresql":
                driver: Any = connection.connection.dbapi_connection
                driver.deadline = Deadline()  # large tables take longer
                connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
                connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": POSTGRES_LOCK})
            config.attributes["connection"] = connection
            command.upgrade(config, revision)
    except CommandError as error:
        unknown = MigrationContext.configure(connection).get_current_revision() or revision
        if unknown < FIRST_REVISION:
            raise Misconfigured(
                f"The database is of a version before the first release (revision {unknown}), and was not "
                "changed: upgrade it with the code of 28 November 2026, or start with a new data directory"
            ) from error
        raise Misconfigured(f"The database is of another version of Tranche: {error}") from error
