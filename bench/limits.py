"""How far one desk reaches: rows in the resident engine, and people who ask at the same time.

    python bench/limits.py [rows …] [--people 1,20,50,200] [--home DIRECTORY]

For each number of rows: seconds to build the layout, its bytes, and questions in milliseconds, exact and as
an estimate from a million records, medians of five. Then the waits of people on the Audience page of the demo
(made anew without a data directory), each asking every five seconds on average, without browsers.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from desk_clicks import desk, made, quantile
from desk_people import cookies, others
from splits.rows import Case, make_rows
from splits.tools import definition, question

from lib.engines import prepare
from lib.engines.resident import ResidentEngine
from lib.slicers.warehouse import StoredSlicer, Warehouse
from lib.wire.deadline import Deadline

CHUNK, FIELDS, REPEATS, RECORDS_OF_ESTIMATE, SECONDS = 2_000_000, 5, 5, 1_000_000, 60
QUESTIONS = (Case(("country",)), Case(("country", "site", "os")), Case(("country",), distinct=True))


def main() -> None:
    """Measure, and print two tables."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("rows", nargs="*", type=int, default=[1_000_000])
    asked.add_argument("--people", default="1,20")
    asked.add_argument("--home", type=Path)
    given = asked.parse_args()
    titles = [f"{one.title}, ms" for one in QUESTIONS]
    print(f"| rows | layout, s | layout, MB | {' | '.join(titles)} | country, estimate, ms |")
    print(f"|{'--:|' * (4 + len(titles))}")
    for rows in given.rows:
        print(of_rows(rows), flush=True)
    print("\n| people | questions | p50, ms | p95, ms | longest, ms | failed |\n|--:|--:|--:|--:|--:|--:|")
    for line in of_people([int(one) for one in given.people.split(",")], given.home):
        print(line, flush=True)


def of_rows(rows: int) -> str:
    """The line of so many rows."""
    with tempfile.TemporaryDirectory() as folder:
        stored = written(rows, Warehouse(Path(folder)))
        began = time.perf_counter()
        prepare(stored)
        seconds = time.perf_counter() - began
        size = sum(path.stat().st_size for path in stored.layout_folder.iterdir()) / 1e6
        engine = ResidentEngine(2)
        times = [median(lambda one=one: exact(engine, stored, one)) for one in QUESTIONS]
        times.append(median(lambda: estimate(engine, stored, QUESTIONS[0])))
    return f"| {rows:,} | {seconds:,.1f} | {size:,.0f} | {' | '.join(f'{one:,.0f}' for one in times)} |"


def written(rows: int, warehouse: Warehouse) -> StoredSlicer:
    """So many rows in a slicer, a chunk at a time."""
    known = definition([f"m{number}" for number in range(FIELDS)])
    with warehouse.writer("bench", "rows", known) as writer:
        for first in range(0, rows, CHUNK):
            frame = make_rows(min(CHUNK, rows - first), FIELDS, seed=1 + first)
            table = pa.Table.from_pandas(frame, preserve_index=False)
            writer.write(table.select(known.schema().names).cast(known.schema()))
        writer.commit("made", "0")
    return warehouse.open("bench", "rows")


def exact(engine: ResidentEngine, stored: StoredSlicer, case: Case) -> object:
    """An answer from every record."""
    return engine.audience(stored, question(stored, case), Deadline())


def estimate(engine: ResidentEngine, stored: StoredSlicer, case: Case) -> object:
    """An answer from at most a million records."""
    return engine.audience(stored, question(stored, case, RECORDS_OF_ESTIMATE), Deadline())


def median(ask: Callable[[], object]) -> float:
    """Milliseconds of a call, once it has been made before."""
    ask()
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        ask()
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def of_people(counts: Sequence[int], home: Path | None) -> Iterator[str]:
    """A line for each number of people."""
    with tempfile.TemporaryDirectory() as folder:
        home = home or made(Path(folder) / "home")
        sessions = cookies(home, max(counts))
        with desk(home) as address:
            for count in counts:
                with others(count, address, sessions) as answered:
                    time.sleep(SECONDS)
                waits, failed = answered()
                first = [wait for wait, _ in waits]
                p50, p95 = quantile(first, 50), quantile(first, 95)
                yield f"| {count} | {len(first)} | {p50:,.0f} | {p95:,.0f} | {max(first):,.0f} | {failed} |"


if __name__ == "__main__":
    main()
