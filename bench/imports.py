"""Rows a second of an import: a CSV of 24 columns, beside DuckDB's read_csv into a table of its own.

    python bench/imports.py [rows]

The import checks every cell, writes rejects, and stores rows by day, on disk; DuckDB reads the same file into
memory. Medians of three runs, interleaved.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv

from lib.reporting.definition.file import parse_definition
from lib.reporting.ingest.importing import ImportJob, digests, import_files
from lib.reporting.ingest.readers import reader
from lib.reporting.ingest.rejects import Rejects
from lib.reporting.warehouse import Warehouse

RUNS, DAYS = 3, 30
DEFINITION = """
time: {column: time, granularity: hour}
key_fields:
  - {name: site_id, type: int}
  - {name: country}
  - {name: browser}
  - {name: page}
  - {name: is_app}
  - {name: tags, segmented: "|"}
data_fields:
"""


def main() -> None:
    """Write the file, import it, and print rows a second and the ratio."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "rows.csv"
        write_rows(path, rows)
        ours, theirs = [], []
        for run in range(RUNS):
            ours.append(timed(lambda run=run: bring(path, folder / f"warehouse-{run}")))
            theirs.append(
                timed(lambda: duckdb.connect().execute(f"create table t as from read_csv('{path}')"))
            )
        mine, other = statistics.median(ours), statistics.median(theirs)
        print(f"{rows:,} rows, {path.stat().st_size >> 20:,} MiB")
        print(f"import   {mine:6.2f} s  {rows / mine:10,.0f} rows/s")
        print(f"read_csv {other:6.2f} s  {rows / other:10,.0f} rows/s   ratio {mine / other:.1f}")


def write_rows(path: Path, rows: int) -> None:
    """24 columns: a time, six key fields, 17 data fields of which five have fractions."""
    random = np.random.default_rng(1)
    seconds = np.sort(random.integers(0, DAYS * 86_400, rows)).astype("timedelta64[s]")
    columns: dict[str, object] = {
        "time": pa.array(np.datetime64("2026-01-01T00:00:00") + seconds),
        "site_id": random.integers(0, 5000, rows),
        "country": np.array(["DE", "FR", "US", "GB", "IT"])[random.integers(0, 5, rows)],
        "browser": np.array(["Chrome", "Firefox", "Safari", "Edge"])[random.integers(0, 4, rows)],
        "page": np.array([f"https://site.example/{n}" for n in range(20_000)])[
            random.zipf(1.4, rows) % 20_000
        ],
        "is_app": np.array(["true", "false"])[random.integers(0, 2, rows)],
        "tags": np.array(["a|b", "b|c|d", "x", ""])[random.integers(0, 4, rows)],
    }
    for number in range(12):
        columns[f"count_{number}"] = random.integers(0, 1000, rows)
    for number in range(5):
        columns[f"cost_{number}"] = random.random(rows).round(4)
    pa.csv.write_csv(pa.table(columns), path, pa.csv.WriteOptions(quoting_style="none"))


def bring(path: Path, folder: Path) -> None:
    """Import the file into a warehouse of its own."""
    fields = [f"count_{number}" for number in range(12)] + [f"cost_{number}" for number in range(5)]
    definition = parse_definition(DEFINITION + "".join(f"  - {{name: {field}}}\n" for field in fields))
    readers = [reader(path)]
    with Rejects(folder / "rejects.csv") as rejects:
        import_files(ImportJob("p", "s", readers, definition), digests(readers), Warehouse(folder), rejects)


def timed(work: Callable[[], object]) -> float:
    """Seconds that some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
