"""How databases work through statements of connected slicers: by index, partition and file, in parallel."""

import datetime as dt
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import ibis.expr.types as ir
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lib.engines.connected import Connections, IbisEngine, LiveSlicers
from lib.engines.sums import Question, Sums
from lib.slicers.definition import Definition
from lib.slicers.granularities import time_key_field
from lib.slicers.warehouse import Warehouse
from lib.wire.deadline import Deadline
from lib.wire.filters import Filter

DAYS, PER_DAY, ROWS = 40, 500, "rows"
FIRST = dt.date(2026, 3, 10)
DAY, HOUR = time_key_field("day"), time_key_field("hour")
ATOMS = frozenset({"records", "sum:bids"})


class Recorder(Connections):
    """Connections that keep the expressions they are asked for."""

    def __init__(self, url: str) -> None:
        super().__init__({ROWS: url})
        self.expressions: list[ir.Table] = []

    def rows(self, connection: str, expression: ir.Table, deadline: Deadline) -> pa.Table:
        """See Connections."""
        self.expressions.append(expression)
        return super().rows(connection, expression, deadline)

    def plan(self, explain: str) -> str:
        """What the database says of how it works through the last statement."""

        def ask(backend: Any) -> str:
            statement = f"{explain} {backend.ibis.compile(self.expressions[-1])}"
            return "\n".join(str(row[-1]) for row in backend.ibis.raw_sql(statement).fetchall())

        return self._with(ROWS, Deadline(60), ask)


class Slicer:
    """A connected slicer over a table, whose statements can be explained."""

    def __init__(self, folder: Path, url: str, table: str = "sales", **definition: Any) -> None:
        self.connections = Recorder(url)
        live = LiveSlicers(self.connections)
        warehouse = Warehouse(folder / "warehouse", live.current)
        content = {
            "time": {"column": "at", "granularity": "hour"},
            "key_fields": [{"name": "country"}],
            "data_fields": [{"name": "bids"}],
            "source": {"connection": ROWS, "table": table},
        }
        warehouse.connect("p", "sales", Definition.model_validate(content | definition))
        self._stored, self._engine = warehouse.open("p", "sales"), IbisEngine(live)

    def ask(self, days: int = 2, **given: Any) -> Sums:
        """The answer about the first days of the table."""
        first = FIRST + dt.timedelta(days=5)
        asked = {"first": first, "last": first + dt.timedelta(days=days - 1), "timezone": 0, "atoms": ATOMS}
        return self._engine.audience(self._stored, Question(**asked | given), Deadline(60))


def equals(name: str, *values: str) -> Filter:
    """A filter."""
    return Filter(name=name, match="equals", value=values)


def rows() -> pa.Table:
    """Records over some days, the same number in each hour part."""
    begin = dt.datetime.combine(FIRST, dt.time(), dt.UTC)
    step = dt.timedelta(days=1) / PER_DAY
    at = [begin + place * step for place in range(DAYS * PER_DAY)]
    countries = ["US", "DE", "FR", None, ""]
    return pa.table(
        {
            "at": pa.array(at, pa.timestamp("us", "UTC")),
            "country": [countries[place % 5] for place in range(len(at))],
            "bids": pa.array([float(place % 7) for place in range(len(at))]),
        }
    )


@pytest.fixture(params=["timestamptz", "timestamp", "date"])
def kind(request: pytest.FixtureRequest) -> str:
    """The type of a time column."""
    return str(request.param)


@pytest.fixture
def database(postgres: str) -> Iterator[tuple[str, psycopg.Connection[Any]]]:
    """The URL of a PostgreSQL database, and a connection that may write."""
    url = postgres.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(url, autocommit=True) as admin:
        yield url, admin


def fill(admin: psycopg.Connection[Any]) -> None:
    """Put the records into the table `sales`."""
    with admin.cursor() as cursor, cursor.copy("COPY sales (at, country, bids) FROM STDIN") as copy:
        for row in zip(*(column.to_pylist() for column in rows().columns), strict=True):
            copy.write_row(row)
    admin.execute("ANALYZE sales")


def test_days_are_found_by_an_index(tmp_path: Path, database: Any, kind: str) -> None:
    """PostgreSQL reads two of forty days by an index on the time, whatever its type is."""
    url, admin = database
    admin.execute(f"CREATE TABLE sales (at {kind}, country text, bids float8)")
    admin.execute("CREATE INDEX ON sales (at)")
    fill(admin)
    slicer = Slicer(tmp_path, url, time={"column": "at", "granularity": "day"})
    sums = slicer.ask(split_by=("country",))
    assert sums.total.records.tolist() == [2 * PER_DAY]
    plan = slicer.connections.plan("EXPLAIN")
    assert "sales_at_idx" in plan
    assert "Seq Scan" not in plan


