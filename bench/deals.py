"""How long lists of deals take, at 50,000 deals or DEALS: pages, orders, searches, filters, counts, prices.

    [DEALS=50000] python bench/deals.py sqlite:////tmp/deals.db [--fill] [--whole] [--csv] [--sync=30000]

`--fill` writes the deals, of a tenth as many packages and at 400 seats, first, by the store's own
tables.
`--whole` computes the health of those deals that have none, then exports all deals as a CSV, with wall and
processor seconds.
`--csv` creates 50,000 deals of 500 new packages from a CSV, as the dialog does: it reads the file, checks its
lines, finds what has to be confirmed, and creates them.
`--sync` sends so many deals of a database of its own to a DSP that takes 50 to 200 ms, refuses every
twentieth document and breaks off every twentieth; time is set forward where all wait. It counts at the DSP
what arrived, and ends there.
Prints the quickest, the median and the slowest of five calls each, in milliseconds, in this process.
"""

import datetime as dt
import json
import multiprocessing
import os
import random
import resource
import statistics
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any, ClassVar

from sqlalchemy import Connection, func, insert, select

from lib import database
from lib.deals.client import Deals, Write
from lib.deals.models import Seat, SupplyPackage
from lib.deals.service import DealsRequest, DealsService
from lib.deals.store import tables as t
from lib.deals.store.entity_stores import ENTITY_STORES
from lib.deals.store.work import DealsScope
from lib.deals.sync.documents import selling_side
from lib.deals.sync.push import Push
from lib.people import ALL_DEALS, Person
from lib.serving import connect
from lib.serving.health_watch import HealthWatch
from lib.settings import Settings
from lib.settings.optional import Receiver
from lib.ui.deals import catalog
from lib.ui.deals.changes.creation import CreationPlan, PlannedCreation
from lib.ui.deals.csv import csv_deals
from lib.ui.deals.csv.csv_deals import CsvSource
from lib.ui.deals.deal_rows import csv
from lib.ui.deals.list_state import ListSearch
from lib.ui.kit.job import Job
from lib.wire import csv_text
from lib.wire.deadline import Deadline
from lib.wire.errors import StoreTimeout

DEALS = int(os.environ.get("DEALS", "50000"))
PACKAGES, SEATS, DSPS, CHUNK = DEALS // 10, 400, 10, 5_000
WORDS = ("Morning", "Evening", "Sports", "News", "Premium", "Video", "Kids", "Finance", "Travel", "Auto")
COUNTRIES = ("US", "FR", "DE", "GB", "JP", "BR", "IN", "CA", "ES", "IT")
IMPORTED, PER_PACKAGE = 50_000, 100
SECRET = "sixteen characters or more"  # noqa: S105
NOW = dt.datetime(2026, 11, 20, tzinfo=dt.UTC)
STAMPS = {"version": 1, "created_at": NOW, "updated_at": NOW}
QUERIES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "packages, newest first": ("supply_deals", [("ordering", "-id")]),
    "packages, last page": ("supply_deals", [("ordering", "-id"), ("offset", str(PACKAGES - 50))]),
    "packages by name": ("supply_deals", [("ordering", "name")]),
    "packages by lowest price": ("supply_deals", [("ordering", "-price")]),
    "packages, search france": ("supply_deals", [("search", "france"), ("meaning", "france:country:FR")]),
    "packages, two words": ("supply_deals", [("search", "morning seat-17")]),
    "packages, paused": ("supply_deals", [("status", "paused")]),
    "packages of a seat": ("supply_deals", [("seat", "17")]),
    "deals, newest first": ("demand_deals", [("ordering", "-id")]),
    "deals, last page": ("demand_deals", [("ordering", "-id"), ("offset", str(DEALS - 50))]),
    "deals by name": ("demand_deals", [("ordering", "name")]),
    "deals by price": ("demand_deals", [("ordering", "-price")]),
    "deals by status": ("demand_deals", [("ordering", "status")]),
    "deals by seat": ("demand_deals", [("ordering", "seat")]),
    "deals by start": ("demand_deals", [("ordering", "start_date")]),
    "deals, search one name": ("demand_deals", [("search", "tr-000000019999")]),
    "deals, search france": ("demand_deals", [("search", "france"), ("meaning", "france:country:FR")]),
    "deals, two words": ("demand_deals", [("search", "morning seat-17")]),
    "deals, paused": ("demand_deals", [("status", "paused")]),
    "deals that need attention": ("demand_deals", [("health", "attention"), ("ordering", "-id")]),
    "deals by health": ("demand_deals", [("ordering", "health,-id")]),
    "deals by spend": ("demand_deals", [("ordering", "-spend_7_days,-id")]),
    "deals, video": ("demand_deals", [("media_type", "video")]),
    "deals of 50 packages": ("demand_deals", [("supply_deals", str(n)) for n in range(3_000, 3_050)]),
    "packages, counts of status": ("supply_deals", [("ordering", "-id"), ("counts", "status")]),
    "deals, counts of status": ("demand_deals", [("ordering", "-id"), ("counts", "status")]),
    "deals, search and counts": (
        "demand_deals",
        [("search", "morning"), ("ordering", "-id"), ("counts", "status,media_type,dsp")],
    ),
}


