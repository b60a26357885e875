"""Clicks on rows: what a browser sends, what the question becomes, and that no older URL undoes it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import boards
import pandas as pd
import pytest
from conftest import LAST_DAY, small_rows
from opening import of_delivery
from streamlit.testing.v1 import AppTest

from lib.figures import rows
from lib.figures.query import clicks
from lib.figures.query.state import PageState
from lib.figures.rows import Act
from lib.reporting.models import AudienceQuery
from lib.slicers.models import KeyField, Order, Slicer
from lib.ui.explore import explorer
from lib.ui.query import history, page_clicks
from lib.wire.filters import Filter

US, DE = [["geo.country", "US"]], [["geo.country", "DE"]]
Visit = Callable[..., AppTest]


def sent(*acts: list[Any], by: str = "b") -> dict[str, Any]:
    """A component's state with these acts."""
    return {"acts": {"by": by, "list": list(acts)}}


def test_each_act_is_taken_once() -> None:
    """Of what a browser sends again and again, only what comes after the last one taken is new."""
    state = sent([3, "include", US], [4, "exclude", DE], [5, "order", "split", "imps", "asc"])
    acts, taken = rows.new_acts(state, ("b", 3))
    assert acts == [["exclude", DE], ["order", "split", "imps", "asc"]]
    assert taken == ("b", 5)
    assert rows.new_acts(state, taken) == ([], taken)


def test_another_browser_counts_separately() -> None:
    """A component that was mounted again numbers its acts from 1: they are new, whatever the last one was."""
    assert rows.new_acts(sent([1, "include", US], by="c"), ("b", 9))[1] == ("c", 1)


@pytest.mark.parametrize(
    "state",
    [
        None,
        {},
        {"acts": None},
        {"acts": {"by": "b", "list": "include"}},
        sent([1]),
        sent([], ["1", "include", US]),
        sent([1, "toggle", US]),
        sent([1, ["include"], US]),
        sent([1, "include", [["geo.country"]]]),
        sent([1, "expand", []]),
        sent([1, "order", "split", "imps", "up"]),
        sent([1, "order", "split"]),
        sent([1, "zoom", "2026-11-14", "yesterday"]),
        sent([1, "zoom_out"]),
        sent([1, "read", 17]),
        sent([1, "records", "split", [["secret", "x"]]]),
        sent([1, "records", "geo.country"]),
        sent([1, "records", 1, []]),
        sent([1, "records", "geo.country", "x"]),
        sent([1, "lower", "upper"]),
    ],
)
def test_what_can_not_be_read_is_passed_over(state: object) -> None:
    """What no component of ours sends changes nothing, and hurts nobody."""
    slicer = Slicer(key_fields=(KeyField(name="geo.country"),), data_fields=())
    for act in rows.new_acts(state, ("b", 0))[0]:
        assert clicks.apply(PageState(asked()), act, slicer) == PageState(asked())
        assert not clicks.is_filtering(act) or act[0] == "include"


def test_the_data_are_plain_json() -> None:
    """What the script draws is JSON of texts and finite numbers, whatever the labels hold."""
    table = rows.Table(
        "t", "<b>", [rows.Column("a", "<i>A</i>")], [rows.Row([rows.Cell("'\"<img>", bar=(1, 0, 1))])]
    )
    assert json.loads(json.dumps(rows.as_json(table), allow_nan=False))["rows"][0]["cells"][0]["bar"] == [
        1,
        0,
        1,
    ]


def asked(*filters: Filter, order: tuple[Order, ...] = ()) -> AudienceQuery:
    """A question split by country."""
    return AudienceQuery(
        project_name="demo", slicer_name="delivery", start_date="-7d", end_date="yesterday",
        filters=filters, split_by=("geo.country",), order_by=order,
    )  # fmt: skip


def after(query: AudienceQuery, acts: list[Act], slicer: Slicer) -> AudienceQuery:
    """The query after these clicks."""
    page_state = PageState(query)
    for act in acts:
        page_state = clicks.apply(page_state, act, slicer)
    return page_state.query


def test_acts_change_the_question_in_their_order() -> None:
    """Included alone, left out together, released again; the last order holds; unknown fields do nothing."""
    slicer = Slicer(key_fields=(KeyField(name="geo.country"),), data_fields=())
    fr = [["geo.country", "FR"]]
    acts = [["exclude", US], ["exclude", DE], ["include", fr]]
    out = Filter(name="geo.country", value=("US", "DE"), match="not equals")
    only = Filter(name="geo.country", value=("FR",), match="equals")
    assert after(asked(), acts, slicer).filters == (out, only)
    assert after(asked(out, only), [["release", fr]], slicer).filters == (out,)
    ordered = [["order", "split", "geo.country", "asc"], ["order", "split", "secret", "asc"]]
    assert after(asked(), ordered, slicer).order_by == (Order(name="geo.country", direction="asc"),)
    assert after(asked(), [["include", [["secret", "x"]]]], slicer) == asked()


