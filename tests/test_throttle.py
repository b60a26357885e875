"""The throttle: so many requests in any 60 seconds, for each caller."""

import pytest
from clocks import Stopwatch

from lib.wire.errors import Throttled
from lib.wire.throttle import CALLERS_BEFORE_A_SWEEP, Throttle


@pytest.fixture
def clock() -> Stopwatch:
    """A clock that stands still."""
    return Stopwatch()


def test_so_many_a_minute(clock: Stopwatch) -> None:
    """The third of two is refused, says how long to wait, and after that wait it is admitted."""
    throttle = Throttle(2, clock)
    throttle.admit("ada")
    clock.seconds += 20.5
    throttle.admit("ada")
    with pytest.raises(Throttled) as refused:
        throttle.admit("ada")
    assert refused.value.retry_after == 40
    assert refused.value.headers == {"Retry-After": "40"}
    clock.seconds += 40
    throttle.admit("ada")
    with pytest.raises(Throttled):
        throttle.admit("ada")


def test_never_less_than_a_second(clock: Stopwatch) -> None:
    """Retry-After is a whole number above zero."""
    throttle = Throttle(1, clock)
    throttle.admit("ada")
    clock.seconds += 59.999
    with pytest.raises(Throttled) as refused:
        throttle.admit("ada")
    assert refused.value.retry_after == 1


def test_refusals_are_not_counted(clock: Stopwatch) -> None:
    """Who keeps asking is let in again all the same."""
    throttle = Throttle(1, clock)
    throttle.admit("ada")
    for _ in range(59):
        clock.seconds += 1
        with pytest.raises(Throttled):
            throttle.admit("ada")
    clock.seconds += 1
    throttle.admit("ada")


def test_callers_have_their_own(clock: Stopwatch) -> None:
    """One caller's requests are not another's; those who are long gone are forgotten."""
    throttle = Throttle(1, clock)
    for number in range(CALLERS_BEFORE_A_SWEEP):
        throttle.admit(number)
    clock.seconds += 61
    throttle.admit("ada")
    throttle.admit("bob")
    assert len(throttle._admitted) == 2
