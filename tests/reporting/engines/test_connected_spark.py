"""Connections to Spark. What questions are answered with is tested by the conformance suite."""

import datetime as dt
import operator
import sys
from pathlib import Path
from urllib.parse import urlsplit

import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from connected import CONNECTION

from lib.reporting.engines.connected import Connections, spark
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest, DeadlineExceeded, Misconfigured, SourceUnavailable

HOSTILE = (
    "'; DROP TABLE sales; --",
    "\\",
    "\\' OR 1=1 --",
    "\\u0041 \\n \\% \\_",
    "${spark.app.name} ${env:HOME}",
    '"`/* */ {x} :x ? \n\t\x00',
    "İstanbul ß ẞ 🦆",
)
NAME = "a`b\"c'd\\e.f; --"
CASES = {text: number for number, text in enumerate(HOSTILE)}
TESTS = {
    "equals": operator.eq,
    "contains": operator.contains,
    "startswith": str.startswith,
    "endswith": str.endswith,
}
pytestmark = pytest.mark.spark


@pytest.fixture
def connections(spark_folder: str) -> Connections:
    """A connection to the cluster, over a folder of Parquet files."""
    return Connections({CONNECTION: spark_folder})


def write(url: str, name: str, rows: pa.Table) -> None:
    """Put rows into a file of the connection's folder."""
    folder = dict(part.split("=") for part in urlsplit(url).query.split("&"))["folder"]
    pq.write_table(rows, Path(folder) / f"{name}.parquet")


def counted(connections: Connections, table: ir.Table, seconds: float | None = None) -> int:
    """How many rows an expression has there."""
    found = connections.rows(CONNECTION, table.aggregate(n=table.count()), Deadline(seconds))
    return int(found["n"][0].as_py())


def test_a_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its package, a connection to Spark is refused with what to install."""
    monkeypatch.setitem(sys.modules, "pyspark", None)
    for name in [name for name in sys.modules if name.startswith("ibis.backends.pyspark")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(Misconfigured, match="pip install pyspark"):
        Connections({CONNECTION: "spark://localhost:1"}).table(CONNECTION, "sales")


def test_an_option_that_it_does_not_have() -> None:
    """A URL with an option that is not Spark's is refused, with those that are."""
    with pytest.raises(Misconfigured, match="partitions, not user"):
        Connections({CONNECTION: "spark://localhost?user=1"}).table(CONNECTION, "sales")


@pytest.mark.parametrize("test", TESTS)
def test_hostile_values_are_values(spark_folder: str, connections: Connections, test: str) -> None:
    """A value that is written like a statement, an escape or a variable finds itself and nothing else."""
    write(spark_folder, "hostile", pa.table({"k": list(CASES), "v": list(CASES.values())}))
    table = connections.table(CONNECTION, "hostile")
    for text, number in CASES.items():
        fits = table.k.isin([text]) if test == "equals" else getattr(table.k, test)(text)
        expected = [
            other for key, other in CASES.items() if key == text or (test != "equals" and text in key)
        ]
        if test in ("startswith", "endswith"):
            expected = [other for key, other in CASES.items() if getattr(key, test)(text)]
        found = connections.rows(CONNECTION, table.filter(fits).select("v"), Deadline())
        assert sorted(found["v"].to_pylist()) == expected, (text, number)


def test_hostile_names_are_names(spark_folder: str, connections: Connections) -> None:
    """A column named like a statement is a column; one like a variable, which Spark replaces, is not."""
    write(spark_folder, "named", pa.table({NAME: ["x", "y"], "${spark.app.name}": ["x", "y"]}))
    table = connections.table(CONNECTION, "named")
    assert table.columns == (NAME,)
    assert counted(connections, table.filter(table[NAME] == "y")) == 1


def test_no_name_leads_out_of_the_folder(connections: Connections) -> None:
    """A table of the folder is named by letters, digits, - and _."""
    with pytest.raises(BadRequest, match="named by letters"):
        connections.table(CONNECTION, "../named")


@pytest.mark.parametrize("mark", ["|", ".", "\\E|", "$1", "''"])
def test_lists_in_texts_are_split_at_their_mark(
    spark_folder: str, connections: Connections, mark: str
) -> None:
    """The mark between the elements of a text is a text, not a pattern."""
    write(spark_folder, "lists", pa.table({"k": [f"a{mark}b{mark}{mark}c"]}))
    table = connections.table(CONNECTION, "lists")
    found = connections.rows(CONNECTION, table.select(k=table.k.split(mark)), Deadline())
    assert found["k"].to_pylist() == [["a", "b", "", "c"]]


