"""Why a deal is broken: the day and the step that fell, on small cases, and causes planted in made deals."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from insight.planting import bench
from lib.insight import change_point
from lib.insight.change_point import Fall
from lib.insight.changes import Entity, FieldChange, around_fall, before_fall
from lib.insight.diagnosis import (
    Break,
    CauseCandidate,
    Losses,
    OtherDeals,
    Witnesses,
    cause,
    diagnosis,
    reason_class,
)
from lib.insight.win_prices import WinFields, WinPrices, lost_between
from lib.reporting.answers import Audience, Total
from lib.slicers.granularities import time_key_field

DAY = dt.date(2026, 11, 16)
DAYS = change_point.DAYS
WINS = Break("impressions", "bids", DAY, Fall(50, 0.25, 0.05, 0.0007))
DEAL, PACKAGE = Entity("demand_deals", 7), Entity("supply_deals", 5, "A")
LIST, EXCLUDED_LIST = Entity("domain_lists", 3, "L"), Entity("domain_lists", 3, "L", True)


def edit(field: str, before: object, after: object, entity: Entity = DEAL, day: dt.date = DAY) -> FieldChange:
    """A change of one field at nine in the morning of a day."""
    at = dt.datetime.combine(day, dt.time(9), dt.UTC)
    return FieldChange(entity, at, day, field, before, after)


def geo(*countries: str, is_excluded: bool = False) -> list[dict[str, object]]:
    """Countries as the history has them."""
    return [{"type": "country", "value": name, "is_excluded": is_excluded} for name in countries]


RAISE = edit("price", "1.20", "2.40")
RAISED = CauseCandidate(RAISE, 0.9)


def rates(fall_at: int | None, left: float, days: int = DAYS) -> tuple[np.ndarray, np.ndarray]:
    """A fifth of a thousand a day, of which a part is left from a day on, with a ripple of 4 %."""
    base = np.full((1, days), 1_000.0)
    ripple = 1 + 0.04 * np.cos(2.4 * np.arange(days))
    after = np.arange(days) >= (days if fall_at is None else fall_at)
    return 200 * ripple[None, :] * np.where(after, left, 1.0), base


def test_a_fall_has_its_day_and_rates() -> None:
    """A rate of 20 % that halves on the 45th day is 20 % before and 10 % since, on that day."""
    [fall] = change_point.falls(*rates(44, 0.5))
    assert fall is not None
    assert fall.start == 44
    assert (fall.before, fall.after) == pytest.approx((0.2, 0.1), rel=0.02)
    assert fall.chance < 0.001


@pytest.mark.parametrize(("fall_at", "left"), [(None, 1.0), (44, 0.8), (44, 1.6)])
def test_no_fall_is_claimed(fall_at: int | None, left: float) -> None:
    """Of a steady rate, one that lost a fifth, and one that rose, nothing is said."""
    assert change_point.falls(*rates(fall_at, left)) == [None]


def test_a_dip_that_is_over_is_no_fall() -> None:
    """A rate that was zero for five days and came back is not broken."""
    counts, base = rates(None, 1.0)
    counts[0, 40:45] = 0
    assert change_point.falls(counts, base) == [None]


def test_days_without_anything_hide_no_fall() -> None:
    """A rate of 20 % that halves on the 45th day is found beside days of an outage in the weeks before; the
    outage alone, and one of the last days but one, are none."""
    counts, base = rates(44, 0.5)
    counts[0, [20, 21, 33]] = 0
    [fall] = change_point.falls(counts, base)
    assert fall is not None and fall.start == 44 and fall.chance < 0.001
    for days in ([20, 21, 33], [60, 61]):
        counts, base = rates(None, 1.0)
        counts[0, days] = 0
        assert change_point.falls(counts, base) == [None]


def test_the_last_days_without_anything_are_a_fall() -> None:
    """Nothing since the last four days is no outage that has ended."""
    [fall] = change_point.falls(*rates(DAYS - 4, 0.0))
    assert fall is not None and fall.start == DAYS - 4


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
        (Witnesses(losses=(Losses("101", 0.05, 0.2),)), False, "floor"),
        (Witnesses(losses=(Losses("101", 0.05, 0.1),)), False, ""),
        (Witnesses(losses=(Losses("102", 0.7, 0.9),)), False, "outbid"),
        (Witnesses(losses=(Losses("102", 0.7, 0.9),)), True, "price"),
        (Witnesses(losses=(Losses("1", 0.0, 0.2), Losses("101", 0.05, 0.06))), False, ""),
        (Witnesses(others={"package": OtherDeals(1.0, False), "seat": OtherDeals(0.2, True)}), False, "seat"),
        (Witnesses(others={"seat": OtherDeals(0.2, True), "dsp": OtherDeals(0.3, True)}), False, "dsp"),
        (Witnesses(others={"seat": OtherDeals(0.6, False)}), False, ""),
        (Witnesses(), False, ""),
    ],
)  # fmt: skip
def test_a_cause_needs_a_witness(witnesses: Witnesses, is_fixed: bool, found: str) -> None:
    """Losses that explain half of the fall, or other deals that fell by more than noise."""
    assert cause(WINS, witnesses, is_fixed) == found


@pytest.mark.parametrize(
    ("candidate", "losses", "others", "found"),
    [
        (RAISED, (), {}, "floor raised"),
        (replace(RAISED, lost=0.5), (), {}, ""),
        (replace(RAISED, lost=None), (), {}, ""),
        (replace(RAISED, lost=None), (Losses("101", 0.05, 0.2),), {}, "floor raised"),
        (replace(RAISED, lost=0.0), (Losses("101", 0.05, 0.2),), {}, "floor"),
        (RAISED, (Losses("202", 0, 0.2),), {}, "creative"),
        (RAISED, (Losses("1", 0, 0.2),), {}, ""),
        (RAISED, (), {"dsp": OtherDeals(0.1, True)}, "dsp"),
        (RAISED, (), {"package": OtherDeals(0.1, True)}, "package"),
        (RAISED, (), {"site": OtherDeals(0.1, True, name="a.example")}, "site"),
        (RAISED, (), {"report": OtherDeals(0.1, True)}, "report"),
        (RAISED, (Losses("101", 0.05, 0.2),), {"seat": OtherDeals(0.1, True)}, "floor"),
        (RAISED, (), {"dsp": OtherDeals(1.1, False)}, "floor raised"),
    ],
)
def test_a_raised_floor_is_a_cause_if_nothing_speaks_against_it(
    candidate: CauseCandidate, losses: tuple[Losses, ...], others: dict[str, OtherDeals], found: str
) -> None:
    """80 % fell: bids between both prices must be 56 % or more, losses have no other reason, and no other
    deals have fallen too."""
    assert cause(WINS, Witnesses((), (candidate,), losses, others), False) == found


@pytest.mark.parametrize(
    ("lost", "others", "found"),
    [
        (0.9, {}, "targeting"),
        (0.9, {"package": OtherDeals(0.2, True)}, "targeting"),
        (0.9, {"package": OtherDeals(1.02, False)}, ""),
        (0.9, {"seat": OtherDeals(0.2, True, outside=False)}, "targeting"),
        (0.9, {"seat": OtherDeals(0.2, True, outside=True)}, "seat"),
        (0.1, {"package": OtherDeals(0.2, True)}, "package"),
        (None, {}, ""),
    ],
)
def test_a_package_that_was_narrowed(lost: float | None, others: dict[str, OtherDeals], found: str) -> None:
    """Its deals fall with it; those of the seat outside of it don't; and it must have taken away enough."""
    fewer = Break("requests", "", DAY, Fall(50, 0.2, 0.04, 0.001))
    narrowed = CauseCandidate(edit("geo_targetings", geo("US", "DE"), geo("DE"), PACKAGE), lost)
    assert cause(fewer, Witnesses((), (narrowed,), (), others), False) == found


