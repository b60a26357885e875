"""A smaller demo, and its rows in a database that is not ours."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from peopled import people_in

from lib.demo import build
from lib.demo.stage import ACTS
from lib.slicers.warehouse import Warehouse

TODAY = dt.date(2026, 3, 4)
SIZE = 150_000


@pytest.fixture(scope="package")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of a smaller demo, made once."""
    home = tmp_path_factory.mktemp("demo")
    build(Warehouse(home / "warehouse"), people_in(home), TODAY, rows=SIZE)
    return home


@pytest.fixture(scope="package")
def warehouse(built: Path) -> Warehouse:
    """Its slicers."""
    return Warehouse(built / "warehouse")


@pytest.fixture(scope="package")
def rows(warehouse: Warehouse) -> Iterator[duckdb.DuckDBPyConnection]:
    """Its Parquet rows, as the tables `delivery` and `curation` of a database that is not ours."""
    with duckdb.connect() as database:
        database.execute("set timezone = 'UTC'")
        for act in ACTS:
            files = [str(path) for day in warehouse.open("demo", act.name).files.values() for path in day]
            database.execute(
                f"create table {act.name} as select * from read_parquet($1, hive_partitioning = false)",
                [files],
            )
        yield database
