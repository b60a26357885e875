"""Extensions of the specification, as listed by info."""

import datetime as dt
import math

import pandas as pd
import pytest

from conformance.reporting import oracle
from conformance.reporting.caller import Answer, Caller, agree, figures, rows, same
from conformance.reporting.files import read
from conformance.reporting.hourly import CATEGORIES, COUNTRIES, FIRST, ROWS, USUAL
from conformance.reporting.others import many_frame
from conformance.reporting.test_row_filters import visible

EXTENSIONS = [
    "exact_within", "same_precision_as",
    "escape_formulas",
    "full_digits", "own_fields",
    "data_fields", "data_filters", "include_mappings", "order_by", "limit", "offset", "audience_key",
    "engine", "as_of", "polarity", "role", "currency",
    "precision", "restrictions", "any_of", "records", "time_zones", "xlsx",
    "arrow",
]  # fmt: skip


def names(answer: Answer) -> list[str]:
    """The first name of each row."""
    return [row["name"][0] for row in answer["rows"]]


def test_info_lists_them(hourly: Caller) -> None:
    """info lists every extension in `extensions`."""
    assert sorted(hourly.info()["extensions"]) == sorted(EXTENSIONS)


@pytest.mark.parametrize(
    "asked", [["ctr", "imps"], ["bonus"], "clicks", ["unique_devices", "bonus"]], ids=str
)
def test_data_fields(hourly: Caller, asked: list[str]) -> None:
    """data_fields says which data fields come back, in which order; an optional one only so."""
    answer = hourly.audience(split_by=["site_id"], data_fields=asked)
    assert [list(figures(row)) for row in (*answer["rows"], answer["total"])] == [
        [asked] if isinstance(asked, str) else asked
    ] * (len(answer["rows"]) + 1)
    same(rows(answer), oracle.split(ROWS, ["site_id"]))


def test_data_fields_of_an_export(hourly: Caller) -> None:
    """An export takes data_fields too."""
    file = read(hourly.export(split_by=["site_id"], data_fields=["bonus", "imps"]), "csv")
    assert file.titles == ["Site", "bonus", "Impressions"]


OWN = [
    {"name": "per click", "formula": "revenue / clicks", "description": "Revenue per click"},
    {"name": "gap", "formula": "-(imps - 100 * clicks / ctr) + reach * unique_users"},
]


def test_own_fields(hourly: Caller) -> None:
    """own_fields are formulas over data fields; they come back, order and filter as those of the slicer."""
    asked = {"data_fields": ["per click", "gap"], "own_fields": OWN, "split_by": ["domain"]}
    order = [{"name": "per click", "direction": "asc"}]
    passing = [{"name": "per click", "match": ">=", "value": 1.0}]
    answer = hourly.audience(**asked, order_by=order, data_filters=passing)
    groups, whole = oracle.split(ROWS, ["domain"]), oracle.figures(ROWS)
    ratios = {
        key: sums["revenue"] / sums["clicks"]
        for key, sums in groups.items()
        if sums["clicks"] and sums["revenue"] is not None and sums["revenue"] / sums["clicks"] >= 1
    }
    assert [figures(row)["per click"] for row in answer["rows"]] == pytest.approx(sorted(ratios.values()))
    for row in answer["rows"]:
        assert figures(row)["gap"] == pytest.approx(groups[tuple(row["name"])]["imps"], abs=1e-6)
    assert figures(answer["total"])["per click"] == pytest.approx(whole["revenue"] / whole["clicks"])
    file = read(hourly.export(**asked), "csv")
    assert file.titles == ["Domain", "Revenue per click", "gap"]


