"""Rows a second of an import, and its memory: a CSV and a Parquet file of 24 columns, beside other readers.

    python bench/imports.py [rows] [--before CHECKOUT]

The import checks every cell, writes rejects, and stores rows by day, on disk; DuckDB and Arrow read the same
file into memory. Medians of three runs, interleaved, each in a process of its own; CPU seconds are of all its
threads, MiB are the most that the process held (on Linux). With `--before`, the same imports by the code of
another checkout are among them.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from lib.ingest import ImportJob, Rejects, import_files, readers
from lib.slicers.definition.file import parse_definition
from lib.slicers.warehouse import Warehouse

ROOT = Path(__file__).resolve().parent.parent
RUNS, DAYS = 3, 30
Run = tuple[float, float, float]
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
    """Write the files, import them, and print seconds, rows a second and the ratio to DuckDB."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("rows", type=int, nargs="?", default=1_000_000)
    arguments.add_argument("--before", type=Path)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "rows.csv"
        write_rows(path, given.rows)
        works = [("import CSV", "bring", path, ROOT), ("import Parquet", "bring", in_parquet(path), ROOT)]
        if given.before:
            works += [(f"{label}, before", work, file, given.before) for label, work, file, _ in works]
        works += [("DuckDB read_csv", "duck", path, ROOT), ("Arrow read_csv", "arrow", path, ROOT)]
        took: dict[str, list[Run]] = {label: [] for label, *_ in works}
        for _ in range(RUNS):
            for label, work, file, checkout in works:
                took[label].append(in_process(work, file, checkout))
        print(f"{given.rows:,} rows, {path.stat().st_size >> 20:,} MiB of CSV")
        report(took, given.rows)


def report(took: dict[str, list[Run]], rows: int) -> None:
    """A line for each: medians of its runs, rows a second, and how often DuckDB's seconds."""
    medians = {
        label: [statistics.median(part) for part in zip(*runs, strict=True)] for label, runs in took.items()
    }
    other = medians["DuckDB read_csv"][0]
    print(f"{'':24} seconds      CPU       rows/s   of DuckDB      MiB")
    for label, (seconds, cpu, memory) in medians.items():
        figures = (
            f"{seconds:7.2f}  {cpu:7.2f}  {rows / seconds:11,.0f}   {seconds / other:9.1f}  {memory:7,.0f}"
        )
        print(f"{label:24} {figures}")


def in_process(work: str, path: Path, checkout: Path) -> Run:
    """One of WORKS, with the code of a checkout."""
    folders = [str(checkout.resolve()), str(ROOT / "bench")]
    code = f"import sys; sys.path[:0] = {folders!r}; import imports; imports.show(*sys.argv[1:])"
    command = [sys.executable, "-c", code, work, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=checkout)
    seconds, cpu, memory = json.loads(done.stdout.splitlines()[-1])
    return seconds, cpu, memory


def show(work: str, path: str) -> None:
    """Do one of WORKS in this process, and print its seconds, CPU seconds, and the most memory in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        began, cpu = time.perf_counter(), time.process_time()
        WORKS[work](Path(path), Path(folder))
        memory = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
        print(json.dumps([time.perf_counter() - began, time.process_time() - cpu, memory]))


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
    job = ImportJob("p", "s", readers(path), definition)
    with Rejects(folder / "rejects.csv") as rejects:
        import_files(job, job.digests(), Warehouse(folder), rejects)


def in_parquet(path: Path) -> Path:
    """The rows of the CSV file as Parquet, numbers as numbers."""
    target = path.with_suffix(".parquet")
    pq.write_table(pa.csv.read_csv(path), target)
    return target


def duck(path: Path, _: Path) -> None:
    """Read the file into a table in memory, with DuckDB."""
    duckdb.connect().execute(f"create table t as from read_csv('{path}')")


def arrow(path: Path, _: Path) -> None:
    """Read the file into a table in memory, with Arrow."""
    pa.csv.read_csv(path)


WORKS: dict[str, Callable[[Path, Path], None]] = {"bring": bring, "duck": duck, "arrow": arrow}

if __name__ == "__main__":
    main()
