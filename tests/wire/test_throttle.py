"""The throttle: so many requests in any 60 seconds, for each caller."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Semaphore

import pytest
from clocks import Stopwatch

from lib import database
from lib.people.tokens.tally import Tally
from lib.wire.errors import Throttled
from lib.wire.throttle import CALLERS_BEFORE_A_SWEEP, OtherCounts, Throttle


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
    assert len(throttle._callers) == 2


class Others:
    """What another process tells: requests of so many seconds ago; None while it can't be asked."""

    def __init__(self) -> None:
        self.theirs: OtherCounts | None = ()
        self.told: list[int] = []

    def __call__(self, caller: object, count: int) -> OtherCounts | None:
        """Note what is told, and tell."""
        self.told += [count] if count and self.theirs is not None else []
        return self.theirs


def test_requests_of_other_processes_count(clock: Stopwatch) -> None:
    """What was admitted elsewhere in the last minute leaves room for the rest, until that minute is over."""
    others = Others()
    others.theirs = ((15.0, 2),)
    throttle = Throttle(3, clock, others)
    throttle.admit("ada")
    with pytest.raises(Throttled) as refused:
        throttle.admit("ada")
    assert refused.value.retry_after == 45
    others.theirs = ()
    clock.seconds += 45
    throttle.admit("ada")
    throttle.admit("ada")


def test_others_are_told_after_a_twentieth(clock: Stopwatch) -> None:
    """With a limit of 100 others hear of five requests at a time, of a small limit of each."""
    for limit, told in ((100, [5, 5]), (10, [1] * 10)):
        others = Others()
        throttle = Throttle(limit, clock, others)
        for _ in range(10):
            throttle.admit("ada")
        assert others.told == told


def test_requests_are_admitted_while_others_can_not_be_asked(clock: Stopwatch) -> None:
    """Without an answer a process counts its own; what it could not tell it tells afterwards."""
    others = Others()
    others.theirs = None
    throttle = Throttle(3, clock, others)
    throttle.admit("ada")
    throttle.admit("ada")
    others.theirs = ()
    throttle.admit("ada")
    assert sum(others.told) == 3
    with pytest.raises(Throttled):
        throttle.admit("ada")


def test_a_caller_exchanges_one_count_at_a_time(clock: Stopwatch) -> None:
    """Eight threads of one caller never exchange side by side, so that none admits on an older answer."""
    inside: list[int] = []
    overlaps: list[int] = []

    def share(caller: object, count: int) -> OtherCounts:
        inside.append(count)
        for _ in range(1_000):
            os.sched_yield()
        overlaps.append(len(inside))
        inside.pop()
        return ()

    throttle = Throttle(1_000, clock, share)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(throttle.admit, ["ada"] * 800))
    assert set(overlaps) == {1}


def test_two_throttles_over_one_database(database_url: str, clock: Stopwatch) -> None:
    """Two processes admit the limit together, and at most one more; other throttles are not concerned."""
    engines = [database.engine(database_url) for _ in range(2)]
    database.migrate(engines[0])
    first, other = (Throttle(6, clock, Tally(engine, "reads")) for engine in engines)
    writes = Throttle(6, clock, Tally(engines[0], "writes"))
    admitted = 0
    for number in range(20):
        try:
            (first, other)[number % 2].admit(7)
            admitted += 1
        except Throttled:
            continue
    assert admitted in (6, 7)
    for _ in range(6):
        writes.admit(7)
    for engine in engines:
        engine.dispose()


def test_requests_do_not_wait_for_the_exchange_before_the_next_one(clock: Stopwatch) -> None:
    """With an executor a twentieth is admitted while another is sent; who comes then waits until it is."""
    others, sending = Others(), Semaphore(0)

    def share(caller: object, count: int) -> OtherCounts | None:
        if count:
            sending.acquire()
        return others(caller, count)

    with ThreadPoolExecutor(1) as executor, ThreadPoolExecutor(1) as callers:
        throttle = Throttle(100, clock, share, executor)
        for _ in range(9):
            throttle.admit("ada")
        assert others.told == []
        tenth = callers.submit(throttle.admit, "ada")
        assert not tenth.done()
        sending.release(2)
        tenth.result()
    assert others.told == [5, 5]


def test_counting_goes_on_without_the_database(
    tmp_path: Path, clock: Stopwatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where the tables can't be read the limit is that of the process, and the log says so."""
    engine = database.engine(f"sqlite:///{tmp_path}/tranche.db")
    throttle = Throttle(2, clock, Tally(engine, "reads"))
    throttle.admit("ada")
    throttle.admit("ada")
    with pytest.raises(Throttled):
        throttle.admit("ada")
    assert "could not be shared" in caplog.text
    engine.dispose()
