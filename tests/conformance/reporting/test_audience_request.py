"""Specification, "Audience": request fields besides the always required ones."""

import datetime as dt

import pytest

from conformance.reporting import oracle
from conformance.reporting.caller import ABSENT, Caller, agree, figures, rows, same
from conformance.reporting.hourly import FIRST, ROWS
from conformance.reporting.others import MANY_ROWS

MARCH = {"start_date": "2026-03-01", "end_date": "2026-03-31"}


def read(caller: Caller, **fields: object) -> int:
    """How many records were read for an answer."""
    precision = caller.audience(precision=1, **MARCH, **fields)["precision"]
    assert precision["records_in_range"] == MANY_ROWS
    return int(precision["records_read"])


@pytest.mark.sampling
@pytest.mark.parametrize("limit", [10_000, 15_000, 25_000])
def test_audience_rows_limit(many: Caller, limit: int) -> None:
    """audience_rows_limit is the most rows that are processed; what is there of it is used."""
    assert 0.8 * limit < read(many, split_by=["site"], audience_rows_limit=limit) <= limit


@pytest.mark.sampling
def test_audience_rows_limit_and_precision(many: Caller) -> None:
    """A larger audience_rows_limit gives a higher precision, and one that all rows fit in an exact answer."""
    filters = [{"name": "site", "match": "not equals", "value": ["site 1"]}]
    ranges = [
        many.audience(**MARCH, filters=filters, audience_rows_limit=limit)["total"].get("confidence_range")
        for limit in (10_000, 30_000, MANY_ROWS)
    ]
    assert float(ranges[0]) > float(ranges[1]) > 0
    assert ranges[2] is None


def test_audience_rows_limit_is_optional(many: Caller) -> None:
    """Without audience_rows_limit the default holds, which is far above the rows of this slicer."""
    assert read(many, split_by=["site"]) == MANY_ROWS


@pytest.mark.parametrize("limit", [10_000, 10_000_000])
def test_audience_rows_limit_bounds(many: Caller, limit: int) -> None:
    """The least and the greatest audience_rows_limit are allowed."""
    assert many.post("audience", audience_rows_limit=limit).status_code == 200


@pytest.mark.service
@pytest.mark.parametrize("limit", [9_999, 10_000_001, 0, -1, "many", 10_000.5])
def test_audience_rows_limit_beyond_its_bounds(many: Caller, limit: object) -> None:
    """An audience_rows_limit outside of 10,000 to 10,000,000 is refused."""
    assert many.reason("audience", audience_rows_limit=limit).startswith("audience_rows_limit ")


def test_filters(hourly: Caller) -> None:
    """filters is an array of filter objects; it is optional, and an empty one filters nothing."""
    assert hourly.audience(filters=[]) == hourly.audience()
    answer = hourly.audience(filters=[{"name": "site_id", "match": "equals", "value": ["10"]}])
    agree(figures(answer["total"]), oracle.figures(ROWS[ROWS["site_id"] == "10"]))


@pytest.mark.service
@pytest.mark.parametrize("wrong", [{"name": "site_id"}, "site_id", ["site_id"], [None], 5])
def test_filters_of_another_shape(hourly: Caller, wrong: object) -> None:
    """Anything but an array of objects is refused as filters."""
    assert "filters" in hourly.reason("audience", filters=wrong)


@pytest.mark.parametrize("split_by", [["site_id"], ["site_id", "geo.country"]])
def test_split_by(hourly: Caller, split_by: list[str]) -> None:
    """split_by lists the key fields to split by, one or several, in the order that names come in."""
    same(rows(hourly.audience(split_by=split_by)), oracle.split(ROWS, split_by))
    backwards = rows(hourly.audience(split_by=split_by[::-1]))
    same({name[::-1]: row for name, row in backwards.items()}, oracle.split(ROWS, split_by))


def test_split_by_is_optional(hourly: Caller) -> None:
    """Without split_by, or with an empty one, data is not split."""
    assert hourly.audience(split_by=[]) == hourly.audience(split_by=ABSENT)


@pytest.mark.service
@pytest.mark.parametrize("wrong", [{"name": "site_id"}, [["site_id"]], [None], True])
def test_split_by_of_another_shape(hourly: Caller, wrong: object) -> None:
    """Anything but an array of names is refused as split_by."""
    assert "split_by" in hourly.reason("audience", split_by=wrong)


@pytest.mark.service
@pytest.mark.parametrize("field", ["start_date", "end_date"])
@pytest.mark.parametrize("wrong", [ABSENT, None, 20260101, ["2026-01-01"]])
def test_dates_are_required(hourly: Caller, field: str, wrong: object) -> None:
    """start_date and end_date are required, as strings."""
    assert hourly.reason("audience", **{field: wrong}).startswith(field)


def test_timezone(hourly: Caller) -> None:
    """timezone moves the days: other records lie in the same dates."""
    day = FIRST + dt.timedelta(days=10)
    dates = {"start_date": str(day), "end_date": str(day)}
    for zone in (-12, 12):
        answer = hourly.audience(timezone=zone, **dates)
        agree(figures(answer["total"]), oracle.figures(oracle.between(day, day, zone)))
