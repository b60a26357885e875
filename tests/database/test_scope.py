"""What stores read and write through `DatabaseScope`, on SQLite and PostgreSQL."""

import importlib
from collections.abc import Iterator

import pytest
from sqlalchemy import Column, Engine, Integer, MetaData, Table, event, insert, select, text
from sqlalchemy.exc import IntegrityError, OperationalError

from lib import database
from lib.database import DatabaseScope
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest

numbers = Table("numbers", MetaData(), Column("number", Integer, primary_key=True))
NUMBERS = select(numbers).order_by(numbers.c.number)
END_OTHERS = text(
    "select pg_terminate_backend(pid) from pg_stat_activity "
    "where datname = current_database() and pid <> pg_backend_pid()"
)


@pytest.fixture
def scope(database_url: str) -> Iterator[DatabaseScope]:
    """A database with a table of its own."""
    engine = database.engine(database_url)
    numbers.metadata.create_all(database.writing(engine))
    yield DatabaseScope(engine)
    engine.dispose()


def stored(scope: DatabaseScope) -> list[int]:
    """All numbers."""
    return [row.number for row in scope.rows(NUMBERS)]


def end_connections(scope: DatabaseScope) -> None:
    """End the connections that the pool holds, as a restart of the server does."""
    other = database.engine(scope.engine.url.render_as_string(hide_password=False))
    with other.connect() as connection:
        connection.execute(END_OTHERS)
    other.dispose()


def statements(engine: Engine) -> list[str]:
    """What is sent to the database from now on, as it is sent."""
    sent: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *parameters: sent.append(parameters[2]))
    event.listen(engine, "begin", lambda connection: sent.append("BEGIN"))
    return sent


def test_a_block_is_written_whole_or_not_at_all(scope: DatabaseScope) -> None:
    """Its statements hold at its end; an error, ours or the database's, undoes them."""
    with scope.write() as connection:
        connection.execute(insert(numbers).values(number=1))
        connection.execute(insert(numbers).values(number=2))
    with pytest.raises(BadRequest), scope.write() as connection:
        connection.execute(insert(numbers).values(number=3))
        raise BadRequest("No")
    with pytest.raises(IntegrityError):
        scope.execute(insert(numbers).values(number=4), insert(numbers).values(number=1))
    assert stored(scope) == [1, 2]
    row = scope.row(NUMBERS.where(numbers.c.number == 2))
    assert row is not None and row.number == 2
    assert scope.row(NUMBERS.where(numbers.c.number == 5)) is None


def test_lost_connections_are_replaced_unnoticed(scope: DatabaseScope) -> None:
    """Reads are repeated, and writes that had not begun; nothing has to ask the server before each."""
    if scope.engine.dialect.name == "sqlite":
        pytest.skip("SQLite has no server")
    assert stored(scope) == []
    end_connections(scope)
    assert stored(scope) == []
    end_connections(scope)
    scope.execute(insert(numbers).values(number=1))
    end_connections(scope)
    add = insert(numbers).values(number=2)
    database.transact(scope.engine, lambda connection: connection.execute(add), Deadline(60))
    assert stored(scope) == [1, 2]


def test_a_connection_that_was_idle_for_long_is_tried_first(
    scope: DatabaseScope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever uses it without a scope doesn't meet one that a firewall has ended; soon after use it isn't."""
    if scope.engine.dialect.name == "sqlite":
        pytest.skip("SQLite has no server")
    assert stored(scope) == []
    end_connections(scope)
    with pytest.raises(OperationalError), scope.engine.connect() as connection:
        connection.execute(NUMBERS)
    assert stored(scope) == []
    end_connections(scope)
    monkeypatch.setattr(importlib.import_module("lib.database.postgresql"), "IDLE_SECONDS", 0)
    with scope.engine.connect() as connection:
        assert connection.execute(NUMBERS).all() == []


def test_a_query_costs_one_statement(scope: DatabaseScope) -> None:
    """On PostgreSQL each is a round trip: no transaction is begun for it, and no ping is sent before."""
    if scope.engine.dialect.name == "sqlite":
        pytest.skip("SQLite has no round trips")
    stored(scope)
    sent = statements(scope.engine)
    stored(scope)
    assert [text for text in sent if text != "BEGIN"] == [str(NUMBERS)]
