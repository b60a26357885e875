"""The days of connected tables: counted once, and again only where the database shows a change."""

import datetime as dt
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_connected_plans import DAYS, FIRST, PER_DAY, ROWS, Recorder, fill, rows

from lib.engines.connected import LiveSlicers
from lib.engines.connected.days import FILE
from lib.engines.connected.parquet import ParquetFiles
from lib.slicers.definition import Definition
from lib.slicers.warehouse import StoredSlicer, Warehouse
from lib.wire.errors import SourceUnavailable


class Desk:
    """A process of a desk over one connected slicer. `now` is its clock, in seconds."""

    def __init__(self, folder: Path, url: str, **source: str) -> None:
        self.now = 0.0
        self.connections = Recorder(url)
        live = LiveSlicers(self.connections, lambda: self.now, patience=60)
        self.warehouse = Warehouse(folder / "warehouse", live.current)
        if not self.warehouse.has("p", "sales"):
            content = {
                "time": {"column": "at", "granularity": "hour"},
                "key_fields": [{"name": "country"}],
                "data_fields": [{"name": "bids"}],
                "source": {"connection": ROWS, "table": "sales"} | source,
            }
            self.warehouse.connect("p", "sales", Definition.model_validate(content))

    def open(self, after: float = 0.0) -> StoredSlicer:
        """The slicer so many seconds later; `statements` are those that it took."""
        self.now += after
        before = len(self.connections.expressions)
        stored = self.warehouse.open("p", "sales")
        self.statements = [str(expression.unbind()) for expression in self.connections.expressions[before:]]
        return stored


@pytest.fixture
def table(postgres: str) -> Iterator[tuple[str, psycopg.Connection[Any]]]:
    """A table `sales` in PostgreSQL: its URL, and a connection that may write."""
    url = postgres.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE TABLE sales (at timestamptz, country text, bids float8)")
        fill(admin)
        flush(admin)
        yield url, admin


def flush(admin: psycopg.Connection[Any]) -> None:
    """Make what was counted of changes visible to other sessions."""
    admin.execute("SELECT pg_stat_force_next_flush()")


def counted(admin: psycopg.Connection[Any]) -> dict[dt.date, int]:
    """The records of each day, counted in the database."""
    return dict(admin.execute("SELECT at::date, count(*) FROM sales GROUP BY 1 ORDER BY 1").fetchall())


def test_nothing_is_counted_while_nothing_changes(tmp_path: Path, table: Any) -> None:
    """Days are counted once; later no row is read, and what was answered stays valid."""
    desk = Desk(tmp_path, table[0])
    before = desk.open()
    assert (dict(before.rows), len(desk.statements)) == (counted(table[1]), 1)
    for _ in range(3):
        again = desk.open(after=60)
        assert desk.statements == []
        assert (again.version, again.read_at) == (before.version, before.read_at)


def test_new_rows_are_counted_from_the_last_days_on(tmp_path: Path, table: Any) -> None:
    """Rows at the end are found without reading the others; rows before are found as well."""
    url, admin = table
    desk = Desk(tmp_path, url)
    before = desk.open()
    desk.open(after=60)
    for days, is_whole in ((DAYS, False), (3, True), (DAYS + 1, False)):
        day = FIRST + dt.timedelta(days=days)
        admin.execute("INSERT INTO sales SELECT %s, 'US', 1 FROM generate_series(1, 7)", [day])
        flush(admin)
        after = desk.open(after=60)
        assert dict(after.rows) == counted(admin)
        assert after.version != before.version
        is_bounded = [">=" in statement for statement in desk.statements]
        assert is_bounded == ([True, False] if is_whole else [True])


def test_changed_and_deleted_rows_are_counted_again(tmp_path: Path, table: Any) -> None:
    """What was changed, deleted or truncated shows, and answers from before are not used any more."""
    url, admin = table
    desk = Desk(tmp_path, url)
    before = desk.open()
    desk.open(after=60)
    for statement in (
        f"DELETE FROM sales WHERE at < '{FIRST + dt.timedelta(days=2)}'",
        "UPDATE sales SET bids = 5 WHERE country = 'US'",
        "TRUNCATE sales",
    ):
        admin.execute(statement)
        flush(admin)
        after = desk.open(after=60)
        assert dict(after.rows) == counted(admin)
        assert after.read_at != before.read_at
        before = after


