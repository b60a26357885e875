"""Backup and restore of an installation whose database is PostgreSQL."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import copied
from databases import new_database_of
from deals.caller import Caller, deals, option, package, world
from sqlalchemy import MetaData, create_engine

from backup.test_restore import Members, members, packed, stated
from lib.serving import connect
from lib.serving.backup import back_up, restore
from lib.serving.backup.archive import MANIFEST
from lib.settings import Settings
from lib.wire.errors import Misconfigured, TrancheError

Rows = dict[str, list[Any]]


@pytest.fixture
def installed(home: Path, tmp_path: Path, postgres: str) -> connect.Installation:
    """An installation over PostgreSQL with deals, a token, and numbers that were given and deleted again."""
    own = copied(home, tmp_path / "home", postgres)
    context = connect.installation(Settings(home=own, demo=True, database_url=postgres))
    token = context.access.issue("manager", "deals", "kept \\ \t 'all' of it", None)
    caller = Caller(context.http, token)
    seats = world(caller)
    caller.make("supply_deals", package(create_demand_deals=deals(option(seats.ada), option(seats.bob))))
    caller.remove("domain_lists", seats.domains)
    return context


@pytest.fixture
def empty(postgres_server: str) -> str:
    """The URL of a second database, in which there is nothing."""
    return new_database_of(postgres_server)


def rows(url: str) -> Rows:
    """All rows of all tables; {} of an empty database."""
    engine, metadata = create_engine(url), MetaData()
    with engine.connect() as connection:
        metadata.reflect(connection)
        by_table = {
            name: sorted(map(str, connection.execute(table.select())))
            for name, table in metadata.tables.items()
        }
    engine.dispose()
    return by_table


def test_rows_of_postgresql_come_back(
    installed: connect.Installation, empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every row of every table is in the restored database; numbers go on where they were.

    It must be empty, and a second restore into it is refused unless it replaces the rows.
    """
    archive, home, url = tmp_path / "backup.tar", tmp_path / "restored", installed.settings.database_url
    back_up(installed.settings, archive)
    before = rows(url)
    monkeypatch.setenv("TRANCHE_DATABASE_URL", empty)
    restore(archive, home)
    assert rows(empty) == before
    assert len(before["demand_deals"]) == 2 and len(before["seats"]) == 3
    again = connect.installation(Settings(home=home, demo=True, database_url=empty))
    token = again.access.issue("manager", "deals", "new", None)
    domain_list = Caller(again.http, token).make("domain_lists", {"name": "new", "domains": ["a.example"]})
    assert domain_list["id"] == 2, "the number of the deleted list is not given again"
    with pytest.raises(Misconfigured, match="holds rows"):
        restore(archive, tmp_path / "other")
    assert len(rows(empty)["tokens"]) == 2
    again.access.store.engine.dispose()
    restore(archive, home, replace=True)
    assert rows(empty) == before


def test_a_database_of_another_kind_is_refused(
    installed: connect.Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of PostgreSQL aren't put into the home: the settings must name a database of PostgreSQL."""
    back_up(installed.settings, tmp_path / "backup.tar")
    monkeypatch.delenv("TRANCHE_DATABASE_URL", raising=False)
    with pytest.raises(Misconfigured, match="set database_url"):
        restore(tmp_path / "backup.tar", tmp_path / "restored")
    assert not (tmp_path / "restored").exists()


def wronged(contents: Members, wrong: str) -> Members:
    """A hostile archive, whose manifest agrees with it."""
    manifest = json.loads(contents[MANIFEST])
    tables, contents = manifest["database"]["tables"], dict(contents)
    if wrong == "a table":
        tables['tokens"; drop table tokens; --'] = tables.pop("tokens")
    elif wrong == "a column":
        tables["tokens"]["columns"][0] = "id) from program 'true' --"
    elif wrong == "rows":
        contents["database/tokens.copy"] = b"not\ta\trow\n"
    else:
        manifest["database"]["revision"] = "9999"
    return stated(contents | {MANIFEST: json.dumps(manifest).encode()})


def test_hostile_rows_change_nothing(
    installed: connect.Installation, empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables and columns are those of our migrations, rows are data: anything else is refused."""
    back_up(installed.settings, tmp_path / "backup.tar")
    monkeypatch.setenv("TRANCHE_DATABASE_URL", empty)
    said = {
        "a table": "has no rows of the table",
        "a column": "tables are not those of its revision",
        "rows": "The database failed: invalid input syntax",
        "a revision": "another version of Tranche",
    }
    for wrong, sentence in said.items():
        hostile = packed(tmp_path / f"{wrong}.tar", wronged(members(tmp_path / "backup.tar"), wrong))
        with pytest.raises(TrancheError, match=sentence):
            restore(hostile, tmp_path / "restored")
        assert rows(empty) == {}
        assert not (tmp_path / "restored").exists()
