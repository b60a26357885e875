"""Grants, roles and passwords that change while something is open: a tab, a download, a change of several."""

from pathlib import Path

import downloads
import pytest
from dealing import SOLD, Visit, clean, listed
from streamlit.testing.v1 import AppTest

from lib.deals.bulk_actions import BulkActions
from lib.deals.client import Deals
from lib.deals.models import DemandDeal
from lib.people import DealsGrant, Grant
from lib.people.tokens.access import Access
from lib.serving import connect
from lib.settings import Settings
from lib.ui.deals.changes.pause_dialog import active_plan
from lib.ui.deals.changes.shared_change import ActiveSource
from lib.ui.deals.deal_rows import DealRow
from lib.ui.deals.list import export_csv
from lib.ui.kit import job
from lib.wire.errors import AccessError

BETA = DealsGrant("write", frozenset({2}))
NAMES = ("Morning News - Alpha Buying", "Morning News - Beta Media")


@pytest.fixture
def access(own_deals_home: Path) -> Access:
    """Changes the manager's rights, as an administrator does elsewhere."""
    return connect.installation(Settings(home=own_deals_home, demo=True)).access


@pytest.fixture
def tab(visit: Visit) -> AppTest:
    """The manager's list of all deals."""
    desk = visit("deals", slicer=SOLD, deals_kind="Deals")
    assert set(NAMES) < {*listed(desk)}
    return desk


def test_an_open_list_has_the_deals_of_now(tab: AppTest, access: Access) -> None:
    """With the grant for one seat the next click lists its deals alone: nothing is served from a cache."""
    access.change("manager", "admin", deals=BETA)
    assert listed(clean(tab.run())) == [NAMES[1]]
    access.change("manager", "admin", deals=DealsGrant("write"))
    assert set(NAMES) < {*listed(clean(tab.run()))}


def test_an_open_list_of_who_sees_no_deals_any_more(tab: AppTest, access: Access) -> None:
    """Without the grant the screen has no list, and names no deal."""
    access.change("manager", "admin", deals=DealsGrant("none"))
    tab.run()
    assert not [
        element for element in (*tab.markdown, *tab.caption, *tab.info) if "Morning News" in element.value
    ]


def test_an_open_question_of_who_lost_the_slicer(visit: Visit, access: Access) -> None:
    """The next click says that there is no such slicer, as of one that never was."""
    desk = visit("audience", slicer=SOLD)
    access.change("manager", "admin", grants=[Grant("demo", "delivery")])
    desk = clean(desk.run())
    assert "split_fields" not in {box.key for box in desk.multiselect}
    assert any(SOLD in element.value for element in (*desk.info, *desk.warning, *desk.error))


def test_an_open_tab_after_another_password(tab: AppTest, access: Access) -> None:
    """The next click is answered with the sign-in."""
    access.set_password("manager", "another password", "admin")
    tab.run()
    assert [text_input.label for text_input in tab.text_input] == ["Name", "Password"]


def test_an_open_tab_of_a_lower_role(tab: AppTest, access: Access) -> None:
    """Who became a viewer has no buttons that pause or resume on the next click."""
    assert "deals_pause" in {button.key for button in tab.button}
    access.change("manager", "admin", role="viewer", deals=DealsGrant("read"))
    assert "deals_pause" not in {button.key for button in clean(tab.run()).button}


@pytest.mark.parametrize("place", ["under way", "made"])
def test_a_download(visit: Visit, access: Access, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """A long list that is being made ends without a file; one that is made is not given out any more."""
    monkeypatch.setattr(export_csv, "SHORT", 0)
    monkeypatch.setattr(export_csv, "PART", 1)
    contents = downloads.offered(monkeypatch)
    if place == "under way":
        monkeypatch.setattr(job, "STEP_SECONDS", -1)
    desk = clean(visit("deals", slicer=SOLD, deals_kind="Deals").button(key="deals_csv").click().run())
    export = desk.session_state[export_csv.EXPORT]
    access.change("manager", "admin", deals=BETA)
    if place == "under way":
        export.step(None)
        assert (export.is_running, export.content) == (False, None)
        assert "permissions changed" in export.problem
    else:
        with pytest.raises(AccessError, match="permissions changed"):
            contents["deals_export_file"]()


def test_a_bulk_action_half_done(
    deals: Deals, actions: BulkActions, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was paused stays so and can be undone; of the rest, others' deals are refused one by one."""
    monkeypatch.setattr(ActiveSource, "batch_size", 1)
    rows = [DealRow("demand_deals", number, f"Deal {number}", is_active=True) for number in (1, 2, 3, 4)]
    pause = active_plan(actions, "demand_deals", False, rows)
    pause.start()
    pause.write(deals)
    access.change("manager", "admin", deals=BETA)
    pause.step(deals)
    access.change("manager", "admin", deals=DealsGrant("write"))
    active = {deal.id: deal.is_active for deal in deals.list(DemandDeal).results}
    assert active == {1: False, 2: False, 3: True, 4: True}
    assert {failure.change.key[1] for failure in pause.failures} == {3, 4}
    [action] = actions.recent()
    assert action.count == 2
