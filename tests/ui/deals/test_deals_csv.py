"""Deals from a CSV: parsed and never run, every fault with its line, all of them created or none."""

from decimal import Decimal
from typing import Any

import pytest
from dealing import Visit, clean, create_from_csv, creation, finish, package, upload

from lib.deals.bulk_actions import BulkActions
from lib.deals.client import Deals
from lib.deals.models import DemandDeal, Dsp, Seat, SupplyPackage
from lib.ui.deals.changes import confirmations
from lib.ui.deals.changes.undo import undo_plan
from lib.ui.deals.csv import csv_deals
from lib.ui.deals.csv.csv_deals import SHAPE, CsvCheck
from lib.ui.kit import job, text_file
from lib.wire import csv_text
from lib.wire.errors import Conflict, ResponseTimeout

FEES = {1: "percent of spend", 3: "CPM", 4: "none"}
GOOD = """Package,Seat,Price,Name,Deal sync,Active,Fee type,Fee,Contact
Evening Sports,Beta Media,2.50,,,,,,
1,x2,3,"=HYPERLINK(""x"")",no,no,percent of spend,12.5,a@b.example
2,Gamma Trading,4.125,'-Named,,yes,,,
"""
BAD = """Package;Seat;Price;Deal sync;Contact;Fee type;Fee
Nowhere;Alpha Buying;2,500;;;;
2;Nobody;-1;perhaps;nobody;free;
2;Gamma Trading;4;yes;;percent of spend;101
2;"Beta
Media";4
2;2;4;;;;
2;Beta Media;5;;;;
"""


def planned(deals: Deals, text: str) -> CsvCheck:
    """What a text asks for."""
    table = csv_text.read(text, SHAPE)
    seats = {seat.id or 0: seat for seat in deals.everything(Seat)}
    *_, check = csv_deals.check(deals, table.rows, seats, FEES)
    faults = [*table.faults, *check.faults]
    return CsvCheck(check.changes, faults, check.checked_lines, check.titles)


def count(deals: Deals) -> int:
    """How many deals there are."""
    return deals.list(DemandDeal).count


def test_created_as_written(deals: Deals, actions: BulkActions) -> None:
    """A file with packages and seats by name, id or external id creates these deals, digit by digit."""
    check = planned(deals, "\ufeff" + GOOD)
    assert not check.faults
    job = creation(actions, check)
    job.start()
    finish(job, deals)
    assert job.phase == "done"
    new_deals = [deals.get(DemandDeal, entity.id or 0) for entity in job.entities]
    assert [(deal.supply_deals[0].id, deal.seat and deal.seat.id) for deal in new_deals] == [
        (2, 2),
        (1, 3),
        (2, 3),
    ]
    assert [deal.price for deal in new_deals] == [Decimal("2.5"), 3, Decimal("4.125")]
    assert [deal.name for deal in new_deals] == ["Evening Sports - Beta Media", '=HYPERLINK("x")', "-Named"]
    assert [deal.is_active for deal in new_deals] == [True, False, True]
    assert (new_deals[1].agency_curation_fee_type, new_deals[1].agency_curation_fee) == (1, Decimal("12.5"))
    job.start()
    finish(job, deals)
    assert count(deals) == 7, "the second click of a double click creates nothing"


def test_every_fault_with_its_line(deals: Deals) -> None:
    """All faults are found at once, each with the line that its row begins in."""
    check = planned(deals, BAD)
    assert sorted((fault.line, fault.text) for fault in check.faults) == [
        (2, "Price: Write decimals with a point and no other marks, like 1250.75."),
        (2, "There is no package 'Nowhere'."),
        (3, "Contact: Not an e-mail address: write it like deals@agency.example."),
        (3, "Deal sync: write yes or no."),
        (3, "Fee type: write one of percent of spend, CPM, none."),
        (3, "Price: Must be 0 or more."),
        (3, "There is no seat 'Nobody'."),
        (4, "Contact: Deal sync needs a contact e-mail address."),
        (4, "Fee: A percentage may be at most 100."),
        (4, "The DSP of the seat 'Gamma Trading' does not support deal sync."),
        (5, "3 cells, but 7 titles."),
        (8, "Same package and seat as line 7."),
    ]
    assert not check.changes


