"""Why a deal is broken: the day and the step that fell, on small cases, and causes planted in made deals."""

import datetime as dt
import importlib.util
import sys
from decimal import Decimal
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from lib.insight import change_point
from lib.insight.change_point import Fall
from lib.insight.diagnosis import Break, Event, Losses, Witnesses, cause, diagnosis, events, reason_class
from lib.insight.win_prices import WinPrices

DAY = dt.date(2026, 11, 16)
DAYS = change_point.DAYS
WINS = Break("impressions", "bids", DAY, Fall(50, 0.25, 0.05, 0.0007))
RAISE = Event(DAY, "the deal", "price", "1.20", "2.40")


def bench() -> ModuleType:
    """The bench that plants causes."""
    folder = Path(__file__).parents[2] / "bench"
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location("statements_health", folder / "statements_health.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["statements_health"] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(folder))


def rates(fall_at: int | None, left: float, days: int = DAYS) -> tuple[np.ndarray, np.ndarray]:
    """A fifth of a thousand a day, of which a part is left from a day on, with a ripple of 4 %."""
    base = np.full((1, days), 1_000.0)
    ripple = 1 + 0.04 * np.cos(2.4 * np.arange(days))
    after = np.arange(days) >= (days if fall_at is None else fall_at)
    return 200 * ripple[None, :] * np.where(after, left, 1.0), base


def test_a_fall_has_its_day_and_rates() -> None:
    """A rate of 20 % that halves on the 45th day is 20 % before and 10 % since, on that day."""
    [found] = change_point.falls(*rates(44, 0.5))
    assert found is not None
    assert found.place == 44
    assert (found.before, found.after) == pytest.approx((0.2, 0.1), rel=0.02)
    assert found.chance < 0.001


@pytest.mark.parametrize(("fall_at", "left"), [(None, 1.0), (44, 0.8), (44, 1.6)])
def test_no_fall_is_claimed(fall_at: int | None, left: float) -> None:
    """Of a steady rate, one that lost a fifth, and one that rose, nothing is said."""
    assert change_point.falls(*rates(fall_at, left)) == [None]


def test_a_dip_that_is_over_is_no_fall() -> None:
    """A rate that was zero for five days and came back is not broken."""
    counts, base = rates(None, 1.0)
    counts[0, 40:45] = 0
    assert change_point.falls(counts, base) == [None]


def test_a_drift_is_no_fall() -> None:
    """A rate that loses 3 % every day did not fall on a day."""
    counts, base = rates(None, 1.0)
    assert change_point.falls(counts * 0.97 ** np.arange(DAYS), base) == [None]


def test_a_handful_is_not_enough() -> None:
    """Of twenty a month, none since does not say that it fell."""
    counts, base = rates(50, 0.0)
    assert change_point.falls(np.round(counts / 300), base) == [None]


@pytest.mark.parametrize(
    ("reason", "found"),
    [
        ("101", "floor"), ("Bid below the deal's floor", "floor"), ("102", "outbid"), ("202", "creative"),
        ("Advertiser blocked by the publisher", "blocked"), ("209", "blocked"), ("Budget reached", "budget"),
        ("2", ""), ("Timeout", ""),
    ],
)  # fmt: skip
def test_reasons_have_a_class(reason: str, found: str) -> None:
    """Codes of OpenRTB and words that exchanges use are told apart."""
    assert reason_class(reason) == found


@pytest.mark.parametrize(
    ("witnesses", "is_fixed", "found"),
    [
        (Witnesses(events=(RAISE,)), False, "floor raised"),
        (Witnesses(events=(Event(DAY, "the deal", "price", "2.00", "2.05"),)), False, ""),
        (Witnesses(events=(RAISE,)), True, ""),
        (Witnesses(events=(Event(DAY, "the deal", "price", "2", "1"),)), True, "price lowered"),
        (Witnesses(losses=(Losses("101", 0.05, 0.2),)), False, "floor"),
        (Witnesses(losses=(Losses("101", 0.05, 0.1),)), False, ""),
        (Witnesses(losses=(Losses("102", 0.7, 0.9),)), False, "outbid"),
        (Witnesses(losses=(Losses("102", 0.7, 0.9),)), True, "price"),
        (Witnesses(events=(RAISE,), losses=(Losses("202", 0, 0.2),)), False, "creative"),
        (Witnesses(events=(Event(DAY, "p", "geo_targetings", (), (1,)),)), False, ""),
        (Witnesses(others={"package": 1.0, "seat": 0.2}), False, "seat"),
        (Witnesses(others={"seat": 0.2, "dsp": 0.3}), False, "dsp"),
        (Witnesses(), False, ""),
    ],
)
def test_a_cause_needs_a_witness(witnesses: Witnesses, is_fixed: bool, found: str) -> None:
    """Losses that explain half of the fall, a change that can have this effect, or others that fell too."""
    assert cause(WINS, WINS.step, witnesses, is_fixed) == found


def test_targeting_is_a_cause_of_fewer_requests_alone() -> None:
    """A package that was narrowed explains requests that are gone, and not bids that lose."""
    narrowed = Witnesses(events=(Event(DAY, "package A", "geo_targetings", (1, 2), (1,)),))
    fewer = Break("requests", "", DAY, Fall(50, 0.2, 0.05, 0.001))
    assert cause(fewer, fewer.step, narrowed, False) == "targeting"
    assert cause(WINS, WINS.step, narrowed, False) == ""


def test_facts_of_a_raised_floor() -> None:
    """The fall, its chance, the price before, and how many of this buyer's bids the floor lets through."""
    bids = WinPrices(1.1, 1.3, 1.6, 40, 100, True)
    found = diagnosis(WINS, WINS.step, Witnesses((RAISE,), bids=bids), Decimal("2.40"), False)
    assert found.words == "Floor raised"
    assert found.findings[0] == (
        "Impressions were 25.0 % of bids in the four weeks before 16 Nov 2026, and are 5.0 % since; "
        "the day is right within one."
    )
    assert found.findings[1].startswith("Noise like this deal's makes at most 1 of 1,000 deals")
    assert found.findings[2] == "16 Nov 2026: price of the deal: 1.20 → 2.40."
    assert found.findings[3] == (
        "Its bids of the last 30 days: quartiles 1.10, 1.30 and 1.60 (averages of 40 groups). The floor of "
        "2.40 lets through less than a quarter of them."
    )


def test_facts_of_a_fixed_price() -> None:
    """What won in other deals, and how many of these wins cost the price or more."""
    others = WinPrices(1.1, 1.3, 1.6, 40, 100, True)
    outbid = Witnesses(losses=(Losses("102", 0.7, 0.9),), win_prices=others)
    found = diagnosis(WINS, WINS.step, outbid, Decimal("1.20"), True)
    assert found.words == "Fixed price too low"
    assert found.findings[-1] == (
        "Wins of other deals of its packages in the last 30 days: quartiles 1.10, 1.30 and 1.60 (averages of "
        "40 groups). The price of 1.20 is at or below what half to three quarters of them cost."
    )


@pytest.mark.parametrize(
    ("witnesses", "is_fixed"),
    [
        (Witnesses((RAISE,), bids=WinPrices(1.1, 1.3, 1.6, 40, 100, True)), False),
        (Witnesses((RAISE,)), False),
        (Witnesses(losses=(Losses("101", 0.05, 0.2),), bids=WinPrices(1, 2, 3, 4, 100, True)), False),
        (Witnesses(losses=(Losses("102", 0.7, 0.9),), win_prices=WinPrices(3, 40, 50, 4, 100, True)), True),
        (Witnesses((Event(DAY, "the deal", "price", "40", "2.40"),)), True),
    ],
)
def test_no_price_is_proposed(witnesses: Witnesses, is_fixed: bool) -> None:
    """Whatever is wrong with a floor or a fixed price, there are facts, and no advice."""
    found = diagnosis(WINS, WINS.step, witnesses, Decimal("2.40"), is_fixed)
    assert "loor" in found.words or "price" in found.words
    assert found.advice == ""


def test_no_advice_without_a_cause() -> None:
    """Where nothing explains the fall there are facts, and no advice."""
    found = diagnosis(WINS, WINS.step, Witnesses(others={"seat": 1.02}), Decimal(2), False)
    assert (found.words, found.advice) == ("Impressions fell", "")
    assert found.findings[-1] == "The same rate of other deals since: of its seat +2 %."
    assert "Nothing was changed around that day in the deal, its packages or their lists." in found.findings
    unknown = diagnosis(WINS, WINS.step, Witnesses(events=None), Decimal(2), False)
    assert not any("Nothing was changed" in one for one in unknown.findings)


def test_changes_around_the_day_count() -> None:
    """Two days before to one day after; what can have an effect comes first."""
    changes = [
        ("the deal", "", DAY + dt.timedelta(days=off), {name: "1"}, {name: "2"})
        for off, name in ((-3, "price"), (-2, "name"), (1, "price"), (2, "price"))
    ]
    assert [(one.field, (one.day - DAY).days) for one in events(changes, DAY)] == [("price", 1), ("name", -2)]


def test_planted_causes_are_named() -> None:
    """Of 200 made deals with one cause or none, nine of ten causes are named and nothing else is claimed."""
    made = bench()
    population = made.made(np.random.default_rng(5), 200)
    found = made.judged(population)
    wanted = {
        deal: {"": "healthy", "unexplained": ""}.get(kind, kind)
        for deal, (kind, _) in population.causes.items()
    }
    broken = [deal for deal, kind in wanted.items() if kind != "healthy"]
    assert np.mean([found[deal] == wanted[deal] for deal in broken]) >= 0.9
    assert np.mean([found[deal] != "healthy" for deal in wanted if deal not in broken]) <= 0.05
