"""Where the specification is silent: decisions of ours that no other file of this folder shows."""

import datetime as dt

import pandas as pd
import pytest

from conformance.reporting import oracle
from conformance.reporting.caller import Answer, Caller, agree, figures, rows, same
from conformance.reporting.hourly import FIRST, ROWS, USUAL
from conformance.reporting.others import DAILY_ZONE

JANUARY = {"start_date": "2026-01-01", "end_date": "2026-02-28"}
SITES = {"name": "site_id", "match": "equals", "value": ["1", "10"]}


def total(caller: Caller, *filters: Answer) -> oracle.Figures:
    """The total of an answer under these filters."""
    return figures(caller.audience(filters=list(filters))["total"])


def holds(field: str, *elements: str) -> pd.Series:
    """Whether a record has any of these elements in a segmented field."""
    return oracle.values(ROWS, field).map(lambda row_elements: bool(set(elements) & set(row_elements)))


@pytest.mark.parametrize("verb", ["audience", "export"])
def test_one_key_field_stands_for_a_list_of_one(hourly: Caller, verb: str) -> None:
    """split_by may be one name."""
    single, many = (hourly.post(verb, split_by=split_by) for split_by in ("site_id", ["site_id"]))
    assert single.content == many.content


@pytest.mark.parametrize("value", ["10", 10, 10.0, [10], ["10"], [10.0]])
def test_one_value_and_numbers(hourly: Caller, value: object) -> None:
    """A filter's value may be one string, and numbers stand for their text."""
    agree(total(hourly, SITES | {"value": value}), oracle.figures(ROWS[ROWS["site_id"] == "10"]))


@pytest.mark.parametrize("flag", [1, True])
def test_flags_may_be_true(hourly: Caller, flag: object) -> None:
    """true and false stand for 1 and 0."""
    wanted = {"name": "domain", "match": "equals", "value": "SHOP.EXAMPLE", "case_insensitive": flag}
    assert total(hourly, wanted)["records"] == (ROWS["domain"].str.lower() == "shop.example").sum()


@pytest.mark.service
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"split": ["site_id"]}, "Unknown request field 'split'; did you mean 'split_by'?"),
        ({"split_by": ["geo.contry"]}, "Unknown key field 'geo.contry'; did you mean 'geo.country'?"),
        ({"split_by": ["country"]}, "Unknown key field 'country'; did you mean 'geo.country'?"),
        ({"filters": [SITES | {"name": "site"}]}, "Unknown key field 'site'; did you mean 'site_id'?"),
        ({"data_fields": ["clics"]}, "Unknown data field 'clics'; did you mean 'clicks'?"),
        ({"audience_key": "user"}, "Unknown audience source 'user'; did you mean 'users'?"),
        ({"order_by": [{"name": "imp"}]}, "Unknown field to order by 'imp'; did you mean 'imps'?"),
        ({"split_by": ["site_id", "site_id"]}, "split_by names site_id more than once"),
        ({"order_by": [{"name": "imps"}] * 2}, "order_by names imps more than once"),
        ({"filters": [SITES | {"values": 1}]}, "filters[0].values is not a field of the request"),
    ],
    ids=str,
)
@pytest.mark.parametrize("verb", ["audience", "export"])
def test_unknown_names(hourly: Caller, verb: str, fields: Answer, reason: str) -> None:
    """An unknown name is refused; the reason names it, and the nearest right one."""
    assert hourly.reason(verb, **fields) == reason


def test_and_between_filters(hourly: Caller) -> None:
    """A record must pass every filter, also two on the same field."""
    wanted = [SITES, {"name": "geo.country", "match": "equals", "value": ["DE"]}]
    selected = ROWS["site_id"].isin(["1", "10"]) & (ROWS["geo.country"] == "DE")
    agree(total(hourly, *wanted), oracle.figures(ROWS[selected]))
    agree(total(hourly, SITES, SITES | {"value": ["1"]}), oracle.figures(ROWS[ROWS["site_id"] == "1"]))


def test_a_negative_match_means_none_of_the_values(hourly: Caller) -> None:
    """`not equals` and `not contains` leave the records that match none of the values."""
    selected = ~ROWS["site_id"].isin(["1", "10"])
    agree(total(hourly, SITES | {"match": "not equals"}), oracle.figures(ROWS[selected]))


@pytest.mark.parametrize("values", [["a"], ["a", "b"], [""], ["nowhere"], ["", "d"]])
def test_filters_on_segmented_fields(hourly: Caller, values: list[str]) -> None:
    """A positive match holds if any element matches, a negative one if none does."""
    wanted = {"name": "segments", "match": "equals", "value": values}
    selected = holds("segments", *values)
    agree(total(hourly, wanted), oracle.figures(ROWS[selected]))
    agree(total(hourly, wanted | {"match": "not equals"}), oracle.figures(ROWS[~selected]))


@pytest.mark.parametrize("field", ["domain", "segments", "categories", "geo.country", "granularity_month"])
@pytest.mark.parametrize("match", ["equals", "contains"])
def test_a_filter_and_its_negation_are_the_whole(hourly: Caller, field: str, match: str) -> None:
    """The sums under a filter and under its negation add up to those without it."""
    wanted = {"name": field, "match": match, "value": ["a", "1", "shop.example", "DE"], "search_mappings": 1}
    yes, no = total(hourly, wanted), total(hourly, wanted | {"match": f"not {match}"})
    assert yes["records"] + no["records"] == len(ROWS)
    assert yes["imps"] + no["imps"] == ROWS["imps"].sum()


