"""Broken deals in small worlds: what other deals show outranks what was changed, and repairs are judged."""

import datetime as dt
from collections.abc import Mapping

import numpy as np
import pytest

from insight.planting import World, since
from lib.deals.buyer_counts import DayCounts, EnteredCounts

AT = 45
"""The place of the day from which on something is less."""


def world(
    first: Mapping[str, object] | None = None, others: Mapping[str, Mapping[str, object]] | None = None
) -> World:
    """A deal to look at, one of its package, one of its seat, one of its DSP, and three of others."""
    small = World()
    for deal, package, seat, dsp in (
        (2, 1, 9, 9),
        (3, 3, 1, 1),
        (4, 4, 8, 1),
        (5, 5, 5, 5),
        (6, 6, 6, 6),
        (7, 7, 7, 7),
    ):
        small.add(deal, package, seat, dsp, (others or {}).get(str(deal)))  # type: ignore[arg-type]
    small.add(1, 1, 1, 1, first)
    return small


LESS = since(World(), AT, 0.1)
FEWER_WINS, FEWER_REQUESTS = {"imps": LESS}, {"bid_requests": LESS}
CHEAP_LOST = {"imps cheap.example": since(World(), AT, 0.0)}


def test_a_raised_floor_with_the_bids_that_it_keeps_out() -> None:
    """A floor from 1.20 to 2.00 keeps out two thirds of the bids, and two thirds are gone."""
    small = world(CHEAP_LOST)
    small.change("demand_deals", 1, AT, "price", "1.20", "2.00")
    health = small.health()
    assert (health.state, health.words) == ("attention", "Floor raised")
    assert any("1.20 → 2.00, which took away 66.7 % of what it had" in finding for finding in health.findings)


@pytest.mark.parametrize("at", [AT, AT + 1])
@pytest.mark.parametrize(
    ("others", "title"),
    [
        ({"3": FEWER_WINS}, "The seat's deals fell"),
        ({"3": FEWER_WINS, "4": FEWER_WINS}, "The DSP's deals fell"),
        ({"2": FEWER_WINS}, "The package's deals fell"),
        ({str(deal): FEWER_WINS for deal in range(2, 8)}, "Deals in general fell"),
    ],
)
def test_what_fell_with_it_outranks_a_floor(at: int, others: Mapping[str, object], title: str) -> None:
    """A floor that rose that day, or the day after, is no cause where other deals fell as much."""
    small = world(FEWER_WINS, others)
    small.change("demand_deals", 1, at, "price", "1.20", "2.00")
    assert small.health().words == title


@pytest.mark.parametrize(
    ("edits", "title"),
    [
        ([(AT + 1, "1.20", "2.00")], "Impressions fell"),
        ([(AT - 1, "2.00", "1.20"), (AT, "1.20", "2.00")], "Impressions fell"),
        ([(AT, "2.00", "1.20")], "Impressions fell"),
        ([(AT, "3.10", "3.40")], "Impressions fell"),
        ([(AT - 2, "1.20", "2.00")], "Floor raised"),
    ],
)
def test_a_floor_that_can_not_carry_the_fall(edits: list[tuple[int, str, str]], title: str) -> None:
    """One that came after it, was put back before it, fell, or had no bids below it: the facts alone."""
    small = world(CHEAP_LOST)
    for at, before, after in edits:
        small.change("demand_deals", 1, at, "price", before, after)
    health = small.health()
    assert (health.words, health.advice) == (title, "")


@pytest.mark.parametrize(
    ("field", "entity", "before", "after"),
    [
        ("geo_targetings", ("supply_deals", 1), [{"type": "country", "value": "US"}], []),
        ("supply_deals", ("demand_deals", 1), [1], [1, 9]),
    ],
)
def test_what_only_gave_something_is_no_cause(
    field: str, entity: tuple[str, int], before: object, after: object
) -> None:
    """A targeting that was widened, or a package more, while the whole package fell by 90 %."""
    small = world(FEWER_REQUESTS, {"2": FEWER_REQUESTS})
    small.change(*entity, AT, field, before, after)
    health = small.health()
    assert (health.words, health.advice) == ("The package's deals fell", "")


def test_a_site_that_fell() -> None:
    """A deal lost what it had on one site, where all others lost it too: the site is named with its fall."""
    gone = {"bid_requests cheap.example": since(World(), AT, 0.02)}
    health = world(gone, {str(deal): gone for deal in (2, 3, 5)}).health()
    assert "on cheap.example" in health.findings[-1]


