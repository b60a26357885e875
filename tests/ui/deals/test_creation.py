"""Creating a package whose deals differ in their terms: all or nothing, once, over plain services too."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from dealing import clients
from serving import serving
from standin.book import SETTINGS, Book
from standin.deals import deals as standin_deals
from standin.state import TOKEN, State

from lib.deals.bulk_actions import ActionRow
from lib.deals.client import Deals
from lib.deals.models import DemandDeal, Seat, SupplyPackage
from lib.people import ALL_DEALS, Person
from lib.serving import connect
from lib.settings import Settings
from lib.ui.deals.changes.creation import CreationPlan, FormSource, package_creation
from lib.ui.deals.changes.undo import undo_plan
from lib.ui.deals.forms.draft import Draft, Terms
from lib.wire.errors import Invalid, TrancheError

SEATS = {
    number: Seat(id=number, name=name)
    for number, name in ((1, "Alpha Buying"), (2, "Beta Media"), (3, "Gamma"))
}


def own_terms(is_active: bool, fee_type: int | None, fee: str, contact: str) -> dict[str, object]:
    """The terms of a copied deal that differ from those of the others, as typed."""
    return {
        "is_active": is_active,
        "agency_curation_fee_type": fee_type,
        "agency_curation_fee": fee,
        "contact_email": contact,
    }


PAUSED, CPM = own_terms(False, 1, "12.5", "a@b.example"), own_terms(True, 3, "5", "c@d.example")
DRAFT = Draft.of(
    name="Mixed",
    media_type="banner",
    start_date="2026-12-01",
    seats={1: Terms("2.5"), 2: Terms("3.25", False, CPM), 3: Terms("4", False, PAUSED)},
    agency_curation_fee_type=1,
    agency_curation_fee="12.5",
    contact_email="a@b.example",
)


def terms(deals: Deals, package: SupplyPackage) -> dict[int | None, tuple[object, ...]]:
    """What each deal of a package has, by its seat."""
    package_deals = [deals.get(DemandDeal, reference.id) for reference in package.demand_deals]
    return {
        deal.seat and deal.seat.id: (
            deal.price, deal.is_active, deal.agency_curation_fee_type, deal.agency_curation_fee,
            deal.contact_email,
        )
        for deal in package_deals
    }  # fmt: skip


def created(desk: connect.Clients, draft: Draft, key: str, seats: Mapping[int, Seat] = SEATS) -> CreationPlan:
    """The plan that a form with this draft and key makes, at its end."""
    source = FormSource(creations=[package_creation(draft, desk.deals, seats)])
    plan = CreationPlan(source=source, record=desk.bulk_actions.record("Created"), idempotency_key=key)
    with suppress(TrancheError):  # which the plan has too
        plan.finish(desk.deals)
    return plan


def package_of(plan: CreationPlan) -> SupplyPackage:
    """The package that it created."""
    [package] = plan.entities
    assert isinstance(package, SupplyPackage)
    return package


@pytest.fixture
def desk(own_deals_home: Path) -> connect.Clients:
    """A desk with deals of its own."""
    return clients(Settings(home=own_deals_home, demo=True))


@pytest.fixture
def deals(desk: connect.Clients) -> Deals:
    """Its deals."""
    return desk.deals


def test_each_deal_on_its_own_terms(desk: connect.Clients, deals: Deals) -> None:
    """Each deal gets the terms of its seat, else the shared ones, in the one request of the package."""
    plan = created(desk, DRAFT, "key-1")
    assert plan.gaps == []
    assert terms(deals, package_of(plan)) == {
        1: (Decimal("2.5"), True, 1, Decimal("12.5"), "a@b.example"),
        2: (Decimal("3.25"), True, 3, Decimal("5"), "c@d.example"),
        3: (Decimal("4"), False, 1, Decimal("12.5"), "a@b.example"),
    }
    assert [deal.name for deal in package_of(plan).demand_deals] == [
        f"Mixed - {s}" for s in ("Alpha Buying", "Beta Media", "Gamma Trading")
    ]


def test_without_shared_terms(desk: connect.Clients, deals: Deals) -> None:
    """A package whose deals are all paused is created with its deals paused."""
    draft = Draft.of(
        name="Paused", media_type="banner", start_date="2026-12-01", seats={1: Terms("2", False, PAUSED)}
    )
    assert terms(deals, package_of(created(desk, draft, "key-2"))) == {
        1: (Decimal(2), False, 1, Decimal("12.5"), "a@b.example")
    }


def test_a_refused_deal_creates_nothing(desk: connect.Clients, deals: Deals) -> None:
    """When the terms of one seat are refused, neither package nor deals are there; its row is named."""
    seats = {**DRAFT.seats, 1: Terms("4", True, own_terms(False, None, "", ""))}
    before = deals.list(SupplyPackage).count, deals.list(DemandDeal).count
    refused = replace(DRAFT, seats=seats, terms={})
    plan = created(desk, refused, "key-3")
    assert isinstance(plan.error, Invalid)
    assert "contact e-mail" in str(plan.error)
    assert plan.idempotency_key == "key-3", "it is not used up"
    assert desk.bulk_actions.recent() == []
    assert (deals.list(SupplyPackage).count, deals.list(DemandDeal).count) == before


def test_a_lost_answer_is_repeated(desk: connect.Clients, deals: Deals) -> None:
    """The same request again, after an answer that was lost, creates nothing twice."""
    before = deals.list(DemandDeal).count
    first, again = created(desk, DRAFT, "key-4"), created(desk, DRAFT, "key-4")
    assert package_of(first).id == package_of(again).id
    assert deals.list(DemandDeal).count == before + 3


def test_undo_deletes_the_package_with_its_deals(desk: connect.Clients, deals: Deals) -> None:
    """What a form created can be undone: package and deals, but for what somebody has changed since."""
    before = deals.list(SupplyPackage).count, deals.list(DemandDeal).count
    created(desk, DRAFT, "key-7")
    undone(desk)
    assert (deals.list(SupplyPackage).count, deals.list(DemandDeal).count) == before
    changed = package_of(created(desk, replace(DRAFT, seats={1: Terms("2.5")}), "key-8"))
    deals.change(DemandDeal, changed.demand_deals[0].id, {"price": Decimal("9")})
    assert "Price now 9.00, set to 2.50" in " ".join(undone(desk))
    assert deals.get(SupplyPackage, changed.id or 0).demand_deals


def test_deals_of_before_are_not_deleted_by_undo(desk: connect.Clients, deals: Deals) -> None:
    """A package that links older deals is no action for Undo: a service deletes none that has deals."""
    draft = replace(DRAFT, deals="existing", links=(1,))
    plan = created(desk, draft, "key-9")
    assert (plan.record.number, package_of(plan).demand_deals[0].id) == (None, 1)


def test_a_long_name_is_cut_in_the_list_of_actions(desk: connect.Clients) -> None:
    """What an action is called has room in every database, however long the package's name is."""
    created(desk, DRAFT, "key-10")
    record = desk.bulk_actions.record(f"Created {'N' * 200}")
    record.add([ActionRow(("supply_deals", 1), "N" * 200, {}, {})])
    title = desk.bulk_actions.recent()[0].title
    assert title.startswith("Created N")
    assert title.endswith("…")


