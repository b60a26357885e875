"""Packages from a CSV: what each line asks for, every fault with its line, all of them created or none."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from dealing import SOLD, Visit, clean, create_from_csv, creation, finish, upload

from lib.deals.bulk_actions import BulkActions
from lib.deals.client import Deals
from lib.deals.models import FEE_TYPES, AppList, DemandDeal, DomainList, Seat, SupplyPackage
from lib.ui.deals.csv import csv_creations
from lib.ui.deals.csv.csv_creations import SHAPE, DealCells
from lib.ui.deals.csv.csv_deals import CsvCheck
from lib.wire import csv_text
from lib.wire.errors import Conflict

GOOD = """Name;Media type;Start;End;Time zone;Active;Dynamic bidding;Country;Device;Size;Domain list;App list
Spring;Banner;2027-03-01 09:00;2027-04-01;+01:00;no;yes;US|not DE;smartphone;300x250 | 728X90;news sites;
=Summer;video;2027-06-01;;;;;;;;;not 1
evening sports;native;2027-06-01;;utc-05:30;;;;;;;
"""
BAD = """Name,Media type,Start,End,Time zone,Active,Size,Domain list,Country
,banner,2027-03-01,,,,,,
One,display,2027-13-01,,,,,,
Two,banner,,2027-01-01,noon,perhaps,0x250|big,Nowhere,US|US
Three,banner,2027-03-01,2027-02-01,+15:00,,,,
two,banner,2027-03-01
THREE,audio,2027-03-01,,,,,,
"""


def planned(deals: Deals, text: str, why_not: str = "") -> CsvCheck:
    """What a text asks for."""
    table = csv_text.read(text, SHAPE)
    lists = {
        kind: {str(entity.id): entity.name or "" for entity in deals.everything(model)}
        for kind, model in (("domain_list", DomainList), ("app_list", AppList))
    }
    seats = {seat.id or 0: seat for seat in deals.everything(Seat)}
    *_, check = csv_creations.check_packages(deals, table.rows, lists, DealCells(seats, FEE_TYPES, why_not))
    faults = [*table.faults, *check.faults]
    return CsvCheck(check.changes, faults, check.checked_lines, check.titles)


WITH_DEALS = """Name,Media type,Start,Country,Seat,Price,Deal name,Deal sync,Deal active,Fee type,Fee,Contact
Spring,banner,2027-03-01,US,Beta Media,2.50,,,,,,
spring,Banner,,,x2,3,Spring for x2,no,no,percent of spend,12.5,a@b.example
Summer,video,2027-06-01,,,,,,,,,
SPRING,,,,1,4.125,,,,,,
"""
BAD_DEALS = """Name,Media type,Start,Country,Seat,Price,Deal sync
Spring,banner,2027-03-01,US,Beta Media,2,50
Spring,banner,2027-03-01,US,Beta Media,2.50,
Spring,video,2027-03-01,DE,Nobody,-1,perhaps
Spring,,,,2,3,
Spring,,,,,3,
Spring,,,,,,
"""


def count(deals: Deals) -> int:
    """How many packages there are."""
    return deals.list(SupplyPackage).count


def zone(minutes: int) -> dt.timezone:
    """The zone so many minutes east of UTC."""
    return dt.timezone(dt.timedelta(minutes=minutes))


def test_created_as_written(deals: Deals, actions: BulkActions) -> None:
    """A file creates these packages, with their times, switches and targeting, and without deals."""
    check = planned(deals, GOOD)
    assert not check.faults
    job = creation(actions, check)
    job.start()
    finish(job, deals)
    assert job.phase == "done"
    spring, summer, sports = (deals.get(SupplyPackage, entity.id or 0) for entity in job.entities)
    assert (spring.name, spring.media_type) == ("Spring", "banner")
    assert spring.start_date == dt.datetime(2027, 3, 1, 9, tzinfo=zone(60))
    assert spring.end_date == dt.datetime(2027, 4, 2, tzinfo=zone(60))
    assert (spring.is_active, spring.is_dynamic_bidding) == (False, True)
    places = [(targeting.type, targeting.value, targeting.is_excluded) for targeting in spring.geo_targetings]
    assert places == [("country", "US", False), ("country", "DE", True)]
    assert [targeting.value for targeting in spring.device_targetings] == ["smartphone"]
    assert [(targeting.width, targeting.height) for targeting in spring.size_targetings] == [
        (300, 250),
        (728, 90),
    ]
    assert [(targeting.id, targeting.name) for targeting in spring.domain_list_targetings] == [
        (1, "News sites")
    ]
    assert (summer.name, summer.is_active, summer.end_date) == ("=Summer", True, None)
    assert summer.start_date == dt.datetime(2027, 6, 1, tzinfo=dt.UTC)
    assert [(targeting.id, targeting.is_excluded) for targeting in summer.app_list_targetings] == [(1, True)]
    assert sports.start_date == dt.datetime(2027, 6, 1, tzinfo=zone(-330))
    assert not any(package.demand_deals for package in (spring, summer, sports))
    assert [change.note for change in check.changes] == ["", "", "This name is taken (2)."]
    job.start()
    finish(job, deals)
    assert count(deals) == 5, "the second click of a double click creates nothing"


def test_every_fault_with_its_line(deals: Deals) -> None:
    """All faults are found at once, each with the line that its row begins in; nothing is to be created."""
    check = planned(deals, BAD)
    assert sorted((fault.line, fault.text) for fault in check.faults) == [
        (2, "Name is empty."),
        (3, "Media type: write one of banner, video, audio, native."),
        (3, "Start: There is no such day or time: write it like 2026-11-30 or 2026-11-30 09:00."),
        (4, "Active: write yes or no."),
        (4, "Country: 'US' is given twice."),
        (4, "Domain list: there is no list 'Nowhere'."),
        (4, "Size: '0x250' is no size like 300x250."),
        (4, "Size: 'big' is no size like 300x250."),
        (4, "Start is empty."),
        (4, "Time zone: write a name like Europe/Berlin, UTC or an offset like +01:00."),
        (5, "End: The end must be after the start."),
        (5, "Time zone: write a name like Europe/Berlin, UTC or an offset like +01:00."),
        (6, "3 cells, but 9 titles."),
        (7, "Same name as line 5."),
    ]
    assert not check.changes


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Name,Start\n", (1, "The column Media type is missing.")),
        (
            "Name,Media type,Start,Buyer\n",
            (1, "Unknown column 'Buyer'. Known are: Name, Media type, Start, End"),
        ),
        (csv_text.template(SHAPE).decode(), (2, "There are no packages below the titles.")),
        ("Name,Media type,Start\n" + "a,b,c\n" * 101, (102, "A file may have at most 100 lines")),
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

    def refuse_third(entity: Any, body: Any, key: str) -> Any:
        if key.endswith("-4"):
            raise Conflict("The database refused it")
        return create(entity, body, key)

    monkeypatch.setattr(deals, "create", refuse_third)
    job.start()
    finish(job, deals)
    assert (job.phase, job.problem, job.entities) == (
        "preview", "Line 4: The database refused it. Nothing was created.", [],
    )  # fmt: skip
    assert count(deals) == before


def test_deals_with_their_packages(deals: Deals, actions: BulkActions) -> None:
    """Rows of a name are one package with a deal each, linked to it, digit by digit; others have none."""
    check = planned(deals, WITH_DEALS)
    assert not check.faults
    job = creation(actions, check)
    job.start()
    finish(job, deals)
    assert job.phase == "done"
    spring, first, second, summer, third = job.entities
    assert [entity.entity[0] for entity in job.entities] == ["s", "d", "d", "s", "d"]
    new_deals = [deals.get(DemandDeal, reference.id or 0) for reference in (first, second, third)]
    assert [deal.supply_deals[0].id for deal in new_deals] == [spring.id] * 3
    assert [deal.seat and deal.seat.id for deal in new_deals] == [2, 3, 1]
    assert [deal.price for deal in new_deals] == [Decimal("2.5"), 3, Decimal("4.125")]
    assert [deal.name for deal in new_deals][:2] == ["Spring - Beta Media", "Spring for x2"]
    assert [deal.is_active for deal in new_deals] == [True, False, True]
    assert (new_deals[1].agency_curation_fee_type, new_deals[1].agency_curation_fee) == (1, Decimal("12.5"))
    assert len(deals.get(SupplyPackage, spring.id or 0).demand_deals) == 3
    assert not deals.get(SupplyPackage, summer.id or 0).demand_deals


def test_faults_of_deals_with_their_lines(deals: Deals) -> None:
    """Faults of a deal say so; what a further row says of its package must be as in the first."""
    check = planned(deals, BAD_DEALS)
    assert sorted((fault.line, fault.text) for fault in check.faults) == [
        (2, "Deal: Deal sync: write yes or no."),
        (3, "Deal: Same package and seat as line 2."),
        (4, "Country: not as in line 2, the first of this package."),
        (4, "Deal: Deal sync: write yes or no."),
        (4, "Deal: Price: Must be 0 or more."),
        (4, "Deal: There is no seat 'Nobody'."),
        (4, "Media type: not as in line 2, the first of this package."),
        (5, "Deal: Same package and seat as line 2."),
        (6, "Deal: Seat is empty: give its id, its name, or its id at the DSP."),
        (7, "Same name as line 2."),
    ]
    assert not check.changes
    refused = planned(deals, WITH_DEALS, "You may not create deals")
    assert {fault.text for fault in refused.faults} == {"You may not create deals."}


def test_no_deal_and_no_package_where_one_is_refused(
    deals: Deals, actions: BulkActions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deal that is refused takes the packages and deals before it with it, the deals first."""
    job, create, remove = creation(actions, planned(deals, WITH_DEALS)), deals.create, deals.remove
    before, removed = (count(deals), deals.list(DemandDeal).count), []

    def refuse_last(entity: Any, body: Any, key: str) -> Any:
        if key.endswith("-5"):
            raise Conflict("The database refused it")
        return create(entity, body, key)

    def noting(entity: Any, number: int) -> None:
        removed.append(entity)
        remove(entity, number)

    monkeypatch.setattr(deals, "create", refuse_last)
    monkeypatch.setattr(deals, "remove", noting)
    job.start()
    finish(job, deals)
    assert (job.phase, job.problem, job.entities) == (
        "preview", "Line 5: The database refused it. Nothing was created.", [],
    )  # fmt: skip
    assert removed == ["supply_deals", "demand_deals", "demand_deals", "supply_deals"]
    assert (count(deals), deals.list(DemandDeal).count) == before