def put_back(days_ago: int, left_since: float, price: str = "1.20") -> World:
    """A floor that was raised, and put back so many days before today; and what there is since."""
    parts = since(World(), AT, 0.0)
    parts[len(parts) - max(days_ago - 1, 0) :] = left_since
    small = world({"imps cheap.example": parts})
    small.change("demand_deals", 1, AT, "price", "1.20", "2.00")
    small.change("demand_deals", 1, -days_ago - 1, "price", "2.00", price)
    return small


@pytest.mark.parametrize("days_ago", [0, 1, 3])
def test_a_repair_waits_for_four_days(days_ago: int) -> None:
    """A floor that was put back needs no attention until there are four days to judge it by."""
    health = put_back(days_ago, 0.0).health()
    assert (health.state, health.words, health.advice) == ("unknown", "Put back to 1.20", "")
    now = dt.datetime(2026, 11, 24, 12, tzinfo=dt.UTC)
    day = "today" if days_ago == 0 else f"on {24 - days_ago} Nov 2026"
    assert health.repair_sentence(now) == f"Put back to 1.20 {day}, 09:00; judged after four days."


def test_a_floor_that_was_lowered_by_a_part() -> None:
    """It counts as a repair too, and is named as what it is."""
    assert put_back(0, 0.0, "1.40").health().words == "Lowered to 1.40"


def test_a_repair_that_helped() -> None:
    """After four days with what there was before, nothing needs attention any more."""
    assert put_back(5, 1.0).health().state == "healthy"


def test_a_repair_that_did_not_help() -> None:
    """After six days without a change, it is still to be looked at, and the floor is not blamed."""
    health = put_back(6, 0.0).health()
    assert (health.state, health.words, health.advice) == ("attention", "Repaired, still down", "")
    assert health.findings[0].startswith("Put back to 1.20 on 18 Nov 2026: since then the rate is")


def test_a_deal_that_never_won_before_it_ended() -> None:
    """Within a package that has ended, it is told, with its bids; nobody has to look at it any more."""
    small = world({"imps": np.zeros(World().days)})
    ended = dt.datetime(2026, 11, 20, tzinfo=dt.UTC)
    small.packages[1] = small.packages[1].model_copy(update={"end_date": ended})
    health = small.health()
    assert (health.state, health.words) == ("idle", "Ended, never won")
    assert health.findings[0].endswith("bids in its last days of the report, and no impressions.")
    assert health.steps == (), "a funnel would be read as that of the days that health is about"
    assert small.health(2).words == "Ended"


@pytest.mark.parametrize(("units", "state"), [(4_000, "healthy"), (40_000, "attention")])
def test_a_goal_that_is_not_met(units: int, state: str) -> None:
    """80 impressions a day are enough for 40 a day, and not for 400."""
    small = world()
    small.add(8, 8, 10, 10, deal_type="guaranteed", units=units)
    dates = {
        "start_date": dt.datetime(2026, 9, 1, tzinfo=dt.UTC),
        "end_date": dt.datetime(2026, 12, 10, tzinfo=dt.UTC),
    }
    small.packages[8] = small.packages[8].model_copy(update=dates)
    health = small.health(8)
    assert (health.state, health.words) == (state, "Behind its goal" if state == "attention" else "Delivers")


class Counts:
    """What buyers entered: of the first deal, a part of its bid requests in the last days."""

    def __init__(self, days: int, part: float) -> None:
        self._days, self._part = days, part

    def of_deals(self, deals: object) -> dict[int, EnteredCounts]:
        """The counts of the first deal."""
        last = dt.date(2026, 11, 23)
        days = {
            last - dt.timedelta(days=age): DayCounts(
                requests=round(1_000 * (self._part if age < self._days else 1))
            )
            for age in range(30)
        }
        return {1: EnteredCounts(days, dt.datetime(2026, 11, 24, tzinfo=dt.UTC), 1, late=1)}


@pytest.mark.parametrize(
    ("days", "part", "title"),
    [(12, 0.69, "Buyer counts 31 % fewer bid requests"), (12, 0.97, "Delivers"), (4, 0.5, "Delivers")],
)
def test_a_buyer_who_counts_otherwise(days: int, part: float, title: str) -> None:
    """31 % fewer since twelve days need attention; 3 % do not, nor do the newest days, which may be late."""
    health = world().health(buyer_counts=Counts(days, part))
    assert health.words == title
    assert health.state == ("healthy" if title == "Delivers" else "attention")
