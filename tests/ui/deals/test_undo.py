"""Undo of what was done to several: exactly the rows that were touched, from the database, by who may."""

import datetime as dt
from collections.abc import Collection, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from dealing import Visit, clean, table_rows
from sqlalchemy import select, update
from streamlit.testing.v1 import AppTest

from lib import database
from lib.deals import bulk_actions
from lib.deals.bulk_actions import ActionRecord, ActionRow, BulkActions
from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage
from lib.people import ALL_DEALS, DealsGrant, Person
from lib.ui.deals.changes import pause_dialog
from lib.ui.deals.changes.edit_dialog import edit_plan
from lib.ui.deals.changes.plan import ChangePlan, ChangeSource
from lib.ui.deals.changes.shared_change import SharedChange
from lib.ui.deals.changes.undo import undo_plan
from lib.ui.deals.deal_rows import DealRow
from lib.wire.errors import BadRequest, Forbidden, ResponseTimeout, StoreUnavailable

ADA = Person("ada", "Ada", None, "manager", deals=ALL_DEALS)
ROW = ActionRow(("demand_deals", 1), "One", {"is_active": True}, {"is_active": False})


def deal_rows(*numbers: int) -> list[DealRow]:
    """Rows of deals, as the list on screen has them."""
    return [DealRow("demand_deals", number, f"Deal {number}", is_active=True) for number in numbers]


def set_active(deals: Deals, actions: BulkActions, is_active: bool, *numbers: int) -> ChangePlan[Any]:
    """Pause or resume these deals by the list's action; returns it when it is done."""
    plan = pause_dialog.active_plan(actions, "demand_deals", is_active, deal_rows(*numbers))
    finish(plan, deals)
    return plan


def read(plan: ChangePlan[Any], deals: Deals) -> ChangePlan[Any]:
    """A plan at its preview."""
    while plan.phase == "reading":
        plan.read(deals)
    return plan


def edit(deals: Deals, actions: BulkActions, wanted: SharedChange, *rows: DealRow) -> ChangePlan[Any]:
    """An edit of several, at its preview."""
    plan = edit_plan(actions, rows[0].entity, rows)
    plan.source.ask_for(wanted, rows)
    plan.begin()
    return read(plan, deals)


def ready(deals: Deals, actions: BulkActions) -> ChangePlan[Any]:
    """The undo of the latest action, at its preview."""
    return read(undo_plan(actions, actions.recent()[0]), deals)


def finish(plan: ChangePlan[Any], deals: Deals) -> None:
    """The rest of a plan after its preview."""
    plan.start()
    while plan.phase == "writing":
        plan.write(deals)


def active(deals: Deals) -> dict[int | None, bool | None]:
    """Whether each deal is active."""
    return {deal.id: deal.is_active for deal in deals.everything(DemandDeal)}


def test_exactly_the_rows_that_were_touched(deals: Deals, actions: BulkActions) -> None:
    """A deal that was paused before "Pause all" stays paused when that is undone."""
    deals.change(DemandDeal, 2, {"is_active": False})
    plan = set_active(deals, actions, False, 1, 2, 3, 4)
    assert (len(plan.outcomes), plan.same, plan.failures) == (4, {("demand_deals", 2)}, [])
    [action] = actions.recent()
    assert (action.title, action.who, dict(action.counts)) == ("Paused", "manager", {"demand_deals": 3})
    finish(ready(deals, actions), deals)
    assert active(deals) == {1: True, 2: False, 3: True, 4: True}


def test_what_changed_since_stays(deals: Deals, actions: BulkActions) -> None:
    """Prices are restored but for the one that somebody has changed since, which is named with both."""
    finish(edit(deals, actions, SharedChange(percent=Decimal(10)), *deal_rows(1, 2, 3)), deals)
    deals.change(DemandDeal, 2, {"price": Decimal("9.99")})
    deals.change(DemandDeal, 3, {"name": "Another name"})
    undo = ready(deals, actions)
    refusal = {change.key[1]: change.refusal for change in undo.changes if change.refusal}
    assert refusal == {2: "Changed since: Price now 9.99, set to 3.30 by the action. It stays."}
    finish(undo, deals)
    prices = [deals.get(DemandDeal, number).price for number in (1, 2, 3)]
    assert prices == [Decimal("2.5"), Decimal("9.99"), Decimal("3.25")]
    assert deals.get(DemandDeal, 3).name == "Another name"
    assert actions.recent()[1].count == 1, "one row of the edit is not put back"


