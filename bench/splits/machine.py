"""What the figures were measured on: no names of hosts, no paths."""

import importlib.metadata
import os
import platform
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

TOOLS = ("duckdb", "polars", "pandas", "numpy", "scipy", "pyarrow", "orjson")


def described() -> list[str]:
    """Processor, memory and versions, as lines of Markdown."""
    info = Path("/proc/cpuinfo")
    found = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in TOOLS)
    return [
        f"- {found[0] if found else platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GB of memory",
        f"- Python {platform.python_version()}, {versions}",
    ]


def bandwidth() -> float:
    """Bytes a second that two threads read from memory together; the best of a few attempts."""
    parts = np.ones((2, 1 << 25))
    best = 0.0
    for _ in range(5):
        began = time.perf_counter()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(np.sum, parts))
        best = max(best, parts.nbytes / (time.perf_counter() - began))
    return best
