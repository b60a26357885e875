"""The extension `exact_within`: every record is read where that is expected to be quick."""

import pytest

from conformance.reporting.caller import Caller
from conformance.reporting.others import MANY_ROWS, many_frame

HOUR = 3_600_000
ASKED = {
    "start_date": "2026-03-01",
    "end_date": "2026-03-31",
    "filters": [{"name": "site", "match": "not equals", "value": ["site 0"]}],
    "audience_rows_limit": 10_000,
    "precision": 1,
}


def test_exact_where_it_is_quick(many: Caller) -> None:
    """Where an exact answer takes less than exact_within, the figures are those of all records."""
    answer = many.audience(exact_within=HOUR, **ASKED)
    frame = many_frame()
    (imps,) = (cell for cell in answer["total"]["data"] if cell["name"] == "imps")
    assert imps["value"] == imps["low"] == imps["high"] == frame.loc[frame["site"] != "site 0", "imps"].sum()
    assert answer["precision"]["records_read"] == answer["precision"]["records_in_range"] == MANY_ROWS
    assert "confidence_range" not in answer["total"]


@pytest.mark.sampling
@pytest.mark.parametrize("within", [{}, {"exact_within": 0}])
def test_an_estimate_where_it_is_not(many: Caller, within: dict[str, int]) -> None:
    """Where it takes longer, or exact_within is left out, audience_rows_limit says how much is read."""
    answer = many.audience(**within, **ASKED)
    assert 0 < answer["precision"]["records_read"] <= 10_000
    assert float(answer["total"]["confidence_range"]) > 0


def test_what_exact_takes(many: Caller) -> None:
    """precision says what an exact answer is expected to take, more for more days."""
    whole = many.audience(**ASKED)["precision"]["exact_milliseconds"]
    none = many.audience(**ASKED | {"start_date": "2026-04-01", "end_date": "2026-04-02"})["precision"]
    assert 0 < none["exact_milliseconds"] < whole
    assert "precision" not in many.audience(**ASKED | {"precision": 0})


@pytest.mark.service
@pytest.mark.parametrize("within", [-1, "soon", True, 1.5])
def test_no_milliseconds(many: Caller, within: object) -> None:
    """exact_within that is no whole number of milliseconds is refused, and named."""
    assert "exact_within" in many.reason("audience", exact_within=within)
