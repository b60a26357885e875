"""The records behind a figure (*extension*): those that questions count, in order, and fields alone."""

import datetime as dt
from typing import Any

import pandas as pd
import pytest

from conformance.reporting import oracle
from conformance.reporting.caller import Caller, refused, success
from conformance.reporting.files import read
from conformance.reporting.hourly import COUNTRIES, LAST, ROWS
from conformance.reporting.test_row_filters import visible

GERMANY = {"name": "geo.country", "match": "equals", "value": ["DE"]}
SEGMENT_A = {"name": "segments", "match": "equals", "value": ["a"]}
NEWS = {"name": "categories", "match": "contains", "value": ["POLITICS"], "case_insensitive": 1,
        "search_mappings": 1}  # fmt: skip
KEYS = ["geo.country", "site_id", "domain", "categories", "segments"]
NUMBERS = ["imps", "clicks", "revenue", "adjustment", "price", "least", "most", "records", "priced", "bonus"]
Cells = list[list[Any]]


def records(caller: Caller, **fields: object) -> dict[str, Any]:
    """The answer to a request for records."""
    return success(caller.post("records", **fields))


def names(answer: dict[str, Any]) -> list[str]:
    """The names of its columns."""
    return [column["name"] for column in answer["columns"]]


def expected(rows: pd.DataFrame, columns: list[str]) -> Cells:
    """The cells of rows as an answer has them."""
    cells = {name: _column(rows, name) for name in columns}
    return [list(row) for row in zip(*cells.values(), strict=True)]


def _column(rows: pd.DataFrame, name: str) -> list[Any]:
    if name.startswith("granularity"):
        return [texts[0] for texts in oracle.values(rows, name)]
    if name == "records":
        return [1] * len(rows)
    if name in ("categories", "segments"):
        return [sorted(set(texts or ())) for texts in rows[name]]
    if name in NUMBERS:
        return [None if pd.isna(cell) else pytest.approx(cell) for cell in rows[name]]
    return rows[name].fillna("").tolist()


def by_key(rows: Cells) -> Cells:
    """The rows in an order that all engines can have."""
    return sorted(rows, key=lambda row: [str(cell) for cell in row if not isinstance(cell, float)])


@pytest.mark.lists
def test_all_fields_of_the_records_that_count(hourly: Caller) -> None:
    """Without columns there are time, key fields and data fields that records have, and no others."""
    day = str(LAST - dt.timedelta(days=30))
    answer = records(hourly, start_date=day, end_date=day)
    rows = ROWS[oracle.local(ROWS).dt.date.map(str) == day]
    columns = ["granularity_hour", *KEYS, *NUMBERS]
    assert names(answer) == columns
    assert answer["records_found"] == len(answer["rows"]) == len(rows)
    times = [row[0] for row in answer["rows"]]
    assert times == sorted(times, reverse=True)
    few = ["granularity_hour", *KEYS]
    found = [row[: len(few)] for row in answer["rows"]]
    assert by_key(found) == by_key(expected(rows, few))


@pytest.mark.parametrize(
    "filters",
    [[], [GERMANY], [SEGMENT_A], [NEWS], [GERMANY, {**SEGMENT_A, "match": "not equals"}]],
    ids=["all", "a value", "multi-valued", "by description", "two"],
)
def test_records_are_those_of_the_figures(hourly: Caller, filters: list[dict[str, Any]]) -> None:
    """Filters choose records as in questions; `any_of` too; the largest come first in the asked order."""
    rows = visible(tuple(filters))
    order = [{"name": "imps", "direction": "desc"}]
    columns = ["imps", "clicks", "geo.country"]
    answer = records(hourly, filters=filters, columns=columns, order_by=order)
    assert answer["records_found"] == len(rows)
    assert [row[0] for row in answer["rows"]] == sorted(rows["imps"], reverse=True)[:1000]
    as_group = records(hourly, any_of=[[condition] for condition in filters], columns=columns, order_by=order)
    assert as_group == answer


