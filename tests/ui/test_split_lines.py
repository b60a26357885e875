"""The split as small charts over time: each value's course and figure are those of its rows."""

import base64
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import plotly.io
import pytest
from conftest import COUNTRIES, LAST_DAY, small_rows
from opening import of_delivery
from streamlit.testing.v1 import AppTest

from lib.figures.numbers import Numbers
from lib.figures.series import Series, ValueLine, buckets
from lib.slicers.models import DataField
from lib.ui.charts import panels
from lib.ui.charts.panels import Panel

COUNTRY, CAMPAIGN = "geo.country", "campaign_id"
ENGLISH, IMPS = Numbers.of("en"), DataField(name="imps", description="Impressions")
DAYS = (LAST_DAY - pd.Timedelta(days=6).to_pytimedelta(), LAST_DAY)
Visit = Callable[..., AppTest]


@pytest.fixture
def visit(home: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """The Audience page about the slicer delivery with small charts, for somebody who is signed in."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    return lambda **params: of_delivery(**{"chart": "lines", "split": COUNTRY, **params})


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """The slicer's rows, the last seven complete days as week 0, the seven before as week 1."""
    table = small_rows(seed=0).to_pandas().fillna({COUNTRY: ""})
    days = pd.to_datetime(table["time"].dt.date)
    ages = (pd.Timestamp(LAST_DAY) - days).dt.days
    return table.assign(week=ages // 7, day=days.dt.strftime("%Y-%m-%d"))


def drawn(desk: AppTest) -> go.Figure | None:
    """The small charts, where there are any."""
    for chart in desk.get("plotly_chart"):
        figure = plotly.io.from_json(chart.proto.spec, skip_invalid=True)
        if "xaxis2" in chart.proto.spec or len(figure.layout.annotations) == 1:
            return figure
    return None


def lines(figure: go.Figure, place: int, dash: str) -> list[float]:
    """The values of a panel's line."""
    axis = "y" if place == 0 else f"y{place + 1}"
    traces = [trace for trace in figure.data if (trace.yaxis or "y") == axis and trace.line.dash == dash]
    assert len(traces) == 1
    told = traces[0].y
    return np.frombuffer(base64.b64decode(told["bdata"]), told["dtype"]).tolist()


def test_courses_are_those_of_the_rows(visit: Visit, rows: pd.DataFrame) -> None:
    """A chart per country, the largest first: impressions by day, dotted the week before, and their sum."""
    figure = drawn(visit())
    sums = rows[rows["week"] == 0].groupby(COUNTRY)["imps"].sum().sort_values(ascending=False)
    assert len(figure.layout.annotations) == len(sums)
    for place, (country, whole) in enumerate(sums.items()):
        label = COUNTRIES.get(country, "(not set)")
        assert figure.layout.annotations[place].text == f"<b>{label}</b><br>{whole:,.0f}"
        for week, dash in ((0, "solid"), (1, "dot")):
            mine = rows[(rows[COUNTRY] == country) & (rows["week"] == week)]
            np.testing.assert_allclose(
                lines(figure, place, dash), mine.groupby("day")["imps"].sum().to_numpy()
            )


def test_unique_users_and_ratios_are_the_services(visit: Visit, rows: pd.DataFrame) -> None:
    """The figure of a chart is that of all its days: no sum of days for unique users, no mean for ratios."""
    week = rows[rows["week"] == 0]
    figure = drawn(visit(field="unique_users", split=CAMPAIGN))
    users = week.groupby(CAMPAIGN)["users"].nunique()
    for place, note in enumerate(figure.layout.annotations):
        name, text = note.text.removeprefix("<b>").split("</b><br>")
        assert text == f"{users[name]:,}"
        by_day = week[week[CAMPAIGN] == name].groupby("day")["users"].nunique()
        np.testing.assert_allclose(lines(figure, place, "solid"), by_day.to_numpy())
    sums = week.groupby(CAMPAIGN)[["clicks", "imps"]].sum()
    for note in drawn(visit(field="ctr", split=CAMPAIGN)).layout.annotations:
        name, text = note.text.removeprefix("<b>").split("</b><br>")
        ratio = 100 * sums["clicks"][name] / sums["imps"][name]
        assert float(text) == pytest.approx(ratio, abs=0.5001 * 10 ** -len(text.partition(".")[2]))


def test_filters_hold(visit: Visit, rows: pd.DataFrame) -> None:
    """A filter on another key field narrows every chart."""
    figure = drawn(visit(**{f"is.{CAMPAIGN}": "3"}))
    kept = rows[(rows["week"] == 0) & (rows[CAMPAIGN] == "3")]
    sums = kept.groupby(COUNTRY)["imps"].sum().sort_values(ascending=False)
    assert figure.layout.annotations[0].text.endswith(f"<br>{sums.iloc[0]:,.0f}")
    top = kept[kept[COUNTRY] == sums.index[0]].groupby("day")["imps"].sum()
    expected = top.reindex(sorted(rows[rows["week"] == 0]["day"].unique()), fill_value=0)
    np.testing.assert_allclose(lines(figure, 0, "solid"), expected.to_numpy())


def test_what_lines_need(visit: Visit) -> None:
    """By time alone there are bars, and a sentence why; by two key fields the first has the charts."""
    desk = visit(split="granularity_day")
    assert drawn(desk) is None
    assert any("Lines need a key field other than time" in caption.value for caption in desk.caption)
    both = visit(split=f"{COUNTRY}~{CAMPAIGN}")
    assert len(drawn(both).layout.annotations) == 5
    said = " ".join(caption.value.replace("\\", "") for caption in both.caption)
    assert (
        "Shown: Campaign alone, without Country." in said or "Shown: Country alone, without Campaign." in said
    )


def line(values: list[float], low: list[float] | None = None, high: list[float] | None = None) -> Series:
    """A series of the first days of the period."""
    names = buckets("day", DAYS)[: len(values)]
    sides = (None if side is None else np.array(side) for side in (low, high))
    starts = tuple(map(datetime.fromisoformat, names))
    return Series(tuple(names), starts, np.array(values, float), *sides)


def test_each_panel_has_its_own_scale() -> None:
    """A panel goes from zero to the highest end of its own ranges; estimates have their band."""
    two = [
        Panel(ValueLine("<i>", "#111111", line([1, 2])), "3"),
        Panel(ValueLine("b", "#222222", line([50, 60], [40, 50], [60, 70])), "110"),
    ]
    figure = panels.figure(two, IMPS, ENGLISH)
    assert figure.layout.yaxis.range == (0, pytest.approx(2 * 1.06))
    assert figure.layout.yaxis2.range == (0, pytest.approx(70 * 1.06))
    assert figure.layout.xaxis.range == figure.layout.xaxis2.range
    ratio = IMPS.model_copy(update={"formula": "a / b"})
    low, high = panels.figure(two[1:], ratio, ENGLISH).layout.yaxis.range
    assert 38 < low < 40 < 70 < high < 72
    assert figure.layout.annotations[0].text == "<b>&lt;i&gt;</b><br>3"
    assert [trace.fill for trace in figure.data if trace.yaxis == "y2"] == [None, "tonexty", None]


def test_alternative_text() -> None:
    """The alternative text has each value's figure, and the day of its highest value."""
    shown = [Panel(ValueLine("a", "#111111", line([1, 5, 2])), "8")]
    day = buckets("day", DAYS)[1]
    assert panels.alternative(shown, "Impressions by Site") == f"Impressions by Site: a 8, highest on {day}"