def test_only_changed_partitions_are_counted(tmp_path: Path, postgres: str) -> None:
    """Of a partitioned table, the partitions are counted that have changed."""
    url = postgres.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(
            "CREATE TABLE sales (at timestamptz, country text, bids float8) PARTITION BY RANGE (at)"
        )
        for number in range(4):
            first, end = (FIRST + dt.timedelta(days=10 * place) for place in (number, number + 1))
            admin.execute(
                f"CREATE TABLE sales_{number} PARTITION OF sales FOR VALUES FROM ('{first}') TO ('{end}')"
            )
        fill(admin)
        flush(admin)
        desk = Desk(tmp_path, url)
        assert dict(desk.open().rows) == counted(admin)
        assert len(desk.statements) == 4
        admin.execute("DELETE FROM sales_1 WHERE country = 'US'")
        flush(admin)
        assert dict(desk.open(after=60).rows) == counted(admin)
        assert [statement.count("sales_1") > 0 for statement in desk.statements] == [True]


def test_only_changed_files_are_counted(tmp_path: Path) -> None:
    """Of a folder of Parquet files, those are counted that came or changed; those that went are left out."""
    folder = tmp_path / "lake" / "sales"
    folder.mkdir(parents=True)
    for number in range(4):
        pq.write_table(rows().slice(number * 10 * PER_DAY, 10 * PER_DAY), folder / f"{number}.parquet")

    def expected() -> dict[dt.date, int]:
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            sql = f"SELECT CAST(\"at\" AS date), count(*) FROM '{folder}/*.parquet' GROUP BY 1 ORDER BY 1"
            return dict(connection.execute(sql).fetchall())

    desk = Desk(tmp_path, f"parquet://{tmp_path}/lake")
    assert (dict(desk.open().rows), len(desk.statements)) == (expected(), 1)
    pq.write_table(rows().slice(0, PER_DAY), folder / "0.parquet")
    (folder / "3.parquet").unlink()
    assert dict(desk.open(after=60).rows) == expected()
    (files,) = desk.connections.expressions[-1].op().find(ParquetFiles)
    assert (len(desk.statements), files.layout.files) == (1, [str(folder / "0.parquet")])


def test_other_processes_share_what_was_counted(tmp_path: Path, table: Any) -> None:
    """What one process has counted, another one uses without a count of its own."""
    before = Desk(tmp_path, table[0]).open()
    other = Desk(tmp_path, table[0])
    assert (other.open().version, other.statements) == (before.version, [])
    os.utime(before.folder / FILE, (0, 0))
    late = Desk(tmp_path, table[0])
    assert (late.open().version, late.statements) == (before.version, [])


def test_a_view_is_counted_every_time(tmp_path: Path, table: Any) -> None:
    """Of a view nothing tells whether it has changed: it is counted anew, and answers last a minute."""
    url, admin = table
    admin.execute("ALTER TABLE sales RENAME TO stored")
    admin.execute("CREATE VIEW sales AS SELECT * FROM stored")
    desk = Desk(tmp_path, url)
    before = desk.open()
    after = desk.open(after=60)
    assert (len(desk.statements), after.version) == (1, before.version)
    assert after.read_at > before.read_at


def test_days_of_a_table_of_loads(tmp_path: Path, table: Any) -> None:
    """With a table of loads, days and their records come from it, and the rows are never counted."""
    url, admin = table
    admin.execute("CREATE TABLE loads (day date, rows int, loaded_at timestamptz)")
    admin.execute("INSERT INTO loads VALUES ('2026-03-10', 300, now()), ('2026-03-10', 200, now())")
    desk = Desk(tmp_path, url, days_from="loads")
    assert dict(desk.open().rows) == {dt.date(2026, 3, 10): 500}
    admin.execute("INSERT INTO loads VALUES ('2026-03-11', 10, now())")
    assert dict(desk.open(after=60).rows) == {dt.date(2026, 3, 10): 500, dt.date(2026, 3, 11): 10}
    assert all("sales" not in statement for statement in desk.statements)


def test_a_slicer_opens_while_its_database_is_away(tmp_path: Path) -> None:
    """The days that were counted last show without the database; without any, it is said what is missing."""
    lake = tmp_path / "lake"
    lake.mkdir()
    pq.write_table(pa.table(rows()), lake / "sales.parquet")
    rows_before = dict(Desk(tmp_path, f"parquet://{lake}").open().rows)
    away = Desk(tmp_path, "postgresql://reader@127.0.0.1:1/rows")
    assert dict(away.open().rows) == rows_before
    (away.open().folder / FILE).unlink()
    with pytest.raises(SourceUnavailable):
        Desk(tmp_path, "postgresql://reader@127.0.0.1:1/rows").open()
