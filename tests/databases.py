"""Fixtures for stores that are tested once per database: SQLite, and a real PostgreSQL.

PostgreSQL runs in a temporary folder, on a Unix socket, as nobody when the tests run as root.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

NUMBERS = count(1)
UNSAFE_BUT_QUICK = "-c listen_addresses= -c fsync=off -c synchronous_commit=off -c full_page_writes=off"


def binaries() -> Path | None:
    """The folder of `initdb` and `pg_ctl`, the newest if there are several; None without PostgreSQL."""
    on_path = shutil.which("pg_ctl")
    found = [Path(on_path)] if on_path else sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    return found[-1].resolve().parent if found else None


@contextmanager
def server(programs: Path) -> Iterator[str]:
    """A server, stopped in the end: the URL of its databases, with `{}` for the name."""
    folder = Path(tempfile.mkdtemp(prefix="tranche-pg-"))
    owner = {}
    if os.geteuid() == 0:
        owner = {"user": "nobody", "group": "nogroup"}
        shutil.chown(folder, **owner)
    control = [programs / "pg_ctl", "-D", folder / "data", "-w", "-s"]
    start = ["-l", folder / "log", "-o", f"{UNSAFE_BUT_QUICK} -k {folder}", "start"]
    try:
        initdb = [
            programs / "initdb",
            "-D",
            folder / "data",
            "-U",
            "tranche",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "-N",
        ]
        subprocess.run([*initdb, "--locale=C"], check=True, stdout=subprocess.DEVNULL, cwd=folder, **owner)
        subprocess.run([*control, *start], check=True, stdout=subprocess.DEVNULL, cwd=folder, **owner)
        yield f"postgresql+psycopg://tranche@/{{}}?host={folder}"
        subprocess.run([*control, "-m", "immediate", "stop"], check=True, cwd=folder, **owner)
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A PostgreSQL server, or a loud skip where there is none."""
    programs = binaries()
    if programs is None:
        pytest.skip("NOT RUN on PostgreSQL: it is not installed (Debian's package postgresql)")
    with server(programs) as url:
        yield url


@pytest.fixture
def postgres(postgres_server: str) -> str:
    """The URL of a new, empty PostgreSQL database."""
    name = f"test_{next(NUMBERS)}"
    maker = create_engine(postgres_server.format("postgres"), isolation_level="AUTOCOMMIT")
    with maker.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    maker.dispose()
    return postgres_server.format(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a new, empty database: once on SQLite, once on PostgreSQL."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres"))
    return f"sqlite:///{tmp_path_factory.mktemp('database')}/home/tranche.db"
