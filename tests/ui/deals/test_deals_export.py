"""The list of deals as a CSV: a long one is made step by step, and only for who is signed in."""

import io

import downloads
import pandas as pd
import pytest
from dealing import Visit, clean

from lib.deals.client import Deals
from lib.figures.deals.field_text import Prices
from lib.ui.deals.list import export_csv
from lib.ui.deals.list.export_csv import CsvExport
from lib.ui.deals.list_state import ListSearch
from lib.ui.kit import job
from lib.wire.errors import AccessError


def export_of(deals: Deals, check_fails: bool = False) -> CsvExport:
    """An export of all deals, by somebody who is signed in, or not any more."""

    def check() -> None:
        if check_fails:
            raise AccessError("You are signed out.")

    search = ListSearch("demand_deals")
    return CsvExport(export_csv.lines(deals, search, Prices(), check), 4, search=search)


@pytest.fixture
def one_line_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that end after a line."""
    monkeypatch.setattr(job, "STEP_SECONDS", -1)


@pytest.mark.usefixtures("one_line_a_step")
def test_the_steps_make_the_file_that_is_made_at_once(deals: Deals) -> None:
    """A file that was made in several steps has the same bytes as one that was made at once."""
    export = export_of(deals)
    progress = []
    while export.is_running:
        export.step(deals)
        progress.append(export.progress)
    assert export.content == b"".join(export_of(deals).parts)
    assert progress == [(1, 4), (2, 4), (3, 4), (4, 4), (4, 4)]


@pytest.mark.usefixtures("one_line_a_step")
def test_a_stopped_export_has_no_file(deals: Deals) -> None:
    """What was written before Stop is not offered as the list."""
    export = export_of(deals)
    export.step(deals)
    export.stop()
    assert (export.is_running, export.content) == (False, None)


def test_who_signed_out_gets_no_file(deals: Deals) -> None:
    """A step after the sign-out ends the export with a sentence, and without a file."""
    export = export_of(deals, check_fails=True)
    export.step(deals)
    assert (export.is_running, export.content, export.problem) == (False, None, "You are signed out.")


def test_a_long_list_on_screen(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long list opens a dialog, which offers the file once it is made."""
    monkeypatch.setattr(export_csv, "SHORT", 0)
    desk = clean(visit("deals", deals_kind="Deals").button(key="deals_csv").click().run())
    assert desk.success[0].value.startswith("4 deals in ")


def test_the_file_is_the_list_on_screen(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """The button's file has the rows that the search leaves, with the prices of their deals."""
    contents = downloads.offered(monkeypatch)
    visit("deals", deals_kind="Packages", find="sports")
    frame = pd.read_csv(io.BytesIO(contents["deals_csv"]()))
    assert list(frame["Name"]) == ["Evening Sports"]
    assert list(frame["Lowest price, USD CPM"]) == [7.0]


def test_stop_on_screen(visit: Visit, monkeypatch: pytest.MonkeyPatch, one_line_a_step: None) -> None:
    """Stop gives the file up, and closes the dialog."""
    monkeypatch.setattr(export_csv, "SHORT", 0)
    desk = clean(visit("deals", deals_kind="Deals").button(key="deals_csv").click().run())
    desk = clean(desk.button(key="job_stop").click().run())
    assert export_csv.EXPORT not in desk.session_state
