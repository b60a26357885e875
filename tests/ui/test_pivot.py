"""The split as a pivot: every row, subtotal and rest is what pandas has of the rows; rows open and close."""

import csv
import io
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import boards
import httpx
import numpy as np
import pandas as pd
import pytest
from conftest import COUNTRIES, LAST_DAY, rows_by_week, small_rows
from opening import of_delivery
from streamlit.testing.v1 import AppTest

from lib.figures.numbers import Numbers
from lib.figures.overview import split_levels, split_pivot, split_tables
from lib.figures.overview.split_levels import Level
from lib.figures.overview.split_pivot import Pivot
from lib.figures.query import state
from lib.figures.query.split_rows import SplitRows
from lib.figures.query.view_parts import Expansion
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.slicers.models import KeyField, Order, Slicer
from lib.ui.query import export_menu, page_clicks
from lib.wire.filters import Filter

COUNTRY, CAMPAIGN, CATEGORY = "geo.country", "campaign_id", "categories"
KEYS = {"split": f"{COUNTRY}~{CAMPAIGN}", "chart": "pivot"}
TITLES = {"Impressions": "imps", "Clicks": "clicks", "Revenue": "revenue", "Unique users": "users"}
ENGLISH = Numbers.of("en")
Visit = Callable[..., AppTest]
Path_ = tuple[str, ...]


