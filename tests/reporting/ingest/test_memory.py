"""Memory is bounded: two million rows go in under 900 MiB."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from lib.reporting.warehouse import Warehouse

ROWS, BATCH = 2_000_000, 250_000
LIMIT = 900 << 20
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


def test_two_million_rows_stay_under_900_mebibytes(tmp_path: Path) -> None:
    """The whole command, with guessing, storing and preparing, keeps below the limit; no row is lost."""
    path = tmp_path / "rows.csv"
    total = write_rows(path)
    done = subprocess.run(
        [sys.executable, "-c", IMPORT, "import", str(path), "--project", "p", "--slicer", "s"],
        cwd=tmp_path, env={"TRANCHE_HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[3])},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert json.loads(done.stdout.splitlines()[-1]) < LIMIT
    path.unlink()
    stored = Warehouse(tmp_path / "warehouse").open("p", "s")
    assert stored.row_count == ROWS and len(stored.files) == 90
    assert sum(int(np.sum(stored.read([day], ["imps"])["imps"].to_numpy())) for day in stored.files) == total
