"""The screens Deals and New package, without a browser: who may what, edits that meet, one package a form."""

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from boards import components
from conftest import LAST_DAY
from dealing import SOLD, Visit, clean, listed, sold_rows
from peopled import people_in
from streamlit.testing.v1 import AppTest

from lib.deals.bulk_actions import BulkActions
from lib.deals.client import Deals
from lib.deals.models import DemandDeal, Dsp, GeoTarget, Seat, SupplyPackage
from lib.figures.deals import field_text
from lib.people import Grant
from lib.ui.deals.changes import pause_dialog
from lib.ui.deals.changes.plan import ChangeSource
from lib.ui.deals.deal_rows import DealRow
from lib.ui.deals.drawer import clone
from lib.ui.deals.drawer.change import DrawerChange

LAST_MINUTE = dt.datetime.now(dt.UTC) - dt.timedelta(minutes=1)


def opened(desk: AppTest, key: str) -> AppTest:
    """The same screen with the drawer of this one open."""
    desk.query_params["open"] = key
    return clean(desk.run())


def section(desk: AppTest, name: str) -> AppTest:
    """The drawer at one of its sections."""
    return clean(desk.button_group(key="drawer_shown").set_value(name).run())


def faults(desk: AppTest) -> list[str]:
    """What is said to be wrong, beside the fields."""
    return [said.value.replace("\\", "") for said in desk.markdown if said.value.startswith(":red")]


def act(desk: AppTest, *acts: list[object]) -> AppTest:
    """The screen after these clicks on the list, as the browser sends them."""
    desk.session_state["deals_list"] = {
        "acts": {"by": "browser", "list": [[n, *row] for n, row in enumerate(acts, 1)]}
    }
    return clean(desk.run())


def chosen(desk: AppTest, *keys: str) -> AppTest:
    """The screen with these rows chosen."""
    return act(desk, ["tick", list(keys), True])


def labels(desk: AppTest) -> list[str]:
    """All buttons."""
    return [button.label for button in desk.button]


def test_viewers_only_look(visit: Visit) -> None:
    """A viewer sees list and drawer, and nothing with which to change them; New package is not there."""
    desk = visit("deals", "viewer", deals_kind="Packages")
    assert listed(desk) == ["Evening Sports", "Morning News"]
    assert labels(desk) == ["Filters", "Overlap", "Dead targets"]
    assert opened(desk, "supply_deals-1").button_group(key="drawer_shown").options == [
        "Facts",
        "Targeting",
        "Delivery",
        "History",
    ]
    assert labels(desk) == ["Filters", "Overlap", "Dead targets"]
    with pytest.raises(ValueError, match="new_package"):
        desk.switch_page("../pages/new_package.py")


def test_the_api_decides(visit: Visit, own_deals_home: Path) -> None:
    """Somebody who becomes a viewer while the drawer is open is told so by the API; nothing is changed."""
    desk = opened(visit("deals"), "demand_deals-1")
    people_in(own_deals_home).change("manager", "viewer")
    desk.button(key="action_active").click().run()
    assert "can see deals, but not change them" in desk.error[0].value


def test_narrowed_by_the_url(visit: Visit) -> None:
    """Search and filters stand in the URL, so that a link shows the same list."""
    desk = visit("deals", find="sports", deals_kind="Deals")
    assert listed(desk) == ["Evening Sports - Alpha Buying"]
    desk.text_input(key="find").set_value("nothing like it").run()
    assert "No deals match" in desk.info[0].value
    desk = visit("deals", find="beta", deals_status="Paused", deals_kind="Packages")
    assert "No packages match" in desk.info[0].value


