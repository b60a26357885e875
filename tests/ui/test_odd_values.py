"""Odd values on the screen: in the picker, in pills, typed, pasted, clicked on the overview, and in the URL.

odd_values.py has the table; tests/agents/python_client/test_odd_values.py asks engines, APIs and exports.
"""

from collections.abc import Callable
from pathlib import Path

import boards
import pytest
from odd_values import VALUES, odd_settings, rows
from opening import opened
from streamlit.testing.v1 import AppTest

from lib.reporting import links
from lib.ui.kit.frame import CONTEXT
from lib.ui.kit.markdown import plain

BOARD, PASTED = "filter_add_board", "filter_add_pasted_value"
FIGURES = dict(rows().itertuples(index=False))
TYPED = [value for value in VALUES if value.strip() == value and "\n" not in value]
"""What can be typed into a line: without blanks at its ends, which are none to whoever types."""
Adding = Callable[..., AppTest]


@pytest.fixture(scope="module")
def odd_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with these values in the slicer odd/values."""
    return odd_settings(tmp_path_factory.mktemp("odd")).home


@pytest.fixture
def audience(odd_home: Path, monkeypatch: pytest.MonkeyPatch) -> Adding:
    """The screen Audience of that slicer, with these URL parameters."""
    monkeypatch.setenv("TRANCHE_HOME", str(odd_home))

    def drawn(**params: str) -> AppTest:
        desk = opened(
            "audience", person="ada", project="odd", slicer="values", start="-7d", end="yesterday", **params
        )
        assert not desk.exception, desk.exception
        return desk

    return drawn


def adding(desk: AppTest, way: str = "List") -> AppTest:
    """The next run with the popover that adds filters open on these values, in one of its ways."""
    desk.session_state["filter_add"] = True
    desk.run().selectbox(key="filter_add_field").set_value("value").run()
    desk.button_group(key="filter_add_way").set_value(way).run()
    assert not desk.exception
    return desk


def exact(text: str) -> float:
    """A figure with all digits: `1,024`."""
    return float(text.replace(",", ""))


def listed(desk: AppTest) -> dict[str, float]:
    """The values that the open picker offers, with their figures."""
    table = next(table for table in boards.drawn(desk) if (table["card"] or {}).get("is_picker"))
    return {row["values"][0][1]: exact(row["cells"][1]["about"]) for row in table["rows"]}


def filters(desk: AppTest) -> list[tuple[str, set[str]]]:
    """The filters of the URL: matches and values."""
    params = {name: text if isinstance(text, str) else text[0] for name, text in desk.query_params.items()}
    context = desk.session_state[CONTEXT]
    parsed = links.from_params(params, context.slicer, "odd", "values")
    assert parsed.left_out == []
    return [(filter_.match, set(filter_.value)) for filter_ in parsed.query.filters]


def test_the_picker_offers_each_value(audience: Adding) -> None:
    """Each value is a row of the picker's list, with its own figure."""
    assert listed(adding(audience())) == FIGURES


@pytest.mark.parametrize("text", ["a,b", '"hi"', "\\", "%", "_", "🦄", "مر", "STANBUL", "ß", "[a]", "null"])
def test_the_picker_finds_values_by_a_part(audience: Adding, text: str) -> None:
    """A part of a value finds it in any case, and no mark stands for others."""
    desk = boards.click(adding(audience()), BOARD, ["find", "value", text])
    matches = set(listed(desk))
    assert {value for value in VALUES if text in value} <= matches
    assert matches <= {value for value in VALUES if text.casefold() in value.casefold()}


def test_clicks_keep_and_leave_out_each_value(audience: Adding) -> None:
    """Values that are clicked are in the URL as they are, and a page opened from it asks for the same."""
    first, second = VALUES[::2], VALUES[1::2]
    acts = [["add", [["value", value]]] for value in first] + [
        ["exclude", [["value", value]]] for value in second
    ]
    desk = boards.click(adding(audience()), BOARD, *acts)
    expected = [("equals", set(first)), ("not equals", set(second))]
    assert sorted(filters(desk)) == sorted(expected)
    params = {name: desk.query_params[name] for name in ("is.value", "not.value")}
    again = audience(**{name: text if isinstance(text, str) else text[0] for name, text in params.items()})
    assert sorted(filters(again)) == sorted(expected)
    assert exact(boards.head(again)["figures"][0]["help"]) == sum(FIGURES[value] for value in first)


def test_a_click_on_the_board_keeps_each_value(audience: Adding) -> None:
    """The overview's route answers a click on any value with the figure of that value alone."""
    desk = audience()
    params = boards.asked(desk)["params"]
    for value, figure in FIGURES.items():
        head = boards.parts(desk, params, ["head"], ["include", [["value", value]]])["head"]
        assert exact(head["figures"][0]["help"]) == figure, value


def test_a_pill_says_each_value(audience: Adding) -> None:
    """A pill names a value as it is, whatever it means in Markdown."""
    for values in (VALUES[first : first + 2] for first in range(0, len(VALUES), 2)):
        desk = audience(**{"is.value": links.join_texts(values)})
        desk.session_state["filter_value"] = True
        texts = [markdown.value for markdown in desk.run().markdown]
        assert f"**{plain('value is ' + ', '.join(values))}**" in texts, (values, texts)


def test_each_value_can_be_pasted(audience: Adding) -> None:
    """A list with a value in each line adds all of them, in quotes where a comma would part them."""
    desk = adding(audience(), "Paste")
    desk.text_area(key=PASTED).set_value("\n".join(TYPED)).run()
    assert [warning.value for warning in desk.warning] == []
    desk.button(key=f"{PASTED}_include").click().run()
    assert filters(desk) == [("equals", set(TYPED))]


def test_each_value_can_be_typed(audience: Adding) -> None:
    """Parts of texts, one in each line, are those of the filter."""
    desk = adding(audience(), "Text")
    desk.text_area(key="filter_add_draft_texts").set_value("\n".join(TYPED)).run()
    desk.button(key="filter_add_draft_done").click().run()
    assert filters(desk) == [("contains", set(TYPED))]
    values = {value for value in FIGURES if any(text in value for text in TYPED)}
    assert exact(boards.head(desk)["figures"][0]["help"]) == sum(FIGURES[value] for value in values)
