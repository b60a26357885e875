"""The database: SQLite as it has to be opened, migrations, and what is said when it can't be used."""

import stat
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import insert, inspect, select, text
from sqlalchemy.exc import IntegrityError, StatementError

from lib import database
from lib.people.tokens.store import TokenStore, tokens
from lib.wire.errors import Misconfigured

TOKEN = {"prefix": "", "digest": "", "owner": "", "name": "", "service": "", "grants": []}


@pytest.fixture(autouse=True)
def migrations_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here no table is copied from another database (see `tables_made_once`)."""
    monkeypatch.setattr(database, "migrate", import_module("lib.database.engine").migrate)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a new, empty database."""
    return str(request.getfixturevalue({"sqlite": "url", "postgresql": "postgres"}[request.param]))


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A SQLite database that is not there yet, in a folder that is not there yet."""
    return f"sqlite:///{tmp_path}/home/tranche.db"


def test_migrations_make_the_tables_that_the_program_expects(database_url: str) -> None:
    """After the migrations, the database's tables are those that the program's metadata describe."""
    engine = database.engine(database_url)
    database.migrate(engine)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), database.metadata) == []


def test_migrating_again_changes_nothing(database_url: str) -> None:
    """Migrations run once; rows stay."""
    engine = database.engine(database_url)
    database.migrate(engine)
    TokenStore(engine).issue("ada", "reporting", "kept", None)
    database.migrate(engine)
    assert [token.name for token in TokenStore(engine).everything()] == ["kept"]


def test_sqlite_is_private_and_patient(url: str, tmp_path: Path) -> None:
    """The SQLite file and its log are closed to others; foreign keys hold, and a writer waits for another."""
    engine = database.engine(url)
    database.migrate(engine)
    with engine.connect() as connection:
        pragmas = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "foreign_keys", "busy_timeout")
        }
        assert pragmas == {"journal_mode": "wal", "foreign_keys": 1, "busy_timeout": 10_000}
        modes = {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "home").iterdir()}
    assert modes == {0o600}
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


def test_writers_that_read_first_wait_for_one_another(url: str) -> None:
    """Transactions that read and then write, many at a time, all succeed."""
    engine = database.engine(url)
    database.migrate(engine)
    TokenStore(engine).issue("ada", "reporting", "0", None)

    def one_more(_: int) -> None:
        with database.writing(engine).begin() as connection:
            name = int(connection.execute(select(tokens.c.name)).scalar_one())
            connection.execute(tokens.update().values(name=str(name + 1)))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one_more, range(40)))
    assert TokenStore(engine).everything()[0].name == "40"


def test_processes_that_start_together(database_url: str) -> None:
    """Processes that open a new database at the same time all find it migrated."""
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        issued = list(pool.map(start, [database_url] * 24))
    assert len(set(issued)) == 24
    assert len(TokenStore(database.engine(database_url)).everything()) == 24


def start(url: str) -> str:
    """What a process does when it starts: open, migrate, use."""
    engine = database.engine(url)
    database.migrate(engine)
    return TokenStore(engine).issue("ada", "reporting", "raced", None)


def test_a_failed_migration_leaves_nothing(database_url: str) -> None:
    """A migration that fails half-way is taken back as a whole."""
    engine = database.engine(database_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE other (owner TEXT)"))
        connection.execute(text("CREATE INDEX ix_tokens_kind_expires ON other (owner)"))
    with pytest.raises(Misconfigured, match="already exists"):
        database.migrate(engine)
    assert inspect(engine).get_table_names() == ["other"]


@pytest.mark.parametrize(
    ("revision", "reason"),
    [
        ("9999", "of another version of Tranche.*9999"),
        (
            "0041",
            r"before the first release \(revision 0041\), and was not changed: upgrade it with the code",
        ),
    ],
)
def test_another_versions_database(revision: str, reason: str, database_url: str) -> None:
    """A database of a later version, or from before the first release, is left alone; the latter is told what
    still upgrades it."""
    engine = database.engine(database_url)
    database.migrate(engine)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{revision}'"))
    with pytest.raises(Misconfigured, match=reason):
        database.migrate(engine)


def test_instants(database_url: str) -> None:
    """A time goes in with any zone and comes out the same, in UTC; one without a zone is refused."""
    engine = database.engine(database_url)
    database.migrate(engine)
    there = datetime.fromisoformat("2026-03-01T01:30:00.123456+05:30")
    with database.writing(engine).begin() as connection:
        connection.execute(insert(tokens).values(TOKEN | {"kind": "permanent", "created": there}))
        back = connection.execute(select(tokens.c.created)).scalar_one()
    assert back == there
    assert back.utcoffset() == timedelta(0)
    with engine.connect() as connection, pytest.raises(StatementError, match="a time without a zone"):
        connection.execute(select(tokens).where(tokens.c.created > datetime(2026, 3, 1)))  # noqa: DTZ001


def test_constraints_hold(database_url: str) -> None:
    """The database itself refuses a kind of token that is none."""
    engine = database.engine(database_url)
    database.migrate(engine)
    with (
        pytest.raises(IntegrityError, match="ck_tokens_kind"),
        database.writing(engine).begin() as connection,
    ):
        connection.execute(insert(tokens).values(TOKEN | {"kind": "eternal", "created": datetime.now(UTC)}))


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("nonsense", "database_url is no URL that SQLAlchemy knows"),
        ("unheard://x", "database_url is no URL that SQLAlchemy knows"),
        ("sqlite://", "SQLite needs a file here"),
        ("mysql+pymysql://u:hidden@h/d", r"this database needs the Python package pymysql"),
    ],
)
def test_unusable_urls(url: str, reason: str) -> None:
    """A URL that can't be used is refused with what would be right, and without its password."""
    with pytest.raises(Misconfigured, match=reason) as caught:
        database.engine(url)
    assert "hidden" not in caught.value.reason


def test_a_postgresql_that_does_not_answer(tmp_path: Path) -> None:
    """A database that can't be reached is a sentence, without the password."""
    engine = database.engine(f"postgresql://tranche:hidden@/tranche?host={tmp_path}")
    with pytest.raises(Misconfigured, match="database_url: the database can't be used") as caught:
        database.migrate(engine)
    assert "hidden" not in caught.value.reason


def test_a_busy_database_still_opens(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """When another writer keeps a token's use from being noted, the token opens all the same."""
    for opening in (database.engine, database.writing):
        monkeypatch.setitem(opening.__globals__, "BUSY_SECONDS", 0.1)  # type: ignore[attr-defined]
    engine = database.engine(url)
    database.migrate(engine)
    token = TokenStore(engine).issue("ada", "reporting", "nightly", None)
    with database.writing(engine).begin():
        assert TokenStore(database.engine(url)).verify(token, "reporting").last_used is None
    assert TokenStore(engine).everything()[0].last_used is None


def test_unreadable_file(url: str, tmp_path: Path) -> None:
    """A file that is no database is named as what it is."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "tranche.db").write_text("this is not a database, but a letter to the reader")
    with pytest.raises(Misconfigured, match=r"tranche\.db can't be used: file is not a database"):
        database.migrate(database.engine(url))
