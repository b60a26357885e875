"""Previous figures and absolute changes as columns: of leaderboards, split and pivot, as pandas has them."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boards
import pandas as pd
import pytest
from conftest import COUNTRIES, rows_by_week
from opening import of_delivery
from streamlit.testing.v1 import AppTest

from lib.figures.overview import leaderboards, split_levels
from lib.figures.query import state
from lib.figures.query.state import View
from lib.ui.kit.frame import CONTEXT
from lib.ui.query import export_menu

COUNTRY, CAMPAIGN = "geo.country", "campaign_id"
BESIDE = "previous~amount"
Visit = Callable[..., AppTest]
Figures = dict[tuple[str, ...], dict[str, float | None]]


@pytest.fixture
def visit(home: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """The Audience page about the slicer delivery with both columns, for somebody who is signed in."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    return lambda **params: of_delivery(**{"beside": BESIDE, "fields": "imps~clicks", **params})


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """The slicer's rows, the last seven complete days as week 0, the seven before as week 1."""
    return rows_by_week(COUNTRY)


def number(text: str) -> float | None:
    """A figure of a cell; None for a dash."""
    return None if text == "–" else float(text.replace(",", "").replace("\u2212", "-"))


def figures(table: dict[str, Any]) -> Figures:
    """The figures of a table by the values of its row (Others, and Total, by these words) and by column."""
    titles = [column["title"] for column in table["columns"]]
    keys = sum(column["is_key"] for column in table["columns"])
    by_path: Figures = {}
    for row in table["rows"]:
        kind = {"total": ("Total",), "rest": ("Others",)}.get(row["kind"], ())
        texts = [cell["text"] for cell in row["cells"]][keys:]
        path = tuple(value for _, value in row["values"]) + kind
        by_path[path] = dict(zip(titles[keys:], map(number, texts), strict=True))
    return by_path


def by_week(rows: pd.DataFrame, field: str, *keys: str) -> pd.DataFrame:
    """A field's sums by these keys (all rows without), a column per week; nothing where there are no rows."""
    groups: pd.DataFrame = rows.groupby([*keys, "week"])[field].sum().unstack("week")
    return groups


def expected(sums: Any) -> tuple[float | None, float | None]:
    """The figure of the week before, and the difference, of a row of `by_week`; None without both."""
    now, before = (None if pd.isna(sums[week]) else float(sums[week]) for week in (0, 1))
    if before is None or now is None:
        return None, None
    return before, now - before


def test_leaderboards_have_the_week_before_and_the_difference(visit: Visit, rows: pd.DataFrame) -> None:
    """Each row of a card, and Others, beside value and relative change; a second data field has none."""
    table = next(card for card in boards.answer(visit(cards=CAMPAIGN))["cards"] if card["id"] == CAMPAIGN)
    sums = by_week(rows, "imps", CAMPAIGN)
    by_path = figures(table)
    shown = [path[0] for path in by_path if path != ("Others",)]
    for campaign in shown:
        cells = by_path[(campaign,)]
        assert (cells["Previous"], cells["Change, absolute"]) == expected(sums.loc[campaign])
    rest = sums.drop(shown).sum()
    if ("Others",) in by_path:
        assert by_path[("Others",)]["Previous"] == rest[1]
        assert by_path[("Others",)]["Change, absolute"] == rest[0] - rest[1]


def test_the_words_of_a_change_name_the_figure_of_before(visit: Visit, rows: pd.DataFrame) -> None:
    """Where days are compared in part, the figure of before is that of its days, not value less change."""
    desk = visit(cards=CAMPAIGN, start="2026-11-12", end="2026-11-18", compare="2026-11-05~2026-11-08")
    table = next(card for card in boards.answer(desk)["cards"] if card["id"] == CAMPAIGN)
    titles = [column["title"] for column in table["columns"]]
    for row in table["rows"]:
        change, previous = (row["cells"][titles.index(title)] for title in ("Change, %*", "Previous"))
        if previous["text"] != "–" and change["text"] != "–":
            assert change["about"].startswith(f"Before: {previous['text']} ·")


@pytest.mark.parametrize("chart", ["table", "pivot"])
def test_every_metric_of_the_split_has_them(visit: Visit, rows: pd.DataFrame, chart: str) -> None:
    """In table and pivot each data field has its week before and difference: of rows, total and Others."""
    by_path = figures(boards.split(visit(split=CAMPAIGN, chart=chart, top="3")))
    for field, lead in (("imps", ""), ("clicks", "Clicks: ")):
        sums = by_week(rows, field, CAMPAIGN)
        titles = ("Previous", "Change, absolute")
        previous, amount = (f"{lead}{title.lower()}" if lead else title for title in titles)
        visible_rows = [path[0] for path in by_path if path and path[-1] not in ("Total", "Others")]
        assert len(visible_rows) == 3
        for campaign in visible_rows:
            cells = by_path[(campaign,)]
            assert (cells[previous], cells[amount]) == expected(sums.loc[campaign])
        assert (by_path[("Total",)][previous], by_path[("Total",)][amount]) == expected(sums.sum())
        others = next(cells for path, cells in by_path.items() if path[-1:] == ("Others",))
        assert (others[previous], others[amount]) == expected(sums.drop(visible_rows).sum())


