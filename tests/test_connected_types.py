"""Columns of every type that PostgreSQL and DuckDB have: none blocks a table, and none is read wrongly."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
import yaml
from click.testing import CliRunner
from test_connected_plans import HOUR, Slicer
from test_connected_values import by_country

from lib.cli import main
from lib.engines.connected.backends import open_backend
from lib.wire.filters import Filter

POSTGRESQL = {
    "numeric_long": ("numeric", "1.12345678901"),
    "numeric_nan": ("numeric", "NaN"),
    "numeric_infinite": ("numeric", "Infinity"),
    "numeric_45": ("numeric", "1" * 45),
    "numeric_id": ("numeric(30)", str(2**70)),
    "cash": ("money", "12.34"),
    "span": ("interval", "1 day"),
    "clock": ("timetz", "01:02:03+02"),
    "place": ("point", "(1,2)"),
    "matrix": ("text[]", "{{a,b},{c,d}}"),
    "labels": ("text[]", "{a,b}"),
    "ids": ("uuid[]", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}"),
    "id": ("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    "forever": ("timestamptz", "infinity"),
    "never": ("date", "-infinity"),
    "far": ("timestamp", "12345-01-01"),
    "past": ("date", "0044-03-15 BC"),
    "raw": ("bytea", "\\x00ff"),
    "document": ("jsonb", '{"a": 1}'),
    "relation": ("regclass", "pg_class"),
    "spread": ("int4range", "[1,2)"),
    "amount": ("text", "1,234.50"),
}
DUCKDB = {
    "span": "INTERVAL 1 DAY",
    "document": "42::VARIANT",
    "bits": "'101'::BIT",
    "cost": "1.5::DECIMAL(10, 2)",
    "huge": "170141183460469231731687303715884105727::HUGEINT",
    "union_": "union_value(a := 1)",
    "nested": "{'a': 1}",
    "lists": "[[1]]",
    "instant": "TIMESTAMPTZ '2026-03-16 01:00:00+00'::TIMESTAMPTZ_NS",
    "forever": "TIMESTAMP 'infinity'",
    "nan": "'nan'::DOUBLE",
    "id": "uuid()",
    "clock": "TIME '01:00:00'",
    "raw": "'a'::BLOB",
}


def connect(folder: Path, url: str, monkeypatch: pytest.MonkeyPatch, name: str) -> str:
    """What `tranche connect` prints for a table without a definition."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TRANCHE_HOME", str(folder / "home"))
    monkeypatch.setenv("TRANCHE_CONNECTIONS", json.dumps({"rows": {"url": url}}))
    result = CliRunner().invoke(main, ["connect", "rows", name, "--project", "p", "--slicer", name])
    assert result.exit_code == 0, result.output or result.exception
    return result.output


