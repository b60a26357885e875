"""What one more day costs: the import of its file, the resident layout, and the first question.

    python bench/appends.py [rows] [--before CHECKOUT]

A slicer of 60 days and 24 columns gets its 61st by the command's steps, each in a process of its own; beside
them, the layout of all rows from nothing. CPU seconds are of all threads. With `--before`, the same by the
code of another checkout.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from lib.engines import Question, prepare
from lib.engines.resident import ResidentEngine
from lib.ingest import ImportJob, Rejects, import_files, readers
from lib.slicers.definition import Definition
from lib.slicers.definition.file import parse_definition
from lib.slicers.warehouse import Warehouse
from lib.wire.deadline import Deadline

ROOT = Path(__file__).resolve().parent.parent
DAYS, USERS, SITES, PAGES = 60, 400_000, 5_000, 20_000
FIELDS = [*(f"count_{number}" for number in range(10)), *(f"cost_{number}" for number in range(5))]
DEFINITION = """
time: {column: time, granularity: hour}
key_fields:
  - {name: site_id, type: int}
  - {name: country}
  - {name: browser}
  - {name: page}
  - {name: is_app}
  - {name: deal}
  - {name: tags, segmented: "|"}
audience_sources:
  - {name: users}
data_fields:
"""
TAGS = ["a|b", "b|c|d", "x", ""]


def main() -> None:
    """Make the slicer and the file of the day, and print a line of seconds for each checkout."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("rows", type=int, nargs="?", default=3_000_000)
    arguments.add_argument("--before", type=Path)
    given = arguments.parse_args()
    checkouts = {"now": ROOT} | ({"before": given.before} if given.before else {})
    with tempfile.TemporaryDirectory() as name:
        folder, a_day = Path(name), given.rows // DAYS
        make(folder / "made", a_day)
        pq.write_table(pa.table(day(DAYS, a_day)), folder / "day.parquet")
        print(f"{DAYS * a_day:,} rows of {DAYS} days, and {a_day:,} of one more: seconds (CPU seconds)\n")
        print(f"{'':10}{''.join(f'{work:>18}' for work in WORKS)}")
        for label, checkout in checkouts.items():
            home = folder / label
            shutil.copytree(folder / "made", home)
            took = [in_process(work, home, folder / "day.parquet", checkout) for work in WORKS]
            print(f"{label:10}{''.join(f'{s:10.2f} ({c:5.2f})' for s, c in took)}", flush=True)
            shutil.rmtree(home)


def definition() -> Definition:
    """24 columns: a time, seven key fields, users, 15 data fields."""
    return parse_definition(DEFINITION + "".join(f"  - {{name: {field}}}\n" for field in FIELDS))


def make(home: Path, a_day: int) -> None:
    """The slicer of 60 days."""
    schema = definition().schema()
    with Warehouse(home).writer("p", "s", definition()) as writer:
        for number in range(DAYS):
            table = pa.table(day(number, a_day))
            tags = pa.compute.split_pattern(table["tags"], "|")
            table = table.set_column(table.column_names.index("tags"), "tags", tags)
            writer.write(table.select(schema.names).cast(schema))
        writer.commit("made", "0")


def day(number: int, rows: int) -> dict[str, object]:
    """The rows of a day. Each day brings pages, deals and users that were not there before."""
    random = np.random.default_rng(number)
    hours = np.sort(random.integers(0, 24, rows)).astype("timedelta64[h]")
    columns: dict[str, object] = {
        "time": pa.array(np.datetime64("2026-01-01T00:00:00") + np.timedelta64(number, "D") + hours),
        "site_id": texts("", random.integers(0, SITES, rows)),
        "country": np.array(["DE", "FR", "US", "GB", "IT"])[random.integers(0, 5, rows)],
        "browser": np.array(["Chrome", "Firefox", "Safari", "Edge"])[random.integers(0, 4, rows)],
        "page": texts("https://site.example/", random.zipf(1.4, rows) % PAGES + 10 * number),
        "is_app": np.array(["true", "false"])[random.integers(0, 2, rows)],
        "deal": texts("deal-", random.integers(number, 200 + number, rows)),
        "tags": np.array(TAGS)[random.integers(0, len(TAGS), rows)],
        "users": texts("user-", random.integers(0, USERS, rows) + 1_000 * number),
    }
    for name in FIELDS:
        scale = random.pareto(1.5, rows) * 10
        columns[name] = np.floor(scale) if name.startswith("count") else scale.round(4)
    return columns


def texts(prefix: str, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.str_]:
    """Numbers with something before them."""
    return np.char.add(prefix, numbers.astype(str))


def in_process(work: str, home: Path, path: Path, checkout: Path) -> tuple[float, float]:
    """Seconds and CPU seconds of one of WORKS, with the code of a checkout."""
    folders = [str(checkout.resolve()), str(ROOT / "bench")]
    code = f"import sys; sys.path[:0] = {folders!r}; import appends; appends.show(*sys.argv[1:])"
    command = [sys.executable, "-c", code, work, str(home), str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=checkout)
    seconds, cpu = json.loads(done.stdout.splitlines()[-1])
    return seconds, cpu


def show(work: str, home: str, path: str) -> None:
    """Do one of WORKS in this process, and print its seconds and CPU seconds."""
    began, cpu = time.perf_counter(), time.process_time()
    WORKS[work](Warehouse(Path(home)), Path(path))
    print(json.dumps([time.perf_counter() - began, time.process_time() - cpu]))


def whole(warehouse: Warehouse, _: Path) -> None:
    """A layout of all rows, with none there before."""
    stored = warehouse.open("p", "s")
    shutil.rmtree(stored.folder / "layout", ignore_errors=True)
    prepare(stored)


def bring(warehouse: Warehouse, path: Path) -> None:
    """Import the day."""
    files = readers(path, definition=definition())
    with Rejects(path.with_suffix(".rejects")) as rejects:
        job = ImportJob("p", "s", files, definition(), mode="append")
        import_files(job, job.digests(), warehouse, rejects)


def layout(warehouse: Warehouse, _: Path) -> None:
    """The layout after the import."""
    prepare(warehouse.open("p", "s"))


def ask(warehouse: Warehouse, _: Path) -> None:
    """An exact split of all days."""
    stored = warehouse.open("p", "s")
    days = list(stored.rows)
    question = Question(days[0], days[-1], 0, ("site_id",), atoms=frozenset({"sum:count_0", "sum:cost_0"}))
    ResidentEngine().audience(stored, question, Deadline())


WORKS: dict[str, Callable[[Warehouse, Path], None]] = {
    "whole": whole,
    "import": bring,
    "layout": layout,
    "ask": ask,
}

if __name__ == "__main__":
    main()