def fill(connection: Connection, packages: int = PACKAGES, count: int = DEALS) -> None:
    """All rows, in chunks."""
    draw = random.Random(7)  # noqa: S311
    dsps = ({"name": f"DSP {n}", "supports_deal_sync": n % 2 == 0} for n in range(1, DSPS + 1))
    seats = (
        {"name": f"Buyer {n}", "external_id": f"seat-{n}", "dsp_id": 1 + n % DSPS}
        for n in range(1, SEATS + 1)
    )
    deal_ids = [f"TR-{n:012d}" for n in range(1, count + 1)]
    _write(connection, "dsps", dsps)
    _write(connection, "seats", seats)
    _write(connection, "supply_deals", (_package(draw, n) for n in range(1, packages + 1)))
    connection.execute(insert(t.deal_ids), [{"deal_id": one, "given": NOW} for one in deal_ids])
    of = [1 + n % packages for n in range(count)]
    _write(
        connection, "demand_deals", (_deal(draw, n, of[n - 1], deal_ids[n - 1]) for n in range(1, count + 1))
    )
    links = [{"supply_package_id": package, "demand_deal_id": n + 1} for n, package in enumerate(of)]
    connection.execute(insert(t.supply_package_deals), links)


def _package(draw: random.Random, number: int) -> dict[str, Any]:
    start = NOW + dt.timedelta(days=draw.randint(-300, 60))
    end = start + dt.timedelta(days=draw.randint(1, 400)) if draw.random() < 0.5 else None
    places = [{"type": "country", "value": code, "is_excluded": False} for code in draw.sample(COUNTRIES, 2)]
    empty: dict[str, Any] = {f"{kind}_targetings": [] for kind in ("browser", "operating_system", "size")}
    return {
        "name": f"{draw.choice(WORDS)} {draw.choice(WORDS)} {number}",
        "is_active": draw.random() < 0.8,
        "is_dynamic_bidding": False,
        "is_true_price_opt_enable": False,
        "media_type": draw.choice(("banner", "video")),
        "start_date": start,
        "start_date_offset": 0,
        "end_date": end,
        "end_date_offset": None if end is None else 0,
        "geo_targetings": places,
        "device_targetings": [{"value": "smartphone", "is_excluded": True}],
        **empty,
    }


def _deal(draw: random.Random, number: int, package: int, deal_id: str) -> dict[str, Any]:
    seat = draw.randint(1, SEATS)
    return {
        "name": f"{draw.choice(WORDS)} {draw.choice(WORDS)} {package} - Buyer {seat}",
        "deal_id": deal_id,
        "seat_id": seat,
        "package_id": None,
        "price": Decimal(draw.randint(50, 5000)).scaleb(-2),
        "deal_sync": False,
        "is_active": draw.random() < 0.9,
        "agency_curation_fee": None,
        "agency_curation_fee_type": None,
        "contact_email": f"deals@buyer{seat}.example" if number % 2 else None,
    }


