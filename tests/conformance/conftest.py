"""Every test of this folder that asks an API runs once per transport, and once more over the plain engine."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

import httpx
import pytest
from starlette.types import ASGIApp

from conformance.transports import TRANSPORTS

Reach = Callable[[ASGIApp], AbstractContextManager[httpx.Client]]


class Way(NamedTuple):
    """A transport, and the engine behind the service."""

    transport: str
    engine: str


WAYS = [*(Way(transport, "resident") for transport in TRANSPORTS), Way("embedded", "pandas")]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The plain engine never samples: tests of samples are not run over it."""
    unfit = [item for item in items if item.get_closest_marker("sampling") and "pandas" in item.name]
    config.hook.pytest_deselected(items=unfit)
    items[:] = [item for item in items if item not in unfit]


@pytest.fixture(scope="session", params=WAYS, ids="-".join)
def way(request: pytest.FixtureRequest) -> Way:
    """One way after another."""
    found: Way = request.param
    return found


@pytest.fixture(scope="session")
def reach(way: Way) -> Reach:
    """How to get from an application to a client of it."""
    return TRANSPORTS[way.transport]
