"""Specification, "Export": request fields besides the always required ones."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import pytest

from conformance.reporting import oracle
from conformance.reporting.caller import ABSENT, Caller
from conformance.reporting.files import read
from conformance.reporting.hourly import CATEGORIES, COUNTRIES, ROWS, USUAL
from conformance.reporting.oracle import Figures, Key

FORMATS = ("xls", "csv", "tsv", "tsv2", "xlsx")
ROUNDED = {"csv", "tsv"}
PRECISION = dict.fromkeys(USUAL, 0) | {
    "revenue": 3, "adjustment": 2, "price": 2, "ctr": 2, "value": 4, "reach": 2,
}  # fmt: skip
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq,
    "!=": operator.ne,
}  # fmt: skip


def check(
    actual: Mapping[Key, Sequence[float | None]],
    expected: Mapping[Key, Figures],
    export_format: str,
    names: Sequence[str] = USUAL,
) -> None:
    """Fail unless the file has these rows, rounded to the display precision where the format rounds."""
    assert actual.keys() == expected.keys()
    for key, numbers in actual.items():
        for name, number in zip(names, numbers, strict=True):
            half = 0.5 * 10 ** -PRECISION[name] if export_format in ROUNDED else 0
            right = expected[key][name]
            if right is None:
                assert number is None, (key, name)
            else:
                assert number == pytest.approx(right, rel=1e-9, abs=half + 1e-9), (key, name)


@pytest.mark.service
@pytest.mark.parametrize("split_by", [[], ["site_id"], ["site_id", "segments"]], ids=",".join)
@pytest.mark.parametrize("export_format", FORMATS)
def test_export_format(hourly: Caller, export_format: str, split_by: list[str]) -> None:
    """Each format (xlsx is ours) holds a header, then one row per split value, with its figures."""
    file = read(hourly.export(export_format=export_format, split_by=split_by), export_format)
    expected = oracle.split(ROWS, split_by) if split_by else {(): oracle.figures(ROWS)}
    check(file.rows(len(split_by)), expected, export_format)


@pytest.mark.service
@pytest.mark.parametrize("wrong", [ABSENT, None, "CSV", "json", "", 1, ["csv"]])
def test_export_format_is_required(hourly: Caller, wrong: object) -> None:
    """export_format is required, and one of the formats; the reason lists them."""
    reason = hourly.reason("export", export_format=wrong)
    assert "export_format is required" in reason or all(f"'{known}'" in reason for known in FORMATS)


def test_filters(hourly: Caller) -> None:
    """filters are those of audience."""
    wanted = {"name": "geo.country", "match": "equals", "value": ["Germany"], "search_mappings": 1}
    file = read(hourly.export(split_by=["site_id"], filters=[wanted]), "csv")
    check(file.rows(1), oracle.split(ROWS[ROWS["geo.country"] == "DE"], ["site_id"]), "csv")


@pytest.mark.parametrize("split_by", [["granularity_week"], ["granularity_month", "site_id"]], ids=",".join)
def test_split_by(hourly: Caller, split_by: list[str]) -> None:
    """split_by is that of audience; the rows come in the same order."""
    lines = read(hourly.export(split_by=split_by), "csv").lines
    names = [row["name"] for row in hourly.audience(split_by=split_by)["rows"]]
    assert [line[: len(split_by)] for line in lines] == names


@pytest.mark.service
@pytest.mark.parametrize("field", ["start_date", "end_date"])
def test_dates_are_required(hourly: Caller, field: str) -> None:
    """start_date and end_date are required."""
    assert hourly.reason("export", **{field: ABSENT}) == f"{field} is required"


@pytest.mark.parametrize("zone", [-12, 0, 12])
def test_timezone(hourly: Caller, zone: int) -> None:
    """timezone is that of audience."""
    file = read(hourly.export(split_by=["granularity_quarter"], timezone=zone), "csv")
    first, last = oracle.local(ROWS).dt.date.agg(["min", "max"])
    check(file.rows(1), oracle.split(oracle.between(first, last, zone), ["granularity_quarter"], zone), "csv")


@pytest.mark.service
@pytest.mark.parametrize("export_format", FORMATS)
def test_mappings_are_included_for_one_key_field(hourly: Caller, export_format: str) -> None:
    """include_mappings is 1 by default for one key field: its descriptions follow it, the codes stay."""
    file = read(hourly.export(export_format=export_format, split_by=["geo.country"]), export_format)
    described = {key: line for key, *line in file.lines}
    assert {code: line[0] or "" for code, line in described.items() if code} == COUNTRIES | {"ZZ": "ZZ"}
    assert len(file.titles) == 2 + len(USUAL)


@pytest.mark.service
@pytest.mark.parametrize("export_format", FORMATS)
def test_mappings_are_left_out_for_several_key_fields(hourly: Caller, export_format: str) -> None:
    """include_mappings is 0 by default for two key fields or more."""
    split_by = ["geo.country", "categories"]
    file = read(hourly.export(export_format=export_format, split_by=split_by), export_format)
    assert len(file.titles) == 2 + len(USUAL)
    check(file.rows(2), oracle.split(ROWS, split_by), export_format)


@pytest.mark.parametrize("asked", [1, True])
def test_include_mappings(hourly: Caller, asked: object) -> None:
    """With include_mappings 1 each mapped key field is followed by its descriptions, the others by none."""
    split_by = ["geo.country", "site_id", "categories"]
    file = read(hourly.export(split_by=split_by, include_mappings=asked), "csv")
    assert file.titles[:5] == [
        "Country", "Country (description)", "Site", "Category", "Category (description)",
    ]  # fmt: skip
    for country, described, _, category, text in (line[:5] for line in file.lines):
        assert described == COUNTRIES.get(str(country), country)
        assert text == CATEGORIES.get(str(category), category)


@pytest.mark.parametrize("asked", [0, False])
def test_mappings_can_be_left_out(hourly: Caller, asked: object) -> None:
    """With include_mappings 0 no descriptions are returned, for one key field either."""
    file = read(hourly.export(split_by=["geo.country"], include_mappings=asked), "csv")
    check(file.rows(1), oracle.split(ROWS, ["geo.country"]), "csv")


def test_a_field_without_mapping(hourly: Caller) -> None:
    """A key field that has no mapping gets no column of descriptions."""
    file = read(hourly.export(split_by=["segments"], include_mappings=1), "csv")
    assert file.titles[:2] == ["segments", "Impressions"]


@pytest.mark.service
@pytest.mark.parametrize("export_format", FORMATS)
def test_include_total(hourly: Caller, export_format: str) -> None:
    """With include_total 1 the last row has the total values; its first key cell is `Total`."""
    fields = {"export_format": export_format, "split_by": ["categories", "site_id"], "include_total": 1}
    by_key = read(hourly.export(**fields), export_format).rows(2)
    assert list(by_key)[-1] == ("Total", "")
    expected = oracle.split(ROWS, fields["split_by"]) | {("Total", ""): oracle.figures(ROWS)}
    check(by_key, expected, export_format)


@pytest.mark.service
@pytest.mark.parametrize("asked", [ABSENT, 0, False])
def test_the_total_is_left_out_by_default(hourly: Caller, asked: object) -> None:
    """include_total is 0 by default, and 0 omits the total."""
    file = read(hourly.export(split_by=["site_id"], include_total=asked), "csv")
    assert "Total" not in file.column("Site")


@pytest.mark.service
@pytest.mark.parametrize("field", ["include_mappings", "include_total"])
@pytest.mark.parametrize("wrong", [2, "yes", [1]])
def test_flags(hourly: Caller, field: str, wrong: object) -> None:
    """include_mappings and include_total are 0 or 1."""
    assert hourly.reason("export", **{field: wrong}).startswith(f"{field} must be 0 or 1")


@pytest.mark.parametrize(
    ("name", "as_text"), [("imps", False), ("imps", True), ("ctr", False), ("unique_users", False)]
)
@pytest.mark.parametrize("match", COMPARISONS)
def test_data_filters(hourly: Caller, match: str, name: str, as_text: bool) -> None:
    """A data filter keeps the rows whose data field compares so with a number of 13 digits, or its text."""
    everything = {
        key: row | {name: row[name] and float(f"{row[name]:.13g}")}
        for key, row in oracle.split(ROWS, ["granularity_day"]).items()
    }
    present = sorted(row[name] for row in everything.values() if row[name] is not None)
    value = present[len(present) // 2]
    wanted = [{"name": name, "match": match, "value": repr(float(value)) if as_text else value}]
    file = read(hourly.export(split_by=["granularity_day"], data_filters=wanted), "csv")
    kept = {
        key: row
        for key, row in everything.items()
        if row[name] is not None and COMPARISONS[match](row[name], value)
    }
    check(file.rows(1), kept, "csv")


def test_several_data_filters(hourly: Caller) -> None:
    """Data filters hold together."""
    wanted = [{"name": "imps", "match": ">", "value": 500}, {"name": "clicks", "match": "<=", "value": 70}]
    fields = {"split_by": ["granularity_day"], "data_filters": wanted}
    by_key = read(hourly.export(**fields), "csv").rows(1)
    everything = oracle.split(ROWS, ["granularity_day"])
    kept = {key: row for key, row in everything.items() if row["imps"] > 500 and row["clicks"] <= 70}
    assert 0 < len(kept) < len(everything)
    check(by_key, kept, "csv")


@pytest.mark.service
@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"name": "impz", "match": ">", "value": 1}, r"Unknown data field 'impz'; did you mean 'imps'\?"),
        ({"name": "site_id", "match": ">", "value": 1}, "Unknown data field 'site_id'"),
        ({"name": "imps", "match": "<>", "value": 1}, r"data_filters\[0\].match must be '<', '<=', .*"),
        ({"name": "imps", "match": ">", "value": "many"}, r"data_filters\[0\].value .*number.*"),
        ({"name": "imps", "match": ">", "value": "nan"}, r"data_filters\[0\].value .*finite number.*"),
        ({"name": "imps", "match": ">"}, r"data_filters\[0\].value is required"),
        ({"name": "imps", "value": 1}, r"data_filters\[0\].match is required"),
        ({"match": ">", "value": 1}, r"data_filters\[0\].name is required"),
        ({"name": "imps", "match": ">", "value": 1, "or": 2}, r"data_filters\[0\].or is not a field .*"),
    ],
)
def test_wrong_data_filters(hourly: Caller, wrong: object, reason: str) -> None:
    """A data filter of another shape, or of an unknown data field, is refused with its place."""
    assert re.fullmatch(reason, hourly.reason("export", data_filters=[wrong]))


@pytest.mark.service
@pytest.mark.parametrize("field", ["audience_rows_limit", "precision"])
def test_what_export_does_not_know(hourly: Caller, field: str) -> None:
    """A file is never sampled: audience_rows_limit and precision are no fields of an export."""
    assert hourly.reason("export", **{field: 1}).startswith(f"Unknown request field '{field}'")


def test_without_a_split_the_total_is_the_only_row(hourly: Caller) -> None:
    """Without a split the file has the one row that is the total, and with include_total 1 no second."""
    for export_format in FORMATS:
        files = [
            read(hourly.export(export_format=export_format, include_total=asked), export_format)
            for asked in (0, 1)
        ]
        assert files[0].lines == files[1].lines
        check(files[1].rows(0), {(): oracle.figures(ROWS)}, export_format)


def in_rows(split_by: Sequence[str], kept: set[Key]) -> pd.DataFrame:
    """The records that belong to one of these rows, each once."""
    keys = pd.concat([oracle.values(ROWS, name).rename(name) for name in split_by], axis=1)
    for name in split_by:
        keys = keys.explode(name)
    is_in = [tuple(map(str, key)) in kept for key in keys.itertuples(index=False, name=None)]
    return ROWS.loc[keys.index[is_in].unique()]


SEGMENTED_SPLIT = ["site_id", "segments", "granularity_month"]


@pytest.mark.parametrize(
    ("export_format", "split_by"),
    [
        *((export_format, SEGMENTED_SPLIT) for export_format in FORMATS),
        ("csv", ["granularity_day"]),
        ("csv", ["categories"]),
    ],
    ids=str,
)
def test_the_total_with_data_filters(hourly: Caller, export_format: str, split_by: list[str]) -> None:
    """With data_filters the total is that of the rows in the file, and says so; no record counts twice."""
    everything = oracle.split(ROWS, split_by)
    value = sorted(row["imps"] or 0 for row in everything.values())[len(everything) // 2]
    wanted = [{"name": "imps", "match": ">", "value": value}]
    fields = {"export_format": export_format, "split_by": split_by, "include_mappings": 0}
    file = read(hourly.export(**fields, data_filters=wanted, include_total=1), export_format)
    kept = {key: row for key, row in everything.items() if row["imps"] > value}
    assert 0 < len(kept) < len(everything)
    total = ("Total of these rows", *[""] * (len(split_by) - 1))
    expected = kept | {total: oracle.figures(in_rows(split_by, set(kept)))}
    check(file.rows(len(split_by)), expected, export_format)
    assert file.lines[-1][0] == "Total of these rows"


def test_the_total_of_no_rows(hourly: Caller) -> None:
    """Where no row passes the data filters the total is that of nothing: zero, or no figure."""
    wanted = [{"name": "imps", "match": "<", "value": -1}]
    fields = {"split_by": ["site_id"], "data_filters": wanted, "include_total": 1}
    check(
        read(hourly.export(**fields), "csv").rows(1),
        {("Total of these rows",): oracle.figures(ROWS[:0])},
        "csv",
    )