def test_a_name_that_two_have_needs_an_id(deals: Deals) -> None:
    """A name of two packages is a fault that names their ids."""
    twin = deals.create(SupplyPackage, package("Evening sports", {}))
    check = planned(deals, "Package,Seat,Price\nevening sports,1,2\n")
    assert check.faults[0].text.endswith(f"use the id (2, {twin.id}).")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", (1, "The file is empty. Its first line must be: ")),
        ("Package,Seat\n1,1\n", (1, "The column Price is missing.")),
        ("Package,Seat,Price,Prise\n", (1, "Unknown column 'Prise'. Known are: ")),
        ("Package,Seat,Price,price\n", (1, "The column Price is given twice.")),
        ("Package,Seat,Price\n\n", (3, "There are no deals below the titles.")),
        ('Package,Seat,Price\n1,"Alpha,2\n', (2, "The line can't be read as CSV: ")),
        ("Package,Seat,Price\n" + "1,1,2\n" * 50_001, (50_002, "A file may have at most 50,000 lines")),
        (csv_text.template(SHAPE).decode(), (2, "There are no deals below the titles.")),
    ],
)
def test_files_that_are_none(text: str, fault: tuple[int, str]) -> None:
    """What is no such file is refused with its line, and with what it should be."""
    [fault_line] = csv_text.read(text, SHAPE).faults
    assert (fault_line.line, fault_line.text[: len(fault[1])]) == fault


