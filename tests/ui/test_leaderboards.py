"""The leaderboards: a card per key field, whose figures and orders are those of the rows."""

from collections.abc import Callable
from pathlib import Path

import boards
import pandas as pd
import pytest
from conftest import COUNTRIES, rows_by_week
from opening import Popover, of_delivery
from streamlit.testing.v1 import AppTest

from lib.figures.overview import leaderboards
from lib.figures.query import state
from lib.figures.query.card import Card, cards_from_text
from lib.figures.query.state import View
from lib.figures.query.view_parts import with_line, without_line
from lib.slicers.models import DataField, KeyField, Slicer
from lib.ui.audience import overview_controls
from lib.ui.query import page_clicks

CAMPAIGN, COUNTRY = "campaign_id", "geo.country"
Visit = Callable[..., AppTest]


@pytest.fixture
def visit(home: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """The Audience page about the slicer delivery, for somebody who is signed in.

    It has eight campaigns: cards of six values have others.
    """
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    monkeypatch.setattr(leaderboards, "LIMIT", 6)
    return of_delivery


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """The slicer's rows, the last seven complete days as week 0, the seven before as week 1."""
    return rows_by_week(COUNTRY)


def sums(rows: pd.DataFrame, key: str, field: str, week: int = 0) -> pd.Series:
    """A field by key in a week, the most first."""
    by_value: pd.Series = rows[rows["week"] == week].groupby(key)[field].sum().sort_values(ascending=False)
    return by_value


def changes(rows: pd.DataFrame, key: str, field: str) -> pd.Series:
    """By how much a field changed from the week before, by key, in percent."""
    return 100 * (sums(rows, key, field) / sums(rows, key, field, 1) - 1)


def drawn(desk: AppTest, name: str) -> dict:
    """A card as the script was given it."""
    return next(table for table in boards.drawn(desk) if table["card"] and table["id"] == name)


def param(desk: AppTest, name: str) -> str:
    """A parameter of the URL; empty without."""
    value = desk.query_params.get(name, "")
    return value if isinstance(value, str) else "".join(value[:1])


def test_a_card_has_value_share_change_and_others(visit: Visit, rows: pd.DataFrame) -> None:
    """Its first six values with share and change, and as Others what is left of the total."""
    card, expected = boards.card(visit(), CAMPAIGN), sums(rows, CAMPAIGN, "imps")
    top = expected.head(6)
    assert card["Name"].tolist() == [*top.index, "Others (2)"]
    assert boards.numbers(card["Impressions"]) == [*top, expected.iloc[6:].sum()]
    assert boards.numbers(card["Share, %"])[:6] == pytest.approx(
        (100 * top / expected.sum()).tolist(), abs=0.051
    )
    assert boards.numbers(card["Change, %"])[:6] == pytest.approx(
        changes(rows, CAMPAIGN, "imps")[top.index].tolist(), abs=0.051
    )


@pytest.mark.parametrize("kept", [{}, {f"is.{CAMPAIGN}": "1~2"}], ids=["all", "with its own filter"])
def test_others_have_their_change(visit: Visit, rows: pd.DataFrame, kept: dict[str, str]) -> None:
    """The change of Others is that of what pandas has of the campaigns that are not shown."""
    table = boards.card(visit(**kept), CAMPAIGN)
    names = table["Name"].tolist()
    weeks = [rows[(rows["week"] == week) & ~rows[CAMPAIGN].isin(names)]["imps"].sum() for week in (0, 1)]
    assert names[-1].startswith("Others")
    assert boards.numbers(table["Change, %"])[-1] == pytest.approx(100 * (weeks[0] / weeks[1] - 1), abs=0.051)


def test_a_click_keeps_a_value_and_its_siblings_in_sight(visit: Visit, rows: pd.DataFrame) -> None:
    """Two clicks keep two values; their card goes on showing all, the other cards and the headline these."""
    desk = boards.click(visit(), page_clicks.CARDS, ["add", [[COUNTRY, "US"]]], ["add", [[COUNTRY, "DE"]]])
    assert param(desk, "is.geo.country") == "US~DE"
    kept = rows[rows[COUNTRY].isin(["US", "DE"])]
    assert sorted(boards.card(desk, COUNTRY)["Name"]) == sorted([*COUNTRIES.values(), "(not set)"])
    assert [row["included"] for row in drawn(desk, COUNTRY)["rows"]].count([True]) == 2
    assert boards.numbers(boards.card(desk, CAMPAIGN)["Impressions"])[:6] == list(
        sums(kept, CAMPAIGN, "imps").head(6)
    )
    assert boards.headline(desk)["Impressions"] == f"{kept[kept['week'] == 0]['imps'].sum():,.0f}"


def test_a_value_left_out_stays_in_sight_and_comes_back(visit: Visit) -> None:
    """A value that is left out is shown so in its card, where a click lets it in again."""
    desk = boards.click(visit(), page_clicks.CARDS, ["exclude", [[COUNTRY, "US"]]])
    assert param(desk, "not.geo.country") == "US"
    assert [row["excluded"] for row in drawn(desk, COUNTRY)["rows"]].count([True]) == 1
    boards.click(desk, page_clicks.CARDS, ["release", [[COUNTRY, "US"]]])
    assert param(desk, "not.geo.country") == ""


def test_a_chosen_value_is_shown_wherever_it_ranks(visit: Visit, rows: pd.DataFrame) -> None:
    """The least of eight campaigns, kept by a filter, stands below the first six of its card."""
    least = sums(rows, CAMPAIGN, "imps").index[-1]
    card = boards.card(visit(**{f"is.{CAMPAIGN}": least}), CAMPAIGN)
    assert card["Name"].tolist()[6:] == [least, "Others (1)"]


@pytest.mark.parametrize(("order", "is_falling"), [("change", False), ("-change", True)])
def test_a_card_is_ordered_by_change(visit: Visit, rows: pd.DataFrame, order: str, is_falling: bool) -> None:
    """Over all values, not those shown; either way; the header's click is in the link."""
    desk = boards.click(
        visit(), page_clicks.CARDS, ["order", CAMPAIGN, "change", "desc" if is_falling else "asc"]
    )
    assert f"{CAMPAIGN}!{order}" in param(desk, "cards").split("~")
    expected = changes(rows, CAMPAIGN, "imps").sort_values(ascending=not is_falling)
    assert boards.card(desk, CAMPAIGN)["Name"].tolist()[:6] == list(expected.index[:6])


def test_changes_as_amounts_order_by_amount(visit: Visit, rows: pd.DataFrame) -> None:
    """Where changes are shown as amounts, they are differences, and the order is theirs."""
    card = boards.card(visit(changes="amount", cards=f"{CAMPAIGN}!change"), CAMPAIGN)
    expected = (sums(rows, CAMPAIGN, "imps") - sums(rows, CAMPAIGN, "imps", 1)).sort_values()
    assert card["Name"].tolist()[:6] == list(expected.index[:6])
    assert boards.numbers(card["Change"].str.replace("+", ""))[:6] == list(expected.iloc[:6])


def test_a_card_is_ordered_by_value_and_by_name(visit: Visit, rows: pd.DataFrame) -> None:
    """Ascending by value, and by words where a mapping has some, whatever the codes."""
    desk = visit(cards=f"{CAMPAIGN}!value~{COUNTRY}!-name")
    least = sums(rows, CAMPAIGN, "imps").sort_values()
    assert boards.card(desk, CAMPAIGN)["Name"].tolist()[:6] == list(least.index[:6])
    words = sorted([*COUNTRIES.values(), "(not set)"], key=str.casefold, reverse=True)
    assert boards.card(desk, COUNTRY)["Name"].tolist() == words


def test_values_are_found_by_their_words(visit: Visit, rows: pd.DataFrame) -> None:
    """A text typed into a card finds values by description; shares stay those of the whole."""
    desk = boards.click(visit(), page_clicks.CARDS, ["find", COUNTRY, "german"])
    card, imps = boards.card(desk, COUNTRY), sums(rows, COUNTRY, "imps")
    assert card["Name"].tolist() == ["Germany"]
    assert boards.numbers(card["Share, %"]) == pytest.approx([100 * imps["DE"] / imps.sum()], abs=0.051)
    assert f"{COUNTRY}!!german" in param(desk, "cards").split("~")


def test_more_opens_a_card_as_the_split(visit: Visit) -> None:
    """All values of a card are the split by its key field."""
    desk = boards.click(visit(), page_clicks.CARDS, ["open", CAMPAIGN])
    assert desk.multiselect(key="split_fields").value == [CAMPAIGN]
    assert boards.shown(desk)["Campaign"].iloc[0] == "Total"


def test_a_ratio_has_neither_share_nor_others(visit: Visit, rows: pd.DataFrame) -> None:
    """For a ratio the largest values come first, and nothing is added up; its header orders by it."""
    desk = boards.click(visit(field="ctr"), page_clicks.CARDS, ["order", CAMPAIGN, "value", "desc"])
    card = boards.card(desk, CAMPAIGN)
    rate = (sums(rows, CAMPAIGN, "clicks") / sums(rows, CAMPAIGN, "imps")).sort_values(ascending=False)
    assert card["Name"].tolist() == list(rate.index[:6])
    assert list(card) == ["Name", "CTR", "Relative change, %"]


def test_the_person_chooses_the_cards(visit: Visit, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Key fields chosen in the popover have a card, in their order, and stand in the link."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    desk = Popover(overview_controls.PICKER).opened(visit(lower="cards"))
    desk.multiselect(key="card_fields").set_value([CAMPAIGN, "categories"])
    desk.run()
    assert [table["id"] for table in boards.drawn(desk) if table["card"]] == [CAMPAIGN, "categories"]
    assert param(desk, "cards") == f"{CAMPAIGN}~categories"


def test_a_figure_of_the_headline_is_a_button(visit: Visit, rows: pd.DataFrame) -> None:
    """One click on it makes it the field of the cards and the split, and of the link."""
    desk = boards.click(visit(), page_clicks.CARDS, ["field", "clicks"])
    assert param(desk, "field") == "clicks"
    top = sums(rows, CAMPAIGN, "clicks").head(6)
    assert boards.numbers(boards.card(desk, CAMPAIGN)["Clicks"])[:6] == top.tolist()
    assert list(boards.shown(desk))[1] == "Clicks"


def test_values_have_lines_of_their_own(visit: Visit, rows: pd.DataFrame) -> None:
    """A third control draws a value as a line, beside the days compared, in the color of its row."""
    desk = boards.click(visit(), page_clicks.CARDS, ["draw", [[CAMPAIGN, "2"]]], ["draw", [[CAMPAIGN, "5"]]])
    assert param(desk, "lines") == f"{CAMPAIGN}~2~5"
    solid = boards.head(desk)["values"]
    assert [line["label"] for line in solid] == ["2", "5"]
    ours = rows[(rows["week"] == 0) & (rows[CAMPAIGN] == "5")]
    assert solid[1]["now"]["values"] == ours.groupby(ours["time"].dt.date)["imps"].sum().tolist()
    colors = {row["values"][0][1]: row["color"] for row in drawn(desk, CAMPAIGN)["rows"] if row["values"]}
    assert {value: color for value, color in colors.items() if color} == {
        line["label"]: line["color"] for line in solid
    }


def test_two_to_five_values_kept_by_a_filter_are_lines(visit: Visit) -> None:
    """What a filter keeps is drawn value by value, until somebody wants it otherwise."""
    desk = visit(**{f"is.{CAMPAIGN}": "2~5"})
    assert [row["color"] is not None for row in drawn(desk, CAMPAIGN)["rows"]].count(True) == 2
    desk = boards.click(desk, page_clicks.CARDS, ["undraw", [[CAMPAIGN, "2"]]], ["undraw", [[CAMPAIGN, "5"]]])
    assert param(desk, "lines") == "none"
    assert not any(row["color"] for row in drawn(desk, CAMPAIGN)["rows"])


def test_at_most_five_lines_of_one_key_field() -> None:
    """A sixth line takes the place of the first; another key field's take the place of all."""
    five: state.ValueLines = ("a", "1", "2", "3", "4", "5")
    assert with_line(five, "a", "6") == ("a", "2", "3", "4", "5", "6")
    assert with_line(five, "b", "1") == ("b", "1")
    assert without_line(("a", "1"), "a", "1") == ()


SLICER = Slicer(
    key_fields=tuple(KeyField(name=name) for name in ("a~b", "c!d", "geo.country", "pub")),
    data_fields=(DataField(name="imps"),),
)


@pytest.mark.parametrize(
    "shown",
    [
        (Card("geo.country"), Card("pub")),
        (Card("pub", "change", "asc"), Card("geo.country", "value", "desc", "a ~ b! c")),
        (Card("a~b", "name", "asc"), Card("c!d")),
    ],
)
def test_cards_survive_the_link(shown: tuple[Card, ...]) -> None:
    """Key fields, orders and texts of the cards are read from a link as they were written."""
    looked = View(cards=shown, changes="amount", value_lines=("geo.country", "US", "a~b"))
    assert state.read(looked.params, SLICER, "demo", "s")[0].view == looked


def test_what_a_link_can_not_mean_is_left_out() -> None:
    """A key field that the slicer lacks has no card; without any that it has, the usual ones are shown."""
    assert cards_from_text("pub!up~gone", SLICER) == (Card("pub"),)
    assert cards_from_text("gone", SLICER) is None


@pytest.mark.parametrize("name", ["compare", "also"])
@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("year", True),
        ("none", True),
        ("", True),
        ("-14d~-8d", True),
        ("2026-02-30~2026-03-01", False),
        ("previous~year", False),
        ("before", False),
    ],
)
def test_days_to_compare_with_that_are_none_are_named(name: str, text: str, is_read: bool) -> None:
    """A link's comparison that can't be read is not dropped without a word."""
    sentences = state.read({name: text}, SLICER, "demo", "delivery")[1]
    assert [text in sentence for sentence in sentences] == ([] if is_read else [True])
    if not is_read:
        assert state.read({name: text}, SLICER, "demo", "s")[0].view == View()


