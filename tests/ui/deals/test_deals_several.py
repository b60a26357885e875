"""Several packages and deals edited at once: a preview, one change each, and what failed stays chosen."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from dealing import START, Visit, clean, table_rows
from streamlit.testing.v1 import AppTest

from lib.deals.bulk_actions import BulkActions
from lib.deals.client import Deals
from lib.deals.models import DemandDeal, GeoTarget, SupplyPackage, Targeting
from lib.ui.deals.changes.edit_dialog import edit_plan, unsaved_rows
from lib.ui.deals.changes.plan import ChangePlan
from lib.ui.deals.changes.shared_change import DateShift, Mode, SharedChange, SharedSource, TargetingEdit
from lib.ui.deals.deal_rows import DealRow
from lib.wire.errors import ResponseTimeout

ROWS = [DealRow("demand_deals", number, f"Deal {number}") for number in range(1, 5)]
MANY = frozenset({("demand_deals", 1)})


def chosen(desk: AppTest, *keys: str) -> AppTest:
    """The screen with the dialog open for these rows."""
    desk.session_state["deals_list"] = {"acts": {"by": "browser", "list": [[1, "tick", list(keys), True]]}}
    return clean(clean(desk.run()).button(key="deals_edit").click().run())


def press(desk: AppTest, *keys: str) -> AppTest:
    """The screen after clicks on these buttons."""
    for key in keys:
        desk = clean(desk.button(key=key).click().run())
    return desk


def by_percent(desk: AppTest, text: str) -> AppTest:
    """The dialog with this percentage typed."""
    clean(desk.button_group(key="several_how").set_value("Change by %").run())
    return clean(desk.text_input(key="several_amount").set_value(text).run())


def table(desk: AppTest) -> list[dict[str, str]]:
    """The rows of the preview or of the result."""
    return table_rows(desk, "What changes, before and after", "The result of each change")


def prices(deals: Deals) -> list[Decimal | None]:
    """The prices of the four deals."""
    return [deals.get(DemandDeal, number).price for number in (1, 2, 3, 4)]


def test_prices_by_percent(visit: Visit, deals: Deals) -> None:
    """The preview shows each deal before and after, and nothing is changed until it is saved."""
    desk = chosen(visit("deals", deals_kind="Deals"), "demand_deals-1", "demand_deals-3")
    desk = press(by_percent(desk, "7.5"), "several_preview")
    assert [row["Price, USD CPM"] for row in table(desk)] == ["2.50 → 2.69 (+7.6 %)", "3.25 → 3.49 (+7.4 %)"]
    assert prices(deals) == [Decimal("2.5"), 3, Decimal("3.25"), 7]
    desk = press(desk, "several_save")
    assert prices(deals) == [Decimal("2.69"), 3, Decimal("3.49"), 7]
    assert "2 deals saved" in desk.success[0].value
    assert [change.action for change in deals.history(DemandDeal, 1)] == ["changed", "created"]
    desk = press(desk, "several_close")
    assert desk.button(key="deals_edit").disabled, "what was saved is not chosen any more"


def test_a_tick_during_a_search_counts(visit: Visit) -> None:
    """A row ticked while the search that was typed before is on its way is chosen; what was chosen before the
    search is not."""
    desk = visit("deals", deals_kind="Deals")
    ticks = [[1, "tick", ["demand_deals-1"], True], [2, "tick", ["demand_deals-2"], True]]
    for count, text in ((1, ""), (2, "morning")):
        desk.session_state["deals_list"] = {"acts": {"by": "browser", "list": ticks[count - 1 : count]}}
        desk = clean(desk.text_input(key="find").set_value(text).run())
    assert [row.name for row in desk.session_state["deals_view"].selection.values()] == [
        "Morning News - Beta Media"
    ]
    assert desk.button(key="deals_edit").label == "Edit 1"


def test_dates_of_packages(visit: Visit, deals: Deals) -> None:
    """The dates of a deal are its package's: changed once for all of them, in the package's own zone."""
    desk = chosen(visit("deals", deals_kind="Deals"), "demand_deals-1", "demand_deals-2")
    clean(desk.text_input(key="several_end").set_value("2027-01-31").run())
    desk = press(desk, "several_preview")
    [row] = table(desk)
    assert (row["Name"], row["End"]) == ("Morning News", "no end → 31 Jan 2027")
    assert table_rows(desk, "Other deals that change") == [
        {"Deal": "Morning News - Gamma Trading", "Package": "Morning News"}
    ]
    assert any("**1 other deal** changes too" in markdown.value for markdown in desk.markdown)
    press(desk, "several_save")
    package = deals.get(SupplyPackage, 1)
    assert package.end_date == dt.datetime(2027, 2, 1, tzinfo=START.tzinfo)
    assert package.start_date == START
    assert len(deals.history(SupplyPackage, 1)) == 2, "one change, though two of its deals were chosen"


def test_an_end_is_removed_whatever_its_field_says(visit: Visit, deals: Deals) -> None:
    """A date that was typed wrong and then closed by *Remove the end* stops nothing."""
    desk = chosen(visit("deals", deals_kind="Deals"), "demand_deals-1")
    clean(desk.text_input(key="several_end").set_value("2027-01-31").run())
    press(press(desk, "several_preview"), "several_save")
    desk = chosen(visit("deals", deals_kind="Deals"), "demand_deals-1")
    clean(desk.text_input(key="several_end").set_value("someday").run())
    clean(desk.checkbox(key="several_no_end").check().run())
    press(press(desk, "several_preview"), "several_save")
    assert deals.get(SupplyPackage, 1).end_date is None


def test_dates_in_a_named_zone(visit: Visit, deals: Deals) -> None:
    """A start and an end in Berlin have the offsets of that day's clocks there; an hour that these skip is a
    fault, and nothing is previewed with it."""
    desk = chosen(visit("deals", deals_kind="Packages"), "supply_deals-1")
    clean(desk.selectbox(key="several_zone").set_value("Europe/Berlin").run())
    desk.text_input(key="several_start").set_value("2027-03-28 02:30")
    desk.text_input(key="several_end").set_value("2027-07-31")
    desk = press(desk, "several_preview")
    assert any("there is no 02:30 in Europe/Berlin" in text.value.replace("\\", "") for text in desk.markdown)
    desk.text_input(key="several_start").set_value("2027-03-28 01:30")
    desk = press(desk, "several_preview")
    desk = clean(next(box for box in desk.checkbox if box.label.startswith("Confirm")).check().run())
    press(desk, "several_save")
    package = deals.get(SupplyPackage, 1)
    assert package.start_date == dt.datetime(2027, 3, 28, 0, 30, tzinfo=dt.UTC)
    assert package.end_date == dt.datetime(2027, 7, 31, 22, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("last_day", "shift", "after"),
    [
        ("2027-01-31", "+1 month", "2027-02-28"),
        ("2027-02-28", "+ 12 Months", "2028-02-28"),
        ("2028-02-29", "+1 year", "2029-02-28"),
        ("2027-03-31", "-1 month", "2027-02-28"),
        ("2027-12-31", "+2 weeks", "2028-01-14"),
        ("2027-03-28 14:30", "+1 day", "2027-03-29 14:30"),
    ],
)
def test_each_end_moves_from_its_own(
    deals: Deals, actions: BulkActions, last_day: str, shift: str, after: str
) -> None:
    """By days, weeks, months and years, of the last day and in the package's own zone; a month that has no
    such day ends with its last. A package without an end is refused and the others are saved."""
    zone = START.tzinfo

    def end(text: str) -> dt.datetime:
        at = dt.datetime.fromisoformat(text).replace(tzinfo=zone)
        return at if ":" in text else at + dt.timedelta(days=1)

    deals.change(SupplyPackage, 2, {"end_date": end(last_day)})
    rows = [DealRow("supply_deals", number, f"Package {number}") for number in (1, 2)]
    plan = edit_plan(actions, "supply_deals", rows)
    plan.source.ask_for(SharedChange(dates={"end_date": DateShift.read(shift)}), rows)
    for begin in (plan.begin, plan.start):
        begin()
        while plan.is_running:
            plan.step(deals)
    assert [outcome.reason for outcome in plan.failures] == ["End: It has no date to move."]
    assert deals.get(SupplyPackage, 2).end_date == end(after)


def test_a_shift_is_typed_as_a_date_is(visit: Visit, deals: Deals) -> None:
    """`+1 month` in the field is no error, and the preview has both days; what is no shift is one."""
    deals.change(SupplyPackage, 1, {"end_date": dt.datetime(2027, 2, 1, tzinfo=START.tzinfo)})
    desk = chosen(visit("deals", deals_kind="Packages"), "supply_deals-1")
    clean(desk.text_input(key="several_end").set_value("+1 moon").run())
    assert any("Not a date" in text.value for text in desk.markdown)
    clean(desk.text_input(key="several_end").set_value("+1 month").run())
    assert not any("Not a date" in text.value for text in desk.markdown)
    [row] = table(press(desk, "several_preview"))
    assert row["End"] == "31 Jan 2027 → 28 Feb 2027"


def test_refused_before_it_is_sent(visit: Visit, deals: Deals) -> None:
    """An end before the start is refused in the preview, with the reason; the other package is saved."""
    deals.change(SupplyPackage, 2, {"start_date": dt.datetime(2027, 6, 1, tzinfo=dt.UTC)})
    desk = chosen(visit("deals", deals_kind="Packages"), "supply_deals-1", "supply_deals-2")
    clean(desk.text_input(key="several_end").set_value("2027-01-31").run())
    desk = press(desk, "several_preview")
    assert any("1 refused" in markdown.value for markdown in desk.markdown)
    assert [row["Deal"] for row in table_rows(desk, "Other deals that change")] == [
        "Morning News - Alpha Buying",
        "Morning News - Beta Media",
        "Morning News - Gamma Trading",
    ]
    notes = {row["Name"]: row["Note"] for row in table(desk)}
    assert notes == {"Morning News": "", "Evening Sports": "The end would not be after the start."}
    desk = press(desk, "several_save")
    assert "1 package saved, 1 failed" in desk.warning[0].value
    assert desk.session_state["deals_view"].selection.keys() == {"supply_deals-2"}


def test_somebody_elses_change_is_kept(visit: Visit, deals: Deals) -> None:
    """What changed since the preview is not overwritten: it is named with the reason, and stays chosen."""
    desk = chosen(visit("deals", deals_kind="Deals"), "demand_deals-1", "demand_deals-2")
    desk = press(by_percent(desk, "10"), "several_preview")
    deals.change(DemandDeal, 2, {"price": Decimal(4)})
    desk = press(desk, "several_save")
    assert prices(deals)[:2] == [Decimal("2.75"), 4]
    saved, failed = table(desk)
    assert (saved["Result"], failed["Result"]) == ("Saved", "Failed")
    assert "price from 3 to 4, by manager" in failed["Note"]
    desk = press(desk, "several_again", "several_save")
    assert prices(deals)[:2] == [Decimal("2.75"), Decimal("4.4")], "the first one is not raised twice"
    assert desk.session_state["deals_view"].selection == {}


def test_slips_are_confirmed_or_refused(visit: Visit, deals: Deals) -> None:
    """A price of 0 is saved only once it is confirmed; what is no number is refused beside the field."""
    desk = chosen(visit("deals", deals_kind="Deals"), "demand_deals-1")
    desk = press(by_percent(desk, "a lot"), "several_preview")
    assert any("Not a number" in said.value for said in desk.markdown)
    desk = press(by_percent(desk, "-100"), "several_preview")
    assert desk.button(key="several_save").disabled
    [meant] = [box for box in desk.checkbox if (box.key or "").startswith("several_meant_")]
    assert meant.label.replace("\\", "") == "Confirm a price of 0 (USD CPM)"
    clean(meant.check().run())
    press(desk, "several_save")
    assert prices(deals)[0] == 0


@pytest.mark.parametrize(
    ("price", "percent", "after"),
    [("2.5", "7.5", "2.69"), ("0.125", "10", "0.138"), ("100", "-33.3333", "66.67"), ("3", "0", "3")],
)
def test_rounding(price: str, percent: str, after: str) -> None:
    """A percentage is rounded half up to cents, or to the decimals that the price has already."""
    deal = DemandDeal(id=1, name="One", price=Decimal(price))
    effect = SharedChange(percent=Decimal(percent)).of_deal(deal, MANY)
    assert effect.after.get("price", deal.price) == Decimal(after)


def test_no_price_has_no_percentage() -> None:
    """A deal without a price is refused for a percentage, and takes a price that is set."""
    deal = DemandDeal(id=1, name="One")
    assert SharedChange(percent=Decimal(5)).of_deal(deal, MANY).refusal
    assert SharedChange(deal={"price": Decimal(5)}).of_deal(deal, MANY).after == {"price": 5}


def test_an_unknown_result_is_not_applied_twice(
    deals: Deals, actions: BulkActions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an answer the rest is not sent; a second preview finds what was saved, and leaves it."""
    plan, change = edit_plan(actions, "demand_deals", ROWS[:3]), deals.change

    def saved_unheard(entity: str, entity_id: int, fields: Any, etag: str | None = None) -> None:
        change(entity, entity_id, fields, etag)
        if entity_id == 2:
            raise ResponseTimeout("No answer in 30 s")

    monkeypatch.setattr(deals, "change", saved_unheard)
    _until(plan, deals, SharedChange(percent=Decimal(100)), ROWS[:3])
    assert [outcome.is_open for outcome in plan.outcomes] == [False, True]
    assert [row.id for row in unsaved_rows(plan)] == [2, 3]
    assert prices(deals) == [5, 6, Decimal("3.25"), 7]
    monkeypatch.setattr(deals, "change", change)
    _until(plan, deals, plan.source.shared_change, unsaved_rows(plan))
    assert prices(deals) == [5, 6, Decimal("6.5"), 7]
    assert unsaved_rows(plan) == []


