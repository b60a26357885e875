"""Creating a package whose deals differ in their terms: all or nothing, once, over plain services too."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from serving import serving
from standin.book import SETTINGS, Book
from standin.deals import deals as standin_deals
from standin.state import TOKEN, State

from lib import connect
from lib.deals.client import Deals
from lib.deals.models import DemandDeal, Seat, SupplyPackage
from lib.people import ALL_DEALS, Person
from lib.settings import Settings
from lib.ui.deals.forms.draft import Draft, Terms
from lib.ui.deals.new_package import review
from lib.wire.errors import Invalid

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
    found = [deals.get(DemandDeal, one.id) for one in package.demand_deals]
    return {
        deal.seat and deal.seat.id: (
            deal.price, deal.is_active, deal.agency_curation_fee_type, deal.agency_curation_fee,
            deal.contact_email,
        )
        for deal in found
    }  # fmt: skip


def test_each_deal_on_its_own_terms(deals: Deals) -> None:
    """Each deal gets the terms of its seat, else the shared ones, in the one request of the package."""
    made = review.create_package(deals, DRAFT, SEATS, "key-1")
    assert made.gaps == ()
    assert terms(deals, made.package) == {
        1: (Decimal("2.5"), True, 1, Decimal("12.5"), "a@b.example"),
        2: (Decimal("3.25"), True, 3, Decimal("5"), "c@d.example"),
        3: (Decimal("4"), False, 1, Decimal("12.5"), "a@b.example"),
    }
    assert [deal.name for deal in made.package.demand_deals] == [
        f"Mixed - {s}" for s in ("Alpha Buying", "Beta Media", "Gamma Trading")
    ]


def test_without_shared_terms(deals: Deals) -> None:
    """A package whose deals are all paused is created with its deals paused."""
    draft = Draft.of(
        name="Paused", media_type="banner", start_date="2026-12-01", seats={1: Terms("2", False, PAUSED)}
    )
    made = review.create_package(deals, draft, SEATS, "key-2")
    assert terms(deals, made.package) == {1: (Decimal(2), False, 1, Decimal("12.5"), "a@b.example")}


def test_a_refused_deal_creates_nothing(deals: Deals) -> None:
    """When the terms of one seat are refused, neither package nor deals are there; its row is named."""
    seats = {**DRAFT.seats, 1: Terms("4", True, own_terms(False, None, "", ""))}
    before = deals.list(SupplyPackage).count, deals.list(DemandDeal).count
    refused = replace(DRAFT, seats=seats, terms={})
    with pytest.raises(Invalid, match="contact e-mail"):
        review.create_package(deals, refused, SEATS, "key-3")
    assert (deals.list(SupplyPackage).count, deals.list(DemandDeal).count) == before


def test_a_lost_answer_is_repeated(deals: Deals) -> None:
    """The same request again, after an answer that was lost, creates nothing twice."""
    before = deals.list(DemandDeal).count
    first = review.create_package(deals, DRAFT, SEATS, "key-4")
    again = review.create_package(deals, DRAFT, SEATS, "key-4")
    assert first.package.id == again.package.id
    assert deals.list(DemandDeal).count == before + 3


@pytest.fixture
def book() -> Book:
    """What a service with the four calls of the specification has."""
    return Book()


@pytest.fixture
def plain(book: Book, tmp_path: Path) -> Iterator[Deals]:
    """A client of that service."""
    with serving(standin_deals(State({}, deals=book))) as address:
        usual = {"curate_url": address, "deals_token": TOKEN, "deals_mapping_confirmed": True}
        person = Person("max", "Max", None, "manager", deals=ALL_DEALS)
        yield connect.connect(person, Settings(home=tmp_path / "desk", **usual, **SETTINGS)).deals


def test_a_service_that_creates_no_single_deals(plain: Deals, book: Book) -> None:
    """There the deals are created with the package, and those that differ are changed."""
    seats = {71: Terms("2.5"), 72: Terms("3.25", False, own_terms(False, 3, "5", "c@d.example"))}
    draft = replace(DRAFT, seats=seats)
    made = review.create_package(plain, draft, {}, "key-5")
    assert made.gaps == ()
    assert terms(plain, made.package) == {
        71: (Decimal("2.5"), True, 1, Decimal("12.5"), "a@b.example"),
        72: (Decimal("3.25"), False, 3, Decimal("5"), "c@d.example"),
    }
    assert [method for method, _, _ in book.asked].count("PUT") == 1


def test_what_a_service_left_otherwise_is_said(plain: Deals, book: Book) -> None:
    """Where a deal can't be changed the package stays, and which deal has other terms is said."""
    book.forgets = frozenset({"is_active"})
    seats = {71: Terms("2.5"), 72: Terms("3", False, PAUSED)}
    made = review.create_package(plain, replace(DRAFT, seats=seats), {}, "key-6")
    [gaps] = made.gaps
    assert "has the terms of the first seat" in gaps
    assert "is_active" in gaps
