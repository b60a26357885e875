"""The whole service beside DuckDB in memory, as somebody who knows DuckDB would build it: one table.

    python bench/side_by_side.py [--rows N] [--http] [--imports] [--before CHECKOUT]

Rows are made by a seeded generator: five key fields whose values follow Zipf's law, five whole-number data
fields with heavy tails. DuckDB has key fields as enums and data fields as int32. The service answers in
process: token, checks, order, percents and total are included, and no answer is cached. DuckDB's statement
has the groups and sums alone, as Arrow. Sums are compared, group by group. Runs take turns; the least of
them counts, of wall time and of processor time (all threads).

`--http`: JSON over a socket beside DuckDB and `fetchall`. `--imports`: `tranche import` of the rows as
Parquet beside DuckDB reading that into a table, each in a process of its own; `--before CHECKOUT` adds the
import by another checkout.
"""

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from splits import machine

from lib.people import Person
from lib.reporting.models import AudienceQuery
from lib.reporting.service import ReportingService
from lib.serving import connect
from lib.serving.front import server
from lib.settings import Settings
from lib.slicers.definition.file import parse_definition

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))  # before the serving.py of this folder
from serving import serving

ROOT = Path(__file__).resolve().parent.parent
THREADS, DAYS, ROUNDS, MOST_ROUNDS, SECONDS = 2, 60, 5, 30, 1.0
KEYS = {"country": 60, "site": 2_000, "browser": 12, "os": 8, "page": 50_000}
FIELDS = ("imps", "clicks", "wins", "bids", "spend")
EXPONENT = 0.7
CHUNK = 1_000_000
DEFINITION = "time: {column: time, granularity: hour}\nkey_fields:\n" + "".join(
    f"  - {{name: {name}}}\n" for name in KEYS
) + "data_fields:\n" + "".join(f"  - {{name: {name}}}\n" for name in FIELDS)  # fmt: skip
WHO = Person("bench", "Bench", None, "admin")
Work = Callable[[], Any]
Times = dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Case:
    """A split; the page of it that is wanted (None: all rows)."""

    split: tuple[str, ...]
    limit: int | None = None

    @property
    def title(self) -> str:
        return " × ".join(self.split) + (f", first {self.limit}" if self.limit else "")

    @property
    def sql(self) -> str:
        """The groups and their sums, in the order of the service only where a page is cut from it."""
        keys = ", ".join("day" if key == "granularity_day" else key for key in self.split)
        sums = ", ".join(f"sum({name})::bigint as {name}" for name in FIELDS)
        order = f" order by {FIELDS[0]} desc, {keys} limit {self.limit}" if self.limit else ""
        return f"select {keys}, {sums} from t group by {keys}{order}"


SPLITS = tuple(map(Case, [
    ("os",), ("country",), ("site",), ("page",), ("granularity_day", "country"), ("country", "browser"),
    ("site", "browser"), ("country", "site", "os"),
]))  # fmt: skip
PAGES = (Case(("page",), 10), Case(("country", "site", "os"), 10))
OVER_HTTP = tuple(map(Case, [("os",), ("country",), ("country", "browser"), ("site",), ("site", "browser")]))


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, default=1_000_000)
    arguments.add_argument("--http", action="store_true")
    arguments.add_argument("--imports", action="store_true")
    arguments.add_argument("--before", type=Path)
    given = arguments.parse_args()
    print("\n".join(machine.described()))
    print(f"- Load of the last minute when it began: {os.getloadavg()[0]:.1f}\n")
    with tempfile.TemporaryDirectory() as name:
        home, path = Path(name), Path(name) / "rows.parquet"
        write_rows(path, given.rows)
        if given.imports or given.before:
            lines: Iterator[str] = imports(path, given.rows, home, given.before)
        else:
            lines = _questions(path, given.rows, home, given.http)
        for line in lines:
            print(line, flush=True)
    print(f"\nLoad of the last minute when it ended: {os.getloadavg()[0]:.1f}")


def write_rows(path: Path, rows: int, seed: int = 1) -> None:
    """The rows as Parquet, in no order; texts and int32, compressed as Arrow does by itself."""
    random = np.random.default_rng(seed)
    shares = {name: _zipf(values) for name, values in KEYS.items()}
    texts = {name: pa.array([f"{name} {n}" for n in range(values)]) for name, values in KEYS.items()}
    begin = np.datetime64("2026-09-01T00:00:00")
    with pq.ParquetWriter(path, pa.schema([
        ("time", pa.timestamp("s", tz="UTC")), *((name, pa.string()) for name in KEYS),
        *((name, pa.int32()) for name in FIELDS),
    ])) as writer:  # fmt: skip
        for first in range(0, rows, CHUNK):
            count = min(CHUNK, rows - first)
            hours = random.integers(0, 24 * DAYS, count).astype("timedelta64[h]")
            columns = [pa.array(begin + hours).cast(pa.timestamp("s", tz="UTC"))]
            columns += [
                texts[name].take(pa.array(random.choice(values, count, p=shares[name])))
                for name, values in KEYS.items()
            ]
            size = np.minimum(random.pareto(1.5, count) * 100, 1e6)
            columns += [pa.array((size * random.random(count)).astype(np.int32)) for _ in FIELDS]
            writer.write_batch(pa.record_batch(columns, schema=writer.schema))


