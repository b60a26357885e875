"""Memory is bounded: it does not grow with the rows of a file, of a day, or of a column of dates."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from lib.slicers.warehouse import StoredSlicer, Warehouse

ROWS, BATCH = 1_000_000, 250_000
IMPORT = """
import json, resource, sys
from pathlib import Path
from lib.cli import main
main(sys.argv[1:], standalone_mode=False)
status = Path("/proc/self/status")
if status.exists():
    peak = int(status.read_text().partition("VmHWM:")[2].split()[0]) * 1024
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps(peak))
"""
INFER = """
import sys
from pathlib import Path
import pyarrow as pa
from lib.ingest import infer, readers
(file,) = readers(Path(sys.argv[1]))
print(infer(file).time.format, pa.default_memory_pool().max_memory())
"""


def run(program: str, folder: Path, *arguments: str) -> str:
    """The last line that a program of its own process prints."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder, env={"TRANCHE_HOME": str(folder), "PYTHONPATH": str(Path(__file__).parents[2])},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.splitlines()[-1]


def peak(folder: Path, path: Path) -> tuple[int, StoredSlicer]:
    """The most memory that `tranche import` takes, in MiB, and the slicer."""
    line = run(IMPORT, folder, "import", str(path), "--project", "p", "--slicer", "s")
    path.unlink()
    return int(json.loads(line)) >> 20, Warehouse(folder / "warehouse").open("p", "s")


def write_rows(path: Path) -> int:
    """Two million rows of 90 days in no order; the sum of their impressions."""
    random, total = np.random.default_rng(1), 0
    start, countries = np.datetime64("2026-01-01T00:00:00"), np.array(["DE", "FR", "US", "GB"])
    tags = np.array(["a|b", "b|c", "x", ""])
    with path.open("wb") as file:
        file.write(b"time,site_id,country,tags,user_id,imps,revenue\n")
        for _ in range(ROWS // BATCH):
            imps = random.integers(1, 100, BATCH)
            total += int(imps.sum())
            table = pa.table(
                {
                    "time": pa.array(start + random.integers(0, 90 * 86_400, BATCH).astype("timedelta64[s]")),
                    "site_id": random.integers(0, 5000, BATCH),
                    "country": countries[random.integers(0, 4, BATCH)],
                    "tags": tags[random.integers(0, 4, BATCH)],
                    "user_id": random.integers(0, 10**12, BATCH),
                    "imps": imps,
                    "revenue": random.random(BATCH).round(4),
                }
            )
            options = pa.csv.WriteOptions(include_header=False, quoting_style="none")
            pa.csv.write_csv(table, file, options)
    return total


def test_a_million_rows_stay_under_600_mebibytes(tmp_path: Path) -> None:
    """The whole command, with guessing, storing and preparing, keeps below the limit; no row is lost."""
    path = tmp_path / "rows.csv"
    total = write_rows(path)
    memory, stored = peak(tmp_path, path)
    assert memory < 600
    assert stored.row_count == ROWS and len(stored.files) == 90
    assert sum(int(np.sum(stored.read([day], ["imps"])["imps"].to_numpy())) for day in stored.files) == total


def test_a_million_rows_of_one_day_stay_under_600_mebibytes(tmp_path: Path) -> None:
    """Nor are a Parquet file's 27 columns held whole, nor those of a day, which are 200 MiB of numbers."""
    random, path = np.random.default_rng(1), tmp_path / "rows.parquet"
    names = [f"amount_{number}" for number in range(24)]
    columns = {name: random.integers(0, 1000, ROWS) * 1.0 for name in names}
    tags = pa.array(["a|b", "b|c", "x", ""]).take(pa.array(random.integers(0, 4, ROWS)))
    start, seconds = np.datetime64("2026-01-01T00:00:00"), random.integers(0, 86_400, ROWS)
    time = pa.array(start + seconds.astype("timedelta64[s]"))
    pq.write_table(
        pa.table({"time": time, "site_id": random.integers(0, 5000, ROWS), "tags": tags, **columns}), path
    )
    memory, stored = peak(tmp_path, path)
    assert memory < 600
    assert stored.row_count == ROWS and len(stored.files) == 1


def test_a_question_about_dates_holds_only_some_of_them(tmp_path: Path) -> None:
    """To tell 05/03 from 03/05 all rows are read, and a day beyond the twelfth is found; not all are kept."""
    path, minutes = tmp_path / "rows.parquet", np.arange(ROWS) % 1440
    texts = [f"05/03/2026 {minute // 60:02}:{minute % 60:02}:00" for minute in range(1440)]
    column = pa.array([*texts, "25/03/2026 10:00:00"]).take(pa.array([*minutes[:-1], 1440]))
    pq.write_table(pa.table({"time": column, "amount": minutes}), path)
    format_, memory = run(INFER, tmp_path, str(path)).rsplit(" ", 1)
    assert format_ == "%d/%m/%Y %H:%M:%S"
    assert int(memory) < 40 << 20
