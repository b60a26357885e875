"""Each type of each engine as a key field, a data field, a time and a list: what Tranche makes of one value.

`outcomes` asks the real engine; a value that comes back otherwise than it is stored is an AssertionError.
"""

import datetime as dt
import decimal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
from connected import CONNECTION
from test_connected_plans import Slicer

from lib.engines.connected import Connections
from lib.engines.connected.backends import open_backend
from lib.engines.connected.columns import Columns
from lib.slicers.definition import Definition
from lib.slicers.granularities import time_key_field

YES, NO = "yes", "–"
MOMENT = dt.datetime(2026, 3, 16, 1, 30)  # noqa: DTZ001 (a clock without a zone)
INSTANT = MOMENT.replace(tzinfo=dt.UTC)
DAY_TEXT = "2026-03-16"
CLOCK_TEXT = f"{DAY_TEXT} 01:30:00"
INSTANT_TEXT = f"{CLOCK_TEXT}+00"
DAY, UUID = MOMENT.date(), "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
DAY_NANOSECONDS = 86_400 * 10**9
DAY_KEY = time_key_field("day")


class Case(NamedTuple):
    """A type, a value of it as the engine writes it, and what the value is in each role."""

    kind: str
    value: Any
    text: str | None = None
    number: float | None = None
    is_time: bool = False
    elements: Sequence[str] | None = None


class Outcome(NamedTuple):
    """What a type can be."""

    kind: str
    key: str
    data: str
    time: str
    segmented: str


