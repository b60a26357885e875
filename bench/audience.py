"""Splits side by side: the resident engine, DuckDB in memory, polars and pandas, on the same rows.

    ROWS=1_000_000 python bench/audience.py [file]

Each case is asked of 10,000, 100,000 … ROWS records with 5 and with 24 data fields. Answers are checked to be
equal, group by group. Figures are medians of interleaved runs and ratios to DuckDB; the report is written as
Markdown beside this file, as RESULTS, after each size; the notes at its end are kept. Five exact splits over
HTTP are put beside DuckDB's query and `fetchall`.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from splits import machine, wire
from splits.rows import CASES, Case, checksum, make_rows
from splits.tools import DuckDB, Pandas, Polars, Tranche

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))  # before the serving.py of this folder
from serving import serving

REPEATS, LONG_SECONDS = 25, 3.0
NOTES = "\n## What the profile showed\n"
WIDTHS = (5, 24)
Works = dict[str, Callable[[], object]]


def main() -> None:
    """Measure, print and write the report."""
    most = int(os.environ.get("ROWS", "1_000_000"))
    target = (
        Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("RESULTS").with_suffix(".md")
    )
    notes = "".join(target.read_text().partition(NOTES)[1:]) if target.exists() else ""
    speed = machine.bandwidth()
    lines = [*_head(speed)]
    for records in [size for size in (10_000, 100_000, 1_000_000, 10_000_000) if size <= most]:
        for width in WIDTHS:
            for line in _compared(make_rows(records, width), records, width, speed):
                print(line, flush=True)
                lines.append(line)
            lines.append(f"\nLoad of the last minute after this: {os.getloadavg()[0]:.1f}.")
            target.write_text("\n".join(lines) + "\n" + notes)


def _head(speed: float) -> Iterator[str]:
    yield "# Results of the bench\n"
    yield "Written by `make bench` (`bench/audience.py`). Figures are medians; ratios are to DuckDB in one"
    yield "run: below 1 is faster. All answers were equal, group by group. Counted is the engine alone, on"
    yield 'rows of this bench; for the whole service see "The whole service beside DuckDB".\n'
    yield from machine.described()
    yield f"- Two threads read {speed / 1e9:.1f} GB/s from memory, measured in the same run"
    yield f"- Load of the last minute when it began: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores."
    yield "  Above 0.5 other programs ran meanwhile, and neither milliseconds nor ratios are to be relied on"


def _compared(rows: pd.DataFrame, records: int, width: int, speed: float) -> Iterator[str]:
    fields = [name for name in rows if name.startswith("m")]
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        tranche, duck = Tranche(rows, fields, home / "warehouse"), DuckDB(rows, fields)
        others = {"polars": Polars(rows, fields), "pandas": Pandas(rows, fields)}
        yield f"\n## {records:,} records, {width} data fields\n"
        yield "| split | groups | DuckDB, ms | Tranche | polars | pandas | ns per record, field | bandwidth |"
        yield "|---|--:|--:|--:|--:|--:|--:|--:|"
        yield from _splits({"DuckDB": duck, "Tranche": tranche} | others, records, width, speed)
        frame, mapped = rows.memory_usage(deep=False).sum() / 1e6, tranche.bytes() / 1e6
        yield f"\nA pandas frame of the rows takes {frame:,.0f} MB; Tranche maps {mapped:,.0f} MB of files."
        yield from _over_http(home, duck)


def _splits(tools: dict[str, Any], records: int, width: int, speed: float) -> Iterator[str]:
    ratios = []
    for case in CASES:
        groups = _checked(tools, case)
        times = medians({name: partial(tool.ask, case) for name, tool in tools.items()})
        yield _line(case, groups, times, records, 1 if case.distinct else width, speed)
        ratios += [times["Tranche"] / times["DuckDB"]] if case.is_plain else []
    mean = statistics.geometric_mean(ratios)
    yield f"\nThe eight plain splits: geometric mean **{mean:.2f}** of DuckDB, the slowest {max(ratios):.2f}."


def _checked(tools: dict[str, Any], case: Case) -> int:
    """How many groups there are; AssertionError where the tools differ in any figure of any of them."""
    found = {name: checksum(*tool.columns(case, tool.ask(case))) for name, tool in tools.items()}
    assert len(set(found.values())) == 1, (case, found)
    return found["Tranche"][0]


def _line(case: Case, groups: int, times: dict[str, float], records: int, width: int, speed: float) -> str:
    base, ours = times["DuckDB"], times["Tranche"]
    touched = records * (8 * (width + 1) + 2 * len(case.split))
    share = f"{touched / (ours / 1000) / speed:.0%}" if case.is_plain else ""
    ratios = [f"{times[name] / base:.2f}" for name in ("Tranche", "polars", "pandas")]
    cells = [case.title, f"{groups:,}", f"{base:,.1f}", *ratios, f"{1e6 * ours / records / width:.2f}", share]
    return f"| {' | '.join(cells)} |"


def _over_http(home: Path, duck: DuckDB) -> Iterator[str]:
    yield "\n| over HTTP | DuckDB `fetchall`, ms | JSON | Arrow | JSON, MB |\n|---|--:|--:|--:|--:|"
    ratios = []
    with wire.asking(home, serving) as ask:
        for case in wire.SPLITS:
            size = len(ask(case, "application/json")) / 1e6
            times = medians(wire.ways(ask, duck, case))
            json, arrow = (times[name] / times["DuckDB"] for name in ("JSON", "Arrow"))
            ratios.append(json)
            yield f"| {case.title} | {times['DuckDB']:,.1f} | {json:.2f} | {arrow:.2f} | {size:.1f} |"
    mean = statistics.geometric_mean(ratios)
    yield f"\nJSON over HTTP: geometric mean **{mean:.2f}** of DuckDB, the slowest {max(ratios):.2f}."


def medians(works: Works) -> dict[str, float]:
    """The median time of each in milliseconds, after one run that does not count; runs take turns."""
    found: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()
    for _ in range(REPEATS):
        for name, work in works.items():
            if sum(found[name]) > 1000 * LONG_SECONDS:
                continue
            began = time.perf_counter()
            work()
            found[name].append(1000 * (time.perf_counter() - began))
    return {name: statistics.median(times) for name, times in found.items()}


if __name__ == "__main__":
    main()
