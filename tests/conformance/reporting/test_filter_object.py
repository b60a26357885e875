"""Specification, "Filter object (element of `filters`, used by audience and export)"."""

from collections.abc import Callable

import pytest

from conformance.reporting.caller import Caller, agree, figures
from conformance.reporting.hourly import COUNTRIES, ROWS
from conformance.reporting.oracle import figures as expected_figures

DOMAIN = {"name": "domain", "match": "equals", "value": ["shop.example"]}
TEXTS = ROWS["domain"].fillna("")
MATCHES: dict[str, Callable[[str, str], bool]] = {
    "equals": str.__eq__,
    "not equals": str.__eq__,
    "contains": str.__contains__,
    "not contains": str.__contains__,
    "begins with": str.startswith,
    "ends with": str.endswith,
}
PARTS = ["shop.example", "example", "s", "%", "_", "\\", '"', "ü", "EXAMPLE", "", "two\r\nlines", "nowhere"]


def count(caller: Caller, **changes: object) -> float | None:
    """How many records a filter of the domain lets through."""
    answer = caller.audience(filters=[DOMAIN | changes])
    return figures(answer["total"])["records"]


@pytest.mark.service
@pytest.mark.parametrize("field", ["name", "value", "match"])
@pytest.mark.parametrize("verb", ["audience", "export"])
def test_name_value_and_match_are_required(hourly: Caller, verb: str, field: str) -> None:
    """A filter without name, value or match is refused, with the place of what is missing."""
    incomplete = {name: value for name, value in DOMAIN.items() if name != field}
    assert hourly.reason(verb, filters=[DOMAIN, incomplete]) == f"filters[1].{field} is required"


@pytest.mark.service
def test_name_is_that_of_a_key_field(hourly: Caller) -> None:
    """`name` names a key field to query; a data field is none."""
    assert hourly.reason("audience", filters=[DOMAIN | {"name": "imps"}]).startswith(
        "Unknown key field 'imps'"
    )


@pytest.mark.parametrize("verb", ["audience", "export"])
def test_audience_and_export_take_the_same_filters(hourly: Caller, verb: str) -> None:
    """A filter is read by both endpoints."""
    assert hourly.post(verb, filters=[DOMAIN]).status_code == 200


def test_value_lists_values_to_match(hourly: Caller) -> None:
    """`value` is an array: a record matches when any of its values does."""
    values = ["shop.example", "@there"]
    assert count(hourly, value=values) == TEXTS.isin(values).sum()


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("match", MATCHES)
def test_match(hourly: Caller, match: str, part: str) -> None:
    """Each of the six matches selects as its name says, and takes every character literally."""
    selected = TEXTS.map(lambda text: MATCHES[match](text, part)) ^ match.startswith("not ")
    answer = hourly.audience(filters=[DOMAIN | {"match": match, "value": [part]}])
    expected = expected_figures(ROWS[selected])
    agree(figures(answer["total"]), expected)


@pytest.mark.service
@pytest.mark.parametrize("match", ["Equals", "equal", "regex", "begins", "not begins with", "", None, 1])
def test_other_matches_are_refused(hourly: Caller, match: object) -> None:
    """`match` is one of six; the reason lists them."""
    reason = hourly.reason("audience", filters=[DOMAIN | {"match": match}])
    assert all(f"'{known}'" in reason for known in MATCHES)


@pytest.mark.parametrize("match", MATCHES)
def test_case_sensitive_by_default(hourly: Caller, match: str) -> None:
    """case_insensitive is 0 unless given: the other spelling is another value."""
    assert count(hourly, match=match) == count(hourly, match=match, case_insensitive=0)
    assert count(hourly, match=match) != count(hourly, match=match, case_insensitive=1)


