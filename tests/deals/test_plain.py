"""The desk's deals against a service that has the four calls of the specification, and writes otherwise."""

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import httpx
import pytest
from conformance.transports import socket
from sqlalchemy import Engine
from standin.book import SETTINGS, Book
from standin.deals import deals
from standin.state import TOKEN, State

from lib import database
from lib.deals.abilities import PLAIN
from lib.deals.client import Deals
from lib.deals.compat import PlainDeals, has_lists
from lib.deals.compat.dialect import Dialect
from lib.deals.compat.memory import Memory
from lib.deals.models import (
    CreateDemandDeals,
    DemandDeal,
    DemandDealOption,
    DomainList,
    Dsp,
    GeoTarget,
    Package,
    Reference,
    Seat,
    SeatChoice,
    SupplyPackage,
)
from lib.insight.assessor import Assessor
from lib.ui.deals.insight.health_source import check_health
from lib.wire.errors import Conflict, Forbidden, Invalid, NotFound, Unauthorized, Unreadable, Unsupported

START = dt.datetime(2026, 3, 1, 9, tzinfo=dt.timezone(dt.timedelta(hours=1)))
ALDER = Seat(id=71, name="Alder", dsp=Dsp(id=8, name="Alder DSP", supports_deal_sync=True))
DIALECT = Dialect.of(SETTINGS["targeting_names"], SETTINGS["fee_types"])
US = GeoTarget(type="country", value="US", is_excluded=False)
Make = Callable[..., PlainDeals]


@pytest.fixture
def state() -> State:
    """A stand-in with an empty book."""
    return State({}, deals=Book())


@pytest.fixture
def book(state: State) -> Book:
    """What it has."""
    deals_book: Book = state.deals
    return deals_book


@pytest.fixture
def http(state: State) -> Iterator[httpx.Client]:
    """A client of it, over a socket."""
    with socket(deals(state)) as client:
        yield client


@pytest.fixture
def engine(tmp_path: Any) -> Engine:
    """A new database with its tables."""
    database_engine = database.engine(f"sqlite:///{tmp_path}/tranche.db")
    database.migrate(database_engine)
    return database_engine


@pytest.fixture
def make(http: httpx.Client, engine: Engine) -> Make:
    """Makes somebody's client of the service."""

    def client_of(who: str = "max", token: str = TOKEN, **options: Any) -> PlainDeals:
        memory = Memory(engine, str(http.base_url), who)
        return PlainDeals(memory, (ALDER,), http, token, codec=DIALECT, honors_keys=False, **options)

    return client_of


@pytest.fixture
def plain(make: Make) -> PlainDeals:
    """Max's client."""
    return make()


def package(*prices: str, **more: Any) -> SupplyPackage:
    """A package to create, with a deal for the seats 71 and 72 at these prices."""
    options = tuple(
        DemandDealOption(seat=Reference(id=71 + number), price=Decimal(price))
        for number, price in enumerate(prices)
    )
    new = {"create_demand_deals": CreateDemandDeals(demand_deals_options=options)} if prices else {}
    fields = {"name": "Autumn", "media_type": "banner", "start_date": START, "is_active": True} | new
    return SupplyPackage.model_construct(**fields | more)


def test_it_is_reported_from_one_with_lists(http: httpx.Client) -> None:
    """A service that knows no list is one without."""
    assert not has_lists(Deals(http, TOKEN, codec=DIALECT))


def test_a_package_is_made_and_remembered(plain: PlainDeals, make: Make, book: Book) -> None:
    """Package and deals are listed here for everybody, as they were asked for and as the service has them."""
    new_package = plain.create(SupplyPackage, package("2.5", "3", geo_targetings=(US,)), "a-key")
    assert (new_package.name, new_package.geo_targetings, new_package.start_date) == ("Autumn", (US,), START)
    assert book.packages[new_package.id or 0]["geo_targetings"] == [
        {"geo": {"kind": "COUNTRY", "code": "US"}, "exclude": 0}
    ]
    ada = make("ada")
    [listed] = ada.list(SupplyPackage, ordering="id", limit=500).results
    assert (listed.id, listed.media_type, listed.geo_targetings, listed.status) == (
        new_package.id, "banner", (US,), "active",
    )  # fmt: skip
    dearest_first = ada.list(DemandDeal, ordering="-price").results
    assert [(deal.name, deal.price) for deal in dearest_first] == [
        ("Autumn - Birch Media", Decimal(3)),
        ("Autumn - Alder Trading", Decimal("2.5")),
    ]
    assert [reference.id for reference in dearest_first[0].supply_deals] == [new_package.id]
    assert {reference.id for reference in new_package.demand_deals} == {deal.id for deal in dearest_first}