def undone(desk: connect.Clients) -> list[str]:
    """Undo the latest action; why something stays."""
    plan = undo_plan(desk.bulk_actions, desk.bulk_actions.recent()[0])
    while plan.is_running:
        plan.step(desk.deals)
    plan.start()
    while plan.is_running:
        plan.step(desk.deals)
    return [outcome.reason for outcome in plan.failures]


@pytest.fixture
def book() -> Book:
    """What a service with the four calls of the specification has."""
    return Book()


@pytest.fixture
def plain(book: Book, tmp_path: Path) -> Iterator[connect.Clients]:
    """A desk over that service."""
    with serving(standin_deals(State({}, deals=book))) as address:
        usual = {"curate_url": address, "deals_token": TOKEN, "deals_mapping_confirmed": True}
        person = Person("max", "Max", None, "manager", deals=ALL_DEALS)
        yield connect.connect(person, Settings(home=tmp_path / "desk", **usual, **SETTINGS))


def test_a_service_that_creates_no_single_deals(plain: connect.Clients, book: Book) -> None:
    """There the deals are created with the package, and those that differ are changed."""
    seats = {71: Terms("2.5"), 72: Terms("3.25", False, own_terms(False, 3, "5", "c@d.example"))}
    draft = replace(DRAFT, seats=seats)
    plan = created(plain, draft, "key-5", {})
    assert plan.gaps == []
    assert terms(plain.deals, package_of(plan)) == {
        71: (Decimal("2.5"), True, 1, Decimal("12.5"), "a@b.example"),
        72: (Decimal("3.25"), False, 3, Decimal("5"), "c@d.example"),
    }
    assert [method for method, _, _ in book.asked].count("PUT") == 1


def test_what_a_service_left_otherwise_is_said(plain: connect.Clients, book: Book) -> None:
    """Where a deal can't be changed the package stays, and which deal has other terms is said."""
    book.forgets = frozenset({"is_active"})
    seats = {71: Terms("2.5"), 72: Terms("3", False, PAUSED)}
    [gaps] = created(plain, replace(DRAFT, seats=seats), "key-6", {}).gaps
    assert "has the terms of the first seat" in gaps
    assert "is_active" in gaps