POSTGRESQL = [
    Case("smallint", "7", "7", 7),
    Case("integer", "7", "7", 7),
    Case("bigint", "9007199254740992", "9007199254740992", 2**53),
    Case("numeric", "1.12345678901", None, 1.12345678901),
    Case("numeric(10,2)", "1.50", None, 1.5),
    Case("numeric(30)", "1180591620717411303424", "1180591620717411303424", 1180591620717411303424),
    Case("real", "1.5", None, 1.5),
    Case("double precision", "1.5", None, 1.5),
    Case("money", "1.50", "$1.50"),
    Case("text", "a", "a"),
    Case("varchar(5)", "a", "a"),
    Case("char(5)", "a", "a    "),
    Case("citext", "a", "a"),
    Case("bytea", "a"),
    Case("date", "2026-03-16", DAY_TEXT, is_time=True),
    Case("timestamp", "2026-03-16 01:30", CLOCK_TEXT, is_time=True),
    Case("timestamptz", "2026-03-16 01:30+00", INSTANT_TEXT, is_time=True),
    Case("time", "01:30", "01:30:00"),
    Case("timetz", "01:30+00", "01:30:00+00"),
    Case("interval", "1 day"),
    Case("boolean", "t", "true"),
    Case("uuid", UUID, UUID),
    Case("jsonb", "{}", "{}"),
    Case("xml", "<a/>", "<a/>"),
    Case("inet", "10.0.0.1", "10.0.0.1/32"),
    Case("macaddr", "08:00:2b:01:02:03", "08:00:2b:01:02:03"),
    Case("point", "(1,2)"),
    Case("bit(3)", "101", "101"),
    Case("int4range", "[1,2)", "[1,2)"),
    Case("mood (enumeration)", "ok", "ok"),
    Case("whole (domain of integer)", "7", "7", 7),
    Case("hstore", "a=>1"),
    Case("text[]", "{a,b}", elements=("a", "b")),
    Case("text[][]", "{{a,b},{c,d}}", elements=("a", "b", "c", "d")),
    Case("integer[]", "{1,2}", elements=("1", "2")),
    Case("uuid[]", f"{{{UUID}}}", elements=(UUID,)),
]
DUCKDB = [
    Case("TINYINT", "7", "7", 7),
    Case("UBIGINT", "7", "7", 7),
    Case("BIGINT", "9007199254740992", "9007199254740992", 2**53),
    Case("HUGEINT", "7", "7", 7),
    Case("DECIMAL(10,2)", "1.50", None, 1.5),
    Case("FLOAT", "1.5", None, 1.5),
    Case("DOUBLE", "1.5", None, 1.5),
    Case("VARCHAR", "'a'", "a"),
    Case("ENUM('a', 'b')", "'a'", "a"),
    Case("BLOB", "'a'"),
    Case("BIT", "'101'", "101"),
    Case("BOOLEAN", "true", "true"),
    Case("UUID", f"'{UUID}'", UUID),
    Case("JSON", "'{}'", "{}"),
    Case("VARIANT", "42", "42"),
    Case("DATE", "'2026-03-16'", DAY_TEXT, is_time=True),
    Case("TIME", "'01:30'", "01:30:00"),
    Case("TIMESTAMP", "'2026-03-16 01:30'", CLOCK_TEXT, is_time=True),
    Case("TIMESTAMP_S", "'2026-03-16 01:30'", CLOCK_TEXT, is_time=True),
    Case("TIMESTAMP_NS", "'2026-03-16 01:30'", CLOCK_TEXT, is_time=True),
    Case("TIMESTAMPTZ", "'2026-03-16 01:30+00'", INSTANT_TEXT, is_time=True),
    Case("TIMESTAMPTZ_NS", "'2026-03-16 01:30+00'", INSTANT_TEXT),
    Case("INTERVAL", "'1 day'"),
    Case("STRUCT(a INTEGER)", "{'a': 1}"),
    Case("MAP(VARCHAR, INTEGER)", "MAP {'a': 1}"),
    Case("UNION(a INTEGER)", "1", "1"),
    Case("VARCHAR[]", "['a', 'b']", elements=("a", "b")),
    Case("INTEGER[]", "[1, 2]", elements=("1", "2")),
    Case("INTEGER[2]", "[1, 2]", elements=("1", "2")),
    Case("VARCHAR[][]", "[['a']]"),
]
CLICKHOUSE = [
    Case("Int32", "7", "7", 7),
    Case("UInt64", "7", "7", 7),
    Case("Int256", "7", "7", 7),
    Case("Float64", "1.5", None, 1.5),
    Case("Decimal(10, 2)", "1.5", None, 1.5),
    Case("Nullable(Decimal(10, 2))", "1.5", None, 1.5),
    Case("Decimal(38, 0)", f"'{2**70}'", str(2**70), 2**70),
    Case("String", "'a'", "a"),
    Case("LowCardinality(String)", "'a'", "a"),
    Case("LowCardinality(Nullable(String))", "'a'", "a"),
    Case("Nullable(String)", "'a'", "a"),
    Case("FixedString(2)", "'ab'", "ab"),
    Case("Enum8('a' = 1)", "'a'", "a"),
    Case("Nullable(Enum8('a' = 1))", "'a'", "a"),
    Case("Nullable(UUID)", f"'{UUID}'", UUID),
    Case("Bool", "true", "true"),
    Case("UUID", f"'{UUID}'", UUID),
    Case("IPv4", "'10.0.0.1'", "10.0.0.1"),
    Case("Date", f"'{DAY_TEXT}'", DAY_TEXT, is_time=True),
    Case("Date32", f"'{DAY_TEXT}'", DAY_TEXT, is_time=True),
    Case("DateTime", f"'{CLOCK_TEXT}'", CLOCK_TEXT, is_time=True),
    Case("DateTime64(3)", f"'{CLOCK_TEXT}'", f"{CLOCK_TEXT}.000", is_time=True),
    Case("DateTime64(9, 'UTC')", f"'{CLOCK_TEXT}'", f"{CLOCK_TEXT}.000000000", is_time=True),
    Case("Nullable(DateTime64(3))", f"'{CLOCK_TEXT}'", f"{CLOCK_TEXT}.000", is_time=True),
    Case("Map(String, Int32)", "map('a', 1)"),
    Case("Tuple(a Int32)", "tuple(1)"),
    Case("Array(String)", "['a', 'b']", elements=("a", "b")),
    Case("Array(LowCardinality(String))", "['a', 'b']", elements=("a", "b")),
    Case("Array(Nullable(String))", "['a', 'b']", elements=("a", "b")),
    Case("Array(UUID)", f"['{UUID}']", elements=(UUID,)),
    Case("Array(Array(String))", "[['a']]"),
]
PYARROW = [
    Case("int32", pa.array([7], pa.int32()), "7", 7),
    Case("uint64", pa.array([7], pa.uint64()), "7", 7),
    Case("float16", pa.array([1.5], pa.float16()), None, 1.5),
    Case("double", pa.array([1.5]), None, 1.5),
    Case("decimal128(10, 2)", pa.array([decimal.Decimal("1.50")], pa.decimal128(10, 2)), None, 1.5),
    Case("decimal128(30, 0)", pa.array([decimal.Decimal(2**70)], pa.decimal128(30)), str(2**70), 2**70),
    Case("string", pa.array(["a"]), "a"),
    Case("large_string", pa.array(["a"], pa.large_string()), "a"),
    Case("dictionary of string", pa.array(["a"]).dictionary_encode(), "a"),
    Case("binary", pa.array([b"a"])),
    Case("bool", pa.array([True]), "true"),
    Case("null", pa.nulls(1), ""),
    Case("date32", pa.array([DAY]), DAY_TEXT, is_time=True),
    Case("date64", pa.array([DAY], pa.date64()), DAY_TEXT, is_time=True),
    Case("time64[us]", pa.array([MOMENT.time()], pa.time64("us")), "01:30:00"),
    Case("timestamp[ms]", pa.array([MOMENT], pa.timestamp("ms")), CLOCK_TEXT, is_time=True),
    Case("timestamp[ns]", pa.array([MOMENT], pa.timestamp("ns")), CLOCK_TEXT, is_time=True),
    Case(
        "timestamp[us, UTC]",
        pa.array([INSTANT], pa.timestamp("us", "UTC")),
        "2026-03-16 01:30:00+00",
        is_time=True,
    ),
    Case(
        "timestamp[ns, UTC]",
        pa.array([INSTANT], pa.timestamp("ns", "UTC")),
        "2026-03-16 01:30:00+00",
        is_time=True,
    ),
    Case("timestamp as INT96", pa.array([MOMENT]), CLOCK_TEXT, is_time=True),
    Case("duration", pa.array([dt.timedelta(1)]), str(86_400_000_000), 86_400_000_000),
    Case("struct", pa.array([{"a": 1}])),
    Case("map", pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))),
    Case("list of string", pa.array([["a", "b"]]), elements=("a", "b")),
    Case("list of int64", pa.array([[1, 2]]), elements=("1", "2")),
    Case("list of struct", pa.array([[{"a": 1}]])),
]
PANDAS = [
    Case("int64", pd.Series([7]), "7", 7),
    Case("Int64", pd.Series([7], dtype="Int64"), "7", 7),
    Case("float64", pd.Series([1.5]), None, 1.5),
    Case("str", pd.Series(["a"]), "a"),
    Case("object of Decimal", pd.Series([decimal.Decimal("1.50")]), None, 1.5),
    Case("object of date", pd.Series([DAY]), DAY_TEXT, is_time=True),
    Case("object of None", pd.Series([None], dtype="object"), ""),
    Case("category", pd.Series(["a"], dtype="category"), "a"),
    Case("bool", pd.Series([True]), "true"),
    Case("datetime64[ns]", pd.Series([MOMENT]).dt.as_unit("ns"), CLOCK_TEXT, is_time=True),
    Case("datetime64[ns, UTC]", pd.Series([INSTANT]).dt.as_unit("ns"), INSTANT_TEXT, is_time=True),
    Case(
        "timedelta64[ns]",
        pd.Series([dt.timedelta(1)]).dt.as_unit("ns"),
        str(DAY_NANOSECONDS),
        DAY_NANOSECONDS,
    ),
    Case("object of list", pd.Series([["a", "b"]]), elements=("a", "b")),
]
POLARS = [
    Case("Int64", pl.Series([7]), "7", 7),
    Case("UInt8", pl.Series([7], dtype=pl.UInt8), "7", 7),
    Case("Float64", pl.Series([1.5]), None, 1.5),
    Case("Decimal(10, 2)", pl.Series([decimal.Decimal("1.50")], dtype=pl.Decimal(10, 2)), None, 1.5),
    Case("String", pl.Series(["a"]), "a"),
    Case("Categorical", pl.Series(["a"], dtype=pl.Categorical), "a"),
    Case("Enum", pl.Series(["a"], dtype=pl.Enum(["a", "b"])), "a"),
    Case("Binary", pl.Series([b"a"])),
    Case("Boolean", pl.Series([True]), "true"),
    Case("Date", pl.Series([DAY]), DAY_TEXT, is_time=True),
    Case("Datetime(us)", pl.Series([MOMENT]), CLOCK_TEXT, is_time=True),
    Case("Datetime(us, UTC)", pl.Series([INSTANT]), INSTANT_TEXT, is_time=True),
    Case(
        "Datetime(ns, UTC)",
        pl.Series([INSTANT], dtype=pl.Datetime("ns", "UTC")),
        "2026-03-16 01:30:00+00",
        is_time=True,
    ),
    Case("Time", pl.Series([MOMENT.time()]), "01:30:00"),
    Case("Struct", pl.Series([{"a": 1}])),
    Case("List(String)", pl.Series([["a", "b"]]), elements=("a", "b")),
]


