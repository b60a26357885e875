"""Fixtures for stores that are tested once per database: SQLite, and a real PostgreSQL.

PostgreSQL runs in a temporary folder, on a Unix socket, as nobody when the tests run as root.
"""

import importlib.util
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from spark_server import missing_for_spark, spark_server
from sqlalchemy import Engine, NullPool, create_engine, inspect, make_url, text
from sqlalchemy.exc import DBAPIError

from lib import database

NUMBERS = count(1)
EMPTY = "template1"  # from which PostgreSQL makes a database where none is named
LOOKS = 400  # 20 s
ACTIVE = """
SELECT count(*) FROM pg_stat_activity
WHERE state = 'active' AND datname = current_database() AND pid <> pg_backend_pid() AND query LIKE %s
"""
MANY_CONNECTIONS = "-c listen_addresses= -c max_connections=400"
UNSAFE_BUT_QUICK = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_wal_size=128MB"


def binaries() -> Path | None:
    """The folder of `initdb` and `pg_ctl`, the newest if there are several; None without PostgreSQL."""
    on_path = shutil.which("pg_ctl")
    known = [Path(on_path)] if on_path else sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    return known[-1].resolve().parent if known else None


class Postgres:
    """A PostgreSQL server in a folder of its own. `url` is that of its databases, with `{}` for the name."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs, self._folder = programs, folder
        self._owner = {"user": "nobody", "group": "nogroup"} if os.geteuid() == 0 else {}
        self.url = f"postgresql+psycopg://tranche@/{{}}?host={folder}"

    def prepare(self) -> None:
        """Make its files."""
        if self._owner:
            shutil.chown(self._folder, **self._owner)
        options = ["-U", "tranche", "-A", "trust", "-E", "UTF8", "-N", "--locale=C"]
        self._run("initdb", *options)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"{MANY_CONNECTIONS} {UNSAFE_BUT_QUICK} -k {self._folder}"
        self._run("pg_ctl", "-w", "-s", "-l", self._folder / "log", "-o", options, "start")

    def stop(self, how: str) -> None:
        """Stop it: `fast` keeps all that was committed, `immediate` doesn't wait for the disk."""
        self._run("pg_ctl", "-w", "-s", "-m", how, "stop")

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Its processes are stopped during the block: it takes what is sent, and answers nothing."""
        main = (self._folder / "data/postmaster.pid").read_text().split()[0]
        os.kill(int(main), signal.SIGSTOP)  # first: it would start others
        numbers = [main, *Path(f"/proc/{main}/task/{main}/children").read_text().split()]
        try:
            for number in numbers:
                os.kill(int(number), signal.SIGSTOP)
            yield
        finally:
            for number in numbers:
                with suppress(ProcessLookupError):  # ended meanwhile, and taken by the first that goes on
                    os.kill(int(number), signal.SIGCONT)

    def _run(self, program: str, *options: str | Path) -> None:
        command = [self._programs / program, "-D", self._folder / "data", *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self._folder, **self._owner)


@contextmanager
def server(programs: Path) -> Iterator[Postgres]:
    """A running server, stopped in the end."""
    folder = Path(tempfile.mkdtemp(prefix="tranche-pg-"))
    try:
        made = Postgres(programs, folder)
        made.prepare()
        made.start()
        try:
            yield made
        finally:
            made.stop("immediate")
    finally:
        shutil.rmtree(folder)


def found() -> Path:
    """The folder of PostgreSQL's programs, or a loud skip."""
    programs = binaries()
    if programs is None:
        pytest.skip("NOT RUN on PostgreSQL: it is not installed (Debian's package postgresql)")
    return programs


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A PostgreSQL server, or a loud skip where there is none."""
    with server(found()) as running:
        yield running.url


@pytest.fixture(scope="session", autouse=True)
def tables_made_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Migrating a new SQLite file copies the tables that the migrations made in another."""
    template, migrate = tmp_path_factory.mktemp("template") / "tranche.db", database.migrate

    def copy_or_migrate(engine: Engine) -> None:
        with suppress(DBAPIError, sqlite3.Error):  # of what can't be used the migrations say why
            if engine.dialect.name == "sqlite" and not inspect(engine).get_table_names():
                if not template.exists():
                    migrate(database.engine(f"sqlite:///{template}"))
                with closing(sqlite3.connect(template)) as source, closing(_file(engine)) as new:
                    source.backup(new)
        migrate(engine)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "migrate", copy_or_migrate)
        yield


def _file(engine: Engine) -> sqlite3.Connection:
    return sqlite3.connect(str(engine.url.database), timeout=10)


