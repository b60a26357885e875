"""`tranche move-state`: from the SQLite file to PostgreSQL, whole or not at all."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from deals.caller import Caller, deals, option, package, world
from sqlalchemy import create_engine, inspect, select

from lib import database
from lib.cli import main
from lib.people.cookies import SignIn
from lib.serving import connect
from lib.serving.backup import move
from lib.settings import Settings
from lib.wire.errors import BadRequest, Misconfigured, StoreUnavailable

ENDS = 4_000_000_000.125


@pytest.fixture
def installed(own_home: Path) -> connect.Installation:
    """An installation over SQLite with people, a sign-in, deals, and numbers that were given and deleted."""
    context = connect.installation(Settings(home=own_home, demo=True))
    caller = Caller(context.http, context.access.issue("manager", "deals", "kept \\ \t 'all' of it", None))
    seats = world(caller)
    caller.make(
        "supply_deals", package(create_demand_deals=deals(option(seats.ada), option(seats.bob, 2.345)))
    )
    caller.remove("domain_lists", seats.domains)
    context.sessions.begin("manager", ENDS)
    return context


def rows(url: str) -> dict[str, list[Any]]:
    """All rows of all tables, as the program reads them."""
    engine = database.engine(url)
    with engine.connect() as connection:
        by_table = {
            table.name: sorted(map(str, connection.execute(select(table))))
            for table in database.metadata.sorted_tables
        }
    engine.dispose()
    return by_table


def tables(url: str) -> list[str]:
    """What a database holds."""
    engine = create_engine(url)
    table_names = inspect(engine).get_table_names()
    engine.dispose()
    return table_names


def tranche(home: Path, *words: str, **environment: str) -> Result:
    """What a command over this home does."""
    return CliRunner().invoke(main, list(words), env={"TRANCHE_HOME": str(home), **environment})


def test_a_backup_afterwards_says_what_the_old_file_is(
    installed: connect.Installation, postgres: str, tmp_path: Path
) -> None:
    """The file of SQLite that a move leaves is named as what it is, not as one of somebody else."""
    home = installed.settings.home
    assert tranche(home, "move-state", "--to", postgres).exit_code == 0
    backup = tranche(home, "backup", str(tmp_path / "backup.tar"), TRANCHE_DATABASE_URL=postgres)
    assert backup.exit_code == 0, backup.output
    assert "tranche.db, the state before `tranche move-state`" in backup.output
    assert "did not write" not in backup.output


def test_everything_is_there_afterwards(installed: connect.Installation, postgres: str) -> None:
    """Every row of every table is in PostgreSQL, and the file is as it was.

    Tokens, passwords, sign-ins and the key of cookies open what they opened; deleted numbers stay so.
    """
    home, before = installed.settings.home, rows(installed.settings.database_url)
    assert len(before["people"]) == 3 and len(before["demand_deals"]) == 2 and len(before["sign_ins"]) == 1
    said = tranche(home, "move-state", "--to", postgres)
    assert (said.exit_code, "database_url" in said.output) == (0, True), said.output
    assert f"{sum(map(len, before.values())):,} rows" in said.output
    assert rows(postgres) == before == rows(installed.settings.database_url)
    there = connect.installation(Settings(home=home, demo=True, database_url=postgres))
    sign_in = SignIn("manager", ENDS)
    assert (
        there.cookies.sign_in({there.cookies.session_name: installed.cookies.session_value(sign_in)})
        == sign_in
    )
    assert there.sessions.person("manager", ENDS) == installed.people.get("manager")
    assert there.access.sign_in("viewer", "demo")
    caller = Caller(there.http, there.access.issue("manager", "deals", "new", None))
    assert caller.make("domain_lists", {"name": "new", "domains": ["a.example"]})["id"] == 2
    assert caller.make("supply_deals", package())["id"] == 2


def test_a_failure_on_the_way_leaves_nothing(
    installed: connect.Installation, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the last table can't be copied, the new database is as empty as before."""
    from lib.serving.backup import move as module

    sequence_of, last = module.__globals__["sequence_of"], database.metadata.sorted_tables[-1]

    def fail(target: Any, table: str) -> str | None:
        if table == last.name:
            target.exec_driver_sql("select 1 / 0")
        return sequence_of(target, table)

    monkeypatch.setitem(module.__globals__, "sequence_of", fail)
    with pytest.raises(StoreUnavailable, match=r"division by zero\. Nothing was changed"):
        move(installed.settings, postgres)
    assert tables(postgres) == []


def test_a_database_that_is_in_use_is_refused(
    installed: connect.Installation, postgres: str, tmp_path: Path
) -> None:
    """Nobody's rows are mixed: a database with tables of Tranche is not filled."""
    connect.installation(Settings(home=tmp_path / "other", database_url=postgres))
    before = rows(postgres)
    with pytest.raises(Misconfigured, match="has tables of Tranche already"):
        move(installed.settings, postgres)
    assert rows(postgres) == before


def test_what_can_not_be_moved(installed: connect.Installation, tmp_path: Path) -> None:
    """While a desk runs, to another file, or from PostgreSQL nothing is moved, and a sentence says why."""
    home = installed.settings.home
    with pytest.raises(BadRequest, match="must be PostgreSQL"):
        move(installed.settings, f"sqlite:///{tmp_path}/other.db")
    url = "postgresql+psycopg://tranche@/none?host=/nowhere"
    with connect.one_desk(installed.settings), pytest.raises(BadRequest, match="A desk is running"):
        move(installed.settings, url)
    with pytest.raises(BadRequest, match="nothing to move"):
        move(Settings(home=home, database_url=url), url)
    said = tranche(home, "move-state", "--to", url)
    assert said.exit_code == 1
    assert "Traceback" not in said.output and "Nothing was changed" in said.output
