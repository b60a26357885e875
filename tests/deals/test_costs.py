"""Estimated costs of exact answers, learned from durations per slicer and split."""

from dataclasses import replace

import numpy as np
import pytest

from lib.reporting.service import (
    FEWEST_RECORDS,
    MOST_SPLITS,
    OVERHEAD_MILLISECONDS,
    SECONDS,
    START_NANOSECONDS,
    Costs,
    Workload,
    columns,
)

WORK = Workload("demo/delivery", ("country",), False, records=1_000_000, columns=10)


def seconds(nanoseconds: float, work: Workload = WORK) -> float:
    """How long that work takes at so many nanoseconds per record and column."""
    return nanoseconds * work.records * work.columns / 1e9


def rate(costs: Costs, work: Workload = WORK) -> float:
    """Nanoseconds per record and column in the estimate."""
    return (costs.milliseconds(work) - OVERHEAD_MILLISECONDS) * 1e6 / (work.records * work.columns)


def test_before_anything_was_seen() -> None:
    """A slicer that was never asked has the start value."""
    assert rate(Costs()) == pytest.approx(START_NANOSECONDS)


def test_it_learns() -> None:
    """After three answers to a split the estimate is what these took, whatever the records and columns."""
    costs = Costs()
    for _ in range(3):
        costs.learn(WORK, seconds(4))
    assert rate(costs) == pytest.approx(4)
    assert rate(costs, replace(WORK, records=5_000, columns=3)) == pytest.approx(4)


def test_noise() -> None:
    """Where two of five answers take fifty times as long, the estimate moves by a tenth at most."""
    costs, random = Costs(), np.random.default_rng(1)
    for place in range(60):
        slow = 50 if place % 5 < 2 else 1
        costs.learn(WORK, seconds(5 * slow * random.uniform(0.95, 1.05)))
        if place > 15:
            assert rate(costs) == pytest.approx(5, rel=0.1)


def test_one_answer_is_not_believed() -> None:
    """A first answer that also built the layout does not make a slicer look slow."""
    costs = Costs()
    costs.learn(WORK, seconds(5_000))
    assert rate(costs) == pytest.approx(START_NANOSECONDS)


def test_other_splits_of_the_slicer_count_where_few_were_seen() -> None:
    """A new split of a slicer is estimated from its other splits; another slicer's are not looked at."""
    costs = Costs()
    for _ in range(4):
        costs.learn(WORK, seconds(2))
    assert rate(costs, replace(WORK, split_by=("site",))) == pytest.approx(2)
    assert rate(costs, replace(WORK, slicer="demo/curation")) == pytest.approx(START_NANOSECONDS)


def test_a_slow_split_is_slow_by_itself() -> None:
    """A split that takes longer than others has an estimate of its own, as have questions with filters."""
    costs = Costs()
    pages, filtered = replace(WORK, split_by=("page",)), replace(WORK, is_filtered=True)
    for work, took in ((WORK, 2), (pages, 30), (filtered, 8)):
        for _ in range(3):
            costs.learn(work, seconds(took))
    assert [rate(costs, work) for work in (WORK, pages, filtered)] == pytest.approx([2, 30, 8])


def test_a_busy_time_is_forgotten() -> None:
    """What was learned longer than ten minutes ago does not count any more."""
    now = 0.0
    costs = Costs(lambda: now)
    for _ in range(9):
        costs.learn(WORK, seconds(900))
    assert rate(costs) == pytest.approx(900)
    now = SECONDS + 1
    assert rate(costs) == pytest.approx(START_NANOSECONDS)


def test_small_answers_teach_nothing() -> None:
    """Of few records overhead is what is measured, not what a record costs."""
    costs, few = Costs(), replace(WORK, records=FEWEST_RECORDS - 1)
    for _ in range(9):
        costs.learn(few, 1.0)
    assert rate(costs) == pytest.approx(START_NANOSECONDS)


def test_it_is_bounded() -> None:
    """Of more splits than it keeps the one that was seen longest ago is forgotten."""
    costs = Costs()
    for place in range(MOST_SPLITS + 1):
        for _ in range(3):
            costs.learn(replace(WORK, slicer=f"s{place}"), seconds(1))
    assert rate(costs, replace(WORK, slicer="s0")) == pytest.approx(START_NANOSECONDS)
    assert rate(costs, replace(WORK, slicer=f"s{MOST_SPLITS}")) == pytest.approx(1)


def test_columns() -> None:
    """A distinct count weighs more than a sum; key fields count like sums."""
    assert columns(2, frozenset({"sum:imps"})) == 4
    assert columns(0, frozenset({"unique:users"})) > columns(0, frozenset({"sum:imps"}))