def test_partitions_are_pruned(tmp_path: Path, database: Any, kind: str) -> None:
    """PostgreSQL opens no partition but those of the days of the question."""
    url, admin = database
    admin.execute(f"CREATE TABLE sales (at {kind}, country text, bids float8) PARTITION BY RANGE (at)")
    for number in range(DAYS):
        day = FIRST + dt.timedelta(days=number)
        admin.execute(
            f"CREATE TABLE sales_{number} PARTITION OF sales "
            f"FOR VALUES FROM ('{day}') TO ('{day + dt.timedelta(days=1)}')"
        )
    fill(admin)
    slicer = Slicer(tmp_path, url, time={"column": "at", "granularity": "day"})
    assert slicer.ask(split_by=("country",)).total.records.tolist() == [2 * PER_DAY]
    scanned = [line for line in slicer.connections.plan("EXPLAIN").splitlines() if "Scan" in line]
    assert sorted(line.split(" on ")[1].split()[0] for line in scanned) == ["sales_5", "sales_6"]


def test_values_are_found_by_an_index(tmp_path: Path, database: Any) -> None:
    """PostgreSQL finds equal values of texts, whole numbers and dates by indexes on the bare columns."""
    url, admin = database
    admin.execute("CREATE TABLE sales (at timestamptz, country text, bids float8, placement int, day date)")
    fill(admin)
    admin.execute("UPDATE sales SET placement = 100 * bids + extract(minute from at), day = at::date")
    admin.execute("UPDATE sales SET country = 'X' || placement")
    for name in ("country", "placement", "day"):
        admin.execute(f"CREATE INDEX ON sales ({name})")
    admin.execute("VACUUM ANALYZE sales")
    fields = [{"name": name} for name in ("country", "placement", "day")]
    slicer = Slicer(tmp_path, url, key_fields=fields)
    for name, values in (
        ("country", ["X101"]),
        ("country", ["X101", "X102"]),
        ("placement", ["101", "102"]),
        ("day", ["2026-03-16"]),
    ):
        records = slicer.ask(days=DAYS, filters=(equals(name, *values),)).total.records
        count = admin.execute(
            f"SELECT count(*) FROM sales WHERE at >= '2026-03-15' AND {name}::text = ANY(%s)", [values]
        )
        assert records.tolist() == [count.fetchone()[0]]
        plan = slicer.connections.plan("EXPLAIN")
        assert f"sales_{name}_idx" in plan
        assert "Seq Scan" not in plan


@pytest.mark.parametrize(
    ("match", "values", "share"),
    [
        ("not equals", ("US",), 0.8),
        ("not equals", ("US", ""), 0.4),
        ("not contains", ("U",), 0.8),
        ("equals", ("US", ""), 0.6),
    ],
)
def test_the_planner_sees_through_filters(
    tmp_path: Path, database: Any, match: str, values: tuple[str, ...], share: float
) -> None:
    """PostgreSQL expects about as many rows of a filter as there are, of one that leaves values out too."""
    url, admin = database
    admin.execute("CREATE TABLE sales (at timestamptz, country text, bids float8)")
    fill(admin)
    slicer = Slicer(tmp_path, url)
    sums = slicer.ask(days=DAYS - 5, filters=(Filter(name="country", match=match, value=values),))
    assert sums.total.records.tolist() == [share * (DAYS - 5) * PER_DAY]
    expected = re.search(r"Seq Scan on sales.*rows=(\d+)", slicer.connections.plan("EXPLAIN"))
    assert expected is not None
    assert int(expected[1]) == pytest.approx(sums.total.records[0], rel=0.25)


def test_months_are_ranges_of_the_bare_column(tmp_path: Path, database: Any) -> None:
    """A filter on a month, a week or a day reads that month, week or day by the index."""
    url, admin = database
    admin.execute("CREATE TABLE sales (at timestamptz, country text, bids float8)")
    admin.execute("CREATE INDEX ON sales (at)")
    fill(admin)
    slicer = Slicer(tmp_path, url)
    for name, value, days in (("month", "2026-04", 18), ("week", "2026-W13", 7), ("day", "2026-03-20", 1)):
        sums = slicer.ask(days=DAYS, filters=(equals(time_key_field(name), value),), split_by=(DAY,))
        assert (sums.total.records.tolist(), len(sums.groups)) == ([days * PER_DAY], days)
        condition = next(line for line in slicer.connections.plan("EXPLAIN").splitlines() if "Cond" in line)
        assert condition.count("at >=") >= 1
        assert "EXTRACT" not in condition.upper()