def test_no_type_of_postgresql_blocks_a_table(
    tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A definition is guessed and accepted whatever types a table has; what is left out is named."""
    url = postgres.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(url, autocommit=True) as admin:
        columns = ", ".join(f"{name} {kind}" for name, (kind, _) in POSTGRESQL.items())
        admin.execute(f"CREATE TABLE sales (at timestamptz, bids float8, {columns})")
        values = [DAY, 1.5, *(text for _, text in POSTGRESQL.values())]
        admin.execute(f"INSERT INTO sales VALUES ({', '.join(['%s'] * len(values))})", values)
        for name, (kind, text) in POSTGRESQL.items():
            admin.execute(f"CREATE TABLE only_{name} (at timestamptz, x {kind})")
            admin.execute(f"INSERT INTO only_{name} VALUES (%s, %s)", [DAY, text])
    shown = connect(tmp_path, url, monkeypatch, "sales")
    assert "1 row, its days are 2026-03-16 to 2026-03-16" in shown
    for name in ("span", "place", "raw", "amount", "cash"):
        assert f"Left out: '{name}'" in shown
    assert "data field 'cash' is money; a column that is added up must be a number" in shown
    for name in POSTGRESQL:
        assert "1 row" in connect(tmp_path, url, monkeypatch, f"only_{name}")


def test_fractions_by_type_are_data_fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A double is added up whatever values it has, since it can be no key field: few, large or none."""
    file = str(tmp_path / "sales.duckdb")
    with duckdb.connect(file) as admin:
        admin.execute(
            "CREATE TABLE sales AS SELECT TIMESTAMP '2026-03-16 01:00' AS at, 2::DOUBLE AS few, "
            "1e30::DOUBLE AS large, NULL::DOUBLE AS none, NULL::DECIMAL(9, 2) AS ctr FROM range(30)"
        )
    shown = connect(tmp_path, f"duckdb://{file}", monkeypatch, "sales")
    assert "Left out" not in shown
    definition = yaml.safe_load((tmp_path / "sales.yaml").read_text())
    assert {field["name"] for field in definition["data_fields"]} == {
        "records", "few", "large", "none", "ctr",
    }  # fmt: skip


def test_no_type_of_duckdb_blocks_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same of a DuckDB file."""
    file = tmp_path / "rows.duckdb"
    with duckdb.connect(file) as admin:
        cells = ", ".join(f"{value} AS {name}" for name, value in DUCKDB.items())
        admin.execute(
            f"CREATE TABLE sales AS SELECT TIMESTAMPTZ '2026-03-16 00:00+00' AS at, 1.5 AS bids, {cells}"
        )
        for name, value in DUCKDB.items():
            admin.execute(f"CREATE TABLE only_{name} AS SELECT DATE '2026-03-16' AS at, {value} AS x")
    assert "1 row" in connect(tmp_path, f"duckdb://{file}", monkeypatch, "sales")
    for name in DUCKDB:
        assert "1 row" in connect(tmp_path, f"duckdb://{file}", monkeypatch, f"only_{name}")


DAY = dt.datetime(2026, 3, 16, tzinfo=dt.UTC)
ODD = ("NaN", "Infinity", "-Infinity")


@pytest.fixture(
    params=[
        ("postgresql", "numeric"),
        ("postgresql", "float8"),
        ("duckdb", "DOUBLE"),
        ("clickhouse", "Float64"),
    ],
    ids="-".join,
)
def odd_numbers(request: pytest.FixtureRequest, tmp_path: Path) -> Slicer:
    """A slicer over numbers and what is none, and over times that are no day."""
    rows: list[tuple[Any, str, str]] = [(DAY, "US", "2.5"), (DAY, "DE", "4")]
    rows += [(DAY, "US", text) for text in ODD] + [("infinity", "US", "1"), ("-infinity", "US", "1")]
    engine, kind = request.param
    if engine == "duckdb":
        file = tmp_path / "rows.duckdb"
        with duckdb.connect(file) as admin:
            admin.execute('CREATE TABLE sales ("at" TIMESTAMPTZ, country VARCHAR, bids DOUBLE)')
            admin.executemany("INSERT INTO sales VALUES (?::VARCHAR::TIMESTAMPTZ, ?, ?)", rows)
        return Slicer(tmp_path, f"duckdb://{file}")
    if engine == "clickhouse":  # which has no infinite times
        found = str(request.getfixturevalue("clickhouse_database"))
        values = ", ".join(
            f"(1773619200, '{name}', toFloat64('{text}'))" for at, name, text in rows if at == DAY
        )
        backend = open_backend(found)
        backend.ibis.raw_sql(
            "CREATE OR REPLACE TABLE sales (at DateTime('UTC'), country String, bids Float64) ENGINE = Memory"
        )
        backend.ibis.raw_sql(f"INSERT INTO sales VALUES {values}")
        backend.ibis.disconnect()
        return Slicer(tmp_path, found)
    url = str(request.getfixturevalue("postgres")).replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"CREATE TABLE sales (at timestamptz, country text, bids {kind})")
        admin.cursor().executemany("INSERT INTO sales VALUES (%s, %s, %s)", rows)
    return Slicer(tmp_path, url)


def test_nan_and_infinity_are_missing(odd_numbers: Slicer) -> None:
    """NaN and infinity are no values, in sums, extremes and counts; a time of infinity is no day."""
    assert by_country(odd_numbers) == {"US": 2.5, "DE": 4}
    atoms = frozenset({"records", "sum:bids", "min:bids", "max:bids", "present:bids"})
    total = odd_numbers.ask(atoms=atoms).total.estimate
    assert {name: values.tolist() for name, values in total.items()} == {
        "records": [5], "sum:bids": [6.5], "min:bids": [2.5], "max:bids": [4], "present:bids": [2]
    }  # fmt: skip


def test_records_with_nan_or_infinity_are_counted(odd_numbers: Slicer) -> None:
    """An answer says how many of its records have none, of each data field, under its filters alone."""
    us, de = (Filter(name="country", match="equals", value=(name,)) for name in ("US", "DE"))
    assert odd_numbers.ask(filters=[de]).not_finite == {}
    for split in ((), ("country",), ("country", HOUR)):
        assert odd_numbers.ask(split_by=split).not_finite == {"bids": 3}
        assert odd_numbers.ask(split_by=split, filters=[us]).not_finite == {"bids": 3}
        assert odd_numbers.ask(split_by=split, filters=[de]).not_finite == {}
    assert odd_numbers.ask(atoms=frozenset({"records"})).not_finite == {}