@pytest.mark.sampling
def test_an_own_field_has_the_range_of_the_same_formula(many: Caller) -> None:
    """Of a sample an own field has a range around the truth, as a formula of the slicer has."""
    asked = {"start_date": "2026-03-01", "end_date": "2026-03-31", "audience_rows_limit": 10_000}
    own = [{"name": "mine", "formula": "revenue / imps"}]
    answer = many.audience(split_by=["site"], own_fields=own, data_fields=["mine"], precision=1, **asked)
    sums = many_frame().groupby("site")[["revenue", "imps"]].sum()
    truth, inside = sums["revenue"] / sums["imps"], []
    for row in answer["rows"]:
        cell = row["data"][0]
        assert cell["low"] < cell["value"] < cell["high"]
        inside.append(cell["low"] <= truth[row["name"][0]] <= cell["high"])
    assert sum(inside) >= 0.8 * len(inside)


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        ({"name": "x", "formula": "imps / nothing"}, "nothing"),
        ({"name": "x", "formula": "imps /"}, "column 7"),
        ({"name": "imps", "formula": "clicks"}, "already"),
        ({"name": "x", "formula": "__import__('os')"}, "__import__"),
        ({"name": "x"}, "formula"),
    ],
)
def test_own_fields_that_can_not_be_read(hourly: Caller, own: dict[str, str], reason: str) -> None:
    """An own field without a readable formula, or of a name that is taken, is a bad request that says why."""
    answer = hourly.post("audience", own_fields=[own], data_fields=["imps"]).json()
    assert answer["status"] == "bad_request"
    assert reason in answer["reason"]


def test_include_mappings(hourly: Caller) -> None:
    """include_mappings adds each row's descriptions, aligned with its name; a code without one stays."""
    answer = hourly.audience(split_by=["site_id", "geo.country", "categories"], include_mappings=1)
    for row in answer["rows"]:
        site, country, category = row["name"]
        assert row["description"] == [
            site,
            COUNTRIES.get(country, country),
            CATEGORIES.get(category, category),
        ]
    assert "description" not in hourly.audience(split_by=["geo.country"])["rows"][0]


GERMANY = {"name": "geo.country", "match": "equals", "value": ["DE"]}
NOT_A = {"name": "segments", "match": "not equals", "value": ["a"]}
SHOP = {"name": "domain", "match": "contains", "value": ["SHOP"], "case_insensitive": 1}
NAMED = {"name": "geo.country", "match": "begins with", "value": ["United"], "search_mappings": 1}
FIRST_DAY = {"name": "granularity_day", "match": "equals", "value": [str(FIRST)]}
LATER_DAYS = {"name": "granularity_day", "match": "not equals", "value": [str(FIRST)]}

WEEKEND = {"name": "granularity_weekday", "match": "equals", "value": ["6 Saturday", "7 Sunday"]}
NOT_MONDAY = {"name": "granularity_weekday", "match": "not contains", "value": ["mon"], "case_insensitive": 1}
MORNINGS = {"name": "granularity_hour_of_day", "match": "begins with", "value": ["0"]}


@pytest.mark.parametrize(
    "any_of",
    [
        [[GERMANY]],
        [[GERMANY, SHOP]],
        [[GERMANY, NOT_A], [SHOP, NAMED]],
        [[FIRST_DAY, NOT_A]],
        [[FIRST_DAY, LATER_DAYS]],
        [[FIRST_DAY]],
        [[WEEKEND]],
        [[WEEKEND, MORNINGS]],
        [[NOT_MONDAY, GERMANY]],
    ],
    ids=str,
)
def test_any_of(hourly: Caller, any_of: list[list[dict[str, object]]]) -> None:
    """Of each group of any_of a record passes any filter, and all of `filters`; in files too."""
    expected = ROWS
    for group in any_of:
        expected = expected[
            pd.concat([passes(expected, condition) for condition in group], axis="columns").any(axis=1)
        ]
    same(rows(hourly.audience(split_by=["segments"], any_of=any_of)), oracle.split(expected, ["segments"]))
    expected = expected[passes(expected, NAMED)]
    answer = hourly.audience(split_by=["domain"], any_of=any_of, filters=[NAMED])
    same(rows(answer), oracle.split(expected, ["domain"]))
    agree(figures(answer["total"]), oracle.figures(expected)) if len(expected) else None
    file = read(hourly.export(split_by=["domain"], any_of=any_of, filters=[NAMED], escape_formulas=0), "csv")
    assert {str(line[0]) for line in file.lines} == {row["name"][0] for row in answer["rows"]}


