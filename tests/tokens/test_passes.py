"""The tokens with which the desk calls the APIs of its own process."""

from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest
from clocks import Clock

from lib import connect
from lib.people import Person
from lib.reporting.client import Reporting
from lib.reporting.models import InfoQuery
from lib.tokens.passes import Passes


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


@pytest.fixture
def passes(installation: connect.Installation, clock: Clock) -> Passes:
    """Passes of the shared data directory."""
    return Passes(installation.access, installation.settings, clock)


@pytest.fixture
def manager(installation: connect.Installation) -> Person:
    """The manager."""
    return installation.people.get("manager")


def test_a_page_may_stand_open_for_hours(
    passes: Passes, clock: Clock, manager: Person, embedded: httpx.Client
) -> None:
    """A client that was kept asks with a fresh token once half of the last one's life is over."""
    credential = passes.of(manager, "reporting")
    kept, first = Reporting(embedded, credential), credential.token()
    clock.now += timedelta(minutes=29)
    assert credential.token() == first
    clock.now += timedelta(hours=5)
    assert kept.info(InfoQuery(project_name="demo", slicer_name="delivery")).key_fields
    assert credential.token() != first


def test_refused_for_good(passes: Passes, manager: Person) -> None:
    """A refused token is not exchanged: somebody has taken it away."""
    credential = passes.of(manager, "deals")
    assert credential.renew(credential.token()) is None


def test_its_own_tokens_are_known(passes: Passes, manager: Person, token: Callable[[str], str]) -> None:
    """The desk knows the tokens that it made itself from those of scripts."""
    assert passes.is_own(passes.token(manager, "deals"))
    assert not passes.is_own(token("manager"))