def test_the_health_of_its_deals(plain: PlainDeals, book: Book) -> None:
    """Nothing is wrong with deals by what the service returns, and without a report nothing else is known."""
    plain.create(SupplyPackage, package("2.5", "3"), "a-key")
    health = check_health(plain, {71: ALDER}, Assessor(None).assess)
    assert [(deal_state.state, deal_state.words) for deal_state in health.values()] == [
        ("unknown", "No report of deals")
    ] * 2


def test_no_key_is_sent_where_none_is_honored(plain: PlainDeals, book: Book) -> None:
    """The service would not know it; screens ask `repeats`."""
    plain.create(SupplyPackage, package(), "a-key")
    assert book.keys == []
    assert not plain.abilities.repeats


def test_seats_are_those_of_the_settings_and_those_that_were_seen(plain: PlainDeals, book: Book) -> None:
    """A name of the settings comes before none; a seat of a deal that was opened is known from then on."""
    assert [seat.id for seat in plain.list(Seat).results] == [71]
    plain.get(DemandDeal, book.add(71, "1.00"))
    opened = plain.get(DemandDeal, book.add(99, "1.00"))
    assert opened.seat is not None
    assert {seat.id: seat.name for seat in plain.list(Seat).results} == {71: "Alder", 99: None}
    assert plain.list(DemandDeal).results[0].seat == ALDER
    assert [dsp.name for dsp in plain.list(Dsp, ordering="id").results] == ["Alder DSP", "Birch DSP"]
    assert plain.get(Seat, 71) == ALDER
    assert plain.list(DomainList).count == 0


def test_a_deal_is_brought_in_by_its_id(plain: PlainDeals, book: Book) -> None:
    """One that was made elsewhere is in the list once it was opened; one that is not there is not."""
    deal = book.add(72, "1.25", agency_curation_fee="5", agency_curation_fee_type=30)
    assert plain.list(DemandDeal).count == 0
    opened = plain.get(DemandDeal, deal)
    assert (opened.price, opened.agency_curation_fee_type) == (Decimal("1.25"), 3)
    assert opened.model_extra["audit"] == {"by": "batch", "run": "7"}
    assert opened.currency == "EUR"
    assert [result.id for result in plain.list(DemandDeal, search="elsewhere").results] == [deal]
    with pytest.raises(NotFound):
        plain.get(DemandDeal, 9999)
    assert plain.list(DemandDeal).count == 1


def test_a_deleted_deal(plain: PlainDeals, book: Book) -> None:
    """It leaves the list when the service does not have it any more; its history stays."""
    deal = book.add(72, "1.25")
    plain.get(DemandDeal, deal)
    del book.deals[deal]
    with pytest.raises(NotFound):
        plain.get(DemandDeal, deal)
    assert plain.list(DemandDeal).count == 0
    assert [change.action for change in plain.history(DemandDeal, deal)] == ["removed", "seen"]


def test_a_change_sends_what_was_changed_alone(plain: PlainDeals, book: Book) -> None:
    """Fields that nobody here knows are never sent, and stay as they are; the history tells who did it."""
    deal = book.add(72, "1.25", floor={"kind": "soft", "value": 1})
    read = plain.get(DemandDeal, deal)
    plain.change(DemandDeal, deal, {"price": Decimal("1.75")}, read.etag)
    assert [body for method, _, body in book.asked if method == "PUT"] == [{"price": 1.75}]
    assert book.deals[deal]["floor"] == {"kind": "soft", "value": 1}
    assert plain.list(DemandDeal).results[0].price == Decimal("1.75")
    changed = plain.history(DemandDeal, deal)[0]
    assert (changed.who, changed.before, changed.after) == ("max", {"price": "1.25"}, {"price": "1.75"})


def test_an_edit_that_meets_another(plain: PlainDeals, book: Book) -> None:
    """Without ETags of the service: what somebody changed since it was read is said, and nothing is sent."""
    deal = book.add(72, "1.25")
    read = plain.get(DemandDeal, deal)
    book.deals[deal]["price"] = "4.00"
    with pytest.raises(Conflict, match=r'price from "1.25" to "4.00"'):
        plain.change(DemandDeal, deal, {"price": Decimal("1.75")}, read.etag)
    assert book.deals[deal]["price"] == "4.00"
    again = plain.get(DemandDeal, deal)
    plain.change(DemandDeal, deal, {"price": Decimal("1.75")}, again.etag)
    assert book.deals[deal]["price"] == "1.75"