def _zipf(values: int) -> np.ndarray:
    shares = 1 / np.arange(1, values + 1) ** EXPONENT
    return np.asarray(shares / shares.sum())


def _questions(path: Path, rows: int, home: Path, over_http: bool) -> Iterator[str]:
    import_rows(path, home)
    duck = in_memory(path)
    settings = Settings(home=home, answers_megabytes=0, throttle_questions=10**9)
    server.tune_allocator()
    resources = connect.installation(settings)
    gc.collect()
    gc.freeze()  # as app.py does
    resources.people.add(WHO, "bench-bench")
    token = resources.access.issue(WHO.username, settings.reporting_service, "bench", None)
    stored = resources.warehouse.open("bench", "rows")
    size = sum(file.stat().st_size for file in stored.layout_folder.iterdir())
    yield f"## {rows:,} rows, 5 key fields, 5 data fields{', over HTTP' if over_http else ''}\n"
    yield f"Layout: {size / 1e6:,.0f} MB, {size / path.stat().st_size:.1f} × the source Parquet.\n"
    if over_http:
        yield from _over_http(resources, token, duck)
        return
    service: ReportingService = resources.reporting
    yield "| split | groups | DuckDB, ms | service, ms | ratio | ratio of processor time | engine, ms |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    ratios = []
    for case in (*SPLITS, *PAGES):
        groups = _compare(service, token, duck, case)
        works: dict[str, Work] = {
            "duck": lambda case=case: duck.sql(case.sql).to_arrow_table(),
            "service": lambda case=case: ask(service, token, case),
            "engine": lambda case=case: engine(service, token, case),
        }
        times = least(works)
        wall, cpu = (times["service"][at] / times["duck"][at] for at in (0, 1))
        ratios += [(wall, cpu)] if case.limit is None else []
        yield (
            f"| {case.title} | {groups:,} | {times['duck'][0]:.1f} | {times['service'][0]:.1f} "
            f"| {wall:.2f} | {cpu:.2f} | {times['engine'][0]:.1f} |"
        )
    for name, values in zip(("wall", "processor"), zip(*ratios, strict=True), strict=True):
        mean = statistics.geometric_mean(values)
        yield f"\nThe splits, {name} time: geometric mean **{mean:.2f}**, slowest {max(values):.2f}."


def in_memory(path: Path) -> duckdb.DuckDBPyConnection:
    """The table, with enums of each key field and the day beside the time, for those who split by it."""
    duck = duckdb.connect()
    duck.execute(f"set threads to {THREADS}")
    for name in KEYS:
        duck.execute(f"create type {name}_ as enum (select distinct {name} from '{path}' order by 1)")
    keys = ", ".join(f"{name}::{name}_ as {name}" for name in KEYS)
    day = "(time at time zone 'UTC')::date as day"
    duck.execute("set timezone to 'UTC'")
    duck.execute(f"create table t as select time, {day}, {keys}, {', '.join(FIELDS)} from '{path}'")
    return duck


def _body(token: str, case: Case) -> dict[str, Any]:
    return {
        "project_name": "bench", "slicer_name": "rows", "token": token, "start_date": "2026-08-01",
        "end_date": "2026-12-01", "audience_rows_limit": 10**7, "exact_within": 3_600_000,
        "data_fields": list(FIELDS), "split_by": list(case.split),
        **({"limit": case.limit} if case.limit else {}),
    }  # fmt: skip


def ask(service: ReportingService, token: str, case: Case) -> Any:
    """The answer of the service in process, from the body's bytes on."""
    request = service.admit(orjson.dumps(_body(token, case)))
    return service.audience(request, service.deadline())


def engine(service: ReportingService, token: str, case: Case) -> Any:
    """What the engine alone takes of it."""
    request = service.admit(orjson.dumps(_body(token, case)))
    query = service._query(AudienceQuery, request)
    question = service._engine_query(query, request.slicer.measures)
    return service.engine.audience(request.slicer, question, service.deadline())


def _compare(service: ReportingService, token: str, duck: duckdb.DuckDBPyConnection, case: Case) -> int:
    """How many groups there are; AssertionError where a sum of any of them differs."""
    answer, table = ask(service, token, case), duck.sql(case.sql).to_arrow_table()
    keys = [table.column(place).cast(pa.string()) for place in range(len(case.split))]
    theirs = pa.table([*keys, *table.columns[len(keys) :]], names=[*case.split, *FIELDS])
    ours = pa.table(
        [pa.array(answer.names[name].astype("str")).cast(pa.string()) for name in case.split]
        + [pa.array(answer.values[name].to_numpy()).cast(pa.int64()) for name in FIELDS],
        names=[*case.split, *FIELDS],
    )
    order = [(name, "ascending") for name in case.split]
    assert ours.sort_by(order).equals(theirs.sort_by(order).combine_chunks().cast(ours.schema)), case
    return answer.total.records_found


