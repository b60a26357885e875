"""Slicers whose rows lie in a database: what is asked there, what is refused, and what comes back."""

import datetime as dt
import json
import os
import socket
import threading
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from connected import CONNECTION, connected, publish
from databases import await_active
from psycopg.pq import TransactionStatus

from lib.cli import main
from lib.engines.connected import Connections, LiveSlicers
from lib.engines.connected.backends import Backend, open_backend
from lib.engines.connected_slicers import ConnectedSlicers
from lib.figures.numbers import Numbers
from lib.figures.query.precision import not_finite_notes
from lib.people import Person
from lib.people.tokens.access import Access
from lib.reporting.answers import Audience, as_arrow, as_json
from lib.reporting.service import ReportingService
from lib.settings import Settings
from lib.slicers.definition import Definition, RowSource
from lib.slicers.warehouse import Warehouse
from lib.wire import request_ids
from lib.wire.deadline import Deadline
from lib.wire.errors import (
    BadDefinition,
    BadRequest,
    DeadlineExceeded,
    ImportRefused,
    Misconfigured,
    SourceUnavailable,
)

DEFINITION = Definition.model_validate(
    {"time": {"column": "day"}, "key_fields": [{"name": "country"}], "data_fields": [{"name": "bids"}]}
)
HOSTILE = "'; DROP TABLE sales; --\"\\%_${HOME}"


def rows(*records: tuple[str, str, float]) -> pa.Table:
    """Rows of day, country and bids, as the warehouse has them."""
    return pa.Table.from_pylist(
        [
            {"time": dt.datetime.fromisoformat(day), "country": place, "bids": bids}
            for day, place, bids in records
        ],
        schema=DEFINITION.schema(),
    )


ROWS = rows(("2026-01-01", "DE", 3), ("2026-01-02", "DE", 4), ("2026-01-02", HOSTILE, 5))


class Desk:
    """A service over one connected slicer, `p/sales`."""

    def __init__(
        self, home: Path, url: str, table: str = "sales", definition: Definition = DEFINITION, **given: Any
    ) -> None:
        self.settings = Settings(home=home, connections={CONNECTION: {"url": url}}, **given)
        access = Access.of(self.settings)
        access.people.add(Person("ada", "Ada", None, "admin"), "a password")
        self.token = access.issue("ada", self.settings.reporting_service, "test", dt.timedelta(hours=1))
        self.connected = ConnectedSlicers(self.settings.connection_urls)
        warehouse = Warehouse(self.settings.warehouse, self.connected.current)
        warehouse.connect("p", "sales", connected(definition, table))
        self.service = ReportingService(warehouse, access, self.settings, connected=self.connected)

    def ask(self, **asked: Any) -> Audience:
        """An audience of `p/sales`."""
        body = {
            "token": self.token,
            "project_name": "p",
            "slicer_name": "sales",
            "start_date": "2026-01-01",
            "end_date": "2026-01-31",
            "timezone": 0,
        } | asked
        body = {name: value for name, value in body.items() if name != "timezone"}
        admitted = self.service.admit(json.dumps(body).encode())
        return self.service.audience(admitted, self.service.deadline())