def test_none_where_one_is_refused(
    deals: Deals, actions: BulkActions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refusal half way deletes what was created before, and says which line it was."""
    job, create, before = creation(actions, planned(deals, GOOD)), deals.create, count(deals)

    def refuse_third(model: Any, entity: Any, key: str) -> Any:
        if key.endswith("-4"):
            raise Conflict("The database refused it")
        return create(model, entity, key)

    monkeypatch.setattr(deals, "create", refuse_third)
    job.start()
    finish(job, deals)
    assert (job.phase, job.problem, job.entities) == (
        "preview", "Line 4: The database refused it. Nothing was created.", [],
    )  # fmt: skip
    assert count(deals) == before
    monkeypatch.setattr(deals, "create", create)
    job.start()
    finish(job, deals)
    assert (job.phase, count(deals)) == ("done", before + 3)


def test_no_deal_twice_after_a_lost_answer(
    deals: Deals, actions: BulkActions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where an answer is lost, a retry goes on with the same key: each deal is created once."""
    job, create, before = creation(actions, planned(deals, GOOD)), deals.create, count(deals)

    def unheard(model: Any, entity: Any, key: str) -> Any:
        answer = create(model, entity, key)
        if key.endswith("-3"):
            raise ResponseTimeout("No answer in 30 s")
        return answer

    monkeypatch.setattr(deals, "create", unheard)
    job.start()
    finish(job, deals)
    assert (job.phase, len(job.entities)) == ("preview", 1)
    assert "Retry to continue" in job.problem
    monkeypatch.setattr(deals, "create", create)
    job.start()
    finish(job, deals)
    assert (job.phase, count(deals)) == ("done", before + 3)


def test_many_are_created_together(
    deals: Deals, actions: BulkActions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than a few deals go in one request, all or none; a refused line is named, and nothing is left."""
    package_id, before = deals.create(SupplyPackage, package("Crowd", {})).id, count(deals)
    for number in range(30):
        deals.create(Seat, Seat(name=f"Crowd {number}", dsp=Dsp(id=1)))
    lines = [f"{package_id},Crowd {number},2.{number:02d}" for number in range(30)]
    check = planned(deals, "\n".join(["Package,Seat,Price", *lines]))
    job = creation(actions, check)
    gone = next(seat for seat in deals.everything(Seat) if seat.name == "Crowd 7")
    deals.remove(Seat, gone.id or 0)
    monkeypatch.setattr(deals, "create", None)
    job.start()
    finish(job, deals)
    assert job.problem == f"Line 9: seat.id: There is no seat {gone.id}. Nothing was created."
    assert count(deals) == before
    rest = creation(
        actions, CsvCheck([change for change in check.changes if change.seat and change.seat.id != gone.id])
    )
    rest.start()
    finish(rest, deals)
    assert (rest.phase, count(deals)) == ("done", before + 29)
    deal = deals.get(DemandDeal, rest.entities[0].id or 0)
    assert (deal.price, deal.name, deal.is_active) == (Decimal("2.00"), "Crowd - Crowd 0", True)
    assert rest.entities[0].deal_id == deal.deal_id
    [created] = deals.history(DemandDeal, deal.id or 0)
    assert created.action == "created"


def test_limits_hold_on_the_server_too() -> None:
    """What a browser sends is checked again: its size, and that it is a text."""
    assert text_file.chosen_file({"file": {"name": "a.csv", "text": "x"}}, 1) == text_file.ChosenFile(
        "a.csv", "x"
    )
    too_large = text_file.chosen_file({"file": {"name": "a.csv", "text": "é"}}, 1)
    assert too_large is not None
    assert (too_large.text, too_large.problem) == ("", "The file is larger than 1 bytes. Split it.")
    assert text_file.chosen_file({"file": {"name": 3}}, 1) is None
    odd = text_file.chosen_file({"file": {"name": "a.csv", "problem": "<b>"}}, 1)
    assert odd is not None
    assert odd.problem.startswith("The browser could not read the file.")


def test_it_can_be_undone(deals: Deals, actions: BulkActions) -> None:
    """What a file created is deleted again by Undo, but for what somebody has changed since."""
    before, job = count(deals), creation(actions, planned(deals, GOOD))
    job.start()
    finish(job, deals)
    deals.change(DemandDeal, job.entities[0].id or 0, {"price": Decimal("2.75")})
    deals.remove(DemandDeal, job.entities[1].id or 0)
    [action] = actions.recent()
    undo = undo_plan(actions, action)
    finish(undo, deals)
    assert "Price now 2.75, set to 2.50 by the action" in undo.failures[0].reason
    undo.start()
    finish(undo, deals)
    assert count(deals) == before + 1, "only the one that somebody changed is left"
    [left] = actions.recent()
    assert left.count == 1, "it can be undone once it is as it was"


def test_questions_of_a_large_file_are_asked_in_steps(
    visit: Visit, deals: Deals, actions: BulkActions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond a part each step asks about one, and says how far it is; nothing can be saved before all are
    asked, and each line has what was answered about it."""
    monkeypatch.setattr(confirmations, "PART", 2)
    monkeypatch.setattr(job, "STEP_SECONDS", 0)
    rows = csv_text.read("Package,Seat,Price\n2,2,2\n2,3,0\n1,1,3\n1,2,0\n2,1,2", SHAPE).rows
    seats = {seat.id or 0: seat for seat in deals.everything(Seat)}
    desk = upload(
        visit("deals", deals_kind="Deals"), "deals", csv_deals.check(deals, rows, seats, FEES), actions
    )
    steps = []
    while (asked := desk.session_state["deals_from_csv"].plan.questions).is_running:
        assert not [button for button in desk.button if button.key == "deals_from_csv_save"]
        steps.append(asked.progress)
        clean(desk.run())
    assert steps == [(4, 5), (5, 5)], "the first two were asked before the screen was looked at"
    notes = [*clean(desk.run()).dataframe[-1].value["Note"]]
    assert ["price of 0" in note for note in notes] == [False, True, False, True, False]
    assert desk.button(key="deals_from_csv_save").disabled


def test_on_screen(visit: Visit, deals: Deals, actions: BulkActions) -> None:
    """The dialog shows what would be created, and creates it on a click; a viewer has no such button."""
    desk = upload(visit("deals", deals_kind="Deals"), "deals", iter([planned(deals, GOOD)]), actions)
    preview = desk.dataframe[-1].value
    assert preview["Seat"].tolist() == ["Beta Media", "Gamma Trading", "Gamma Trading"]
    assert {*GOOD.splitlines()[0].split(",")} <= {*preview.columns, "Price"}, "every column of the file"
    assert preview.iloc[1][["Active", "Fee type", "Fee", "Contact", "Price, USD CPM"]].tolist() == [
        "no", "percent of spend", "12.50", "a@b.example", "3.00",
    ]  # fmt: skip
    [confirm] = desk.checkbox
    assert "second deal of the same seat and package" in confirm.label
    clean(confirm.check().run())
    create_from_csv(desk, "deals")
    assert "3 deals created" in desk.success[0].value
    assert count(deals) == 7
    clean(desk.button(key="undo_last").click().run())
    while desk.session_state["deals_undo"].plan is None or desk.session_state["deals_undo"].plan.is_running:
        clean(desk.run())
    assert count(deals) == 4, "a click deletes what was just created"
