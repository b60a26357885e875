"""A pivot with a key field across: its figures are what pandas has of the rows, on screen and in the file."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boards
import openpyxl
import pandas as pd
import pytest
from conftest import COUNTRIES, rows_by_week
from opening import of_delivery
from streamlit.testing.v1 import AppTest

from lib.figures.overview import split_levels
from lib.figures.overview.split_pivot import Pivot
from lib.figures.query.focus import Focus
from lib.ui.audience import split
from lib.ui.query import page_clicks

COUNTRY, CAMPAIGN, CATEGORY = "geo.country", "campaign_id", "categories"
Visit = Callable[..., AppTest]
Figures = dict[tuple[str, ...], dict[str, float | None]]


@pytest.fixture
def visit(home: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """A pivot of countries by campaigns, the countries across, for somebody who is signed in."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    usual = {"split": f"{CAMPAIGN}~{COUNTRY}", "chart": "pivot", "cross": COUNTRY, "compare": "none"}
    return lambda **params: of_delivery(**{**usual, **params})


@pytest.fixture(scope="module")
def week() -> pd.DataFrame:
    """The rows of the last seven complete days."""
    rows = rows_by_week(COUNTRY)
    return rows[rows["week"] == 0]


def drawn(desk: AppTest) -> Figures:
    """The figures in sight as numbers, by the path of their row (that of Others ends so) and their column."""
    table = boards.split(desk)
    titles = [column["title"] for column in table["columns"]][1:]
    figures: Figures = {}
    for row in table["rows"]:
        path = tuple(value for _, value in row["values"]) + (("Others",) if row["kind"] == "rest" else ())
        texts = [cell["text"].replace(",", "") for cell in row["cells"][1:]]
        figures[path] = {
            title: None if text == "–" else float(text) for title, text in zip(titles, texts, strict=True)
        }
    return figures


def label(country: str) -> str:
    """How a country is called on screen."""
    return COUNTRIES.get(country, country) or "(not set)"


def test_every_cell_is_what_pandas_has(visit: Visit, week: pd.DataFrame) -> None:
    """Campaigns down and countries across: sums of rows, columns and cells; without rows nothing."""
    figures = drawn(visit())
    assert figures == drawn(visit(order=COUNTRY))
    cells = week.pivot_table(values="imps", index=CAMPAIGN, columns=COUNTRY, aggfunc="sum")
    order = cells.sum().sort_values(ascending=False).index
    assert list(figures[()]) == ["Impressions", *map(label, order)]
    assert set(figures) == {(), *((campaign,) for campaign in cells.index)}
    for campaign in cells.index:
        row = cells.loc[campaign]
        expected = {label(country): None if pd.isna(row[country]) else row[country] for country in row.index}
        assert figures[(campaign,)] == {"Impressions": row.sum(), **expected}
    assert figures[()] == {"Impressions": cells.sum().sum(), **cells.sum().rename(label)}


def test_columns_of_one_kind_have_a_head_above_theirs(visit: Visit) -> None:
    """The values across stand below their key field, a metric's share beside its figure below the metric."""
    columns = boards.split(visit())["columns"]
    assert [column["group"] for column in columns] == ["", "", *["Country"] * (len(columns) - 2)]
    groups = {column["title"]: column["group"] for column in boards.split(visit(cross=""))["columns"]}
    assert groups["Impressions"] == groups["Share, %"] == "Impressions"
    assert groups["Clicks"] == ""


def test_unique_users_and_ratios_across(visit: Visit, week: pd.DataFrame) -> None:
    """Unique users and a ratio of each cell are the service's own: neither adds up over rows or columns."""
    users = drawn(visit(field="unique_users"))
    ratios = drawn(visit(field="ctr"))
    groups = week.groupby([CAMPAIGN, COUNTRY])
    for (campaign, country), rows in groups:
        assert users[(campaign,)][label(country)] == rows["users"].nunique()
        ratio = ratios[(campaign,)][label(country)]
        assert ratio == pytest.approx(100 * rows["clicks"].sum() / rows["imps"].sum(), abs=0.0051)
    assert users[()]["Unique users"] == week["users"].nunique()


def test_rows_on_two_levels(visit: Visit, week: pd.DataFrame) -> None:
    """Rows below rows have their figures by the values across, and open and close by the row's own fields."""
    keys = f"{CATEGORY}~{CAMPAIGN}~{COUNTRY}"
    desk = visit(split=keys)
    figures = drawn(desk)
    rows = week.explode(CATEGORY).fillna({CATEGORY: ""})
    expected = rows.groupby([CATEGORY, CAMPAIGN, COUNTRY])["imps"].sum()
    for category, campaign, country in expected.index:
        assert figures[(category, campaign)][label(country)] == expected[category, campaign, country]
    first = next(path for path in figures if len(path) == 1)
    closed = drawn(boards.click(desk, page_clicks.BOARD, ["collapse", [[CATEGORY, *first]]]))
    assert not [path for path in closed if path[:1] == first and len(path) == 2]