def _write(connection: Connection, entity: str, rows: Iterator[dict[str, Any]]) -> None:
    entity_store = ENTITY_STORES[entity]
    written = [row | STAMPS | entity_store.found_by(row) for row in rows]
    for first in range(0, len(written), CHUNK):
        connection.execute(insert(entity_store.table), written[first : first + CHUNK])


class Dsp(BaseHTTPRequestHandler):
    """A DSP that takes its time, and fails one in ten. GET says how often each deal was taken, and not."""

    protocol_version = "HTTP/1.1"
    taken: ClassVar[Counter[str]] = Counter()
    failed: ClassVar[Counter[str]] = Counter()
    draw = random.Random(11)  # noqa: S311

    def do_POST(self) -> None:
        """A document: taken, refused, or its connection broken off before anything was done."""
        number = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["id"]
        time.sleep(self.draw.uniform(0.05, 0.2))
        luck = self.draw.random()
        (self.failed if luck < 0.1 else self.taken)[number] += 1
        if luck < 0.05:
            self.close_connection = True
            return
        self.send_response(503 if luck < 0.1 else 204)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        """Both counts."""
        content = json.dumps([self.taken, self.failed]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *parts: object) -> None:
        """Nothing."""


def _serve(pipe: Pipe) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Dsp) as server:
        pipe.send(server.server_address[1])
        server.serve_forever()


def sync(count: int) -> None:
    """Send all deals; what the DSP has of them in the end."""
    ours, theirs = multiprocessing.Pipe()
    dsp = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
    dsp.start()
    address = f"http://127.0.0.1:{ours.recv()}/"
    with tempfile.TemporaryDirectory() as home:
        engine = database.engine(f"sqlite:///{home}/deals.db")
        database.migrate(engine)
        with database.writing(engine).begin() as connection:
            fill(connection, count // 10, count)
            connection.execute(t.demand_deals.update().values(deal_sync=True))
            connection.execute(t.seats.update().values(dsp_id=1))
        settings = Settings(home=Path(home), deal_sync_origin="desk.example")
        receiver = Receiver(url=address, secret=SECRET)
        began, cpu, load = time.perf_counter(), time.process_time(), os.getloadavg()[0]
        looks, arrived, start = 0, 0, dt.datetime.now(dt.UTC)
        waited = dt.timedelta()
        with Push(engine, selling_side(settings), None, 1, receiver) as push:
            while True:
                now = start + waited + dt.timedelta(seconds=time.perf_counter() - began)
                arrived += push.look(now)
                looks += 1
                waited += dt.timedelta(seconds=database.POLL_SECONDS)
                with engine.connect() as connection:
                    due = t.synced_deals.c.due
                    open_rows = select(func.count(), func.min(due)).where(due.is_not(None))
                    number, earliest = connection.execute(open_rows).one()
                if looks <= 3 or looks % 20 == 0 or not number:
                    print(
                        f"look {looks}: {arrived:,} arrived, {number:,} open after "
                        f"{time.perf_counter() - began:,.0f} s and pauses of {waited}",
                        flush=True,
                    )
                if not number:
                    break
                ahead = start + waited + dt.timedelta(seconds=time.perf_counter() - began)
                waited += max(earliest - ahead, dt.timedelta())
        wall, processor = time.perf_counter() - began, time.process_time() - cpu
        size = sum(file.stat().st_size for file in Path(home).rglob("*") if file.is_file()) / 1e6
    with urllib.request.urlopen(address) as answer:
        taken, failed = json.load(answer)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{count:,} deals: {len(taken):,} taken, {sum(times > 1 for times in taken.values())} of them more "
        f"than once, {count - len(taken)} lost; {sum(failed.values()):,} failures. {wall:,.0f} s, "
        f"{processor:,.0f} s of the processor, {memory:,.0f} MB of memory, {size:,.0f} MB of database; "
        f"load {load:.1f} before, {os.getloadavg()[0]:.1f} after"
    )
    dsp.terminate()


def _milliseconds(work: Callable[[], Any]) -> list[float]:
    found = []
    for _ in range(5):
        start = time.perf_counter()
        work()
        found.append(1000 * (time.perf_counter() - start))
    return found


