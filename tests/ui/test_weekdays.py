"""Rows of weekdays: in the order of the week, and per day where a period has more of one than of another."""

import base64
import json
from collections.abc import Callable
from pathlib import Path

import boards
import numpy as np
import pandas as pd
import pytest
from conftest import LAST_DAY, small_rows
from opening import of_delivery
from streamlit.testing.v1 import AppTest

WEEKDAY, COUNTRY = "granularity_weekday", "geo.country"
TEN_DAYS = {"start": "-10d", "end": "yesterday", "fields": "imps", "compare": "none"}
Visit = Callable[..., AppTest]


@pytest.fixture
def visit(home: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """The Audience page about the slicer delivery."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    return of_delivery


def of_last(days: int) -> pd.DataFrame:
    """The slicer's rows of so many days, with their weekday and day."""
    rows = small_rows(seed=0).to_pandas().fillna({COUNTRY: ""})
    rows = rows.assign(day=pd.to_datetime(rows["time"].dt.date), weekday=rows["time"].dt.strftime("%u %A"))
    return rows[rows["day"] > pd.Timestamp(LAST_DAY) - pd.Timedelta(days=days)]


def labels(days: int) -> dict[str, str]:
    """What weekdays are called whose number of days differs: `1 Monday (2 days)`."""
    counts = of_last(days).groupby("weekday")["day"].nunique()
    return {name: f"{name} ({'1 day' if count == 1 else f'{count} days'})" for name, count in counts.items()}


def test_a_split_by_weekday_has_figures_per_day(visit: Visit) -> None:
    """Of ten days each row says how many are its own, and has its sum and that per day, as in pandas."""
    table = boards.texts(boards.split(visit(split=WEEKDAY, lower="split", **TEN_DAYS)))
    groups = of_last(10).groupby("weekday")
    sums, days = groups["imps"].sum(), groups["day"].nunique()
    rows = table[table["Weekday"] != "Total"]
    assert rows["Weekday"].tolist() == list(labels(10).values())
    assert [float(text.replace(",", "")) for text in rows["Impressions"]] == sums.tolist()
    per_day = [float(text.replace(",", "")) for text in rows["Impressions per day"]]
    assert per_day == pytest.approx((sums / days).tolist(), abs=0.51)
    assert table.loc[table["Weekday"] == "Total", "Impressions per day"].tolist() == ["–"]


def test_whole_weeks_need_no_figures_per_day(visit: Visit) -> None:
    """In two whole weeks each weekday has as many days: its name is enough, without a further column."""
    fortnight = TEN_DAYS | {"start": "-14d"}
    table = boards.texts(boards.split(visit(split=WEEKDAY, lower="split", **fortnight)))
    assert table["Weekday"].tolist()[1:] == list(labels(14))
    assert "Impressions per day" not in table


def test_a_leaderboard_of_weekdays_is_in_the_order_of_the_week(visit: Visit) -> None:
    """Monday comes first, whatever is filtered, unless somebody orders by another column."""
    names = labels(10)
    for params in ({}, {f"is.{WEEKDAY}": "1 Monday"}):
        card = boards.card(visit(cards=WEEKDAY, **TEN_DAYS, **params), WEEKDAY)
        assert card["Name"].tolist() == list(names.values())
    card = boards.card(visit(cards=f"{WEEKDAY}!-value", **TEN_DAYS), WEEKDAY)
    sums = of_last(10).groupby("weekday")["imps"].sum().sort_values(ascending=False)
    assert card["Name"].tolist() == [names[name] for name in sums.index]


def test_a_leaderboard_of_hours_has_all(visit: Visit) -> None:
    """The hours of the day are there from midnight on."""
    card = boards.card(visit(cards="granularity_hour_of_day", **TEN_DAYS), "granularity_hour_of_day")
    assert card["Name"].tolist() == sorted(of_last(10)["time"].dt.strftime("%H:00").unique())


@pytest.mark.parametrize("chart", ["heatmap", "bars"])
def test_charts_of_weekdays_are_per_day(visit: Visit, chart: str) -> None:
    """A heatmap's colors, and bars, are per day, as the note and the tooltips say."""
    split = f"{WEEKDAY}~{COUNTRY}" if chart == "heatmap" else WEEKDAY
    desk = visit(split=split, chart=chart, lower="split", **TEN_DAYS)
    (element,) = (chart for chart in desk.get("plotly_chart") if "split" in chart.proto.id)
    plot = json.loads(element.proto.spec)
    array = plot["data"][0]["z" if chart == "heatmap" else "x"]
    values = np.frombuffer(base64.b64decode(array["bdata"]), array["dtype"])
    groups = of_last(10).groupby(["weekday", COUNTRY][: len(split.split("~"))])
    days = of_last(10).groupby("weekday")["day"].nunique()
    expected = groups["imps"].sum() / groups["weekday"].first().map(days)
    assert sorted(values[values == values]) == pytest.approx(sorted(expected), rel=1e-9)
    assert element.proto.alt.startswith("Impressions per day by Weekday")
    assert chart == "bars" or "Impressions per day: " in element.proto.spec
    assert any("Impressions per day, as" in text.value for text in desk.caption)
