"""The editor of filters on a screen: values with figures, kept and left out, found, pasted, texts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import boards
import pandas as pd
import pytest
from conftest import LAST_DAY, small_rows
from opening import of_delivery
from streamlit.testing.v1 import AppTest

from lib.ui.query import filter_editor

COUNTRY, CAMPAIGN = "geo.country", "campaign_id"
BOARD, PASTED = "filter_add_board", f"filter_add_pasted_{COUNTRY}"
Adding = Callable[..., AppTest]


@pytest.fixture
def adding(home: Path, monkeypatch: pytest.MonkeyPatch) -> Adding:
    """Audience with the popover that adds filters open on a key field, in one of its ways."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))

    def opened(name: str = COUNTRY, way: str = "List", **params: str) -> AppTest:
        desk = of_delivery(**params)
        desk.session_state["filter_add"] = True
        desk.run().selectbox(key="filter_add_field").set_value(name).run()
        desk.button_group(key="filter_add_way").set_value(way).run()
        assert not desk.exception
        return desk

    return opened


@pytest.fixture(scope="module")
def week() -> pd.DataFrame:
    """The slicer's rows of the last seven complete days."""
    rows = small_rows(seed=0).to_pandas().fillna({COUNTRY: ""})
    ages = (pd.Timestamp(LAST_DAY) - pd.to_datetime(rows["time"].dt.date)).dt.days
    return rows[ages < 7]


def offered(desk: AppTest) -> dict[str, Any]:
    """The list of values that the open editor draws."""
    return next(table for table in boards.drawn(desk) if (table["card"] or {}).get("is_picker"))


def figures(desk: AppTest) -> dict[str, str]:
    """The values of that list by code, with their figures."""
    return {row["values"][0][1]: row["cells"][1]["text"] for row in offered(desk)["rows"]}


def states(desk: AppTest) -> dict[str, str]:
    """Which of them are kept and which left out."""
    words = {(True, False): "kept", (False, True): "left out"}
    rows = {row["values"][0][1]: (row["included"][0], row["excluded"][0]) for row in offered(desk)["rows"]}
    return {code: words[state] for code, state in rows.items() if any(state)}


def asked(desk: AppTest, name: str) -> str:
    """A parameter of the URL; empty without."""
    value = desk.query_params.get(name, "")
    return value if isinstance(value, str) else "".join(value[:1])


def test_values_have_figures(adding: Adding, week: pd.DataFrame) -> None:
    """Every value comes with the field that is measured, under the other filters, the largest first."""
    desk = adding(**{"is.campaign_id": "1~2", "field": "clicks", "not.geo.country": "US"})
    expected = week[week[CAMPAIGN].isin(["1", "2"])].groupby(COUNTRY)["clicks"].sum()
    shown = {code: float(text.replace(",", "")) for code, text in figures(desk).items()}
    assert shown == expected.to_dict()
    assert [*shown] == [*expected.sort_values(ascending=False).index]
    assert states(desk) == {"US": "left out"}


def test_include_and_exclude_in_one_editor(adding: Adding) -> None:
    """Clicks keep values and leave others out of one key field; the list stays, and one pill says both."""
    desk = boards.click(adding(), BOARD, ["add", [[COUNTRY, "DE"]]], ["exclude", [[COUNTRY, "US"]]])
    assert (asked(desk, "is.geo.country"), asked(desk, "not.geo.country")) == ("DE", "US")
    assert states(desk) == {"DE": "kept", "US": "left out"}
    assert len(figures(desk)) == 5
    desk.session_state["filter_geo.country"] = True
    assert "**Country is Germany · is not United States**" in [
        markdown.value for markdown in desk.run().markdown
    ]


def test_only_this(adding: Adding) -> None:
    """A value can be kept alone, whatever was kept before."""
    desk = boards.click(adding(**{"is.geo.country": "US~FR"}), BOARD, ["include", [[COUNTRY, "DE"]]])
    assert asked(desk, "is.geo.country") == "DE"


def test_values_are_found(adding: Adding) -> None:
    """A text finds values by description, at the service; what is chosen stays chosen."""
    desk = boards.click(adding(**{"is.geo.country": "US"}), BOARD, ["find", COUNTRY, "germ"])
    assert [*figures(desk)] == ["DE"]
    assert asked(desk, "is.geo.country") == "US"
    desk = boards.click(adding(), BOARD, ["find", COUNTRY, "nowhere"])
    assert offered(desk)["card"]["message"] == "No value contains “nowhere”."