def test_a_price_in_another_currency_since_stays(deals: Deals, actions: BulkActions) -> None:
    """A price whose currency somebody changed since is not put back: the same figure is another price."""
    finish(edit(deals, actions, SharedChange({"price": Decimal("2.6")}), *deal_rows(1, 2)), deals)
    deals.change(DemandDeal, 2, {"currency": "JPY"})
    undo = ready(deals, actions)
    finish(undo, deals)
    prices = {number: deals.get(DemandDeal, number).price for number in (1, 2)}
    assert prices[1] != Decimal("2.6")
    assert prices[2] == Decimal("2.6")
    [reason] = [outcome.reason for outcome in undo.failures]
    assert "Currency now JPY" in reason


def test_a_change_between_preview_and_undo_stays(deals: Deals, actions: BulkActions) -> None:
    """Each batch is read again before it is sent: what changed after the preview is left alone too."""
    set_active(deals, actions, False, 1, 3)
    plan = ready(deals, actions)
    assert [change.is_change for change in plan.changes] == [True, True]
    deals.change(DemandDeal, 1, {"is_active": True})
    deals.remove(DemandDeal, 3)
    finish(plan, deals)
    reasons = [outcome.reason for outcome in plan.outcomes]
    assert reasons == ["", "It is not there any more, or you can't see it."]
    assert [deal.action for deal in deals.history(DemandDeal, 1)] == ["changed", "changed", "created"]


def test_dates_in_another_offset_are_the_same(deals: Deals, actions: BulkActions) -> None:
    """A time is compared as an instant: the same one in another zone is no change since."""
    end = dt.datetime(2027, 1, 31, tzinfo=dt.UTC)
    wanted = SharedChange(dates={"end_date": end.replace(tzinfo=None)}, zone=0)
    finish(edit(deals, actions, wanted, DealRow("supply_deals", 1, "One")), deals)
    zone = dt.timezone(dt.timedelta(hours=5, minutes=30))
    deals.change(SupplyPackage, 1, {"end_date": end.astimezone(zone)})
    finish(ready(deals, actions), deals)
    assert deals.get(SupplyPackage, 1).end_date is None


def test_an_undo_has_an_undo(deals: Deals, actions: BulkActions) -> None:
    """An undo that was a mistake is undone like any action, and by another one again."""
    set_active(deals, actions, False, 1, 2)
    for title, expected in (("Undo: Paused", True), ("Redo: Paused", False), ("Undo: Paused", True)):
        finish(ready(deals, actions), deals)
        assert actions.recent()[0].title == title
        assert active(deals) == {1: expected, 2: expected, 3: True, 4: True}


