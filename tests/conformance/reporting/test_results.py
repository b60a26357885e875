"""Specification, "Audience / export result fields"."""

import re

import pytest

from conformance.reporting import oracle
from conformance.reporting.caller import Answer, Caller, agree, figures, rows, same
from conformance.reporting.hourly import ADDITIVE, FIRST, LAST, ROWS, USUAL
from conformance.reporting.others import MANY_DAYS, MANY_FIRST

SPLITS = [
    ["geo.country"], ["site_id"], ["domain"], ["categories"], ["granularity_month"],
    ["geo.country", "site_id"], ["categories", "segments"], ["granularity_week", "categories"],
    ["site_id", "granularity_quarter", "segments"], ["granularity_weekday", "granularity_hour_of_day"],
]  # fmt: skip
SAMPLED = {
    "start_date": str(MANY_FIRST),
    "end_date": "2026-03-31",
    "audience_rows_limit": 10_000,
    "split_by": ["site"],
}


@pytest.fixture(scope="module")
def answer(hourly: Caller) -> Answer:
    """An exact answer."""
    return hourly.audience(split_by=["geo.country"])


def sampled(many: Caller) -> Answer:
    """An answer from a sample."""
    return many.audience(**SAMPLED)


def test_status(answer: Answer) -> None:
    """A successful answer has status, total and rows."""
    assert answer.keys() == {"status", "total", "rows"}
    assert answer["status"] == "success"


@pytest.mark.parametrize("verb", ["info", "audience", "export"])
def test_reason(hourly: Caller, verb: str) -> None:
    """reason is present for failed requests only."""
    assert hourly.reason(verb, surprise=1) == "Unknown request field 'surprise'"
    assert "reason" not in (hourly.info() if verb == "info" else hourly.audience())


def test_total(answer: Answer) -> None:
    """total summarizes the whole result, with data, records_found and dates."""
    assert answer["total"].keys() == {"data", "records_found", "dates"}


def test_total_data(answer: Answer) -> None:
    """total.data has name and value of each data column, of all rows, in the slicer's order."""
    assert [set(cell) for cell in answer["total"]["data"]] == [{"name", "value"}] * len(USUAL)
    assert [cell["name"] for cell in answer["total"]["data"]] == USUAL
    agree(figures(answer["total"]), oracle.figures(ROWS))


@pytest.mark.parametrize("split_by", SPLITS, ids=",".join)
def test_records_found(hourly: Caller, split_by: list[str]) -> None:
    """total.records_found is the number of result rows."""
    answer = hourly.audience(split_by=split_by)
    assert answer["total"]["records_found"] == len(answer["rows"])


@pytest.mark.sampling
def test_confidence_range_of_the_total(many: Caller, answer: Answer) -> None:
    """total.confidence_range is a number in percent, as a string, when the dataset is compressed."""
    filtered = [{"name": "site", "match": "not equals", "value": ["site 0"]}]
    confidence_range = many.audience(**SAMPLED, filters=filtered)["total"]["confidence_range"]
    assert re.fullmatch(r"\d+\.\d\d", confidence_range)
    assert 0 < float(confidence_range) < 100
    assert "confidence_range" not in answer["total"]


def test_dates(answer: Answer, many: Caller) -> None:
    """total.dates are all dates with data between start_date and end_date."""
    dates = answer["total"]["dates"]
    assert dates == sorted(set(oracle.local(ROWS).dt.strftime("%Y-%m-%d")))
    assert (dates[0], dates[-1]) == (str(FIRST), str(LAST))
    assert len(sampled(many)["total"]["dates"]) == MANY_DAYS


@pytest.mark.parametrize("split_by", SPLITS, ids=",".join)
def test_rows(hourly: Caller, split_by: list[str]) -> None:
    """rows has one element per combination of key field values that occurs, with its figures."""
    same(rows(hourly.audience(split_by=split_by)), oracle.split(ROWS, split_by))


def test_row_data(answer: Answer) -> None:
    """rows[].data has name and value of each data column, in the same order as the total."""
    for row in answer["rows"]:
        assert [cell["name"] for cell in row["data"]] == USUAL
        assert all(cell.keys() <= {"name", "value", "percent"} for cell in row["data"])


def test_percent(answer: Answer) -> None:
    """rows[].data[].percent is the share of the total, where that means something."""
    total = figures(answer["total"])
    for cell in (cell for row in answer["rows"] for cell in row["data"]):
        assert ("percent" in cell) == (cell["name"] in ADDITIVE)
        if "percent" in cell:
            assert cell["percent"] == pytest.approx(100 * cell["value"] / total[cell["name"]])


@pytest.mark.parametrize("split_by", SPLITS, ids=",".join)
def test_row_name(hourly: Caller, split_by: list[str]) -> None:
    """rows[].name is an array of strings, one item for each key field of the split."""
    for row in hourly.audience(split_by=split_by)["rows"]:
        assert [type(item) for item in row["name"]] == [str] * len(split_by)


@pytest.mark.sampling
def test_confidence_range_of_rows(many: Caller, answer: Answer) -> None:
    """rows[].confidence_range is on every row when the dataset is compressed, and on none otherwise."""
    ranges = [row["confidence_range"] for row in sampled(many)["rows"]]
    assert all(re.fullmatch(r"\d+\.\d\d", text) for text in ranges)
    assert not any("confidence_range" in row for row in answer["rows"])