def test_rows_below_rows_have_them(visit: Visit, rows: pd.DataFrame) -> None:
    """On the second level of a pivot as on the first."""
    by_path = figures(boards.split(visit(split=f"{COUNTRY}~{CAMPAIGN}", chart="pivot", folds="")))
    sums = by_week(rows, "imps", COUNTRY, CAMPAIGN)
    below = [path for path in by_path if len(path) == 2 and path[-1] != "Others"]
    assert below
    for path in below:
        assert (by_path[path]["Previous"], by_path[path]["Change, absolute"]) == expected(sums.loc[path])


def test_every_value_across_has_them(
    visit: Visit, rows: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Campaigns by countries: each cell, the other countries, the other campaigns, and the total."""
    monkeypatch.setattr(split_levels, "ACROSS", 2)
    desk = visit(split=f"{CAMPAIGN}~{COUNTRY}", chart="pivot", cross=COUNTRY, top="3")
    by_path = figures(boards.split(desk))
    cells = by_week(rows, "imps", CAMPAIGN, COUNTRY)
    columns = rows[rows["week"] == 0].groupby(COUNTRY)["imps"].sum().nlargest(2).index
    campaigns = [path[0] for path in by_path if path and path[-1] not in ("Total", "Others")]
    levels = cells.index.get_level_values

    def beside(path: tuple[str, ...], title: str) -> tuple[float | None, float | None]:
        return by_path[path][f"{title}: previous"], by_path[path][f"{title}: change, absolute"]

    for country in columns:
        label = COUNTRIES.get(country, country) or "(not set)"
        of_country = cells[levels(COUNTRY) == country]
        assert beside(("Total",), label) == expected(of_country.sum())
        for campaign in campaigns:
            key = (campaign, country)
            assert beside((campaign,), label) == (
                expected(cells.loc[key]) if key in cells.index else (None, None)
            )
        below = of_country[~of_country.index.get_level_values(CAMPAIGN).isin(campaigns)]
        assert beside(("Others",), label) == expected(below.sum())
    of_others = cells[~levels(COUNTRY).isin(columns)]
    assert beside(("Total",), "Others") == expected(of_others.sum())
    for campaign in campaigns:
        assert beside((campaign,), "Others") == expected(of_others.loc[campaign].sum())


def test_the_columns_stand_in_the_link_and_in_the_picker(visit: Visit) -> None:
    """The picker of the split writes them into the link; a word there that is none is dropped."""
    desk = visit(beside="", lower="split", split=CAMPAIGN)
    view, slicer = View(compared_columns=("previous", "amount")), desk.session_state[CONTEXT].slicer
    assert state.read(view.params, slicer, "demo", "s")[0].view == view
    assert state.read({"beside": "amount~share~previous"}, slicer, "demo", "s")[0].view == view
    (pills,) = [group for group in desk.button_group if group.key.startswith("compared_columns")]
    pills.select("previous").run()
    assert "".join(desk.query_params["beside"]) == "previous"
    titles = [column["title"] for column in boards.split(desk)["columns"]]
    assert "Previous" in titles
    assert "Change, absolute" not in titles


def test_without_anything_to_compare_there_are_none(visit: Visit) -> None:
    """Where nothing is compared there is no column of figures of before."""
    titles = [column["title"] for column in boards.split(visit(split=CAMPAIGN, compare="none"))["columns"]]
    assert not [title for title in titles if "revious" in title or "absolute" in title]


def by_day(rows: pd.DataFrame, *keys: str) -> pd.DataFrame:
    """Impressions by day and the keys in both weeks, those of the week before under the day a week later."""
    days = pd.to_datetime(rows["time"].dt.date) + pd.to_timedelta(7 * rows["week"], unit="D")
    weeks = rows.assign(day=days.dt.strftime("%Y-%m-%d"))[rows["week"] < 2]
    return weeks.groupby(["day", *keys, "week"])["imps"].sum().unstack("week")


@pytest.mark.parametrize("chart", ["table", "pivot"])
@pytest.mark.parametrize("keys", [(), (COUNTRY,)], ids=["days", "countries"])
@pytest.mark.parametrize("compare", ["previous", "weekdays"])
def test_days_are_compared_by_their_place(
    visit: Visit, rows: pd.DataFrame, keys: tuple[str, ...], chart: str, compare: str
) -> None:
    """A day as a row has the figure of the day a week before, and the change from it; the total has both."""
    sums = by_day(rows, *keys)
    split = "~".join(("granularity_day", *keys))
    table = boards.split(visit(split=split, chart=chart, compare=compare, top="100"))
    by_path = {path: row for path, row in figures(table).items() if len(path) == len(keys) + 1}
    days = {path: row for path, row in by_path.items() if path[-1] not in ("Total", "Others")}
    assert days
    for path, row in days.items():
        now, before = sums.loc[path if keys else path[0]]
        if pd.notna(before):
            assert (row["Previous"], row["Change, absolute"]) == (before, now - before), path
            assert row["Change, %"] == pytest.approx(100 * (now / before - 1), abs=0.051)
    if not keys:
        total = figures(table)[("Total",)]
        assert (total["Previous"], total["Impressions"]) == (sums[1].sum(), sums[0].sum())


@pytest.mark.parametrize("order", ["", "!-change", "!name"])
def test_leaderboards_of_days_are_compared_by_their_place(
    visit: Visit, rows: pd.DataFrame, order: str
) -> None:
    """A day in a card has the figure of the day a week before, in whichever order."""
    desk = visit(cards=f"granularity_day{order}")
    (table,) = (card for card in boards.answer(desk)["cards"] if card["id"] == "granularity_day")
    sums = by_day(rows)
    days = {path[0]: row for path, row in figures(table).items() if path != ("Others",)}
    assert len(days) == 7
    for day, row in days.items():
        now, before = sums.loc[day]
        assert (row["Previous"], row["Change, absolute"]) == (before, now - before)
        assert row["Change, %"] == pytest.approx(100 * (now / before - 1), abs=0.051)


@pytest.mark.parametrize("cross", ["granularity_day", COUNTRY])
def test_cells_of_days_are_compared_by_their_place(visit: Visit, rows: pd.DataFrame, cross: str) -> None:
    """So has each cell of a pivot with days as rows, or as columns."""
    sums = by_day(rows, COUNTRY)
    split = f"granularity_day~{COUNTRY}"
    table = boards.split(visit(split=split, chart="pivot", cross=cross, fields="imps", top="100"))
    titles = [column["title"] for column in table["columns"]]
    previous = [index for index, title in enumerate(titles) if title.endswith(": previous")]
    texts = {
        row["cells"][index]["text"] for row in table["rows"] if row["kind"] == "row" for index in previous
    }
    assert previous
    assert {f"{value:,.0f}" for value in sums[1].dropna()} <= texts


@pytest.mark.parametrize("chart", ["table", "pivot"])
def test_the_file_has_the_columns_in_sight(
    visit: Visit, rows: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, chart: str
) -> None:
    """The CSV of the rows shown has the week before and the difference of each metric, and of the total."""
    texts = downloads(monkeypatch)
    desk = visit(split=CAMPAIGN, chart=chart)
    desk.session_state["split_download"] = True
    desk.run()
    lines = [line for line in csv.reader(io.StringIO(texts[0]())) if len(line) > 1]
    head = lines[0]
    sums = by_week(rows, "clicks", CAMPAIGN)
    for line in lines[1:]:
        named = dict(zip(head, line, strict=True))
        before = sums[1].sum() if line[0] == "Total" else sums.loc[line[0], 1]
        assert float(named["Clicks: previous"]) == before
        difference = float(named["Clicks"]) - before
        assert float(named["Clicks: change, absolute"]) == difference
        if chart == "table":
            imps = by_week(rows, "imps", CAMPAIGN)
            now, past = (imps.sum() if line[0] == "Total" else imps.loc[line[0]])[[0, 1]]
            assert float(named["Share, %"]) == pytest.approx(100 * now / imps[0].sum())
            assert float(named["Change, %"]) == pytest.approx(100 * (now / past - 1))
    assert lines[-1][0] == "Total"


def test_the_file_of_a_leaderboard_has_them(
    visit: Visit, rows: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So does the CSV of a card."""
    texts = downloads(monkeypatch)
    desk = visit(cards=CAMPAIGN, lower="cards")
    desk.session_state["leaderboards_download"] = True
    desk.run()
    lines = [line for line in csv.reader(io.StringIO(texts[0]())) if len(line) > 1]
    sums = by_week(rows, "imps", CAMPAIGN)
    for line in lines[1 : leaderboards.LIMIT]:
        named = dict(zip(lines[0], line, strict=True))
        assert float(named["Previous"]) == sums.loc[line[0], 1]
        assert float(named["Share, %"]) == pytest.approx(100 * sums.loc[line[0], 0] / sums[0].sum())
        change = sums.loc[line[0], 0] / sums.loc[line[0], 1] - 1
        assert float(named["Change, %"]) == pytest.approx(100 * change)


def downloads(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], str]]:
    """The texts of the CSV files that are offered, in the order in which they are drawn."""
    texts: list[Callable[[], str]] = []
    download = export_menu.download

    def offer(focus: Any, name: str, text: Callable[[], str], label: str) -> None:
        texts.append(text)
        download(focus, name, text, label)

    monkeypatch.setattr(export_menu, "download", offer)
    return texts