def test_an_interrupted_undo_goes_on(
    deals: Deals, actions: BulkActions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An undo that stops after a batch has noted what it did; the next one does the rest, and that only."""
    monkeypatch.setattr(ChangeSource, "batch_size", 2)
    set_active(deals, actions, False, 1, 2, 3, 4)
    plan = ready(deals, actions)
    plan.start()
    plan.write(deals)
    assert active(deals) == {1: True, 2: True, 3: False, 4: False}
    paused = actions.recent()[1]
    assert paused.count == 2
    again = undo_plan(actions, paused)
    read(again, deals)
    assert [change.key[1] for change in again.changes] == [3, 4]
    finish(again, deals)
    finish(again, deals)
    assert active(deals) == dict.fromkeys((1, 2, 3, 4), True)
    assert actions.recent()[-1].count == 0


def test_without_an_answer(deals: Deals, actions: BulkActions, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that may have been changed can be undone: what was is put back, what was not is as before."""
    change = deals.change_each

    def lost(entity: str, changes: dict[int, Any]) -> dict[int, str]:
        change(entity, {1: changes[1]})
        raise ResponseTimeout("No answer in 30 s")

    monkeypatch.setattr(deals, "change_each", lost)
    plan = set_active(deals, actions, False, 1, 2)
    assert [failure.is_open for failure in plan.failures] == [True, True]
    monkeypatch.setattr(deals, "change_each", change)
    undo = ready(deals, actions)
    assert {change.key[1]: change.note for change in undo.changes} == {1: "", 2: "It is as it was before."}
    finish(undo, deals)
    assert active(deals) == dict.fromkeys((1, 2, 3, 4), True)


def test_nothing_is_sent_that_is_not_recorded(
    deals: Deals, actions: BulkActions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the desk's database is away, neither a pause nor an edit sends anything."""

    def away(record: ActionRecord, rows: Collection[ActionRow]) -> None:
        raise StoreUnavailable("The database can't be reached right now")

    monkeypatch.setattr(ActionRecord, "add", away)
    plan = set_active(deals, actions, False, 1)
    assert ["Not sent." in outcome.reason for outcome in plan.outcomes] == [True]
    plan = edit(deals, actions, SharedChange(deal={"price": Decimal(9)}), *deal_rows(1, 2))
    finish(plan, deals)
    assert ["Not sent." in outcome.reason for outcome in plan.outcomes] == [True, True]
    assert len(deals.history(DemandDeal, 1)) == 1


def test_refused_rows_are_not_recorded(deals: Deals, actions: BulkActions) -> None:
    """A row that the service refused is not the action's: a later change of it is nobody's to undo."""
    plan = edit(deals, actions, SharedChange(deal={"price": Decimal(9)}), *deal_rows(1, 2))
    deals.change(DemandDeal, 2, {"price": Decimal(8)})
    finish(plan, deals)
    assert [row.key[1] for row in actions.open_rows(actions.recent()[0].number)] == [1]


def press(desk: AppTest, *keys: str) -> AppTest:
    """The screen after clicks on these buttons."""
    for key in keys:
        desk = clean(desk.button(key=key).click().run())
    return desk


def test_on_screen(visit: Visit, deals: Deals) -> None:
    """A bulk pause is listed with who and when in another session, and undone there after a preview."""
    desk = visit("deals", deals_kind="Deals")
    keys = ["demand_deals-1", "demand_deals-2"]
    desk.session_state["deals_list"] = {"acts": {"by": "browser", "list": [[1, "tick", keys, True]]}}
    desk = press(clean(desk.run()), "deals_pause", "job_save")
    assert [button for button in desk.button if button.key == "undo_last"]
    deals.change(DemandDeal, 2, {"is_active": True})
    desk = press(visit("deals"), "deals_undo_open")
    assert any(markdown.value == "**Paused**" for markdown in desk.markdown)
    assert any(caption.value.startswith("2 deals · manager, ") for caption in desk.caption)
    desk = press(desk, "undo_1")
    assert table_rows(desk, "What changes, before and after") == [
        {"Name": "Morning News - Alpha Buying", "Change": "Active: no → yes", "Note": ""},
        {"Name": "Morning News - Beta Media", "Change": "", "Note": "It is as it was before."},
    ]
    desk = press(desk, "undo_save")
    assert "1 deal put back" in desk.success[0].value
    assert active(deals)[1]
    desk = press(desk, "undo_close", "deals_undo_open")
    assert any("undone by manager" in caption.value for caption in desk.caption)


def test_the_result_offers_its_undo(visit: Visit, deals: Deals) -> None:
    """The result of a pause offers its undo, which restores both deals at once and is listed afterwards; the
    result of that offers to pause them again."""
    desk = visit("deals", deals_kind="Deals")
    keys = ["demand_deals-1", "demand_deals-2"]
    desk.session_state["deals_list"] = {"acts": {"by": "browser", "list": [[1, "tick", keys, True]]}}
    desk = press(clean(desk.run()), "deals_pause", "job_save")
    assert desk.success[0].value == "2 deals paused."
    assert not deals.get(DemandDeal, 1).is_active
    desk = press(desk, "undo_last")
    assert desk.success[0].value == "2 deals put back."
    assert all(deals.get(DemandDeal, number).is_active for number in (1, 2))
    desk = press(desk, "undo_last")
    assert not any(deals.get(DemandDeal, number).is_active for number in (1, 2))
    desk = press(desk, "undo_close", "deals_undo_open")
    assert any("undone by manager" in text.value for text in desk.caption)


def test_a_save_in_the_drawer_is_undone_too(visit: Visit, deals: Deals) -> None:
    """What one deal's form saved is listed like every other change, and put back; what was refused is not."""
    desk = clean(
        visit("deals", open="demand_deals-1").button_group(key="drawer_shown").set_value("Change").run()
    )
    price = "change-demand_deals-1-price"
    desk = press(clean(desk.text_input(key=price).set_value("2.75").run()), "change-demand_deals-1-_save")
    assert deals.get(DemandDeal, 1).price == Decimal("2.75")
    desk = press(visit("deals"), "deals_undo_open")
    assert any(text.value == "**Changed Morning News - Alpha Buying**" for text in desk.markdown)
    assert any(caption.value.startswith("1 deal · manager, ") for caption in desk.caption)
    desk = press(desk, "undo_1")
    [row] = table_rows(desk, "What changes, before and after")
    assert row["Change"] == "Price: 2.75 → 2.50 (\N{MINUS SIGN}9.1 %)"
    press(desk, "undo_save")
    assert deals.get(DemandDeal, 1).price == Decimal("2.5")


def test_viewers_have_no_undo(visit: Visit) -> None:
    """Who may change nothing sees no button for it."""
    assert "deals_undo_open" not in [button.key for button in visit("deals", "viewer").button]


@pytest.fixture
def store(database_url: str) -> Iterator[BulkActions]:
    """The actions in an empty database, in Ada's name."""
    engine = database.engine(database_url)
    database.migrate(engine)
    yield BulkActions(engine, "", ADA)
    engine.dispose()


def of(store: BulkActions, person: Person, **more: Any) -> BulkActions:
    """The same actions in another person's name."""
    return replace(store, person=person, **more)


def test_who_sees_and_undoes_what(store: BulkActions) -> None:
    """Own actions, and everybody's for who may change all seats' deals; no other service's, no viewer's."""
    store.record("Paused").add([ROW])
    bob = Person("bob", "Bob", None, "manager", deals=DealsGrant("write", frozenset({3})))
    of(store, bob).record("Resumed").add([ROW])
    assert [action.who for action in store.recent()] == ["bob", "ada"]
    assert [action.who for action in of(store, bob).recent()] == ["bob"]
    later = replace(bob, added=dt.datetime.now(dt.UTC) + dt.timedelta(hours=1))
    assert of(store, later).recent() == [], "an earlier person of that name did it"
    assert of(store, ADA, service="https://deals.example").recent() == []
    viewer = of(store, Person("vera", "Vera", None, "viewer", deals=DealsGrant("read")))
    assert viewer.recent() == []
    for call in (lambda: viewer.open_rows(1), lambda: viewer.record("Paused").add([ROW])):
        with pytest.raises(Forbidden):
            call()
    for other in (of(store, bob), of(store, ADA, service="https://deals.example")):
        with pytest.raises(BadRequest, match="can't be undone any more"):
            other.open_rows(1)
        with pytest.raises(BadRequest):
            other.mark_undone(1, [ROW.key])


def test_retention(store: BulkActions, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old actions go when another begins: after 30 days, and the oldest where there are too many rows."""
    monkeypatch.setattr(bulk_actions, "MOST_ACTIONS", 4)
    monkeypatch.setattr(bulk_actions, "MOST_ROWS", 25)
    rows = [replace(ROW, key=("demand_deals", number)) for number in range(1, 11)]
    for _ in range(3):
        store.record("Paused").add(rows)
    assert [action.number for action in store.recent()] == [3, 2, 1]
    store.record("Resumed").add([ROW])
    assert [action.number for action in store.recent()] == [4, 3, 2]
    old = dt.datetime.now(dt.UTC) - dt.timedelta(days=31)
    table = bulk_actions.bulk_actions
    with store.engine.begin() as connection:
        connection.execute(update(table).where(table.c.id == 3).values(at=old))
    assert [action.number for action in store.recent()] == [4, 2]
    for _ in range(4):
        store.record("Paused").add([ROW])
    with store.engine.begin() as connection:
        ids = connection.execute(select(table.c.id).order_by(table.c.id)).scalars().all()
        row_ids = select(bulk_actions.bulk_action_rows.c.action_id).distinct()
        assert sorted(connection.execute(row_ids).scalars()) == ids == [5, 6, 7, 8]


def test_values_come_back_as_they_were(store: BulkActions) -> None:
    """Prices keep their decimals, times their offset, and a row that is recorded twice is the later one."""
    at = dt.datetime(2026, 3, 29, 1, 30, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    before = {"price": Decimal("0.123456"), "start_date": at, "end_date": None}
    record = store.record("Edited")
    record.add([ROW])
    record.add([ActionRow(ROW.key, "Ünï", before, {"price": Decimal(3)})])
    [row] = store.open_rows(1)
    assert row.before == before | {"start_date": "2026-03-29 01:30:00+0200"}
    assert (row.name, row.after) == ("Ünï", {"price": 3})
    record.drop([ROW.key])
    assert (store.open_rows(1), store.recent()) == ([], [])
