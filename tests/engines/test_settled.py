"""The figure that an answer shows is what filters, orders, ties and exports its rows, over any engine."""

import csv
import datetime as dt
import io
import itertools
import json
import operator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from connected import CONNECTION, connected, publish

from lib.engines import ENGINES
from lib.engines.connected_slicers import ConnectedSlicers
from lib.people import Person
from lib.people.tokens.access import Access
from lib.reporting.answers import Audience
from lib.reporting.service import ReportingService
from lib.settings import Settings
from lib.slicers.definition import Definition
from lib.slicers.warehouse import Warehouse

DEFINITION = Definition.model_validate(
    {
        "time": {"column": "day"},
        "key_fields": [{"name": "site"}],
        "data_fields": [{"name": "cost"}, {"name": "imps"}, {"name": "cpm", "formula": "1000 * cost / imps"}],
    }
)
COMPARE = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
SITES = 40


def rows() -> pa.Table:
    """Amounts in hundredths of cents; sites 2n and 2n + 1 have the same ones, in opposite orders."""
    draw = np.random.default_rng(40)
    records = []
    for pair in range(SITES // 2):
        costs = (draw.integers(1, 10**6, 200) / 10_000).tolist()
        for site, order in ((2 * pair, costs), (2 * pair + 1, costs[::-1])):
            records += [
                {
                    "time": dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
                    "site": f"s{site:02}",
                    "cost": cost,
                    "imps": 7.0,
                }
                for cost in order
            ]
    return pa.Table.from_pylist(records, schema=DEFINITION.schema())


@pytest.fixture(scope="module", params=[*ENGINES, "duckdb", "postgresql"])
def ask(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Asks the service about these rows, stored or in a database."""
    home = tmp_path_factory.mktemp("settled")
    url = f"parquet://{home}"
    if request.param == "postgresql":
        url = str(request.getfixturevalue("rows_database"))
    settings = Settings(home=home, connections={CONNECTION: {"url": url}}, throttle_questions=10**6)
    access, over = Access.of(settings), ConnectedSlicers(settings.connection_urls)
    access.people.add(Person("ada", "Ada", None, "admin"), "a password")
    warehouse = Warehouse(settings.warehouse, over.current)
    if request.param in ENGINES:
        engine = ENGINES[request.param](settings.engine_threads)
        with warehouse.writer("p", "s", DEFINITION) as writer:
            writer.write(rows())
            writer.commit("made by a test", "0")
    else:
        engine = None
        publish(rows(), DEFINITION, url, "settled")
        warehouse.connect("p", "s", connected(DEFINITION, "settled"))
    service = ReportingService(warehouse, access, settings, engine, over)
    token = access.issue("ada", settings.reporting_service, "test", dt.timedelta(hours=1))
    usual = {"token": token, "project_name": "p", "slicer_name": "s", "split_by": ["site"]}
    usual |= {"start_date": "2026-01-01", "end_date": "2026-01-01"}

    def asking(**fields: Any) -> Audience | list[list[str]]:
        request = service.admit(json.dumps(usual | fields).encode())
        if "export_format" not in fields:
            return service.audience(request, service.deadline())
        file = service.export(request, service.deadline()).content
        return list(csv.reader(io.TextIOWrapper(file, "utf-8", newline="")))

    return asking


def figures(answer: Audience, field: str) -> dict[str, float]:
    """A data field by site, in the order of the answer."""
    return dict(zip(answer.names["site"], answer.values[field].tolist(), strict=True))


def test_a_sum_is_the_decimal_number(ask: Any) -> None:
    """Each sum is that of the decimal numbers, whatever float64 makes of adding them up in some order."""
    table, exact = rows(), dict[str, int]()
    for site, cost in zip(table["site"].to_pylist(), table["cost"].to_pylist(), strict=True):
        exact[site] = exact.get(site, 0) + round(cost * 10_000)
    assert figures(ask(), "cost") == {site: total / 10_000 for site, total in exact.items()}


@pytest.mark.parametrize("field", ["cost", "cpm"])
@pytest.mark.parametrize("match", COMPARE)
def test_a_filter_compares_what_is_shown(ask: Any, match: str, field: str) -> None:
    """By the figure of any row: above it, from it on, below it and up to it are what the answer shows."""
    shown = figures(ask(), field)
    for value in sorted(set(shown.values()))[::5]:
        expected = {site for site, figure in shown.items() if COMPARE[match](figure, value)}
        data_filters = [{"name": field, "match": match, "value": value}]
        assert set(figures(ask(data_filters=data_filters), field)) == expected
        lines = ask(data_filters=data_filters, export_format="csv", full_digits=1)
        assert {line[0] for line in lines[1:]} == expected


@pytest.mark.parametrize("field", ["cost", "cpm"])
@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_ties_are_what_shows_the_same(ask: Any, field: str, direction: str) -> None:
    """Rows with the same figure are ordered by name, in answers and in files, up and down."""
    order_by = [{"name": field, "direction": direction}]
    shown = figures(ask(order_by=order_by), field)
    sign = 1 if direction == "asc" else -1
    assert list(shown) == sorted(shown, key=lambda site: (sign * shown[site], site))
    ties = [first for first, second in itertools.pairwise(shown.values()) if first == second]
    assert len(ties) == SITES // 2
    lines = ask(order_by=order_by, export_format="csv", full_digits=1)
    assert [line[0] for line in lines[1:]] == list(shown)
    top = ask(order_by=order_by, limit=5)
    assert list(figures(top, field)) == list(shown)[:5]
