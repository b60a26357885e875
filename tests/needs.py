"""What a test needs besides this process, found in its fixtures, parameters and the functions that it calls.

Each need is a mark, and so is what makes a test long: drawing at random, the reference engine. `make test`
leaves out all tests that have a mark. While a test without a need runs, starting a process or listening at a
port is an error, so that none is forgotten.
"""

import inspect
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

TESTS = str(Path(__file__).parent)
NIGHTLY = bool(os.environ.get("NIGHTLY"))
"""Whether all engines and all cases run, as before a release; else some, and other ones each day."""
PART = 10
NAMES = {
    "browser": {"sync_playwright"},
    "database": {"Postgres"},
    "process": {"subprocess", "get_context", "uvicorn", "socket", "listening", "ThreadingHTTPServer"},
    "spark": {"spark_server"},
}
PARAMETERS = {
    "browser": set[str](),
    "database": {"postgresql", "clickhouse", "duckdb", "sqlite"},
    "process": {"socket", "remote", "standin"},
    "spark": {"spark"},
}
DRAWS = {"DRAWS", "HISTORIES", "NOISES", "STARTS", "USER_SAMPLES"}
"""Constants of tests that say how often they draw."""
REFERENCE = "pandas"
LONG = ("random", "reference")
FORBIDDEN = ("subprocess.Popen", "socket.bind")
FONT_LISTS = ("fc-list", "system_profiler")  # run by matplotlib, once per machine
QUICK: list[str] = []


def marks(item: pytest.Function) -> list[str]:
    """The marks of a test: what it needs, and what makes it long."""
    fixtures = item._fixtureinfo.name2fixturedefs.values()
    functions = [item.function, *(fixture.func for several in fixtures for fixture in several)]
    names = {name for function in functions for name in _all_names(function)}
    callspec = getattr(item, "callspec", None)
    values = callspec.params.values() if callspec else ()
    parts = {
        part
        for value in values
        for part in (value if isinstance(value, tuple) else [value])
        if isinstance(part, str)
    }
    found_marks = [mark for mark in NAMES if names & NAMES[mark] or parts & PARAMETERS[mark]]
    if getattr(item.obj, "is_hypothesis_test", False) or names & DRAWS:
        found_marks.append("random")
    return [*found_marks, "reference"] if REFERENCE in parts else found_marks


def draws(most: int) -> int:
    """How many examples a test draws: all of them at night, a tenth with each commit, and at least two."""
    return most if NIGHTLY else max(most // PART, 2)


def left_for_the_night(items: list[pytest.Item], day: int) -> set[pytest.Item]:
    """All but a tenth of the cases of each test that draws at random, at least one; other ones each day."""
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("random"):
            cases[item.nodeid.partition("[")[0]].append(item)
    return {
        item
        for group in cases.values()
        for place, item in enumerate(group)
        if (place + day) % min(PART, len(group))
    }


@cache
def _all_names(function: Any) -> frozenset[str]:
    """The names in the code of this function and of those functions of the tests that it calls."""
    in_code: set[str] = set()
    waiting, known = [function], set()
    while waiting:
        fixture = inspect.unwrap(waiting.pop())
        if isinstance(fixture, type):
            waiting += [method for method in vars(fixture).values() if isinstance(method, FunctionType)]
        elif isinstance(fixture, FunctionType) and fixture not in known:
            known.add(fixture)
            names = set(_names(fixture.__code__))
            in_code |= names
            waiting += [called for called in _called(fixture, names) if _is_ours(called)]
    return frozenset(in_code)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _called(function: FunctionType, names: set[str]) -> Iterator[Any]:
    for name in names & function.__globals__.keys():
        called = function.__globals__[name]
        yield called
        if isinstance(called, ModuleType) and _is_ours(called):
            yield from (vars(called)[inner] for inner in names & vars(called).keys())


def _is_ours(thing: Any) -> bool:
    module = thing if isinstance(thing, ModuleType) else sys.modules.get(getattr(thing, "__module__", ""))
    return str(getattr(module, "__file__", "")).startswith(TESTS)


def watch(item: pytest.Item) -> None:
    """From now on this test runs."""
    QUICK[:] = [] if any(item.get_closest_marker(mark) for mark in NAMES) else [item.nodeid]


def unwatch() -> None:
    """The test is over."""
    QUICK.clear()


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if QUICK and event in FORBIDDEN and arguments[0] not in FONT_LISTS:
        raise AssertionError(f"{QUICK[0]} has no mark, and does {event} {arguments[:2]}: see tests/needs.py")


sys.addaudithook(_refuse)