def saved(
    deals: Deals, actions: BulkActions, entity: str, numbers: Sequence[int], shared_change: SharedChange
) -> ChangePlan[SharedSource]:
    """A change of these rows, read and saved."""
    rows = [DealRow(entity, number, f"Row {number}") for number in numbers]
    plan = edit_plan(actions, entity, rows)
    _until(plan, deals, shared_change, rows)
    return plan


def test_terms_of_several(deals: Deals, actions: BulkActions) -> None:
    """Fee, contact, sync and terms are set for all, others stay; emptied fields are empty afterwards, and
    each edit is an action of its own."""
    before = [deals.get(DemandDeal, number) for number in (1, 2)]
    terms = {
        "agency_curation_fee_type": 1, "agency_curation_fee": Decimal("12.5"), "contact_email": "a@b.example",
        "deal_sync": True, "deal_type": "guaranteed", "units": 1000, "budget": Decimal(50),
    }  # fmt: skip
    plan = saved(deals, actions, "demand_deals", (1, 2), SharedChange(deal=terms))
    assert plan.failures == []
    after = [deals.get(DemandDeal, number) for number in (1, 2)]
    assert all({name: getattr(deal, name) for name in terms} == terms for deal in after)
    assert [deal.price for deal in after] == [deal.price for deal in before]
    saved(deals, actions, "demand_deals", (1,), SharedChange(deal={"budget": None}))
    assert [deals.get(DemandDeal, number).budget for number in (1, 2)] == [None, 50]
    none = {"agency_curation_fee_type": 4}
    saved(deals, actions, "demand_deals", (2,), SharedChange(deal=none))
    assert deals.get(DemandDeal, 2).agency_curation_fee is None, "no fee has no size"
    assert [(action.title, action.count) for action in actions.recent()] == [("Edited", 1)] * 2 + [
        ("Edited", 2)
    ]


