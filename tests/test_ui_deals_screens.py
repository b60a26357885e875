"""The screens Deals and New package, without a browser: who may what, edits that meet, one package a form."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from conftest import LAST_DAY
from dealing import SOLD, clients, sold_rows
from streamlit.testing.v1 import AppTest

from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage
from lib.people import Grant, People
from lib.settings import Settings
from lib.ui import selection
from lib.ui.deals.rows import rows
from lib.ui.package.draft import Terms

LAST_MINUTE = dt.datetime.now(dt.UTC) - dt.timedelta(minutes=1)
DESK = str(Path(__file__).parent.parent / "lib" / "desk.py")
Visit = Callable[..., AppTest]


@pytest.fixture
def deals(own_deals_home: Path) -> Deals:
    """The deals API of the same data directory, in the manager's name."""
    return clients(Settings(home=own_deals_home, demo=True)).deals


@pytest.fixture
def visit(own_deals_home: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """A screen as a demo person sees it, with these URL parameters."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_deals_home))

    def visited(screen: str, person: str = "manager", **params: str) -> AppTest:
        desk = AppTest.from_file(DESK, default_timeout=60).run()
        desk.button(key=f"demo_{person}").click().run()
        desk.switch_page(f"../pages/{screen}.py")
        for name, value in params.items():
            desk.query_params[name] = value
        return clean(desk.run())

    return visited


def opened(desk: AppTest, key: str) -> AppTest:
    """The same screen with the drawer of this one open."""
    desk.query_params["open"] = key
    return clean(desk.run())


def section(desk: AppTest, name: str) -> AppTest:
    """The drawer at one of its sections."""
    return clean(desk.button_group(key="drawer_shown").set_value(name).run())


def clean(desk: AppTest) -> AppTest:
    """The screen, once it is sure that nothing went wrong on it."""
    assert not desk.exception
    return desk


def faults(desk: AppTest) -> list[str]:
    """What is said to be wrong, beside the fields."""
    return [said.value.replace("\\", "") for said in desk.markdown if said.value.startswith(":red")]


def labels(desk: AppTest) -> list[str]:
    """All buttons."""
    return [button.label for button in desk.button]


def test_viewers_only_look(visit: Visit) -> None:
    """A viewer sees list and drawer, and nothing with which to change them; New package is not there."""
    desk = visit("deals", "viewer")
    assert desk.dataframe[0].value.shape[0] == 6
    assert labels(desk) == []
    assert opened(desk, "supply_deals-1").button_group(key="drawer_shown").options == [
        "Facts",
        "Delivery",
        "History",
    ]
    assert labels(desk) == []
    with pytest.raises(ValueError, match="new_package"):
        desk.switch_page("../pages/new_package.py")


def test_the_api_decides(visit: Visit, own_deals_home: Path) -> None:
    """Somebody who becomes a viewer while the drawer is open is told so by the API; nothing is changed."""
    desk = opened(visit("deals"), "demand_deals-1")
    People(own_deals_home / "people.yaml", rounds=4).set_role("manager", "viewer")
    desk.button(key="action_active").click().run()
    assert "may see deals and not change them" in desk.error[0].value


def test_narrowed_by_the_url(visit: Visit) -> None:
    """Search and filters stand in the URL, so that a link shows the same list."""
    desk = visit("deals", find="sports", deals_kind="Deals")
    assert list(desk.dataframe[0].value["Name"]) == ["Evening Sports - Alpha Buying"]
    desk.text_input(key="find").set_value("nothing like it").run()
    assert not desk.dataframe
    assert "No package or deal matches" in desk.info[0].value


def test_facts(visit: Visit) -> None:
    """The drawer tells what a package is in words, with the report's descriptions, and lists its deals."""
    desk = opened(visit("deals"), "supply_deals-1")
    told = desk.table[0].value["value"].to_dict()
    assert told["Targeting"].replace("\\", "") == "United States, Germany · not smartphone"
    assert told["Runs"].replace("\\", "") == "1 Jan 2026, 09:30 UTC+1 – no end"
    assert [frame.value["Name"].tolist() for frame in desk.dataframe][-1] == [
        "Morning News - Alpha Buying",
        "Morning News - Beta Media",
        "Morning News - Gamma Trading",
    ]


def test_delivery(visit: Visit) -> None:
    """The delivery of a deal is what the report has for it, from the slicer that tells deals apart."""
    desk = section(opened(visit("deals"), "demand_deals-2"), "Delivery")
    frame = sold_rows().to_pandas()
    days = frame["time"].dt.date
    mine = frame[(frame["deal"] == "2") & (days > LAST_DAY - dt.timedelta(days=30))]
    assert desk.metric[0].value == f"{mine['imps'].sum():,.0f}"
    assert f"demo/{SOLD}" in " ".join(caption.value for caption in desk.caption)


def test_no_delivery_to_see(visit: Visit, own_deals_home: Path) -> None:
    """Who may see no slicer that tells deals apart is told that, and nothing of the figures."""
    people = People(own_deals_home / "people.yaml", rounds=4)
    people.revoke("manager", [Grant("demo")])
    people.grant("manager", [Grant("demo", "delivery")])
    desk = section(opened(visit("deals"), "demand_deals-2"), "Delivery")
    assert "None of the slicers that you may see" in desk.info[0].value
    assert not desk.metric


def test_what_is_gone_is_said(visit: Visit) -> None:
    """A link to a deal that is not there any more says so, and shows the list."""
    desk = opened(visit("deals"), "demand_deals-99")
    assert "Deal 99 is not there any more" in desk.warning[0].value
    assert len(desk.dataframe) == 1


def test_pause_and_resume(visit: Visit, deals: Deals) -> None:
    """The drawer pauses, and resumes."""
    desk = opened(visit("deals"), "demand_deals-1")
    assert desk.button(key="action_active").label == "Pause"
    desk.button(key="action_active").click().run()
    assert deals.get(DemandDeal, 1).is_active is False
    assert clean(desk.run()).button(key="action_active").label == "Resume"
    desk.button(key="action_active").click().run()
    assert deals.get(DemandDeal, 1).is_active is True


def test_bulk(visit: Visit, deals: Deals) -> None:
    """Several are paused with one click; only those that are not paused are counted."""
    deals.change(DemandDeal, 2, {"is_active": False})
    desk = visit("deals")
    shown = rows(deals.list(SupplyPackage).results, deals.list(DemandDeal).results)
    chosen = [place for place, row in enumerate(shown) if row.entity == "demand_deals" and row.id < 4]
    desk.session_state[selection.key("deals", (row.key for row in shown))] = {
        "selection": {"rows": chosen, "columns": [], "cells": []}
    }
    assert desk.run().button(key="deals_pause").label == "Pause 2"
    clean(desk.button(key="deals_pause").click().run())
    assert [deals.get(DemandDeal, number).is_active for number in (1, 2, 3, 4)] == [False, False, False, True]


def test_what_has_ended_is_not_paused(visit: Visit, deals: Deals) -> None:
    """A package that has ended can be paused neither in the list nor in its drawer: nothing would change."""
    deals.change(SupplyPackage, 2, {"end_date": LAST_MINUTE})
    shown = rows(deals.list(SupplyPackage).results, deals.list(DemandDeal).results)
    chosen = [place for place, row in enumerate(shown) if row.status == "complete"]
    assert chosen
    desk = visit("deals")
    desk.session_state[selection.key("deals", (row.key for row in shown))] = {
        "selection": {"rows": chosen, "columns": [], "cells": []}
    }
    assert desk.run().button(key="deals_pause").disabled
    assert opened(desk, "supply_deals-2").button(key="action_active").disabled


def test_bulk_goes_on_after_a_failure(visit: Visit, deals: Deals) -> None:
    """When one of several is gone meanwhile the others are paused all the same, and it is named."""
    desk = visit("deals")
    shown = rows(deals.list(SupplyPackage).results, deals.list(DemandDeal).results)
    chosen = [place for place, row in enumerate(shown) if row.entity == "demand_deals" and row.id < 3]
    key = selection.key("deals", (row.key for row in shown))
    desk.session_state[key] = {"selection": {"rows": chosen, "columns": [], "cells": []}}
    desk.run()
    deals.remove(DemandDeal, 1)
    clean(desk.button(key="deals_pause").click().run())
    said = desk.toast[0].value.replace("\\", "")
    assert said.startswith("1 paused. Morning News - Alpha Buying: There is no demand deal 1")
    assert deals.get(DemandDeal, 2).is_active is False


def test_edits_stay_until_saved(visit: Visit) -> None:
    """What was typed stays while other sections are looked at, and when the drawer is closed and opened."""
    desk = section(opened(visit("deals"), "demand_deals-1"), "Change")
    desk.text_input(key="change-demand_deals-1-name").set_value("Half done").run()
    section(desk, "History")
    section(desk, "Change")
    assert desk.text_input(key="change-demand_deals-1-name").value == "Half done"
    del desk.query_params["open"]
    clean(desk.run())
    opened(desk, "demand_deals-1")
    assert "Change •" in desk.button_group(key="drawer_shown").options
    assert desk.text_input(key="change-demand_deals-1-name").value == "Half done"


def test_only_what_was_edited_is_saved(visit: Visit, deals: Deals) -> None:
    """An edit changes its field alone, and is in the history with who."""
    desk = section(opened(visit("deals"), "demand_deals-1"), "Change")
    save = "change-demand_deals-1-_save"
    assert desk.button(key=save).disabled
    desk.number_input(key="change-demand_deals-1-price").set_value(4.25).run()
    clean(desk.button(key=save).click().run())
    assert deals.get(DemandDeal, 1).price == Decimal("4.25")
    change = deals.history(DemandDeal, 1)[0]
    assert (change.who, change.before, change.after) == (
        "manager",
        {"price": Decimal("2.5")},
        {"price": Decimal("4.25")},
    )


def test_an_error_keeps_what_was_typed(visit: Visit, deals: Deals) -> None:
    """What the service refuses is said at the field, and stays typed."""
    desk = section(opened(visit("deals"), "demand_deals-3"), "Change")
    desk.toggle(key="change-demand_deals-3-deal_sync").set_value(True).run()
    clean(desk.button(key="change-demand_deals-3-_save").click().run())
    said = " ".join(faults(desk))
    assert said.count("does not support deal sync") == 1
    assert "Not saved yet" in said
    assert "needs a contact" in said
    assert desk.toggle(key="change-demand_deals-3-deal_sync").value is True
    assert deals.get(DemandDeal, 3).deal_sync is False


def test_edits_that_meet(visit: Visit, deals: Deals) -> None:
    """The second editor is told what changed meanwhile, loses nothing that they typed, and decides."""
    desk = section(opened(visit("deals"), "supply_deals-1"), "Change")
    name, save = "change-supply_deals-1-name", "change-supply_deals-1-_save"
    desk.text_input(key=name).set_value("Mine").run()
    deals.change(SupplyPackage, 1, {"name": "Theirs", "is_dynamic_bidding": True})
    clean(desk.button(key=save).click().run())
    told = desk.warning[0].value
    assert "**Name** went from Morning News to Theirs (manager, " in told
    assert "; you typed **Mine**" in told
    assert "**Dynamic bidding** went from no to yes (manager, " in told
    assert "; the form shows that now" in told
    assert deals.get(SupplyPackage, 1).name == "Theirs"
    assert desk.text_input(key=name).value == "Mine"
    assert desk.toggle(key="change-supply_deals-1-is_dynamic_bidding").value is True
    assert desk.button(key=save).label == "Save over it"
    clean(desk.button(key=save).click().run())
    saved = deals.get(SupplyPackage, 1)
    assert (saved.name, saved.is_dynamic_bidding) == ("Mine", True)


def test_taking_what_is_there(visit: Visit, deals: Deals) -> None:
    """After a meeting the second editor may also take what is there."""
    desk = section(opened(visit("deals"), "demand_deals-1"), "Change")
    desk.number_input(key="change-demand_deals-1-price").set_value(9.0).run()
    deals.change(DemandDeal, 1, {"price": Decimal("8")})
    desk.button(key="change-demand_deals-1-_save").click().run()
    clean(desk.button(key="change-demand_deals-1-_discard").click().run())
    assert desk.number_input(key="change-demand_deals-1-price").value == 8.0
    assert not desk.warning


def test_dependants_are_named(visit: Visit, deals: Deals) -> None:
    """A package with deals can't be deleted; which deals keep it is said first."""
    desk = opened(visit("deals"), "supply_deals-1")
    said = " ".join(text.value for text in desk.markdown)
    assert "3 deals depend" in said
    assert "Beta Media \\(2\\)" in said
    assert "action_delete_sure" not in [button.key for button in desk.button]


def test_deleting(visit: Visit, deals: Deals) -> None:
    """A deal is deleted, then its package; each is gone from the list."""
    desk = opened(visit("deals"), "demand_deals-4")
    clean(desk.button(key="action_delete_sure").click().run())
    desk = opened(visit("deals"), "supply_deals-2")
    clean(desk.button(key="action_delete_sure").click().run())
    assert [package.id for package in deals.list(SupplyPackage).results] == [1]
    assert visit("deals").dataframe[0].value["Name"][0] == "Morning News"


def test_a_dependant_that_came_meanwhile(visit: Visit, deals: Deals) -> None:
    """A package that got a deal while it was looked at is not deleted; the service says why."""
    deals.remove(DemandDeal, 4)
    desk = opened(visit("deals"), "supply_deals-2")
    deals.change(DemandDeal, 1, {"supply_deals": [{"id": 1}, {"id": 2}]})
    desk.button(key="action_delete_sure").click().run()
    assert "Morning News - Alpha Buying" in desk.error[0].value.replace("\\", "")
    assert deals.get(SupplyPackage, 2).id == 2


def form(visit: Visit, terms: dict[int, Terms]) -> AppTest:
    """The form of a package for these seats."""
    desk = visit("new_package", slicer=SOLD)
    desk.multiselect(key="np_seats").set_value(list(terms))
    desk.session_state["np_terms"] = terms
    return clean(desk.run())


def create(desk: AppTest) -> AppTest:
    """A click on the button that creates."""
    return clean(desk.button(key="np_create_button").click().run())


def test_errors_stand_beside_their_fields(visit: Visit, deals: Deals) -> None:
    """An error creates nothing and loses nothing; each field's is beside it, and goes once it is mended."""
    desk = create(form(visit, {1: Terms(Decimal("2")), 3: Terms()}))
    said = faults(desk)
    assert any("may not be empty" in text or "required" in text for text in said)
    assert desk.multiselect(key="np_seats").value == [1, 3]
    assert deals.list(SupplyPackage).count == 2
    desk.text_input(key="np_name").set_value("Autumn")
    desk.session_state["np_terms"] = {1: Terms(Decimal("2")), 3: Terms(Decimal("4"))}
    clean(desk.run())
    assert not faults(desk)
    create(desk)
    assert "Autumn is created as package 3, with 2 demand deals" in desk.success[0].value
    assert [deal.price for deal in deals.list(DemandDeal, supply_deals=3).results] == [
        Decimal("2"),
        Decimal("4"),
    ]


def test_a_repeated_request_creates_one(visit: Visit, deals: Deals) -> None:
    """When the answer to the first request is lost, the second one gives the package that it created."""
    desk = form(visit, {1: Terms(Decimal("2"))})
    desk.text_input(key="np_name").set_value("Once").run()
    create(desk)
    assert deals.list(SupplyPackage).count == 3
    del desk.session_state["np_created"]
    assert clean(desk.run()).text_input(key="np_name").value == "Once"
    create(desk)
    assert "package 3" in desk.success[0].value
    assert deals.list(SupplyPackage).count == 3


def test_what_was_entered_survives_other_screens(visit: Visit) -> None:
    """Going to another screen and back loses nothing of the form."""
    desk = form(visit, {2: Terms(Decimal("2"))})
    desk.text_input(key="np_name").set_value("Kept").run()
    desk.switch_page("../pages/deals.py").run()
    desk.switch_page("../pages/new_package.py").run()
    assert desk.text_input(key="np_name").value == "Kept"
    assert desk.multiselect(key="np_seats").value == [2]


def test_clone(visit: Visit) -> None:
    """A clone of a package is its form, filled: name, targeting, seats with their prices."""
    desk = opened(visit("deals"), "supply_deals-1")
    desk.button(key="action_clone").click().run()
    desk.switch_page("../pages/new_package.py").run()
    assert clean(desk).text_input(key="np_name").value == "Morning News (copy)"
    said = " ".join(text.value for text in desk.markdown).replace("\\", "")
    assert "not smartphone" in said
    assert "**Gamma Trading** (Plain DSP) at 3.25" in said


def test_clone_of_a_deal(visit: Visit, deals: Deals) -> None:
    """A deal is cloned for another seat, with the same packages and its own price."""
    desk = opened(visit("deals"), "demand_deals-4")
    desk.session_state["action_clone"] = True
    desk.run().selectbox(key="clone_seat").set_value(3)
    desk.number_input(key="clone_price").set_value(6.5).run()
    desk.button(key="clone_create").click().run()
    made = deals.get(DemandDeal, 5)
    assert (made.name, made.price) == ("Evening Sports - Gamma Trading", Decimal("6.5"))
    assert [package.id for package in made.supply_deals] == [2]