def whole(url: str) -> None:
    """The health of all deals, and the CSV of them."""
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(home=Path(home), database_url=url, demo=True)
        _timed("health of deals", lambda: HealthWatch(settings).look(dt.datetime.now(dt.UTC)))
        deals = connect.connect(_manager(settings), settings).deals
        rows = catalog.all_rows(deals, ListSearch("demand_deals"))
        _timed("CSV, bytes", lambda: sum(map(len, csv(rows))))


def csv_import(url: str) -> None:
    """50,000 deals of a file: read, checked, questioned, created."""
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(home=Path(home), database_url=url)
        clients = connect.connect(_manager(settings), settings)
        client, draw = clients.deals, random.Random(7)  # noqa: S311
        start = dt.datetime.now(dt.UTC) + dt.timedelta(days=1)
        packages = [
            client.create(
                SupplyPackage, SupplyPackage(name=f"New {n}", media_type="banner", start_date=start)
            )
            for n in range(IMPORTED // PER_PACKAGE)
        ]
        lines = (
            f"{one.name},{seat},{draw.randint(50, 900) / 100}"
            for one in packages
            for seat in draw.sample(range(1, SEATS + 1), PER_PACKAGE)
        )
        text = "\n".join(("Package,Seat,Price", *lines))
        table = csv_text.read(text, csv_deals.SHAPE)
        seats = {one.id or 0: one for one in client.everything(Seat)}
        parts = csv_deals.check(client, table.rows, seats, client.abilities.fees)
        source = CsvSource(parts=parts, total=len(table.rows))
        plan = CreationPlan(source=source, record=clients.bulk_actions.record("Created from a CSV"))
        plan.begin()
        _timed("CSV, lines parsed", lambda: len(csv_text.read(text, csv_deals.SHAPE).rows))
        _timed("CSV, lines checked", lambda: _check(plan, client))
        _timed(
            "CSV, questions",
            lambda: len(client.warnings_of([_write_of(creation) for creation in source.check.changes])),
        )
        plan.start()
        _timed("CSV, deals created", lambda: _run(plan, client))
        print(plan.phase, plan.problem)


def _write_of(creation: PlannedCreation) -> Write:
    """What is sent for a line."""
    return Write(creation.key[0], creation.request.body())


def _check(plan: CreationPlan, client: Deals) -> int:
    """Check all lines of a file; returns how many."""
    _run(plan, client)
    return plan.source.progress[0]


def _manager(settings: Settings) -> Person:
    """Who may see and sell all deals; the same one in a database that was measured before."""
    people = connect.installation(settings).people
    if people.get("ada") is None:
        people.add(Person("ada", "Ada", None, "manager", deals=ALL_DEALS), "a password")
    person = people.get("ada")
    assert person is not None
    return person


def _run(job: Job, client: Deals) -> int:
    """All steps; how many are done."""
    while job.is_running:
        job.step(client)
    return job.progress[0]


def _timed(title: str, work: Callable[[], int]) -> None:
    wall, processor = time.perf_counter(), time.process_time()
    count = work()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"{title:32} {count:10,d} {wall:8.1f} s {processor:8.1f} s of the processor")


def main(url: str, *options: str) -> None:
    """Fill if wanted, then measure."""
    for option in options:
        if option.startswith("--sync="):
            sync(int(option.partition("=")[2]))
            return
    engine = database.engine(url)
    database.migrate(engine)
    if "--fill" in options:
        with database.writing(engine).begin() as connection:
            fill(connection)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("ANALYZE")
    if "--whole" in options:
        whole(url)
    if "--csv" in options:
        csv_import(url)
    service = DealsService(engine)
    for title, (entity, asked) in QUERIES.items():
        parameters = [("limit", "500" if title.startswith("deals of") else "50"), *asked]
        try:
            times = _milliseconds(
                lambda e=entity, p=parameters: service.list(e, DealsRequest(DealsScope(), Deadline(60), p))  # type: ignore[misc]
            )
        except StoreTimeout:
            print(f"{title:32} more than a minute")
            continue
        print(f"{title:32} {min(times):8.1f} {statistics.median(times):8.1f} {max(times):8.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