@pytest.mark.parametrize(
    ("change", "step", "is_fixed", "lowers", "raises"),
    [
        (edit("price", "1.20", "2.40"), "impressions", False, True, False),
        (edit("price", "1.20", "1.23"), "impressions", False, False, False),
        (edit("price", "2.40", "1.20"), "impressions", False, False, True),
        (edit("price", "1.20", "2.40"), "requests", False, False, False),
        (edit("price", "2.40", "1.20"), "impressions", True, True, False),
        (edit("price", "1.20", "2.40"), "impressions", True, False, True),
        (edit("geo_targetings", geo("US", "DE"), geo("DE")), "requests", False, True, False),
        (edit("geo_targetings", geo("US"), geo("US", "DE")), "requests", False, False, True),
        (edit("geo_targetings", geo("US"), geo("DE")), "requests", False, True, False),
        (edit("geo_targetings", (), geo("DE")), "requests", False, True, False),
        (edit("geo_targetings", geo("DE"), ()), "requests", False, False, True),
        (edit("geo_targetings", (), geo("DE", is_excluded=True)), "requests", False, True, False),
        (edit("geo_targetings", geo("US", "DE"), geo("DE")), "impressions", False, False, False),
        (edit("domains", ["a", "b"], ["a", "b", "c"], LIST), "requests", False, False, True),
        (edit("domains", ["a", "b"], ["a"], LIST), "requests", False, True, False),
        (edit("domains", ["a"], ["a", "b"], EXCLUDED_LIST), "requests", False, True, False),
        (edit("supply_deals", [1], [1, 2]), "requests", False, False, True),
        (edit("supply_deals", [1, 2], [{"id": 2}]), "requests", False, True, False),
        (edit("is_active", True, False, PACKAGE), "requests", False, True, False),
        (edit("is_active", False, True), "impressions", False, False, True),
        (edit("name", "A", "B"), "impressions", False, False, False),
        (edit("geo_targetings", (1, 2), (1,)), "requests", False, False, False),
    ],
)
def test_a_change_has_a_direction(
    change: FieldChange, step: str, is_fixed: bool, lowers: bool, raises: bool
) -> None:
    """What took something away can make a step fall; what only gave something can make it rise."""
    is_first = step == "requests"
    assert change.can_lower(step, is_first, is_fixed) is lowers
    assert change.can_raise(step, is_first, is_fixed) is raises


