"""Shared inventory: the figures of a slicer of seven rows, worked out by hand in each test."""

from decimal import Decimal
from pathlib import Path

import pytest
from dealing import clients
from inventory import asked, embedded, known, slicer
from standin.app import served
from standin.state import TOKEN, State

from lib.deals.models import DemandDeal, GeoTarget, Seat, SizeTarget, Targeting, ValueTarget
from lib.deals.targeting.filters import report_filters
from lib.insight.overlap import SharedInventory, TwoPrices, overlaps, questions, two_prices
from lib.reporting.answers import Estimate
from lib.serving.connect import Clients
from lib.settings import Settings

PACKAGES = (
    Targeting(geo_targetings=(GeoTarget(type="country", value="US"),)),  # 50 + 10 + 38
    Targeting(browser_targetings=(ValueTarget(value="Safari", is_excluded=True),)),  # 50 + 10 + 20 + 4 + 70
    Targeting(size_targetings=(SizeTarget(width=728, height=90),)),  # 10 + 20 + 8
    Targeting(geo_targetings=(GeoTarget(type="country", value="FR"),)),  # 70 + 8
)


@pytest.fixture(params=["embedded", "specification alone"])
def of(request: pytest.FixtureRequest, own_home: Path):
    """The clients: of a service of our own, and of one that knows the specification and nothing more."""
    if request.param == "embedded":
        yield embedded(own_home)
        return
    with served(State({("demo", "inventory"): known()})) as service:
        settings = Settings(
            home=own_home,
            demo=True,
            base_url=service.address,
            reporting_token=TOKEN,
            slicers="demo/inventory",
        )
        yield clients(settings)


def test_what_pairs_share_by_hand(of: Clients) -> None:
    """US and not Safari share 60 of 98 and of 154; a size of several counts; two countries share none."""
    filters = [report_filters(package, slicer(of), {}).filters for package in PACKAGES]
    answers = [asked(of, question) for question in questions(filters)]
    process_lock, pairs = overlaps(answers, len(PACKAGES), "bids")
    assert [figure.value for figure in process_lock] == [98, 154, 38, 78]
    shared = {(pair.first, pair.second): pair.volume.value for pair in pairs}
    assert shared == {(0, 1): 60, (0, 2): 10, (0, 3): 0, (1, 2): 30, (1, 3): 70, (2, 3): 8}
    assert (pairs[0].of_first.value, pairs[0].of_second.value) == (100 * 60 / 98, 100 * 60 / 154)
    assert all(pair.volume.is_exact for pair in pairs)


def deal(seat: int | None, price: str | None, **more: object) -> DemandDeal:
    """A deal of a seat at a price."""
    return DemandDeal(seat=seat and Seat(id=seat, name=f"S{seat}"), price=price, **more)


def shared(first: int, second: int, volume: Estimate) -> SharedInventory:
    """What two packages share."""
    return SharedInventory(first, second, volume, Estimate(None), Estimate(None))


def test_seats_with_two_prices() -> None:
    """Only seats of both packages with different prices count, where something is shared, the most first."""
    deals = [
        [deal(1, "2"), deal(2, "3"), deal(3, "4"), deal(4, "5", is_active=False)],
        [deal(1, "2.5"), deal(2, "3"), deal(4, "9"), deal(None, "1")],
        [deal(1, "2"), deal(2, "1"), deal(3, None)],
    ]
    some, more, none = shared(0, 1, Estimate(10)), shared(1, 2, Estimate(20)), shared(0, 2, Estimate(0))
    assert two_prices(deals, [some, more, none]) == [
        TwoPrices(more, "S1", (Decimal(2), Decimal("2.5"))),
        TwoPrices(more, "S2", (Decimal(1), Decimal(3))),
        TwoPrices(some, "S1", (Decimal(2), Decimal("2.5"))),
    ]


def test_a_sample_may_hide_what_is_shared() -> None:
    """Nothing in a sample is not nothing: the seat is named all the same."""
    deals = [[deal(1, "2")], [deal(1, "3")]]
    assert len(two_prices(deals, [shared(0, 1, Estimate(0, 0, 12))])) == 1
