"""Grants for some seats where the deals service is remote: the desk cuts what it reads there."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import copied
from dealing import SEATS, clients, package, stock
from serving import serving

from lib.deals.bulk_actions import BulkActions
from lib.deals.client import Deals
from lib.deals.models import DemandDeal, Dsp, Reference, Seat, SupplyPackage
from lib.people import DealsGrant, Person
from lib.serving import connect
from lib.settings import Settings
from lib.ui.deals.changes.pause_dialog import active_plan
from lib.ui.deals.changes.undo import undo_plan
from lib.ui.deals.deal_rows import DealRow
from lib.wire.errors import Forbidden, InUse, Invalid, NotFound, Unsupported

ADAS = DealsGrant("write", frozenset({3}))


@dataclass(frozen=True)
class There:
    """A deals service that knows the desk alone: `all_of_it` is who may do everything, `mine` a person's."""

    all_of_it: Deals
    mine: Deals
    actions: BulkActions


@pytest.fixture
def there(home: Path, tmp_path: Path) -> Iterator[There]:
    """Package 1 is sold to the seats 1 to 3, package 2 to seat 1; the person has a grant for seat 3."""
    remote = stock(copied(home, tmp_path / "remote"))
    whole = clients(remote)
    token = connect.installation(remote).access.issue("manager", "deals", "the desk", None)
    with serving(connect.installation(remote).api) as address:
        settings = Settings(
            home=tmp_path / "desk", curate_url=address, deals_token=token, deals_mapping_confirmed=True,
            fee_types={0: 0, 1: 1, 2: 2, 3: 3, 4: 4},
        )  # fmt: skip
        person = Person("ada", "Ada", None, "manager", deals=ADAS)
        own = connect.connect(person, settings)
        yield There(whole.deals, own.deals, own.bulk_actions)


def test_lists_hold_what_may_be_seen(there: There) -> None:
    """Deals, packages, seats and DSPs of others are in no list, count or search, and not there by id."""
    deals = there.mine.list(DemandDeal)
    assert (deals.count, [result.seat and result.seat.name for result in deals.results]) == (1, [SEATS[2]])
    [shown] = there.mine.list(SupplyPackage).results
    assert (shown.id, [deal.id for deal in shown.demand_deals]) == (1, [3])
    assert [seat.id for seat in there.mine.list(Seat).results] == [3]
    assert [dsp.name for dsp in there.mine.list(Dsp).results] == ["Plain DSP"]
    assert there.mine.list(SupplyPackage, search="Evening").count == 0
    assert there.mine.list(SupplyPackage, search=SEATS[0]).count == 0
    assert there.mine.get(SupplyPackage, 1).demand_deals == shown.demand_deals
    for model, number in ((DemandDeal, 1), (SupplyPackage, 2), (Seat, 1), (Dsp, 1)):
        with pytest.raises(NotFound):
            there.mine.get(model, number)
    with pytest.raises(NotFound):
        there.mine.history(SupplyPackage, 2)
    [created] = there.mine.history(SupplyPackage, 1)
    assert [deal["id"] for deal in (created.after or {})["demand_deals"]] == [3]


def test_changes_reach_own_deals_alone(there: There) -> None:
    """Own deals change; what is sold to others too does not; links that can't be seen stay."""
    there.mine.change(DemandDeal, 3, {"price": 9})
    assert there.all_of_it.get(DemandDeal, 3).price == 9
    with pytest.raises(NotFound):
        there.mine.change(DemandDeal, 1, {"price": 9})
    with pytest.raises(Forbidden, match="sold to others too"):
        there.mine.change(SupplyPackage, 1, {"is_active": False})
    with pytest.raises(InUse, match="others that you can't see"):
        there.mine.remove(SupplyPackage, 1)
    with pytest.raises(Invalid, match="There is no seat 1"):
        there.mine.change(DemandDeal, 3, {"seat": {"id": 1}})
    there.mine.change(SupplyPackage, 1, {"demand_deals": []})
    assert {deal.id for deal in there.all_of_it.get(SupplyPackage, 1).demand_deals} == {1, 2}
    there.mine.remove(DemandDeal, 3)


def test_packages_are_sold_to_own_seats(there: There) -> None:
    """A package for a seat of one's own is created and seen; for another, or with others' deals, refused."""
    new_package = there.mine.create(SupplyPackage, package("Mine", {3: "4"}))
    assert there.mine.get(SupplyPackage, new_package.id or 0).name == "Mine"
    with pytest.raises(Invalid, match="There is no seat 1"):
        there.mine.create(SupplyPackage, package("Theirs", {1: "4"}))
    linked = package("Linked", {}).model_copy(update={"demand_deals": (Reference(id=1),)})
    with pytest.raises(Invalid, match="There is no demand deal 1"):
        there.mine.create(SupplyPackage, linked)
    with pytest.raises(Unsupported, match="seat"):
        there.mine.create(Seat, Seat(name="New"))
    assert there.all_of_it.list(SupplyPackage).count == 3


def test_who_may_see_no_deals_has_no_client(there: There, tmp_path: Path) -> None:
    """Without a grant for deals nothing is asked of the service in a person's name."""
    settings = Settings(home=tmp_path / "other", curate_url="http://127.0.0.1:9", deals_token="x")
    nobody = connect.connect(Person("vera", "Vera", None, "viewer"), settings)
    with pytest.raises(Forbidden, match="no access to deals"):
        nobody.deals  # noqa: B018


def test_a_bulk_action_and_its_undo(there: There) -> None:
    """Own deals are paused and resumed one by one, others' are refused; the desk keeps what can be undone."""
    rows = [DealRow("demand_deals", number, f"Deal {number}", is_active=True) for number in (1, 3)]
    plan = active_plan(there.actions, "demand_deals", False, rows)
    plan.start()
    plan.step(there.mine)
    reasons = [(failure.change.name, failure.reason) for failure in plan.failures]
    assert reasons == [("Deal 1", "It is not there any more, or you can't see it.")]
    assert [there.all_of_it.get(DemandDeal, number).is_active for number in (1, 3)] == [True, False]
    [action] = there.actions.recent()
    undo = undo_plan(there.actions, action)
    undo.read(there.mine)
    undo.start()
    undo.write(there.mine)
    assert there.all_of_it.get(DemandDeal, 3).is_active
    assert [action.count for action in there.actions.recent()] == [1, 0]