def test_what_is_cut_is_others(visit: Visit, week: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two countries and two campaigns, the rest is Others, to the right and below; it is said."""
    monkeypatch.setattr(split_levels, "ACROSS", 2)
    desk = visit(top="2")
    figures = drawn(desk)
    cells = week.pivot_table(values="imps", index=CAMPAIGN, columns=COUNTRY, aggfunc="sum").fillna(0)
    columns = cells.sum().nlargest(2).index
    campaigns = cells.sum(axis=1).nlargest(2).index
    assert list(figures[()]) == ["Impressions", *map(label, columns), "Others"]
    for campaign in campaigns:
        assert figures[(campaign,)]["Others"] == cells.loc[campaign].drop(columns).sum()
    below = cells.drop(campaigns)
    assert figures[("Others",)] == {
        "Impressions": below.sum().sum(),
        **below[columns].sum().rename(label),
        "Others": below.drop(columns=columns).sum().sum(),
    }
    captions = "".join(caption.value for caption in desk.caption)
    assert f"the first 2 of {cells.shape[1]} values are columns." in captions


def test_the_link_keeps_what_is_across(visit: Visit) -> None:
    """The choice stands in the link, and undo takes it back; a key field that is gone is said."""
    desk = visit(cross="")
    assert [column["title"] for column in boards.split(desk)["columns"]][1] == "Impressions"
    desk.selectbox(key="split_cross").select(COUNTRY).run()
    assert "".join(desk.query_params["cross"]) == COUNTRY
    assert "United States" in drawn(desk)[()]
    desk.button(key="question_undo").click().run()
    assert "cross" not in desk.query_params
    assert "the key field Color" in visit(cross="color").warning[0].value


@pytest.fixture
def download(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The file that the pivot's menu offers, opened."""
    files: list[bytes] = []
    draw = split.draw_pivot_file

    def offer(focus: Focus, pivot: Pivot) -> None:
        draw(focus, pivot)
        files.append(split.content(focus, pivot))

    def opened(**params: str) -> Any:
        desk = visit(**params)
        desk.session_state["split_download"] = True
        desk.run()
        labels = [button.proto.label for button in desk.get("download_button")]
        assert labels[:2] == ["Download these rows as CSV", "Download the pivot as XLSX"]
        return openpyxl.load_workbook(io.BytesIO(files[-1]))

    monkeypatch.setattr(split, "draw_pivot_file", offer)
    return opened


def test_the_file_is_as_seen(download: Callable[..., Any], week: pd.DataFrame) -> None:
    """The xlsx file has the rows in sight as numbers, the key field over its values, and panes that stay."""
    book = download()
    sheet = book["Pivot"]
    cells = week.pivot_table(values="imps", index=CAMPAIGN, columns=COUNTRY, aggfunc="sum")
    order = list(cells.sum().sort_values(ascending=False).index)
    last = openpyxl.utils.get_column_letter(len(order) + 2)
    assert {str(cell_range) for cell_range in sheet.merged_cells.ranges} == {"A1:A2", "B1:B2", f"C1:{last}1"}
    assert (sheet["A1"].value, sheet["B1"].value, sheet["C1"].value) == ("Campaign", "Impressions", "Country")
    assert [cell.value for cell in sheet[2][2:]] == [label(country) for country in order]
    assert sheet.freeze_panes == "B3"
    totals, *rows = sheet.iter_rows(min_row=3)
    assert [cell.value for cell in totals] == ["Total", cells.sum().sum(), *cells.sum()[order]]
    for row in rows:
        expected = cells.loc[row[0].value, order]
        assert [cell.value for cell in row[1:]] == [
            expected.sum(),
            *(None if pd.isna(value) else value for value in expected),
        ]
    assert {cell.number_format for row in rows for cell in row[1:] if cell.value is not None} == {"#,##0"}
    assert "by Campaign, Country" in book["About"]["A1"].value


def test_the_file_of_metrics(download: Callable[..., Any], week: pd.DataFrame) -> None:
    """With metrics as columns, the one in front stands over value and share; each has its decimals."""
    sheet = download(cross="", split=f"{COUNTRY}~{CAMPAIGN}")["Pivot"]
    titles = [sheet.cell(2, column).value or sheet.cell(1, column).value for column in range(1, 9)]
    assert titles[:3] == ["Country › Campaign", "Impressions", "Share, %"]
    assert "B1:C1" in {str(cell_range) for cell_range in sheet.merged_cells.ranges}
    assert sheet["B1"].value == "Impressions"
    by_country = week.groupby(COUNTRY)["imps"].sum()
    indents = {row[0].value: row[0].alignment.indent for row in sheet.iter_rows(min_row=3)}
    assert (indents["Total"], indents["United States"], indents["3"]) == (0, 0, 1)
    rows = {row[0].value: row for row in sheet.iter_rows(min_row=3) if row[0].alignment.indent == 0}
    value, share = rows["United States"][1:3]
    assert value.value == by_country["US"]
    assert share.value == pytest.approx(100 * by_country["US"] / by_country.sum())
    assert (value.number_format, share.number_format) == ("#,##0", "0.0")
    ctr = rows["United States"][titles.index("CTR")]
    us = week[week[COUNTRY] == "US"]
    assert ctr.value == pytest.approx(100 * us["clicks"].sum() / us["imps"].sum())
    assert ctr.number_format == "#,##0.00"
