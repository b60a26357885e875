"""For random slicers and questions, the service's exact answers equal DuckDB's over the same rows."""

import datetime as dt
import itertools
import json
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from duck import Duck, Line
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st
from random_slicers import RandomSlicer, questions, slicers

from lib.people import Person
from lib.reporting.answers import Audience
from lib.reporting.engines import ENGINES
from lib.reporting.service import ReportingService
from lib.reporting.warehouse import Warehouse
from lib.settings import Settings
from lib.tokens.access import Access
from lib.wire.deadline import Deadline

QUESTIONS = 4
ADDITIVE = ("spend", "gain", "records", "present")
Ask = Callable[[dict[str, Any]], Audience]


@pytest.fixture(scope="module", params=ENGINES)
def stored(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[RandomSlicer], Ask]:
    """Puts a slicer into a warehouse; what comes back asks the service about it. Once per engine."""
    folder = tmp_path_factory.mktemp("property")
    home = Settings(home=folder, engine=request.param, throttle_questions=10**6)
    access = Access.of(home)
    access.people.add(Person("ada", "Ada", None, "admin"), "a password")
    token = access.issue("ada", home.reporting_service, "test", dt.timedelta(hours=1))
    warehouse = Warehouse(home.warehouse)
    service = ReportingService(warehouse, access, home)
    numbers = itertools.count()

    def store(slicer: RandomSlicer) -> Ask:
        where = {"project_name": "p", "slicer_name": f"s{next(numbers)}"}
        with warehouse.writer(*where.values(), slicer.definition, slicer.mappings) as writer:
            writer.write(slicer.table)
            writer.commit("random", "0")
        return lambda asked: service.audience(
            service.admit(json.dumps(asked | where | {"token": token}).encode()), Deadline()
        )

    return store


@settings(
    max_examples=100,
    deadline=None,
    phases=set(Phase) - {Phase.explain},
    suppress_health_check=[HealthCheck.too_slow],
)
@given(data=st.data())
def test_the_engine_equals_duckdb(stored: Callable[[RandomSlicer], Ask], data: st.DataObject) -> None:
    """Rows, their order, figures, shares, totals, records found and dates are those of SQL."""
    slicer = data.draw(slicers(), "slicer")
    ask, duck = stored(slicer), Duck(slicer)
    for _ in range(QUESTIONS):
        asked = data.draw(questions(slicer), "question")
        answer = ask(asked)
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


def numbers(row: pd.Series) -> Line:
    """The cells of a row; null where nothing is there."""
    return {str(name): None if pd.isna(cell) else float(cell) for name, cell in row.items()}


def shares(line: Line, total: Line) -> Line:
    """The additive figures in percent of the total; null where that is zero."""
    return {name: 100 * line[name] / total[name] if total[name] else None for name in ADDITIVE}


def same(found: Line, expected: Line) -> None:
    """Fail unless the figures are equal, to rounding, and null where the others are."""
    assert list(found) == list(expected)
    assert {name for name in found if found[name] is None} == {
        name for name in found if expected[name] is None
    }
    present = {name: value for name, value in found.items() if value is not None}
    assert present == pytest.approx({name: expected[name] for name in present}, rel=1e-12, abs=1e-12)
