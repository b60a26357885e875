"""Every test of this folder that asks an API runs once per transport."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import httpx
import pytest
from starlette.types import ASGIApp

from conformance.transports import TRANSPORTS

Reach = Callable[[ASGIApp], AbstractContextManager[httpx.Client]]


@pytest.fixture(scope="session", params=TRANSPORTS)
def reach(request: pytest.FixtureRequest) -> Reach:
    """How to get from an application to a client of it."""
    return TRANSPORTS[request.param]
