"""What changes several deals at once, for somebody of one seat: others' deals are as ones that never were."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dealing import clients

from lib.deals.bulk_actions import ActionRow
from lib.deals.client import Deals
from lib.deals.models import DemandDeal
from lib.people import DealsGrant
from lib.serving import connect
from lib.settings import Settings
from lib.ui.deals.changes.pause_dialog import active_plan
from lib.ui.deals.changes.plan import ChangePlan
from lib.ui.deals.changes.undo import undo_plan
from lib.ui.deals.csv.csv_changes import CHANGES, csv_plan
from lib.ui.deals.deal_rows import DealRow
from lib.wire import csv_text

HIDDEN, NEVER = 1, 10**9
Make = Callable[[connect.Clients, int, str], ChangePlan[Any]]


def pause(mine: connect.Clients, number: int, deal_id: str) -> ChangePlan[Any]:
    """Pausing the deal among chosen rows."""
    rows = [DealRow("demand_deals", number, "Deal", is_active=True)]
    plan = active_plan(mine.bulk_actions, "demand_deals", False, rows)
    plan.start()
    return plan


def by_csv(mine: connect.Clients, number: int, deal_id: str) -> ChangePlan[Any]:
    """A line of a file that changes its price."""
    table = csv_text.read(f"Deal id,Price\n{deal_id},9", CHANGES)
    return csv_plan(mine.deals, mine.bulk_actions, table.rows)


def undo(mine: connect.Clients, number: int, deal_id: str) -> ChangePlan[Any]:
    """The undo of an action that touched it while it could be seen."""
    record = mine.bulk_actions.record("Changed")
    record.add([ActionRow(("demand_deals", number), "Deal", {"price": 9}, {"price": 2.5})])
    return undo_plan(mine.bulk_actions, mine.bulk_actions.recent()[0])


@pytest.fixture
def mine(own_deals_home: Path, deals: Deals) -> connect.Clients:
    """The clients of somebody who may change the deals of seat 3, which is deal 3."""
    settings = Settings(home=own_deals_home, demo=True)
    grant = DealsGrant("write", frozenset({3}))
    connect.installation(settings).people.change("manager", deals=grant)
    return clients(settings)


@pytest.mark.parametrize("make", [pause, by_csv, undo])
def test_others_deals_are_as_ones_that_never_were(
    make: Make, mine: connect.Clients, own_deals_home: Path
) -> None:
    """The same reasons for both, in the preview and in the result, and the deal stays as it was."""
    whole = clients(Settings(home=own_deals_home, demo=True), "admin").deals
    before = whole.get(DemandDeal, HIDDEN)
    outlines = []
    for number, deal_id in ((HIDDEN, before.deal_id or ""), (NEVER, "TR-0000-0000-0000")):
        plan = make(mine, number, deal_id)
        while plan.phase == "reading":
            plan.read(mine.deals)
        plan.start()
        while plan.phase == "writing":
            plan.step(mine.deals)
        faults = getattr(plan.source, "faults", [])
        reasons = [change.refusal for change in plan.changes] + [outcome.reason for outcome in plan.outcomes]
        text = repr((reasons, [fault.text for fault in faults]))
        assert re.search(r"[Tt]here", text)
        outlines.append(text.replace(deal_id, "?").replace(f" {number}", " ?"))
    assert outlines[0] == outlines[1]
    assert whole.get(DemandDeal, HIDDEN) == before
