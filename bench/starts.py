"""What commands and the desk cost until they answer: processor seconds, and the most memory.

    python bench/starts.py [repeats]

Each runs in a process of its own over a new data directory with one small slicer; the median of `repeats`.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))  # before the serving.py of this folder
from serving import free_port

ROOT = Path(__file__).parent.parent
TRANCHE = [sys.executable, "-c", "from lib.cli import main; main()"]
ROWS = "time,site,imps\n2026-01-01 05:30,a,1\n"
TO = ["--project", "acme", "--slicer", "auctions"]
COMMANDS = {
    "tranche --help": ["--help"],
    "tranche slicers": ["slicers"],
    "import of a missing file": ["import", "missing.csv", *TO],
    "import into a slicer that exists": ["import", "rows.csv", *TO],
    "tranche token list": ["token", "list"],
    "tranche user list": ["user", "list"],
}
TICKS, KILOBYTES = os.sysconf("SC_CLK_TCK"), 1024


def main() -> None:
    """Measure, and print a table."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TRANCHE_HOME": f"{folder}/home", "PYTHONPATH": str(ROOT)}
        (Path(folder) / "rows.csv").write_text(ROWS)
        for arguments in (["import", "rows.csv", *TO], ["token", "list"]):
            subprocess.run(
                [*TRANCHE, *arguments], cwd=folder, env=environment, check=True, capture_output=True
            )
        print(f"{'':34}{'s of processor':>16}{'MB':>6}")
        for name, arguments in COMMANDS.items():
            show(name, [command_cost(arguments, folder, environment) for _ in range(repeats)])
        show("app.py until it answers", [desk_cost(environment) for _ in range(repeats)])


def show(name: str, costs: list[tuple[float, float]]) -> None:
    """Print the medians of one row."""
    seconds, megabytes = (statistics.median(values) for values in zip(*costs, strict=True))
    print(f"{name:34}{seconds:16.2f}{megabytes:6.0f}")


def command_cost(arguments: list[str], folder: str, environment: dict[str, str]) -> tuple[float, float]:
    """Processor seconds and megabytes of a command, whatever its outcome."""
    process = subprocess.Popen(
        [*TRANCHE, *arguments], cwd=folder, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / KILOBYTES


def desk_cost(environment: dict[str, str]) -> tuple[float, float]:
    """The same of a desk at the moment of its first response."""
    port = {"TRANCHE_PORT": str(free_port()), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [sys.executable, "app.py"], cwd=ROOT, env={**environment, **port}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as desk:  # fmt: skip
        assert desk.stdout is not None
        address = next(found[0] for line in desk.stdout if (found := re.search(r"http://[\w.:]+", line)))
        httpx.get(f"{address}/healthz", timeout=60)
        times = Path(f"/proc/{desk.pid}/stat").read_text().rpartition(")")[2].split()
        peak = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{desk.pid}/status").read_text())
        desk.terminate()
    assert peak is not None
    return (int(times[11]) + int(times[12])) / TICKS, int(peak[1]) / KILOBYTES


if __name__ == "__main__":
    main()