@pytest.fixture(scope="session")
def postgres_tables(postgres_server: str) -> str:
    """The name of a PostgreSQL database whose tables the migrations made, for others to begin with."""
    url = new_database_of(postgres_server)
    engine = database.engine(url)
    database.migrate(engine)
    engine.dispose()  # a database to which somebody is connected can't be copied
    return str(make_url(url).database)


@pytest.fixture(scope="session")
def rows_database(postgres_server: str) -> str:
    """The URL of a PostgreSQL database for the rows of connected slicers."""
    return new_database_of(postgres_server).replace("postgresql+psycopg://", "postgresql://")


def missing_for_clickhouse() -> str:
    """The packages that tests on ClickHouse need and that are not installed."""
    return ", ".join(
        name for name in ("chdb", "clickhouse_connect") if importlib.util.find_spec(name) is None
    )


@pytest.fixture(scope="session")
def clickhouse_database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a ClickHouse (chdb behind its HTTP protocol), or a loud skip where it is not installed."""
    if missing := missing_for_clickhouse():
        pytest.skip(f"NOT RUN on ClickHouse: not installed: {missing} (CONTRIBUTING.md)")
    with clickhouse(tmp_path_factory.mktemp("clickhouse")) as url:
        yield url


@contextmanager
def clickhouse(folder: Path) -> Iterator[str]:
    """The URL of a running ClickHouse with its rows in a folder, killed in the end."""
    command = [sys.executable, Path(__file__).with_name("clickhouse_server.py"), folder]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            yield f"clickhouse://127.0.0.1:{running.stdout.readline().strip()}/default"
        finally:
            running.kill()


@pytest.fixture(scope="session")
def spark_connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of Spark Connect, or a loud skip where what it needs is not installed."""
    if missing := missing_for_spark():
        pytest.skip(f"NOT RUN on Spark: not installed: {missing} (CONTRIBUTING.md)")
    with spark_server(tmp_path_factory.mktemp("spark")) as (address, _):
        yield address


@pytest.fixture(scope="session")
def spark_folder(spark_connect: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of that server, over a folder of Parquet files of its own."""
    return f"{spark_connect}?partitions=2&folder={tmp_path_factory.mktemp('spark-rows')}"


@pytest.fixture
def postgres(postgres_server: str) -> Iterator[str]:
    """The URL of a new, empty PostgreSQL database, dropped in the end."""
    with _temporary(postgres_server) as url:
        yield url


@contextmanager
def _temporary(postgres_server: str, tables: str = "") -> Iterator[str]:
    url = new_database_of(postgres_server, tables)
    yield url
    # A test's engines, and so their connections, live until the garbage collector comes by; and a run makes
    # hundreds of databases, 8 MB each, in memory.
    run_on_server(postgres_server, f"DROP DATABASE {make_url(url).database} WITH (FORCE)")


def new_database_of(postgres_server: str, tables: str = "") -> str:
    """The URL of a new database of this server: empty, or with the tables of the database of that name."""
    name = f"test_{next(NUMBERS)}"
    run_on_server(postgres_server, f"CREATE DATABASE {name} TEMPLATE {tables or EMPTY}")
    return postgres_server.format(name)


def run_on_server(postgres_server: str, statement: str) -> None:
    """Run a statement outside of a transaction and of all databases of tests."""
    engine = create_engine(
        postgres_server.format("postgres"), isolation_level="AUTOCOMMIT", poolclass=NullPool
    )
    with engine.connect() as connection:
        connection.execute(text(statement))


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a new database without rows: once on SQLite, once on PostgreSQL with its tables."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('database')}/home/tranche.db"
    else:
        server, tables = (
            request.getfixturevalue("postgres_server"),
            request.getfixturevalue("postgres_tables"),
        )
        with _temporary(server, tables) as url:
            yield url


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """An engine over such a database, which has its tables."""
    opened = database.engine(database_url)
    database.migrate(opened)
    yield opened
    opened.dispose()


def active_statements(database: psycopg.Connection[Any], text: str) -> int:
    """How many statements with this text run now over other connections to this database."""
    row = database.execute(ACTIVE, [f"%{text}%"]).fetchone()
    assert row is not None
    return int(row[0])


def await_active(database: psycopg.Connection[Any], text: str, is_active: bool) -> None:
    """Wait until such a statement runs, or until none does. AssertionError after 20 s."""
    for _ in range(LOOKS):
        if (active_statements(database, text) > 0) == is_active:
            return
        database.execute("SELECT pg_sleep(0.05)")
    raise AssertionError(f"{active_statements(database, text)} statements with {text} run")
