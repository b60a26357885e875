"""The fields of a slicer and their top values, and the screen that shows them."""

import datetime as dt
import json
import math
from collections.abc import Callable
from pathlib import Path

import boards
import httpx
import pandas as pd
import pyarrow as pa
import pytest
from conftest import COUNTRIES, DEFINITION, LAST_DAY, PASSWORD, PEOPLE, small_rows
from deltalake import write_deltalake
from opening import of_delivery
from peopled import people_in
from streamlit.testing.v1 import AppTest

from lib.figures.numbers import Numbers
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.serving import connect
from lib.settings import Settings
from lib.slicers.definition import Definition
from lib.slicers.models import DataField, KeyField, Slicer
from lib.slicers.warehouse import Warehouse
from lib.ui.explore import top_values
from lib.ui.explore.screen import about, chosen_field, matching, row
from lib.ui.explore.top_values import Ask

DESK = str(Path(__file__).parents[2] / "lib" / "desk.py")
ASKED = AudienceQuery(project_name="demo", slicer_name="delivery", start_date="-7d", end_date="yesterday")
COUNTRY = "geo.country"
NUMBERS = Numbers()
KEYS = (
    KeyField(name="geo.country", description="Country", mapping="country"),
    KeyField(name="geo.city", description="City", annotation="Where the user is"),
    KeyField(name="hour", description="Hour of day", type="int"),
    KeyField(name="categories", description="Content categories", is_segmented=1),
)
DATA = (
    DataField(name="imps", description="Impressions"),
    DataField(name="ctr", description="CTR", formula="100 * clicks / imps", display_precision=3),
    DataField(name="cost", display_precision=1, annotation="What advertisers pay"),
)


@pytest.fixture
def ask(embedded: httpx.Client, token: Callable[[str], str]) -> Ask:
    """Ask the small demo for figures."""
    return Reporting(embedded, token("manager")).audience


@pytest.fixture
def slicer(embedded: httpx.Client, token: Callable[[str], str]) -> Slicer:
    """What that slicer is."""
    return Reporting(embedded, token("manager")).info(InfoQuery(project_name="demo", slicer_name="delivery"))


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Its rows of the last week."""
    rows = small_rows(0).to_pandas()
    days = rows["time"].dt.date
    return rows[(days > LAST_DAY - pd.Timedelta(days=7)) & (days <= LAST_DAY)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ["geo.country", "geo.city", "hour", "categories"]),
        ("COUNTRY", ["geo.country"]), ("geo c", ["geo.country", "geo.city"]), ("user", ["geo.city"]),
        ("number", ["hour"]), ("segmented", ["categories"]), ("country city", []),
    ],
)  # fmt: skip
def test_search_key_fields(text: str, found: list[str]) -> None:
    """A search finds key fields by all of its words, wherever in their descriptors these stand."""
    assert [field.name for field in matching(KEYS, text)] == found


@pytest.mark.parametrize(
    ("text", "found"), [("clicks", ["ctr"]), ("advertisers", ["cost"]), ("imps", ["imps", "ctr"])]
)
def test_search_data_fields(text: str, found: list[str]) -> None:
    """The same search finds data fields, by their formulas too."""
    assert [field.name for field in matching(DATA, text)] == found


def test_choice_follows_the_search() -> None:
    """The chosen field stays while the search finds it or nothing at all; else it is the first one found."""
    assert chosen_field(KEYS, "hour") == "hour"
    assert chosen_field(KEYS[:2], "hour") == "geo.country"
    assert chosen_field([], "hour") == "hour"


def test_rows_of_fields() -> None:
    """A field's row has what it is called in words and in requests, its type, its mapping or formula."""
    assert [row(KEYS[place]) for place in (0, 2, 3)] == [
        ("Country", "text", "country", "geo.country"),
        ("Hour of day", "number", "", "hour"),
        ("Content categories", "text, segmented", "", "categories"),
    ]
    assert [row(field) for field in DATA] == [
        ("Impressions", "whole", "", "imps"),
        ("CTR", "3 decimals", "100 * clicks / imps", "ctr"),
        ("cost", "1 decimal", "", "cost"),
    ]