def passes(rows: pd.DataFrame, filter_: dict[str, object]) -> pd.Series:
    """Whether each row passes the filter, by plain Python."""
    return pd.Series(rows.index.isin(visible((filter_,), rows).index), index=rows.index)


@pytest.mark.parametrize(
    ("any_of", "reason"),
    [
        ([[]], "any_of[0]"),
        ([GERMANY], "any_of[0]"),
        ([[GERMANY | {"name": "nothing"}]], "nothing"),
        ([[GERMANY | {"match": "is"}]], "any_of[0][0].match"),
        ([[GERMANY]] * 21, "any_of"),
        ([[GERMANY] * 51], "any_of[0]"),
    ],
)
@pytest.mark.parametrize("verb", ["audience", "export"])
def test_groups_that_can_not_be_read(hourly: Caller, verb: str, any_of: object, reason: str) -> None:
    """A group that is empty, no list, too long or about an unknown field is a bad request that says where."""
    answer = hourly.post(verb, any_of=any_of).json()
    assert answer["status"] == "bad_request"
    assert reason in answer["reason"]


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("name", ["imps", "adjustment", "ctr", "unique_users", "least", "bonus"])
def test_order_by_a_data_field(hourly: Caller, name: str, direction: str) -> None:
    """order_by orders rows by a data field, returned or not; missing values come last either way."""
    order = [{"name": name, "direction": direction}]
    last = FIRST + dt.timedelta(days=4)
    order_names = names(hourly.audience(split_by=["granularity_hour"], order_by=order, end_date=str(last)))
    expected = oracle.split(oracle.between(FIRST, last), ["granularity_hour"])
    values = pd.Series([expected[name_,][name] for name_ in order_names], dtype=float)
    assert values.sort_values(ascending=direction == "asc", kind="stable").index.tolist() == [
        *range(len(values))
    ]


def test_order_by_key_fields(hourly: Caller) -> None:
    """order_by orders by text, or by number where the type is int, missing numbers last; then by the next."""
    by_text = [{"name": "domain", "direction": "asc"}]
    assert names(hourly.audience(split_by=["domain"], order_by=by_text)) == sorted(
        {*ROWS["domain"].fillna("")}
    )
    by_number = [{"name": "site_id", "direction": "desc"}, {"name": "segments", "direction": "asc"}]
    answer = hourly.audience(split_by=["site_id", "segments"], order_by=by_number)
    segments = ["", "a", "b", "c", "d"]
    assert [row["name"] for row in answer["rows"]] == [
        [site, segment] for site in ("10", "2", "1", "-3", "") for segment in segments
    ]


def test_the_usual_order(hourly: Caller) -> None:
    """Where nothing is asked, rows come from the largest down by the first data field; direction is desc."""
    usual = hourly.audience(split_by=["domain"])
    assert usual == hourly.audience(split_by=["domain"], order_by=[{"name": "imps"}])
    values = [figures(row)["imps"] for row in usual["rows"]]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(("limit", "offset"), [(3, 0), (3, 4), (0, 0), (1000, 5), (None, 6), (5, 10_000)])
def test_limit_and_offset(hourly: Caller, limit: int | None, offset: int) -> None:
    """limit and offset cut after ordering; totals and records_found stay those of the whole."""
    whole = hourly.audience(split_by=["domain"])
    part = hourly.audience(split_by=["domain"], limit=limit, offset=offset)
    assert part["rows"] == whole["rows"][offset:][:limit]
    assert part["total"] == whole["total"]


