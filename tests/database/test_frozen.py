"""A PostgreSQL that is frozen, its processes stopped by signal: it takes what is sent, and is silent."""

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from conftest import PASSWORD, copied
from databases import Postgres, found, new_database_of, server
from httpx import Response
from sqlalchemy import Column, Connection, Engine, Integer, MetaData, Table, insert, select
from starlette.testclient import TestClient

from lib import database
from lib.database import DatabaseScope, postgresql
from lib.database.transaction import LOST_WHILE_SAVING
from lib.serving import connect
from lib.settings import Settings
from lib.wire.deadline import Deadline
from lib.wire.errors import StoreTimeout, StoreUnavailable

SENTENCE = "The database did not answer in time; nothing was changed. Try again in a moment"
QUESTION = {"project_name": "demo", "slicer_name": "delivery", "start_date": "-30d", "end_date": "yesterday"}
SIGN_IN = {"grant_type": "password", "username": "admin", "password": PASSWORD, "scope": "service_id=deals"}
things = Table("things", MetaData(), Column("id", Integer, primary_key=True))


@pytest.fixture(scope="module")
def own_server() -> Iterator[Postgres]:
    """A server that no other test is connected to."""
    with server(found()) as running:
        yield running


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits are those of a desk, but shorter."""
    monkeypatch.setattr(postgresql, "STATEMENT_SECONDS", 1)
    monkeypatch.setattr(postgresql, "CONNECT_SECONDS", 2)
    monkeypatch.setattr(database.transaction, "SECONDS", 1.0)


@pytest.fixture
def engine(own_server: Postgres) -> Iterator[Engine]:
    """A database with one table, and an open connection to it."""
    opened = database.engine(new_database_of(own_server.url))
    things.create(opened)
    yield opened
    opened.dispose()


def add(connection: Connection) -> None:
    """One more row."""
    connection.execute(insert(things))


def count(engine: Engine) -> int:
    """How many rows there are."""
    return len(DatabaseScope(engine).rows(select(things)))


def add_in_turn(engine: Engine) -> None:
    """One more row, by a transaction that writes."""
    database.transact(engine, add, Deadline(1))


def lock(engine: Engine) -> None:
    """Try to be the only process that does some work."""
    with database.process_lock(engine, "work"):
        pass


@pytest.mark.parametrize("call", [count, add_in_turn, lock])
def test_a_call_ends(
    own_server: Postgres, engine: Engine, call: Callable[[Engine], None], caplog: pytest.LogCaptureFixture
) -> None:
    """Over an open connection, and then over a new one; the next works once the server goes on."""
    with own_server.frozen():
        for _ in range(2):
            with pytest.raises(StoreTimeout) as raised:
                call(engine)
            assert raised.value.reason == SENTENCE
    assert any(line.startswith("The database failed: The server did not answer") for line in caplog.messages)
    database.transact(engine, add, Deadline(10))
    assert count(engine) == 1


def test_a_commit_without_an_answer_may_be_stored(own_server: Postgres, engine: Engine) -> None:
    """What was sent to be committed is not said to have changed nothing: here it is there afterwards."""
    with ExitStack() as stack, pytest.raises(StoreUnavailable) as raised:

        def work(connection: Connection) -> None:
            add(connection)
            stack.enter_context(own_server.frozen())

        database.transact(engine, work, Deadline(1))
    assert raised.value.reason == LOST_WHILE_SAVING
    assert count(engine) == 1


def test_the_desk_answers(
    home: Path, tmp_path: Path, own_server: Postgres, caplog: pytest.LogCaptureFixture
) -> None:
    """Reports, deals and sign-ins get 504 and the sentence, `/readyz` names the part, the log its reason."""
    url = new_database_of(own_server.url)
    own_home = copied(home, tmp_path / "home", url)
    installation = connect.installation(Settings(home=own_home, demo=True, database_url=url))
    reporting, deals = (
        installation.access.issue("admin", name, name, None) for name in ("reporting", "deals")
    )
    http, bearer = TestClient(installation.api), {"Authorization": f"Bearer {deals}"}

    def answers() -> Iterator[Response]:
        yield http.post("/API/v2/audience", json=QUESTION | {"token": reporting})
        yield http.get("/api/supply_deals/", headers=bearer)
        yield http.post("/oauth2/token/", data=SIGN_IN)

    assert [answer.status_code for answer in answers()] == [200] * 3
    with own_server.frozen(), caplog.at_level(logging.WARNING):
        assert [answer.status_code for answer in answers() if SENTENCE in answer.text] == [504] * 3
        ready = http.get("/readyz")
    assert (ready.status_code, ready.json()["parts"]["database"]) == (503, "failed")
    assert "The database is not ready: " in caplog.text
    assert "The database failed: The server did not answer" in caplog.text
    assert [answer.status_code for answer in answers()] == [200] * 3
    assert http.get("/readyz").status_code == 200