def test_timestamps_with_a_zone_are_instants(spark_folder: str, connections: Connections) -> None:
    """A timestamp with a zone is an instant in UTC, and one without is a time of some clock."""
    noon = dt.datetime.fromisoformat("2026-07-01T12:00:00")
    rows = {"at": pa.array([noon], pa.timestamp("us", "UTC")), "clock": pa.array([noon], pa.timestamp("us"))}
    write(spark_folder, "times", pa.table(rows))
    table = connections.table(CONNECTION, "times")
    assert [str(kind) for kind in table.schema().types] == ["timestamp('UTC')", "timestamp"]
    hours = table.select(at=table["at"].epoch_seconds() // 3600, clock=table.clock.epoch_seconds() // 3600)
    found = connections.rows(CONNECTION, hours, Deadline()).to_pylist()
    assert found == [{"at": 495_252, "clock": 495_252}]


def test_the_driver_works_in_utc(spark_folder: str) -> None:
    """The driver is in UTC on a machine that is not, and so is a statement."""
    session = spark.connect(urlsplit(spark_folder))._session
    assert session.sparkContext._jvm.java.util.TimeZone.getDefault().getID() == "UTC"
    assert session.sql("SELECT current_timezone()").first()[0] == "UTC"


def test_tables_of_a_catalog(spark_folder: str, tmp_path: Path) -> None:
    """A table of Spark's catalog is named with its database, or the URL names that; others are unknown."""
    url = spark_folder.partition("&folder=")[0]
    session = spark.connect(urlsplit(url))
    session.raw_sql("CREATE DATABASE IF NOT EXISTS reports")
    session.raw_sql(f"CREATE TABLE reports.sales USING parquet LOCATION '{tmp_path}' AS SELECT 1 AS bids")
    within = url.replace("?", "/reports?")
    connections = Connections({CONNECTION: url, "reports": within})
    assert counted(connections, connections.table(CONNECTION, "reports.sales")) == 1
    assert counted(connections, connections.table(CONNECTION, "spark_catalog.reports.sales")) == 1
    table = connections.table("reports", "sales")
    assert connections.rows("reports", table, Deadline()).to_pylist() == [{"bids": 1}]
    for missing in ("sales", "nowhere.sales", "reports.nothing", "a.b.c.d"):
        with pytest.raises(BadRequest, match="has no table"):
            connections.table(CONNECTION, missing)


def test_statements_end_with_the_deadline(spark_folder: str, connections: Connections) -> None:
    """A statement that takes longer than the deadline is cancelled at the cluster, which is then free."""
    write(spark_folder, "ten", pa.table({"k": range(100_000)}))
    table = connections.table(CONNECTION, "ten")
    endless = table.cross_join(table.view()).filter(lambda both: both.k % 7 == both.k_right % 11)
    with pytest.raises(DeadlineExceeded):
        counted(connections, endless, 2.0)
    running = spark.connect(urlsplit(spark_folder))._session.sparkContext.statusTracker()
    assert running.getActiveJobsIds() == []
    assert counted(connections, table) == 100_000


@pytest.mark.parametrize("end", ["stopped", "killed"])
def test_a_driver_that_ended_is_replaced(spark_folder: str, connections: Connections, end: str) -> None:
    """Where the driver was stopped, or its process killed, the next question starts another."""
    write(spark_folder, "again", pa.table({"k": [1]}))
    table = connections.table(CONNECTION, "again")
    context = spark.connect(urlsplit(spark_folder))._session.sparkContext
    if end == "stopped":
        context._jsc.stop()
    else:
        context._gateway.proc.kill()
        context._gateway.proc.wait()
    assert counted(connections, table) == 1


def test_a_second_cluster(spark_folder: str, connections: Connections) -> None:
    """A connection that would need a driver of its own is refused while there is one."""
    with pytest.raises(Misconfigured, match="share one driver"):
        Connections({CONNECTION: spark_folder.replace("512m", "600m")}).table(CONNECTION, "sales")


def test_a_cluster_that_is_gone(spark_master: str) -> None:
    """A master that does not answer is told as that, without its address and without the password."""
    with pytest.raises(SourceUnavailable) as problem:
        Connections({CONNECTION: "spark://reader:hushhush@127.0.0.1:1"}).table(CONNECTION, "sales")
    assert "hushhush" not in problem.value.reason