def test_small_answers_may_be_worked_out_in_parallel(tmp_path: Path, database: Any) -> None:
    """A statement is not read by a cursor of the server, which rules parallel work out."""
    url, admin = database
    admin.execute("CREATE TABLE sales (at timestamptz, country text, bids float8)")
    fill(admin)
    admin.execute("ALTER TABLE sales RENAME TO stored")
    admin.execute("ALTER TABLE stored SET (parallel_workers = 2)")
    admin.execute(
        "CREATE FUNCTION worker() RETURNS text LANGUAGE plpgsql PARALLEL SAFE AS "
        "'BEGIN RETURN backend_type FROM pg_stat_activity WHERE pid = pg_backend_pid(); END'"
    )
    admin.execute("CREATE VIEW sales AS SELECT at, worker() AS country, bids FROM stored")
    for setting in (
        "parallel_setup_cost = 0",
        "parallel_tuple_cost = 0",
        "parallel_leader_participation = 0",
    ):
        admin.execute(f"ALTER DATABASE {admin.info.dbname} SET {setting}")
    groups = Slicer(tmp_path, url).ask(days=DAYS, split_by=("country",)).groups
    assert groups["country"].tolist() == ["parallel worker"]


@pytest.fixture
def lake(tmp_path: Path) -> str:
    """The URL of a folder of Parquet files, partitioned by day and country as Hive does it."""
    (tmp_path / "lake").mkdir()
    pq.write_table(rows(), tmp_path / "all.parquet")
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(
            f"COPY (SELECT *, CAST(\"at\" AS date) AS day, coalesce(country, 'none') AS place "
            f"FROM '{tmp_path}/all.parquet') TO '{tmp_path}/lake/sales' "
            "(FORMAT parquet, PARTITION_BY (day, place))"
        )
    return f"parquet://{tmp_path}/lake"


def test_folders_are_pruned(tmp_path: Path, lake: str) -> None:
    """Over Parquet in folders per day and value, DuckDB opens the files of the question's days and values."""
    slicer = Slicer(tmp_path, lake, time={"column": "day"}, key_fields=[{"name": "place"}])
    sums = slicer.ask(filters=(equals("place", "DE", "FR"),))
    assert sums.total.records.tolist() == [2 * PER_DAY * 2 / 5]
    plan = slicer.connections.plan("EXPLAIN (ANALYZE, FORMAT json)")
    assert _of(json.loads(plan), "Total Files Read") == ["4"]


def test_ranges_of_time_reach_the_files(tmp_path: Path, kind: str) -> None:
    """DuckDB reads the row groups of two of forty days of a Parquet file, whatever the time's type is."""
    (tmp_path / "lake").mkdir()
    _write(tmp_path / "lake" / "sales.parquet", kind)
    slicer = Slicer(tmp_path, f"parquet://{tmp_path}/lake", time={"column": "at", "granularity": "day"})
    assert slicer.ask(split_by=("country",)).total.records.tolist() == [2 * PER_DAY]
    assert _groups_of_rows(slicer) == (2, DAYS)


def test_values_reach_the_files(tmp_path: Path) -> None:
    """DuckDB gets equal values and lists of texts, numbers and dates as filters of its Parquet scan."""
    (tmp_path / "lake").mkdir()
    _write(tmp_path / "lake" / "sales.parquet", "timestamptz")
    fields = [{"name": name} for name in ("country", "placement", "day")]
    slicer = Slicer(tmp_path, f"parquet://{tmp_path}/lake", key_fields=fields)
    for name, values in (
        ("placement", ["10"]),
        ("placement", ["10", "11"]),
        ("day", ["2026-03-20"]),
        ("day", ["2026-03-20", "2026-03-21"]),
    ):
        records = slicer.ask(days=DAYS, filters=(equals(name, *values),)).total.records
        assert records.tolist() == [len(values) * PER_DAY]
        assert _groups_of_rows(slicer) == (len(values), DAYS)


def _write(file: Path, kind: str) -> None:
    """The records as a Parquet file, a row group per day."""
    table = rows().append_column("placement", pa.array([n // PER_DAY for n in range(DAYS * PER_DAY)]))
    day = table["at"].cast(pa.timestamp("us")).cast(pa.date32(), safe=False)
    table = table.append_column("day", day)
    kinds = {"timestamptz": table["at"], "timestamp": table["at"].cast(pa.timestamp("us")), "date": day}
    pq.write_table(table.set_column(0, "at", kinds[kind]), file, row_group_size=PER_DAY)


def _groups_of_rows(slicer: Slicer) -> tuple[int, int]:
    """How many row groups the last statement read, and of how many."""
    match = re.search(r"Row Groups Scanned: (\d+) / (\d+)", slicer.connections.plan("EXPLAIN ANALYZE"))
    assert match is not None
    return int(match[1]), int(match[2])


def _of(plan: Any, name: str) -> list[Any]:
    """The values of a name anywhere in a plan."""
    if isinstance(plan, list):
        return [node for part in plan for node in _of(part, name)]
    if not isinstance(plan, dict):
        return []
    own = [plan[name]] if name in plan else []
    return own + [node for part in plan.values() for node in _of(part, name)]