@pytest.mark.parametrize(
    ("terms", "reason"),
    [
        ({"agency_curation_fee": Decimal(5)}, "A fee needs its type"),
        ({"deal_sync": True}, "Deal sync needs a contact e-mail address."),
        ({"agency_curation_fee_type": 1, "agency_curation_fee": Decimal(101)}, "Fee: "),
        ({"agency_curation_fee_type": 1}, "This type of fee needs an amount."),
    ],
)
def test_terms_that_do_not_fit_are_refused(
    deals: Deals, actions: BulkActions, terms: dict[str, Any], reason: str
) -> None:
    """What a deal would lack is its refusal in the preview, and nothing of it is sent."""
    plan = saved(deals, actions, "demand_deals", (1,), SharedChange(deal=terms))
    [failure] = plan.failures
    assert reason in failure.reason
    assert len(deals.history(DemandDeal, 1)) == 1


def countries(*values: str, is_excluded: bool = False) -> Targeting:
    """Places to target, or never to."""
    targets = tuple(GeoTarget(type="country", value=value, is_excluded=is_excluded) for value in values)
    return Targeting(geo_targetings=targets)


@pytest.mark.parametrize(
    ("mode", "targeting", "expected"),
    [
        ("add", countries("FR"), ["DE", "FR", "US"]),
        ("add", countries("US", is_excluded=True), ["DE", "not US"]),
        ("remove", countries("DE", "ES"), ["US"]),
        ("replace", countries("FR", "IT"), ["FR", "IT"]),
        ("replace", Targeting(geo_targetings=(GeoTarget(type="city", value="Lyon"),)), ["DE", "Lyon", "US"]),
    ],
)
def test_targeting_of_several(
    deals: Deals, actions: BulkActions, mode: Mode, targeting: Targeting, expected: list[str]
) -> None:
    """Targets of the packages of chosen deals are added, removed or replaced by kind; the rest stays."""
    before = deals.get(SupplyPackage, 1)
    edit = TargetingEdit(mode, targeting)
    plan = saved(deals, actions, "demand_deals", (1, 2), SharedChange(targeting=edit))
    assert (len(plan.outcomes), plan.failures) == (1, []), "one change, though two of its deals were chosen"
    after = deals.get(SupplyPackage, 1)
    assert sorted(("not " if t.is_excluded else "") + t.value for t in after.geo_targetings) == expected
    assert after.device_targetings == before.device_targetings


