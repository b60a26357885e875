"""Threads that callers share: each has a share of them, and takes turns with the others."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

import pytest

from lib.wire import fair
from lib.wire.fair import FairPool

SECONDS = 30


@contextmanager
def busy(pool: FairPool, caller: str, times: int) -> Iterator[list[Future[None]]]:
    """The caller's work, which does not end before the block does."""
    let_go = threading.Event()
    try:
        yield [pool.submit(caller, lambda: let_go.wait(SECONDS) and None) for _ in range(times)]
    finally:
        let_go.set()


def test_a_result_and_a_failure() -> None:
    """What work returns or raises reaches whoever submitted it."""
    pool = FairPool(2, 1, "test")
    assert pool.submit("ada", lambda: 3).result(SECONDS) == 3
    with pytest.raises(ZeroDivisionError):
        pool.submit("ada", lambda: 1 / 0).result(SECONDS)


def test_one_caller_leaves_threads_to_others() -> None:
    """However much somebody asks, it runs on their share of the threads; another's work is done meanwhile."""
    pool = FairPool(3, 2, "test")
    with busy(pool, "ada", 50) as working:
        assert pool.submit("bob", lambda: "done").result(SECONDS) == "done"
        assert sum(future.running() for future in working) <= 2
    assert [future.result(SECONDS) for future in working] == [None] * 50


def test_callers_take_turns() -> None:
    """Of work that waits, each caller's first comes before anybody's second."""
    pool, order = FairPool(1, 1, "test"), []
    with busy(pool, "first", 1):
        waiting = [
            pool.submit(caller, lambda caller=caller: order.append(caller))
            for caller in ("ada", "ada", "ada", "bob", "cid", "bob")
        ]
    for future in waiting:
        future.result(SECONDS)
    assert order == ["ada", "bob", "cid", "ada", "bob", "ada"]


def test_cancelled_work_is_not_begun() -> None:
    """Work that is cancelled while it waits never runs, and holds up nothing."""
    pool, ran = FairPool(1, 1, "test"), []
    with busy(pool, "ada", 1):
        waiting = pool.submit("ada", lambda: ran.append(1))
        assert waiting.cancel()
    assert pool.submit("ada", lambda: "next").result(SECONDS) == "next"
    assert not ran


def test_threads_of_an_idle_pool_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool that nobody uses keeps no thread, and works when somebody does again."""
    monkeypatch.setattr(fair, "IDLE_SECONDS", 0.01)
    pool = FairPool(3, 3, "idle-test")
    with busy(pool, "ada", 3):
        threads = [thread for thread in threading.enumerate() if thread.name.startswith("idle-test")]
    for thread in threads:
        thread.join(SECONDS)
    assert threads
    assert not any(thread.is_alive() for thread in threads)
    assert pool.submit("ada", lambda: "done").result(SECONDS) == "done"
