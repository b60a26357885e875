"""A database of PostgreSQL: the rows of our tables, as COPY writes and reads them.

Not by pg_dump: what that writes is SQL, so that restoring a file means executing it, and it must be as new
as the server. Tables are made by our own migrations, and rows are data.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import psycopg
from psycopg import sql
from sqlalchemy import Connection, MetaData, create_engine, inspect, text
from sqlalchemy.exc import DBAPIError

from lib import database
from lib.database.transaction import DEADLINE
from lib.serving.backup.archive import Damage, PostgresRows, TableRows
from lib.wire.deadline import Deadline
from lib.wire.errors import Misconfigured, StoreUnavailable

PIECE_BYTES = 1 << 18
VERSIONS = "alembic_version"
OUT, IN = sql.SQL("COPY {} ({}) TO STDOUT"), sql.SQL("COPY {} ({}) FROM STDIN")
Columns = Mapping[str, tuple[str, ...]]


def copy(url: str, folder: Path) -> PostgresRows:
    """Write each table's rows into a file in a folder, all as they are at one moment. Writers go on."""
    with transaction(url) as connection:
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        revision = revision_of(connection)
        if revision is None:
            raise Misconfigured("database_url: that database has no tables of Tranche")
        tables = {name: TableRows(columns=columns) for name, columns in tables_of(revision).items()}
        for name, rows in tables.items():
            statement = _copying(OUT, name, rows.columns)
            with (folder / name).open("wb") as file, _cursor(connection).copy(statement) as pieces:
                for piece in pieces:
                    file.write(piece)
            if sequence := sequence_of(connection, name):
                # The last number that the table gave: deleted ones are not given again.
                counter = connection.execute(text(f"select last_value, is_called from {sequence}")).one()  # noqa: S608
                last = int(counter.last_value) if counter.is_called else None
                tables[name] = rows.model_copy(update={"last_number": last})
        return PostgresRows(revision=revision, tables=tables)


def load(url: str, rows: PostgresRows, folder: Path, *, replace: bool) -> None:
    """Fill the database with the rows of the files, all of it or nothing.

    Misconfigured where it holds something else: rows (unless they are to be replaced), or another version.
    """
    tables = tables_of(rows.revision)
    if {name: frozenset(table.columns) for name, table in rows.tables.items()} != {
        name: frozenset(columns) for name, columns in tables.items()
    }:
        raise Damage("The archive's tables are not those of its revision")
    with transaction(url) as connection:
        connection.exec_driver_sql("SET LOCAL lock_timeout = '10s'")
        _make_room(connection, rows.revision, tables, replace=replace)
        for name in tables:
            table = rows.tables[name]
            statement = _copying(IN, name, table.columns)
            with (folder / name).open("rb") as file, _cursor(connection).copy(statement) as target:
                while piece := file.read(PIECE_BYTES):
                    target.write(piece)
            if table.last_number is not None and (sequence := sequence_of(connection, name)):
                setting = {"name": sequence, "last": table.last_number}
                connection.execute(text("select setval(:name, :last)"), setting)


def tables_of(revision: str) -> dict[str, tuple[str, ...]]:
    """The tables that the migrations up to a revision make, each after those that it refers to.

    Damage for a revision that this version does not know.
    """
    with create_engine("sqlite://").connect() as connection:
        database.upgrade(connection, revision)
        meta_data = MetaData()
        meta_data.reflect(connection)
    ours = [table for table in meta_data.sorted_tables if table.name != VERSIONS]
    return {table.name: tuple(column.name for column in table.columns) for table in ours}


def revision_of(connection: Connection) -> str | None:
    """The revision of a database's tables, PostgreSQL or SQLite; None without tables of ours."""
    if not inspect(connection).has_table(VERSIONS):
        return None
    revision: str | None = connection.execute(text(f"select version_num from {VERSIONS}")).scalar()  # noqa: S608
    return revision


def _make_room(connection: Connection, revision: str, columns: Columns, *, replace: bool) -> None:
    """Empty tables of this revision."""
    existing = revision_of(connection)
    if existing is None:
        database.upgrade(connection, revision)
        return
    if existing != revision:
        raise Misconfigured(
            f"The database of database_url has tables of another version ({existing}, the backup "
            f"{revision}): name an empty database"
        )
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    cursor = _cursor(connection)
    cursor.execute(sql.SQL("LOCK TABLE {}").format(names))
    exists = sql.SQL("select exists (select from {})")
    full = [
        name for name in columns if cursor.execute(exists.format(sql.Identifier(name))).fetchone() == (True,)
    ]
    if full and not replace:
        raise Misconfigured(
            f"The database of database_url holds rows ({', '.join(full[:3])}): name an empty database, or "
            "replace everything with --replace"
        )
    cursor.execute(sql.SQL("TRUNCATE {} RESTART IDENTITY").format(names))


def _copying(statement: sql.SQL, table: str, columns: tuple[str, ...]) -> sql.Composed:
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    return statement.format(sql.Identifier(table), names)


def sequence_of(connection: Connection, table: str) -> str | None:
    """The counter of a table's `id`, quoted by the server; None without one."""
    has = text(
        "select 1 from information_schema.columns "
        "where table_schema = current_schema() and table_name = :table and column_name = 'id'"
    )
    if connection.execute(has, {"table": table}).scalar() is None:
        return None
    own = text("select pg_get_serial_sequence(quote_ident(:table), 'id')")
    sequence: str | None = connection.execute(own, {"table": table}).scalar()
    return sequence


def _cursor(connection: Connection) -> psycopg.Cursor[Any]:
    driver = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
    return driver.cursor()


@contextmanager
def transaction(url: str) -> Iterator[Connection]:
    """A transaction that takes its time; StoreUnavailable, with the database's reason, where it fails."""
    engine = database.engine(url).execution_options(**{DEADLINE: Deadline()})
    try:
        with engine.begin() as connection:
            yield connection
    except DBAPIError as error:
        raise StoreUnavailable(f"The database failed: {_line(error.orig)}. Nothing was changed") from error
    except psycopg.Error as error:
        raise StoreUnavailable(f"The database failed: {_line(error)}. Nothing was changed") from error
    finally:
        engine.dispose()


def _line(error: BaseException | None) -> str:
    return str(error).strip().splitlines()[0].rstrip(".")