def test_deals_on_screen(visit: Visit, deals: Deals, actions: BulkActions) -> None:
    """The preview has a row for each package and deal; the button and the result count both."""
    desk = visit("deals", slicer=SOLD, deals_kind="Packages")
    upload(desk, "packages", iter([planned(deals, WITH_DEALS)]), actions)
    preview = desk.dataframe[-1].value
    assert preview["Kind"].tolist() == ["Package", "Deal", "Deal", "Package", "Deal"]
    assert preview["Line"].tolist() == [2, 2, 3, 4, 5]
    assert "Beta Media" in preview["Seat"][1]
    button = desk.button(key="packages_from_csv_save")
    assert button.label == "Create 3 deals and 2 packages"
    create_from_csv(desk, "packages")
    assert "3 deals and 2 packages created" in desk.success[0].value


def test_on_screen(visit: Visit, deals: Deals, actions: BulkActions) -> None:
    """In the list of packages the dialog shows what would be created, with values that the report does not
    know, and creates it on a click; a viewer has no such button."""
    desk = visit("deals", slicer=SOLD, deals_kind="Packages")
    upload(desk, "packages", iter([planned(deals, GOOD.replace("smartphone", "toaster"))]), actions)
    preview = desk.dataframe[-1].value
    assert preview["Name"].tolist() == ["Spring", "=Summer", "evening sports"]
    assert "News sites" in preview["Domain list"][0]
    assert preview["Device"][0] == "toaster (unknown)"
    assert "1 Mar 2027, 09:00 UTC+1" in preview["Start"][0]
    assert desk.button(key="packages_from_csv_save").disabled
    [confirm] = desk.checkbox
    assert confirm.label.replace("\\", "") == "Confirm device 'toaster' is not in the report"
    clean(confirm.check().run())
    create_from_csv(desk, "packages")
    assert "3 packages created" in desk.success[0].value
    assert count(deals) == 5
    viewer = visit("deals", "viewer", deals_kind="Packages")
    assert not [button for button in viewer.button if button.key == "packages_from_csv_open"]


