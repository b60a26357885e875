"""From an estimate to exact figures by a click, and back; the figures are those of the rows."""

from pathlib import Path
from typing import Any

import boards
import pandas as pd
import pytest
from conftest import COUNTRIES, DAYS, DEFINITION, small_rows
from opening import of_delivery
from streamlit.testing.v1 import AppTest

from lib.people import Grant
from lib.serving import connect
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse
from lib.ui.query import page_clicks

SEEDS = range(3)
SAMPLED = {"start": f"-{DAYS}d", "end": "yesterday", "rows": "10000"}


@pytest.fixture
def rows(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """The rows of a slicer with more than the 10,000 of which estimates are made."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    tables = [small_rows(seed) for seed in SEEDS]
    with Warehouse(own_home / "warehouse").writer(
        "demo", "delivery", DEFINITION, {"country": COUNTRIES}, "replace"
    ) as writer:
        for table in tables:
            writer.write(table)
        writer.commit("made for the test", "three seeds")
    return pd.concat([table.to_pandas() for table in tables])


def other(desk: AppTest) -> dict[str, Any] | None:
    """The other precision that a click on the board gives."""
    other_precision: dict[str, Any] | None = boards.head(desk)["other_precision"]
    return other_precision


def test_to_exact_figures_and_back(rows: pd.DataFrame) -> None:
    """An estimate has a button that reads all records; the link keeps it, and another goes back."""
    desk = of_delivery(**SAMPLED)
    exact = other(desk)
    assert exact is not None
    assert f"{len(rows):,} records" in exact["help"]
    boards.click(desk, page_clicks.CARDS, ["read", exact["limit"]])
    assert not desk.exception
    assert desk.query_params["rows"] == "10000000"
    assert boards.headline(desk)["Clicks"] == f"{rows['clicks'].sum():,.0f}"
    usual = other(desk)
    assert usual is not None
    boards.click(desk, page_clicks.CARDS, ["read", usual["limit"]])
    assert not desk.query_params.get("rows")
    assert other(desk) is None


@pytest.mark.parametrize("limit", [7, -1, True, "10000000"])
def test_a_browser_chooses_among_the_numbers_offered(rows: pd.DataFrame, limit: object) -> None:
    """An act with any other number of records changes nothing."""
    desk = boards.click(of_delivery(**SAMPLED), page_clicks.CARDS, ["read", limit])
    assert not desk.exception
    assert desk.query_params["rows"] in ("10000", ["10000"])


def test_figures_of_some_rows_need_no_button(rows: pd.DataFrame) -> None:
    """Who sees some rows only has exact figures, however many records that are: there is no button."""
    everybody = Grant.parse(
        'demo/delivery/[{"name": "geo.country", "value": ["nowhere"], "match": "not equals"}]'
    )
    connect.installation(Settings.current()).access.change("manager", "a test", grants=[everybody])
    desk = of_delivery(**SAMPLED)
    assert boards.headline(desk)["Clicks"] == f"{rows['clicks'].sum():,.0f}"
    assert other(desk) is None


def test_exact_figures_need_no_button(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all records were read, and where the page goes on to them by itself, there is none."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    assert other(of_delivery(**{**SAMPLED, "rows": ""})) is None
    assert other(of_delivery(**SAMPLED)) is None
