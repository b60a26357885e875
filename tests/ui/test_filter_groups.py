"""Groups of filters of which any holds, on a screen: made in the editor, kept by every act, said in words."""

from collections.abc import Callable
from pathlib import Path

import boards
import pytest
from conftest import rows_by_week
from opening import of_delivery
from streamlit.testing.v1 import AppTest

from lib.figures.query import filters
from lib.reporting.models import AudienceQuery
from lib.slicers.models import KeyField, Slicer
from lib.ui.query import page_clicks
from lib.wire.filters import Filter

COUNTRY, CAMPAIGN = "geo.country", "campaign_id"
GROUP = {f"any.is.{COUNTRY}": "DE", f"any.is.{CAMPAIGN}": "1~2"}
Visit = Callable[..., AppTest]


@pytest.fixture
def visit(home: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """Audience with these URL parameters, and these popovers open."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))

    def opened(*popovers: str, **params: str) -> AppTest:
        desk = of_delivery(**params)
        for popover in popovers:
            desk.session_state[popover] = True
        desk.run()
        assert not desk.exception
        return desk

    return opened


def params(desk: AppTest) -> dict[str, str]:
    """The filters in the URL."""
    texts = {name: "".join(desk.query_params[name]) for name in desk.query_params}
    return {name: text for name, text in texts.items() if COUNTRY in name or CAMPAIGN in name}


def impressions(*conditions: str) -> str:
    """The impressions of the last week in rows that fulfil all conditions of pandas."""
    rows = rows_by_week(COUNTRY).astype({CAMPAIGN: "str"})
    return f"{rows.query(' and '.join(['week == 0', *conditions]))['imps'].sum():,.0f}"


EITHER = f"(`{COUNTRY}` == 'DE' or {CAMPAIGN} in ['1', '2'])"


def fill(desk: AppTest, prefix: str, field: str, *values: str) -> AppTest:
    """Add values of a key field to a group, in the editor's list."""
    desk.selectbox(key=f"{prefix}_field").set_value(field).run()
    return boards.click(desk, f"{prefix}_board", *(["add", [[field, value]]] for value in values))


def test_a_group_is_made_in_the_editor(visit: Visit) -> None:
    """The first filter makes the pill, whose popover has the form for the others; figures follow."""
    desk = visit("filter_add")
    desk.selectbox(key="filter_add_field").set_value("Any of several filters").run()
    fill(desk, "filter_add_any", COUNTRY, "DE")
    assert params(desk) == {f"any.is.{COUNTRY}": "DE"}
    fill(desk, "filter_any_0", CAMPAIGN, "1", "2")
    assert params(desk) == GROUP
    assert r"**Any of\: Country is Germany, Campaign is 1, 2**" in [text.value for text in desk.markdown]
    assert boards.headline(desk)["Impressions"] == impressions(EITHER)


def test_a_filter_becomes_a_group(visit: Visit) -> None:
    """*Or…* on a filter's pill makes a group of it in one step; removing all of a group removes the group."""
    desk = visit(f"filter_{COUNTRY}", **{f"is.{COUNTRY}": "DE"})
    desk.button(key=f"filter_{COUNTRY}_or").click().run()
    assert params(desk) == {f"any.is.{COUNTRY}": "DE"}
    fill(desk, "filter_any_0", CAMPAIGN, "1")
    desk.button(key="filter_any_0_remove_0").click().run()
    assert params(desk) == {f"any.is.{CAMPAIGN}": "1"}
    desk.button(key="filter_any_0_remove_0").click().run()
    assert params(desk) == {}
    assert not desk.exception


def test_every_act_keeps_a_group(visit: Visit) -> None:
    """A clicked value is a filter beside the group; undo and a visit of the link have both as they were."""
    desk = visit(**GROUP)
    boards.click(desk, page_clicks.CARDS, ["add", [[COUNTRY, "US"]]])
    both = GROUP | {f"is.{COUNTRY}": "US"}
    figure = impressions(EITHER, f"`{COUNTRY}` == 'US'")
    assert (params(desk), boards.headline(desk)["Impressions"]) == (both, figure)
    again = visit(**params(desk))
    assert (params(again), boards.headline(again)["Impressions"]) == (both, figure)
    desk.button(key="question_undo").click().run()
    assert (params(desk), boards.headline(desk)["Impressions"]) == (GROUP, impressions(EITHER))


def test_nothing_found_names_the_group(visit: Visit) -> None:
    """Where a group leaves nothing, the page says so, and removes it on a click."""
    desk = visit(**{f"is.{COUNTRY}": "US", f"any.is.{CAMPAIGN}": "99"})
    nothing = boards.head(desk)["nothing"]
    assert nothing["label"] == "Remove “Any of: Campaign is 99”"
    boards.click(desk, page_clicks.CARDS, ["go", nothing["params"]])
    assert params(desk) == {f"is.{COUNTRY}": "US"}


@pytest.mark.parametrize(
    ("group", "words"),
    [
        ((("a", "equals", "1", "2"), ("b", "equals", "x")), "Any of: A is 1, 2, b is x"),
        ((("a", "not equals", ""), ("b", "contains", "x")), "Any of: A is not (not set), b contains x"),
    ],
)
def test_a_group_in_words(group: tuple[tuple[str, ...], ...], words: str) -> None:
    """Files, snapshots and mails name the filters of a group with all their values."""
    slicer = Slicer(key_fields=(KeyField(name="a", description="A"), KeyField(name="b")))
    any_of = tuple(
        Filter.model_validate({"name": name, "match": match, "value": texts}) for name, match, *texts in group
    )
    query = AudienceQuery(
        project_name="p", slicer_name="s", start_date="-7d", end_date="today", any_of=(any_of,)
    )
    assert filters.sentences(query, slicer) == [words]
