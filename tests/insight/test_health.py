"""The health of deals: each check on a deal that fails it alone, and funnels worked out by hand."""

import datetime as dt
from dataclasses import replace

import pandas as pd
import pytest

from lib.deals.deal_health import DealContext, DealHealth, FunnelStep
from lib.deals.models import DemandDeal, Dsp, EntityChange, Seat, SupplyPackage
from lib.insight.deal_checks import Funnels, funnels, health
from lib.reporting.answers import Audience, Precision, Total
from lib.slicers.models import DataField, Slicer
from lib.slicers.roles import step_fields

NOW = dt.datetime(2026, 11, 22, 12, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)
PLAIN, SYNCING = Dsp(id=1, name="Plain", supports_deal_sync=False), Dsp(id=2, supports_deal_sync=True)
SEATS = {
    1: Seat(id=1, name="Alpha", dsp=PLAIN),
    2: Seat(id=2, name="Beta", dsp=SYNCING),
    3: Seat(id=3, dsp=None),
}
PACKAGES = {
    1: SupplyPackage(id=1, is_active=True, start_date=NOW - 30 * DAY),
    2: SupplyPackage(id=2, is_active=False, start_date=NOW - 30 * DAY),
    3: SupplyPackage(id=3, is_active=True, start_date=NOW - 30 * DAY, end_date=NOW - DAY),
    4: SupplyPackage(id=4, is_active=True, start_date=NOW + DAY),
    5: SupplyPackage(id=5, is_active=True, start_date=NOW - dt.timedelta(hours=2)),
}
CONTEXT = DealContext(PACKAGES, SEATS, {1: PLAIN, 2: SYNCING}, NOW)
NAMES = ("bids", "impressions", "viewable impressions")
LAST = dt.date(2026, 11, 21)


def deal(*packages: int, **more: object) -> DemandDeal:
    """A deal that nothing is wrong with, but for what is given."""
    linked = tuple(SupplyPackage(id=number) for number in packages or (1,))
    whole = {"id": 7, "price": "2.5", "seat": Seat(id=1), "is_active": True, "supply_deals": linked}
    return DemandDeal(**{**whole, **more})


def seen(*values: float, has_data: bool = True, is_exact: bool = True) -> Funnels:
    """The funnel of deal 7; without values it has no row."""
    steps = tuple(FunnelStep(name, value) for name, value in zip(NAMES, values, strict=False))
    return Funnels({"7": steps} if steps else {}, NAMES, LAST, has_data, is_exact)


GOOD = seen(100, 40, 30)


@pytest.mark.parametrize(
    ("at", "changes", "words"),
    [
        ({"created_at": NOW}, {}, "unknown: Newer than the report"),
        ({"created_at": NOW - DAY}, {}, "attention: No bids"),
        ({"updated_at": NOW}, {"supply_deals": [{"id": 1}]}, "unknown: Newer than the report"),
        ({"updated_at": NOW}, {"is_active": True}, "unknown: Newer than the report"),
        ({"updated_at": NOW}, {"price": 3}, "attention: No bids"),
    ],
)
def test_a_deal_that_is_newer_than_the_report(
    at: dict[str, dt.datetime], changes: dict[str, object], words: str
) -> None:
    """A deal that was created, linked or resumed after the last day of the report is not judged by it, unless
    it delivered; another change of it is no reason."""
    entry = EntityChange(id=1, at=NOW, who="ada", action="changed", before={}, after=changes)
    context = replace(CONTEXT, history=lambda entity, number: [entry])
    new = deal(**{"created_at": NOW - 30 * DAY, **at})
    result = health(new, context, seen())
    assert f"{result.state}: {result.words}" == words
    assert health(new, context, GOOD).state == "healthy"


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (deal(), "healthy: Delivers"),
        (deal(is_active=False), "idle: Paused"),
        (deal(3), "idle: Ended"),
        (deal(4), "idle: Not started"),
        (deal(3, 4), "idle: Not started"),
        (deal(supply_deals=()), "attention: No package linked"),
        (deal(2), "idle: Package paused"),
        (deal(1, 2), "healthy: Delivers"),
        (deal(price=None), "attention: No price"),
        (deal(price="0"), "attention: Price is zero"),
        (deal(seat=None), "attention: No seat"),
        (deal(seat=Seat(id=3)), "attention: Seat without DSP"),
        (deal(deal_sync=True), "attention: DSP without deal sync"),
        (deal(deal_sync=True, seat=Seat(id=2)), "healthy: Delivers"),
        (deal(deal_sync=True, seat=Seat(id=2), contact_email=""), "attention: Deal sync without contact"),
        (DemandDeal(id=7), "healthy: Delivers"),
        (deal(5), "unknown: Newer than the report"),
    ],
)
def test_static_checks(one: DemandDeal, words: str) -> None:
    """What a deal says itself is checked first, whatever it delivered; what a service leaves out is not."""
    result = health(one, CONTEXT, GOOD)
    assert f"{result.state}: {result.words}" == words


