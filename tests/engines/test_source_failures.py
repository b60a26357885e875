"""What is said when the database of a connected slicer answers, but not the question."""

import subprocess
import sys
from pathlib import Path

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_connected_plans import Slicer
from test_connected_values import DAY, by_country

from lib.engines.connected import Connections
from lib.wire.deadline import Deadline
from lib.wire.errors import InternalError, Misconfigured, SourceLocked, SourceUnavailable
from lib.wire.filters import Filter

SECONDS = 2.0


@pytest.mark.parametrize(
    "change", [("tranche@", "stranger@"), ("/test_", "/no_test_")], ids=["user", "database"]
)
def test_a_refused_login_is_no_silence(rows_database: str, change: tuple[str, str]) -> None:
    """The database is there: the settings are wrong, and trying again in a minute would change nothing."""
    url = rows_database.replace(*change)
    with pytest.raises(Misconfigured, match=r"sales refused the login.*\[connections\.sales\]"):
        Connections({"sales": url}).reach("sales", Deadline(SECONDS))


def test_a_locked_table_is_named_as_the_cause(rows_database: str) -> None:
    """Fewer days would not help against another session's lock; what is said comes before the deadline."""
    connections = Connections({"sales": rows_database})
    with psycopg.connect(rows_database) as admin:
        admin.execute("CREATE TABLE locked_rows AS SELECT 1 AS bids")
        admin.commit()
        table = connections.table("sales", "locked_rows")
        admin.execute("LOCK TABLE locked_rows IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(SourceLocked, match="locked by another session"):
            connections.rows("sales", table, Deadline(SECONDS))
        admin.rollback()
        assert connections.rows("sales", table, Deadline(60)).to_pylist() == [{"bids": 1}]


def test_what_a_role_may_not_read_is_named(rows_database: str) -> None:
    """A person reads the database's own words where these name the cause and no value."""
    with psycopg.connect(rows_database, autocommit=True) as admin:
        admin.execute("CREATE TABLE closed_rows AS SELECT 1 AS bids")
        admin.execute("CREATE ROLE nosy LOGIN")
    connections = Connections({"sales": rows_database.replace("tranche@", "nosy@")})
    table = connections.table("sales", "closed_rows")
    with pytest.raises(
        InternalError, match="connection sales refused the query: permission denied for table"
    ):
        connections.rows("sales", table, Deadline(60))


def test_a_view_that_reads_nothing_says_so(tmp_path: Path) -> None:
    """The file that a view of DuckDB reads and that is gone is named."""
    rows = tmp_path / "gone.parquet"
    pq.write_table(pa.table({"bids": [1]}), rows)
    with duckdb.connect(tmp_path / "rows.duckdb") as admin:
        admin.execute(f"CREATE VIEW sales AS FROM '{rows}'")
    connections = Connections({"sales": f"duckdb://{tmp_path}/rows.duckdb"})
    table = connections.table("sales", "sales")
    rows.unlink()
    with pytest.raises(InternalError, match=r"refused the query: .*gone\.parquet"):
        connections.rows("sales", table, Deadline(60))


def write(folder: Path, name: str, bids: float) -> None:
    """A file with one record."""
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"at": [DAY], "country": ["US"], "bids": [bids]}), folder / name)


def test_files_that_were_replaced_are_read_again(tmp_path: Path) -> None:
    """A load that replaces the files of a folder between two questions costs no answer."""
    folder = tmp_path / "lake" / "sales"
    write(folder, "a.parquet", 1)
    slicer = Slicer(tmp_path, f"parquet://{tmp_path}/lake")
    assert by_country(slicer) == {"US": 1}
    (folder / "a.parquet").unlink()
    write(folder, "b.parquet", 2)
    assert by_country(slicer) == {"US": 2}


WRITER = """
import duckdb, sys
with duckdb.connect(sys.argv[1]) as connection:
    connection.execute("UPDATE sales SET bids = 2")
    print("written", flush=True)
    sys.stdin.read()
"""


def test_a_file_of_duckdb_can_be_written_between_questions(tmp_path: Path) -> None:
    """No question keeps a file locked for its writers; during a write, a sentence says so."""
    file = tmp_path / "rows.duckdb"
    with duckdb.connect(file) as admin:
        admin.execute(
            "CREATE TABLE sales AS SELECT TIMESTAMPTZ '2026-03-16 00:00+00' AS at, 'US' AS country, 1 AS bids"
        )
    slicer = Slicer(tmp_path, f"duckdb://{file}")
    assert by_country(slicer) == {"US": 1}
    command = [sys.executable, "-c", WRITER, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"written\n"
        with pytest.raises(SourceUnavailable, match="is being written by another program"):
            by_country(slicer)
        writer.communicate()
    assert by_country(slicer) == {"US": 2}


def test_collations_that_take_texts_for_equal(tmp_path: Path, rows_database: str) -> None:
    """Texts of a column that ignores case are compared as they are stored, as everywhere else."""
    with psycopg.connect(rows_database, autocommit=True) as admin:
        admin.execute(
            "CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
        admin.execute("CREATE TABLE folded (at timestamptz, country text COLLATE nocase, bids float8)")
        admin.cursor().executemany("INSERT INTO folded VALUES (%s, %s, %s)", [(DAY, "US", 1), (DAY, "us", 2)])
    slicer = Slicer(tmp_path, rows_database, "folded")
    assert by_country(slicer) == {"US": 1, "us": 2}
    for match, value in (("contains", "S"), ("begins with", "U"), ("ends with", "S"), ("equals", "US")):
        assert by_country(slicer, Filter(name="country", match=match, value=(value,))) == {"US": 1}
