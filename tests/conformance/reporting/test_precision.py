"""The extension `precision`, and samples: how far off figures may be."""

import pytest

from conformance.conftest import Way
from conformance.reporting.caller import Caller, rows, without_cost
from conformance.reporting.hourly import ROWS
from conformance.reporting.others import MANY_ROWS, many_frame

MARCH = {"start_date": "2026-03-01", "end_date": "2026-03-31"}
SAMPLED = {"audience_rows_limit": 10_000, "precision": 1, **MARCH}
SITES = [{"name": "site", "match": "not equals", "value": ["site 0"]}]


def test_precision_of_an_exact_answer(hourly: Caller) -> None:
    """precision tells that every record was read, and gives ranges without width."""
    answer = hourly.audience(split_by=["site_id"], precision=1)
    assert answer["precision"]["records_read"] == answer["precision"]["records_in_range"] == len(ROWS)
    assert answer["precision"]["unread"] == []
    for cell in (cell for row in answer["rows"] for cell in row["data"]):
        assert cell["low"] == cell["value"] == cell["high"]


@pytest.mark.sampling
def test_precision_of_a_sample(many: Caller) -> None:
    """precision adds records read and in range, and low, high and n_eff of every value, around the value."""
    answer = many.audience(split_by=["site"], **SAMPLED)
    assert answer["precision"]["records_in_range"] == MANY_ROWS
    assert answer["precision"]["records_read"] <= 10_000
    for cell in (cell for row in answer["rows"] for cell in row["data"] if cell["name"] != "most"):
        assert cell["low"] <= cell["value"] <= cell["high"]
        assert cell["n_eff"] > 0


@pytest.mark.sampling
def test_precision_of_a_filtered_total(many: Caller) -> None:
    """A total that was estimated has its range, which holds the truth here; one that is known has none."""
    estimated = many.audience(filters=SITES, **SAMPLED)["total"]["data"][0]
    frame = many_frame()
    assert estimated["low"] < frame.loc[frame["site"] != "site 0", "imps"].sum() < estimated["high"]
    known = many.audience(split_by=["site"], **SAMPLED)["total"]["data"][0]
    assert known["low"] == known["value"] == known["high"] == frame["imps"].sum()


@pytest.mark.sampling
def test_missing_volume(many: Caller) -> None:
    """A plain answer tells what volume may be in rows that no record of the sample fell in."""
    asked = {"split_by": ["granularity_hour", "rare", "site"], **SAMPLED, "precision": 0}
    missing = many.audience(**asked)["total"]["missing"]
    assert {cell["name"] for cell in missing} == {"imps", "revenue"}
    assert all(cell["value"] >= 0 for cell in missing)


@pytest.mark.sampling
def test_confidence_range_is_the_widest(many: Caller) -> None:
    """confidence_range is the larger side of the widest range of an additive data field, in percent."""
    for part in many.audience(split_by=["site"], filters=SITES, **SAMPLED)["rows"]:
        cells = [cell for cell in part["data"] if cell["name"] in ("imps", "revenue")]
        sides = [max(cell["high"] - cell["value"], cell["value"] - cell["low"]) for cell in cells]
        widest = max(100 * side / cell["value"] for side, cell in zip(sides, cells, strict=True))
        assert float(part["confidence_range"]) == pytest.approx(widest, abs=0.005001)


def test_only_the_resident_engine_samples(many: Caller, way: Way) -> None:
    """Beyond audience_rows_limit the resident engine samples; others read every record, users included."""
    everything = SAMPLED | {"audience_rows_limit": 10**6}
    answers = [
        many.audience(split_by=["site"], data_fields=["imps", "unique_users"], **asked)
        for asked in (SAMPLED, everything)
    ]
    is_sampled = way.engine == "resident"
    assert (rows(answers[0]) != rows(answers[1])) == is_sampled
    assert [answer["total"].get("confidence_range") is not None for answer in answers] == [is_sampled, False]


def test_samples_are_nested(many: Caller) -> None:
    """The same question has the same sample: its answer is the same each time."""
    ask = {"split_by": ["site"], "filters": SITES, **SAMPLED}
    assert without_cost(many.audience(**ask)) == without_cost(many.audience(**ask))


def test_greatest_values_are_not_sampled(many: Caller) -> None:
    """Minima, maxima and unique counts are never estimates from a sample of rows."""
    answer = rows(many.audience(split_by=["site"], **SAMPLED))
    greatest = many_frame().groupby("site")["most"].max()
    assert {site: row["most"] for (site,), row in answer.items()} == greatest.to_dict()


@pytest.mark.sampling
def test_confidence_range_of_users_over_time(many: Caller) -> None:
    """A split by time has exact sums; where its unique users are estimated, confidence_range is theirs."""
    answer = many.audience(split_by=["granularity_day"], data_fields=["imps", "unique_users"], **SAMPLED)
    for row in answer["rows"]:
        imps, users = row["data"]
        assert imps["low"] == imps["high"]
        widest = max(users["high"] - users["value"], users["value"] - users["low"]) / users["value"]
        assert float(row["confidence_range"]) == pytest.approx(100 * widest, abs=0.005001) != 0


@pytest.mark.sampling
def test_few_records_have_an_interval(many: Caller) -> None:
    """A ratio of a record or two has a wide interval, not none."""
    answer = many.audience(split_by=["granularity_hour", "rare", "site"], data_fields=["ecpm"], **SAMPLED)
    few = [cell for row in answer["rows"] for cell in row["data"] if cell["n_eff"] < 3]
    assert few
    assert all(0 <= cell["low"] < cell["value"] < cell["high"] for cell in few)
