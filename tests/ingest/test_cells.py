# ruff: noqa: E501
"""Cells: what text, numbers, whole numbers and elements are, and what is missing or wrong."""

import datetime as dt
import decimal
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.ingest import cells
from lib.ingest.cells import NotPlain


def bad(column: cells.Cells) -> list[int]:
    """The positions that could not be read."""
    return [] if column.bad is None else np.flatnonzero(column.bad).tolist()


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array(["a", "", None, " b "]), ["a", None, None, " b "]),
        (pa.array([True, False, None]), ["true", "false", None]),
        (pa.array([1, -2, None]), ["1", "-2", None]),
        (pa.array([1.0, 0.5, -0.0, math.nan, None, 1e15]), ["1", "0.5", "0", None, None, "1000000000000000"]),
        (pa.array([decimal.Decimal("5.00"), decimal.Decimal("5.25")]), ["5", "5.25"]),
        (pa.array([b"x", b"", None, b"\xff"]), ["x", None, None, "\ufffd"]),
        (pa.array(["a", None, "a"]).dictionary_encode(), ["a", None, "a"]),
        (pa.array(["a"], pa.large_string()), ["a"]),
        (pa.nulls(2), [None, None]),
        (pa.array([dt.date(2026, 1, 2)]), ["2026-01-02"]),
    ],
)
def test_text_of_any_column(values: pa.Array, texts: list[str | None]) -> None:
    """Values are as people write them; an empty text is missing."""
    column = cells.text(values)
    assert (column.type, column.to_pylist()) == (pa.string(), texts)


def test_lists_have_no_text() -> None:
    """A list is never silently joined."""
    with pytest.raises(NotPlain):
        cells.text(pa.array([["a"]]))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1.0), ("-1.5", -1.5), ("+5", 5.0), (" 2 ", 2.0), ("1e3", 1000.0), (".5", 0.5), ("5.", 5.0), ("007", 7.0),
        ("", None), ("  ", None), (None, None),
    ],
)  # fmt: skip
def test_numbers_are_read(text: str | None, number: float | None) -> None:
    """Numbers in all usual spellings; nothing and blanks are missing, not wrong."""
    column = cells.number(pa.array([text], pa.string()))
    assert (column.values.to_pylist(), column.bad) == ([number], None)


@pytest.mark.parametrize(
    "text", ["x", "1,5", "1 000", "0x10", "1_0", "nan", "inf", "-", "1e999", "١", "1e", "NULL", "--1"]
)
def test_what_is_no_number_is_reported(text: str) -> None:
    """Other texts are wrong, at their place, and the rest is read."""
    column = cells.number(pa.array(["1", text, None, "2"]))
    assert (column.values.to_pylist(), bad(column)) == ([1.0, None, None, 2.0], [1])


def test_numbers_of_other_columns() -> None:
    """Integers, decimals and booleans count as numbers; not-a-number is missing, infinity is wrong."""
    assert cells.number(pa.array([1, None])).values.to_pylist() == [1.0, None]
    assert cells.number(pa.array([decimal.Decimal("1.5")])).values.to_pylist() == [1.5]
    assert cells.number(pa.array([True, False])).values.to_pylist() == [1.0, 0.0]
    column = cells.number(pa.array([1.5, math.nan, math.inf, None]))
    assert (column.values.to_pylist(), bad(column)) == ([1.5, None, None, None], [2])
    assert bad(cells.number(pa.array([dt.date(2026, 1, 1)]))) == [0]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_survives_its_text(value: float) -> None:
    """What Python writes as a number is read as the same number."""
    assert cells.number(pa.array([repr(value)])).values.to_pylist() == [value]


@pytest.mark.parametrize(
    ("value", "whole"),
    [("7", "7"), ("007", "7"), ("+7", "7"), ("-07", "-7"), ("7.0", "7"), ("7.", "7"), ("-0", "0"), ("000", "0"), (" 7 ", "7"),
     (str(10**30), str(10**30)), ("", None), (None, None), ("100", "100"), ("10.00", "10")],
)  # fmt: skip
def test_whole_numbers_have_one_spelling(value: str | None, whole: str | None) -> None:
    """However a whole number is written, it is one value, of any size."""
    column = cells.whole(pa.array([value], pa.string()))
    assert (column.values.to_pylist(), column.bad) == ([whole], None)


@pytest.mark.parametrize("value", ["7.5", "x", "1e3", "7,0", "-", "1 000"])
def test_what_is_not_whole_is_reported(value: str) -> None:
    """A fraction or another text is wrong in an int key field."""
    assert bad(cells.whole(pa.array(["1", value]))) == [1]


def test_whole_numbers_of_number_columns() -> None:
    """Columns of integers and of whole floats are taken; a fraction is wrong."""
    assert cells.whole(pa.array([1, None])).values.to_pylist() == ["1", None]
    column = cells.whole(pa.array([1.0, None, 1.5]))
    assert (column.values.to_pylist()[:2], bad(column)) == (["1", None], [2])


@pytest.mark.parametrize(
    ("values", "separator", "lists"),
    [
        (["a|b", "a", "", None, "|", " a | b |", "a||b"], "|", [["a", "b"], ["a"], None, None, None, ["a", "b"], ["a", "b"]]),
        (["a, b", "a"], ",", [["a", "b"], ["a"]]),
        (["a.b"], ".", [["a", "b"]]),
        (["a::b"], "::", [["a", "b"]]),
        ([["a", None, "b"], [], None, ["", " c "]], None, [["a", "b"], None, None, ["c"]]),
        ([[1, 2]], None, [["1", "2"]]),
        ([None], None, [None]),
    ],
)  # fmt: skip
def test_elements(values: list[Any], separator: str | None, lists: list[list[str] | None]) -> None:
    """Text is taken apart at its separator, lists are taken as they are; empty elements are nothing."""
    column = cells.elements(pa.array(values), separator)
    assert (column.type, column.to_pylist()) == (pa.list_(pa.string()), lists)


def test_elements_of_part_of_a_column() -> None:
    """A slice of a longer list column gives its own elements."""
    column = pa.array([["a"], ["b", "c"], None, ["d"]])[1:]
    assert cells.elements(column, None).to_pylist() == [["b", "c"], None, ["d"]]


def test_text_without_a_separator_has_no_elements() -> None:
    """A list column that holds text is refused rather than taken as one element."""
    with pytest.raises(NotPlain):
        cells.elements(pa.array(["a|b"]), None)


def test_presence_is_one_where_there_is_a_value() -> None:
    """A count adds up what is there: not empty text, not null."""
    assert cells.present(pa.array(["x", "", None])).to_pylist() == [1.0, None, None]
    assert cells.present(pa.array([0, None])).to_pylist() == [1.0, None]
    assert cells.present(pa.array([["a"], None])).to_pylist() == [1.0, None]