def test_a_change_that_was_not_kept(plain: PlainDeals, book: Book) -> None:
    """A service that says 204 and leaves a field as it was is caught."""
    deal = book.add(72, "1.25")
    book.forgets = frozenset({"price"})
    with pytest.raises(Unsupported, match="left price as it was"):
        plain.change(DemandDeal, deal, {"price": Decimal(2), "is_active": False})
    assert book.deals[deal]["is_active"] is False


def test_a_change_that_is_answered_otherwise(plain: PlainDeals, book: Book) -> None:
    """A 200 with a body is as good; a page for people is looked behind."""
    deal = book.add(72, "1.25")
    book.changed_code = 200
    plain.change(DemandDeal, deal, {"price": Decimal(2)})
    book.garbles = 1
    plain.change(DemandDeal, deal, {"price": Decimal(3)})
    assert plain.list(DemandDeal).results[0].price == Decimal(3)
    book.garbles, book.forgets = 1, frozenset({"price"})
    with pytest.raises(Unreadable, match="may have been saved"):
        plain.change(DemandDeal, deal, {"price": Decimal(4)})


@pytest.mark.parametrize("code", [200, 400])
def test_errors_inside_of_a_success(plain: PlainDeals, book: Book, code: int) -> None:
    """A 200 that carries an error is that error, as a 400 is; nothing is remembered."""
    book.error_code = code
    with pytest.raises(Invalid) as error:
        plain.create(SupplyPackage, package(name=" "))
    assert error.value.fields == {"name": ["This field may not be blank."]}
    deal = book.add(72, "1.25")
    with pytest.raises(Invalid, match="Must be greater than zero"):
        plain.change(DemandDeal, deal, {"price": Decimal(0)})
    assert plain.list(SupplyPackage).count == 0


def test_a_creation_that_is_answered_otherwise(plain: PlainDeals, book: Book) -> None:
    """200 is as good as 201; after a page for people nobody knows, and that is said."""
    book.made_code = 200
    assert plain.create(SupplyPackage, package("2")).id
    book.garbles = 1
    with pytest.raises(Unreadable, match="may have been created"):
        plain.create(SupplyPackage, package("2"))
    assert len(book.packages) == 2


def test_deals_that_can_not_be_read_after_a_creation(plain: PlainDeals, book: Book) -> None:
    """The creation is not lost: what its answer says of the deals is remembered."""
    shown = book.deals
    book.deals = Hidden()
    new_package = plain.create(SupplyPackage, package("2.5", "3"))
    assert [(deal.name, deal.price) for deal in plain.list(DemandDeal).results] == [
        ("Autumn - Alder Trading", None),
        ("Autumn - Birch Media", None),
    ]
    assert [reference.id for reference in plain.list(DemandDeal).results[0].supply_deals] == [new_package.id]
    assert not shown


class Hidden(dict[int, Any]):
    """Deals that can be made and not be read."""

    def get(self, key: int, default: Any = None) -> Any:
        """Nothing."""
        return default


def test_a_package_is_shown_as_it_was_last_known(plain: PlainDeals, make: Make) -> None:
    """The service shows no package by itself: the desk does, and says since when."""
    new_package = plain.create(SupplyPackage, package("2.5"))
    latest = make("ada").get(SupplyPackage, new_package.id or 0)
    assert (latest.name, latest.is_active) == ("Autumn", True)
    assert latest.as_of is not None
    assert abs(dt.datetime.now(dt.UTC) - latest.as_of) < dt.timedelta(minutes=5)
    with pytest.raises(NotFound):
        plain.get(SupplyPackage, 4711)


def test_what_it_can_not_do(plain: PlainDeals, book: Book) -> None:
    """Deleting, and changing a package, are refused in a sentence before anything is sent."""
    new_package = plain.create(SupplyPackage, package("2.5"))
    before = len(book.asked)
    with pytest.raises(Unsupported, match="can't delete a supply package; whoever runs it can"):
        plain.remove(SupplyPackage, new_package.id or 0)
    with pytest.raises(Unsupported, match="can't change a supply package"):
        plain.change(SupplyPackage, new_package.id or 0, {"name": "Other"})
    with pytest.raises(Unsupported, match="can't create a demand deal"):
        plain.create(DemandDeal, DemandDeal(name="x"))
    assert len(book.asked) == before
    assert plain.abilities == PLAIN.__class__(**{**vars(PLAIN), "repeats": False})


