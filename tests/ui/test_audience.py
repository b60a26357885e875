"""The Audience page as a script: it opens on an answer, and its question is the link's."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import boards
import pandas as pd
import pyarrow as pa
import pytest
from conftest import DEFINITION, LAST_DAY, small_rows
from opening import Popover, of_delivery
from streamlit.testing.v1 import AppTest

from lib.figures import numbers
from lib.figures.overview import leaderboards, split_levels
from lib.serving.connect.embedded import EmbeddedReporting
from lib.slicers.warehouse import Warehouse
from lib.ui.query import dates_picker, page_clicks
from lib.wire.errors import Unreachable

AUDIENCE, EXPORT = "../pages/audience.py", "../pages/export.py"
DATES, COMPARISON = Popover(dates_picker.DATES), Popover(dates_picker.COMPARISON)
Visit = Callable[..., AppTest]


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """The rows of the slicer delivery, with missing countries as the empty value."""
    frame = small_rows(seed=0).to_pandas().assign(day=lambda f: f["time"].dt.date)
    return frame.fillna({"geo.country": ""})


@pytest.fixture
def visit(home: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """The Audience page with these URL parameters, for somebody who is signed in."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    return of_delivery


def checked(desk: AppTest) -> AppTest:
    """A run without a failure."""
    assert not desk.exception
    return desk


