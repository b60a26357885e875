"""Alerts of several desks over one database: one of them checks, and each change is sent once."""

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Barrier, Event, Semaphore
from threading import enumerate as enumerate_threads
from typing import Any

import pytest
from conftest import PEOPLE, copied, without_database
from serving import serving
from sqlalchemy import text
from watched import Receiver, imported, set_up, webhook

from lib import database
from lib.serving import connect
from lib.settings import Settings
from lib.share import watching
from lib.share.alerts.watch import Watch
from lib.share.messages import CLAIM, work_of
from lib.views import ViewStore

NOW = datetime.now(UTC)
DESKS = ("north", "south")
ROOT = Path(__file__).parents[3]
TO_BE_KILLED = """
import sys; sys.path.insert(0, {tests!r})
from datetime import datetime
from watched import webhook
from lib.share.alerts.watch import Watch
from lib.share.messages import CLAIM, work_of
from lib.settings import Settings
settings = Settings(home={home!r}, database_url={database!r}, demo=True, **webhook({address!r}))
Watch(settings).look(datetime.fromisoformat({now!r}))
"""


@pytest.fixture
def receiver() -> Receiver:
    """Takes all messages."""
    return Receiver()


@pytest.fixture
def desks(home: Path, tmp_path: Path, database_url: str, receiver: Receiver) -> Iterator[list[Settings]]:
    """Settings of two desks with data directories of their own, over one database, with one receiver."""
    north, south = (tmp_path / name for name in DESKS)
    homes = [copied(home, north, database_url), without_database(home, south)]
    with serving(receiver.app) as address:
        shared = {"database_url": database_url, "demo": True, **webhook(address)}
        yield [Settings(home=home, **shared) for home in homes]


@pytest.fixture
def kept(desks: list[Settings]) -> ViewStore:
    """What the manager keeps, at whichever desk."""
    manager = next(person for person in PEOPLE if person.username == "manager")
    return connect.connect(manager, desks[0]).view_store


def later(minutes: float) -> datetime:
    """So many minutes after now."""
    return NOW + timedelta(minutes=minutes)


def at_once(works: list[Callable[[], object]]) -> None:
    """Do all of this in threads that begin together."""
    barrier = Barrier(len(works))

    def begun(work: Callable[[], object]) -> None:
        barrier.wait()
        work()

    with ThreadPoolExecutor(len(works)) as threads:
        list(threads.map(begun, works))


def test_racing_desks_send_each_change_once(
    desks: list[Settings], kept: ViewStore, receiver: Receiver
) -> None:
    """Two desks that check at the same moment send one message for each time that the alert turns."""
    for desk in desks:
        imported(desk.home, [120])
    set_up(kept)
    watches = [Watch(desk) for desk in desks]
    figures = [120, 90, 150]
    for round_, figure in enumerate(figures):
        for desk in desks:
            imported(desk.home, [figure])
        at_once([partial(watch.look, later(round_)) for watch in watches])
    expected = [("fired" if figure > 100 else "cleared", figure) for figure in figures]
    assert receiver.events == expected
    assert len({message["id"] for message in receiver.taken}) == len(figures)
    assert not receiver.wrong


def test_a_desk_that_dies_amid_sending(desks: list[Settings], kept: ViewStore, receiver: Receiver) -> None:
    """Its message is sent by the other desk once the claim is over: five minutes later, and not before.

    The claim lasts far longer than an attempt may take (10 s), lest a slow desk and the other both send.
    """
    for desk in desks:
        imported(desk.home, [120])
    set_up(kept)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        code = TO_BE_KILLED.format(
            tests=str(ROOT / "tests"), home=str(desks[0].home), database=desks[0].database_url,
            address=f"http://127.0.0.1:{silent.getsockname()[1]}", now=NOW.isoformat(),
        )  # fmt: skip
        with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) as dying:
            silent.accept()
            dying.kill()
    other = Watch(desks[1])
    other.look(NOW + CLAIM - timedelta(seconds=1))
    assert receiver.events == []
    other.look(NOW + CLAIM)
    assert receiver.events == [("fired", 120)]
    other.look(later(60))
    assert len(receiver.taken) == 1


def process_lock(settings: Settings) -> AbstractContextManager[Callable[[], bool]]:
    """Whether this desk is the one that checks."""
    return database.process_lock(
        connect.installation(settings).access.store.engine, work_of(settings, "alerts")
    )


def test_one_desk_checks(desks: list[Settings]) -> None:
    """Of the desks over one database one may check alerts; when it ends, the next one may."""
    north, south = desks
    with process_lock(north) as is_north:
        assert is_north()
        with process_lock(south) as is_south:
            assert not is_south()
        assert is_north()
    with process_lock(south) as is_south:
        assert is_south()


def test_a_desk_that_waits_goes_on(
    desks: list[Settings], kept: ViewStore, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one desk checks, another one tries again and again; when the first ends, it fires what is due."""
    for desk in desks:
        imported(desk.home, [120])
    set_up(kept)
    tried, looked = Semaphore(0), Event()
    monkeypatch.setattr(database, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(database, "process_lock", _noting(database.process_lock, tried.release))
    monkeypatch.setattr(Watch, "look", _noting(Watch.look, looked.set))
    with process_lock(desks[0]), watching(desks[1]):
        assert [tried.acquire(timeout=30) for _ in range(3)] == [True] * 3
        assert not looked.is_set()
    with watching(desks[1]):
        assert looked.wait(30)
    assert receiver.events == [("fired", 120)]


def _noting(work: Callable[..., Any], note: Callable[[], object]) -> Callable[..., Any]:
    def noted(*given: Any) -> Any:
        result = work(*given)
        note()
        return result

    return noted


def test_a_desk_that_is_not_to_check(desks: list[Settings]) -> None:
    """Where the settings say no, nothing is begun."""
    before = set(enumerate_threads())
    alerts = desks[0].alerts.model_copy(update={"alerts": False})
    with watching(desks[0].model_copy(update={"alerts": alerts})):
        assert set(enumerate_threads()) <= before


def test_a_lost_connection_ends_the_turn(postgres: str) -> None:
    """Where PostgreSQL ends the connection of the desk that checks, it knows, and another may check."""
    north, south = (database.engine(postgres) for _ in DESKS)
    ending = text(
        "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' "
        "and database = (select oid from pg_database where datname = current_database())"
    )
    with database.process_lock(north, "work") as is_north:
        assert is_north()
        with south.connect() as connection:
            connection.execute(ending)
        assert not is_north()
        with database.process_lock(south, "work") as is_south:
            assert is_south()
            assert not is_north()
        with database.process_lock(south, "other work") as is_south:
            assert is_south()
