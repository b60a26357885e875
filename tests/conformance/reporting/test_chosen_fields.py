"""Any choice of data fields is answered: only sums, only counts, only formulas, or no field at all."""

from functools import cache
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from needs import draws

from conformance.reporting.caller import Answer, Caller, figures
from conformance.reporting.files import read
from conformance.reporting.others import DAILY_FIRST, DAILY_LAST, MIXED_DAYS, MIXED_FIRST, mixed_frame
from lib.reporting.answers import as_arrow, as_json

ARROW = {"Content-Type": "application/json", "Accept": as_arrow.MEDIA_TYPE}
PERIOD = {
    "start_date": str(MIXED_FIRST),
    "end_date": str(MIXED_FIRST + pd.Timedelta(days=MIXED_DAYS - 1).to_pytimedelta()),
}
ADDITIVE = ("imps", "revenue", "records")
FIELDS = (
    *ADDITIVE, "price", "least", "most", "kinds", "ecpm", "spread", "half", "per_user", "fee",
    "unique_users",
)  # fmt: skip
SPLITS: tuple[tuple[str, ...], ...] = (
    (), ("site",), ("tags",), ("page",), ("granularity_day",), ("site", "tags"),
    ("granularity_day", "site"), ("tags", "granularity_hour", "site"),
)  # fmt: skip
FILTERS: dict[str, list[dict[str, Any]]] = {
    "none": [],
    "one value": [{"name": "site", "match": "equals", "value": ["b"]}],
    "a segmented field": [{"name": "tags", "match": "not equals", "value": ["z"]}],
    "a day": [{"name": "granularity_day", "match": "equals", "value": [str(MIXED_FIRST)]}],
    "nothing": [{"name": "site", "match": "equals", "value": ["nowhere"]}],
}
questions = st.fixed_dictionaries(
    {
        "split_by": st.sampled_from(SPLITS).map(list),
        "filters": st.sampled_from([*FILTERS.values()]),
        "audience_rows_limit": st.sampled_from([10_000, 1_000_000]),
    }
)
choices = st.lists(st.sampled_from(FIELDS), min_size=1, max_size=4, unique=True)
extras = st.fixed_dictionaries(
    {}, optional={"limit": st.integers(0, 5), "offset": st.integers(0, 3), "precision": st.just(1)}
)
many_examples = settings(
    max_examples=draws(12),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module")
def mixed(hourly: Caller) -> Caller:
    """Asks about the slicer with every kind of data field and more records than a sample takes."""
    return hourly.about("mixed")


@many_examples
@given(question=questions, chosen=choices, extra=extras)
def test_a_field_has_the_figures_that_it_has_among_all(
    mixed: Caller, question: Answer, chosen: list[str], extra: Answer
) -> None:
    """Whichever data fields are chosen, each has the figures and ranges that it has among all of them."""
    process_lock = mixed.audience(**PERIOD, **question, **extra, data_fields=chosen)
    among = mixed.audience(**PERIOD, **question, data_fields=list(FIELDS), precision=1)
    rows = {tuple(row["name"]): row for row in among["rows"]}
    assert process_lock["total"]["records_found"] == len(rows) == among["total"]["records_found"]
    assert len(process_lock["rows"]) == len(range(len(rows))[extra.get("offset", 0) :][: extra.get("limit")])
    for row in (*process_lock["rows"], process_lock["total"] | {"name": None}):
        assert list(figures(row)) == chosen
        same_cells(row, among["total"] if row["name"] is None else rows[tuple(row["name"])])


@pytest.mark.service
@many_examples
@given(question=questions, chosen=choices, extra=extras)
def test_arrow_and_json_agree_on_any_choice(
    mixed: Caller, question: Answer, chosen: list[str], extra: Answer
) -> None:
    """Arrow and JSON hold the same answer for any choice of data fields."""
    fields = {**PERIOD, **question, **extra, "data_fields": chosen}
    answer = as_arrow.decode(mixed.post("audience", headers=ARROW, **fields).content)
    expected = as_json.decode(mixed.audience(**fields), question["split_by"])
    assert answer.total == expected.total
    pd.testing.assert_frame_equal(answer.names, expected.names, check_column_type=False)
    pd.testing.assert_frame_equal(answer.values, expected.values, check_column_type=False)


@many_examples
@given(question=questions, chosen=choices)
def test_any_choice_of_an_exact_answer_is_pandas(mixed: Caller, question: Answer, chosen: list[str]) -> None:
    """With every record read, the figures of any choice of data fields are those of pandas."""
    whole = question | {"audience_rows_limit": 1_000_000}
    answer = mixed.audience(**PERIOD, **whole, data_fields=chosen)
    rows = passing(str(question["filters"]))
    expected = {key: by_hand(part) for key, part in grouped(rows, question["split_by"])}
    assert {tuple(row["name"]) for row in answer["rows"]} == set(expected)
    for row in answer["rows"]:
        agree(figures(row), expected[tuple(row["name"])])
    agree(figures(answer["total"]), by_hand(rows))


@pytest.mark.service
@many_examples
@given(question=questions, chosen=choices)
def test_a_file_of_any_choice(mixed: Caller, question: Answer, chosen: list[str]) -> None:
    """A file has the figures of the exact answer, for any choice of data fields."""
    split_by, whole = question["split_by"], question | {"audience_rows_limit": 1_000_000}
    answer = mixed.audience(**PERIOD, **whole, data_fields=chosen)
    question = {name: question[name] for name in ("split_by", "filters")}
    file = read(mixed.export(**PERIOD, **question, data_fields=chosen, export_format="tsv2"), "tsv2")
    assert file.titles[-len(chosen) :] == chosen
    assert file.rows(len(split_by)) == {
        tuple(row["name"]): [*figures(row).values()] for row in answer["rows"]
    }


@pytest.mark.parametrize("split_by", [[], ["site"], ["granularity_day", "site"]], ids=",".join)
@pytest.mark.parametrize("headers", [{}, ARROW], ids=["json", "arrow"])
def test_a_slicer_without_data_fields(hourly: Caller, split_by: list[str], headers: dict[str, str]) -> None:
    """A slicer without data fields answers with its values and no figures."""
    dates = {"start_date": str(DAILY_FIRST), "end_date": str(DAILY_LAST)}
    response = hourly.about("bare").post("audience", headers=headers, split_by=split_by, precision=1, **dates)
    assert response.status_code == 200, response.text
    answer = as_arrow.decode(response.content) if headers else as_json.decode(response.json(), split_by)
    assert (len(answer), len(answer.values.columns)) == (2 if split_by else 1, 0)
    assert answer.total.records_found == len(answer)


def same_cells(row: Answer, expected: Answer) -> None:
    """Fail unless each cell has the value, share and range of its namesake."""
    cells = {cell["name"]: cell for cell in expected["data"]}
    for cell in row["data"]:
        for part, number in cell.items():
            right = cells[cell["name"]].get(part)
            assert number == right or number == pytest.approx(right, rel=1e-9, abs=1e-9), (part, cell, right)


def agree(actual: Answer, expected: Answer) -> None:
    """Fail unless the figures found are the expected ones, null where there is none."""
    for name, value in actual.items():
        right = expected[name]
        assert value == (None if pd.isna(right) else pytest.approx(right, rel=1e-9, abs=1e-9)), name


@cache
def all_rows() -> pd.DataFrame:
    """The rows of the slicer."""
    return mixed_frame()


def passing(filters: str) -> pd.DataFrame:
    """The rows that pass one of FILTERS."""
    rows = all_rows()
    masks = {
        "none": rows["imps"] >= 0,
        "one value": rows["site"] == "b",
        "a segmented field": ~rows["tags"].map(lambda tags: "z" in tags),
        "a day": rows["time"].dt.date == MIXED_FIRST,
        "nothing": rows["imps"] < 0,
    }
    named = {str(wanted): name for name, wanted in FILTERS.items()}
    return rows[masks[named[filters]]]


def grouped(rows: pd.DataFrame, split_by: list[str]) -> list[tuple[tuple[str, ...], pd.DataFrame]]:
    """The groups of a split by their names; without one there is the whole, with an empty name."""
    if not split_by:
        return [((), rows)]
    keyed = rows.assign(
        granularity_day=rows["time"].dt.strftime("%Y-%m-%d"),
        granularity_hour=rows["time"].dt.strftime("%Y-%m-%d %H:00"),
    )
    keyed = keyed.explode("tags") if "tags" in split_by else keyed
    keyed = keyed.fillna({"tags": ""}) if "tags" in split_by else keyed
    return [(tuple(map(str, key)), part) for key, part in keyed.groupby(split_by)]


def by_hand(rows: pd.DataFrame) -> Answer:
    """Every data field over these rows."""
    imps, revenue, users = rows["imps"].sum(), rows["revenue"].sum(), rows["users"].nunique()
    return {
        "imps": imps,
        "revenue": revenue,
        "records": len(rows),
        "price": rows["price"].mean(),
        "least": rows["price"].min(),
        "most": rows["price"].max(),
        "kinds": rows["kinds"].nunique(),
        "ecpm": 1000 * revenue / imps if imps else None,
        "spread": rows["price"].max() - rows["price"].min(),
        "half": users / 2,
        "per_user": imps / users if users else None,
        "fee": 0.5,
        "unique_users": users,
    }
