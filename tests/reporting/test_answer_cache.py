"""Kept answers: within a bound of bytes, computed once for many, never from a failure."""

import threading
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from lib.reporting.answer_cache import AnswerCache, size_of
from lib.reporting.answers import Audience, Total
from lib.wire.deadline import Deadline
from lib.wire.errors import Abandoned, DeadlineExceeded

SECONDS = 20


def answer(rows: int) -> Audience:
    """An answer of so many rows."""
    numbers = pd.DataFrame({"imps": np.arange(float(rows))})
    names = pd.DataFrame({"country": [f"country {place}" for place in range(rows)]}, dtype="str")
    return Audience(names, numbers, numbers, Total({"imps": 1.0}, rows))


def lasting(rows: int) -> Callable[[], tuple[Audience, bool]]:
    """Computes an answer of so many rows, which may be kept."""
    return lambda: (answer(rows), True)


def test_an_answer_is_kept() -> None:
    """The same key gives the very same answer, another key another."""
    cache = AnswerCache(10**6, size_of)
    first = cache.get("a", lasting(1), Deadline())
    assert cache.get("a", lasting(1), Deadline()) is first
    assert cache.get("b", lasting(1), Deadline()) is not first


def test_the_bound_holds() -> None:
    """Kept answers never take more than the bound; those used longest ago go first."""
    size = size_of(answer(1000))
    cache = AnswerCache(3 * size, size_of)
    kept = [cache.get(key, lasting(1000), Deadline()) for key in "abc"]
    assert cache.get("a", lasting(1000), Deadline()) is kept[0]
    for key in "def":
        cache.get(key, lasting(1000), Deadline())
        assert cache.bytes <= 3 * size
        assert cache.get("a", lasting(1000), Deadline()) is kept[0]
    assert cache.get("b", lasting(1000), Deadline()) is not kept[1]


def test_an_answer_larger_than_the_bound() -> None:
    """An answer that is larger than the bound is given and not kept, and drives no other out."""
    cache = AnswerCache(size_of(answer(1000)), size_of)
    small = cache.get("small", lasting(1), Deadline())
    large = cache.get("large", lasting(5000), Deadline())
    assert cache.get("large", lasting(5000), Deadline()) is not large
    assert cache.get("small", lasting(1), Deadline()) is small


def test_sizes_are_those_of_the_content() -> None:
    """An answer's size is at least that of its numbers and texts."""
    rows = 10_000
    texts = sum(len(f"country {place}") for place in range(rows))
    assert 2 * 8 * rows + texts <= size_of(answer(rows)) < 20 * (2 * 8 * rows + texts)


def test_nothing_is_kept_of_what_may_change() -> None:
    """An answer that a deadline cut short is not kept."""
    cache = AnswerCache(10**6, size_of)
    first = cache.get("a", lambda: (answer(1), False), Deadline())
    assert cache.get("a", lasting(1), Deadline()) is not first


def test_at_once() -> None:
    """Of several who ask the same at once one computes, and all have that answer."""
    cache, begun, may_end, computed = AnswerCache(10**6, size_of), threading.Event(), threading.Event(), []

    def compute() -> tuple[Audience, bool]:
        begun.set()
        assert may_end.wait(SECONDS)
        computed.append(answer(1))
        return computed[-1], True

    audiences: list[Audience] = []
    threads = [
        threading.Thread(target=lambda: audiences.append(cache.get("a", compute, Deadline())))
        for _ in range(4)
    ]
    threads[0].start()
    assert begun.wait(SECONDS)
    for thread in threads[1:]:
        thread.start()
    may_end.set()
    for thread in threads:
        thread.join(SECONDS)
    assert len(computed) == 1
    assert [audience is computed[0] for audience in audiences] == [True] * 4


def test_a_failure_is_its_own() -> None:
    """Who waits for somebody whose connection closes computes the answer; the failure is not kept."""
    cache, begun, may_end = AnswerCache(10**6, size_of), threading.Event(), threading.Event()

    def fail() -> tuple[Audience, bool]:
        begun.set()
        assert may_end.wait(SECONDS)
        raise Abandoned("gone")

    def first() -> None:
        with pytest.raises(Abandoned):
            cache.get("a", fail, Deadline())

    audiences: list[Audience] = []
    threads = [
        threading.Thread(target=first),
        threading.Thread(target=lambda: audiences.append(cache.get("a", lasting(7), Deadline()))),
    ]
    threads[0].start()
    assert begun.wait(SECONDS)
    threads[1].start()
    may_end.set()
    for thread in threads:
        thread.join(SECONDS)
    assert [len(audience) for audience in audiences] == [7]


def test_who_waits_has_a_deadline_of_their_own() -> None:
    """Whoever waits for somebody else's computation stops at their own deadline."""
    cache, begun, may_end = AnswerCache(10**6, size_of), threading.Event(), threading.Event()

    def slow() -> tuple[Audience, bool]:
        begun.set()
        assert may_end.wait(SECONDS)
        return answer(1), True

    thread = threading.Thread(target=cache.get, args=("a", slow, Deadline()))
    thread.start()
    assert begun.wait(SECONDS)
    with pytest.raises(DeadlineExceeded):
        cache.get("a", lasting(1), Deadline(0))
    may_end.set()
    thread.join(SECONDS)
