"""Values of a session are read once in some seconds, and stay readable while their service fails."""

import pytest

from lib.figures.caches import SessionCache
from lib.ui.kit import retry
from lib.wire.errors import NotFound, ServiceProblem

FIRST, SECOND = ("viewer", 1), ("viewer", 2)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """The seconds."""
        return self.now


class Service:
    """A service that answers with the number of its calls, or fails."""

    def __init__(self) -> None:
        self.calls = 0
        self.error: Exception | None = None

    def __call__(self) -> int:
        """Answer a call."""
        self.calls += 1
        if self.error is not None:
            raise self.error
        return self.calls


@pytest.fixture
def clock() -> Clock:
    """At second 0."""
    return Clock()


@pytest.fixture
def service() -> Service:
    """A service that works."""
    return Service()


def test_a_failure_serves_the_value_before(clock: Clock, service: Service) -> None:
    """A failure that may pass gives the old value with its trouble, to its person alone."""
    cache = SessionCache[int](15, 20, clock, serves_stale=retry.is_wanted_since)
    cache.get(FIRST, service)
    clock.now, service.error = 16, ServiceProblem("down")
    assert cache.get(FIRST, service) == 1
    assert cache.trouble("viewer") is service.error
    assert cache.trouble("manager") is None
    cache.get(FIRST, service)
    assert service.calls == 2, "the service is left alone for as long as a value lives"


def test_a_failure_without_a_value_before(clock: Clock, service: Service) -> None:
    """Where nothing was read before, the failure is raised."""
    cache = SessionCache[int](15, 20, clock, serves_stale=retry.is_wanted_since)
    service.error = ServiceProblem("down")
    with pytest.raises(ServiceProblem):
        cache.get(FIRST, service)


def test_a_final_error_is_raised(clock: Clock, service: Service) -> None:
    """An error that will not pass is raised, whatever was read before."""
    cache = SessionCache[int](15, 20, clock, serves_stale=retry.is_wanted_since)
    cache.get(FIRST, service)
    clock.now, service.error = 16, NotFound("gone")
    with pytest.raises(NotFound):
        cache.get(FIRST, service)


@pytest.mark.parametrize(("fails_together", "calls"), [(False, 4), (True, 3)])
def test_one_failure_for_all(clock: Clock, service: Service, fails_together: bool, calls: int) -> None:
    """Where values fail together, the second is not asked for in vain."""
    cache = SessionCache[int](
        15, 20, clock, serves_stale=retry.is_wanted_since, fails_together=fails_together
    )
    cache.get(FIRST, service)
    cache.get(SECOND, service)
    clock.now, service.error = 16, ServiceProblem("down")
    assert (cache.get(FIRST, service), cache.get(SECOND, service)) == (1, 2)
    assert service.calls == calls


def test_trouble_ends_for_all(clock: Clock, service: Service) -> None:
    """One value that is read again ends the trouble of all; the others are read anew."""
    cache = SessionCache[int](15, 20, clock, serves_stale=retry.is_wanted_since)
    cache.get(FIRST, service)
    clock.now, service.error = 16, ServiceProblem("down")
    cache.get(FIRST, service)
    service.error = None
    cache.get(SECOND, service)
    assert cache.trouble("viewer") is None
    assert cache.get(FIRST, service) == 4