def test_facts(visit: Visit) -> None:
    """The drawer tells what a package is in words, with the report's descriptions, and lists its deals."""
    desk = opened(visit("deals"), "supply_deals-1")
    told = desk.table[0].value["value"].to_dict()
    assert told["Targeting"].replace("\\", "") == "United States, Germany · not smartphone"
    assert told["Runs"].replace("\\", "") == "1 Jan 2026, 09:30 UTC+1 – no end"
    assert listed(desk, -1) == [
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
    assert desk.get("plotly_chart")
    [link] = [link.proto for link in desk.get("page_link") if link.proto.label == "Open in Audience"]
    assert dict(parse_qsl(link.query_string)) | {"slicer": SOLD, "is.deal": "2"} == dict(
        parse_qsl(link.query_string)
    )


def test_delivered_of_the_goal(visit: Visit, deals: Deals) -> None:
    """A guaranteed deal has what it delivered since its start beside what is expected, with a chart."""
    start = dt.datetime.combine(LAST_DAY - dt.timedelta(days=9), dt.time(), dt.UTC)
    package = deals.get(DemandDeal, 2).supply_deals[0]
    dates = {"start_date": start, "end_date": start + dt.timedelta(days=20)}
    deals.change(SupplyPackage, package.id or 0, dates)
    deals.change(DemandDeal, 2, {"deal_type": "guaranteed", "units": 10_000_000})
    desk = section(opened(visit("deals"), "demand_deals-2"), "Delivery")
    frame = sold_rows().to_pandas()
    mine = frame[(frame["deal"] == "2") & (frame["time"].dt.date >= start.date())]
    figures = {metric.label: metric for metric in desk.metric}
    assert figures["To date"].value == f"{mine['imps'].sum():,.0f}"
    expected = figures["Expected to date"]
    assert (expected.value, expected.delta) == ("5.00M", "50 % of the goal")
    assert any("Each of the 10 days left needs" in text.value for text in desk.markdown)
    assert len(desk.get("plotly_chart")) > 1


def test_no_delivery_to_see(visit: Visit, own_deals_home: Path) -> None:
    """Who may see no slicer that tells deals apart is told that, and nothing of the figures."""
    people = people_in(own_deals_home)
    people.revoke("manager", [Grant("demo")])
    people.grant("manager", [Grant("demo", "delivery")])
    desk = section(opened(visit("deals"), "demand_deals-2"), "Delivery")
    assert "None of the slicers that you can see" in desk.info[0].value
    assert not desk.metric


def test_deleted_entities_are_reported(visit: Visit) -> None:
    """A link to a deal that never was says so, and shows the list."""
    desk = opened(visit("deals"), "demand_deals-99")
    assert "Deal 99 does not exist" in desk.warning[0].value
    assert len(listed(desk)) == 4


def test_who_deleted_it_and_when_is_said(visit: Visit, deals: Deals) -> None:
    """What somebody deletes while it is open, or before a link to it is followed, is said to be deleted."""
    deal = deals.create(
        DemandDeal, DemandDeal.model_construct(name="Brief", seat=Seat(id=1), price=Decimal(1))
    )
    desk = opened(visit("deals"), f"demand_deals-{deal.id}")
    deals.remove(DemandDeal, deal.id or 0)
    (removed, *_) = deals.history(DemandDeal, deal.id or 0)
    said = f"Deal {deal.id} was deleted by manager on {field_text.moment(removed.at)}"
    assert said in clean(desk.run()).warning[0].value.replace("\\", "")
    other = opened(visit("deals", "viewer"), f"demand_deals-{deal.id}")
    assert said in other.warning[0].value.replace("\\", "")


def test_edits_of_a_deleted_package_become_a_draft(visit: Visit, deals: Deals) -> None:
    """Whoever saves a package that somebody deleted meanwhile finds what they typed as the draft of a new
    package, also in another session; a draft that is there already is replaced only on purpose."""
    for number, first in enumerate(("", "Mine")):
        package = SupplyPackage.model_validate(
            {"name": f"Brief {number}", "media_type": "video", "start_date": "2031-01-01 00:00:00+0100"}
            | {"geo_targetings": [{"type": "country", "value": "US"}]}
        )
        package_id = deals.create(SupplyPackage, package).id or 0
        if first:
            fresh = visit("new_package", slicer=SOLD)
            clean(fresh.button(key="np_discard").click().run())
            clean(fresh.text_input(key="np_name").set_value(first).run())
        desk = section(opened(visit("deals", slicer=SOLD), f"supply_deals-{package_id}"), "Change")
        prefix = f"change-supply_deals-{package_id}-"
        desk.text_input(key=f"{prefix}name").set_value(f"Longer {number}")
        desk.text_input(key=f"{prefix}end_date").set_value("2031-05-06 10:30").run()
        deals.remove(SupplyPackage, package_id)
        clean(desk.button(key=f"{prefix}_save").click().run())
        assert f"Package {package_id} was deleted by manager" in desk.warning[0].value
        if first:
            assert visit("new_package", slicer=SOLD).text_input(key="np_name").value == first
            clean(desk.button(key="gone_replace").click().run())
        again = visit("new_package", slicer=SOLD)
        assert again.text_input(key="np_name").value == f"Longer {number}"
        assert again.text_input(key="np_start_date").value == "2031-01-01"
        assert again.text_input(key="np_end_date").value == "2031-05-06 10:30"
        assert again.selectbox(key="np_zone").value == 60
        assert again.session_state["np_media_type"] == "video"
        assert again.session_state["np_target_country_only"] == ["US"]


def test_edits_of_a_deleted_deal_are_listed(visit: Visit, deals: Deals) -> None:
    """What was typed about a deal that somebody deleted meanwhile is shown."""
    deal = deals.create(
        DemandDeal, DemandDeal.model_construct(name="Brief", seat=Seat(id=1), price=Decimal(1))
    )
    desk = section(opened(visit("deals", slicer=SOLD), f"demand_deals-{deal.id}"), "Change")
    prefix = f"change-demand_deals-{deal.id}-"
    desk.text_input(key=f"{prefix}price").set_value("7.25").run()
    deals.remove(DemandDeal, deal.id or 0)
    clean(desk.button(key=f"{prefix}_save").click().run())
    assert "Price, USD CPM: 7.25" in desk.markdown[-1].value.replace("\\", "")


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
    """Several are paused, or resumed, once the number is confirmed; those that are so already don't count."""
    deals.change(DemandDeal, 2, {"is_active": False})
    desk = chosen(visit("deals", deals_kind="Deals"), *(f"demand_deals-{number}" for number in (1, 2, 3)))
    assert desk.button(key="deals_pause").label == "Pause 2"
    clean(desk.button(key="deals_pause").click().run())
    assert deals.get(DemandDeal, 1).is_active is True, "nothing happens before it is confirmed"
    clean(desk.button(key="job_save").click().run())
    assert [deals.get(DemandDeal, number).is_active for number in (1, 2, 3, 4)] == [False, False, False, True]
    assert "2 deals paused" in desk.success[0].value
    desk = chosen(visit("deals", deals_kind="Deals"), "demand_deals-1", "demand_deals-3", "demand_deals-4")
    assert desk.button(key="deals_resume").label == "Resume 2"
    clean(desk.button(key="deals_resume").click().run())
    clean(desk.button(key="job_save").click().run())
    assert [deals.get(DemandDeal, number).is_active for number in (1, 2, 3, 4)] == [True, False, True, True]
    assert "2 deals resumed" in desk.success[0].value


def test_bulk_of_everything_found(visit: Visit, deals: Deals) -> None:
    """All that the list finds can be chosen at once, rows on other pages too; others are left alone."""
    desk = chosen(visit("deals", deals_kind="Deals", find="morning"), "demand_deals-1")
    clean(desk.button(key="deals_choose_all").click().run())
    [menu] = [menu for menu in desk.get("menu_button") if menu.key == "deals_active"]
    assert menu.options == ["Pause all 3", "Resume all 3"]
    clean(menu.click("Pause all 3").run())
    clean(desk.button(key="job_save").click().run())
    assert [deals.get(DemandDeal, number).is_active for number in (1, 2, 3, 4)] == [False, False, False, True]


def test_bulk_of_what_a_search_finds(visit: Visit, deals: Deals) -> None:
    """Where nothing is chosen, an action is for all that a search finds, and for none of the whole list."""
    assert visit("deals").button(key="deals_pause").disabled
    desk = visit("deals", find="morning")
    [menu] = [menu for menu in desk.get("menu_button") if menu.key == "deals_active"]
    clean(menu.click("Pause all 3").run())
    clean(desk.button(key="job_save").click().run())
    assert [deals.get(DemandDeal, number).is_active for number in (1, 2, 3, 4)] == [False, False, False, True]


def test_what_has_ended_is_not_paused(visit: Visit, deals: Deals) -> None:
    """A package that has ended can be paused neither in the list nor in its drawer: nothing would change."""
    deals.change(SupplyPackage, 2, {"end_date": LAST_MINUTE})
    desk = chosen(visit("deals", deals_kind="Packages"), "supply_deals-2")
    assert desk.button(key="deals_pause").disabled
    assert opened(desk, "supply_deals-2").button(key="action_active").disabled


def test_bulk_goes_on_after_a_failure(visit: Visit, deals: Deals) -> None:
    """When one of several is gone meanwhile the others are paused, and it is named with the reason."""
    desk = chosen(visit("deals", deals_kind="Deals"), "demand_deals-1", "demand_deals-2")
    deals.remove(DemandDeal, 1)
    clean(desk.button(key="deals_pause").click().run())
    clean(desk.button(key="job_save").click().run())
    assert "1 deal paused, 1 failed" in desk.warning[0].value
    failures = desk.table[-1].value.iloc[0].to_dict()
    assert failures == {
        "Name": "Morning News - Alpha Buying",
        "Result": "Failed",
        "Note": "It is not there any more, or you can't see it.",
    }
    assert deals.get(DemandDeal, 2).is_active is False


def test_a_stopped_bulk_sends_no_more(
    deals: Deals, actions: BulkActions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was sent is done and counted, what was not is left alone and counted too."""
    monkeypatch.setattr(ChangeSource, "batch_size", 1)
    rows = [DealRow("demand_deals", number, f"Deal {number}") for number in range(1, 5)]
    plan = pause_dialog.active_plan(actions, "demand_deals", False, rows)
    plan.start()
    plan.write(deals)
    plan.stop()
    assert (plan.progress, plan.failures, plan.is_running) == ((1, 4), [], False)
    assert [deals.get(DemandDeal, number).is_active for number in (1, 2)] == [False, True]


def test_a_header_orders_by_the_service(visit: Visit) -> None:
    """A click on a header orders the whole list, and the order is in the address."""
    desk = act(visit("deals", deals_kind="Deals"), ["order", "price", "desc"])
    assert listed(desk)[0] == "Evening Sports - Alpha Buying"
    assert desk.query_params["deals_order"] == "-price"
    assert listed(visit("deals", deals_kind="Deals", deals_order="price"))[0] == "Morning News - Alpha Buying"


def test_a_place_is_found_by_its_name(visit: Visit) -> None:
    """ "germany" finds what is targeted at DE: the name is that of the report's mapping."""
    assert listed(visit("deals", find="germany", deals_kind="Packages")) == ["Morning News"]
    assert listed(visit("deals", find="germany alpha", deals_kind="Deals")) == ["Morning News - Alpha Buying"]
    assert "No packages match" in visit("deals", find="atlantis", deals_kind="Packages").info[0].value


def test_what_the_other_kind_has_is_offered(visit: Visit) -> None:
    """A search that finds no package says how many deals it finds, a click away."""
    desk = visit("deals", find="evening", deals_status="Active", deals_kind="Deals")
    assert len(listed(desk)) == 1
    desk = visit("deals", find="morning", deals_seat="1", deals_status="Complete", deals_kind="Packages")
    assert not [button for button in desk.button if button.key == "deals_other"]


def undo_all(desk: AppTest) -> str:
    """Undo the only action by the list's dialog; what is said in the end."""
    for key in ("deals_undo_open", "undo_1", "undo_save"):
        desk = clean(desk.button(key=key).click().run())
    return desk.success[0].value


def test_deals_are_added_to_a_package_that_exists(visit: Visit, deals: Deals) -> None:
    """Seats with typed prices become deals of the package, all by one request; a wrong price stops them."""
    desk = section(opened(visit("deals"), "supply_deals-2"), "Add deals")
    clean(desk.multiselect(key="add-2-seats").set_value([2, 3]).run())
    desk.text_input(key="add-2-price_2").set_value("2.50").run()
    desk.text_input(key="add-2-price_3").set_value("2,50").run()
    clean(desk.button(key="add-2-add").click().run())
    assert "Write decimals with a point" in " ".join(faults(desk))
    assert deals.list(DemandDeal, supply_deals=2).count == 1
    desk.text_input(key="add-2-price_3").set_value("3").run()
    clean(desk.button(key="add-2-add").click().run())
    new_deals = deals.list(DemandDeal, supply_deals=2, ordering="id").results[1:]
    assert [(deal.name, deal.price) for deal in new_deals] == [
        ("Evening Sports - Beta Media", Decimal("2.5")),
        ("Evening Sports - Gamma Trading", Decimal(3)),
    ]
    assert {change.action for change in deals.history(SupplyPackage, 2)[:1]} == {"changed"}
    assert undo_all(visit("deals")) == "2 deals put back."
    assert deals.list(DemandDeal, supply_deals=2).count == 1


def test_a_seat_that_is_gone_is_named_in_its_row(visit: Visit, deals: Deals) -> None:
    """Where the service refuses one of several deals, none is created, and its row says why."""
    fourth = deals.create(Seat, Seat(name="Delta", external_id="d", dsp=Dsp(id=1)))
    number = fourth.id or 0
    desk = section(opened(visit("deals"), "supply_deals-2"), "Add deals")
    clean(desk.multiselect(key="add-2-seats").set_value([2, number]).run())
    desk.text_input(key="add-2-price_2").set_value("2.50").run()
    desk.text_input(key=f"add-2-price_{number}").set_value("3").run()
    deals.remove(Seat, number)
    clean(desk.button(key="add-2-add").click().run())
    assert any("seat" in fault.lower() for fault in faults(desk))
    assert deals.list(DemandDeal, supply_deals=2).count == 1


def test_the_second_click_of_a_double_click_finds_nothing_to_do() -> None:
    """Save and Create may be clicked again before the screen shows that they are done: nothing fails."""
    nobody: Any = None
    DrawerChange(nobody, ("demand_deals", 999)).save()
    clone.create(nobody, DemandDeal(id=999), {})


def test_what_was_saved_is_said(visit: Visit) -> None:
    """A line of the drawer says what was done."""
    desk = section(opened(visit("deals"), "demand_deals-1"), "Change")
    desk.text_input(key="change-demand_deals-1-name").set_value("Renamed").run()
    clean(desk.button(key="change-demand_deals-1-_save").click().run())
    assert ":green[Saved]" in [caption.value for caption in desk.caption]
    assert not desk.toast


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
    """An edit changes its field alone, and is in the history with who; without one nothing is sent."""
    desk = section(opened(visit("deals"), "demand_deals-1"), "Change")
    save, before = "change-demand_deals-1-_save", deals.history(DemandDeal, 1)
    clean(desk.button(key=save).click().run())
    assert "No field was changed" in " ".join(caption.value for caption in desk.caption)
    assert deals.history(DemandDeal, 1) == before
    desk.text_input(key="change-demand_deals-1-price").set_value("4.25").run()
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
    assert "needs a contact" in " ".join(faults(desk))
    desk.text_input(key="change-demand_deals-3-contact_email").set_value("a@b.example")
    clean(desk.button(key="change-demand_deals-3-_save").click().run())
    said = " ".join(faults(desk))
    assert said.count("does not support deal sync") == 1
    assert "Not saved yet" in said
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
    assert desk.button(key=save).label == "Overwrite their version"
    clean(desk.button(key=save).click().run())
    saved = deals.get(SupplyPackage, 1)
    assert (saved.name, saved.is_dynamic_bidding) == ("Mine", True)


def test_taking_what_is_there(visit: Visit, deals: Deals) -> None:
    """After a meeting the second editor may also take what is there."""
    desk = section(opened(visit("deals"), "demand_deals-1"), "Change")
    desk.text_input(key="change-demand_deals-1-price").set_value("7").run()
    deals.change(DemandDeal, 1, {"price": Decimal("8")})
    desk.button(key="change-demand_deals-1-_save").click().run()
    clean(desk.button(key="change-demand_deals-1-_discard").click().run())
    assert desk.text_input(key="change-demand_deals-1-price").value == "8.00"
    assert not desk.warning


def test_dependants_are_named(visit: Visit, deals: Deals) -> None:
    """A package with deals can't be deleted; which deals keep it is said first."""
    desk = opened(visit("deals"), "supply_deals-1")
    said = " ".join(text.value for text in desk.markdown)
    assert "3 deals depend" in said
    assert "Beta Media (2)" in said
    assert "action_delete_sure" not in [button.key for button in desk.button]


def test_deleting(visit: Visit, deals: Deals) -> None:
    """A deal is deleted, then its package; each is gone from the list."""
    desk = opened(visit("deals"), "demand_deals-4")
    clean(desk.button(key="action_delete_sure").click().run())
    desk = opened(visit("deals"), "supply_deals-2")
    clean(desk.button(key="action_delete_sure").click().run())
    assert [package.id for package in deals.list(SupplyPackage).results] == [1]
    assert listed(visit("deals", deals_kind="Packages")) == ["Morning News"]


def test_a_dependant_that_came_meanwhile(visit: Visit, deals: Deals) -> None:
    """A package that got a deal while it was looked at is not deleted; the service says why."""
    deals.remove(DemandDeal, 4)
    desk = opened(visit("deals"), "supply_deals-2")
    deals.change(DemandDeal, 1, {"supply_deals": [{"id": 1}, {"id": 2}]})
    desk.button(key="action_delete_sure").click().run()
    assert "Morning News - Alpha Buying" in desk.error[0].value.replace("\\", "")
    assert deals.get(SupplyPackage, 2).id == 2


def test_a_price_for_all_seats(visit: Visit) -> None:
    """A price for all fills every row, also one that is chosen later; what stood there can be put back."""
    desk = form(visit, {1: "", 2: "9"})

    def prices(*seats: int) -> list[str | None]:
        clean(desk.multiselect(key="np_seats").set_value([*seats]).run())
        return [desk.text_input(key=f"np_price_{seat}").value for seat in seats]

    clean(desk.text_input(key="np_price_all").set_value("2.5").run())
    assert prices(1, 2) == ["2.5", "2.5"]
    clean(desk.button(key="np_fill_empty").click().run())
    assert prices(1, 2) == ["2.5", "9"]
    assert desk.text_input(key="np_price_all").value == "", "it says what all rows have"
    clean(desk.text_input(key="np_price_all").set_value("3").run())
    clean(desk.button(key="np_fill_undo").click().run())
    assert prices(1, 2) == ["2.5", "9"]
    clean(desk.text_input(key="np_price_all").set_value("3").run())
    assert prices(1, 2, 3) == ["3", "3", "3"]


def form(visit: Visit, prices: dict[int, str]) -> AppTest:
    """The form of a package for these seats at these prices."""
    desk = visit("new_package", slicer=SOLD)
    desk.multiselect(key="np_seats").set_value(list(prices)).run()
    for seat, price in prices.items():
        desk.text_input(key=f"np_price_{seat}").set_value(price)
    return clean(desk.run())


def create(desk: AppTest) -> AppTest:
    """A click on the button that creates."""
    return clean(desk.button(key="np_create_button").click().run())


def test_errors_stand_beside_their_fields(visit: Visit, deals: Deals) -> None:
    """An error creates nothing and loses nothing; each field's is beside it, and goes once it is fixed."""
    desk = create(form(visit, {1: "2", 3: ""}))
    said = " ".join(faults(desk))
    assert "Type a name." in said
    assert "Price: Type a price." in said
    assert "Not created. To fix: Name, Price of Gamma Trading." in said
    assert desk.multiselect(key="np_seats").value == [1, 3]
    assert deals.list(SupplyPackage).count == 2
    desk.text_input(key="np_name").set_value("Autumn")
    clean(desk.text_input(key="np_price_3").set_value("4").run())
    assert not faults(desk)
    create(desk)
    assert "Autumn is created as package 3, with 2 demand deals" in desk.success[0].value
    assert [deal.price for deal in deals.list(DemandDeal, supply_deals=3).results] == [
        Decimal("2"),
        Decimal("4"),
    ]


def test_a_repeated_request_creates_one(visit: Visit, deals: Deals) -> None:
    """When the answer to the first request is lost, the second one gives the package that it created."""
    desk = form(visit, {1: "2"})
    desk.text_input(key="np_name").set_value("Once").run()
    create(desk)
    assert deals.list(SupplyPackage).count == 3
    del desk.session_state["np_created"]
    assert clean(desk.run()).text_input(key="np_name").value == "Once"
    create(desk)
    assert "package 3" in desk.success[0].value
    assert deals.list(SupplyPackage).count == 3


@pytest.mark.flaky(
    reruns=2
)  # twice in some fifty runs beside others its sentence was not there yet; cause not found
def test_what_a_form_created_is_undone_from_its_result(visit: Visit, deals: Deals) -> None:
    """Undo beside what was created leads to Deals, and deletes the package with its deals there."""
    desk = form(visit, {1: "2"})
    desk.text_input(key="np_name").set_value("Taken back").run()
    create(desk)
    desk = clean(desk.button(key="undo_last").click().run())
    assert desk.success[0].value == "1 deal and 1 package put back."
    assert deals.list(SupplyPackage).count == 2


def test_what_was_entered_survives_other_screens(visit: Visit) -> None:
    """Going to another screen and back loses nothing of the form."""
    desk = form(visit, {2: "2"})
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
    desk.run().selectbox(key="clone-4-seat").set_value(3)
    desk.text_input(key="clone-4-price").set_value("6.5").run()
    desk.button(key="clone_create").click().run()
    copy = deals.get(DemandDeal, 5)
    assert (copy.name, copy.price) == ("Evening Sports - Gamma Trading", Decimal("6.5"))
    assert [package.id for package in copy.supply_deals] == [2]
    assert undo_all(visit("deals")) == "1 deal put back."
    assert not deals.list(DemandDeal, id=5).count


def test_the_price_of_a_clone_is_that_of_its_own_deal(visit: Visit) -> None:
    """What was typed for the clone of one deal is not in the form of another's."""
    desk = visit("deals")
    for deal, price in ((4, "7.00"), (1, "2.50")):
        desk.session_state["action_clone"] = True
        opened(desk, f"demand_deals-{deal}")
        field = desk.text_input(key=f"clone-{deal}-price")
        assert field.value == price
        clean(field.set_value("9").run())


def test_a_wrong_price_keeps_a_change_from_being_saved(visit: Visit, deals: Deals) -> None:
    """While the price is wrong nothing of the deal is saved; the field says why, and shows what was typed."""
    desk = section(opened(visit("deals"), "demand_deals-1"), "Change")
    desk.text_input(key="change-demand_deals-1-name").set_value("Renamed")
    for price in ("-3", "1e308", "12,50", "2.5.1", ""):
        desk.text_input(key="change-demand_deals-1-price").set_value(price).run()
        clean(desk.button(key="change-demand_deals-1-_save").click().run())
        assert "Not saved. To fix: Price." in " ".join(faults(desk))
        assert desk.text_input(key="change-demand_deals-1-price").value == price
        kept = deals.get(DemandDeal, 1)
        assert (kept.name, kept.price) == ("Morning News - Alpha Buying", Decimal("2.5"))
    desk.text_input(key="change-demand_deals-1-price").set_value("4.345678").run()
    clean(desk.button(key="change-demand_deals-1-_save").click().run())
    kept = deals.get(DemandDeal, 1)
    assert (kept.name, kept.price) == ("Renamed", Decimal("4.345678"))


def test_a_wrong_date_keeps_a_change_from_being_saved(visit: Visit, deals: Deals) -> None:
    """Half an end date is not taken for no end: nothing of the package is saved."""
    desk = section(opened(visit("deals"), "supply_deals-2"), "Change")
    desk.text_input(key="change-supply_deals-2-name").set_value("Renamed")
    desk.text_input(key="change-supply_deals-2-end_date").set_value("2041-05").run()
    clean(desk.button(key="change-supply_deals-2-_save").click().run())
    assert "Not saved. To fix: End." in " ".join(faults(desk))
    before = deals.get(SupplyPackage, 2)
    assert before.name == "Evening Sports"
    desk.text_input(key="change-supply_deals-2-end_date").set_value("2031-05-06 10:00").run()
    clean(desk.button(key="change-supply_deals-2-_save").click().run())
    saved = deals.get(SupplyPackage, 2)
    assert saved.end_date == dt.datetime(2031, 5, 6, 9, tzinfo=dt.UTC)
    assert (saved.name, saved.start_date) == ("Renamed", before.start_date)


def test_a_wrong_fee_keeps_a_package_from_being_created(visit: Visit, deals: Deals) -> None:
    """A fee of 5 and then of -4 creates nothing; once it is right it is stored as typed."""
    desk = form(visit, {1: "2.5"})
    desk.text_input(key="np_name").set_value("With a fee")
    desk.selectbox(key="np_agency_curation_fee_type").set_value(1).run()
    desk.text_input(key="np_agency_curation_fee").set_value("5").run()
    desk.text_input(key="np_agency_curation_fee").set_value("-4").run()
    create(desk)
    assert "Not created. To fix: Fee." in " ".join(faults(desk))
    assert deals.list(SupplyPackage).count == 2
    desk.text_input(key="np_agency_curation_fee").set_value("12.50").run()
    create(desk)
    [deal] = deals.list(DemandDeal, supply_deals=3).results
    assert (deal.price, deal.agency_curation_fee) == (Decimal("2.5"), Decimal("12.5"))


def test_unusual_prices_are_confirmed(visit: Visit, deals: Deals) -> None:
    """A price of 0, and one of billions, are created only once somebody says that they are meant."""
    desk = form(visit, {1: "0", 2: "99999999999"})
    desk.text_input(key="np_name").set_value("Unusual").run()
    create(desk)
    assert "Not created: confirm this first." in " ".join(faults(desk))
    assert deals.list(SupplyPackage).count == 2
    [meant] = [box for box in desk.checkbox if (box.key or "").startswith("np_meant_")]
    [listed_points] = [warning.value for warning in desk.warning if "a price of 0" in warning.value]
    assert "Alpha Buying: a price of 0" in listed_points.replace("\\", "")
    meant.check().run()
    create(desk)
    assert [deal.price for deal in deals.list(DemandDeal, supply_deals=3).results] == [0, 99_999_999_999]
    desk = section(opened(visit("deals"), "demand_deals-1"), "Change")
    desk.text_input(key="change-demand_deals-1-price").set_value("0").run()
    clean(desk.button(key="change-demand_deals-1-_save").click().run())
    assert deals.get(DemandDeal, 1).price == Decimal("2.5")


def test_a_price_far_from_the_one_before_is_asked(visit: Visit, deals: Deals) -> None:
    """Beyond three times the price before (3.25) a price is changed only once somebody says that it is meant;
    the question names both."""
    desk = section(opened(visit("deals"), "demand_deals-3"), "Change")
    desk.text_input(key="change-demand_deals-3-price").set_value("32.5").run()
    clean(desk.button(key="change-demand_deals-3-_save").click().run())
    assert deals.get(DemandDeal, 3).price == Decimal("3.25")
    assert "Not saved: confirm this first." in " ".join(faults(desk))
    [meant] = [box for box in desk.checkbox if "meant_" in (box.key or "")]
    assert "a price of 32.50, 10 times the price before (3.25)" in meant.label.replace("\\", "")
    meant.check().run()
    clean(desk.button(key="change-demand_deals-3-_save").click().run())
    assert deals.get(DemandDeal, 3).price == Decimal("32.5")


def test_dates_that_are_over_are_asked(visit: Visit, deals: Deals) -> None:
    """A package that would never deliver is created, or changed so, only once that is confirmed."""
    desk = form(visit, {1: "2"})
    desk.text_input(key="np_name").set_value("Late")
    desk.text_input(key="np_start_date").set_value("2024-01-01")
    create(desk.text_input(key="np_end_date").set_value("2024-02-01").run())
    assert deals.list(SupplyPackage).count == 2
    assert "Not created: confirm this first." in " ".join(faults(desk))
    [meant] = [box for box in desk.checkbox if (box.key or "").startswith("np_meant_")]
    assert "it ends on 1 Feb 2024 and never delivers" in meant.label.replace("\\", "")
    create(meant.check().run())
    assert deals.list(SupplyPackage).count == 3
    desk = section(opened(visit("deals", slicer=SOLD), "supply_deals-2"), "Change")
    desk.text_input(key="change-supply_deals-2-end_date").set_value("2026-02-01").run()
    clean(desk.text_input(key="change-supply_deals-2-name").set_value("MORNING News").run())
    assert any("taken by package 1" in text.value for text in desk.caption)
    clean(desk.button(key="change-supply_deals-2-_save").click().run())
    assert deals.get(SupplyPackage, 2).name == "Evening Sports"
    [meant] = [box for box in desk.checkbox if "meant_" in (box.key or "")]
    meant.check().run()
    clean(desk.button(key="change-supply_deals-2-_save").click().run())
    assert deals.get(SupplyPackage, 2).name == "MORNING News"


def test_a_name_that_is_taken_is_said(visit: Visit, deals: Deals) -> None:
    """The form says which package has the same name, and still creates another one."""
    desk = form(visit, {1: "2"})
    desk.text_input(key="np_name").set_value("morning news ").run()
    assert any("taken by package 1" in text.value for text in desk.caption)
    create(desk)
    assert deals.list(SupplyPackage).count == 3


def test_a_name_that_misleads_is_refused_by_the_form(visit: Visit, deals: Deals) -> None:
    """A name without a visible character, or that reverses the reading, creates nothing."""
    desk = form(visit, {1: "2"})
    for name in ("\u200b\u200d", "abc\u202edef", "Zero\u200bWidth"):
        create(desk.text_input(key="np_name").set_value(name).run())
        assert "Not created. To fix: Name." in " ".join(faults(desk))
    assert deals.list(SupplyPackage).count == 2


def test_a_draft_is_kept_until_it_is_discarded(visit: Visit) -> None:
    """A new session of the same person has the form as it was left; Start over discards it for good."""
    desk = form(visit, {2: "12,50"})
    desk.text_input(key="np_name").set_value("Half done")
    desk.text_input(key="np_end_date").set_value("2041-05-06").run()
    again = visit("new_package", slicer=SOLD)
    assert again.text_input(key="np_name").value == "Half done"
    assert again.text_input(key="np_price_2").value == "12,50"
    assert again.text_input(key="np_end_date").value == "2041-05-06"
    assert visit("new_package", "admin", slicer=SOLD).text_input(key="np_name").value == ""
    clean(again.button(key="np_discard").click().run())
    assert again.text_input(key="np_name").value == ""
    assert visit("new_package", slicer=SOLD).text_input(key="np_name").value == ""


def test_a_draft_has_values_that_are_not_added_yet(visit: Visit, deals: Deals) -> None:
    """A value typed and neither added nor left out is asked about in another session too; until then nothing
    is created, as the package would be sold more broadly than meant."""
    desk = form(visit, {1: "2"})
    desk.text_input(key="np_name").set_value("Narrow")
    desk.session_state["np_target_country_only"] = ["US", "Narnia"]
    desk.session_state["np_target_country_only_waiting"] = ["Narnia"]
    clean(desk.run())
    asked = "Country: add or leave out 'Narnia'."
    for session in (desk, again := visit("new_package", slicer=SOLD)):
        assert f"Still needed: {asked}" in [caption.value.replace("\\", "") for caption in session.caption]
    create(again)
    assert f"Not created. To fix: {asked}" in " ".join(faults(again))
    assert deals.list(SupplyPackage).count == 2


def test_a_draft_creates_one_package_in_two_sessions(visit: Visit, deals: Deals) -> None:
    """Whoever comes back to a draft whose answer was lost gets its package, and the draft is gone."""
    desk = form(visit, {1: "2"})
    desk.text_input(key="np_name").set_value("Once").run()
    again = visit("new_package", slicer=SOLD)
    create(desk)
    assert "package 3" in create(again).success[0].value
    assert deals.list(SupplyPackage).count == 3
    assert visit("new_package", slicer=SOLD).text_input(key="np_name").value == ""


def test_a_clone_keeps_the_terms_of_each_deal(visit: Visit, deals: Deals) -> None:
    """Deals at 12.5 %, at a CPM of 0.50 and a paused one are cloned with their own terms and contacts."""
    percent = {"agency_curation_fee_type": 1, "agency_curation_fee": Decimal("12.5")}
    deals.change(DemandDeal, 1, percent | {"contact_email": "a@b.example", "deal_sync": True})
    deals.change(
        DemandDeal,
        2,
        {
            "agency_curation_fee_type": 3,
            "agency_curation_fee": Decimal("0.5"),
            "contact_email": "c@d.example",
        },
    )
    deals.change(DemandDeal, 3, percent | {"is_active": False, "contact_email": "a@b.example"})
    desk = opened(visit("deals"), "supply_deals-1")
    desk.button(key="action_clone").click().run()
    clean(desk.switch_page("../pages/new_package.py").run())
    create(desk)
    assert "with 3 demand deals" in desk.success[0].value
    originals = [deals.get(DemandDeal, number) for number in (1, 2, 3)]
    copies = {deal.seat.id: deal for deal in deals.list(DemandDeal, supply_deals=3).results if deal.seat}
    terms = (
        "price",
        "deal_sync",
        "is_active",
        "agency_curation_fee",
        "agency_curation_fee_type",
        "contact_email",
    )
    for original in originals:
        copy = copies[original.seat.id if original.seat else 0]
        assert [getattr(copy, name) for name in terms] == [getattr(original, name) for name in terms]
        assert (copy.name or "").startswith("Morning News (copy) - ")


def test_unknown_values_are_marked_in_list_and_drawer(visit: Visit, deals: Deals) -> None:
    """A targeted value that the report does not have is marked wherever the targeting is read."""
    places = [{"type": "country", "value": value} for value in ("US", "Atlantis")]
    package = deals.create(SupplyPackage, SupplyPackage(
        name="Lost", media_type="banner", start_date=dt.datetime(2026, 12, 1, tzinfo=dt.UTC),
        geo_targetings=[GeoTarget.model_validate(place) for place in places],
    ))  # fmt: skip
    desk = visit("deals", slicer=SOLD, deals_kind="Packages")
    told = json.dumps(components(desk), ensure_ascii=False)
    assert "Atlantis (unknown), US" in told
    assert "US (unknown)" not in told
    desk = opened(desk, f"supply_deals-{package.id}")
    facts = desk.table[0].value["value"].to_dict()["Targeting"].replace("\\", "")
    assert facts == "Atlantis (unknown), United States"
