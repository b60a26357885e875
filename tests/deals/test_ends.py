"""Ends: typed and read as the last day that something runs, stored as the moment after it."""

import csv
import datetime as dt
import io
from typing import Any

import pytest

from lib.deals import moments
from lib.deals.comparisons import Case
from lib.deals.models import DemandDeal, SupplyPackage
from lib.deals.warnings import judge
from lib.figures.deals import field_text
from lib.ui.deals import deal_rows
from lib.ui.deals.buyers import hand_over
from lib.ui.deals.changes.shared_change import SharedChange
from lib.ui.deals.csv import csv_changes
from lib.ui.deals.forms import draft_text, inputs
from lib.ui.deals.forms.draft import Draft
from lib.ui.kit import times

ZONE = dt.timezone(dt.timedelta(hours=1))
START = dt.datetime(2026, 11, 20, 9, tzinfo=ZONE)
CASES = [
    ("2026-12-31", dt.datetime(2027, 1, 1, tzinfo=ZONE), "31 Dec 2026"),
    ("31.12.2026", dt.datetime(2027, 1, 1, tzinfo=ZONE), "31 Dec 2026"),
    ("12/31/2026", dt.datetime(2027, 1, 1, tzinfo=ZONE), "31 Dec 2026"),
    ("2028-02-28", dt.datetime(2028, 2, 29, tzinfo=ZONE), "28 Feb 2028"),
    ("2026-12-31 14:00", dt.datetime(2026, 12, 31, 14, tzinfo=ZONE), "until 31 Dec 2026, 14:00"),
    ("2027-01-01 00:00", dt.datetime(2027, 1, 1, tzinfo=ZONE), "31 Dec 2026"),
]
"""What is typed as an end, the end that is stored, and what every screen and file says of it."""


def package(end: dt.datetime | None) -> SupplyPackage:
    """A package with this end."""
    return SupplyPackage(id=1, name="P", media_type="banner", start_date=START, end_date=end)


@pytest.mark.parametrize(("text", "end", "words"), CASES)
def test_an_end_is_typed_as_the_last_day(text: str, end: dt.datetime, words: str) -> None:
    """Form, drawer, bulk edit and CSV store the same moment for what is typed, an exclusive one."""
    draft = Draft.of(name="P", media_type="banner", start_date="2026-11-20", end_date=text, zone=60)
    assert draft.package().end_date == end
    assert inputs.request_value("end_date", text, ZONE) == end
    assert csv_changes._moment(text, ZONE, is_end=True) == end
    local = times.read(text, is_end=True)
    effect = SharedChange(dates={"end_date": local}).of_package(package(None), frozenset())
    assert effect.after["end_date"] == end
    sentence = draft_text.sentences(draft, {}, {})[1]
    assert f"{words.removeprefix('until ').split(',')[0][:6]}" in sentence
    assert ("through" in sentence) is not words.startswith("until")


@pytest.mark.parametrize(("text", "end", "words"), CASES)
def test_an_end_is_shown_as_the_last_day(text: str, end: dt.datetime, words: str) -> None:
    """List, facts, history, hand-over and files show the last day that it runs, or the moment of its end."""
    row = deal_rows.of_package(package(end), ())
    assert deal_rows.cells(row, ["end_date"])[0].text == words
    assert field_text.value("end_date", end) == field_text.value("end_date", moments.write(end)) == words
    assert field_text.span(package(end)).endswith(f"– {words}")
    deal = DemandDeal(id=1, name="D", deal_id="TR-1")
    lines = hand_over.HandOver(package(end), field_text.USUAL).text([deal_rows.of_deal(deal, {})])
    assert words in lines
    [warning] = judge(Case("package", {"end_date": end}, frozenset({"end_date"}), end))
    assert words.removeprefix("until ") in warning.sentence


@pytest.mark.parametrize(("text", "end", "words"), CASES)
def test_an_end_goes_there_and_back(text: str, end: dt.datetime, words: str) -> None:
    """The field of the drawer, and the cells of every CSV file, say an end so that it is read again alike."""
    shown = inputs.widget_value("end_date", end)
    assert inputs.request_value("end_date", shown, ZONE) == end
    row = deal_rows.of_package(package(end), ())
    [listed] = csv.DictReader(io.StringIO(b"".join(deal_rows.csv([row])).decode("utf-8-sig")))
    assert csv_changes._moment(listed["End"], ZONE, is_end=True) == end
    deal = deal_rows.of_deal(DemandDeal(id=1, name="D", deal_id="TR-1"), {})
    file: Any = io.StringIO(
        hand_over.HandOver(package(end), field_text.USUAL).csv([deal]).decode("utf-8-sig")
    )
    [sent] = csv.DictReader(file)
    assert csv_changes._moment(sent["End"], ZONE, is_end=True) == end


def test_a_start_is_the_beginning_of_its_day() -> None:
    """A start without a time is that day's first moment, and shown with its time."""
    assert inputs.request_value("start_date", "2026-12-31", ZONE) == dt.datetime(2026, 12, 31, tzinfo=ZONE)


def test_a_package_of_one_day() -> None:
    """Start and end on the same day are a package that runs through that day."""
    draft = Draft.of(name="P", start_date="2026-12-31", end_date="2026-12-31", deals="none")
    assert not draft.faults().wrong


def test_a_date_that_could_be_two_days_is_asked_about() -> None:
    """Without the browser's locale, 12/01/2026 is refused with both of its readings."""
    assert "2026-12-01 or 2026-01-12" in times.fault("12/01/2026")
    assert times.fault("12/12/2026") == ""
