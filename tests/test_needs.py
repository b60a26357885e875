"""The quick tests leave out what needs more than this process or takes long, found without a mark by hand."""

import os
import re

import pytest
from conftest import ROOT, desk_over
from hypothesis import given
from hypothesis import strategies as st
from needs import LONG, NAMES, marks


def _by_a_helper() -> None:
    desk_over(ROOT)


def uses_a_helper() -> None:
    """Uses a function of the tests that starts a desk."""
    _by_a_helper()


def _item(request: pytest.FixtureRequest, function: object) -> pytest.Function:
    return pytest.Function.from_parent(request.node.parent, name="made", callobj=function)


def test_quick_tests_have_no_mark() -> None:
    """`make test` leaves out each of the marks."""
    chosen = re.search(r'-m "not \((.*?)\)"', (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert chosen is not None
    assert chosen[1].split(" or ") == [*sorted(NAMES), *LONG]


def test_what_a_helper_needs_a_test_needs(request: pytest.FixtureRequest) -> None:
    """A function that starts a process marks the tests that come to it by way of others."""
    assert marks(_item(request, uses_a_helper)) == ["process"]


def test_what_a_fixture_needs_a_test_needs(request: pytest.FixtureRequest) -> None:
    """A fixture marks the tests that have it, and a test with neither has no mark."""

    def with_database(postgres: str) -> None:
        raise NotImplementedError(postgres)

    def with_nothing(tmp_path: object) -> None:
        raise NotImplementedError(tmp_path)

    assert set(marks(_item(request, with_database))) == {"database", "process"}
    assert marks(_item(request, with_nothing)) == []


def test_a_test_that_draws_is_random(request: pytest.FixtureRequest) -> None:
    """A test with examples drawn at random has a mark of its own."""

    @given(st.integers())
    def with_examples(number: int) -> None:
        raise NotImplementedError(number)

    assert marks(_item(request, with_examples)) == ["random"]


def test_a_quick_test_starts_no_process() -> None:
    """A process that a test without marks starts is an error that names the test."""
    with pytest.raises(AssertionError, match="test_a_quick_test_starts_no_process has no mark"):
        os.popen("true")  # noqa: S605
