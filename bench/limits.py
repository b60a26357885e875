"""How far one desk reaches: rows in the resident engine, and people who ask at the same time.

    [FIELDS=24] python bench/limits.py [rows …] [--people 1,20,50,200] [--pause 60] [--home DIRECTORY]
    python bench/limits.py --due 1000,500 [--home DIRECTORY]
    python bench/limits.py --grow rows=100000000,values=2000000,columns=5000,days=3650 [--before CHECKOUT]

For each number of rows: seconds to build the layout, its bytes, and questions in milliseconds, exact and as
an estimate from a million records, medians of five. Then the waits of people on the Audience page of the demo
(made anew without a data directory), each asking every five seconds on average, or at another pause, without
browsers.

`--due`: so many alerts, which all fire, and mails of views, due at one minute, of 20 people of the demo: how
long checks, messages to a webhook and mails take, and what arrived there, how often.

`--grow`: one slicer for each of these, with so many rows, values of a key field, columns or days, in a
Parquet file, by `tranche import` in a process of its own, questions to the service in another one, and a day
that is appended. Seconds of wall and processor, the most memory (of questions without the files that are
mapped), and disk. With `--before` the import by another checkout too. Files are in `TMPDIR`.
"""

import argparse
import datetime as dt
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import side_by_side
from desk_clicks import desk, made, quantile
from desk_people import PAUSE_SECONDS, cookies, others
from splits.rows import Case, make_rows
from splits.tools import definition, question
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))  # before the serving.py of this folder
from mail_server import Mailbox, mail_server
from serving import serving

from lib.engines import prepare
from lib.engines.resident import ResidentEngine
from lib.people import Person
from lib.serving import connect
from lib.settings import Settings
from lib.share.alerts.watch import Watch
from lib.share.mail.post import Post
from lib.slicers.warehouse import StoredSlicer, Warehouse
from lib.views import Schedule
from lib.wire.deadline import Deadline

CHUNK, REPEATS, RECORDS_OF_ESTIMATE, SECONDS = 2_000_000, 5, 1_000_000, 60
FIELDS = int(os.environ.get("FIELDS", "5"))
QUESTIONS = (Case(("country",)), Case(("country", "site", "os")), Case(("country",), distinct=True))


