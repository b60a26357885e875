"""Dead targets on the screen: the list, the preview, one change for each package, and undo."""

from pathlib import Path
from typing import Any

import pytest
from boards import components
from dealing import SOLD, Visit, clean, package, table_rows
from peopled import people_in
from streamlit.testing.v1 import AppTest

from lib.deals.client import Deals
from lib.deals.models import GeoTarget, SupplyPackage, ValueTarget
from lib.people import Grant

ICE, POLE = "3-country-AQ", "4-country-AQ"


@pytest.fixture
def stocked(deals: Deals) -> Deals:
    """Package 3 targets the United States and Antarctica, and not tablets; package 4 Antarctica alone."""
    us, ice = (GeoTarget(type="country", value=value) for value in ("US", "AQ"))
    no_tablet = ValueTarget(value="tablet", is_excluded=True)
    deals.create(SupplyPackage, package("Ice", {}, geo_targetings=(us, ice), device_targetings=(no_tablet,)))
    deals.create(SupplyPackage, package("Pole", {}, geo_targetings=(ice,)))
    return deals


def come(desk: AppTest) -> AppTest:
    """The dialog once the search is done."""
    assert desk.session_state["dead_targets"].search.wait(60)
    return clean(desk.run())


def listed(desk: AppTest) -> dict[str, list[str]]:
    """The cells of the rows of the dialog, by key."""
    [dead_targets] = [data for data in components(desk) if data.get("label") == "Dead targets"]
    return {row["key"]: [cell["text"] for cell in row["cells"]] for row in dead_targets["rows"]}


def opened(visit: Visit, person: str = "manager") -> AppTest:
    """The dialog with its list."""
    desk = visit("deals", person, slicer=SOLD, deals_kind="Packages")
    return come(clean(desk.button(key="deals_dead").click().run()))


def choose(desk: AppTest, *keys: str) -> AppTest:
    """The dialog with these rows chosen."""
    desk.session_state["dead_list"] = {"acts": {"by": "browser", "list": [[1, "tick", list(keys), True]]}}
    return clean(desk.run())


def press(desk: AppTest, *keys: str) -> AppTest:
    """The dialog after clicks on these buttons."""
    for key in keys:
        desk = clean(desk.button(key=key).click().run())
    return desk


def table(desk: AppTest) -> dict[str, dict[str, Any]]:
    """The rows of the preview or of the result, by name."""
    return {row["Name"]: row for row in table_rows(desk)}


def places(deals: Deals, number: int) -> list[str]:
    """The places that a package targets."""
    return [targeting.value for targeting in deals.get(SupplyPackage, number).geo_targetings]


def test_the_list(stocked: Deals, visit: Visit) -> None:
    """Antarctica never had a bid: it is listed for both packages; tablets are excluded, and are not."""
    desk = opened(visit)
    assert listed(desk) == {ICE: ["Ice", "Country", "AQ", "none"], POLE: ["Pole", "Country", "AQ", "none"]}
    assert any("**2 targets** of 2 packages had no bids" in markdown.value for markdown in desk.markdown)
    assert any(
        "Exact" in caption.value and "4 packages that have not ended" in caption.value
        for caption in desk.caption
    )
    assert desk.button(key="dead_preview").disabled


def test_repair_and_undo(stocked: Deals, visit: Visit) -> None:
    """The preview says what a package would target; the last place of another one stays, with the reason."""
    desk = press(choose(opened(visit), ICE, POLE), "dead_preview")
    rows = table(desk)
    assert (rows["Ice"]["Removed"], rows["Ice"]["Targets afterwards"]) == ("AQ", "United States · not tablet")
    assert rows["Pole"]["Removed"] == ""
    assert rows["Pole"]["Note"] == (
        "Places: AQ stays, because without it the package would match all places."
    )
    assert sorted(places(stocked, 3)) == ["AQ", "US"], "nothing is changed yet"
    desk = press(desk, "dead_save")
    assert (places(stocked, 3), places(stocked, 4)) == (["US"], ["AQ"])
    assert "1 package saved, 1 failed" in desk.warning[0].value
    assert [edit.action for edit in stocked.history(SupplyPackage, 3)] == ["changed", "created"]
    desk = clean(press(desk, "undo_last").run())
    assert sorted(places(stocked, 3)) == ["AQ", "US"]
    assert "1 package put back" in desk.success[0].value
    assert stocked.get(SupplyPackage, 3).device_targetings[0].is_excluded


def test_undo_after_the_dialog_was_closed(stocked: Deals, visit: Visit) -> None:
    """A repair can be undone in another session, from the list of what was done to several."""
    desk = press(choose(opened(visit), ICE), "dead_preview", "dead_save", "dead_close", "deals_dead")
    assert list(listed(come(desk))) == [POLE]
    desk = press(visit("deals", slicer=SOLD), "deals_undo_open")
    assert any(markdown.value == "**Removed dead targets**" for markdown in desk.markdown)
    assert any(caption.value.startswith("1 package · ") for caption in desk.caption)
    press(desk, "undo_1", "undo_save")
    assert sorted(places(stocked, 3)) == ["AQ", "US"]


def test_what_changed_since_is_kept(stocked: Deals, visit: Visit) -> None:
    """A package that changed after the preview is not changed, nor is one put back that changed since."""
    desk = press(choose(opened(visit), ICE), "dead_preview")
    stocked.change(SupplyPackage, 3, {"name": "Icy"})
    desk = press(desk, "dead_save")
    assert table(desk)["Ice"]["Result"] == "Failed"
    assert sorted(places(stocked, 3)) == ["AQ", "US"]
    desk = press(desk, "dead_again", "dead_save")
    assert places(stocked, 3) == ["US"]
    stocked.change(
        SupplyPackage, 3, {"geo_targetings": [{"type": "country", "value": "DE", "is_excluded": False}]}
    )
    desk = press(desk, "undo_last")
    assert desk.button(key="undo_save").disabled
    assert places(stocked, 3) == ["DE"]
    assert table(desk)["Icy"]["Note"] == ("Changed since: Places now DE, set to US by the action. It stays.")


def test_who_may_only_read(stocked: Deals, visit: Visit, own_deals_home: Path) -> None:
    """A viewer sees the list, without boxes and without a button that changes something."""
    people_in(own_deals_home).grant("viewer", [Grant("demo", SOLD)])
    desk = opened(visit, "viewer")
    assert len(listed(desk)) == 2
    assert "dead_preview" not in [button.key for button in desk.button]
