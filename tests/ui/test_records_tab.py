"""Rows on Audience: those behind a value, a row of the split, a point of the chart; as a file too."""

import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boards
import downloads
import pandas as pd
import pytest
from conftest import COUNTRIES, DEFINITION, LAST_DAY, rows_by_week, small_rows
from opening import of_delivery
from streamlit.testing.v1 import AppTest

from lib.slicers.definition import DataFieldDefinition
from lib.slicers.warehouse import Warehouse
from lib.ui.audience import records_tab
from lib.ui.query import page_clicks

COUNTRY, CAMPAIGN, DAY = "geo.country", "campaign_id", "granularity_day"
Visit = Callable[..., AppTest]


@pytest.fixture
def visit(home: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """Audience with these URL parameters."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))

    def opened(**params: str) -> AppTest:
        desk = of_delivery(**params).run()
        assert not desk.exception
        return desk

    return opened


def week(*conditions: str) -> pd.DataFrame:
    """The rows of the last week that fulfil all conditions of pandas."""
    rows = rows_by_week(COUNTRY).astype({CAMPAIGN: "str"})
    return rows.query(" and ".join(["week == 0", *conditions]))


def shown(desk: AppTest) -> pd.DataFrame:
    """The rows that the tab shows."""
    assert not desk.exception
    frame: pd.DataFrame = desk.dataframe[0].value
    return frame


def captions(desk: AppTest) -> str:
    """The captions and texts of the page."""
    return " ".join(text.value.replace("\\", "") for text in (*desk.caption, *desk.markdown))


@pytest.mark.parametrize(
    ("params", "table", "values", "conditions", "words"),
    [
        ({}, COUNTRY, [[COUNTRY, "DE"]], [f"`{COUNTRY}` == 'DE'"], "Rows of Country Germany"),
        ({f"is.{COUNTRY}": "US"}, COUNTRY, [[COUNTRY, "DE"]], [f"`{COUNTRY}` == 'DE'"], "Country Germany"),
        ({f"is.{CAMPAIGN}": "1", "split": f"{COUNTRY}~{DAY}"}, "split",
         [[COUNTRY, "DE"], [DAY, str(LAST_DAY)]],
         [f"`{COUNTRY}` == 'DE'", f"{CAMPAIGN} == '1'", "time.dt.date == @day"], "Rows of Country Germany, "),
        ({}, "chart", [[DAY, f"{LAST_DAY}T00:00:00"]], ["time.dt.date == @day"], "Rows of "),
        ({}, "chart", [["granularity_week", f"{LAST_DAY}T00:00:00"]], ["w == @w"], "Rows of "),
        ({f"any.is.{COUNTRY}": "DE", f"any.is.{CAMPAIGN}": "1"}, CAMPAIGN, [[CAMPAIGN, "1"]],
         [f"{CAMPAIGN} == '1'"], "Rows of Campaign"),
    ],
    ids=["leaderboard", "leaderboard beside its filter", "split", "day", "week", "with a group"],
)  # fmt: skip
def test_rows_behind_what_was_clicked(
    visit: Visit, params: dict[str, str], table: str, values: list[Any], conditions: list[str], words: str
) -> None:
    """The tab shows the rows that the figure counts, the latest first, and says whose they are."""
    desk = boards.click(visit(**params), page_clicks.CARDS, ["records", table, values])
    rows = rows_by_week(COUNTRY).astype({CAMPAIGN: "str"})
    day, w = LAST_DAY, "{}-W{:02d}".format(*LAST_DAY.isocalendar()[:2])
    rows["w"] = rows["time"].dt.strftime("%G-W%V")
    expected = rows.query(" and ".join(["week == 0", *conditions]), local_dict={"day": day, "w": w})
    frame = shown(desk)
    assert words in captions(desk)
    assert f"{len(expected):,}" in captions(desk)
    assert frame["imps"].sum() == pytest.approx(expected["imps"].sum()) or len(expected) > 1000


def test_the_whole_question(visit: Visit) -> None:
    """The tab itself shows the rows of the question; columns and order can be chosen."""
    desk = visit(**{"lower": "records", f"is.{COUNTRY}": "DE"})
    assert "Rows of this question" in captions(desk)
    next(
        multiselect for multiselect in desk.multiselect if multiselect.key.startswith("records_columns")
    ).set_value(["imps"])
    next(selectbox for selectbox in desk.selectbox if selectbox.key.startswith("records_order")).set_value(
        "imps"
    )
    frame = shown(desk.run())
    expected = week(f"`{COUNTRY}` == 'DE'")["imps"]
    assert frame["imps"].tolist() == expected.nlargest(1000).tolist()


def test_a_link_and_undo_keep_whose_rows(visit: Visit) -> None:
    """The rows of a value are in the link; *All rows* and undo lead back."""
    desk = boards.click(visit(), page_clicks.CARDS, ["records", COUNTRY, [[COUNTRY, "DE"]]])
    params = {name: "".join(desk.query_params[name]) for name in desk.query_params}
    assert params["records"] == f"card~{COUNTRY}~DE"
    again = visit(**{name: text for name, text in params.items() if name not in ("project", "slicer")})
    assert len(shown(again)) == len(shown(desk))
    desk.button(key="records_all").click().run()
    assert "Rows of this question" in captions(desk)
    desk.button(key="question_undo").click().run()
    assert "Rows of Country Germany" in captions(desk)


def test_rows_of_a_field_that_is_gone(visit: Visit) -> None:
    """A link whose rows are of a key field that the slicer lacks shows the rows of the question."""
    assert "Rows of this question" in captions(visit(lower="records", records="row~gone~x"))


def test_the_rows_as_a_file(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread without a session makes the rows as CSV and XLSX, with the columns that are shown."""
    contents = downloads.offered(monkeypatch)
    desk = visit(**{"lower": "records", f"is.{COUNTRY}": "DE"})
    desk.session_state["records_download"] = True
    desk.run()
    with ThreadPoolExecutor(1) as thread:
        csv, xlsx = (thread.submit(contents[f"records_download_{name}"]).result() for name in ("csv", "xlsx"))
    expected = len(week(f"`{COUNTRY}` == 'DE'"))
    assert len(pd.read_csv(io.BytesIO(csv))) == len(pd.read_excel(io.BytesIO(xlsx))) == expected


def test_only_what_rows_show_is_offered(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of different values, and formulas with one, are no columns; all that is offered works."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    counts = (
        DataFieldDefinition(name="kinds", description="Kinds", aggregate="distinct", column="campaign_id"),
        DataFieldDefinition(name="each", description="Each", formula="imps / kinds"),
    )
    definition = DEFINITION.model_copy(update={"data_fields": (*DEFINITION.data_fields, *counts)})
    with Warehouse(own_home / "warehouse").writer(
        "demo", "counts", definition, {"country": COUNTRIES}
    ) as writer:
        rows = small_rows(0)
        rows = rows.append_column("kinds", rows["campaign_id"])
        writer.write(rows.select(definition.schema().names))
        writer.commit("made for the test", "with counts of different values")
    desk = of_delivery(slicer="counts", lower="records")
    (columns,) = (
        multiselect for multiselect in desk.multiselect if multiselect.key.startswith(records_tab.COLUMNS)
    )
    assert {*columns.options}.isdisjoint({"Kinds", "Each", "Unique users"})
    columns.set_value([COUNTRY, CAMPAIGN, "imps", "clicks", "ctr"]).run()
    assert {"Impressions", "CTR"} <= {*columns.options}
    assert len(shown(desk)) == min(len(week()), 1000)


def test_columns_are_chosen_before_the_order(visit: Visit) -> None:
    """Columns stand before Order, on the screen and for Tab."""
    desk = visit(lower="records")
    keys = [part.key for part in desk.main if part.type in ("multiselect", "selectbox")]
    kinds = [
        name for key in keys for name in (records_tab.COLUMNS, records_tab.ORDER) if key.startswith(name)
    ]
    assert kinds == [records_tab.COLUMNS, records_tab.ORDER]