def fill_postgresql(url: str) -> None:
    """A table t0, t1, … per case, with the columns `at` and `x`."""
    with psycopg.connect(url, autocommit=True) as admin:
        for extension in ("citext", "hstore"):
            admin.execute(f"CREATE EXTENSION {extension}")
        admin.execute("CREATE TYPE mood AS ENUM ('ok')")
        admin.execute("CREATE DOMAIN whole AS integer")
        for number, case in enumerate(POSTGRESQL):
            kind = case.kind.partition(" (")[0]
            admin.execute(f"CREATE TABLE t{number} (at timestamptz, x {kind})")
            admin.execute(f"INSERT INTO t{number} VALUES (%s, %s)", [INSTANT, case.value])


def fill_duckdb(file: Path) -> None:
    """The same in a file of DuckDB."""
    with duckdb.connect(file) as admin:
        for number, case in enumerate(DUCKDB):
            admin.execute(
                f"CREATE TABLE t{number} AS SELECT TIMESTAMPTZ '2026-03-16 01:30+00' AS \"at\", "
                f"CAST({case.value} AS {case.kind}) AS x"
            )


def fill_clickhouse(url: str) -> None:
    """The same in tables of ClickHouse's own."""
    backend = open_backend(url)
    for number, case in enumerate(CLICKHOUSE):
        backend.ibis.raw_sql(
            f"CREATE TABLE t{number} ENGINE = MergeTree ORDER BY at AS "
            f"SELECT CAST('{CLOCK_TEXT}' AS DateTime('UTC')) AS at, CAST({case.value} AS {case.kind}) AS x"
        )
    backend.ibis.disconnect()