def test_a_package_of_the_deprecated_kind(plain: PlainDeals) -> None:
    """The fourth call works too; its deals are remembered."""
    choices = (SeatChoice(value=True, seat=Seat(id=71)), SeatChoice(value=False, seat=Seat(id=72)))
    new_package = plain.create(Package, Package(name="Old", seats=choices))
    assert [deal.name for deal in new_package.demand_deals] == ["Old - Alder Trading"]
    assert [deal.name for deal in plain.list(DemandDeal).results] == ["Old - Alder Trading"]
    assert plain.list(Package).count == 1


def test_existing_deals_are_linked(plain: PlainDeals, book: Book) -> None:
    """A package that links deals of elsewhere brings them in, with the package in them."""
    deal = book.add(72, "1.25")
    new_package = plain.create(SupplyPackage, package(demand_deals=(Reference(id=deal),)))
    [known] = plain.list(DemandDeal).results
    assert (known.id, [reference.id for reference in known.supply_deals]) == (deal, [new_package.id])
    assert [change.action for change in plain.history(DemandDeal, deal)] == ["seen"]


def test_another_header_for_the_token(make: Make, book: Book) -> None:
    """The header's name and scheme are settings."""
    book.header, book.scheme = "X-Token", ""
    with pytest.raises(Unauthorized):
        make().get(DemandDeal, 1)
    deal = book.add(72, "1.25")
    assert make(header="X-Token", scheme="").get(DemandDeal, deal).id == deal


def test_nothing_is_sent_where_nothing_may_be_changed(make: Make, book: Book) -> None:
    """`refuses` is said instead, of each kind of change; reading goes on."""
    deal = book.add(72, "1.25")
    careful = make(abilities=replace(PLAIN, refuses="The mapping is not confirmed"))
    assert careful.get(DemandDeal, deal).id == deal
    for work in (
        lambda: careful.create(SupplyPackage, package()),
        lambda: careful.change(DemandDeal, deal, {"price": 2}),
        lambda: careful.remove(DemandDeal, deal),
    ):
        with pytest.raises(Forbidden, match="The mapping is not confirmed"):
            work()
    assert {method for method, _, _ in book.asked} == {"GET"}


def test_filters_of_a_list(plain: PlainDeals, book: Book) -> None:
    """What is at hand is filtered, ordered and cut as a service would; a field that is none is named."""
    ids = [book.add(seat, price) for seat, price in ((71, "3.00"), (72, "1.00"), (71, "2.00"))]
    for deal in ids:
        plain.get(DemandDeal, deal)
    assert [deal.id for deal in plain.list(DemandDeal, seat=71, ordering="-price").results] == [
        ids[0],
        ids[2],
    ]
    assert [deal.id for deal in plain.list(DemandDeal, limit=1, offset=1).results] == [ids[1]]
    assert [deal.id for deal in plain.list(DemandDeal, id=[ids[1], ids[2]]).results] == ids[1:]
    assert len([*plain.everything(DemandDeal)]) == 3
    with pytest.raises(Invalid, match="did you mean 'price'"):
        plain.list(DemandDeal, prize=3)


def test_what_is_at_hand_is_found_by_what_is_linked(plain: PlainDeals, book: Book) -> None:
    """As our own service does: packages by seat, deals by their package's targeting, orders, counts."""
    new_package = plain.create(SupplyPackage, package("2.00", "4.00", geo_targetings=(US,)))
    other = plain.create(SupplyPackage, package(name="Spring", is_active=False))
    deals_ = sorted(deal.id for deal in new_package.demand_deals)

    def ids_of(model: Any, **params: Any) -> list[int]:
        return [result.id for result in plain.list(model, **params).results]

    assert ids_of(SupplyPackage, search="autumn alder") == [new_package.id]
    assert ids_of(SupplyPackage, search='"spri') == [other.id]
    assert ids_of(SupplyPackage, search="pring") == ids_of(SupplyPackage, search='"alder autumn"') == []
    assert ids_of(SupplyPackage, seat=72) == ids_of(SupplyPackage, dsp=8) == [new_package.id]
    assert ids_of(DemandDeal, search="us") == deals_
    assert ids_of(DemandDeal, search="usa", meaning=["usa:country:US"]) == deals_
    assert ids_of(DemandDeal, search="usa") == []
    assert ids_of(SupplyPackage, ordering="-price") == [new_package.id, other.id]
    assert ids_of(DemandDeal, media_type="banner", ordering="-price") == deals_[::-1]
    assert plain.list(SupplyPackage, counts="status,seat", limit=1).counts == {
        "status": {"active": 1, "paused": 1},
        "seat": {"71": 1, "72": 1},
    }