@pytest.mark.parametrize("verb", ["audience", "export"])
def test_a_limit_of_minus_one_is_no_limit(hourly: Caller, verb: str) -> None:
    """`limit: -1`, which a client in use sends, returns every row."""
    all_rows = hourly.post(verb, split_by=["domain"])
    assert hourly.post(verb, split_by=["domain"], limit=-1).content == all_rows.content


@pytest.mark.parametrize(
    "data_filters",
    [
        [{"name": "imps", "match": ">=", "value": 100}],
        [{"name": "ctr", "match": "<", "value": 5}, {"name": "clicks", "match": "!=", "value": 0}],
        [{"name": "bonus", "match": "<=", "value": 0}],
        [{"name": "imps", "match": "<", "value": 0}],
    ],
    ids=str,
)
def test_rows_by_their_figures(hourly: Caller, data_filters: list[dict[str, object]]) -> None:
    """data_filters leaves rows out by their figures, returned or not; the total stays that of the whole."""
    compare = {">=": pd.Series.ge, "<": pd.Series.lt, "!=": pd.Series.ne, "<=": pd.Series.le}
    whole = hourly.audience(split_by=["domain"])
    part = hourly.audience(split_by=["domain"], data_filters=data_filters)
    expected = pd.DataFrame.from_dict(oracle.split(ROWS, ["domain"]), orient="index")
    for condition in data_filters:
        values = expected[str(condition["name"])].astype(float)
        expected = expected[compare[str(condition["match"])](values, condition["value"]) & values.notna()]
    assert sorted(names(part)) == sorted(name for (name,) in expected.index)
    assert part["rows"] == [row for row in whole["rows"] if row["name"][0] in names(part)]
    assert part["total"] == whole["total"] | {"records_found": len(expected)}
    page = hourly.audience(split_by=["domain"], data_filters=data_filters, limit=1, offset=1)
    assert page["rows"] == part["rows"][1:2]


def test_limit_of_an_export(hourly: Caller) -> None:
    """An export takes order_by, limit and offset too; its total is that of the whole."""
    fields = {"split_by": ["domain"], "order_by": [{"name": "clicks"}], "limit": 2, "offset": 1}
    lines = read(hourly.export(**fields, include_total=1, export_format="tsv2"), "tsv2").rows(1)
    assert list(lines) == [tuple(row["name"]) for row in hourly.audience(**fields)["rows"]] + [("Total",)]
    assert lines["Total",][0] == ROWS["imps"].sum()


@pytest.mark.service
@pytest.mark.parametrize("wrong", [-2, 1.5, "all", True])
@pytest.mark.parametrize("field", ["limit", "offset"])
def test_wrong_limits(hourly: Caller, field: str, wrong: object) -> None:
    """limit and offset are whole numbers from 0."""
    assert hourly.reason("audience", **{field: wrong}).startswith(f"{field} ")


@pytest.mark.parametrize(("source", "other"), [("users", "unique_devices"), ("devices", "unique_users")])
@pytest.mark.parametrize("verb", ["audience", "export"])
def test_audience_key(hourly: Caller, verb: str, source: str, other: str) -> None:
    """audience_key chooses the audience source: users of the others are not returned."""
    if verb == "audience":
        field_names = list(figures(hourly.audience(audience_key=source)["total"]))
    else:
        field_names = read(hourly.export(audience_key=source, export_format="tsv2"), "tsv2").titles
    assert field_names == [name for name in USUAL if name != other]


def test_shares_add_up(hourly: Caller) -> None:
    """Without segmented fields the shares of all rows add up to a hundred percent, also beyond a limit."""
    answer = hourly.audience(split_by=["domain"])
    shares = [cell["percent"] for row in answer["rows"] for cell in row["data"] if cell["name"] == "imps"]
    assert math.isclose(sum(shares), 100)
    limited = hourly.audience(split_by=["domain"], limit=1)["rows"][0]
    agree(figures(limited), figures(answer["rows"][0]))
    assert limited["data"][0]["percent"] == answer["rows"][0]["data"][0]["percent"]