def main() -> None:
    """Measure, and print two tables."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("rows", nargs="*", type=int, default=[1_000_000])
    asked.add_argument("--people", default="1,20")
    asked.add_argument("--pause", type=float, default=PAUSE_SECONDS)
    asked.add_argument("--home", type=Path)
    asked.add_argument("--grow")
    asked.add_argument("--before", type=Path)
    asked.add_argument("--due")
    asked.add_argument("--ask", help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.ask:
        answer_questions(given.ask, given.home)
        return
    if given.due:
        alerts, mails = map(int, given.due.split(","))
        with tempfile.TemporaryDirectory() as folder:
            of_one_minute(given.home or made(Path(folder) / "home"), alerts, mails)
        return
    if given.grow:
        for shape in given.grow.split(","):
            name, _, count = shape.partition("=")
            grow(name, int(count), given.before)
        return
    titles = [f"{one.title}, ms" for one in QUESTIONS]
    print(f"| rows | layout, s | layout, MB | {' | '.join(titles)} | country, estimate, ms |")
    print(f"|{'--:|' * (4 + len(titles))}")
    for rows in given.rows:
        print(of_rows(rows), flush=True)
    print("\n| people | questions | p50, ms | p95, ms | longest, ms | failed |\n|--:|--:|--:|--:|--:|--:|")
    for line in of_people([int(one) for one in given.people.split(",") if one], given.pause, given.home):
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


def of_people(counts: Sequence[int], pause: float, home: Path | None) -> Iterator[str]:
    """A line for each number of people."""
    with tempfile.TemporaryDirectory() as folder:
        home = home or made(Path(folder) / "home")
        sessions = cookies(home, max(counts))
        with desk(home) as address:
            for count in counts:
                with others(count, address, sessions, pause) as answered:
                    time.sleep(max(SECONDS, 2 * pause))
                waits, failed = answered()
                first = [wait for wait, _ in waits]
                p50, p95 = quantile(first, 50), quantile(first, 95)
                yield f"| {count} | {len(first)} | {p50:,.0f} | {p95:,.0f} | {max(first):,.0f} | {failed} |"


PEOPLE, SUNDAY, POLL = 20, dt.date(2026, 11, 15), dt.timedelta(seconds=10)
DEMO = ("demo", "delivery")


def of_one_minute(home: Path, alerts: int, mails: int) -> None:
    """Alerts and mails of a minute: what is looked at by one look, and what by those ten seconds later."""
    arrived: list[str] = []

    async def take(request: Request) -> Response:
        arrived.append((await request.json())["id"])
        return Response(status_code=204)

    receiver, mailbox = Starlette(routes=[Route("/", take, methods=["POST"])]), Mailbox()
    with serving(receiver) as address, mail_server(mailbox) as given:
        given |= {"alerts_webhook": address, "alerts_secret": "sixteen characters or more"}
        settings = Settings(home=home, demo=True, **given)
        due = keep(settings, alerts, mails)
        watch, post = Watch(settings), Post(settings)
        print(f"Load when it began {os.getloadavg()[0]:.1f}\n\n| | s | of processor | |\n|---|--:|--:|---|")
        with timed() as figures:
            figures.append(f"{len(watch.look(due)):,} alerts checked, {len(arrived):,} messages sent")
        firing = sum(alert.state == "firing" for alert in watch.store.everything())
        looks = 0
        with timed() as figures:
            while len(arrived) < firing and looks < alerts:
                looks += 1
                watch.look(due + looks * POLL)
            again = sum(count > 1 for count in Counter(arrived).values())
            figures.append(
                f"{len(arrived):,} of {firing:,} messages, {again} more than once, {looks} more looks"
            )
        with timed() as figures:
            post.look(due)
            post.look(due + POLL)
            sent = Counter((mail["To"], mail["Subject"]) for mail in mailbox.mails)
            again = sum(count > 1 for count in sent.values())
            figures.append(f"{len(sent):,} of {mails:,} mails, {again} more than once")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\n{memory:,.0f} MB of memory; load when it ended {os.getloadavg()[0]:.1f}")


@contextmanager
def timed() -> Iterator[list[str]]:
    """A line of the table: what is put into the list, with its seconds of wall and processor."""
    figures: list[str] = []
    began, cpu = time.perf_counter(), time.process_time()
    yield figures
    wall, processor = time.perf_counter() - began, time.process_time() - cpu
    print(f"| {figures[0]} | {wall:,.1f} | {processor:,.1f} |", flush=True)


def keep(settings: Settings, alerts: int, mails: int) -> dt.datetime:
    """Views of the demo with an alert each, one in five of which compares with what is usual, and mails
    of some of them; when all are due."""
    due = dt.datetime.now(dt.UTC)
    people = connect.installation(settings).people
    for number in range(PEOPLE):
        person = Person(f"reader{number}", f"Reader {number}", f"reader{number}@reader.example", "admin")
        people.add(person, "bench-bench")
        store = connect.connect(person, settings).view_store
        last = SUNDAY - dt.timedelta(days=number)
        for place in range(max(alerts, mails) // PEOPLE):
            days = {"start": str(last - dt.timedelta(days=6 + place)), "end": str(last)}
            view = store.views.save(*DEMO, f"View {place}", days)
            rule: Any = "above" if place % 5 else "changed"
            if place < alerts // PEOPLE:
                store.alerts.watch(view.id, "imps", {"name": "imps"}, rule, 0.0)
            if place < mails // PEOPLE:
                due = max(due, store.mails.add(view.id, Schedule("daily", "UTC", 480)).due)
    return due


DAY = np.datetime64("2016-11-01")
NAMES = {"rows": (), "values": ("imps",), "columns": ("m0", "m1"), "days": ("imps", "spend")}
GROWN: dict[str, dict[str, dict[str, Any]]] = {
    "rows": {
        "total": {},
        "by country": {"split_by": ["country"]},
        "by country, a million records": {
            "split_by": ["country"],
            "exact_within": None,
            "audience_rows_limit": 1_000_000,
        },
        "by page, first 10 of 50,000": {"split_by": ["page"], "limit": 10},
        "by country, site and os, first 10": {"split_by": ["country", "site", "os"], "limit": 10},
    },
    "values": {
        "by id, first 10": {"split_by": ["id"], "limit": 10},
        "ids with 4242": {
            "split_by": ["id"],
            "limit": 10,
            "filters": [{"name": "id", "match": "contains", "value": ["4242"]}],
        },
        "by country": {"split_by": ["country"]},
    },
    "columns": {
        "total of all data fields": {"data_fields": None},
        "by country, 2 data fields": {"split_by": ["country"]},
        "by another key field, 2 data fields": {"split_by": ["k8"]},
    },
    "days": {
        "by day": {"split_by": ["granularity_day"]},
        "by country": {"split_by": ["country"]},
        "last 7 days": {"start_date": "2026-10-24", "split_by": ["granularity_day"]},
    },
}


def grow(name: str, count: int, before: Path | None) -> None:
    """Import a slicer of this shape, ask it, append a day, ask again; a line for each step."""
    print(f"\n### {count:,} {name}; load when it began {os.getloadavg()[0]:.1f}\n")
    print("| step | s | of processor | again, ms | of processor | memory, MB | |")
    print("|---|--:|--:|--:|--:|--:|---|")
    with tempfile.TemporaryDirectory() as folder:
        home, path = Path(folder) / "home", Path(folder) / "rows.parquet"
        home.mkdir()
        rows = SHAPES[name](path, count)
        source = f"{rows:,} rows, {path.stat().st_size / 1e6:,.0f} MB of Parquet"
        options: list[str] = []
        if name == "rows":
            (Path(folder) / "definition.yaml").write_text(side_by_side.DEFINITION)
            options = ["--definition", f"{folder}/definition.yaml"]
        if before:
            other = Path(folder) / "before"
            other.mkdir()
            step(
                "import, before", side_by_side.command(before, other, "import", str(path), *TARGET, *options)
            )
        taken = side_by_side.command(side_by_side.ROOT, home, "import", str(path), *TARGET, *options)
        stored = Warehouse(Settings(home=home).warehouse).open("bench", "rows")
        layout = sum(file.stat().st_size for file in stored.layout_folder.iterdir()) / 1e6
        whole = sum(file.stat().st_size for file in home.rglob("*") if file.is_file()) / 1e6
        step("import", taken, f"{source}; {whole - layout:,.0f} MB stored, {layout:,.0f} MB of layout")
        ask(name, home)
        if name in ("rows", "days"):
            SHAPES[name](path, rows // max(count if name == "days" else side_by_side.DAYS, 1), is_later=True)
            appended = side_by_side.command(
                side_by_side.ROOT, home, "import", str(path), *TARGET, "--append", *options
            )
            step("a day appended", appended)
            ask(name, home)
    print(f"\nLoad when it ended {os.getloadavg()[0]:.1f}", flush=True)


TARGET = ("--project", "bench", "--slicer", "rows")


def step(title: str, figures: Sequence[float], remark: str = "", again: Sequence[float] = ()) -> None:
    """A line of the table."""
    wall, cpu, memory = figures
    later = " | ".join(f"{1000 * seconds:,.0f}" for seconds in again) or " | "
    print(f"| {title} | {wall:,.2f} | {cpu:,.2f} | {later} | {memory:,.0f} | {remark} |", flush=True)


def ask(name: str, home: Path) -> None:
    """The questions of a shape, in a process of their own."""
    command = [sys.executable, __file__, "--ask", name, "--home", str(home)]
    environment = os.environ | {"PYTHONPATH": str(side_by_side.ROOT)}
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    for line in lines.splitlines():
        if line.startswith("["):
            step(*json.loads(line))


def answer_questions(name: str, home: Path) -> None:
    """Ask each question the first time and then five times; print figures, of those the medians."""
    settings = Settings(home=home, answers_megabytes=0, throttle_questions=10**9)
    resources = connect.installation(settings)
    if resources.people.get(side_by_side.WHO.username) is None:
        resources.people.add(side_by_side.WHO, "bench-bench")
    username = side_by_side.WHO.username
    token = resources.access.issue(username, settings.reporting_service, "bench", None)
    service, target = resources.reporting, {"project_name": "bench", "slicer_name": "rows", "token": token}
    period = {"start_date": "2016-11-01", "end_date": "2026-12-01", "exact_within": 3_600_000}
    fields = list(NAMES[name]) or list(side_by_side.FIELDS)

    def info() -> str:
        slicer = service.info(service.admit(orjson.dumps(target)), service.deadline())
        return f"{len(slicer.key_fields):,} key fields, {len(slicer.data_fields):,} data fields"

    def audience(query: dict[str, Any]) -> str:
        body = {**target, **period, "data_fields": fields, **query}
        request = service.admit(
            orjson.dumps({key: value for key, value in body.items() if value is not None})
        )
        return f"{service.audience(request, service.deadline()).total.records_found:,} groups"

    works: dict[str, Callable[[], str]] = {"info": info}
    works |= {title: lambda query=query: audience(query) for title, query in GROWN[name].items()}  # type: ignore[misc]
    for title, work in works.items():
        times = []
        for _ in range(1 + REPEATS):
            wall, cpu = time.perf_counter(), time.process_time()
            remark = work()
            times.append((time.perf_counter() - wall, time.process_time() - cpu))
        status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
        memory = int(status["RssAnon"].split()[0]) / 1e3
        again = [statistics.median(part) for part in zip(*times[1:], strict=True)]
        print(json.dumps([title, (*times[0], memory), remark, again]))


def rows_of(path: Path, count: int, is_later: bool = False) -> int:
    """Rows of 60 days with five key and five data fields (bench/side_by_side.py); `is_later`: of the next."""
    side_by_side.write_rows(path, count, seed=2 if is_later else 1)
    if is_later:
        table = pq.read_table(path)
        day = np.datetime64("2026-10-31T00:00:00")
        hours = day + np.arange(count) % 24 * np.timedelta64(1, "h")
        times = pa.array(hours).cast(table.schema.field("time").type)
        pq.write_table(table.set_column(0, "time", times), path)
    return count


def values_of(path: Path, count: int) -> int:
    """Twice as many rows as there are values of a key field, of 60 days."""
    random, rows = np.random.default_rng(1), 2 * count
    ids = np.concatenate((np.arange(count), random.integers(0, count, count)))
    random.shuffle(ids)
    return written_rows(
        path, days_of_rows(random, rows, 60), {"id": texts("id-", ids, count)}, {"imps": random}
    )


def columns_of(path: Path, count: int) -> int:
    """2,000 rows of 30 days: a day, ten key fields, and data fields."""
    random, rows = np.random.default_rng(1), 2_000
    keys = {f"k{number}": texts(f"v{number}-", random.integers(0, 50, rows), 50) for number in range(9)}
    data = {f"m{number}": random for number in range(count - 11)}
    return written_rows(path, days_of_rows(random, rows, 30), keys, data)


def days_of(path: Path, count: int, is_later: bool = False) -> int:
    """1,000 rows a day; `is_later`: so many of the day after ten years."""
    random = np.random.default_rng(1 + is_later)
    rows = count if is_later else 1_000 * count
    days = DAY + (np.full(rows, 3_650) if is_later else np.repeat(np.arange(count), 1_000))
    return written_rows(path, days, {"site": texts("site-", random.integers(0, 500, rows), 500)}, {
        "imps": random, "spend": random,
    })  # fmt: skip


SHAPES: dict[str, Callable[..., int]] = {
    "rows": rows_of, "values": values_of, "columns": columns_of, "days": days_of,
}  # fmt: skip


def days_of_rows(random: np.random.Generator, rows: int, days: int) -> Any:
    """A day for each row, of those before the eleventh month of 2026."""
    return np.datetime64("2026-11-01") - random.integers(1, days + 1, rows)


def texts(prefix: str, numbers: Any, count: int) -> pa.Array:
    """A text for each number below `count`."""
    return pa.array([f"{prefix}{number}" for number in range(count)]).take(pa.array(numbers))


def written_rows(
    path: Path, days: Any, keys: dict[str, pa.Array], data: dict[str, np.random.Generator]
) -> int:
    """Write days, key fields with a country, and whole numbers as data fields; how many rows they are."""
    rows = len(days)
    columns: dict[str, Any] = {"day": pa.array(days.astype("datetime64[D]"))}
    any_random = next(iter(data.values()))
    columns["country"] = texts("country-", any_random.integers(0, 60, rows), 60)
    columns |= keys
    columns |= {name: random.integers(0, 1_000, rows, dtype=np.int32) for name, random in data.items()}
    pq.write_table(pa.table(columns), path)
    return rows


if __name__ == "__main__":
    main()