@pytest.fixture
def visit(home: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """A screen about the slicer delivery, for somebody who is signed in."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))

    return of_delivery


@pytest.fixture(scope="module")
def week() -> pd.DataFrame:
    """The rows of the slicer delivery in the last seven complete days."""
    table = small_rows(seed=0).to_pandas().fillna({"geo.country": ""})
    return table[table["time"].dt.date > LAST_DAY - pd.Timedelta(days=7).to_pytimedelta()]


def param(desk: AppTest, name: str) -> str:
    """A parameter of the URL; empty without."""
    value = desk.query_params.get(name, "")
    return value if isinstance(value, str) else "".join(value[:1])


def test_a_header_orders_all_rows(visit: Visit, week: pd.DataFrame) -> None:
    """A header orders by the service over all rows, into the link; the total stays first, the rest last."""
    desk = visit(split="campaign_id", top="3")
    desk = boards.click(desk, page_clicks.BOARD, ["order", "split", "clicks", "asc"])
    assert param(desk, "order") == "clicks"
    table = boards.shown(desk)
    least = week.groupby("campaign_id")["clicks"].sum().sort_values().head(3)
    assert table["Campaign"].tolist() == ["Total", *least.index, "Others"]
    assert boards.numbers(table["Clicks"])[:4] == [week["clicks"].sum(), *least]
    drawn = {column["title"]: column["sorted"] for column in boards.split(desk)["columns"]}
    assert {title for title, direction in drawn.items() if direction} == {"Clicks"}


def test_the_split_comes_from_the_route_alone(visit: Visit) -> None:
    """Streamlit gives the split's component its question and no figures, as a table and as a pivot."""
    for chart in ("table", "pivot"):
        desk = visit(split="campaign_id~geo.country", chart=chart)
        (data,) = (data for data in boards.components(desk) if data.get("asked"))
        assert "tables" not in data
        assert data["asked"]["params"]["split"] == "campaign_id~geo.country"
        assert boards.split(desk)["is_tree"] == (chart == "pivot")


def test_a_click_is_not_undone_by_an_older_url(visit: Visit) -> None:
    """A click that comes with the URL of before the last one, as behind a slow network, adds to it."""
    desk = visit(start="-14d", end="yesterday", split="geo.country")
    desk = boards.click(desk, page_clicks.BOARD, ["exclude", DE])
    assert param(desk, "not.geo.country") == "DE"
    desk.query_params.pop("not.geo.country")
    boards.click(desk, page_clicks.CARDS, ["field", "clicks"])
    assert (param(desk, "not.geo.country"), param(desk, "field")) == ("DE", "clicks")


def test_a_pill_does_not_undo_a_click(visit: Visit) -> None:
    """A filter removed in a pill that was drawn before a click on a row leaves that click's filter alone."""
    desk = visit(**{"split": "geo.country", "is.campaign_id": "1"})
    desk.session_state["filter_campaign_id"] = True
    desk.run()
    kept = desk.session_state[history.PAGE_STATE]
    clicked = replace(kept, params={**kept.params, "not.geo.country": "DE"})
    desk.session_state[history.PAGE_STATE] = clicked
    desk.button(key="filter_campaign_id_remove").click().run()
    assert not desk.exception
    assert (param(desk, "not.geo.country"), param(desk, "is.campaign_id")) == ("DE", "")


def test_a_top_value_leads_to_audience(visit: Visit) -> None:
    """A click on a top value carries it to Audience as a filter, its second control as one that excludes."""
    for kind, name in (("include", "is.geo.country"), ("exclude", "not.geo.country")):
        desk = boards.click(visit("slicers"), explorer.BOARD, [kind, DE])
        assert not desk.exception
        assert param(desk, name) == "DE"
        assert param(desk, "split") == "geo.country"


def test_top_values_in_another_order(visit: Visit, week: pd.DataFrame) -> None:
    """A header of the top values orders them by the service: the least of all values, not of those shown."""
    desk = boards.click(visit("slicers"), explorer.BOARD, ["order", "geo.country", "imps", "asc"])
    expected = week.groupby("geo.country")["imps"].sum().sort_values()
    assert boards.numbers(boards.shown(desk)["Impressions"]) == expected.tolist()
