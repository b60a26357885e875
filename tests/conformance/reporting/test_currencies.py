"""Decisions, "Money in several currencies": it has a value only where its records have one currency."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import pytest

from conformance.reporting import others
from conformance.reporting.caller import Answer, Caller, figures, rows

FIELDS = ["imps", "spend", "price", "most", "fee", "ecpm"]
OF_SEVERAL = {"spend", "price", "most", "ecpm"}
PERIOD = {"start_date": "2026-05-01", "end_date": "2026-05-04", "data_fields": FIELDS}
SPLITS = [["country"], ["currency_code"], ["country", "currency_code"], ["granularity_day"]]
FILTERS: list[list[dict[str, Any]]] = [
    [],
    [{"name": "currency_code", "match": "equals", "value": ["EUR"]}],
    [{"name": "currency_code", "match": "not equals", "value": ["JPY"]}],
    [{"name": "country", "match": "equals", "value": ["DE", "AT"]}],
    [{"name": "country", "match": "equals", "value": ["nowhere"]}],
]


@pytest.fixture
def money(hourly: Caller) -> Caller:
    """Who asks about money in several currencies."""
    return hourly.about("money")


def expected(part: pd.DataFrame) -> dict[str, float | None]:
    """The figures of some records, by pandas."""
    several = part["currency_code"].nunique() > 1
    spend, imps = part["spend"].sum(), part["imps"].sum()
    own = {"spend": spend, "price": part["spend"].mean(), "most": part["spend"].max(), "ecpm": None}
    own["ecpm"] = 1000 * spend / imps if imps else None
    own = {name: None if several or value != value else value for name, value in own.items()}
    return {"imps": imps, "fee": part["fee"].sum(), **own}


def currencies(part: Mapping[str, Any]) -> dict[str, str | None]:
    """What each figure of money says of its currency, or of why it has no value."""
    return {cell["name"]: cell.get("currency") or cell.get("withheld") for cell in part["data"]}


def matching(frame: pd.DataFrame, filters: list[dict[str, Any]]) -> pd.DataFrame:
    """The records that pass the filters."""
    for condition in filters:
        is_in = frame[condition["name"]].isin(condition["value"])
        frame = frame[~is_in if condition["match"].startswith("not") else is_in]
    return frame


@pytest.mark.parametrize("filters", FILTERS, ids=lambda filters: str(len(str(filters))))
@pytest.mark.parametrize("split", SPLITS, ids=",".join)
def test_figures_are_those_of_one_currency(
    money: Caller, split: list[str], filters: list[dict[str, Any]]
) -> None:
    """Money has the value that pandas adds up where the records have one currency, and none elsewhere."""
    answer = money.audience(split_by=split, filters=filters, **PERIOD)
    frame = matching(others.money_frame().rename(columns={"day": "granularity_day"}), filters)
    groups = {(key if isinstance(key, tuple) else (key,)): part for key, part in frame.groupby(split)}
    assert rows(answer) == {key: pytest.approx(expected(part)) for key, part in groups.items()}
    assert figures(answer["total"]) == pytest.approx(expected(frame))
    for part, records in [
        (answer["total"], frame),
        *((row, groups[tuple(row["name"])]) for row in answer["rows"]),
    ]:
        codes = sorted(set(records["currency_code"]))
        for name, text in currencies(part).items():
            if name not in OF_SEVERAL or not len(records):
                assert text is None
            elif len(codes) > 1:
                assert text == f"{len(codes)} currencies: split or filter by currency_code"
            else:
                assert (text or "") == codes[0]


def test_a_share_of_no_total_is_null(money: Caller) -> None:
    """Where the total is withheld, shares of it are null; those of other fields are there."""
    answer = money.audience(split_by=["currency_code"], **PERIOD)
    cells = answer["rows"][0]["data"]
    assert {cell["name"]: cell["percent"] is None for cell in cells if "percent" in cell} == {
        "imps": False, "spend": True, "fee": False,
    }  # fmt: skip


@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_it_is_last_in_either_order_and_passes_no_filter(money: Caller, direction: str) -> None:
    """Rows without a value come last in either order, after a limit too, and no data filter keeps them."""
    order = [{"name": "spend", "direction": direction}]
    answer = money.audience(split_by=["country"], order_by=order, **PERIOD)
    assert [row["name"] for row in answer["rows"]][-2:] == [["CH"], ["US"]]
    page = money.audience(split_by=["country"], order_by=order, limit=2, offset=2, **PERIOD)
    assert [row["name"] for row in page["rows"]] == [row["name"] for row in answer["rows"]][2:4]
    for match, value in ((">=", -1e9), ("<=", 1e9), ("!=", 0)):
        filtered = money.audience(
            split_by=["country"], data_filters=[{"name": "spend", "match": match, "value": value}], **PERIOD
        )
        assert not {("CH",), ("US",)} & rows(filtered).keys()


def test_own_fields_are_withheld_too(money: Caller) -> None:
    """A formula of the caller's own over money follows the same rule."""
    own = [{"name": "twice", "formula": "2 * ecpm + 0 * imps"}]
    answer = money.audience(split_by=["country"], own_fields=own, **(PERIOD | {"data_fields": ["twice"]}))
    by_country = rows(answer)
    assert by_country["CH",]["twice"] is None
    assert by_country["DE",]["twice"] == pytest.approx(2 * 1000 * 241.37 / 2010)
    assert answer["total"]["data"][0]["withheld"].startswith("4 currencies")


def test_info_says_the_currency(money: Caller) -> None:
    """info has each data field's currency: a code, or the key field that tells it."""
    by_name: Answer = {field["name"]: field.get("currency") for field in money.info()["data_fields"]}
    assert by_name == {
        "imps": None, "spend": "currency_code", "price": "currency_code", "most": "currency_code",
        "fee": "EUR", "ecpm": None,
    }  # fmt: skip


def test_files_have_an_empty_cell(money: Caller) -> None:
    """A file's cell, and its total, are empty where the money is in several currencies; the next names it."""
    asked = PERIOD | {"split_by": ["country"], "data_fields": ["imps", "spend"], "include_total": 1}
    text = money.export(export_format="csv", **asked).text
    lines = [line.rsplit(",", 3) for line in text.splitlines()]
    assert ['"CH"', "1000", "", '""'] in lines and ['"DE"', "2010", "241.37", '"EUR"'] in lines
    assert ['"Total"', "5150", "", '""'] in lines


@pytest.mark.parametrize(
    ("split", "heads"), [("country", '"country","imps","spend, EUR"'), ("currency_code", None)]
)
def test_a_file_in_one_currency_names_it_in_its_header(money: Caller, split: str, heads: str | None) -> None:
    """Where a filter leaves one currency, the header of its money says which, unless a column does."""
    asked = PERIOD | {"split_by": [split], "data_fields": ["imps", "spend"]}
    text = money.export(export_format="csv", filters=FILTERS[1], **asked).text
    assert text.splitlines()[0] == (heads or '"currency_code","imps","spend"')
