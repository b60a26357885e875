"""Both sides of a deal: the step and the day where they begin to differ, against planted truth."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import pytest

from lib.insight.discrepancy import SHORTEST_SPAN, STEPS, CountComparison, Counts, compare
from lib.insight.discrepancy_sentences import Addressee, sentences

FIRST, TOLERANCE, HISTORIES = date(2026, 9, 1), 0.1, 300
RATIOS = (0.5, 0.69, 0.8, 1.25, 1.5)


@dataclass(frozen=True)
class Planted:
    """A history of both sides: what was planted (no `step`: nothing), and what there is to see."""

    step: str
    day: date
    days: list[date]
    ours: Counts
    theirs: Counts

    @property
    def found(self) -> CountComparison:
        """What is found in it."""
        return compare(self.days, self.ours, self.theirs, TOLERANCE)


def history(draw: np.random.Generator, step: str = "", ratio: float = 1.0, level: float = 0.04) -> Planted:
    """Traffic by weekday; the buyer's side has a level and noise of its own, days that lack and odd ones.

    From a random day on, this step and those after it are `ratio` of what they were.
    """
    length = int(draw.integers(21, 64))
    days = [FIRST + timedelta(days=place) for place in range(length)]
    weekdays = 1 + draw.uniform(0, 0.4) * np.sin(2 * np.pi * np.arange(length) / 7)
    traffic = draw.choice([2e4, 5e5]) * weekdays * np.exp(draw.normal(0, 0.08, length))
    bids = draw.uniform(0.2, 0.6)
    rates = {"requests": 1.0, "bids": bids, "wins": bids * draw.uniform(0.05, 0.3)}
    ours = {name: draw.poisson(traffic * rate).astype(float) for name, rate in rates.items()}
    ours["spend"] = np.round(ours["wins"] * draw.uniform(1, 6) / 1000, 2)
    begin = int(draw.integers(0, length - SHORTEST_SPAN))
    persistence, noise = draw.choice([0.0, 0.4, 0.7]), draw.uniform(0.01, 0.05)
    is_missing, theirs = draw.random(length) < 0.05, {}
    for name in STEPS:
        shocks = draw.normal(0, noise * np.sqrt(1 - persistence**2), length)
        for place in range(1, length):
            shocks[place] += persistence * shocks[place - 1]
        counts = ours[name] * np.exp(shocks) * draw.uniform(1 - level, 1 + level)
        if step and STEPS.index(name) >= STEPS.index(step):
            counts[begin:] *= ratio
        if draw.random() < 0.3:
            counts[draw.integers(length)] *= draw.choice([0.2, 2])
        counts = counts if name == "spend" else np.round(counts)
        theirs[name] = np.where(is_missing, np.nan, counts)
    return Planted(step, days[begin], days, ours, theirs)


@pytest.fixture(scope="module")
def planted() -> list[Planted]:
    """So many histories; in two of three a step breaks."""
    draw = np.random.default_rng(28)
    steps = [STEPS[draw.integers(len(STEPS))] if number % 3 else "" for number in range(HISTORIES)]
    return [history(draw, step, draw.choice(RATIOS)) for step in steps]


def test_the_step_and_the_day_are_right(planted: list[Planted]) -> None:
    """Of planted breaks nine of ten are named by their step, and within a day of their first common day."""
    broken = [one for one in planted if one.step]
    right = 0
    for planting in broken:
        main = planting.found.main
        common = [day for day in planting.found.days if day >= planting.day]
        is_there = main is not None and main.step == planting.step and main.last is None
        right += bool(is_there and main and abs((main.first - common[0]).days) <= 1)
    assert right >= 0.9 * len(broken)


def test_nothing_is_claimed_where_nothing_is(planted: list[Planted]) -> None:
    """Of histories without a break at most one of twenty has one named."""
    quiet = [planting for planting in planted if not planting.step]
    claims = sum(planting.found.main is not None for planting in quiet)
    assert claims <= 0.05 * len(quiet)


def test_a_level_within_the_settled_share_is_no_difference() -> None:
    """Sides that stay nine percent apart, with noise, are rarely said to differ; none is moved by a day."""
    draw = np.random.default_rng(9)
    histories = [history(draw, level=0.09).found for _ in range(HISTORIES // 3)]
    assert sum(comparison.main is not None for comparison in histories) <= 0.05 * len(histories)
    assert not [planting for planting in histories if planting.shift]


@pytest.mark.parametrize("shift", [-1, 1])
def test_days_that_are_named_otherwise_are_moved(shift: int) -> None:
    """Where the buyer's days are ours of a day before or after, this is found, and the break beside it."""
    draw, right = np.random.default_rng(5), 0
    for _ in range(40):
        planting = history(draw, "bids", 0.6)
        theirs = {step: np.roll(counts, -shift) for step, counts in planting.theirs.items()}
        comparison = compare(planting.days, planting.ours, theirs, TOLERANCE)
        right += comparison.shift == shift and comparison.main is not None and comparison.main.step == "bids"
    assert right >= 32


def steady(length: int = 30, **ratios: float) -> tuple[list[date], Counts, Counts]:
    """Both sides without noise; the ratio of a step holds from the tenth day on."""
    days = [FIRST + timedelta(days=place) for place in range(length)]
    ours = {step: np.full(length, 10_000.0) for step in STEPS}
    since = np.arange(length) >= 9
    return days, ours, {step: np.where(since, ratios.get(step, 1.0), 1.0) * ours[step] for step in STEPS}


def said(days: list[date], ours: Counts, theirs: Counts, is_buyer: bool = True) -> list[str]:
    """The sentences."""
    return sentences(compare(days, ours, theirs, TOLERANCE), Addressee(is_buyer, "impressions"), TOLERANCE)