def least(works: Mapping[str, Work]) -> Times:
    """The least wall and processor milliseconds of each, after a run that doesn't count; they take turns."""
    best, began, rounds = dict.fromkeys(works, (np.inf, np.inf)), time.perf_counter(), 0
    for work in works.values():
        work()
    while rounds < ROUNDS or (rounds < MOST_ROUNDS and time.perf_counter() - began < SECONDS):
        rounds += 1
        for name, work in works.items():
            wall, cpu = time.perf_counter(), time.process_time()
            answer = work()
            taken = (1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - cpu))
            best[name] = (min(best[name][0], taken[0]), min(best[name][1], taken[1]))
            del answer
    return best


def _over_http(resources: Any, token: str, duck: duckdb.DuckDBPyConnection) -> Iterator[str]:
    yield "| split | DuckDB `fetchall`, ms | JSON, ms | ratio | ratio of processor time | MB |"
    yield "|---|--:|--:|--:|--:|--:|"
    ratios = []
    with (
        serving(resources.api) as address,
        closing(HTTPConnection(urlsplit(address).netloc, timeout=120)) as http,
    ):

        def post(case: Case) -> bytes:
            headers = {"Accept": "application/json", "Content-Type": "application/json"}
            http.request("POST", "/API/v2/audience", orjson.dumps(_body(token, case)), headers)
            answer = http.getresponse()
            content = answer.read()
            assert answer.status == 200, content
            return content

        for case in OVER_HTTP:
            size = len(post(case)) / 1e6
            times = least({
                "duck": lambda case=case: duck.execute(case.sql).fetchall(),
                "service": lambda case=case: post(case),
            })  # fmt: skip
            wall, cpu = (times["service"][at] / times["duck"][at] for at in (0, 1))
            ratios.append((wall, cpu))
            first = f"{case.title} | {times['duck'][0]:.1f} | {times['service'][0]:.1f}"
            yield f"| {first} | {wall:.2f} | {cpu:.2f} | {size:.1f} |"
    for name, values in zip(("wall", "processor"), zip(*ratios, strict=True), strict=True):
        yield f"\nJSON over HTTP, {name} time: geometric mean **{statistics.geometric_mean(values):.2f}**."


def imports(path: Path, rows: int, home: Path, before: Path | None) -> Iterator[str]:
    """`tranche import` of the file beside DuckDB, and beside that of another checkout."""
    commands = {"service": lambda: import_rows(path, home)}
    if before:
        commands["before"] = lambda: import_rows(path, home, before)
    script = (
        "import duckdb, json, resource, sys, time; duck = duckdb.connect(); "
        f"duck.execute('set threads to {THREADS}; set enable_progress_bar = false'); "
        "began, cpu = time.perf_counter(), time.process_time(); "
        "duck.execute(f\"create table t as from '{sys.argv[1]}'\"); "
        "print(json.dumps([time.perf_counter() - began, time.process_time() - cpu, "
        "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))"
    )

    def read() -> Sequence[float]:
        done = subprocess.run([sys.executable, "-c", script, str(path)], check=True, capture_output=True)
        figures: Sequence[float] = json.loads(done.stdout.splitlines()[-1])
        return figures

    runs: dict[str, list[Sequence[float]]] = {name: [] for name in (*commands, "duck")}
    for _ in range(2 if rows > CHUNK else ROUNDS):
        for name, command in (commands | {"duck": read}).items():
            runs[name].append(command())
    best = {name: [min(part) for part in zip(*figures, strict=True)] for name, figures in runs.items()}
    yield f"## Import of {rows:,} rows of Parquet ({path.stat().st_size / 1e6:,.0f} MB)\n"
    yield "| | s | s of processor | most memory, MiB | beside DuckDB | processor |\n|---|--:|--:|--:|--:|--:|"
    for name, (wall, cpu, memory) in best.items():
        ratios = f"{wall / best['duck'][0]:.2f} | {cpu / best['duck'][1]:.2f}"
        yield f"| {name} | {wall:.2f} | {cpu:.2f} | {memory:,.0f} | {ratios} |"
    if before:
        ratios = " and ".join(f"{best['service'][at] / best['before'][at]:.2f}" for at in (0, 1))
        yield f"\nBeside the import before: {ratios} of its wall and processor time."


def import_rows(path: Path, home: Path, checkout: Path = ROOT) -> tuple[float, float, float]:
    """Import by the command line of a checkout, anew: seconds, processor seconds and most memory in MiB."""
    definition = home / "definition.yaml"
    definition.write_text(DEFINITION)
    parse_definition(DEFINITION)
    target = ("--project", "bench", "--slicer", "rows", "--definition", str(definition), "--replace")
    return command(checkout, home, "import", str(path), *target)


def command(checkout: Path, home: Path, *words: str) -> tuple[float, float, float]:
    """A command of a checkout over a data directory: seconds, processor seconds and most memory in MiB."""
    script = "import sys; sys.path.insert(0, sys.argv.pop(1)); from lib.cli import main; sys.exit(main())"
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(checkout.resolve()), *words],
        cwd=home, env=os.environ | {"TRANCHE_HOME": str(home)}, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    errors = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, errors.decode()
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
