"""Slicers, Audience and Export over a reporting service that knows the specification and nothing more."""

import base64
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boards
import numpy as np
import pandas as pd
import plotly.io
import pytest
from conftest import COUNTRIES, LAST_DAY, copied, small_rows
from opening import of_delivery
from standin.app import Standin, served
from standin.known import wide
from standin.state import TOKEN, State
from standin_fixtures import small
from streamlit.testing.v1 import AppTest

from lib.serving import connect
from lib.serving.connect import own_metrics
from lib.settings import Settings

SCREENS = ("slicers", "audience", "export")
Visit = Callable[..., AppTest]


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """The rows of the slicer delivery in the last seven complete days."""
    frame = small_rows(seed=0).to_pandas().fillna({"geo.country": ""})
    return frame[frame["time"].dt.date > LAST_DAY - pd.Timedelta(days=7).to_pytimedelta()]


@pytest.fixture(scope="module")
def there(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the people of the small demo."""
    return copied(home, tmp_path_factory.mktemp("elsewhere") / "home")


@pytest.fixture
def visit(standin: Standin, there: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """A screen of a desk whose reporting service is the stand-in, for somebody who is signed in."""
    return over(standin, there, monkeypatch)


def over(standin: Standin, home: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """Visits to a desk over this stand-in. What the desk keeps of a slicer belongs to the visit."""
    told = {
        "HOME": str(home),
        "BASE_URL": standin.address,
        "REPORTING_TOKEN": TOKEN,
        "SLICERS": ",".join("/".join(where) for where in standin.state.slicers),
    }
    for name, value in told.items():
        monkeypatch.setenv(f"TRANCHE_{name}", value)

    def opened(screen: str, **params: str) -> AppTest:
        desk = of_delivery(screen, **params)
        assert not desk.exception, desk.exception
        assert not desk.error, [error.value for error in desk.error]
        return desk

    return opened


def said(desk: AppTest) -> str:
    """Everything that the screen says in small."""
    return "\n".join(text.value for text in (*desk.caption, *desk.info, *desk.warning, *desk.markdown))


def headline(desk: AppTest) -> dict[str, str]:
    """The figures of the headline by title."""
    return {metric.label.strip("*"): metric.value for metric in desk.metric}


def test_slicers_opens_on_an_answer(visit: Visit, rows: pd.DataFrame) -> None:
    """Slicers shows the latest figures and the top values, in codes, and says that they are codes."""
    desk = visit("slicers")
    assert headline(desk)["Impressions"] == f"{rows['imps'].sum():,.0f}"
    assert headline(desk)["Unique users"] == f"{rows['users'].nunique():,}"
    top = boards.shown(desk)
    order = rows.groupby("geo.country")["imps"].sum().sort_values(ascending=False)
    assert top["Country"].tolist() == [code or "(not set)" for code in order.index]
    assert boards.numbers(top["Impressions"]) == order.tolist()
    assert "ID" not in top
    assert "Country as codes: this service returns no descriptions" in said(desk).replace("\\", "")


def test_an_own_metric_is_computed_from_its_parts(visit: Visit, rows: pd.DataFrame) -> None:
    """Over a service without own metrics Tranche asks for the parts, computes and sorts, and says so."""
    settings = Settings.current()
    person = connect.installation(settings).people.get("manager")
    assert person is not None
    store = connect.connect(person, settings).view_store.metrics
    metric = store.save("demo", "delivery", "Clicks per mille", "1000 * clicks / imps", digits=2)
    name = own_metrics.name(metric)
    desk = visit("audience", field=name, cards="geo.country", having=f"{name}~gt~0")
    sums = rows[["clicks", "imps"]].sum()
    headline = boards.headline(desk)["Clicks per mille, all values"]
    assert headline == f"{1000 * sums['clicks'] / sums['imps']:,.2f}"
    card = next(table for table in boards.drawn(desk) if table["card"] and table["id"] == "geo.country")
    by_country = rows.groupby("geo.country")[["clicks", "imps"]].sum()
    for row in card["rows"]:
        if row["kind"] == "row":
            clicks, imps = by_country.loc[row["values"][0][1]]
            assert row["cells"][1]["text"] == f"{1000 * clicks / imps:,.2f}"
    assert "is computed here from its parts" in str(boards.head(desk))
    store.delete(metric.id)


def test_audience_opens_on_an_answer(visit: Visit, rows: pd.DataFrame) -> None:
    """Audience shows the last complete week, its change and its split, largest first."""
    desk = visit("audience")
    assert boards.headline(desk)["Impressions"] == f"{rows['imps'].sum():,.0f}"
    table = boards.shown(desk)
    order = rows.groupby("geo.country")["imps"].sum().sort_values(ascending=False)
    assert table["Country"].tolist() == ["Total", *(code or "(not set)" for code in order.index)]
    assert boards.numbers(table["Impressions"]) == [order.sum(), *order]
    assert boards.head(desk)["figures"][0]["delta"]
    assert "Exact" in said(desk)
    assert "Country as codes" in said(desk)


def test_top_rows_of_many(visit: Visit, rows: pd.DataFrame) -> None:
    """Of the rows, all of which come, the screen shows the first twenty, and more on a click."""
    desk = visit("audience", split="campaign_id~granularity_day")
    groups = rows.assign(day=rows["time"].dt.date).groupby(["campaign_id", "day"]).ngroups
    assert f"20 of {groups} rows" in said(desk)
    assert len(boards.shown(desk)) == 22
    next(button for button in desk.button if button.label == "Show more").click()
    assert f"{groups} rows" in said(desk.run())


def test_other_days_and_zone(visit: Visit) -> None:
    """Days by the hour, in another zone, compared with the same weekdays, are asked for and shown."""
    desk = visit("audience", start="-3d", end="yesterday", tz="-5", compare="weekdays", grain="hour")
    assert len(boards.headline(desk)) == 5
    assert boards.head(desk)["grain"] == "hour"


def test_several_values_per_record(visit: Visit, rows: pd.DataFrame) -> None:
    """On a segmented key field the page says how many values a record has."""
    counts = rows["categories"].map(len).clip(lower=1)
    mean = (counts * rows["imps"]).sum() / rows["imps"].sum()
    assert f"{mean:.1f} values per record" in said(visit("audience", split="categories"))


def test_heatmap(visit: Visit) -> None:
    """Two key fields against each other are a heatmap here too."""
    desk = visit("audience", split="geo.country~campaign_id", chart="heatmap")
    assert all(table["card"] for table in boards.drawn(desk))


@pytest.mark.parametrize("weight", [0, 10])
def test_pivot(standin: Standin, visit: Visit, rows: pd.DataFrame, weight: int) -> None:
    """Subtotals and rows of a pivot are the service's; all rows open and close. Estimates may come first."""
    standin.state.weight = weight
    keys = ["geo.country", "campaign_id", "categories"]
    desk = visit("audience", split="~".join(keys), chart="pivot")
    desk.button(key="split_unfold_more").click().run()
    until_exact(desk)
    assert not desk.exception
    table = boards.split(desk)
    shown = boards.texts(table)
    each = rows.explode("categories").fillna({"categories": ""})
    depths = []
    for place, row in enumerate(table["rows"]):
        if row["kind"] == "rest":
            continue
        path = [value for _, value in row["values"]]
        depths.append(len(path))
        mine = each if "categories" in dict(row["values"]) else rows
        for key, value in zip(keys, path, strict=False):
            mine = mine[mine[key] == value]
        for title, name in (("Impressions", "imps"), ("Clicks", "clicks")):
            assert boards.numbers(shown[title])[place] == mine[name].sum(), (path, said(desk))
        ratio = 100 * mine["clicks"].sum() / mine["imps"].sum()
        assert boards.numbers(shown["CTR"])[place] == pytest.approx(ratio, abs=0.51)
    assert [depths.count(depth) for depth in (0, 1)] == [1, rows["geo.country"].nunique()]
    assert depths.count(2) == len(rows.groupby(keys[:2]))
    assert depths.count(3) >= depths.count(2)
    desk.button(key="split_unfold_less").click().run()
    assert {row["level"] for row in boards.split(desk)["rows"]} == {1}


def test_lines(visit: Visit, rows: pd.DataFrame) -> None:
    """A small chart for each campaign has its impressions by day, and their sum above."""
    desk = visit("audience", split="campaign_id", chart="lines", compare="none")
    (figure,) = [
        chart_figure
        for chart in desk.get("plotly_chart")
        if "xaxis2" in (chart_figure := plotly.io.from_json(chart.proto.spec, skip_invalid=True)).layout
    ]
    sums = rows.groupby("campaign_id")["imps"].sum().sort_values(ascending=False)
    notes = [note.text for note in figure.layout.annotations]
    assert notes == [f"<b>{name}</b><br>{whole:,.0f}" for name, whole in sums.items()]
    for place, name in enumerate(sums.index):
        axis = f"y{place + 1}" if place else "y"
        (line,) = [
            trace for trace in figure.data if (trace.yaxis or "y") == axis and trace.line.dash == "solid"
        ]
        by_day = rows[rows["campaign_id"] == name].groupby(rows["time"].dt.date)["imps"].sum()
        np.testing.assert_allclose(np.frombuffer(base64.b64decode(line.y["bdata"]), line.y["dtype"]), by_day)


def until_exact(desk: AppTest) -> None:
    """Draw the screen until nothing on it is an estimate any more."""
    for _ in range(100):
        if not re.search("±|estimate", said(desk), re.I):
            return
        desk.run()
    raise AssertionError(f"the screen stayed an estimate: {said(desk)}")


def until(desk: AppTest, text: str) -> None:
    """Draw the screen until what is asked in the background has come, and the screen says this."""
    for _ in range(100):
        if text in said(desk):
            return
        desk.run()
    raise AssertionError(f"the screen never said {text}: {said(desk)}")


def test_compressed_answers(standin: Standin, visit: Visit) -> None:
    """Where an answer is compressed, its range is beside figures, in the table and in leaderboards."""
    standin.state.weight = 1000
    desk = visit("audience", start="-21d", split="geo.country")
    off = 196 / (1_000_000 / standin.state.weight) ** 0.5
    until(desk, f"± {off:.1f} %")
    assert min(boards.numbers(boards.shown(desk)["±, %"])[1:]) > off
    cards = visit("audience", start="-21d", cards="geo.country")
    assert min(boards.numbers(boards.card(cards, "geo.country")["±, %"])[:3]) > off
    assert re.search(r"At least \d values", said(visit("slicers")))


def test_an_estimate_first_where_a_service_says_nothing(standin: Standin, visit: Visit) -> None:
    """A remote service is asked for 10,000 records at first, then for a million in the background."""
    standin.state.weight = 10
    desk = visit("audience", start="-21d", split="geo.country")
    asked = [request.body for request in standin.state.asked if request.path.endswith("/audience")]
    split = [body for body in asked if "geo.country" in body.get("split_by", ())]
    limits = {body.get("audience_rows_limit", 1_000_000) for body in split}
    assert 10_000 in limits
    assert limits <= {10_000, 1_000_000}
    until(desk, "Exact")
    assert not desk.exception


def picked(desk: AppTest) -> list[str]:
    """The values of the list that is open."""
    tables = [table for table in boards.drawn(desk) if (table["card"] or {}).get("is_picker")]
    return boards.texts(tables[0])["Value"].tolist()


def test_the_values_of_a_picker(visit: Visit) -> None:
    """A filter's values come by code, and a search among them finds descriptions too."""
    desk = visit("audience", **{"is.geo.country": "US"})
    desk.session_state["filter_geo.country"] = True
    desk.run()
    assert not desk.exception
    assert set(picked(desk)) == {*COUNTRIES, "(not set)"}
    boards.click(desk, "filter_geo.country_board", ["find", "geo.country", "germ"])
    assert picked(desk) == ["DE"]


def test_export_shows_a_file(visit: Visit, standin: Standin) -> None:
    """Export has the formats that the service has, and says that it lays the file out itself."""
    desk = visit("export")
    assert set(desk.get_by_key("export_format").options) == {"csv", "xls", "tsv", "tsv2"}
    assert any("5 rows" in text.value for text in desk.markdown)
    assert "The service decides the layout of the file" in said(desk)
    assert "every record is read" not in said(desk)
    assert f"{standin.address}/API/v2/export" in desk.code[1].value
    assert "data_fields" not in desk.code[0].value


def test_export_filters_by_data(visit: Visit, rows: pd.DataFrame) -> None:
    """Data filters are the specification's, so that preview and file have them."""
    least = int(rows.groupby("geo.country")["imps"].sum().median())
    desk = visit("export", having=f"imps~ge~{least}")
    assert any("3 rows" in text.value for text in desk.markdown)


def test_receipt_of_a_sample(standin: Standin, visit: Visit, rows: pd.DataFrame) -> None:
    """Where the screen reads a sample, the receipt has the figures of all records beside it, row by row."""
    standin.state.weight = 1000
    tables = [table for data in boards.components(visit("export")) for table in data.get("tables", ())]
    receipt = boards.texts(next(table for table in tables if table["id"] == "receipt"))
    receipt = receipt.set_index(["Row", "Data field"])
    total = receipt.loc[("Total", "Impressions")]
    assert total["Of all records"] == f"{rows['imps'].sum():,.0f}"
    assert total["Precision"].startswith("± ")
    germany = receipt.loc[("DE", "Impressions")]
    assert germany["Of all records"] == f"{rows.loc[rows['geo.country'] == 'DE', 'imps'].sum():,.0f}"


BARE: dict[str, dict[str, Any]] = {
    "no days told": {"first_date": None, "last_date": None},
    "no time key fields": {"key_fields": [{"name": "geo.country"}, {"name": "campaign_id"}]},
    "no words": {
        "key_fields": [{"name": "geo.country"}, {"name": "granularity_day"}],
        "data_fields": [{"name": "imps"}, {"name": "clicks", "is_optional": "0"}],
        "audience_sources": None,
        "annotation": None,
    },
    "a field that is never sent": {"data_fields": [{"name": "imps"}, {"name": "cost"}]},
    "an optional field alone": {"data_fields": [{"name": "cost", "is_optional": "1"}]},
    "no data fields": {"data_fields": [], "audience_sources": None},
    "no key fields": {"key_fields": []},
}


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("told", BARE.values(), ids=BARE)
def test_a_slicer_that_tells_little(
    standin: Standin, visit: Visit, told: dict[str, Any], screen: str
) -> None:
    """Every screen opens on a slicer that leaves out what it may leave out."""
    standin.state.told = told
    visit(screen)


@pytest.mark.parametrize("screen", SCREENS)
def test_a_service_without_shares(standin: Standin, visit: Visit, screen: str) -> None:
    """Every screen opens where no shares are sent: there is none to show, and nothing is made up."""
    standin.state.without_percent = frozenset(("imps", "clicks", "revenue"))
    assert not any("Share" in str(column) for table in visit(screen).dataframe for column in table.value)


@pytest.fixture(scope="module")
def many() -> Iterator[Standin]:
    """A stand-in with a key field of 30,000 values, which it sends one and all."""
    slicers = {("demo", "delivery"): wide(30_000), ("demo", "curation"): small(1)}
    with served(State(slicers, weight=0)) as service:
        yield service


@pytest.mark.parametrize("screen", SCREENS)
def test_a_key_field_of_many_values(
    many: Standin, there: Path, monkeypatch: pytest.MonkeyPatch, screen: str
) -> None:
    """A split without end is cut here: the screen shows its top rows, and how many there are."""
    desk = over(many, there, monkeypatch)(screen)
    assert any(count in said(desk) for count in ("30,000 values", "20 of 30,000 rows", "30,000 rows"))