def fill_by_clickhouse(folder: Path, url: str) -> None:
    """The same as Parquet that ClickHouse writes."""
    backend = open_backend(url)
    for number, case in enumerate(CLICKHOUSE):
        cells = f"CAST('{CLOCK_TEXT}' AS DateTime('UTC')) AS at, CAST({case.value} AS {case.kind}) AS x"
        content = backend.ibis.con.raw_query(f"SELECT {cells}", fmt="Parquet")
        (folder / f"t{number}.parquet").write_bytes(content)
    backend.ibis.disconnect()


def fill_by_spark(folder: Path, url: str) -> None:
    """The same as folders of Parquet that Spark writes."""
    backend = open_backend(url)
    for number, case in enumerate(SPARK):
        kind, _, written = case.kind.partition(" (as ")
        form = written.removesuffix(")") or "INT96"
        backend.ibis.raw_sql(f"SET spark.sql.parquet.outputTimestampType = {form}")
        cells = f"CAST('{INSTANT_TEXT}' AS TIMESTAMP) AS at, CAST({case.value} AS {kind}) AS x"
        backend.ibis.raw_sql(f"INSERT OVERWRITE DIRECTORY '{folder}/t{number}' USING parquet SELECT {cells}")
    backend.ibis.disconnect()


def fill_by_duckdb(folder: Path) -> None:
    """The same as Parquet that DuckDB writes."""
    with duckdb.connect() as admin:
        for number, case in enumerate(DUCKDB):
            cells = f"TIMESTAMPTZ '2026-03-16 01:30+00' AS \"at\", CAST({case.value} AS {case.kind}) AS x"
            admin.execute(f"COPY (SELECT {cells}) TO '{folder}/t{number}.parquet'")


