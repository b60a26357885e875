"""From an estimate to exact figures by a click, and back; the figures are those of the rows."""

from pathlib import Path

import pandas as pd
import pytest
from conftest import COUNTRIES, DAYS, DEFINITION, small_rows
from opening import of_delivery
from streamlit.testing.v1 import AppTest

from lib.reporting.warehouse import Warehouse
from lib.ui.audience import figure_controls

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


def buttons(desk: AppTest) -> set[str]:
    """Those of the two that are there."""
    return {button.key for button in desk.button} & {figure_controls.EXACTLY, figure_controls.AGAIN}


def clicks(desk: AppTest) -> str:
    """The figure in the headline."""
    return next(metric.value for metric in desk.metric if metric.label == "Clicks")


def test_to_exact_figures_and_back(rows: pd.DataFrame) -> None:
    """An estimate has a button that reads all records; the link keeps it, and another goes back."""
    desk = of_delivery(**SAMPLED)
    assert buttons(desk) == {figure_controls.EXACTLY}
    assert f"{len(rows):,} records" in desk.button(key=figure_controls.EXACTLY).help
    desk.button(key=figure_controls.EXACTLY).click().run()
    assert not desk.exception
    assert desk.query_params["rows"] == "10000000"
    assert clicks(desk) == f"{rows['clicks'].sum():,.0f}"
    assert buttons(desk) == {figure_controls.AGAIN}
    desk.button(key=figure_controls.AGAIN).click().run()
    assert not desk.query_params.get("rows")
    assert buttons(desk) == set()


def test_exact_figures_need_no_button(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all records were read, and where the page goes on to them by itself, there is none."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    assert buttons(of_delivery(**{**SAMPLED, "rows": ""})) == set()
    assert buttons(of_delivery(**SAMPLED)) == set()
