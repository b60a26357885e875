"""Filters by figures: in links, in the question's line, and on the rows of leaderboards, split and file."""

from collections.abc import Callable
from pathlib import Path

import boards
import pandas as pd
import pytest
from conftest import rows_by_week
from hypothesis import given
from hypothesis import strategies as st
from opening import of_delivery
from streamlit.testing.v1 import AppTest

from lib.figures.numbers import Numbers
from lib.figures.query import filters, state
from lib.reporting.links import having
from lib.reporting.models import DataFilter
from lib.slicers.models import DataField, Slicer
from lib.ui.query import data_filter_form

CAMPAIGN, COUNTRY = "campaign_id", "geo.country"
SLICER = Slicer(
    data_fields=(
        DataField(name="imps", description="Impressions"),
        DataField(name="ctr~%", description="CTR", display_type="float", display_pattern="#%"),
    )
)
FILTERS = st.builds(
    DataFilter,
    name=st.sampled_from([field.name for field in SLICER.data_fields]),
    match=st.sampled_from(data_filter_form.MATCHES),
    value=st.decimals(-(10**9), 10**9, places=6).map(float),
)
Visit = Callable[..., AppTest]


@pytest.fixture
def visit(home: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """The Audience page about the slicer delivery, for somebody who is signed in."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    return of_delivery


@pytest.fixture(scope="module")
def week() -> pd.DataFrame:
    """The rows of the last seven complete days."""
    rows = rows_by_week(COUNTRY)
    return rows[rows["week"] == 0]


def least(week: pd.DataFrame) -> tuple[int, list[str]]:
    """A number of impressions that some campaigns have and some have not, and those that have it."""
    sums = week.groupby(CAMPAIGN)["imps"].sum().sort_values(ascending=False)
    bound = int(sums.iloc[3])
    return bound, sums[sums >= bound].index.tolist()


@given(st.lists(FILTERS, max_size=state.MOST_DATA_FILTERS, unique=True))
def test_links_keep_filters(filters: list[DataFilter]) -> None:
    """What a link says of filters by figures is read as it was, to the digit."""
    assert state.read({"having": having(filters)}, SLICER, "demo", "s")[0].view.data_filters == tuple(filters)


@pytest.mark.parametrize("text", ["", "imps", "imps~ge", "imps~ge~", "imps~is~1", "imps~ge~1e400", "x~ge~1"])
def test_links_that_cannot_be_read(text: str) -> None:
    """What can't be read, or is about a field that is not there, filters nothing; the field is named."""
    assert state.read({"having": text}, SLICER, "demo", "s")[0].view.data_filters == ()
    assert state.read({"having": text}, SLICER, "demo", "s")[1] == (
        ["Left out the filter by X: s has none of that name."] if text.startswith("x") else []
    )


def test_words() -> None:
    """A filter in words has the field with its unit, the sign, and the number as typed."""
    words = [
        filters.figure_sentence(DataFilter(name=name, match=match, value=value), SLICER, Numbers.of("en-US"))
        for name, match, value in (("imps", ">=", 1000), ("ctr~%", "<", 0.25), ("imps", "!=", -3))
    ]
    assert words == ["Impressions ≥ 1,000", "CTR, % < 0.25", "Impressions ≠ −3"]


@pytest.mark.parametrize("order", ["", "!-change", "!name"])
def test_rows_of_a_leaderboard(visit: Visit, week: pd.DataFrame, order: str) -> None:
    """A card has the values that pass, however it is ordered; the headline stays that of all."""
    bound, names = least(week)
    desk = visit(having=f"imps~ge~{bound}", cards=f"{CAMPAIGN}{order}")
    card = boards.card(desk, CAMPAIGN)
    assert sorted(card["Name"][:-1]) == sorted(names)
    assert card["Name"].iloc[-1] == "All others"
    shown = boards.numbers(card["Impressions"])
    assert sum(shown) == week["imps"].sum()
    assert boards.headline(desk)["Impressions, all values"] == f"{week['imps'].sum():,.0f}"


def test_rows_of_a_split(visit: Visit, week: pd.DataFrame) -> None:
    """The split's table has the rows that pass two filters, and says how many they are."""
    bound, names = least(week)
    desk = visit(having=f"imps~ge~{bound}~clicks~gt~0", split=CAMPAIGN, lower="split")
    assert not desk.exception
    assert any(f"{len(names)} rows" in text.value for text in desk.caption)
    (table,) = [table for table in boards.drawn(desk) if table["id"] == "split"]
    total = table["rows"][0]["cells"]
    assert total[0]["text"] == "Total of all values"
    assert boards.numbers(pd.Series([total[1]["text"]])) == [week["imps"].sum()]


def test_nothing_passes(visit: Visit) -> None:
    """Where no row passes, card and split say so."""
    desk = visit(having="imps~lt~0", split=CAMPAIGN, lower="split")
    assert any("No row passes the metric filters." in text.value for text in desk.info)
    desk = visit(having="imps~lt~0", cards=CAMPAIGN)
    (table,) = [table for table in boards.drawn(desk) if table["id"] == CAMPAIGN]
    assert table["card"]["message"] == "No value passes the metric filters."


def test_added_edited_and_removed(visit: Visit) -> None:
    """A field, a number and a click add a filter; a number that is none adds nothing and stays."""
    desk = visit()
    desk.session_state["filter_add"] = True
    desk.run().selectbox(key="filter_add_field").set_value("\x1fimps").run()
    desk.text_input(key="filter_add_figure_value").set_value("1,5").run()
    desk.button(key="filter_add_figure_done").click().run()
    assert "having" not in desk.query_params
    assert any("Write decimals with a point" in text.value for text in desk.markdown)
    desk.text_input(key="filter_add_figure_value").set_value("1500").run()
    desk.button(key="filter_add_figure_done").click().run()
    assert desk.query_params["having"] == "imps~ge~1500"
    desk.session_state["figure_filter_0"] = True
    desk.run().text_input(key="figure_filter_0_value").set_value("20").run()
    assert desk.query_params["having"] == "imps~ge~20"
    desk.session_state["figure_filter_0"] = True
    desk.run().button(key="figure_filter_0_remove").click().run()
    assert "having" not in desk.query_params
