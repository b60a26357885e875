"""Every test of this folder that asks an API runs embedded, and again over a socket or another engine.

Over a socket run the tests of the service itself, which are those of its verbs too. Of the engines that ask a
database one runs with each commit, and all of them with NIGHTLY. The reference engine answers in
test_property.py.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

import httpx
import pytest
from databases import missing_for_clickhouse
from needs import NIGHTLY
from spark_server import missing_for_spark
from starlette.types import ASGIApp

from conformance.transports import TRANSPORTS

Reach = Callable[[ASGIApp], AbstractContextManager[httpx.Client]]


class Way(NamedTuple):
    """A transport, and the engine behind the service."""

    transport: str
    engine: str


DATABASES = {
    "postgresql": "rows_database",
    "duckdb": "rows_folder",
    "clickhouse": "clickhouse_database",
    "spark": "spark_folder",
    "sqlite": "sqlite_file",
}
"""Engines that ask a database, and the fixture with its URL; every run asks the first, NIGHTLY all."""
WITHOUT_LISTS = {"sqlite"}
"""Engines without lists, of columns or of parts of a text: tests that need one are skipped for them."""
MISSING = {"clickhouse": missing_for_clickhouse(), "spark": missing_for_spark()}
OTHERS = tuple(engine for engine in DATABASES if not MISSING.get(engine))[: None if NIGHTLY else 1]
WAYS = [
    *(Way(transport, "resident") for transport in TRANSPORTS),
    *(Way("embedded", engine) for engine in OTHERS),
]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Samples, the service, and by commit what is costly, are tested over the resident engine alone."""
    unfit = {item for item in items if any(item.get_closest_marker(mark) for mark in _unfit(item.name))}
    unfit |= {
        item for item in items if "socket-resident" in item.name and not item.get_closest_marker("service")
    }
    config.hook.pytest_deselected(items=list(unfit))
    items[:] = [item for item in items if item not in unfit]


def _unfit(name: str) -> tuple[str, ...]:
    """The marks of tests that are not for the engine in this name."""
    engine = next((engine for engine in OTHERS if f"embedded-{engine}" in name), None)
    if engine is None:
        return ()
    marks = ("sampling", "service") if NIGHTLY else ("sampling", "service", "costly")
    return (*marks, "lists") if engine in WITHOUT_LISTS else marks


@pytest.fixture(scope="session", params=WAYS, ids="-".join)
def way(request: pytest.FixtureRequest) -> Way:
    """One way after another."""
    parameter: Way = request.param
    return parameter


@pytest.fixture(scope="session")
def reach(way: Way) -> Reach:
    """How to get from an application to a client of it."""
    return TRANSPORTS[way.transport]
