"""Acknowledged writes survive, and none are partial: kills, many writers, full disks, lost databases."""

import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import databases
import httpx
import pytest
from conftest import ROOT, _address
from sqlalchemy import event, func, select, text

from deals.caller import Caller, deals, option, package, world
from deals.conftest import PASSWORD, OpenRow, issue, open_desk
from deals.writers import THREADS, write
from lib import database
from lib.deals.service import DealsRequest, DealsService
from lib.deals.store import tables as t
from lib.deals.store.work import DealsScope
from lib.serving import connect
from lib.wire.deadline import Deadline
from lib.wire.errors import StoreUnwritable
from lib.wire.transport import InProcess

CREATES, KILLED_AFTER, CALLERS = 200, 60, 20
PROCESSES, WRITES = 2, 500
SERVE = [sys.executable, "-c", "from lib.cli import main; main()", "serve", "--port", "0"]


@contextmanager
def served(desk: connect.Installation) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A real server over this desk's files and database: its process, and its address."""
    names = ("home", "database_url", "throttle_reads", "throttle_writes")
    settings = {f"TRANCHE_{name.upper()}": str(getattr(desk.settings, name)) for name in names}
    environment = {**os.environ, **settings, "PYTHONUNBUFFERED": "1"}
    log = desk.settings.home / "server.log"
    with log.open("w") as written:
        process = subprocess.Popen(
            SERVE, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=written, text=True
        )
        try:
            with log.open() as read:
                yield process, _address(process, read)
        finally:
            process.kill()
            process.communicate(timeout=30)


@contextmanager
def calling(desk: connect.Installation) -> Iterator[Caller]:
    """The manager, calling this desk in this process."""
    with httpx.Client(transport=InProcess(desk.api), base_url="http://desk", timeout=60) as http:
        yield Caller(http, issue(desk))


def test_kill_9_amid_many_creates(opened: OpenRow) -> None:
    """Killed amid 200 concurrent creates: every acknowledged package is there, whole, and no half one."""
    desk = opened()
    acknowledged: list[dict[str, Any]] = []
    with calling(desk) as caller:
        there, token = world(caller), caller.token
    with served(desk) as (process, address), httpx.Client(base_url=address, timeout=30) as http:

        def create(number: int) -> None:
            created = deals(*(option(seat, number + 1) for seat in (there.ada, there.bob, there.cleo)))
            try:
                answer = Caller(http, token).ask(
                    "POST", "supply_deals/", package(create_demand_deals=created)
                )
            except httpx.TransportError:
                return
            assert answer.status_code == 201
            acknowledged.append(answer.json())
            if len(acknowledged) == KILLED_AFTER:
                process.send_signal(signal.SIGKILL)

        with ThreadPoolExecutor(CALLERS) as pool:
            list(pool.map(create, range(CREATES)))
    assert KILLED_AFTER <= len(acknowledged) < CREATES
    whole(desk, acknowledged)


def whole(desk: connect.Installation, acknowledged: list[dict[str, Any]]) -> None:
    """Fail unless all that was acknowledged is there as it was, and all that is there has its three deals."""
    with calling(desk) as caller:
        kept = {page["id"]: page for page in pages(caller, "supply_deals")}
        assert {entry["id"]: kept.get(entry["id"]) for entry in acknowledged} == {
            entry["id"]: entry for entry in acknowledged
        }
        assert {len(package_body["demand_deals"]) for package_body in kept.values()} == {3}
        assert len(pages(caller, "demand_deals")) == 3 * len(kept)
        caller.make("supply_deals", package())
    with desk.access.store.engine.connect() as connection:
        recorded = select(func.count()).where(t.changes.c.entity == "demand_deals")
        assert connection.execute(recorded).scalar_one() == 3 * len(kept)
        given = connection.execute(select(func.count()).select_from(t.deal_ids)).scalar_one()
        assert given == 3 * len(kept)


