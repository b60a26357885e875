"""Transactions: within a deadline, whole or not at all, repeated where safe; columns that keep numbers."""

from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import Column, Connection, Engine, Integer, MetaData, Table, insert, select, text
from sqlalchemy.exc import IntegrityError, StatementError

from lib import database
from lib.database.transaction import ATTEMPTS
from lib.wire.deadline import Deadline
from lib.wire.errors import StoreTimeout, StoreUnavailable

things = Table(
    "things",
    MetaData(),
    Column("id", Integer, primary_key=True),
    Column("price", database.Amount),
    Column("fields", database.Document),
)
UNDONE = "DO $$ BEGIN RAISE EXCEPTION 'another one came first' USING ERRCODE = '40001'; END $$"
SLOW = {
    "sqlite": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
    "postgresql": "SELECT pg_sleep(60)",
}


@pytest.fixture
def engine(database_url: str) -> Engine:
    """A database with one table."""
    opened = database.engine(database_url)
    things.create(opened)
    return opened


def add(connection: Connection, price: Any = 1, **fields: Any) -> None:
    """One more row."""
    connection.execute(insert(things).values(price=Decimal(price), **fields))


def count(engine: Engine) -> int:
    """How many rows there are."""
    with engine.connect() as connection:
        return len(connection.execute(select(things)).all())


def test_what_fails_leaves_nothing(engine: Engine) -> None:
    """Rows written before an error in the work are gone; the error comes through."""

    def work(connection: Connection) -> None:
        add(connection)
        raise LookupError

    with pytest.raises(LookupError):
        database.transact(engine, work, Deadline())
    assert count(engine) == 0


def test_a_broken_rule_is_the_callers_to_explain(engine: Engine) -> None:
    """An IntegrityError is not repeated."""
    runs = []

    def work(connection: Connection) -> None:
        runs.append(1)
        add(connection, id=1)
        add(connection, id=1)

    with pytest.raises(IntegrityError):
        database.transact(engine, work, Deadline())
    assert (len(runs), count(engine)) == (1, 0)


def test_the_deadline_stops_slow_statements(engine: Engine) -> None:
    """A statement that takes too long is stopped, reading or writing; the connection is good afterwards."""
    slow = text(SLOW[engine.dialect.name])

    def work(connection: Connection) -> None:
        add(connection)
        connection.execute(slow).all()

    with pytest.raises(StoreTimeout, match="nothing was changed"):
        database.transact(engine, work, Deadline(0.2))
    with pytest.raises(StoreTimeout):
        database.reading(engine, lambda connection: connection.execute(slow).all(), Deadline(0.2))
    assert count(engine) == 0
    database.transact(engine, add, Deadline(10))
    assert count(engine) == 1


def test_nothing_begins_after_the_deadline(engine: Engine) -> None:
    """Work whose time is over is not begun, and what was done too late is not committed."""
    late = Deadline(0)
    with pytest.raises(StoreTimeout):
        database.transact(engine, add, late)

    def slowly(connection: Connection) -> None:
        add(connection)
        while soon.remaining():
            pass

    soon = Deadline(0.2)
    with pytest.raises(StoreTimeout):
        database.transact(engine, slowly, soon)
    assert count(engine) == 0


def test_a_reader_sees_one_moment(engine: Engine) -> None:
    """What another transaction commits meanwhile is not seen: a body and its ETag belong together."""

    def work(connection: Connection) -> list[int]:
        seen = [len(connection.execute(select(things)).all())]
        database.transact(engine, add, Deadline(10))
        return [*seen, len(connection.execute(select(things)).all())]

    assert database.reading(engine, work, Deadline(10)) == [0, 0]
    assert count(engine) == 1


def test_what_the_database_undid_is_run_again(postgres: str) -> None:
    """A transaction that PostgreSQL undid for another's sake runs again; one that never works gives up."""
    engine = database.engine(postgres)
    things.create(engine)
    runs: list[int] = []

    def work(connection: Connection, failures: int) -> None:
        runs.append(1)
        add(connection)
        if len(runs) <= failures:
            connection.exec_driver_sql(UNDONE)

    database.transact(engine, lambda connection: work(connection, 2), Deadline(30))
    assert (len(runs), count(engine)) == (3, 1)
    runs.clear()
    with pytest.raises(StoreUnavailable):
        database.transact(engine, lambda connection: work(connection, 99), Deadline(30))
    assert (len(runs), count(engine)) == (ATTEMPTS, 1)


def test_amounts_are_exact_and_in_order(engine: Engine) -> None:
    """Decimals come back as they went in, and are ordered as numbers; a seventh decimal is refused."""
    prices = ["10", "9.5", "0.1", "0.000001", "999999999999.999999", "0"]

    def work(connection: Connection) -> list[Decimal]:
        for price in prices:
            add(connection, price)
        return list(connection.execute(select(things.c.price).order_by(things.c.price)).scalars())

    assert database.transact(engine, work, Deadline()) == sorted(Decimal(price) for price in prices)
    with pytest.raises(StatementError):
        database.transact(engine, lambda connection: add(connection, "0.0000001"), Deadline())


def test_documents_keep_decimals(engine: Engine) -> None:
    """What is in a document comes back as it was, numbers digit by digit."""
    document = {"price": Decimal("0.1"), "big": Decimal("1234567890.123456789"), "list": [None, True, "ü", 3]}
    database.transact(engine, lambda connection: add(connection, fields=document), Deadline())
    with engine.connect() as connection:
        assert connection.execute(select(things.c.fields)).scalar_one() == document