def last_week(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the last seven complete days."""
    return rows[rows["day"] > LAST_DAY - pd.Timedelta(days=7).to_pytimedelta()]


def question(desk: AppTest) -> dict[str, str]:
    """The question's URL parameters, without the tab in sight."""
    texts = {
        name: value if isinstance(value, str) else "".join(value[:1])
        for name, value in desk.query_params.items()
    }
    return {name: text for name, text in texts.items() if text and name not in ("project", "slicer", "lower")}


def test_opens_on_an_answer(visit: Visit, rows: pd.DataFrame) -> None:
    """Without any question the page shows the last complete week, split by the first key field."""
    desk, week = visit(), last_week(rows)
    assert boards.headline(desk)["Impressions"] == f"{week['imps'].sum():,.0f}"
    assert boards.headline(desk)["Unique users"] == f"{week['users'].nunique():,}"
    assert desk.multiselect(key="split_fields").value == ["geo.country"]
    assert boards.shown(desk)["Country"].iloc[0] == "Total"
    assert question(desk) == {"start": "-7d", "end": "yesterday", "split": "geo.country"}


def test_asks_what_the_link_asks(visit: Visit, rows: pd.DataFrame) -> None:
    """Days, filters and data fields of the URL are those of the figures."""
    desk = visit(**{"start": "-14d", "is.geo.country": "US~", "not.campaign_id": "3", "fields": "clicks~ctr"})
    days = rows[rows["day"] > LAST_DAY - pd.Timedelta(days=14).to_pytimedelta()]
    kept = days[days["geo.country"].isin(["US", ""]) & (days["campaign_id"] != "3")]
    assert list(boards.headline(desk)) == ["Clicks", "CTR"]
    assert boards.headline(desk)["Clicks"] == f"{kept['clicks'].sum():,.0f}"
    assert boards.head(desk)["field"] == "clicks"


def test_what_a_link_asks_in_vain_is_said(visit: Visit) -> None:
    """Parts of a link that can't be asked are named until another question is asked."""
    desk = visit(split="geo.country~zone", start="soon")
    assert [warning.value.replace("\\", "")[:32] for warning in desk.warning] == [
        "Left out the dates: can't read t",
        "Left out the split by Zone: deli",
    ]
    desk.multiselect(key="split_fields").set_value(["campaign_id"])
    assert not checked(desk.run()).warning


def test_nothing_is_sampled_without_need(
    own_home: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over the embedded service 42,000 records are read, and not 10,000 of them: all figures are exact."""
    many = pa.concat_tables([small_rows(seed) for seed in range(10)])
    with Warehouse(own_home / "warehouse").writer("demo", "delivery", DEFINITION, {}, "replace") as writer:
        writer.write(many)
        writer.commit("made for the tests", "many")
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    desk = visit(start="-10d", end="yesterday", field="ctr", split="campaign_id")
    table, rows = boards.shown(desk), many.to_pandas()
    rows["day"] = rows["time"].dt.date

    def ratio(first: int, last: int) -> pd.Series:
        ends = [LAST_DAY - pd.Timedelta(days=days).to_pytimedelta() for days in (first, last)]
        sums = rows[rows["day"].between(*ends)].groupby("campaign_id")[["imps", "clicks"]].sum()
        return sums["clicks"] / sums["imps"]

    expected = 100 * (ratio(9, 0) / ratio(19, 10) - 1)
    shown = dict(zip(table["Campaign"], boards.numbers(table["Relative change, %"]), strict=True))
    assert {name: shown[name] for name in expected.index} == pytest.approx(expected.to_dict(), abs=0.051)
    assert "±, %" not in table
    assert [caption.value for caption in desk.caption].count("Exact") == 1
    assert boards.head(desk)["fields"]["ctr"]["precision"] == "Exact"


def test_counts_of_a_sample_are_lower_bounds(
    own_home: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where rows are sampled, numbers of groups are "at least", on the split and on the leaderboards."""
    many = pa.concat_tables([small_rows(seed) for seed in range(10)])
    with Warehouse(own_home / "warehouse").writer("demo", "delivery", DEFINITION, {}, "replace") as writer:
        writer.write(many)
        writer.commit("made for the tests", "many")
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    monkeypatch.setattr(leaderboards, "LIMIT", 6)
    desk = visit(start="-20d", end="yesterday", rows="10000", split="granularity_hour~campaign_id")
    true = many.to_pandas().assign(hour=lambda f: f["time"].dt.floor("h"))
    true = true[true["time"].dt.date > LAST_DAY - pd.Timedelta(days=20).to_pytimedelta()]
    said = next(c.value for c in desk.caption if " rows" in c.value and " of at least " in c.value)
    assert (
        int(said.split(" of at least ")[1].removesuffix(" rows").replace(",", ""))
        < true.groupby(["hour", "campaign_id"]).ngroups
    )
    abouts = {table["id"]: table["card"]["about"] for table in boards.drawn(desk) if table["card"]}
    assert abouts["campaign_id"].startswith("at least 8 · ")
    assert "Others (≥ 2)" in boards.card(desk, "campaign_id")["Name"].tolist()


def test_a_zoom_stays_until_it_is_left(visit: Visit) -> None:
    """While days are zoomed in to, other controls leave them alone; the link knows the way back."""
    zoomed = {"start": "2026-11-05", "end": "2026-11-05", "zoom": "-30d~yesterday"}
    desk = visit(**zoomed)
    boards.click(desk, page_clicks.CARDS, ["field", "clicks"])
    assert question(checked(desk)) == {**zoomed, "field": "clicks"}
    assert boards.head(desk)["is_zoomed"]
    boards.click(desk, page_clicks.CARDS, ["zoom_out"])
    assert question(checked(desk)) == {"start": "-30d", "end": "yesterday", "field": "clicks"}


def test_zoom_out_restores_the_granularity(visit: Visit) -> None:
    """Leaving a zoom restores the granularity that was chosen before it, as well as the days."""
    zoomed = {"start": "2026-11-05", "end": "2026-11-05", "zoom": "-30d~yesterday~week"}
    desk = visit(**zoomed)
    assert question(desk) == zoomed
    boards.click(desk, page_clicks.CARDS, ["zoom_out"])
    assert question(checked(desk)) == {"start": "-30d", "end": "yesterday", "grain": "week"}


def test_the_chosen_field_has_its_total(visit: Visit, rows: pd.DataFrame) -> None:
    """A data field without a card of its own in the headline gets one while it is chosen."""
    desk, week = visit(fields="imps~clicks", field="ctr"), last_week(rows)
    assert list(boards.headline(desk)) == ["Impressions", "Clicks", "CTR"]
    assert boards.headline(desk)["CTR"] == f"{100 * week['clicks'].sum() / week['imps'].sum():.2f}"
    boards.click(desk, page_clicks.CARDS, ["field", "imps"])
    assert list(boards.headline(checked(desk))) == ["Impressions", "Clicks"]


def test_days_picked_before_do_not_come_back(visit: Visit) -> None:
    """What a closed popover goes on sending, the days picked in it before a zoom, changes nothing."""
    desk = DATES.opened(visit())
    desk.get_by_key("dates_preset").set_value("Last 14 days")
    assert question(checked(desk.run()))["start"] == "-14d"
    day = (LAST_DAY - dt.timedelta(days=2)).isoformat()
    desk.query_params["start"] = desk.query_params["end"] = day
    assert DATES.opened(desk).get_by_key("dates_preset_1").value is None
    boards.click(desk, page_clicks.CARDS, ["field", "clicks"])
    assert question(checked(desk))["start"] == day


def test_days_are_compared_twice(visit: Visit) -> None:
    """A second comparison is picked beside the first, and goes with it."""
    desk = COMPARISON.opened(visit())
    desk.get_by_key("also_kind").set_value("weekdays")
    assert question(checked(desk.run()))["also"] == "weekdays"
    COMPARISON.opened(desk).get_by_key("compare_kind").set_value("none")
    after = question(checked(desk.run()))
    assert after["compare"] == "none" and "also" not in after


def test_the_split_is_in_the_url(visit: Visit) -> None:
    """Key fields picked for the split stand in the URL, in their order, and the table has them."""
    desk = visit()
    desk.multiselect(key="split_fields").set_value(["campaign_id", "geo.country"])
    checked(desk.run())
    assert question(desk)["split"] == "campaign_id~geo.country"
    assert list(boards.shown(desk))[:2] == ["Campaign", "Country"]


def test_what_is_looked_at_is_in_the_url(visit: Visit) -> None:
    """The data field shown and the granularity stand in the URL."""
    desk = visit()
    boards.click(desk, page_clicks.CARDS, ["field", "ctr"], ["grain", "week"])
    assert (question(checked(desk))["field"], question(desk)["grain"]) == ("ctr", "week")


def test_a_question_goes_with_one(visit: Visit) -> None:
    """The question is kept on the way to another screen and back."""
    asked = {"start": "-14d", "end": "yesterday", "split": "campaign_id", "is.geo.country": "US"}
    desk = visit(**asked)
    for screen in (EXPORT, AUDIENCE):
        desk.switch_page(screen)
        assert question(checked(desk.run())) == asked


def test_to_another_slicer(visit: Visit) -> None:
    """To another slicer days go along, and those filters that it has."""
    desk = visit(**{"start": "-14d", "split": "campaign_id", "is.geo.country": "US"})
    desk.selectbox(key="slicer").set_value("curation")
    asked = question(checked(desk.run()))
    assert (asked["start"], asked["is.geo.country"]) == ("-14d", "US")


def test_a_chart_says_what_it_leaves_out(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """A heatmap names the key fields that it does not show, and how many of all values it shows."""
    monkeypatch.setattr(split_levels, "DOWN", 3)
    monkeypatch.setattr(split_levels, "ACROSS", 6)
    desk = visit(chart="heatmap", split="geo.country~campaign_id~categories")
    said = " ".join(caption.value.replace("\\", "") for caption in desk.caption)
    assert "Shown: Country and Campaign alone, without Content category." in said
    assert "Country: the 3 largest of 5 values. Campaign: the 6 largest of 8 values." in said


def test_nothing_found_leads_on(visit: Visit, rows: pd.DataFrame) -> None:
    """Where filters leave nothing, the page says which one stands in the way, and removes it on a click."""
    desk = visit(**{"is.geo.country": "US", "is.campaign_id": "99"})
    us = last_week(rows).query("`geo.country` == 'US'")["imps"].sum()
    assert not boards.headline(desk)
    nothing = boards.head(desk)["nothing"]
    assert f"Without “Campaign is 99” there are {us:,.0f} impressions." in nothing["sentence"]
    assert "Campaign is 99" in nothing["label"]
    boards.click(desk, page_clicks.CARDS, ["go", nothing["params"]])
    assert boards.headline(checked(desk))["Impressions"] == f"{us:,.0f}"


def test_days_without_data_lead_on(visit: Visit) -> None:
    """Days without data are said to have none, with the days that have some, a click away."""
    desk = visit(start="2020-01-01", end="2020-01-31")
    covered = numbers.days(LAST_DAY - pd.Timedelta(days=20).to_pytimedelta(), LAST_DAY)
    assert f"The data covers {covered}" in boards.head(desk)["nothing"]["sentence"]
    boards.click(desk, page_clicks.CARDS, ["go", boards.head(desk)["nothing"]["params"]])
    assert question(checked(desk))["start"] == "-7d"


def test_several_values_per_record(visit: Visit, rows: pd.DataFrame) -> None:
    """On a segmented key field the page says how many values a record has: shares exceed the whole."""
    desk, week = visit(split="categories"), last_week(rows)
    counts = week["categories"].map(len).clip(lower=1)
    mean = (counts * week["imps"]).sum() / week["imps"].sum()
    said = f"Content category: {mean:.1f} values per record: shares exceed 100 %."
    assert any(said in caption.value for caption in desk.caption)


def test_a_failure_is_a_sentence(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that fails is told of in a sentence, and the pickers stay."""

    def unreachable(*_: object) -> None:
        raise Unreachable("connection refused")

    monkeypatch.setattr(EmbeddedReporting, "audience", unreachable)
    desk = visit(**{"is.geo.country": "US", "split": "geo.country"})
    assert {error.value for error in desk.error} == {
        "The service can't be reached. Try again in a moment. Your question is kept."
    }
    assert desk.multiselect(key="split_fields").value == ["geo.country"]
