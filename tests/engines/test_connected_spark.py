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
from spark_server import missing_for_spark, spark_server

from lib.engines.connected import Connections, spark
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
    """A connection to the server, over a folder of Parquet files."""
    return Connections({CONNECTION: spark_folder})


def write(url: str, name: str, rows: pa.Table) -> None:
    """Put rows into a file of the connection's folder."""
    folder = dict(part.split("=") for part in urlsplit(url).query.split("&"))["folder"]
    pq.write_table(rows, Path(folder) / f"{name}.parquet")


def counted(connections: Connections, table: ir.Table, seconds: float | None = None) -> int:
    """How many rows an expression has there."""
    counts = connections.rows(CONNECTION, table.aggregate(n=table.count()), Deadline(seconds))
    return int(counts["n"][0].as_py())


def test_a_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its package, a connection to Spark is refused with what to install."""
    monkeypatch.setitem(sys.modules, "pyspark", None)
    for name in [name for name in sys.modules if name.startswith("ibis.backends.pyspark")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(Misconfigured, match=r"pip install tranche\[spark\]"):
        Connections({CONNECTION: "sc://localhost:1"}).table(CONNECTION, "sales")


def test_an_option_that_it_does_not_have() -> None:
    """A URL with an option that is not Spark's is refused, with those that are."""
    with pytest.raises(Misconfigured, match="partitions, not user"):
        Connections({CONNECTION: "sc://localhost?user=1"}).table(CONNECTION, "sales")


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
        matches = connections.rows(CONNECTION, table.filter(fits).select("v"), Deadline())
        assert sorted(matches["v"].to_pylist()) == expected, (text, number)


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
    lists = connections.rows(CONNECTION, table.select(k=table.k.split(mark)), Deadline())
    assert lists["k"].to_pylist() == [["a", "b", "", "c"]]