@pytest.fixture(params=["duckdb", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A connection's URL, once per database, with a table `sales` there."""
    if request.param == "duckdb":
        (tmp_path / "lake").mkdir()
        address = f"parquet://{tmp_path}/lake"
    else:
        address = str(request.getfixturevalue("postgres")).replace("postgresql+psycopg://", "postgresql://")
    publish(ROWS, DEFINITION, address, "sales")
    return address


@pytest.fixture
def desk(tmp_path: Path, url: str) -> Desk:
    """A desk over that table."""
    return Desk(tmp_path / "home", url)


def test_figures_come_from_the_table(desk: Desk) -> None:
    """The days, the rows and the figures are those of the table; nothing of it is copied."""
    answer = desk.ask(split_by=["country"])
    assert dict(zip(answer.names["country"], answer.values["bids"], strict=True)) == {"DE": 7, HOSTILE: 5}
    assert answer.total.dates == ("2026-01-01", "2026-01-02")
    assert not list(desk.settings.warehouse.rglob("*.parquet"))


@pytest.mark.parametrize("match", ["equals", "contains", "begins with", "ends with"])
@pytest.mark.parametrize("case_insensitive", [0, 1])
def test_hostile_values_are_values(desk: Desk, match: str, case_insensitive: int) -> None:
    """A value that is written like a statement is looked for, and finds what is written like that."""
    wanted = {"name": "country", "match": match, "value": [HOSTILE], "case_insensitive": case_insensitive}
    assert desk.ask(filters=[wanted]).total.values["bids"] == 5
    assert desk.ask().total.values["bids"] == 12


@pytest.mark.parametrize("other", ["inf", "nan"])
def test_an_answer_says_which_numbers_are_none(tmp_path: Path, other: str) -> None:
    """With its precision an answer says how many rows hold NaN, as JSON and as Arrow, however it is split.

    Also where nothing but NaN is odd: the statistics of a Parquet file leave it out.
    """
    (tmp_path / "lake").mkdir()
    numbers = [1.0, float("nan"), float(other)]
    table = pa.table({"day": [dt.date(2026, 1, 1)] * 3, "country": [["US", "DE"]] * 3, "bids": numbers})
    pq.write_table(table, tmp_path / "lake" / "sales.parquet")
    keys = {"key_fields": [{"name": "country", "segmented": True}]}
    definition = Definition.model_validate(DEFINITION.model_dump(exclude_defaults=True) | keys)
    desk = Desk(tmp_path / "home", f"parquet://{tmp_path}/lake", definition=definition)
    answer = desk.ask(split_by=["country"], precision=1)
    assert answer.values["bids"].tolist() == [1, 1]
    assert answer.precision is not None and answer.precision.not_finite == {"bids": 2}
    as_text = json.loads(b"".join(map(bytes, as_json.encode(answer))))
    assert as_json.decode(as_text, ["country"]).precision == answer.precision
    assert as_arrow.decode(as_arrow.encode(answer)).precision == answer.precision
    info = desk.service.warehouse.open("p", "sales").info()
    assert [*not_finite_notes(answer, info, Numbers())] == [
        "2 rows hold NaN or infinity as bids, which counts as missing."
    ]


def test_hostile_names_are_names(tmp_path: Path) -> None:
    """A table and a column that are named like a statement are a table and a column."""
    name = 'x"; DROP TABLE y; --'
    (tmp_path / "lake").mkdir()
    definition = Definition.model_validate(
        {"time": {"column": "day"}, "key_fields": [{"name": "k", "column": name}], "data_fields": []}
    )
    pq.write_table(pa.table({"day": [dt.date(2026, 1, 1)], name: ["a"]}), tmp_path / "lake" / "sales.parquet")
    live = LiveSlicers(Connections({CONNECTION: f"parquet://{tmp_path}/lake"}))
    live.check(connected(definition, "sales"))
    with pytest.raises(BadRequest, match="named by letters"):
        live.check(connected(definition, "../home/sales"))


def test_what_does_not_fit_is_named(url: str) -> None:
    """A definition that the table does not fit is refused, with every column that is at fault."""
    live = LiveSlicers(Connections({CONNECTION: url}))
    missing = Definition.model_validate({"time": {"column": "day"}, "data_fields": [{"name": "cost"}]})
    with pytest.raises(BadDefinition, match="no column 'cost'"):
        live.check(connected(missing, "sales"))
    unfit = Definition.model_validate(
        {
            "time": {"column": "country"},
            "key_fields": [{"name": "bids"}],
            "data_fields": [{"name": "country"}],
        }
    )
    with pytest.raises(BadDefinition) as refused:
        live.check(connected(unfit, "sales"))
    assert len(refused.value.problems) == 3


def test_new_days_are_seen_after_a_minute(tmp_path: Path, url: str) -> None:
    """The days of a slicer are read again once a minute is over, and no sooner."""
    now = [0.0]
    live = LiveSlicers(Connections({CONNECTION: url}), lambda: now[0], patience=60)
    warehouse = Warehouse(tmp_path / "warehouse", live.current)
    warehouse.connect("p", "sales", connected(DEFINITION, "sales"))
    before = warehouse.open("p", "sales")
    if url.startswith("parquet"):
        both = pa.concat_tables([ROWS, rows(("2026-01-03", "FR", 1))])
        publish(both, DEFINITION, url, "sales")
    else:
        with psycopg.connect(url) as connection:
            connection.execute("INSERT INTO sales (day, country, bids) VALUES ('2026-01-03', 'FR', 1)")
    now[0] = 59.0
    assert warehouse.open("p", "sales").info().last_date == "2026-01-02"
    now[0] = 60.0
    after = warehouse.open("p", "sales")
    assert after.info().last_date == "2026-01-03"
    assert (after.row_count, after.version) != (before.row_count, before.version)


def test_a_statement_is_cancelled_at_its_source(tmp_path: Path, postgres: str) -> None:
    """Soon after the deadline, the database itself lists no running statement of the question."""
    url = postgres.replace("postgresql+psycopg://", "postgresql://")
    publish(ROWS, DEFINITION, url, "sales")
    with psycopg.connect(url, autocommit=True) as admin:
        desk = Desk(tmp_path / "home", url)
        desk.ask()
        admin.execute("ALTER TABLE sales RENAME TO kept")
        admin.execute("CREATE VIEW sales AS SELECT * FROM kept WHERE pg_sleep(600)::text IS NOT NULL")
        deadline = Deadline(1.0)
        admitted = desk.service.admit(
            json.dumps(
                {
                    "token": desk.token,
                    "project_name": "p",
                    "slicer_name": "sales",
                    "start_date": "2026-01-01",
                    "end_date": "2026-01-31",
                    "split_by": ["country"],
                }
            ).encode()
        )
        with pytest.raises(DeadlineExceeded):
            desk.service.audience(admitted, deadline)
        await_active(admin, "sales", False)


def test_a_statement_ends_with_its_process(postgres: str) -> None:
    """PostgreSQL stops a statement whose client is gone, as after the kill of a desk."""
    url = postgres.replace("postgresql+psycopg://", "postgresql://")
    backend = open_backend(url)
    waits = threading.Thread(target=_sleep, args=(backend,))
    waits.start()
    with psycopg.connect(url, autocommit=True) as admin:
        await_active(admin, "pg_sleep(600)", True)
        with socket.socket(fileno=os.dup(backend.ibis.con.fileno())) as connection:
            connection.shutdown(socket.SHUT_RDWR)
        await_active(admin, "pg_sleep(600)", False)
    waits.join()


def _sleep(backend: Backend) -> None:
    with pytest.raises(psycopg.OperationalError):
        backend.ibis.raw_sql("SELECT pg_sleep(600)")


def test_info_names_the_database(desk: Desk) -> None:
    """What reads the rows is named as its database, live."""
    engine = desk.service.warehouse.open("p", "sales").info().engine
    assert engine in ("Parquet, live", "PostgreSQL, live")


def test_a_database_that_is_gone(tmp_path: Path) -> None:
    """A database that does not answer is told as that, without its address and without its password."""
    url = "postgresql://reader:hushhush@127.0.0.1:1/rows"
    with pytest.raises(SourceUnavailable) as problem:
        Connections({CONNECTION: url}).table(CONNECTION, "sales")
    assert "hushhush" not in problem.value.reason
    assert CONNECTION in problem.value.reason


def test_a_database_file(tmp_path: Path) -> None:
    """A file of DuckDB is opened to read; an option that it does not have here is named."""
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE sales AS SELECT DATE '2026-01-01' AS day, 'DE' AS country, 3 AS bids"
        )
    desk = Desk(tmp_path / "home", f"duckdb://{tmp_path}/rows.duckdb?threads=1")
    assert desk.ask().total.values["bids"] == 3
    with pytest.raises(Misconfigured, match="memory_limit, threads, not access_mode"):
        Connections({CONNECTION: f"duckdb://{tmp_path}/rows.duckdb?access_mode=x"}).table(CONNECTION, "sales")


def test_an_unreadable_url_is_not_repeated() -> None:
    """A URL that can't be read is told as that, and nothing of it, the password least of all, is said."""
    with pytest.raises(Misconfigured, match="can't be read") as problem:
        Connections({CONNECTION: "postgresql://reader:hush%hush@db:x/rows"}).table(CONNECTION, "sales")
    assert "hush" not in problem.value.reason


def test_a_lost_connection_is_opened_again(tmp_path: Path, postgres: str) -> None:
    """A connection that the database closed meanwhile is replaced, and the question answered."""
    url = postgres.replace("postgresql+psycopg://", "postgresql://")
    publish(ROWS, DEFINITION, url, "sales")
    desk = Desk(tmp_path / "home", url)
    assert desk.ask().total.values["bids"] == 12
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert desk.ask(split_by=["country"]).total.values["bids"] == 12


def test_a_check_is_followed_by_a_question(desk: Desk) -> None:
    """Whether the database answers, and has the columns, can be asked between questions."""
    assert desk.ask().total.values["bids"] == 12
    desk.connected.reach(CONNECTION, Deadline(10))
    desk.connected.check(connected(DEFINITION, "sales"), Deadline(10))
    assert len(desk.ask(split_by=["country"])) == 2


@pytest.mark.parametrize("statement", ["SELECT 1 UNION ALL SELECT 2", "BEGIN"])
def test_a_connection_is_used_again_only_when_clean(desk: Desk, statement: str) -> None:
    """What a statement left behind, rows unread or a transaction, is no fault of the next question."""
    connections = desk.connected.live._connections
    connections._with(CONNECTION, Deadline(10), lambda backend: backend.ibis.raw_sql(statement))
    assert len(desk.ask(split_by=["country"])) == 2
    backend = connections._idle[CONNECTION].pop()
    if desk.connected.live._connections.kind(CONNECTION) == "postgresql":
        assert backend.ibis.con.info.transaction_status == TransactionStatus.IDLE


def test_a_table_that_has_changed_is_named(desk: Desk, url: str) -> None:
    """A question about a column that went meanwhile names it, its table and the slicer."""
    assert desk.ask().total.values["bids"] == 12
    if url.startswith("parquet"):
        without = pq.read_table(f"{url.removeprefix('parquet://')}/sales.parquet").drop_columns(["bids"])
        pq.write_table(without, f"{url.removeprefix('parquet://')}/sales.parquet")
    else:
        with psycopg.connect(url) as admin:
            admin.execute("ALTER TABLE sales DROP COLUMN bids")
    with pytest.raises(Misconfigured, match=r"table of p/sales has changed: sales: .* no column 'bids'"):
        desk.ask(split_by=["country"])


def test_statements_name_their_slicer_and_request(tmp_path: Path, postgres: str) -> None:
    """PostgreSQL lists a statement of ours under the slicer's name and the id of the request."""
    url = postgres.replace("postgresql+psycopg://", "postgresql://")
    publish(ROWS, DEFINITION, url, "kept")
    with psycopg.connect(url) as admin:
        admin.execute(
            "CREATE VIEW sales AS SELECT day, current_setting('application_name') AS country, bids FROM kept"
        )
    desk = Desk(tmp_path / "home", url)
    with request_ids.under("0123456789abcdef"):
        names = desk.ask(split_by=["country"]).names["country"]
    assert names.tolist() == ["tranche 0123456789abcdef p/sales"]


def test_a_connection_can_only_read(postgres: str) -> None:
    """PostgreSQL refuses every change over a connection, whatever the role may do."""
    url = postgres.replace("postgresql+psycopg://", "postgresql://")
    publish(ROWS, DEFINITION, url, "sales")
    connections = Connections({CONNECTION: url})
    connections.table(CONNECTION, "sales")
    backend = connections._idle[CONNECTION].pop()
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        backend.ibis.raw_sql("DELETE FROM sales")


def test_secrets_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`${NAME}` in a URL is a variable of the environment; without it, the error names the variable."""
    pq.write_table(pa.table({"day": [dt.date(2026, 1, 1)]}), tmp_path / "sales.parquet")
    connections = Connections({CONNECTION: "parquet://${LAKE_FOLDER}"})
    monkeypatch.delenv("LAKE_FOLDER", raising=False)
    with pytest.raises(Misconfigured, match="LAKE_FOLDER"):
        connections.table(CONNECTION, "sales")
    monkeypatch.setenv("LAKE_FOLDER", str(tmp_path))
    assert connections.table(CONNECTION, "sales").columns == ("day",)


def test_questions_at_the_same_time(desk: Desk) -> None:
    """Several questions at once each get their own answer."""
    totals: list[float | None] = []
    asked = [
        threading.Thread(target=lambda: totals.append(desk.ask().total.values["bids"])) for _ in range(8)
    ]
    for thread in asked:
        thread.start()
    for thread in asked:
        thread.join()
    assert totals == [12.0] * 8


def test_by_command(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`tranche connect` guesses the definition and writes it; the slicer is listed with its days."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "tranche.toml").write_text(f'[connections.lake]\nurl = "{url}"\n')
    (home / "tranche.toml").chmod(0o600)
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    command = ["connect", "lake", "sales", "--project", "acme", "--slicer", "sales"]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    assert "acme/sales is connected to sales: 3 rows, its days are 2026-01-01 to 2026-01-02" in result.output
    assert "connection: lake" in (tmp_path / "sales.yaml").read_text()
    assert "2026-01-02" in CliRunner().invoke(main, ["slicers"]).output
    again = CliRunner().invoke(main, command)
    assert again.exit_code == 1
    assert "exists" in again.output
    for table in ('sa"les', "", "sa\x01les", "x" * 201):
        odd = CliRunner().invoke(main, ["connect", "lake", table, *command[3:]])
        assert (odd.exit_code, isinstance(odd.exception, SystemExit)) == (1, True)
        assert "The name of a table has 1 to 200 characters, no quotes" in odd.output
    for name in (".", ".."):
        odd = CliRunner().invoke(main, [*command[:4], name, "--slicer", "sales"])
        assert (odd.exit_code, "means a folder; use letters" in odd.output) == (1, True)
    edited = CliRunner().invoke(main, [*command, "--replace", "--definition", "sales.yaml"])
    assert edited.exit_code == 0, edited.output


@pytest.mark.parametrize("has_date", [True, False])
def test_dates_in_texts_are_no_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_date: bool
) -> None:
    """A text is no time in a database: a date beside it is, and without one the refusal names the text."""
    columns: dict[str, list[object]] = {
        "day": ["01/02/2026", "02/03/2026"],
        "site": ["a", "b"],
        "imps": [5, 6],
    }
    if has_date:
        columns["served"] = [dt.date(2026, 2, 1), dt.date(2026, 3, 2)]
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "tranche.toml").write_text(f'[connections.lake]\nurl = "parquet://{tmp_path}"\n')
    (tmp_path / "home" / "tranche.toml").chmod(0o600)
    pq.write_table(pa.table(columns), tmp_path / "sales.parquet")
    monkeypatch.setenv("TRANCHE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    command = ["connect", "lake", "sales", "--project", "acme", "--slicer", "sales"]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == (0 if has_date else 1)
    sentence = (
        "2026-02-01 to 2026-03-02" if has_date else "'day' may be one: make it so in the table, or in a view"
    )
    assert sentence in done.output


def test_rows_are_not_imported_beside(tmp_path: Path, url: str) -> None:
    """What says where rows lie in a database takes none from files."""
    warehouse = Warehouse(tmp_path / "warehouse")
    definition = connected(DEFINITION, "sales")
    assert definition.source == RowSource(connection=CONNECTION, table="sales")
    with (
        pytest.raises(ImportRefused, match="stay in the connection"),
        warehouse.writer("p", "s", definition) as writer,
    ):
        writer.write(ROWS)