def test_a_filter_keeps_the_other_elements(hourly: Caller) -> None:
    """A filter on a segmented field selects records, whose other elements stay in a split by it."""
    wanted = {"name": "segments", "match": "equals", "value": ["a"]}
    by_key = rows(hourly.audience(split_by=["segments"], filters=[wanted]))
    same(by_key, oracle.split(ROWS[holds("segments", "a")], ["segments"]))
    assert len(by_key) > 1


@pytest.mark.parametrize("field", ["geo.country", "site_id", "domain", "categories", "segments"])
def test_missing_values(hourly: Caller, field: str) -> None:
    """A missing value is the empty string in names, and `equals ""` finds it."""
    by_key = rows(hourly.audience(split_by=[field]))
    assert ("",) in by_key
    agree(total(hourly, {"name": field, "match": "equals", "value": [""]}), by_key[("",)])


@pytest.mark.parametrize("zone", [-12, 12, None])
def test_today(hourly: Caller, zone: int | None) -> None:
    """ "today" is that of the request's timezone if given, else of the slicer's."""
    clock = dt.timezone(dt.timedelta(hours=3 if zone is None else zone))
    before = dt.datetime.now(clock).date()
    dates = hourly.audience(start_date="today", end_date="today", timezone=zone)["total"]["dates"]
    assert dates[0] in {str(before), str(dt.datetime.now(clock).date())}


@pytest.mark.service
@pytest.mark.parametrize("verb", ["audience", "export"])
def test_timezone_of_a_slicer_of_days(daily: Caller, verb: str) -> None:
    """Where timezones are not supported only the slicer's own is accepted; it changes nothing."""
    own = daily.post(verb, timezone=DAILY_ZONE, split_by=["granularity_day"], **JANUARY)
    assert own.content == daily.post(verb, split_by=["granularity_day"], **JANUARY).content
    assert "timezone" in daily.reason(verb, timezone=0, **JANUARY)


@pytest.mark.service
@pytest.mark.parametrize("verb", ["audience", "export"])
def test_start_after_end(hourly: Caller, verb: str) -> None:
    """A range whose start lies after its end is refused."""
    reason = hourly.reason(verb, start_date="-1d", end_date="-2d")
    assert reason.startswith("start_date '-1d' (")


def test_every_data_field_is_returned(hourly: Caller) -> None:
    """An audience returns every data field that is not optional, unique users too, in the slicer's order."""
    answer = hourly.audience(split_by=["site_id"])
    assert list(figures(answer["total"])) == USUAL == list(figures(answer["rows"][0]))


@pytest.mark.parametrize("field", ["start_date", "split_by"])
def test_null_counts_as_absent(hourly: Caller, field: str) -> None:
    """A field that is null counts as left out."""
    if field == "split_by":
        assert hourly.audience(split_by=None) == hourly.audience()
    else:
        assert hourly.reason("audience", **{field: None}) == f"{field} is required"


def test_without_a_split(hourly: Caller) -> None:
    """Without split_by there is one row with an empty name and the figures of the total."""
    answer = hourly.audience()
    assert [row["name"] for row in answer["rows"]] == [[]]
    assert figures(answer["rows"][0]) == figures(answer["total"])
    assert answer["total"]["records_found"] == 1


def test_dates_whatever_the_filters(hourly: Caller) -> None:
    """total.dates are the days with data in the range, whatever the filters."""
    nothing = {"name": "domain", "match": "equals", "value": ["nowhere"]}
    dates = {"start_date": str(FIRST), "end_date": str(FIRST + dt.timedelta(days=9))}
    assert len(hourly.audience(filters=[nothing], **dates)["total"]["dates"]) == 10


def test_nothing_found(hourly: Caller) -> None:
    """Where no record matches, sums are 0, everything else is null, and shares mean nothing."""
    nothing = [{"name": "domain", "match": "equals", "value": ["nowhere"]}]
    answer = hourly.audience(filters=nothing)
    agree(figures(answer["total"]), oracle.figures(ROWS[:0]))
    assert {cell.get("percent") for cell in answer["rows"][0]["data"]} == {None}
    assert hourly.audience(filters=nothing, split_by=["site_id"])["rows"] == []


def test_two_codes_with_one_mapping_text(hourly: Caller) -> None:
    """A text that two codes have selects both."""
    wanted = {"name": "geo.country", "match": "equals", "value": ["United Kingdom"], "search_mappings": 1}
    agree(total(hourly, wanted), oracle.figures(ROWS[ROWS["geo.country"].isin(["GB", "UK"])]))


def test_a_ratio_with_a_zero_denominator(hourly: Caller) -> None:
    """A ratio whose denominator is zero is null."""
    by_hour = rows(hourly.audience(split_by=["granularity_hour"], end_date=str(FIRST + dt.timedelta(days=2))))
    empty = [row for row in by_hour.values() if row["imps"] == 0]
    assert empty
    assert all(row["ctr"] is None for row in empty)


def test_values_are_numbers(hourly: Caller) -> None:
    """Whole numbers travel as integers, others with 13 significant digits, the same in every answer."""
    row = figures(hourly.audience()["total"])
    assert isinstance(row["imps"], int)
    assert row["revenue"] == float(f"{ROWS['revenue'].sum():.13g}")