def fill_by_pyarrow(folder: Path) -> None:
    """The same as Parquet that pyarrow writes."""
    for number, case in enumerate(PYARROW):
        at = pa.array([INSTANT], pa.timestamp("us", "UTC"))
        is_int96 = case.kind.endswith("INT96")
        path = folder / f"t{number}.parquet"
        pq.write_table(pa.table({"at": at, "x": case.value}), path, use_deprecated_int96_timestamps=is_int96)


def fill_by_pandas(folder: Path) -> None:
    """The same as Parquet that pandas writes."""
    for number, case in enumerate(PANDAS):
        pd.DataFrame({"at": [INSTANT], "x": case.value}).to_parquet(folder / f"t{number}.parquet")


def fill_by_polars(folder: Path) -> None:
    """The same as Parquet that polars writes."""
    for number, case in enumerate(POLARS):
        pl.DataFrame({"at": [INSTANT], "x": case.value}).write_parquet(folder / f"t{number}.parquet")


BY_CLICKHOUSE = {
    "Int256": Case("", ""),
    "FixedString(2)": Case("", ""),
    "IPv4": Case("", "", str(10 * 2**24 + 1), 10 * 2**24 + 1),
    **dict.fromkeys(
        ("DateTime", "DateTime64(3)", "DateTime64(9, 'UTC')", "Nullable(DateTime64(3))"),
        Case("", "", INSTANT_TEXT, None, True),
    ),
}
"""What its types are in Parquet, where that is something else than in ClickHouse itself."""
CLICKHOUSE_FILES = [
    other._replace(kind=case.kind, value=case.value) if (other := BY_CLICKHOUSE.get(case.kind)) else case
    for case in CLICKHOUSE
]
SPARK = [
    Case("TINYINT", "7", "7", 7),
    Case("INT", "7", "7", 7),
    Case("BIGINT", "9007199254740992", "9007199254740992", 2**53),
    Case("FLOAT", "1.5", None, 1.5),
    Case("DOUBLE", "1.5", None, 1.5),
    Case("DECIMAL(10,2)", "1.50", None, 1.5),
    Case("DECIMAL(38,0)", "1180591620717411303424", "1180591620717411303424", 2**70),
    Case("STRING", "'a'", "a"),
    Case("BINARY", "'a'"),
    Case("BOOLEAN", "true", "true"),
    Case("DATE", f"'{DAY_TEXT}'", DAY_TEXT, is_time=True),
    Case("TIMESTAMP", f"'{INSTANT_TEXT}'", CLOCK_TEXT, is_time=True),
    Case("TIMESTAMP (as TIMESTAMP_MICROS)", f"'{INSTANT_TEXT}'", INSTANT_TEXT, is_time=True),
    Case("TIMESTAMP_NTZ", f"'{CLOCK_TEXT}'", CLOCK_TEXT, is_time=True),
    Case("INTERVAL DAY TO SECOND", "'1 00:00:00'", "86400000000", 86_400_000_000),
    Case("STRUCT<a: INT>", "named_struct('a', 1)"),
    Case("MAP<STRING, INT>", "map('a', 1)"),
    Case("ARRAY<STRING>", "array('a', 'b')", elements=("a", "b")),
    Case("ARRAY<INT>", "array(1, 2)", elements=("1", "2")),
    Case("ARRAY<ARRAY<STRING>>", "array(array('a'))"),
]