def test_timestamps_with_a_zone_are_instants(spark_folder: str, connections: Connections) -> None:
    """A timestamp with a zone is an instant in UTC, and one without is a time of some clock."""
    noon = dt.datetime.fromisoformat("2026-07-01T12:00:00")
    rows = {"at": pa.array([noon], pa.timestamp("us", "UTC")), "clock": pa.array([noon], pa.timestamp("us"))}
    write(spark_folder, "times", pa.table(rows))
    table = connections.table(CONNECTION, "times")
    assert [str(kind) for kind in table.schema().types] == ["timestamp('UTC')", "timestamp"]
    hours = table.select(at=table["at"].epoch_seconds() // 3600, clock=table.clock.epoch_seconds() // 3600)
    instants = connections.rows(CONNECTION, hours, Deadline()).to_pylist()
    assert instants == [{"at": 495_252, "clock": 495_252}]


def test_statements_are_in_utc(spark_folder: str) -> None:
    """The session is in UTC on a server that is not."""
    session = spark.connect(urlsplit(spark_folder))._session
    assert session.sql("SELECT current_timezone()").first()[0] == "UTC"


def test_tables_of_a_catalog(spark_folder: str, tmp_path: Path) -> None:
    """A table of Spark's catalog is named with its database, or the URL names that; others are unknown."""
    url = spark_folder.partition("&folder=")[0]
    session = spark.connect(urlsplit(url))
    session.raw_sql("CREATE DATABASE IF NOT EXISTS reports")
    session.raw_sql(f"CREATE TABLE reports.sales USING parquet LOCATION '{tmp_path}' AS SELECT 1 AS bids")
    within = f"{url}&database=reports"
    connections = Connections({CONNECTION: url, "reports": within})
    assert counted(connections, connections.table(CONNECTION, "reports.sales")) == 1
    assert counted(connections, connections.table(CONNECTION, "spark_catalog.reports.sales")) == 1
    table = connections.table("reports", "sales")
    assert connections.rows("reports", table, Deadline()).to_pylist() == [{"bids": 1}]
    for missing in ("sales", "nowhere.sales", "reports.nothing", "a.b.c.d"):
        with pytest.raises(BadRequest, match="has no table"):
            connections.table(CONNECTION, missing)


def test_statements_end_with_the_deadline(spark_folder: str, connections: Connections) -> None:
    """A statement that takes longer than the deadline is cancelled at the server, which is then free."""
    write(spark_folder, "ten", pa.table({"k": range(100_000)}))
    table = connections.table(CONNECTION, "ten")
    endless = table.cross_join(table.view()).filter(lambda both: both.k % 7 == both.k_right % 11)
    with pytest.raises(DeadlineExceeded):
        counted(connections, endless, 2.0)
    assert counted(connections, table, 30.0) == 100_000  # both of its cores were busy


def test_a_session_that_the_server_has_ended(spark_folder: str, connections: Connections) -> None:
    """Servers end sessions that are idle for an hour; the next question begins another."""
    write(spark_folder, "again", pa.table({"k": [1]}))
    table = connections.table(CONNECTION, "again")
    (backend,) = connections._idle[CONNECTION]
    first = backend.ibis._session.session_id
    backend.ibis._session.client.release_session()
    assert counted(connections, table) == 1
    (backend,) = connections._idle[CONNECTION]
    assert backend.ibis._session.session_id != first


def test_a_session_is_kept(spark_folder: str, connections: Connections) -> None:
    """One question after another asks in the same session, and a check too."""
    write(spark_folder, "kept", pa.table({"k": [1]}))
    table = connections.table(CONNECTION, "kept")
    (backend,) = connections._idle[CONNECTION]
    assert counted(connections, table) == 1
    connections.reach(CONNECTION, Deadline(30))
    assert connections._idle[CONNECTION] == [backend]


def test_a_server_that_is_killed(tmp_path: Path) -> None:
    """Where the server is gone that is said, at once and without its address."""
    if missing := missing_for_spark():
        pytest.skip(f"NOT RUN on Spark: not installed: {missing} (CONTRIBUTING.md)")
    with spark_server(tmp_path) as (address, process):
        connections = Connections({CONNECTION: f"{address}?folder={tmp_path}"})
        pq.write_table(pa.table({"k": [1]}), tmp_path / "again.parquet")
        table = connections.table(CONNECTION, "again")
        assert counted(connections, table) == 1
        process.kill()
        process.wait()
        with pytest.raises(SourceUnavailable):
            counted(connections, table)


def test_tokens(tmp_path: Path) -> None:
    """With the server's token questions are answered; without it, or with another, the login is refused."""
    if missing := missing_for_spark():
        pytest.skip(f"NOT RUN on Spark: not installed: {missing} (CONTRIBUTING.md)")
    with spark_server(tmp_path, token="hushhush") as (address, _):
        local = address.replace("127.0.0.1", "localhost")  # where a token may go without TLS
        urls = {"right": f"{local}/;token=hushhush", "wrong": f"{local}/;token=guess", "none": local}
        connections = Connections(urls)
        connections.reach("right", Deadline(60))
        for name in ("wrong", "none"):
            with pytest.raises(Misconfigured, match="refused the login") as problem:
                connections.reach(name, Deadline(60))
            assert "hushhush" not in problem.value.reason


@pytest.mark.parametrize("parameters", ["token=hushhush", "use_ssl=true"])
def test_tokens_are_sent_by_tls_alone(spark_connect: str, parameters: str) -> None:
    """A token never goes to another machine's address in clear, and a server without TLS is not accepted."""
    with pytest.raises(SourceUnavailable):
        Connections({CONNECTION: f"{spark_connect}/;{parameters}"}).reach(CONNECTION, Deadline(30))


def test_only_the_partitions_of_a_question_are_read(spark_folder: str, connections: Connections) -> None:
    """Of a folder with a partition for each day those of other days are not opened."""
    folder = Path(dict(part.split("=") for part in urlsplit(spark_folder).query.split("&"))["folder"])
    days = [dt.date(2026, 7, day) for day in range(1, 31)]
    rows = pa.table({"day": days, "bids": range(30)})
    pq.write_to_dataset(rows, folder / "daily", partition_cols=["day"])
    table = connections.table(CONNECTION, "daily")
    chosen = table.filter(table.day >= dt.date(2026, 7, 24))
    assert counted(connections, chosen) == 7
    backend = spark.connect(urlsplit(spark_folder))
    plan = backend._session.sql(backend.compile(chosen))._explain_string(mode="formatted")
    assert "PartitionFilters: [isnotnull(day" in plan


def test_a_server_that_is_gone() -> None:
    """A server that does not answer is told as that, without its address and without the token."""
    for package in ("pyspark", "grpc"):
        pytest.importorskip(package, reason="NOT RUN on Spark: no client")
    with pytest.raises(SourceUnavailable) as problem:
        Connections({CONNECTION: "sc://127.0.0.1:1/;token=hushhush"}).table(CONNECTION, "sales")
    assert "hushhush" not in problem.value.reason