def test_more_columns_have_figures_of_their_own_and_order(visit: Visit, rows: pd.DataFrame) -> None:
    """Two more data fields beside the one shown; ordering by one of them orders all values; Others add up."""
    desk = visit(columns="clicks~ctr", cards=CAMPAIGN)
    desk = boards.click(desk, page_clicks.CARDS, ["order", CAMPAIGN, ".clicks", "desc"])
    assert param(desk, "cards") == f"{CAMPAIGN}!-.clicks"
    card, click_sums = boards.card(desk, CAMPAIGN), sums(rows, CAMPAIGN, "clicks")
    top, imps = click_sums.head(6), sums(rows, CAMPAIGN, "imps")
    assert card["Name"].tolist() == [*top.index, "Others (2)"]
    assert boards.numbers(card["Impressions"])[:6] == imps[top.index].tolist()
    assert boards.numbers(card["Clicks"]) == [*top, click_sums.iloc[6:].sum()]
    ratios = (100 * top / imps[top.index]).tolist()
    assert boards.numbers(card["CTR"])[:6] == pytest.approx(ratios, abs=0.0051)
    titles = {column["title"] for column in drawn(desk, CAMPAIGN)["columns"] if column["sorted"]}
    assert titles == {"Clicks"}


def test_an_order_by_a_column_that_is_gone_is_by_volume(visit: Visit, rows: pd.DataFrame) -> None:
    """A link orders by a data field that is no column (any more): the card is ordered by the field shown."""
    card = boards.card(visit(cards=f"{CAMPAIGN}!-.clicks"), CAMPAIGN)
    assert card["Name"].tolist()[:6] == sums(rows, CAMPAIGN, "imps").index[:6].tolist()


def test_the_card_of_any_key_field_opens_in_front(visit: Visit) -> None:
    """The search over key fields puts one's card first; what is there already comes to the front as it is."""
    desk = boards.click(visit(cards=f"{CAMPAIGN}~{COUNTRY}!!a"), page_clicks.CARDS, ["card", "categories"])
    assert param(desk, "cards") == f"categories~{CAMPAIGN}~{COUNTRY}!!a"
    desk = boards.click(desk, page_clicks.CARDS, ["card", COUNTRY], ["card", "nothing of that name"])
    assert param(desk, "cards") == f"{COUNTRY}!!a~categories~{CAMPAIGN}"
