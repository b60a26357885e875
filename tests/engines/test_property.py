"""For random slicers and questions, the service's exact answers equal DuckDB's over the same rows."""

import datetime as dt
import itertools
import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd
import pytest
from connected import CONNECTION, connected, publish
from duck import Duck, Line
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st
from needs import draws
from random_slicers import RandomSlicer, questions, slicers

from lib.engines import ENGINES
from lib.engines.connected_slicers import ConnectedSlicers
from lib.engines.sums import Engine
from lib.people import Person
from lib.people.tokens.access import Access
from lib.reporting.answers import Audience
from lib.reporting.answers.records import RecordTable
from lib.reporting.service import ReportingService
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse
from lib.wire.deadline import Deadline

QUESTIONS = 4
UNTHROTTLED: dict[str, Any] = {"throttle_questions": 10**6}
UNHURRIED: dict[str, Any] = {
    "deadline": None,
    "phases": set(Phase) - {Phase.explain},
    "suppress_health_check": [HealthCheck.too_slow],
}
ADDITIVE = ("spend", "gain", "records", "present")
RECORD_COLUMNS = ("granularity_day", "text", "code", "number", "spend", "gain", "mean", "records", "kinds")


class Asking(NamedTuple):
    """What asks the service about a slicer: for figures, and for records."""

    audience: Callable[[dict[str, Any]], Audience]
    records: Callable[[dict[str, Any]], RecordTable]


Store = Callable[[RandomSlicer], Asking]


@pytest.fixture(scope="module", params=ENGINES)
def stored(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Puts a slicer into a warehouse; what comes back asks the service about it. Once per engine."""
    settings = Settings(home=tmp_path_factory.mktemp("property"), **UNTHROTTLED)
    house = _House(settings, ENGINES[request.param](settings.engine_threads))

    def store(slicer: RandomSlicer) -> Asking:
        name = next(house.names)
        with house.warehouse.writer("p", name, slicer.definition, slicer.mappings) as writer:
            writer.write(slicer.table)
            writer.commit("random", "0")
        return house.asking(name)

    return store


@pytest.fixture(scope="module")
def connected_slicers(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The same for slicers over tables in a folder of Parquet files."""
    folder = tmp_path_factory.mktemp("property")
    url = f"parquet://{folder}"
    house = _House(Settings(home=folder, connections={CONNECTION: {"url": url}}, **UNTHROTTLED))

    def store(slicer: RandomSlicer) -> Asking:
        name = next(house.names)
        publish(slicer.source, slicer.definition, url, name)
        house.warehouse.connect("p", name, connected(slicer.definition, name), slicer.mappings)
        return house.asking(name)

    return store


class _House:
    """A service, its warehouse, and names for slicers."""

    def __init__(self, home: Settings, engine: Engine | None = None) -> None:
        access, over = Access.of(home), ConnectedSlicers(home.connection_urls)
        access.people.add(Person("ada", "Ada", None, "admin"), "a password")
        self._token = access.issue("ada", home.reporting_service, "test", dt.timedelta(hours=1))
        self.warehouse = Warehouse(home.warehouse, over.current)
        self._service = ReportingService(self.warehouse, access, home, engine, over)
        self.names = (f"s{number}" for number in itertools.count())

    def asking(self, name: str) -> Asking:
        """What asks about the slicer of that name."""
        where = {"project_name": "p", "slicer_name": name, "token": self._token}

        def ask(asked: dict[str, Any]) -> Audience:
            return self._service.audience(self._service.admit(json.dumps(asked | where).encode()), Deadline())

        def records(asked: dict[str, Any]) -> RecordTable:
            return self._service.records(self._service.admit(json.dumps(asked | where).encode()), Deadline())

        return Asking(ask, records)


@settings(max_examples=draws(30), **UNHURRIED)
@given(data=st.data())
def test_the_engine_equals_duckdb(stored: Store, data: st.DataObject) -> None:
    """Rows, their order, figures, shares, totals, records found and dates are those of SQL."""
    agree(stored, data)


@settings(max_examples=draws(10), **UNHURRIED)
@given(data=st.data())
def test_a_connected_slicer_equals_duckdb(connected_slicers: Store, data: st.DataObject) -> None:
    """The same where the rows stay in a database, whatever texts they hold."""
    agree(connected_slicers, data)


def agree(store: Store, data: st.DataObject) -> None:
    """Ask some random questions about a random slicer, and compare each answer with that of SQL."""
    slicer = data.draw(slicers(), "slicer")
    ask, duck = store(slicer), Duck(slicer)
    for _ in range(QUESTIONS):
        asked = data.draw(questions(slicer), "question")
        answer = ask.audience(asked)
        rows, total, days = duck.ask(asked)
        event(f"fields {len(asked['split_by'])}, filters {len(asked['filters'])}, rows {min(len(rows), 3)}")
        assert list(answer.total.dates) == days
        assert len(answer) == answer.total.records_found == len(rows)
        same(answer.total.values, total)
        if asked["split_by"]:
            assert [*answer.names.itertuples(index=False, name=None)] == [name for name, _ in rows]
        for place, (_, line) in enumerate(rows):
            same(numbers(answer.values.iloc[place]), line)
            same(numbers(answer.percents.iloc[place]), shares(line, total))
        same_records(ask.records(asked_for_records(asked)), duck.records(RECORD_COLUMNS))


def asked_for_records(asked: dict[str, Any]) -> dict[str, Any]:
    """The request for the records that a question counts, the largest first."""
    same = {name: asked[name] for name in asked if name not in ("split_by", "order_by")}
    return same | {"columns": RECORD_COLUMNS, "order_by": [{"name": "spend"}]}


def same_records(table: RecordTable, expected: list[tuple[Any, ...]]) -> None:
    """Fail unless these are the same records, the largest first and those without a number last."""
    cells = table.frame.astype(object).where(table.frame.notna(), None)
    rows = [tuple(row) for row in cells.itertuples(index=False)]
    assert table.records_found == len(expected)
    assert sorted(map(repr, rows)) == sorted(map(repr, expected))
    spend = [row[RECORD_COLUMNS.index("spend")] for row in rows]
    assert spend == sorted(spend, key=lambda cell: math.inf if cell is None else -cell)


def numbers(row: pd.Series) -> Line:
    """The cells of a row; null where nothing is there."""
    return {str(name): None if pd.isna(cell) else float(cell) for name, cell in row.items()}


def shares(line: Line, total: Line) -> Line:
    """The additive figures in percent of the total; null where that is zero."""
    return {name: 100 * line[name] / total[name] if total[name] else None for name in ADDITIVE}


def same(actual: Line, expected: Line) -> None:
    """Fail unless the figures are equal, to rounding, and null where the others are."""
    assert list(actual) == list(expected)
    assert {name for name in actual if actual[name] is None} == {
        name for name in actual if expected[name] is None
    }
    present = {name: value for name, value in actual.items() if value is not None}
    assert present == pytest.approx({name: expected[name] for name in present}, rel=1e-12, abs=1e-12)