def test_a_fault_keeps_the_funnel() -> None:
    """What a deal with a fault delivered before is shown with it."""
    result = health(deal(price=None), CONTEXT, GOOD)
    assert result == DealHealth("attention", "No price", GOOD.steps["7"])


@pytest.mark.parametrize(
    ("funnel", "words"),
    [
        (seen(100, 40, 30), "healthy: Delivers"),
        (seen(100, 40, 0), "attention: Impressions, no viewable impressions"),
        (seen(100, 0, 0), "attention: Bids, no impressions"),
        (seen(0, 0, 0), "attention: No bids"),
        (seen(), "attention: No bids"),
        (seen(has_data=False), "unknown: No data"),
        (seen(is_exact=False), "unknown: No bids in the sample"),
        (seen(100, 40, 30, is_exact=False), "healthy: Delivers"),
        (None, "unknown: No report of deals"),
    ],
)
def test_where_the_funnel_breaks(funnel: Funnels | None, words: str) -> None:
    """The first step at zero is named; no data, a sample and no report are not taken as zero."""
    result = health(deal(), CONTEXT, funnel)
    assert f"{result.state}: {result.words}" == words


def test_funnels_of_an_answer() -> None:
    """A row per deal; the steps that the slicer has, in their order, without what has no value."""
    slicer = Slicer(data_fields=tuple(DataField(name=name) for name in ("viewable_imps", "imps", "bids")))
    fields = step_fields(slicer)
    assert list(fields.items()) == [
        ("bids", "bids"),
        ("impressions", "imps"),
        ("viewable impressions", "viewable_imps"),
    ]
    values = pd.DataFrame({"bids": [9.0, 4], "imps": [3.0, 0], "viewable_imps": [1.0, float("nan")]})
    names = pd.DataFrame({"deal": ["7", "8"]})
    answer = Audience(names, values, values, Total({}, 2, ("2026-11-21",)), precision=Precision(10, 10))
    by_deal = funnels(answer, fields, LAST)
    assert by_deal.steps["7"] == (
        FunnelStep("bids", 9),
        FunnelStep("impressions", 3),
        FunnelStep("viewable impressions", 1),
    )
    assert by_deal.steps["8"] == (FunnelStep("bids", 4), FunnelStep("impressions", 0))
    assert (by_deal.has_data, by_deal.is_exact) == (True, True)
    part = funnels(Audience(names, values, values, Total({}, 2), precision=Precision(5, 10)), fields, LAST)
    assert not part.is_exact
    nothing = funnels(Audience(names[:0], values[:0], values[:0], Total({}, 0)), fields, LAST)
    assert not nothing.has_data


def test_shares_of_the_step_before() -> None:
    """40 of 100 bids are 40 %, 30 of 40 impressions 75 %; of zero there is no share."""
    assert DealHealth("healthy", "", seen(100, 40, 30).steps["7"]).rates == [
        ("bids", 100, None),
        ("impressions", 40, 40),
        ("viewable impressions", 30, 75),
    ]
    assert DealHealth("healthy", "", seen(0, 0, 0).steps["7"]).rates[1] == ("impressions", 0, None)


def test_a_price_is_no_reason() -> None:
    """A deal that bids and wins nothing is said to, whatever its price: a floor that is low loses nothing."""
    result = health(deal(), CONTEXT, seen(100, 0, 0))
    assert (result.state, result.words) == ("attention", "Bids, no impressions")