def pages(caller: Caller, entity: str) -> list[dict[str, Any]]:
    """All of them."""
    results: list[dict[str, Any]] = []
    while len(results) < (page := caller.get(f"{entity}/", limit=500, offset=len(results)))["count"]:
        results += page["results"]
    return results


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is such a place: writers get in each other's way, not in the disk's."""
    memory = Path("/dev/shm")  # noqa: S108
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


def test_many_writers_on_sqlite(quick_folder: Path) -> None:
    """8 writers in two processes, 500 writes each: all succeed, and none waits as long as the deadline."""
    url = f"sqlite:///{quick_folder}/tranche.db"
    engine = database.engine(url)
    database.migrate(engine)
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        slowest = [*pool.map(write, [url] * PROCESSES, ["one", "two"], [WRITES] * PROCESSES)]
    assert max(slowest) < 30
    assert (
        DealsService(engine).list("dsps", DealsRequest(DealsScope(), Deadline())).count
        == PROCESSES * THREADS * WRITES
    )


@pytest.fixture
def on_sqlite(tmp_path: Path) -> connect.Installation:
    """A desk on SQLite."""
    return open_desk(tmp_path, f"sqlite:///{tmp_path}/tranche.db")


def test_a_full_database(on_sqlite: connect.Installation) -> None:
    """SQLite without room: 500 that says so, while reading goes on; with room it works again."""
    engine = on_sqlite.access.store.engine
    with calling(on_sqlite) as caller:
        there = world(caller)
        room = {"pages": 1}
        limit = "PRAGMA max_page_count={pages}"
        event.listen(engine, "checkout", lambda driver, *_: driver.execute(limit.format(**room)))
        body = package(name="x", create_demand_deals=deals(option(there.ada), option(there.bob)))
        answers = [caller.ask("POST", "supply_deals/", body) for _ in range(40)]
        count = sum(answer.status_code == 201 for answer in answers)
        assert answers[-1].status_code == 507
        assert answers[-1].json() == {"detail": StoreUnwritable.REASON}
        assert caller.get("supply_deals/")["count"] == count
        assert caller.get("demand_deals/")["count"] == 2 * count
        room["pages"] = 2**30
        caller.make("supply_deals", body)


def test_a_disk_that_takes_no_more(on_sqlite: connect.Installation) -> None:
    """A server whose files may not grow answers 507 and goes on reading; once they may, it writes again."""
    desk = on_sqlite
    database_file = desk.settings.database_url.removeprefix("sqlite:///")
    with calling(desk) as caller:
        there, token = world(caller), caller.token
    with served(desk) as (process, address), httpx.Client(base_url=address, timeout=30) as http:
        caller = Caller(http, token)
        caller.make("supply_deals", package())
        unlimited = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        largest = max(Path(f"{database_file}{end}").stat().st_size for end in ("", "-wal"))
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (largest + 8192, unlimited[1]))
        body = package(create_demand_deals=deals(option(there.ada)))
        answers = [caller.ask("POST", "supply_deals/", body) for _ in range(40)]
        count = 1 + sum(answer.status_code == 201 for answer in answers)
        assert answers[-1].status_code == 507
        assert "nothing was changed" in answers[-1].json()["detail"]
        assert caller.get("supply_deals/")["count"] == count
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, unlimited)
        caller.make("supply_deals", body)
        assert caller.get("demand_deals/")["count"] == count


def check_reports_and_tokens(desk: connect.Installation) -> None:
    """The database is away: a report is 503 `internal_error`, a token 503 `temporarily_unavailable`."""
    where = {"token": "trn_rep_any", "project_name": "demo", "slicer_name": "delivery"}
    days = {"start_date": "-7d", "end_date": "yesterday", "export_format": "csv"}
    form = {"grant_type": "password", "username": "manager", "password": PASSWORD}
    for verb, fields in {"info": {}, "export": days}.items():
        answer = desk.http.post(f"/API/v2/{verb}", json={**where, **fields})
        assert (answer.status_code, answer.json()["status"]) == (503, "internal_error")
        assert "can't be reached right now" in answer.json()["reason"]
        assert int(answer.headers["Retry-After"]) > 0
    answer = desk.http.post("/oauth2/token/", data={**form, "scope": "service_id=deals"})
    assert (answer.status_code, answer.json()["error"]) == (503, "temporarily_unavailable")
    assert int(answer.headers["Retry-After"]) > 0


def test_a_lost_database(tmp_path: Path) -> None:
    """PostgreSQL stops under the desk: 503 that says so, in each API's words; once it is back, all works."""
    with databases.server(databases.found()) as postgres:
        desk = open_desk(tmp_path, postgres.url.format("postgres"))
        with calling(desk) as caller:
            there = world(caller)
            body = package(create_demand_deals=deals(option(there.ada)))
            postgres.stop("fast")
            for answer in (caller.ask("POST", "supply_deals/", body), caller.ask("GET", "supply_deals/")):
                assert (answer.status_code, answer.json().keys()) == (503, {"detail"})
                assert int(answer.headers["Retry-After"]) > 0
                assert (
                    "The database can't be reached right now; nothing was changed" in answer.json()["detail"]
                )
            check_reports_and_tokens(desk)
            postgres.start()
            assert caller.make("supply_deals", body)["demand_deals"]
            assert caller.get("supply_deals/")["count"] == 1


def test_connections_that_break(tmp_path: Path, postgres: str) -> None:
    """The database drops all connections: the next requests have new ones, and nobody notices."""
    desk = open_desk(tmp_path, postgres)
    engine = desk.access.store.engine
    with calling(desk) as caller:
        others = "pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        for _ in range(3):
            with engine.connect() as connection:
                connection.execute(text(f"select pg_terminate_backend(pid) from {others}"))
            caller.make("supply_deals", package())
            assert caller.get("supply_deals/")["count"]
