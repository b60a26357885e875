"""What it costs that every block of a layout is verified before its first use.

    python bench/checksums.py [rows …]

For each number of rows, in milliseconds, without verification and with it, in turns: the first question of an
engine that has just started (files in the page cache), exact or an estimate from a million records, and
a question asked again; the best of several starts. Before that, how long the pass over all files takes.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from limits import estimate, exact, written
from splits.rows import Case

from lib.engines import prepare
from lib.engines.resident import ResidentEngine
from lib.engines.resident.checksums import StoredFile
from lib.engines.resident.engine import OpenLayouts
from lib.engines.resident.layout import Layout
from lib.slicers.warehouse import StoredSlicer, Warehouse

STARTS, REPEATS = 7, 9
COUNTRY = Case(("country",))
Ask = Callable[[ResidentEngine, StoredSlicer, Case], object]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", type=int, default=[1_000_000])
    print("| rows | layout, MB | all files, s | question | without, ms | verified, ms | ratio |")
    print("|--:|--:|--:|---|--:|--:|--:|")
    for rows in parser.parse_args().rows:
        for line in lines(rows):
            print(line, flush=True)


def lines(rows: int) -> Iterator[str]:
    """The lines of so many rows."""
    with tempfile.TemporaryDirectory() as folder:
        stored = written(rows, Warehouse(Path(folder)))
        prepare(stored)
        size = sum(path.stat().st_size for path in stored.layout_folder.iterdir()) / 1e6
        all_files = milliseconds(Layout(stored.layout_folder).verify) / 1000
        for title, ask in (("first, exact", exact), ("first, estimate", estimate), ("again, exact", exact)):
            pairs = [compared(stored, ask, is_first=title.startswith("first")) for _ in range(STARTS)]
            without, verified = (min(times) for times in zip(*pairs, strict=True))
            figures = f"{without:,.1f} | {verified:,.1f} | {verified / without:.2f}"
            yield f"| {rows:,} | {size:,.0f} | {all_files:.2f} | {title} | {figures} |"


def compared(stored: StoredSlicer, ask: Ask, is_first: bool) -> tuple[float, float]:
    """Milliseconds of a question without verification, and with it."""
    with unverified():
        without = of_engine(stored, ask, is_first)
    return without, of_engine(stored, ask, is_first)


def of_engine(stored: StoredSlicer, ask: Ask, is_first: bool) -> float:
    """Milliseconds of the first question of a new engine, or of a later one once everything is verified."""
    engine = ResidentEngine(2)
    if is_first:
        return milliseconds(lambda: ask(engine, stored, COUNTRY))
    ask(engine, stored, COUNTRY)
    with engine._layouts._verifying:
        return min(milliseconds(lambda: ask(engine, stored, COUNTRY)) for _ in range(REPEATS))


def milliseconds(call: Callable[[], object]) -> float:
    """How long a call takes."""
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


@contextmanager
def unverified() -> Iterator[None]:
    """Everything is believed, as it is read."""

    def believe(file: StoredFile, *_: object, **__: object) -> None:
        file.is_verified = True

    with patch.object(StoredFile, "verify", believe), patch.object(OpenLayouts, "_verify_when_due"):
        yield


if __name__ == "__main__":
    main()
