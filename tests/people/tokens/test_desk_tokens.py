"""The tokens with which the desk calls the APIs of its own process."""

from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest
from clocks import Clock

from lib.people import Person
from lib.people.tokens.desk_tokens import DeskTokens
from lib.reporting.client import Reporting
from lib.reporting.models import InfoQuery
from lib.serving import connect


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


@pytest.fixture
def desk_tokens(installation: connect.Installation, clock: Clock) -> DeskTokens:
    """The desk's tokens, over the shared data directory."""
    return DeskTokens(installation.access, installation.settings, clock)


@pytest.fixture
def manager(installation: connect.Installation) -> Person:
    """The manager."""
    return installation.people.get("manager")


def test_a_page_may_stand_open_for_hours(
    desk_tokens: DeskTokens, clock: Clock, manager: Person, embedded: httpx.Client
) -> None:
    """A client that was kept asks with a fresh token once half of the last one's life is over."""
    credential = desk_tokens.of(manager, "reporting")
    kept, first = Reporting(embedded, credential), credential.token()
    clock.now += timedelta(minutes=29)
    assert credential.token() == first
    clock.now += timedelta(hours=5)
    assert kept.info(InfoQuery(project_name="demo", slicer_name="delivery")).key_fields
    assert credential.token() != first


def test_refused_for_good(desk_tokens: DeskTokens, manager: Person) -> None:
    """A refused token is not exchanged: somebody has taken it away."""
    credential = desk_tokens.of(manager, "deals")
    assert credential.renew(credential.token()) is None


def test_its_own_tokens_are_known(
    desk_tokens: DeskTokens, manager: Person, token: Callable[[str], str]
) -> None:
    """The desk knows the tokens that it made itself from those of scripts."""
    assert desk_tokens.is_own(desk_tokens.token(manager, "deals"))
    assert not desk_tokens.is_own(token("manager"))
