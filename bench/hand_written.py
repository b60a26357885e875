"""Questions about connected slicers against the best SQL that we can write for them by hand.

    ROWS=5_000_000 NUMBERS=bigint python bench/hand_written.py

ROWS rows in PostgreSQL (an index on the time), and four times as many in Parquet, a file per day: read by
DuckDB, and by Spark where a server of Spark Connect is installed (tests/spark_server.py). Every question goes
through the reporting service (authorized, parsed, computed, composed; no answer is cached), and as SQL over
the database's own client, with the same period; they take turns, figures are the least of ROUNDS, and answers
are checked to be equal. NUMBERS is the type of the numbers, double by default: of doubles ours is the exact
sum, that by hand the database's plain one.
"First figures" are those at the head of the screen Audience while its leaderboards are asked for as well.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import psycopg

sys.path += [str(Path(__file__).parent.parent / part) for part in ("tests", ".")]
from databases import binaries, server
from spark_server import missing_for_spark, spark_server

from lib.engines import ConnectedSlicers
from lib.engines.connected.spark import FEW_PARTITIONS
from lib.people import Person
from lib.people.tokens.access import Access
from lib.reporting.service import ReportingService
from lib.settings import Settings
from lib.slicers.definition import Definition
from lib.slicers.warehouse import Warehouse

ROWS, ROUNDS = int(os.environ.get("ROWS", "5_000_000")), int(os.environ.get("ROUNDS", "5"))
NUMBERS = os.environ.get("NUMBERS", "double precision")
SIZES = {"m0": 1000, "m1": 100, "m2": 10, "m3": 20, "m4": 5}
FIELDS = list(SIZES)
SUMS = ", ".join(f"sum({name})" for name in FIELDS)
PERIOD = "at >= timestamptz '2026-01-01 00:00+00' AND at < timestamptz '2026-04-01 00:00+00'"
WEEK = "at >= timestamptz '2026-03-01 00:00+00' AND at < timestamptz '2026-03-08 00:00+00'"
MAKE = """
CREATE OR REPLACE TABLE made AS SELECT
  timestamptz '2026-01-01 00:00+00' + to_microseconds(CAST(i * (90 * 86400e6 / {rows}) AS bigint)) AS moment,
  'c' || CAST(floor(50 * random() * random()) AS int) AS country,
  'd' || CAST(floor(5 * random()) AS int) AS device,
  'p' || CAST(floor(2000 * random() * random()) AS int) AS placement,
  's' || CAST(floor(300 * random()) AS int) AS site,
  {fields}
