"""The table of types in docs/connections.md is what the engines do."""

from collections.abc import Sequence
from pathlib import Path

import column_types
import pytest
from column_types import BY_SPARK, CLICKHOUSE, CLICKHOUSE_FILES, DUCKDB, FILES, POSTGRESQL, SPARK, Case

PAGE = Path(__file__).parent.parent / "docs" / "connections.md"


def check(title: str, url: str, cases: Sequence[Case], folder: Path) -> None:
    """Ask the engine, and compare the page."""
    expected = column_types.table(title, column_types.outcomes(url, cases, folder))
    assert expected in PAGE.read_text(encoding="utf-8"), f"put this into docs/connections.md:\n{expected}"


@pytest.mark.database
@pytest.mark.parametrize("title", FILES)
def test_types_of_parquet(title: str, tmp_path: Path) -> None:
    """Each type of each writer is right in the roles that the page says, and refused in the others."""
    cases, fill = FILES[title]
    (tmp_path / "lake").mkdir()
    fill(tmp_path / "lake")
    check(title, f"parquet://{tmp_path}/lake", cases, tmp_path)


@pytest.mark.database
def test_types_of_duckdb(tmp_path: Path) -> None:
    """The same of DuckDB's own files."""
    column_types.fill_duckdb(tmp_path / "rows.duckdb")
    check("DuckDB", f"duckdb://{tmp_path}/rows.duckdb", DUCKDB, tmp_path)


def test_types_of_postgresql(tmp_path: Path, postgres: str) -> None:
    """The same of PostgreSQL."""
    url = postgres.replace("postgresql+psycopg://", "postgresql://")
    column_types.fill_postgresql(url)
    check("PostgreSQL", url, POSTGRESQL, tmp_path)


def test_types_of_clickhouse(tmp_path: Path, clickhouse_database: str) -> None:
    """The same of ClickHouse."""
    column_types.fill_clickhouse(clickhouse_database)
    check("ClickHouse", clickhouse_database, CLICKHOUSE, tmp_path)


def test_types_of_parquet_by_clickhouse(tmp_path: Path, clickhouse_database: str) -> None:
    """The same of Parquet that ClickHouse writes."""
    (tmp_path / "lake").mkdir()
    column_types.fill_by_clickhouse(tmp_path / "lake", clickhouse_database)
    check("Parquet, written by ClickHouse", f"parquet://{tmp_path}/lake", CLICKHOUSE_FILES, tmp_path)


def test_types_of_parquet_by_spark(tmp_path: Path, spark_connect: str) -> None:
    """The same of Parquet that Spark writes."""
    (tmp_path / "lake").mkdir()
    column_types.fill_by_spark(tmp_path / "lake", spark_connect)
    check("Parquet, written by Spark", f"parquet://{tmp_path}/lake", SPARK, tmp_path)


def test_types_of_spark(tmp_path: Path, spark_connect: str) -> None:
    """The same where Spark itself is asked about what it wrote."""
    (tmp_path / "lake").mkdir()
    column_types.fill_by_spark(tmp_path / "lake", spark_connect)
    check("Spark", f"{spark_connect}?folder={tmp_path}/lake", BY_SPARK, tmp_path)
