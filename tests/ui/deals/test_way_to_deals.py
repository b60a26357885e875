"""The way from a question to Deals, and what the screens know of the deals before the list is opened."""

import pytest
from dealing import SOLD, Visit, clean
from streamlit.testing.v1 import AppTest

from lib.reporting.models import AudienceQuery
from lib.ui.deals.new_package import from_audience
from lib.wire.filters import Filter, Match


def links(desk: AppTest) -> dict[str, str]:
    """The links of the screen by their labels, with what they ask for."""
    return {link.proto.label: link.proto.query_string for link in desk.get("page_link")}


def test_from_a_deal_to_its_drawer(visit: Visit) -> None:
    """A question about one deal, else about one package, has a link to its drawer; others have none."""
    desk = visit("audience", slicer=SOLD, **{"is.deal": "4", "is.supply_package": "2"})
    assert links(desk)["Open deal"] == "deals_kind=Deals&open=demand_deals-4"
    desk = visit("audience", slicer=SOLD, **{"is.supply_package": "2"})
    assert links(desk)["Open package"] == "deals_kind=Packages&open=supply_deals-2"
    assert not {"Open deal", "Open package"} & set(links(visit("audience", slicer=SOLD)))


@pytest.mark.parametrize(
    ("match", "values", "number"),
    [
        ("equals", ("4",), 4),
        ("equals", ("4", "5"), None),
        ("equals", ("all",), None),
        ("equals", ("04",), None),
        ("equals", ("",), None),
        ("not equals", ("4",), None),
        ("contains", ("4",), None),
    ],
)
def test_only(match: Match, values: tuple[str, ...], number: int | None) -> None:
    """One whole id is kept by an include of just that value."""
    query = AudienceQuery(
        project_name="demo",
        slicer_name=SOLD,
        start_date="-7d",
        end_date="yesterday",
        filters=(Filter(name="deal", match=match, value=values),),
    )
    assert from_audience.only(query, "deal") == number
    assert from_audience.only(query, "supply_package") is None


def test_a_dialog_that_was_left(visit: Visit) -> None:
    """A dialog of Deals that was left for another screen does not open again; the button opens it."""
    desk = visit("deals", slicer=SOLD, deals_kind="Packages")
    for key, mark in (
        ("deals_overlap", "overlap_of"),
        ("deals_dead", "dead_targets"),
        ("deals_undo_open", "deals_undo"),
    ):
        desk = clean(desk.button(key=key).click().run())
        assert mark in desk.session_state
        desk.switch_page("../pages/lists.py")
        assert mark not in clean(desk.run()).session_state
        desk.switch_page("../pages/deals.py")
        assert mark not in clean(desk.run()).session_state