def test_the_last_targets_stay(deals: Deals, actions: BulkActions) -> None:
    """What would make a package match everything is refused, with the reason."""
    edit = TargetingEdit("remove", countries("US", "DE"))
    plan = saved(deals, actions, "supply_deals", (1, 2), SharedChange(targeting=edit))
    [failure] = plan.failures
    assert "would match all" in failure.reason
    assert len(deals.get(SupplyPackage, 1).geo_targetings) == 2


def test_a_package_with_its_deals(deals: Deals, actions: BulkActions) -> None:
    """Of chosen packages the deals change with them: price and end in one action."""
    shared_change = SharedChange(percent=Decimal(10), dates={"end_date": dt.datetime(2030, 1, 31)})  # noqa: DTZ001
    plan = saved(deals, actions, "supply_deals", (1,), shared_change)
    assert plan.failures == []
    assert prices(deals) == [Decimal("2.75"), Decimal("3.3"), Decimal("3.58"), 7]
    assert deals.get(SupplyPackage, 1).end_date == dt.datetime(2030, 1, 31, tzinfo=START.tzinfo)
    [action] = actions.recent()
    assert dict(action.counts) == {"demand_deals": 3, "supply_deals": 1}


def test_the_form_of_several(visit: Visit, deals: Deals) -> None:
    """Contact and sync are typed once; a field that is typed and to be emptied is a question."""
    desk = chosen(visit("deals", deals_kind="Deals"), "demand_deals-1", "demand_deals-2")
    desk.text_input(key="several_contact_email").set_value("a@b.example")
    desk.selectbox(key="several_deal_sync").set_value(True)
    clean(desk.multiselect(key="several_empty").set_value(["contact_email"]).run())
    desk = press(desk, "several_preview")
    assert any("type a value, or empty it" in text.value for text in desk.markdown)
    clean(desk.multiselect(key="several_empty").set_value([]).run())
    desk = press(desk, "several_preview")
    assert {row["Deal sync"] for row in table(desk)} == {"no → yes"}
    press(desk, "several_save")
    assert deals.get(DemandDeal, 2).contact_email == "a@b.example"


def test_a_fee_that_can_not_be_read_is_said_beside_it(visit: Visit) -> None:
    """As of every other term of several, before anything is previewed."""
    desk = chosen(visit("deals", deals_kind="Deals"), "demand_deals-1")
    desk.text_input(key="several_agency_curation_fee").set_value("much").run()
    assert any("material/error" in text.value for text in clean(desk).markdown)


def _until(
    plan: ChangePlan[SharedSource], deals: Deals, wanted: SharedChange, rows: Sequence[DealRow]
) -> None:
    """The whole of a change: the preview, then the saving."""
    plan.source.ask_for(wanted, rows)
    plan.begin()
    while plan.phase == "reading":
        plan.read(deals)
    plan.start()
    while plan.phase == "writing":
        plan.write(deals)