ODD = f"""Name,Media type,Start,End,Country,City,Size,Seat,Price
morning  NEWS,banner,2027-03-01,,US,Lyon,300x250,,
Late,video,2024-03-01,2024-04-01,{"Narnia beyond the Wardrobe and far away " * 4},,3000x25,,
Dear,banner,2027-03-01,,US,,,Gamma Trading,0
Cheap,banner,2027-03-01,,US,,,Gamma Trading,20
"""


def test_what_is_probably_a_slip_is_asked(visit: Visit, deals: Deals, actions: BulkActions) -> None:
    """Unknown targets in full, dates that are over and a price of 0 have to be confirmed; a name that is
    taken is said."""
    desk = visit("deals", slicer=SOLD, deals_kind="Packages")
    upload(desk, "packages", iter([planned(deals, ODD)]), actions)
    country = ("Narnia beyond the Wardrobe and far away " * 4).strip()
    assert desk.warning[-1].value.replace("\\", "").splitlines() == [
        "- Line 3: dates wholly in the past: it ends on 1 Apr 2024 and never delivers",
        f"- Line 3: country '{country}' is not in the report",
        "- Line 3: 3000x25 is no usual size of an ad",
        "- Line 4: a price of 0 (USD CPM)",
    ]
    assert desk.dataframe[-1].value["Note"][0] == "This name is taken (1)."
    [confirm] = desk.checkbox
    assert confirm.label == "Confirm these 4 points"
    assert desk.button(key="packages_from_csv_save").disabled
    clean(confirm.check().run())
    create_from_csv(desk, "packages")
    assert "2 deals and 4 packages created" in desk.success[0].value


def test_many_alike_are_counted_by_their_lines(visit: Visit, deals: Deals, actions: BulkActions) -> None:
    """Two unknown devices in each of four lines are those of four lines; of three lines each is named."""
    titles, devices = "Name,Media type,Start,Device\n", "toaster|kettle"
    lines = [f"Package {number},banner,2027-03-01,{devices}\n" for number in range(4)]
    desk = visit("deals", slicer=SOLD, deals_kind="Packages")
    upload(desk, "packages", iter([planned(deals, titles + "".join(lines))]), actions)
    [confirm] = desk.checkbox
    assert confirm.label.replace("\\", "").startswith("Confirm 4 lines: such as Line 2, device 'toaster'")
    desk = visit("deals", slicer=SOLD, deals_kind="Packages")
    upload(desk, "packages", iter([planned(deals, titles + "".join(lines[:3]))]), actions)
    assert [confirm.label for confirm in desk.checkbox] == ["Confirm these 6 points"]
