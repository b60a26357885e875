"""An audience answer in JSON is read the same by rows and by columns, however its service writes."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lib.reporting.answers import Audience, as_json, responses
from lib.reporting.answers.responses import parse

ROWS = 400
FIELDS = ("imps", "revenue", "ctr")


def text(value: Any) -> str:
    """A number as a text."""
    return str(value)


def told(value: Any) -> Any:
    """A number as it is."""
    return value


def answer(split: int, number: Any = told, **changes: Any) -> dict[str, Any]:
    """An answer of 400 rows: shares of one field alone, values that are missing, dates for names."""
    draw = np.random.default_rng(3)
    rows = []
    for place in range(ROWS):
        values = [int(draw.integers(0, 10**6)), float(draw.random()), None if place % 7 == 0 else 0.5]
        cells: list[dict[str, Any]] = [
            {"name": name, "value": None if value is None else number(value)}
            for name, value in zip(FIELDS, values, strict=True)
        ]
        cells[0]["percent"] = number(float(draw.random()))
        keys = [f"2026-11-{place % 30 + 1:02}", f"Ünï {place}", None][:split]
        rows.append({"data": cells, "name": keys, "unknown": {"a": [1]}})
    data = [{"name": name, "value": number(3.25)} for name in FIELDS]
    total = {"data": data, "records_found": number(ROWS), "dates": ["2026-11-01", "2026-11-02"]}
    return {"status": "success", "total": total, "rows": rows, "took": "1"} | changes


def one_text(body: dict[str, Any]) -> dict[str, Any]:
    """The answer with one text for each row's name."""
    return body | {"rows": [row | {"name": row["name"][0]} for row in body["rows"]]}


def compressed(body: dict[str, Any], number: Any) -> dict[str, Any]:
    """The answer of a sample."""
    rows = [row | {"confidence_range": number(place / 10 + 0.05)} for place, row in enumerate(body["rows"])]
    return body | {"rows": rows, "total": body["total"] | {"confidence_range": number(2.5)}}


ANSWERS = {
    "numbers": (answer(1), 1),
    "texts": (answer(1, text), 1),
    "one text for a name": (one_text(answer(1, text)), 1),
    "two key fields": (answer(2), 2),
    "three, one of them missing": (answer(3, text), 3),
    "a range as a number": (compressed(answer(2, text), told), 2),
    "a range as a text": (compressed(answer(1), text), 1),
}
UNLIKE = {
    "rows of different fields": answer(1) | {"rows": [*answer(1)["rows"], {"data": [], "name": ["x"]}]},
    "texts and numbers": answer(1) | {"rows": [*answer(1)["rows"], *answer(1, text)["rows"]]},
    "no rows": answer(1) | {"rows": []},
    "an error": {"status": "bad_request", "reason": "Because"},
    "precision": answer(1) | {"precision": {"records_read": 1, "records_in_range": 2}},
}


def by_columns(body: dict[str, Any], split: list[str]) -> Audience | None:
    """The answer as read by columns."""
    return responses.decode(json.dumps(body).encode(), split, least_bytes=0)


@pytest.mark.parametrize(("body", "split"), ANSWERS.values(), ids=ANSWERS)
def test_both_read_the_same(body: dict[str, Any], split: int) -> None:
    """Names, values, shares, ranges and totals are the same."""
    names = ["day", "site", "deal"][:split]
    rows, columns = as_json.decode(body, names), by_columns(body, names)
    assert columns is not None
    for frame in ("names", "values", "percents"):
        pd.testing.assert_frame_equal(getattr(rows, frame), getattr(columns, frame))
    assert rows.total == columns.total
    assert (rows.confidence_range is None) == (columns.confidence_range is None)
    if rows.confidence_range is not None and columns.confidence_range is not None:
        assert [float(end) for end in columns.confidence_range] == [
            float(end) for end in rows.confidence_range
        ]


@pytest.mark.parametrize("body", UNLIKE.values(), ids=UNLIKE)
def test_what_is_read_by_rows(body: dict[str, Any]) -> None:
    """An answer whose rows are not alike, and one that is more or less than rows, is not read by columns."""
    assert by_columns(body, ["day"]) is None


@pytest.mark.parametrize("cut", [10, 3000, -1])
def test_what_is_cut_off(cut: int) -> None:
    """Half an answer is none."""
    assert responses.decode(json.dumps(answer(1)).encode()[:cut], ["day"], least_bytes=0) is None


def test_rows_of_different_fields() -> None:
    """By rows, a field that a row lacks has no value there, whatever the order of the cells."""
    rows = [
        {"name": "a", "data": [{"name": "x", "value": "1"}, {"name": "y", "value": 2}]},
        {"name": "b", "data": [{"name": "y", "value": "", "percent": 5}]},
        {"name": None, "data": [{"name": "z", "value": 3}, {"name": "x", "value": 4.5}]},
    ]
    found = as_json.decode({"total": {"data": None}, "rows": rows}, ["k"])
    assert found.names["k"].tolist() == ["a", "b", ""]
    assert found.values.fillna(-1).to_dict("list") == {"x": [1, -1, 4.5], "y": [2, -1, -1], "z": [-1, -1, 3]}
    assert list(found.percents) == ["y"]
    assert found.total.records_found == 3


@pytest.mark.parametrize(
    "row",
    [
        {"name": "US", "data": [{"name": "x", "value": 1}]},
        {"name": ["US"], "data": [{"name": "x", "value": 1}]},
        {"name": ["US", "CA"], "data": [{"name": "x", "value": "much"}]},
        {"name": ["US", "CA"], "data": [{"value": 1}]},
        {"name": ["US", "CA"]},
    ],
    ids=range(5),
)
def test_what_is_no_row(row: dict[str, Any]) -> None:
    """A name that is not one per key field, a value that is no number, a cell without a name: no answer."""
    with pytest.raises((KeyError, TypeError, ValueError)):
        as_json.decode({"total": {"data": []}, "rows": [row]}, ["country", "region"])


@pytest.mark.parametrize("levels", [30, 20_000, 300_000])
def test_yaml_that_is_nested_too_deeply(levels: int) -> None:
    """A service's YAML of any depth is refused: it neither fills the stack nor ends the process."""
    with pytest.raises(ValueError, match="not YAML"):
        parse(b"status: success\nrows: " + b"[" * levels + b"]" * levels, "application/yaml")