@pytest.mark.parametrize("part", ["SHOP.example", "MÜNCHEN", "NEWS", "Sum(a"])
@pytest.mark.parametrize("match", MATCHES)
def test_case_insensitive(hourly: Caller, match: str, part: str) -> None:
    """With case_insensitive 1, capitals and small letters are the same."""
    selected = TEXTS.map(lambda text: MATCHES[match](text.lower(), part.lower())) ^ match.startswith("not ")
    assert count(hourly, match=match, value=[part], case_insensitive=1) == selected.sum()


@pytest.mark.service
@pytest.mark.parametrize("flag", ["case_insensitive", "search_mappings"])
@pytest.mark.parametrize("wrong", [2, -1, "yes", 0.5])
def test_flags_are_0_or_1(hourly: Caller, flag: str, wrong: object) -> None:
    """case_insensitive and search_mappings are 0 or 1."""
    assert f"filters[0].{flag} must be 0 or 1" in hourly.reason("audience", filters=[DOMAIN | {flag: wrong}])


@pytest.mark.parametrize("text", ["ΟΔΟΣ", "οδοσ", "İzmir"])
@pytest.mark.parametrize("match", ["equals", "contains", "begins with", "ends with"])
def test_letters_that_lower_in_odd_ways(hourly: Caller, match: str, text: str) -> None:
    """A text always matches itself case-insensitively, also where lower-casing depends on its place."""
    matches = count(hourly, match=match, value=[text], case_insensitive=1)
    assert matches == TEXTS.isin([text, text.upper()]).sum() > 0


def test_mappings_are_not_searched_by_default(hourly: Caller) -> None:
    """search_mappings is 0 unless given: only key field values are searched."""
    by_text = {"name": "geo.country", "value": ["Germany"]}
    assert count(hourly, **by_text) == count(hourly, **by_text, search_mappings=0) == 0


@pytest.mark.parametrize("split_by", [[], ["granularity_week", "categories"]])
@pytest.mark.parametrize("match", ["equals", "not equals"])
@pytest.mark.parametrize("code", ["US", "CI"])
def test_mapping_text_and_raw_value_select_identical_records(
    hourly: Caller, code: str, match: str, split_by: list[str]
) -> None:
    """Rule 1: with search_mappings 1 a filter by the mapping's text and one by the raw value are the same."""
    wanted = {"name": "geo.country", "match": match, "search_mappings": 1}
    by_text = hourly.audience(filters=[wanted | {"value": [COUNTRIES[code]]}], split_by=split_by)
    by_code = hourly.audience(filters=[wanted | {"value": [code]}], split_by=split_by)
    assert by_text == by_code
    assert by_code["rows"][0]["data"][0]["value"] > 0


@pytest.mark.parametrize("part", ["d", "Un", "ü", "d'I", "ZZ", "%", "United"])
@pytest.mark.parametrize("case_insensitive", [0, 1])
def test_partial_matching_with_mappings(hourly: Caller, part: str, case_insensitive: int) -> None:
    """Rule 2: `contains` works on mappings, also with a search string of one or two characters."""
    codes = ROWS["geo.country"].fillna("")
    searched = [codes, codes.map(COUNTRIES).fillna("")]
    if case_insensitive:
        searched, part = [texts.str.lower() for texts in searched], part.lower()
    selected = searched[0].str.contains(part, regex=False) | searched[1].str.contains(part, regex=False)
    wanted = {"name": "geo.country", "match": "contains", "value": [part], "search_mappings": 1}
    assert count(hourly, **wanted, case_insensitive=case_insensitive) == selected.sum()


def test_mappings_of_segmented_fields(hourly: Caller) -> None:
    """A segmented key field is searched by its mapping too: a record matches if any element's text does."""
    selected = ROWS["categories"].map(lambda elements: bool({"sport", "travel"} & set(elements or ())))
    wanted = {"name": "categories", "match": "contains", "value": ["sport"], "search_mappings": 1}
    assert count(hourly, **wanted, case_insensitive=1) == selected.sum()