@pytest.mark.parametrize(
    ("edits", "left"),
    [
        ([(-3, "2", "4")], []),
        ([(-2, "2", "4")], [("2", "4")]),
        ([(0, "2", "4")], [("2", "4")]),
        ([(1, "2", "4")], []),
        ([(-1, "4", "3"), (0, "3", "4")], []),
        ([(-3, "4", "3"), (-1, "3", "4")], []),
        ([(-1, "2", "3"), (0, "3", "4")], [("2", "4")]),
        ([(-20, "2", "4"), (0, "4", "5")], [("4", "5")]),
    ],
)
def test_a_cause_came_before(edits: list[tuple[int, str, str]], left: list[tuple[str, str]]) -> None:
    """At most two days before the fall and never after it, net of what was put back: 4 → 3 → 4 is nothing."""
    changes = [edit("price", before, after, day=DAY + dt.timedelta(days=off)) for off, before, after in edits]
    assert [(change.before, change.after) for change in before_fall(changes, DAY)] == left


@pytest.mark.parametrize(
    ("change", "removed"),
    [
        (edit("geo_targetings", geo("US", "DE"), geo("DE")), [("country", ("US",), False, False)]),
        (edit("geo_targetings", geo("US"), geo("DE")), [("country", ("US",), False, True)]),
        (edit("geo_targetings", (), geo("DE", "FR")), [("country", ("DE", "FR"), True, False)]),
        (edit("domains", ["a", "b", "c"], ["c"], LIST), [("domain_list", ("a", "b"), False, False)]),
        (edit("is_active", True, False, PACKAGE), [("supply_package", ("5",), False, False)]),
    ],
)
def test_what_was_taken_away(change: FieldChange, removed: list[tuple[object, ...]]) -> None:
    """The values by the kind of targeting; all but those that it is limited to; or everything there was."""
    removals = [(part.kind, part.values, part.is_rest, part.is_everything) for part in change.removals()]
    assert removals == removed


def test_facts_of_a_raised_floor() -> None:
    """The fall, its chance, the price before with what it took, and how many bids the floor lets through."""
    bids = WinPrices(1.1, 1.3, 1.6, 40, 100, True)
    facts = diagnosis(WINS, Witnesses((RAISE,), (RAISED,), bids=bids), Decimal("2.40"), False)
    assert facts.title == "Floor raised"
    assert facts.findings[0] == (
        "Impressions were 25.0 % of bids in the four weeks before 16 Nov 2026, and are 5.0 % since; "
        "the day is an estimate."
    )
    assert facts.findings[1] == (
        "Of simulated deals that vary like this one without a change, 0.1 % or fewer fall so far."
    )
    assert facts.findings[2] == (
        "16 Nov 2026: price of the deal: 1.20 → 2.40, which took away 90.0 % of what it had."
    )
    assert facts.findings[3] == (
        "Its bids of the last 30 days: quartiles 1.10, 1.30 and 1.60 (averages of 40 groups). The floor of "
        "2.40 lets through less than a quarter of them."
    )


def test_facts_of_a_fixed_price() -> None:
    """What won in other deals, and how many of these wins cost the price or more."""
    others = WinPrices(1.1, 1.3, 1.6, 40, 100, True)
    outbid = Witnesses(losses=(Losses("102", 0.7, 0.9),), win_prices=others)
    facts = diagnosis(WINS, outbid, Decimal("1.20"), True)
    assert facts.title == "Fixed price too low"
    assert facts.findings[-1] == (
        "Wins of other deals of its packages in the last 30 days: quartiles 1.10, 1.30 and 1.60 (averages of "
        "40 groups). The price of 1.20 is at or below what half to three quarters of them cost."
    )