def test_a_guess_is_marked() -> None:
    """A field that an import guessed says so in its row; why, where it is chosen."""
    guess = DATA[2].model_copy(update={"annotation": "A guess: averaged as a rate"})
    assert row(guess) == ("cost", "1 decimal, a guess", "", "cost")
    assert about(guess) == ["A guess: averaged as a rate"]


def test_what_is_said_about_a_field() -> None:
    """The formula of a data field is told, and what shares of a segmented key field add up to."""
    assert about(DATA[1]) == ["= 100 * clicks / imps"]
    assert about(KEYS[1]) == ["Where the user is"]
    assert "more than 100 %" in about(KEYS[3])[0]


def test_top_values(ask: Ask, slicer: Slicer, rows: pd.DataFrame) -> None:
    """The values with the most of a data field come first, in words, with ID, figure and share."""
    top = top_values.top_values(ask, ASKED, slicer, COUNTRY, "imps")
    table = top_values.frame(top)
    expected = rows.groupby(rows[COUNTRY].fillna(""))["imps"].sum().sort_values(ascending=False)
    assert top.values == list(expected.index)
    assert table["imps"].tolist() == expected.tolist()
    assert table["share:imps"].tolist() == pytest.approx((100 * expected / expected.sum()).tolist())
    assert table["value"].tolist() == [COUNTRIES.get(code, "(not set)") for code in expected.index]
    assert table["id"].tolist() == [code or "–" for code in expected.index]
    assert top_values.count_label(top, NUMBERS) == "5 values"
    assert "off:imps" not in table


def test_top_values_by_a_ratio(ask: Ask, slicer: Slicer, rows: pd.DataFrame) -> None:
    """By a formula, values are ordered by volume, which is shown beside it; the ratio has no share."""
    table = top_values.frame(top_values.top_values(ask, ASKED, slicer, "campaign_id", "ctr"))
    sums = rows.groupby("campaign_id")[["imps", "clicks"]].sum().sort_values("imps", ascending=False)
    assert table["value"].tolist() == list(sums.index)
    assert table["ctr"].tolist() == pytest.approx((100 * sums["clicks"] / sums["imps"]).tolist())
    assert list(table) == ["value", "ctr", "imps", "share:imps"]


def test_top_values_of_unique_users(ask: Ask, slicer: Slicer, rows: pd.DataFrame) -> None:
    """Unique users have no share: the same user is counted at several values."""
    table = top_values.frame(top_values.top_values(ask, ASKED, slicer, COUNTRY, "unique_users"))
    expected = rows.groupby(rows[COUNTRY].fillna(""))["users"].nunique().sort_values(ascending=False)
    assert table["unique_users"].tolist() == expected.tolist()
    assert "share:unique_users" not in table


def test_shares_are_shown_as_the_field_says(ask: Ask, slicer: Slicer) -> None:
    """A data field with show_percents 0 shows no shares, one with 1 where it orders, one with 2 always."""
    top = top_values.top_values(ask, ASKED, slicer, COUNTRY, "imps")
    never, sorted_by, always = (top.order.model_copy(update={"show_percents": n}) for n in (0, 1, 2))
    assert [top_values.has_share(top, field) for field in (never, sorted_by, always)] == [False, True, True]


def test_top_values_of_a_sample(tmp_path: Path) -> None:
    """Of a sample, figures say how far off they may be, but values are counted in all records."""
    many = pa.concat_tables([small_rows(seed) for seed in range(10)])
    settings = Settings(home=tmp_path, demo=True)
    people_in(settings.home).add(PEOPLE[1], PASSWORD)
    with Warehouse(settings.warehouse).writer(
        "demo", "delivery", DEFINITION, {"country": COUNTRIES}
    ) as writer:
        writer.write(many)
        writer.commit("made for the tests", "many")
    reporting = connect.connect(PEOPLE[1], settings).reporting
    slicer = reporting.info(InfoQuery(project_name="demo", slicer_name="delivery"))
    whole = ASKED.model_copy(update={"start_date": "-21d", "audience_rows_limit": 10_000})
    top = top_values.top_values(reporting.audience, whole, slicer, "campaign_id", "clicks")
    assert (top.count, top.is_counted) == (8, True)
    assert (top_values.frame(top)["off:clicks"] > 0).all()