@pytest.fixture
def visit(home: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """The Audience page about the slicer delivery with a pivot, for somebody who is signed in."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    return lambda **params: of_delivery(**{**KEYS, "compare": "none", **params})


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """The slicer's rows, the last seven complete days as week 0, the seven before as week 1."""
    return rows_by_week(COUNTRY)


@pytest.fixture(scope="module")
def week(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the last seven complete days."""
    return rows[rows["week"] == 0]


def drawn(desk: AppTest) -> list[tuple[str, Path_, dict[str, Any]]]:
    """The rows as they are drawn: kind, path, and texts by the titles of their columns."""
    table = boards.split(desk)
    titles = [column["title"] for column in table["columns"]]
    return [
        (
            row["kind"],
            tuple(value for _, value in row["values"]),
            dict(zip(titles, (cell["text"] for cell in row["cells"]), strict=True)),
        )
        for row in table["rows"]
    ]


def of(rows: pd.DataFrame, keys: list[str], path: Path_) -> pd.DataFrame:
    """The rows below a row of the pivot."""
    for key, value in zip(keys, path, strict=False):
        values = rows[key]
        if key == CATEGORY:
            rows = rows[[value in cell if value else len(cell) == 0 for cell in values]]
        else:
            rows = rows[values == value]
    return rows


def assert_figures(texts: dict[str, str], rows: pd.DataFrame) -> None:
    """A row's figures are those of these rows, at the precision that they are shown with."""
    shown = {title: texts[title].replace(",", "") for title in [*TITLES, "CTR"]}
    figures: dict[str, float] = {
        title: rows[name].nunique() if name == "users" else rows[name].sum() for title, name in TITLES.items()
    }
    figures["CTR"] = 100 * rows["clicks"].sum() / rows["imps"].sum()
    for title, text in shown.items():
        assert float(text) == pytest.approx(figures[title], abs=0.5001 * 10 ** -len(text.partition(".")[2]))


def test_every_row_is_what_pandas_has(visit: Visit, week: pd.DataFrame) -> None:
    """Sums, ratios and unique users of total, subtotals and rows on three levels are those of the rows."""
    keys = [COUNTRY, CAMPAIGN, CATEGORY]
    opened = [list(map(list, zip(keys, path, strict=False))) for path in (("US", "3"), ("", "5"))]
    desk = boards.click(
        visit(split="~".join(keys)), page_clicks.BOARD, *(["expand", path] for path in opened)
    )
    lines = drawn(desk)
    assert [kind for kind, _, _ in lines] == ["total"] + ["row"] * (len(lines) - 1)
    for _, path, texts in lines:
        assert_figures(texts, of(week, keys, path))
    paths = [path for _, path, _ in lines]
    assert len([path for path in paths if len(path) == 1]) == week[COUNTRY].nunique()
    assert len([path for path in paths if len(path) == 2]) == len(week.groupby([COUNTRY, CAMPAIGN]))
    assert {path[:2] for path in paths if len(path) == 3} == {("US", "3"), ("", "5")}
    assert "Exact" in [caption.value for caption in desk.caption]


def test_rows_stand_below_theirs_in_the_order_of_the_service(visit: Visit, week: pd.DataFrame) -> None:
    """The largest country first, and below each its campaigns, the largest first; the level is said."""
    table = boards.split(visit())
    assert table["is_tree"]
    order = week.groupby(COUNTRY)["imps"].sum().sort_values(ascending=False)
    expected: list[Path_] = []
    for country in order.index:
        within = week[week[COUNTRY] == country].groupby(CAMPAIGN)["imps"].sum()
        expected += [(country,), *((country, c) for c in within.sort_values(ascending=False).index)]
    there = [(tuple(v for _, v in row["values"]), row["level"], row["is_open"]) for row in table["rows"][1:]]
    assert there == [(path, len(path), True if len(path) == 1 else None) for path in expected]
    assert table["rows"][1]["cells"][0]["text"] == COUNTRIES[order.index[0]]
    assert [column["title"] for column in table["columns"]][:2] == ["Country › Campaign", "Impressions"]


def test_a_header_orders_each_level(visit: Visit, week: pd.DataFrame) -> None:
    """Ordered by clicks, the least first: the countries, and within each the campaigns."""
    desk = boards.click(visit(), page_clicks.BOARD, ["order", "split", "clicks", "asc"])
    paths = [path for _, path, _ in drawn(desk)[1:]]
    click_sums = {path: of(week, [COUNTRY, CAMPAIGN], path)["clicks"].sum() for path in paths}
    countries = [path for path in paths if len(path) == 1]
    assert countries == sorted(countries, key=click_sums.__getitem__)
    for country in countries:
        below = [click_sums[path] for path in paths if len(path) == 2 and path[:1] == country]
        assert below == sorted(below)
    head = next(column for column in boards.split(desk)["columns"] if column["title"] == "Clicks")
    assert head["sorted"] == "asc"


def test_what_is_cut_is_others(visit: Visit, week: pd.DataFrame) -> None:
    """Of two countries and two campaigns each, the rest of each subtotal and of the total is Others."""
    lines = drawn(visit(top="2"))
    rest = {path: texts for kind, path, texts in lines if kind == "rest"}
    shown = [path for kind, path, _ in lines if kind == "row"]
    assert len(rest) == 3
    for path, texts in rest.items():
        below = [longer for longer in shown if longer[:-1] == path]
        for title, name in (("Impressions", "imps"), ("Clicks", "clicks")):
            parts = sum(of(week, [COUNTRY, CAMPAIGN], path)[name].sum() for path in below)
            left = of(week, [COUNTRY, CAMPAIGN], path)[name].sum() - parts
            assert float(texts[title].replace(",", "")) == left
        assert (texts["CTR"], texts["Unique users"]) == ("–", "–")
    campaigns = week[week[COUNTRY] == shown[0][0]][CAMPAIGN].nunique()
    assert rest[shown[0]]["Country › Campaign"] == f"Others ({campaigns - 2})"
    assert rest[()]["Country › Campaign"] == f"Others ({week[COUNTRY].nunique() - 2})"


def test_shares_are_of_the_whole(visit: Visit, week: pd.DataFrame) -> None:
    """The share of a campaign within a country is that of the whole, and so is its bar."""
    desk = visit(fields="revenue~imps", field="imps")
    table = boards.split(desk)
    whole = week["imps"].sum()
    for (kind, path, texts), row in zip(drawn(desk)[1:], table["rows"][1:], strict=True):
        share = of(week, [COUNTRY, CAMPAIGN], path)["imps"].sum() / whole
        assert kind == "row"
        assert row["cells"][1]["bar"][0] == pytest.approx(share)
        if "Share, %" in texts:
            assert float(texts["Share, %"]) == pytest.approx(100 * share, abs=0.051)


def test_changes_of_every_level(visit: Visit, rows: pd.DataFrame) -> None:
    """A subtotal and a row are each compared with the same of the week before."""
    desk = visit(compare="previous")
    for kind, path, texts in drawn(desk):
        sums = of(rows, [COUNTRY, CAMPAIGN], path).groupby("week")["imps"].sum()
        if kind == "row":
            change = float(texts["Change, %"].replace(",", "").replace("−", "-"))
            assert change == pytest.approx(100 * (sums[0] / sums[1] - 1), abs=0.051)


def test_a_segmented_key_field_on_top(visit: Visit, week: pd.DataFrame) -> None:
    """A record with two categories is below both, subtotals overlap, and what is cut has no figure."""
    desk = visit(split=f"{CATEGORY}~{COUNTRY}", top="2")
    lines = drawn(desk)
    for kind, path, texts in lines:
        if kind != "rest":
            assert_figures(texts, of(week, [CATEGORY, COUNTRY], path))
    others = next(texts for kind, path, texts in lines if kind == "rest" and not path)
    assert others["Impressions"] == "–"
    assert any("values per record" in caption.value for caption in desk.caption)


def test_a_row_closes_and_opens(visit: Visit) -> None:
    """A closed row has nothing below it, which the link keeps; open again, the link is as before."""
    us = [[COUNTRY, "US"]]
    desk = boards.click(visit(), page_clicks.BOARD, ["collapse", us])
    assert [path for _, path, _ in drawn(desk) if path[:1] == ("US",)] == [("US",)]
    kept = "".join(desk.query_params["folds"])
    again = visit(folds=kept)
    assert [path for _, path, _ in drawn(again) if path[:1] == ("US",)] == [("US",)]
    again = boards.click(again, page_clicks.BOARD, ["expand", us])
    assert ("US", "3") in [path for _, path, _ in drawn(again)]
    assert "folds" not in again.query_params


def test_all_rows_open(visit: Visit, week: pd.DataFrame) -> None:
    """Expand all shows every row of three levels that has records, each with the figures of its rows."""
    keys = [COUNTRY, CAMPAIGN, CATEGORY]
    desk = visit(split="~".join(keys))
    desk.button(key="split_unfold_more").click().run()
    lines = drawn(desk)
    shown = [path for kind, path, _ in lines if kind == "row"]
    pairs = len(week.groupby([COUNTRY, CAMPAIGN]))
    assert len([path for path in shown if len(path) == 2]) == pairs
    assert {path[:2] for path in shown if len(path) == 3} == {path for path in shown if len(path) == 2}
    for kind, path, texts in lines:
        if kind != "rest":
            assert_figures(texts, of(week, keys, path))
    assert desk.button(key="split_unfold_more").disabled
    again = drawn(visit(split="~".join(keys), folds="".join(desk.query_params["folds"])))
    assert [path for _, path, _ in again] == [path for _, path, _ in lines]


def test_many_open_rows_share_the_room(
    visit: Visit, week: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With more open rows than there is room for, each shows its first ones and Others: it says so."""
    monkeypatch.setitem(split_levels.MOST_ROWS, 3, 30)
    keys = [COUNTRY, CAMPAIGN, CATEGORY]
    desk = visit(split="~".join(keys), folds=f"all~{COUNTRY}%7E{CAMPAIGN}%7E{CATEGORY}")
    lines = drawn(desk)
    below = Counter(path[:2] for kind, path, _ in lines if kind == "row" and len(path) == 3)
    assert set(below.values()) == {1}
    assert {path for kind, path, _ in lines if kind == "rest"} <= set(below)
    pairs = len(week.groupby([COUNTRY, CAMPAIGN]))
    assert f"With {pairs} rows open, each shows its first 1;" in str(
        [caption.value for caption in desk.caption]
    )


def test_all_rows_close(visit: Visit) -> None:
    """Collapse all leaves the first level; single rows open again; the link keeps it, and undo goes back."""
    desk = visit()
    before = [path for _, path, _ in drawn(desk)]
    desk.button(key="split_unfold_less").click().run()
    closed = [path for _, path, _ in drawn(desk)]
    assert closed == [path for path in before if len(path) < 2]
    assert desk.button(key="split_unfold_less").disabled
    desk = boards.click(desk, page_clicks.BOARD, ["expand", [[COUNTRY, "US"]]])
    opened = [path for _, path, _ in drawn(desk)]
    assert opened == [path for path in before if len(path) < 2 or path[0] == "US"]
    assert [path for _, path, _ in drawn(visit(folds="".join(desk.query_params["folds"])))] == opened
    desk.button(key="split_unfold_more").click().run()
    assert [path for _, path, _ in drawn(desk)] == before
    assert "folds" not in desk.query_params


def test_a_click_on_a_figure_keeps_its_row(visit: Visit, week: pd.DataFrame) -> None:
    """What the component sends for a figure keeps both values of its row, and the row says so."""
    desk = boards.click(visit(), page_clicks.BOARD, ["include", [[COUNTRY, "US"], [CAMPAIGN, "3"]]])
    lines = drawn(desk)
    assert [path for _, path, _ in lines] == [(), ("US",), ("US", "3")]
    assert_figures(lines[0][2], of(week, [COUNTRY, CAMPAIGN], ("US", "3")))
    assert [row["included"] for row in boards.split(desk)["rows"]] == [[], [True], [True, True]]


def test_time_runs_within_a_row(visit: Visit) -> None:
    """Days below a country are in their order, each compared with the day at its place in the week before."""
    lines = drawn(visit(split=f"{COUNTRY}~granularity_day", compare="previous"))
    days = [path[1] for _, path, _ in lines if len(path) == 2 and path[0] == "US"]
    assert len(days) == 7
    assert days == sorted(days)
    changes = {path: texts["Change, %"] for _, path, texts in lines if len(path) == 2}
    assert "–" not in {changes["US", day] for day in days}


def test_with_one_key_field_nothing_opens(visit: Visit) -> None:
    """A pivot by one key field has rows that lead nowhere; without data nothing is drawn."""
    table = boards.split(visit(split=COUNTRY))
    assert {row["is_open"] for row in table["rows"]} == {None}
    desk = visit(**{f"is.{CAMPAIGN}": "none"})
    assert not desk.exception


@pytest.fixture
def pivot(http: httpx.Client, token: Callable[[str], str]) -> Pivot:
    """Two countries and their campaigns of all days, from a question per level."""
    client = Reporting(http, token("manager"))
    slicer = client.info(InfoQuery(project_name="demo", slicer_name="delivery"))
    query = AudienceQuery(
        project_name="demo", slicer_name="delivery", start_date="-60d", end_date=LAST_DAY.isoformat(),
        split_by=(COUNTRY, CAMPAIGN), data_fields=("imps",), order_by=(Order(name="imps"),),
        include_mappings=1, precision=1,
    )  # fmt: skip
    top = client.audience(query.model_copy(update={"split_by": (COUNTRY,), "limit": 2}), slicer)
    within = Filter(name=COUNTRY, value=tuple(top.names[COUNTRY]), match="equals")
    below = client.audience(query.model_copy(update={"filters": (within,)}), slicer)
    field = slicer.data_field("imps")
    counter = Counter(path[:1] for path in split_levels.paths(below))
    levels = [
        Level(SplitRows(top, None, field, slicer), Counter({(): 5}), is_cut=True),
        Level(SplitRows(below, None, field, slicer), counter, is_cut=False),
    ]
    return Pivot(query, levels, Expansion(), [], ENGLISH)


def test_the_rows_as_a_file(pivot: Pivot) -> None:
    """The file has the rows from top to bottom, subtotals marked, and the total of all."""
    slicer = pivot.levels[0].split.slicer
    answer = split_tables.as_split(pivot).answer
    lines = list(
        csv.reader(io.StringIO(export_menu.answer_csv_text(answer, [pivot.front], slicer, []), newline=""))
    )
    rows = small_rows(seed=0).to_pandas().fillna({COUNTRY: ""})
    assert lines[0] == ["Country", "Country, description", "Campaign", "Impressions"]
    assert lines[1][:3] == ["US", "United States", "(all)"]
    for country, _, campaign, imps in lines[1:-1]:
        path = (country,) if campaign == "(all)" else (country, campaign)
        assert float(imps) == of(rows, [COUNTRY, CAMPAIGN], path)["imps"].sum()
    assert len(lines) == 2 + 2 * 9
    assert lines[-1] == ["Total", "", "", f"{rows['imps'].sum():.0f}"]


def test_others_where_the_service_has_cut(pivot: Pivot) -> None:
    """Where a level's answer is cut, a row whose campaigns don't add up has Others, without a count."""
    top, below = pivot.levels
    places = [place for place, path in enumerate(below.paths) if path[0] != "US" or path[1] != "3"]
    taken = split_levels.take(below.split.answer, places)
    cut = replace(below, split=replace(below.split, answer=taken), is_cut=True, counts=Counter())
    table = split_pivot.table(replace(pivot, levels=[top, cut]), (), "A pivot")
    rest = [row for row in table.rows if row.kind == "rest"]
    assert [(row.values, row.cells[0].text) for row in rest] == [
        (((COUNTRY, "US"),), "Others"),
        ((), "Others (3)"),
    ]
    rows = small_rows(seed=0).to_pandas()
    expected = of(rows, [COUNTRY, CAMPAIGN], ("US", "3"))["imps"].sum()
    np.testing.assert_allclose(float(rest[0].cells[1].text.replace(",", "")), expected)


def test_open_rows() -> None:
    """Rows of the first level are open and others closed; folds of another split count for nothing."""
    keys = ("a", "b", "c")
    assert Expansion().is_open(keys, ("x",))
    assert not Expansion().is_open(keys, ("x", "y"))
    closed = Expansion().with_row(keys, ("x",), opens=False)
    turned = closed.with_row(keys, ("x", "y"), opens=True)
    assert turned == Expansion(keys, (("x",), ("x", "y")))
    assert not turned.is_open(keys, ("x",))
    assert turned.is_open(("a", "c"), ("x",))
    assert turned.with_row(("a", "c"), ("z",), opens=False) == Expansion(("a", "c"), (("z",),))
    closed = turned.with_row(keys, ("x", "y"), opens=False)
    assert closed.with_row(keys, ("x",), opens=True) == Expansion()


def test_a_rule_for_all_rows() -> None:
    """With all rows open or closed, a single one differs; the link keeps which rule holds."""
    keys = ("a", "b", "c")
    none = Expansion.whole(keys, opens=False)
    assert [none.is_open(keys, path) for path in (("x",), ("x", "y"))] == [False, False]
    row = none.with_row(keys, ("x", "y"), opens=True)
    assert row.is_open(keys, ("x", "y"))
    assert row.with_row(keys, ("x", "y"), opens=False) == none
    assert Expansion.whole(("a", "b"), opens=True) == Expansion()
    slicer = Slicer(key_fields=[KeyField(name=name) for name in (*keys, "all")])
    for kept in (
        row,
        none,
        Expansion.whole(("all", "b", "c"), opens=True),
        Expansion(("all", "b"), (("x",),)),
    ):
        assert state.read({"folds": kept.text}, slicer, "demo", "s")[0].view.expansion == kept
    assert (
        state.read({"folds": "none"}, slicer, "demo", "s")[0].view.expansion
        == state.read({"folds": "all~z%7Eb"}, slicer, "demo", "s")[0].view.expansion
        == Expansion()
    )


@pytest.mark.parametrize("chart", ["table", "pivot"])
def test_the_route_answers_what_the_page_draws(visit: Visit, chart: str) -> None:
    """After a click the overview's route returns the table or pivot that the page draws after it."""
    us = [[COUNTRY, "US"]]
    for act in (["order", "split", "clicks", "asc"], ["exclude", us], ["collapse", us]):
        desk = visit(chart=chart, lower="split")
        data = next(component for component in boards.components(desk) if component.get("asked"))
        parts = boards.parts(desk, data["asked"]["params"], [data["asked"]["part"]], act)
        assert parts["split"] == [boards.split(boards.click(desk, page_clicks.BOARD, act))]
