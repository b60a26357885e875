"""Audience as CSV: the cells are those of the answer, and the labels describe the question."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import downloads
import httpx
import pandas as pd
import pytest
from conftest import LAST_DAY, small_rows
from opening import Popover, of_delivery

from lib.figures.query import ask
from lib.reporting.answers import Audience, Total
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.slicers.models import DataField, KeyField, Slicer
from lib.ui.query import export_menu

SITE = Slicer(key_fields=(KeyField(name="site", description="=Site"),), data_fields=(DataField(name="imps"),))


def lines(text: str) -> list[list[str]]:
    """The cells of a file."""
    return list(csv.reader(io.StringIO(text, newline="")))


def test_the_cells_are_those_of_the_rows(http: httpx.Client, token: Callable[[str], str]) -> None:
    """Codes, descriptions and sums are what pandas has of the rows; labels first, the total last."""
    client = Reporting(http, token("manager"))
    slicer = client.info(InfoQuery(project_name="demo", slicer_name="delivery"))
    query = AudienceQuery(
        project_name="demo", slicer_name="delivery", start_date="-60d", end_date=LAST_DAY.isoformat(),
        split_by="geo.country", data_fields=("imps",), include_mappings=1, precision=1,
    )  # fmt: skip
    table = lines(
        export_menu.answer_csv_text(
            client.audience(query, slicer),
            [slicer.data_field("imps")],
            slicer,
            ["Question: all", "Precision"],
        )
    )
    rows = small_rows(seed=0).to_pandas().fillna({"geo.country": ""})
    expected = rows.groupby("geo.country")["imps"].sum().sort_values(ascending=False)
    assert table[:3] == [["Question: all"], ["Precision"], ["Country", "Country, description", "Impressions"]]
    assert [(line[0], float(line[2])) for line in table[3:-1]] == list(expected.items())
    assert table[3][1] == "United States"
    assert table[-1] == ["Total", "", f"{expected.sum():.0f}"]


def test_estimates_bring_their_ranges() -> None:
    """Of estimates the file has both ends, and no total that would look exact; a missing value is empty."""
    frame = pd.DataFrame({"imps": [6.5, float("nan")]})
    answer = Audience(pd.DataFrame({"site": ["a", "b"]}), frame, frame, Total({"imps": 10.0}, 2))
    ranged = replace(answer, low=frame - 1, high=frame + 1)
    table = lines(export_menu.answer_csv_text(ranged, SITE.data_fields, SITE, []))
    assert table[0][1:] == ["imps", "imps, lower end (95 %)", "imps, upper end (95 %)"]
    assert table[1:] == [["a", "6.5", "5.5", "7.5"], ["b", "", "", ""]]


@pytest.mark.parametrize("label", ["=1+1", "+1", "-1", "@a", "\ta", "\ra"])
def test_no_spreadsheet_runs_a_label(label: str) -> None:
    """A value, a title or a label that a spreadsheet would run gets an apostrophe."""
    frame = pd.DataFrame({"imps": [-6.0]})
    answer = Audience(pd.DataFrame({"site": [label]}), frame, frame, Total({"imps": -6.0}, 1))
    table = lines(export_menu.answer_csv_text(answer, SITE.data_fields, SITE, [label]))
    assert [table[0][0], table[2][0]] == [f"'{label}"] * 2
    assert table[1][0] == "'=Site"
    assert table[2][1] == "-6"


def test_each_block_offers_its_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chart, leaderboard and split have a file, and their charts a name for a picture of them.

    The leaderboard's has what its card shows: the first values whatever the filters on them, and the total.
    No estimate comes first: the rerun for exact figures would close the menus, as AppTest does in each run.
    """
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    monkeypatch.setitem(ask.FIRST, "exact_within", 60_000)
    files = downloads.kept(monkeypatch)
    filters = {"is.campaign_id": "3", "is.geo.country": "DE"}
    chart_label = "Download the time chart's rows as CSV"
    desk = of_delivery(seconds=120, lower="cards", **filters)
    desk.session_state["exported_card"] = "geo.country"
    Popover("leaderboards_download").opened(desk)
    labels = [button.proto.label for button in desk.get("download_button")]
    assert (labels, set(files)) == (["Download these rows as CSV", chart_label], {"chart", "leaderboard"})
    desk = Popover("split_download").opened(
        of_delivery(seconds=120, chart="bars", split="geo.country", **filters)
    )
    labels = [button.proto.label for button in desk.get("download_button")]
    assert labels == ["Download these rows as CSV", chart_label]
    rows = small_rows(seed=0).to_pandas().fillna({"geo.country": ""})
    week = rows[(rows["time"].dt.date > LAST_DAY - pd.Timedelta(days=7).to_pytimedelta())]
    kept = week[week["campaign_id"] == "3"]
    expected = kept.groupby("geo.country")["imps"].sum().sort_values(ascending=False)
    table = lines(files["leaderboard"]())
    assert table[0][0].endswith("by Country; Campaign is 3")
    assert [(line[0], float(line[2])) for line in table[3:-1]] == list(expected.items())
    assert table[-1][:4] == ["Total", "", f"{expected.sum():.0f}", "100"]
    named = [json.loads(chart.proto.config)["toImageButtonOptions"] for chart in desk.get("plotly_chart")]
    days = f"{LAST_DAY - pd.Timedelta(days=6).to_pytimedelta()}_{LAST_DAY}"
    assert [file["filename"] for file in named] == [
        f"delivery_split_bars_{days}"
    ]  # fmt: skip