def test_what_is_said_of_lost_requests() -> None:
    """Step, day and size, what follows, and where to look; to the buyer, and to the seller about them."""
    sides = steady(requests=0.69, bids=0.69, wins=0.7, spend=0.7)
    assert said(*sides) == [
        "From 10 Sep 2026 on, you count 31 % fewer bid requests than we sent.",
        "Bids, wins and spend follow.",
        "Look at the endpoint, its timeouts and limits of requests per second.",
    ]
    assert said(*sides, is_buyer=False)[0].startswith("From 10 Sep 2026 on, the buyer counts 31 % fewer")


def test_steps_of_their_own_are_named_each() -> None:
    """A later step that differs otherwise is no consequence, and one that agrees is said to."""
    sentences = said(*steady(bids=1.4, spend=0.5))
    assert sentences[0] == "From 10 Sep 2026 on, you count 40 % more bids than we received."
    assert "From 10 Sep 2026 on, you count 50 % less spend than we count." in sentences
    assert "Bid requests and wins agree within 10 %." in sentences


def test_fewer_requests_with_the_same_bids_are_a_matter_of_counting() -> None:
    """Requests that were bid on have arrived."""
    assert "how they are counted" in said(*steady(requests=0.5))[-1]


def test_agreement_and_few_days() -> None:
    """Sides within the share agree, with their sums; fewer than three common days are not compared."""
    days, ours, theirs = steady(wins=1.05)
    assert said(days, ours, theirs)[0].startswith("Both sides agree within 10 %; your side in the sum: bid")
    few = {step: np.where(np.arange(30) < 2, counts, np.nan) for step, counts in theirs.items()}
    assert said(days, ours, few) == ["There are 2 common days: from 3 on, both sides are compared."]


def test_a_difference_that_is_over_is_said_with_its_end() -> None:
    """One day alone is nothing; eight days that are over by now have an end."""
    days, ours, theirs = steady()
    once, week = np.arange(30) == 12, (np.arange(30) >= 10) & (np.arange(30) < 18)
    assert (
        compare(days, ours, {**theirs, "wins": np.where(once, 1.0, theirs["wins"])}, TOLERANCE).main is None
    )
    lost = said(days, ours, {**theirs, "wins": np.where(week, 0.0, theirs["wins"])})
    assert lost[0] == (
        "From 11 Sep 2026 to 18 Sep 2026, you counted 100 % fewer wins than we count impressions."
    )


@pytest.mark.parametrize(
    ("newest", "late", "arrives"),
    [
        (3, None, True),
        (4, 1, True),
        (6, None, True),
        (6, 1, True),
        (7, 30, True),
        (8, 1, False),
        (8, 30, False),
    ],
)
def test_counts_that_may_be_late(newest: int, late: int | None, arrives: bool) -> None:
    """Fewer wins on the newest seven days alone may still be arriving, however early they were entered;
    nobody is sent to look at win notices for that."""
    days, ours, agreeing = steady()
    since = np.arange(30) >= 30 - newest
    theirs = dict(agreeing)
    theirs |= {step: np.where(since, 0.5, 1) * theirs[step] for step in ("wins", "spend")}
    comparison = compare(days, ours, theirs, TOLERANCE)
    told = sentences(comparison, Addressee(False), TOLERANCE, late)
    assert any("may still be arriving" in sentence for sentence in told) is arrives
    assert any("win notices" in sentence for sentence in told) is not arrives
    if arrives and late:
        usual = f"The buyer's counts usually come {late} day{'' if late == 1 else 's'} after a day."
        assert told[-1].endswith(usual)


def arriving(shape: str, newest: int) -> Iterator[CountComparison]:
    """Noisy histories whose newest days lack counts of two steps: ever more of them, or by one step down."""
    draw = np.random.default_rng([71_129, newest])
    age = np.arange(newest)[::-1] + 1
    parts = {
        "evenly": age / (newest + 1),
        "half of what lacks each few days": 1 - np.exp(-3 * age / newest),
        "a tenth more each day": 0.9 ** (newest - age + 1),
        "one step": np.full(newest, 0.5),
    }[shape]
    for _ in range(20):
        planting = history(draw)
        if len(planting.days) < newest + SHORTEST_SPAN:
            continue
        tail = np.concatenate([np.ones(len(planting.days) - newest), parts])
        late = {step: planting.theirs[step] * tail for step in ("wins", "spend")}
        yield compare(planting.days, planting.ours, {**planting.theirs, **late}, TOLERANCE)


@pytest.mark.parametrize("newest", [10, 14, 20])
@pytest.mark.parametrize(
    "shape", ["evenly", "half of what lacks each few days", "a tenth more each day", "one step"]
)
def test_a_ramp_of_late_counts_is_not_blamed(shape: str, newest: int) -> None:
    """Counts that are less complete each day may still be arriving, of more than a week too; a fall that is a
    step is named, however noisy its days are. (One comparison in twenty may err.)"""
    mains = [(found, found.main) for found in arriving(shape, newest)]
    open_gaps = [(found, main) for found, main in mains if main is not None and main.last is None]
    assert len(open_gaps) >= len(mains) - 1
    late = sum(found.may_arrive(main) for found, main in open_gaps)
    assert late <= 1 if shape == "one step" else late >= len(open_gaps) - 1


def test_what_only_the_buyer_has_is_said() -> None:
    """Bids of which nothing arrives are named as such, without a division by zero."""
    days, ours, theirs = steady()
    none = {**ours, "bids": np.where(np.arange(30) >= 20, 0.0, ours["bids"])}
    assert said(days, none, theirs)[0] == "From 21 Sep 2026 on, you count bids, where we received none."
