"""Specification, "Limits"."""

import pytest

from conformance.reporting.caller import Answer, Caller, without_cost
from conformance.reporting.others import MANY_ROWS
from lib.reporting.models import API_ROWS_LIMIT, DESK_ROWS_LIMIT

WIDE = {"start_date": "2026-01-01", "end_date": "2026-01-01"}
MARCH = {"start_date": "2026-03-01", "end_date": "2026-03-31"}
PAIRS = ["left", "right"]


def case(name: str) -> list[Answer]:
    """A filter that lets one of the wide records through."""
    return [{"name": "case", "match": "equals", "value": [name]}]


def test_default_of_the_api(many: Caller) -> None:
    """The default of audience_rows_limit is 1,000,000 rows for requests of the API."""
    assert API_ROWS_LIMIT == 1_000_000
    answer = many.audience(split_by=["site"], precision=1, **MARCH)
    million = many.audience(split_by=["site"], precision=1, audience_rows_limit=1_000_000, **MARCH)
    assert without_cost(answer) == without_cost(million)
    assert answer["precision"]["records_read"] == MANY_ROWS


@pytest.mark.sampling
def test_default_of_the_desk(many: Caller) -> None:
    """Requests made from the user interface send 10,000 rows themselves, which is the least allowed."""
    assert DESK_ROWS_LIMIT == 10_000
    answer = many.audience(split_by=["site"], precision=1, audience_rows_limit=DESK_ROWS_LIMIT, **MARCH)
    assert answer["precision"]["records_read"] <= DESK_ROWS_LIMIT


@pytest.mark.parametrize(
    ("limit", "code"), [(9_999, 400), (10_000, 200), (10_000_000, 200), (10_000_001, 400)]
)
def test_audience_rows_limit(hourly: Caller, limit: int, code: int) -> None:
    """The minimum of audience_rows_limit is 10,000, the maximum 10,000,000."""
    assert hourly.post("audience", audience_rows_limit=limit).status_code == code


@pytest.mark.parametrize("verb", ["audience", "export"])
@pytest.mark.parametrize(("zone", "code"), [(-13, 400), (-12, 200), (0, 200), (12, 200), (13, 400)])
def test_timezone(hourly: Caller, verb: str, zone: int, code: int) -> None:
    """timezone goes from -12 to +12, for audience and export."""
    assert hourly.post(verb, timezone=zone).status_code == code


@pytest.mark.parametrize("verb", ["audience", pytest.param("export", marks=pytest.mark.costly)])
def test_a_million_rows(wide: Caller, verb: str) -> None:
    """A split over several key fields may have 1,000,000 rows."""
    response = wide.post(verb, split_by=PAIRS, filters=case("a million"), limit=1, **WIDE)
    assert response.status_code == 200
    if verb == "audience":
        assert response.json()["total"]["records_found"] == 1_000_000


@pytest.mark.parametrize("verb", [pytest.param("audience", marks=pytest.mark.costly), "export"])
def test_more_than_a_million_rows(wide: Caller, verb: str) -> None:
    """Results above that are rejected, however few of them were to be returned."""
    assert "more than 1,000,000" in wide.reason(
        verb, split_by=PAIRS, filters=case("too many"), limit=1, **WIDE
    )


@pytest.mark.costly
def test_one_key_field(wide: Caller) -> None:
    """The rule is for several key fields: a split by one may have more rows."""
    answer = wide.audience(split_by=["left"], filters=case("alone"), limit=1, **WIDE)
    assert answer["total"]["records_found"] == 1_000_001


@pytest.mark.costly
def test_data_filters_count_first(wide: Caller) -> None:
    """The rows of a result are those that its data filters leave."""
    none = [{"name": "imps", "match": ">", "value": 1}]
    response = wide.export(split_by=PAIRS, filters=case("too many"), data_filters=none, **WIDE)
    assert response.content == b'"left","right","imps"\r\n'
