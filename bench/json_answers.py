"""What an answer costs as JSON, beside the formatting of its numbers alone.

    python bench/json_answers.py

Figures are medians of processor time in milliseconds: of the whole body, of orjson for the same numbers by
columns, and their ratio; then until the first 256 KB are there, and the most memory that a body of a million
groups takes while it is read piece by piece.
"""

import statistics
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import orjson
import pandas as pd
import pyarrow as pa

from lib.reporting.answers import Audience, Total, as_json

REPEATS, FIRST_BYTES = 9, 1 << 18
SHAPES = ((24, 5_462), (5, 5_462), (24, 100), (5, 1_000_000))


def answer(fields: int, groups: int) -> Audience:
    """Amounts and counts, half of each, split by two key fields."""
    draw = np.random.default_rng(fields)
    columns = {
        f"field_{number}": draw.integers(0, 10**6, groups).astype(float)
        if number % 2
        else draw.integers(1, 10**7, groups) / 10**4
        for number in range(fields)
    }
    values = pd.DataFrame(columns)
    names = pd.DataFrame(
        {"site": [f"site{n % 5000}" for n in range(groups)], "day": "2026-01-31"}, dtype="str"
    )
    total = Total(dict.fromkeys(columns, 1.0), groups)
    return Audience(keys=names, values=values, percents=100 * values / values.sum(), total=total)


def milliseconds(work: Callable[[], object]) -> float:
    """The median of some runs, after one that isn't counted."""
    times = []
    for _ in range(REPEATS + 1):
        began = time.process_time()
        work()
        times.append(1e3 * (time.process_time() - began))
    return statistics.median(times[1:])


def read(audience: Audience, most: float = float("inf")) -> int:
    """Read the body, piece by piece, up to so many bytes."""
    size = 0
    for piece in as_json.encode(audience):
        size += len(piece)
        if size >= most:
            break
    return size


def main() -> None:
    """Print a line for each shape."""
    print("| fields × groups | MB | JSON | orjson | ratio | first 256 KB | most memory, MB |")
    print("|---|---|---|---|---|---|---|")
    for fields, groups in SHAPES:
        audience = answer(fields, groups)
        numbers = [
            as_json.whole(frame[name].to_numpy())
            for frame in (audience.values, audience.percents)
            for name in frame
        ]
        whole = milliseconds(lambda audience=audience: read(audience))
        formatting = milliseconds(
            lambda numbers=numbers: [orjson.dumps(n, option=orjson.OPT_SERIALIZE_NUMPY) for n in numbers]
        )
        first = milliseconds(lambda audience=audience: read(audience, FIRST_BYTES))
        before = pa.total_allocated_bytes()
        tracemalloc.start()
        most_arrow = size = 0
        for piece in as_json.encode(audience):
            size += len(piece)
            most_arrow = max(most_arrow, pa.total_allocated_bytes() - before)
        memory = (tracemalloc.get_traced_memory()[1] + most_arrow) / 1e6
        tracemalloc.stop()
        figures = f"{size / 1e6:.1f} | {whole:.1f} | {formatting:.1f} | {whole / formatting:.1f}"
        print(f"| {fields} × {groups:,} | {figures} | {first:.1f} | {memory:.1f} |")


if __name__ == "__main__":
    main()