SPAN = "INTERVAL DAY TO SECOND"
BY_SPARK = [
    Case(SPAN, case.value, "INTERVAL '1 00:00:00' DAY TO SECOND")
    if case.kind == SPAN
    else case._replace(text=CLOCK_TEXT if case.text == INSTANT_TEXT else case.text)
    for case in SPARK
]
"""The same where Spark reads them: its instants are written without a zone, and spans stay spans."""

FILES: dict[str, tuple[list[Case], Callable[[Path], None]]] = {
    "Parquet, written by DuckDB": (DUCKDB, fill_by_duckdb),
    "Parquet, written by pyarrow": (PYARROW, fill_by_pyarrow),
    "Parquet, written by pandas": (PANDAS, fill_by_pandas),
    "Parquet, written by polars": (POLARS, fill_by_polars),
}


def table(title: str, rows: Iterator[Outcome]) -> str:
    """The types of an engine in Markdown, those of one outcome together."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for kind, *roles in rows:
        kinds.setdefault(tuple(roles), []).append(f"`{kind}`")
    lines = [f"| {', '.join(names)} | {' | '.join(roles)} |" for roles, names in kinds.items()]
    return "\n".join(
        [f"| {title} | Key field | Data field | Time | `segmented: true` |", "|---|---|---|---|---|", *lines]
    )


def outcomes(url: str, cases: Sequence[Case], folder: Path) -> Iterator[Outcome]:
    """What each type can be, of tables that were filled."""
    for number, case in enumerate(cases):
        yield Outcome(case.kind, *(_outcome(url, f"t{number}", role, case, folder) for role in ROLES))


ROLES: dict[str, dict[str, Any]] = {
    "key": {"key_fields": [{"name": "x"}], "data_fields": []},
    "data": {"key_fields": [], "data_fields": [{"name": "x"}]},
    "time": {
        "key_fields": [],
        "data_fields": [],
        "time": {"column": "x", "granularity": "day", "timezone": "UTC"},
    },
    "segmented": {"key_fields": [{"name": "x", "segmented": True}], "data_fields": []},
}


def _outcome(url: str, table: str, role: str, case: Case, folder: Path) -> str:
    definition = Definition.model_validate(
        {"time": {"column": "at"}, "source": {"connection": CONNECTION, "table": table}} | ROLES[role]
    )
    connections = Connections({CONNECTION: url})
    if Columns(connections.table(CONNECTION, table), definition).problems():
        return NO
    slicer = Slicer(folder / table / role, url, table, **ROLES[role])
    period: dict[str, Any] = {"first": DAY, "last": DAY, "atoms": frozenset({"records"})}
    match role:
        case "data":
            sums = slicer.ask(**period | {"atoms": frozenset({"sum:x"})})
            assert sums.total.estimate["sum:x"].tolist() == [case.number], (case.kind, role)
        case "time":
            assert slicer.ask(split_by=(DAY_KEY,), **period).groups[DAY_KEY].tolist() == ["2026-03-16"], (
                case.kind
            )
        case _:
            texts = slicer.ask(split_by=("x",), **period).groups["x"].tolist()
            assert sorted(texts) == sorted(case.elements or [case.text]), (case.kind, role, texts)
    return YES