@pytest.mark.parametrize(
    ("order", "by"),
    [
        ([{"name": "granularity_hour", "direction": "asc"}], ["hour"]),
        ([{"name": "granularity_week", "direction": "desc"}, {"name": "imps"}], ["week", "imps"]),
        ([{"name": "site_id"}, {"name": "bonus", "direction": "asc"}], ["site", "bonus"]),
    ],
    ids=str,
)  # fmt: skip
def test_orders(hourly: Caller, order: list[dict[str, str]], by: list[str]) -> None:
    """Records are ordered by time, by whole numbers as numbers, and by figures; missing numbers come last."""
    rows = ROWS.assign(
        hour=oracle.values(ROWS, "granularity_hour").str[0],
        week=oracle.values(ROWS, "granularity_week").str[0],
        site=pd.to_numeric(ROWS["site_id"]),
    )
    rising = [order_field.get("direction") == "asc" for order_field in order]
    rows = rows.sort_values(by, ascending=rising, na_position="last")[:1000]
    answer = records(hourly, columns=[order_field["name"] for order_field in order], order_by=order)
    assert answer["rows"] == expected(rows, [order_field["name"] for order_field in order])


def test_a_zone_and_a_limit(hourly: Caller) -> None:
    """Time is that of the zone asked for, on its days; `limit` is how many records come back."""
    day = LAST - dt.timedelta(days=20)
    rows = ROWS[oracle.local(ROWS, -7).dt.date == day]
    answer = records(
        hourly, timezone=-7, start_date=str(day), end_date=str(day), columns=["granularity_hour"]
    )
    assert [row[0] for row in answer["rows"]] == sorted(
        oracle.local(rows, -7).dt.strftime("%Y-%m-%d %H:00"), reverse=True
    )
    few = records(hourly, limit=3, columns=["imps"])
    assert (len(few["rows"]), few["records_found"]) == (3, len(ROWS))


def test_a_formula_shows_its_data_fields(hourly: Caller) -> None:
    """In place of a formula come the data fields that it is made of, but for counts of users."""
    assert names(records(hourly, columns=["ctr", "domain"], limit=1)) == ["clicks", "imps", "domain"]
    assert names(records(hourly, columns=["reach"], limit=1)) == ["imps"]
    assert names(records(hourly, columns=["value"], limit=1)) == ["adjustment", "records", "revenue"]


def test_descriptions(hourly: Caller) -> None:
    """include_mappings adds a column of descriptions after each coded field."""
    answer = records(hourly, columns=["geo.country", "imps"], include_mappings=1, limit=200)
    assert names(answer) == ["geo.country", "geo.country.description", "imps"]
    assert all(words == COUNTRIES.get(code, code) for code, words, _ in answer["rows"])


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"columns": ["pages"]}, "pages counts different values"),
        ({"columns": ["unique_users"]}, "unique_users counts different values"),
        ({"columns": ["users"]}, "users"),
        ({"columns": ["devices"]}, "devices"),
        ({"order_by": [{"name": "users"}]}, "users"),
        ({"order_by": [{"name": "pages"}]}, "pages"),
        ({"order_by": [{"name": "segments"}]}, "segments has several values"),
        ({"filters": [{"name": "users", "match": "equals", "value": "1"}]}, "users"),
        ({"limit": 1001}, "limit"),
        ({"limit": 0}, "limit"),
        ({"offset": 1}, "offset"),
        ({"split_by": ["domain"]}, "split_by"),
    ],
    ids=str,
)
@pytest.mark.parametrize("export_format", [None, "csv"])
def test_what_records_do_not_show(
    hourly: Caller, export_format: str | None, fields: dict[str, Any], reason: str
) -> None:
    """Columns that are no fields can't be shown, ordered by or filtered; the error says what is wrong."""
    answer = hourly.post("records", export_format=export_format, **fields)
    assert reason in refused(answer, "bad_request")


@pytest.mark.parametrize("export_format", ["csv", "tsv", "tsv2", "xls", "xlsx"])
def test_a_file_of_records(hourly: Caller, export_format: str) -> None:
    """With export_format the same records are a file, with a column each."""
    asked = {"columns": ["granularity_hour", "segments", "imps"], "limit": 50}
    answer = records(hourly, **asked)
    response = hourly.post("records", **asked, export_format=export_format, escape_formulas=0)
    assert f".{export_format}" in response.headers["content-disposition"]
    file = read(response, export_format)
    lines = [[str(cell or "") if place < 2 else float(cell or 0) for place, cell in enumerate(line)]
             for line in file.lines]  # fmt: skip
    assert lines == [[hour, "; ".join(texts), imps or 0] for hour, texts, imps in answer["rows"]]


def test_records_of_days(daily: Caller) -> None:
    """A slicer of days shows days, and no hours."""
    answer = records(daily, limit=5)
    assert names(answer)[0] == "granularity_day"
    assert "granularity_hour" in refused(daily.post("records", columns=["granularity_hour"]), "bad_request")