def test_only_the_top(ask: Ask, slicer: Slicer, rows: pd.DataFrame) -> None:
    """Of many values the first are shown, and how many there are is said."""
    top = top_values.top_values(ask, ASKED, slicer, "granularity_hour", "imps")
    assert len(top.values) == top_values.MOST
    values = f"{rows['time'].nunique()} values, the top {top_values.MOST}"
    assert top_values.count_label(top, NUMBERS) == values


@pytest.fixture
def screen(home: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The screen Slicers on the slicer delivery."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    return of_delivery("slicers")


def chosen(screen: AppTest) -> list[str]:
    """The fields that are chosen in the lists of key fields and data fields."""
    rows = (row for data in boards.components(screen) if "most_in_sight" in data for row in data["rows"])
    return [row["cells"][0]["text"] for row in rows if row["is_open"]]


def test_opens_on_an_answer(screen: AppTest, rows: pd.DataFrame) -> None:
    """The screen opens with the figures of the last week and with the top values of a field."""
    assert not screen.exception
    assert [metric.label for metric in screen.metric] == [
        "Impressions",
        "Clicks",
        "Revenue",
        "CTR",
        "Unique users",
    ]
    assert screen.metric[0].value == f"{rows['imps'].sum():,.0f}"
    assert chosen(screen) == ["Country", "Impressions"]
    assert len(boards.shown(screen)) == 5
    assert "Country by Impressions" in [header.value for header in screen.header]
    said = " ".join(text.value for text in (*screen.caption, *screen.markdown))
    assert "5 values" in said
    assert "as codes" not in said


def test_searching_changes_no_measure(screen: AppTest) -> None:
    """Whatever is searched, the data field that is measured stays; only a click on one changes it."""
    for text in ("clicks / imps", "revenue", "nothing at all", ""):
        screen.text_input(key="fields_search").set_value(text).run()
        assert not screen.exception
        assert [header.value.rpartition(" by ")[2] for header in screen.header] == ["Impressions"]


def test_searching_shows_a_key_field(screen: AppTest) -> None:
    """The first key field that a search finds is shown with its top values, without another click."""
    screen.text_input(key="fields_search").set_value("campaign").run()
    assert any(header.value == "Campaign by Impressions" for header in screen.header)
    assert any("None of the" in caption.value for caption in screen.caption)


def test_a_click_on_a_field(screen: AppTest) -> None:
    """A click on a row of a list chooses its field, whatever was searched before; none is applied twice, and
    the choice stays while another screen is looked at."""
    where = "demo/delivery"
    screen.text_input(key="fields_search").set_value("c").run()
    boards.click(screen, f"key_field:{where}:list", ["open", "campaign_id"])
    boards.click(screen, f"data_field:{where}:list", ["open", "clicks"])
    assert chosen(screen) == ["Campaign", "Clicks"]
    screen.switch_page("../pages/export.py").run()
    screen.switch_page("../pages/slicers.py").run()
    assert chosen(screen) == ["Campaign", "Clicks"]
    screen.query_params["explore"] = "geo.country~clicks"
    assert chosen(screen.run()) == ["Country", "Clicks"]
    boards.click(screen, f"key_field:{where}:list", ["open", "no field of ours"])
    assert chosen(screen) == ["Country", "Clicks"]


def test_split_in_audience(screen: AppTest) -> None:
    """One click carries the chosen key field to Audience as the split of the question."""
    screen.text_input(key="fields_search").set_value("campaign").run()
    screen.button(key="split_by_it").click().run()
    assert not screen.exception
    assert screen.query_params["split"] == "campaign_id"
    assert "".join(screen.query_params["lower"]) == "split"
    assert screen.multiselect(key="split_fields").value == ["campaign_id"]


def test_another_slicer(screen: AppTest) -> None:
    """Another slicer starts with its own fields; what was chosen on the first is there on coming back."""
    screen.text_input(key="fields_search").set_value("campaign").run()
    screen.text_input(key="fields_search").set_value("").run()
    screen.query_params["slicer"] = "curation"
    screen.run()
    assert any(header.value.startswith("Country by") for header in screen.header)
    screen.query_params["slicer"] = "delivery"
    screen.run()
    assert any(header.value.startswith("Campaign by") for header in screen.header)
    assert not screen.exception


def test_the_link_keeps_what_is_explored(screen: AppTest) -> None:
    """Fields and order are in the link; who opens it sees the same, or the usual where a field is gone."""
    screen.text_input(key="fields_search").set_value("campaign").run()
    boards.click(screen, "top_rows", ["order", "campaign_id", "imps", "asc"])
    assert not screen.exception
    kept = "".join(screen.query_params["explore"])
    assert kept == "campaign_id~imps~imps"
    shown = boards.shown(screen)
    linked = of_delivery("slicers", explore=kept)
    assert [header.value for header in linked.header] == ["Campaign by Impressions"]
    assert boards.shown(linked).equals(shown)
    linked.query_params["explore"] = "geo.country~clicks"
    assert [header.value for header in linked.run().header] == ["Country by Clicks"]
    gone = of_delivery("slicers", explore="gone~imps")
    assert [header.value for header in gone.header] == ["Country by Impressions"]


def test_guesses_are_confirmed(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An administrator confirms the fields that are marked as guesses; then none is marked any more."""
    warehouse = Warehouse(Settings(home=own_home).warehouse)
    guess = DEFINITION.data_fields[0].model_copy(update={"annotation": "A guess: zeros alone"})
    marked = DEFINITION.model_copy(update={"data_fields": (guess, *DEFINITION.data_fields[1:])})
    with warehouse.writer("demo", "delivery", marked, {"country": COUNTRIES}, "replace") as writer:
        writer.write(small_rows(0))
        writer.commit("rows", "")
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    assert "confirm_guesses" not in [button.key for button in of_delivery("slicers").button]
    screen = of_delivery("slicers", person="admin")
    screen.button(key="confirm_guesses").click().run()
    assert not screen.exception and "confirm_guesses" not in [button.key for button in screen.button]
    assert warehouse.definition("demo", "delivery").guesses == []
    assert not warehouse.definition("demo", "delivery").data_fields[0].annotation


def test_a_slicer_is_renamed_and_removed(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page goes on under the new name, and with another slicer once this one is removed; a manager has no
    button for it."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))

    def names() -> set[str]:
        return {slicer for _, slicer in Warehouse(own_home / "warehouse").slicers()}

    def open_dialog() -> None:
        """The dialog, with what was entered: a run closes it unless its button is pressed."""
        screen.button(key="manage_slicer").click().run()

    def press(name: str) -> None:
        button = screen.button(key=name)
        screen.button(key="manage_slicer").click()
        button.click().run()
        assert not screen.exception

    assert "manage_slicer" not in [button.key for button in of_delivery("slicers").button]
    screen = of_delivery("slicers", person="admin")
    open_dialog()
    screen.text_input(key="manage_name").set_value("sold")
    open_dialog()
    press("manage_rename")
    assert names() == {"curation", "sold"}
    assert "".join(screen.query_params["slicer"]) == "sold"
    open_dialog()
    assert screen.button(key="manage_remove").disabled
    screen.checkbox(key="manage_sure").check()
    open_dialog()
    press("manage_remove")
    assert names() == {"curation"}
    assert "".join(screen.query_params["slicer"]) == "curation"


def test_rows_that_hold_no_number_are_said(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The screen says how many rows hold NaN or infinity, and how old the last commit is."""
    lake = own_home / "lake"
    days = [dt.date(2026, 1, 1)] * 3
    write_deltalake(
        lake / "sales", pa.table({"day": days, "k": ["a"] * 3, "cost": [1.0, math.nan, math.inf]})
    )
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    monkeypatch.setenv("TRANCHE_CONNECTIONS", json.dumps({"lake": {"url": f"delta://{lake}"}}))
    definition = {
        "time": {"column": "day"},
        "key_fields": [{"name": "k"}],
        "data_fields": [{"name": "cost", "description": "Cost"}],
        "source": {"connection": "lake", "table": "sales"},
    }
    Warehouse(own_home / "warehouse").connect("demo", "sales", Definition.model_validate(definition))
    screen = of_delivery("slicers", slicer="sales")
    texts = " ".join(text.value for text in (*screen.caption, *screen.markdown))
    assert "Exact · 2 rows hold NaN or infinity as Cost, which counts as missing." in texts
    assert "Delta, live, less than a minute old" in texts