@pytest.mark.parametrize(
    ("witnesses", "is_fixed"),
    [
        (Witnesses((RAISE,), (RAISED,), bids=WinPrices(1.1, 1.3, 1.6, 40, 100, True)), False),
        (Witnesses((RAISE,), (RAISED,)), False),
        (Witnesses(losses=(Losses("101", 0.05, 0.2),), bids=WinPrices(1, 2, 3, 4, 100, True)), False),
        (Witnesses(losses=(Losses("102", 0.7, 0.9),), win_prices=WinPrices(3, 40, 50, 4, 100, True)), True),
        (Witnesses((), (CauseCandidate(edit("price", "40", "2.40"), 0.9),)), True),
    ],
)
def test_no_price_is_proposed(witnesses: Witnesses, is_fixed: bool) -> None:
    """Whatever is wrong with a floor or a fixed price, there are facts, and no advice."""
    facts = diagnosis(WINS, witnesses, Decimal("2.40"), is_fixed)
    assert "loor" in facts.title or "price" in facts.title
    assert facts.advice == ""


def test_no_advice_without_a_cause() -> None:
    """Where nothing explains the fall there are facts, and no advice."""
    facts = diagnosis(WINS, Witnesses(others={"seat": OtherDeals(1.02, False)}), Decimal(2), False)
    assert (facts.title, facts.advice) == ("Impressions fell", "")
    assert facts.findings[-1] == "The same rate of other deals since: of its seat +2 %."
    assert "No change of the deal, its packages or their lists is recorded around that day." in facts.findings
    unknown = diagnosis(WINS, Witnesses(changes=None), Decimal(2), False)
    assert not any("Nothing was changed" in finding for finding in unknown.findings)


def test_changes_around_the_day_are_told() -> None:
    """Two days before to one day after, in their order, whether or not they can be the cause."""
    changes = [
        edit(name, "1", "2", day=DAY + dt.timedelta(days=off))
        for off, name in ((-3, "price"), (-2, "name"), (1, "price"), (2, "price"))
    ]
    listed = [(change.field, (change.day - DAY).days) for change in around_fall(changes, DAY)]
    assert listed == [("name", -2), ("price", 1)]


def test_a_change_of_unknown_size_is_a_fact() -> None:
    """Where the report can't say how much a change took away, it is told with its day, and is no cause."""
    facts = diagnosis(WINS, Witnesses((RAISE,), (replace(RAISED, lost=None),)), Decimal(2), False)
    assert facts.title == "Impressions fell"
    assert facts.findings[2] == (
        "16 Nov 2026: price of the deal: 1.20 → 2.40. How much that took away can't be computed."
    )


def test_share_between_two_prices() -> None:
    """Of 100 wins at 1, 200 at 2 and 100 at 4 a floor of 2 lets 300 through, of which 200 are below 3; as a
    fixed price 4 wins over 300, of which 200 cost 2 or more."""
    names = pd.DataFrame({time_key_field("day"): ["2026-11-01"] * 3 + ["2026-11-09"]})
    values = pd.DataFrame({"cpm": [1.0, 2.0, 4.0, 2.5], "wins": [100.0, 200.0, 100.0, 900.0]})
    answer = Audience(names, values, values, Total({}, 4))
    fields, days = WinFields("cpm", "wins"), (dt.date(2026, 11, 1), dt.date(2026, 11, 8))
    assert lost_between(answer, fields, (2, 3), days) == pytest.approx(2 / 3)
    assert lost_between(answer, fields, (4, 2), days) == pytest.approx(2 / 3)
    assert lost_between(answer, fields, (5, 6), days) is None


def test_planted_causes_are_named() -> None:
    """Of 112 made deals with one of 14 causes or none, nine of ten causes are named, few wrongly, although
    half of them have another change beside it, and nothing is claimed where nothing happened."""
    study = bench()
    population = study.made(np.random.default_rng(5), 112)
    judgments = study.judged(population)
    wanted = {
        deal: {"": "healthy", "unexplained": ""}.get(kind, kind)
        for deal, (kind, _) in population.causes.items()
    }
    broken = [deal for deal, kind in wanted.items() if kind != "healthy"]
    assert np.mean([judgments[deal] == wanted[deal] for deal in broken]) >= 0.9
    assert np.mean([judgments[deal] not in (wanted[deal], "", "healthy") for deal in broken]) <= 0.03
    assert np.mean([judgments[deal] != "healthy" for deal in wanted if deal not in broken]) <= 0.02