FROM range({rows}) t(i)
"""
COLUMNS = "at timestamptz, country text, device text, placement text, site text, " + ", ".join(
    f"{name} {NUMBERS}" for name in FIELDS
)


@dataclass(frozen=True)
class Case:
    """A question, and as SQL: what it groups by (in each database) and its condition."""

    title: str
    asked: dict[str, Any]
    key: str = ""
    duckdb_key: str = ""
    condition: str = PERIOD


def equals(name: str, *values: str) -> dict[str, Any]:
    """A filter."""
    return {"filters": [{"name": name, "match": "equals", "value": list(values)}]}


DAY = Case(
    "by day",
    {"split_by": ["granularity_day"]},
    "(at AT TIME ZONE 'UTC')::date",
    "epoch_us(at) // 86400000000",
)
BOARDS = [
    Case(f"by {name}", {"split_by": [name]}, name) for name in ("country", "device", "placement", "site")
]
CASES = [
    Case("total", {}),
    DAY,
    *BOARDS,
    Case(
        "one country by device",
        {"split_by": ["device"]} | equals("country", "c3"),
        "device",
        "",
        f"{PERIOD} AND country = 'c3'",
    ),
    Case(
        "a week by country",
        {"split_by": ["country"], "start_date": "2026-03-01", "end_date": "2026-03-07"},
        "country",
        "",
        WEEK,
    ),
]


def main() -> None:
    """Measure, and print a table per database."""
    with tempfile.TemporaryDirectory(prefix="tranche-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o755)
        url = None
        if programs := binaries():
            made = stack.enter_context(server(programs))
            url = made.url.format("postgres").replace("postgresql+psycopg://", "postgresql://")
        _fill(folder, url)
        lake = f"'{folder}/lake/rows/**/*.parquet'"
        connection = stack.enter_context(duckdb.connect())
        connection.execute("SET TimeZone = 'UTC'")

        def parquet(case: Case) -> list[Any]:
            found: list[Any] = connection.sql(_sql(case, lake, case.duckdb_key or case.key)).fetchall()
            return found

        _measure("Parquet (DuckDB)", 4 * ROWS, folder, f"parquet://{folder}/lake", parquet)
        if url is not None:
            client = stack.enter_context(psycopg.connect(url, autocommit=True))
            _measure(
                "PostgreSQL",
                ROWS,
                folder,
                url,
                lambda case: client.execute(_sql(case, "rows", case.key)).fetchall(),
            )
        if not missing_for_spark():
            # as a cluster is set up, not as the tests do it: compiled code, the usual sizes of files
            address, _ = stack.enter_context(spark_server(folder, ("-Duser.timezone=UTC",), {}))
            _measure(
                "Spark", 4 * ROWS, folder, f"{address}/?folder={folder}/lake", _by_spark(address, folder)
            )


def _fill(folder: Path, url: str | None) -> None:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("SELECT setseed(0.1)")
        numbers = (f"floor({size} * random())::{NUMBERS} AS {name}" for name, size in SIZES.items())
        fields = ", ".join(numbers)
        connection.execute(MAKE.format(rows=4 * ROWS, fields=fields))
        (folder / "lake" / "rows").mkdir(parents=True)
        connection.execute(
            'COPY (SELECT moment AS "at", * EXCLUDE moment, CAST(moment AS date) AS day FROM made) '
            f"TO '{folder}/lake/rows' (FORMAT parquet, PARTITION_BY (day), OVERWRITE)"
        )
        if url is None:
            return
        connection.execute(MAKE.format(rows=ROWS, fields=fields))
        connection.execute(f"COPY made TO '{folder}/rows.csv' (HEADER false)")
    with psycopg.connect(url, autocommit=True) as admin, (folder / "rows.csv").open("rb") as file:
        admin.execute(f"CREATE TABLE rows ({COLUMNS})")
        with admin.cursor() as cursor, cursor.copy("COPY rows FROM STDIN (FORMAT csv)") as copy:
            while block := file.read(1 << 20):
                copy.write(block)
        admin.execute("CREATE INDEX ON rows (at)")
        admin.execute("VACUUM ANALYZE rows")
    (folder / "rows.csv").unlink()


def _by_spark(address: str, folder: Path) -> Callable[[Case], list[Any]]:
    """Spark SQL over a session of its own, whose answers come as Arrow too."""
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.builder.remote(address).create()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.conf.set("spark.sql.shuffle.partitions", FEW_PARTITIONS)
    table = f"parquet.`{folder}/lake/rows`"

    def ask(case: Case) -> list[Any]:
        sql = _sql(case, table, "date_trunc('day', at)" if case.duckdb_key else case.key)
        for theirs, of_spark in (('"', "`"), ("timestamptz", "timestamp"), ("+00'", ":00Z'")):
            sql = sql.replace(theirs, of_spark)
        found = session.sql(sql).toArrow()
        return list(zip(*(column.to_pylist() for column in found.columns), strict=True))

    return ask


def _sql(case: Case, table: str, key: str) -> str:
    condition = case.condition.replace("at ", '"at" ') if table != "rows" else case.condition
    shown = key.replace("(at)", '("at")') if table != "rows" else key
    if not key:
        return f"SELECT {SUMS} FROM {table} WHERE {condition}"
    return f"SELECT {shown}, {SUMS} FROM {table} WHERE {condition} GROUP BY 1"


class Api:
    """A reporting service over one connected slicer, without a cache of answers."""

    def __init__(self, home: Path, url: str) -> None:
        settings = Settings(
            home=home,
            connections={"rows": {"url": url}},
            answers_megabytes=0,
            deadline_seconds=600,
            throttle_questions=1_000_000,
        )
        access = Access.of(settings)
        access.people.add(Person("ada", "Ada", None, "admin"), "a password of some length")
        self._token = access.issue("ada", settings.reporting_service, "bench", timedelta(hours=1))
        connected = ConnectedSlicers(settings.connection_urls)
        self._warehouse = Warehouse(settings.warehouse, connected.current)
        fields = [{"name": name} for name in FIELDS]
        keys = [{"name": name} for name in ("country", "device", "placement", "site")]
        source = {"connection": "rows", "table": "rows"}
        time_field = {"column": "at", "granularity": "hour"}
        definition = {"time": time_field, "key_fields": keys, "data_fields": fields, "source": source}
        self._warehouse.connect("p", "rows", Definition.model_validate(definition))
        self._service = ReportingService(self._warehouse, access, settings, connected=connected)

    def days(self) -> int:
        """Read the days, or use those that are known."""
        return len(self._warehouse.open("p", "rows").rows)

    def ask(self, case: Case) -> Any:
        """The answer."""
        period = {"start_date": "2026-01-01", "end_date": "2026-03-31"}
        body = {"token": self._token, "project_name": "p", "slicer_name": "rows", **period, **case.asked}
        admitted = self._service.admit(json.dumps(body).encode())
        return self._service.audience(admitted, self._service.deadline())


def _measure(title: str, rows: int, folder: Path, url: str, by_hand: Callable[[Case], list[Any]]) -> None:
    print(f"### {title}, {rows:,} rows\n", flush=True)
    api = Api(folder / f"home-{title.split()[0]}", url)
    began = time.perf_counter()
    api.days()
    print(f"Days counted the first time in {time.perf_counter() - began:.2f} s.\n")
    print("| question | SQL by hand, ms | through the API, ms | ratio |\n|---|--:|--:|--:|")
    ratios, single = [], {}
    for case in CASES:
        answer, found = api.ask(case), by_hand(case)
        assert sum(row[-5] for row in found) == answer.total.values["m0"], case.title
        times: dict[str, list[float]] = {"hand": [], "api": []}
        for _ in range(ROUNDS):
            for name, work in (("hand", partial(by_hand, case)), ("api", partial(api.ask, case))):
                times[name].append(_seconds(work))
        hand, ours = (min(values) * 1000 for values in times.values())
        single[case.title] = hand
        ratios.append(ours / hand)
        print(f"| {case.title} | {hand:,.0f} | {ours:,.0f} | {ours / hand:.2f} |", flush=True)
    print(f"\nGeometric mean {statistics.geometric_mean(ratios):.2f}, the slowest {max(ratios):.2f}.")
    firsts, lasts = zip(*(_screen(api) for _ in range(ROUNDS)), strict=True)
    slowest = max(single[case.title] for case in (DAY, *BOARDS))
    print(
        f"First figures of Audience, beside {len(BOARDS)} leaderboards: "
        f"{1000 * min(firsts) / slowest:.2f} × the slowest single SQL; all of them: "
        f"{1000 * min(lasts) / slowest:.2f} ×.\n",
        flush=True,
    )


def _screen(api: Api) -> tuple[float, float]:
    """Seconds to the figures at the head, and to all leaderboards, asked for at once."""
    with ThreadPoolExecutor(1 + len(BOARDS)) as pool:
        began = time.perf_counter()
        first, *others = [pool.submit(api.ask, case) for case in (DAY, *BOARDS)]
        first.result()
        seconds = time.perf_counter() - began
        for other in others:
            other.result()
        return seconds, time.perf_counter() - began


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
