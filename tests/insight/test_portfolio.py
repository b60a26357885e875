"""The portfolio on made auctions, whose losses are known, and on cells and days worked out by hand."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest
from auctions import LAST, made
from portfolio import score

from lib.insight import pace
from lib.insight.competition import MEASURES, InventoryCells, PortfolioDeal
from lib.insight.pace import Cap, DealDays
from lib.insight.portfolio import PlannedChange, Standing, Verdict, evidence, planned_change
from lib.reporting.models import Filter

DAYS = 63


def test_true_losses_lie_in_the_ranges() -> None:
    """Of some hundred made deals at least 93 % of ranges hold the true loss; at most 5 % of the claims that a
    deal could end are false, and some are found; caps and deals without scale are found, none falsely."""
    of = score(made(np.random.default_rng(7), 80, 60_000)) + score(made(np.random.default_rng(8), 80, 60_000))
    assert of.deals > 80
    assert of.held >= 0.93 * of.deals
    assert of.claims > 0
    assert of.false_claims <= 0.05 * of.claims
    assert of.caps_found >= 0.8 * of.caps > 0
    assert of.tiny_found >= 0.8 * of.tiny > 0
    assert of.caps_false == of.tiny_false == 0


def test_buyers_of_one_deal_alone_are_told() -> None:
    """Where each deal has a buyer of its own, no deal is said to end without loss."""
    of = score(made(np.random.default_rng(9), 60, 50_000, bound=1.0))
    assert (of.deals > 30, of.could_end, of.claims) == (True, 0, 0)


def cells(*rows: tuple[int, str, float, float, float, float]) -> pd.DataFrame:
    """Rows of deal, country, bid requests, bids, wins and win CPM."""
    frame = pd.DataFrame(rows, columns=["deal", "country", "requests", "bids", "wins", "cpm"])
    return frame.assign(deal=frame["deal"].astype(str), spend=frame["wins"] * frame["cpm"] / 1000)


def deal(
    number: int, *countries: str, floor: float | None = 2.0, seat: int = 1, **more: object
) -> PortfolioDeal:
    """A deal of these countries; of all without any."""
    only = (Filter(name="country", value=countries, match="equals"),) if countries else ()
    return PortfolioDeal(number, seat, floor, (only,), **more)  # type: ignore[arg-type]


def inventory(deals: list[PortfolioDeal], rows: pd.DataFrame) -> InventoryCells:
    """These cells, by country."""
    return InventoryCells(deals, rows, ["country"])


EQUAL = cells((1, "US", 900, 500, 400, 3), (1, "DE", 100, 50, 40, 3), (2, "US", 900, 40_000, 32_000, 3))


def test_overlap_has_a_direction() -> None:
    """90 % of the first deal's bid requests reach the second, and all of the second's the first."""
    found = dict(inventory([deal(1), deal(2, "US")], EQUAL).competition())
    assert found[1].rivals == ((2, 90.0),)
    assert found[1].alone == pytest.approx(10)
    assert (found[2].rivals, found[2].alone) == (((1, 100.0),), 0)


def test_other_seats_do_not_compete() -> None:
    """A deal of another seat reaches the same, and is no rival."""
    found = dict(inventory([deal(1), deal(2, "US", seat=2)], EQUAL).competition())
    assert (found[1].rivals, found[1].alone) == ((), 100)


def test_a_deal_that_is_full_replaces_none() -> None:
    """What the other deal would have had is nothing once it is capped."""
    both = inventory([deal(1, "US"), deal(2)], EQUAL)
    assert dict(both.competition())[1].to_seat.value == pytest.approx(100 * 400 / 440)
    assert dict(both.competition({2}))[1].to_seat.high == 0


@pytest.mark.parametrize(
    ("other", "low", "value", "high"),
    [
        pytest.param({"floor": 2.5}, 0, 100, 100, id="the average paid enough"),
        pytest.param({"floor": 4.0}, 0, 0, 50, id="half at most paid enough: 3 on average, 2 at least"),
        pytest.param({"floor": None}, 0, 0, 100, id="its price is not known"),
        pytest.param({"floor": 2.0, "is_whole": False}, 0, 100, 100, id="its targeting is known in part"),
    ],
)
def test_what_is_not_known_widens_the_range(
    other: dict[str, object], low: float, value: float, high: float
) -> None:
    """What was paid bounds the wins that a dearer deal would have; what is unknown supports no claim."""
    rows = cells((1, "US", 9e5, 5e5, 4e5, 3), (2, "US", 9e5, 5e5, 4e5, 3))
    found = dict(inventory([deal(1), deal(2, **other)], rows).competition())  # type: ignore[arg-type]
    seat = found[1].to_seat
    assert (seat.low, seat.value, seat.high) == pytest.approx((low, value, high))


def test_bid_requests_that_the_other_did_not_get() -> None:
    """The other deal got 60 % of them, and the first one 70: at least 30 of 70 reached both."""
    seat = dict(partly(1e6).competition())[1].to_seat
    assert (seat.low, seat.value) == pytest.approx((100 * 3 / 7, 60), rel=0.01)


def partly(bids: float) -> InventoryCells:
    """Two deals with 70 and 60 % of the bid requests of a country; the second bids so often in another."""
    rows = cells(
        (1, "US", 7e6, 5e6, 4e6, 3), (2, "US", 6e6, 5e6, 4e6, 3), (2, "DE", 1e6, bids, bids / 2, 3),
        (3, "US", 1e7, 0, 0, 0),
    )  # fmt: skip
    return inventory([deal(1, "US"), deal(2), deal(3, seat=9)], rows)


def test_a_buyer_of_one_deal_alone_replaces_nothing_for_sure() -> None:
    """Where the other deal bids no more than beside this one, or not at all, none is sure to stay."""
    assert dict(partly(5e5).competition())[1].to_seat.low == 0
    assert dict(partly(0).competition())[1].to_seat.low == 0


def series(draw: np.random.Generator, level: float = 100.0, noise: float = 0.15) -> np.ndarray:
    """Daily figures with a weekly rhythm and noise."""
    return level * (1 + 0.2 * np.sin(np.arange(DAYS) * 2 * np.pi / 7)) * draw.lognormal(0, noise, DAYS)


def days(
    spend: np.ndarray, requests: np.ndarray | None = None, life: tuple[float, float] = (0, 0)
) -> DealDays:
    """The days of a deal with as many wins as it spends dollars."""
    asked = spend * 50 if requests is None else requests
    return DealDays(asked, spend.copy(), spend, life)


def test_a_trend_is_beyond_noise() -> None:
    """At most 8 % of 200 series of noise have a trend, and four in five that halve in the last week."""
    draw = np.random.default_rng(3)
    noise = [series(draw) for _ in range(200)]
    halved = [np.concatenate([one[:-7], one[-7:] / 2]) for one in noise]
    assert sum(pace.trend(one) is not None for one in noise) <= 16
    found = [pace.trend(one) for one in halved]
    assert sum(one is not None and one < 0 for one in found) >= 160


def test_a_flat_spend_is_a_cap_only_where_demand_moves() -> None:
    """Spend at 50 a day while bid requests vary is a cap of 50; steady bid requests explain it, and no cap is
    seen in noise."""
    draw = np.random.default_rng(4)
    flat, varies = np.full(DAYS, 50.0), series(draw)
    assert pace.cap(deal(1), days(flat, varies), LAST) == Cap("daily", 50, 28)
    assert pace.cap(deal(1), days(flat, np.full(DAYS, 9e3)), LAST) is None
    assert not any(pace.cap(deal(1), days(series(draw, noise=0.03)), LAST) for _ in range(200))


def test_goals_that_are_reached() -> None:
    """A budget that is spent, and a goal reached before its end; not one that is not, or one at its end."""
    draw = np.random.default_rng(5)
    of, later = series(draw), LAST + timedelta(days=9)
    some = replace(deal(1), units=1000.0, end=later)
    assert pace.cap(replace(deal(1), budget=500.0), days(of, life=(9, 490)), LAST) == Cap("budget", 500)
    assert pace.cap(replace(deal(1), budget=500.0), days(of, life=(9, 400)), LAST) is None
    assert pace.cap(some, days(of, life=(1000, 9)), LAST) == Cap("units", 1000)
    assert pace.cap(replace(some, end=LAST), days(of, life=(1000, 9)), LAST) is None


def test_scale_needs_like_deals_or_a_goal() -> None:
    """Held against eight deals of its media type, with the range of their middle; against none of too few."""
    draw = np.random.default_rng(6)
    deals = [replace(deal(number), media_type="video") for number in range(1, 10)]
    of = {one.id: days(series(draw, 1.0 if one.id == 1 else 100.0)) for one in deals}
    scales = pace.scales(deals, of)
    assert [number for number, one in scales.items() if one.is_never] == [1]
    assert scales[2].span[0] <= scales[2].against <= scales[2].span[1]
    assert pace.scales(deals[:7], of) == {}
    goal = replace(deals[0], units=6300.0, start=LAST - timedelta(days=62), end=LAST + timedelta(days=1))
    assert pace.scales([goal], of)[1].is_never
    assert not pace.scales([replace(goal, units=63.0)], of)[1].is_never


def standing(verdict: Verdict, of: PortfolioDeal, cap: Cap | None = None) -> Standing:
    """A deal with this verdict."""
    found = dict(inventory([of, deal(2, "US")], EQUAL).competition())
    return Standing(of, 1000, 550, 440, 1.3, verdict, found[1], cap=cap)


def planned(one: Standing, last: date = LAST) -> PlannedChange | str:
    """Its change, where no target is known to be narrow."""
    return planned_change(one, str, last, lambda of: None)


def test_changes_only_of_what_is_known() -> None:
    """A deal that could end is paused; a spent budget grows by its pace until then; a cap outside the terms,
    a competing deal and one without dates are left alone, with the reason in words."""
    booked = replace(deal(1), start=LAST - timedelta(days=49), end=LAST + timedelta(days=50), budget=400.0)
    paused = planned(standing("Could end", deal(1)))
    assert isinstance(paused, PlannedChange)
    assert (paused.entity, paused.entity_id, paused.fields) == ("demand_deals", 1, {"is_active": False})
    assert "Ask the buyer" in paused.reason
    raised = planned(standing("Capped", booked, Cap("budget", 400, 10)))
    assert isinstance(raised, PlannedChange)
    assert raised.fields == {"budget": 990}  # 400 in 40 days, of 99
    for one in (
        standing("Capped", deal(1), Cap("daily", 9, 20)),
        standing("Capped", deal(1), Cap("budget", 400)),
        standing("Competes", deal(1)),
        standing("Never reached scale", deal(1)),
    ):
        assert isinstance(planned(one), str)


def test_evidence_says_its_assumption() -> None:
    """A loss is never said without what it assumes, and overlaps are named by deal."""
    words = evidence(standing("Keep", deal(1)), lambda number: f"deal {number}")
    assert "90 % of its bid requests also reach deal 2." in words
    assert words[-1].startswith("Assumes that the buyer bids for the impression")


def test_measures_are_those_of_the_report() -> None:
    """The figures of a deal are the sums of its cells; of one without rows no loss is said."""
    both = inventory([deal(1), deal(3)], EQUAL)
    assert [list(both.totals()[name]) for name in MEASURES[:3]] == [[1000, 0], [550, 0], [440, 0]]
    assert dict(both.competition())[3].loss.value is None