def test_a_chosen_value_without_data_is_in_the_list(adding: Adding) -> None:
    """What a filter asks for and no record has stands at the end of the list, with no figure."""
    desk = adding(**{"is.geo.country": "XX"})
    assert [*figures(desk).items()][-1] == ("XX", "–")


def test_swap_flags_and_remove(adding: Adding) -> None:
    """What is kept can be left out instead, any case can do for all of it, and all of it can go."""
    desk = adding(**{"is.geo.country": "US~FR"})
    desk.button(key="filter_add_swap").click().run()
    assert (asked(desk, "is.geo.country"), asked(desk, "not.geo.country")) == ("", "US~FR")
    desk.checkbox(key="filter_add_any_case").check().run()
    assert asked(desk, "not-i.geo.country") == "US~FR"
    desk.button(key="filter_add_remove").click().run()
    assert not [name for name in desk.query_params if name.endswith(COUNTRY)]


def pasting(desk: AppTest, text: str) -> AppTest:
    """The next run with this text in the field."""
    desk.text_area(key=PASTED).set_value(text).run()
    assert not desk.exception
    return desk


def test_a_pasted_list(adding: Adding) -> None:
    """Lines and commas part values, codes and descriptions; the unknown are named, and stay in the field."""
    desk = pasting(adding(way="Paste"), "us, Germany\nAtlantis\n\n(not set)\nus")
    assert "3 values found in the data of these days." in [caption.value for caption in desk.caption]
    assert [warning.value for warning in desk.warning] == ["1 not found: Atlantis"]
    assert asked(desk, "is.geo.country") == ""
    desk.button(key=f"{PASTED}_include").click().run()
    assert sorted(asked(desk, "is.geo.country").split("~")) == ["", "DE", "US"]
    assert desk.text_area(key=PASTED).value == "Atlantis"


def test_unknown_values_are_added_on_purpose(adding: Adding) -> None:
    """A ticked box adds the values that the data lacks, here to those left out."""
    desk = pasting(adding(way="Paste"), "FR\nAtlantis, Mu")
    assert desk.button(key=f"{PASTED}_exclude").label == "Exclude 1"
    desk.checkbox(key=f"{PASTED}_unknown").check().run()
    desk.button(key=f"{PASTED}_exclude").click().run()
    assert asked(desk, "not.geo.country") == "FR~Atlantis~Mu"
    assert desk.text_area(key=PASTED).value == ""


def test_a_pasted_list_beyond_the_link(adding: Adding, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more values than a link has room for the first are added, the others stay in the field."""
    monkeypatch.setattr(filter_editor, "MOST_CHARACTERS", 9)
    desk = pasting(adding(way="Paste"), "US\nDE\nFR\nJP")
    assert "3 of 4 fit into the link. The others stay here." in [warning.value for warning in desk.warning]
    desk.button(key=f"{PASTED}_include").click().run()
    taken = set(asked(desk, "is.geo.country").split("~"))
    assert len(taken) == 3
    assert taken | {desk.text_area(key=PASTED).value} == {"US", "DE", "FR", "JP"}


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("US", ["US"]),
        ("US, CA", ["US, CA", "US", "CA"]),
        ("US,", ["US"]),
        ('"Smith, Inc", x', ['"Smith, Inc", x', "Smith, Inc", "x"]),
        ('"Smith, Inc"', ["Smith, Inc"]),
        ("a\tb", ["a\tb", "a", "b"]),
        (",", [","]),
    ],
)
def test_how_a_line_is_parted(line: str, parts: list[str]) -> None:
    """Commas and tabs part a line but within quotes; the whole line may be a value too."""
    assert filter_editor._texts(line) == parts


def test_a_filter_by_texts(adding: Adding) -> None:
    """A part of a value filters as well, with a match of its own, in a pill of its own."""
    desk = adding(way="Text")
    desk.text_area(key="filter_add_draft_texts").set_value("U\nF").run()
    desk.button(key="filter_add_draft_done").click().run()
    assert asked(desk, "has.geo.country") == "U~F"
    desk.session_state["filter_0"] = True
    desk.run().selectbox(key="filter_0_match").set_value("begins with").run()
    assert asked(desk, "starts.geo.country") == "U~F"
