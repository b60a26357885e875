"""Comparisons of two periods, and when a difference is significant."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from lib.figures.query import compared_answers
from lib.figures.query.compared_answers import Change, ComparedAnswers, Coverage, change
from lib.reporting.answers import Audience, Estimate, Precision, Total
from lib.slicers.models import DataField

IMPS = DataField(name="imps")
CTR = DataField(name="ctr", formula="100 * clicks / imps")
USERS = DataField(name="unique_users")


def answer(imps: float, ctr: float, users: float) -> Audience:
    """An exact answer of one row, whose impressions add up."""
    values = {"imps": imps, "ctr": ctr, "unique_users": users}
    frame = pd.DataFrame([values])
    return Audience(pd.DataFrame({"site": ["1"]}), frame, frame[["imps"]], Total(values, 1))


def test_periods_of_different_length_are_compared_per_day() -> None:
    """Sums are compared per day, ratios as they are, unique users not at all."""
    compared = ComparedAnswers(answer(300, 2.0, 50), answer(250, 1.0, 40), Coverage(30, 30, 25, 30))
    assert [compared.total(field) for field in (IMPS, CTR, USERS)] == [Change(0.0), Change(1.0), Change(None)]
    assert compared.rows(IMPS) == {("1",): Change(0.0)}
    alike = ComparedAnswers(answer(300, 2.0, 50), answer(250, 1.0, 40), Coverage(25, 30, 25, 30))
    assert [alike.total(field) for field in (IMPS, USERS)] == [Change(0.2), Change(0.25)]


@pytest.mark.parametrize(
    ("days", "text", "has_change"),
    [
        ((30, 30, 30, 30), "", True),
        ((31, 31, 30, 30), "31 days, 30 before", True),
        ((25, 30, 25, 30), "25 of 30 days", True),
        ((30, 30, 25, 30), "25 of 30 days before", True),
        ((20, 31, 30, 30), "20 of 31 days, 30 before", True),
        ((15, 30, 15, 30), "15 of 30 days", True),
        ((31, 31, 14, 30), "14 of 30 days before", False),
        ((2, 31, 2, 31), "2 of 31 days", False),
        ((3, 7, 7, 7), "3 of 7 days, 7 before", False),
    ],
)
def test_a_change_from_a_sliver_of_the_days_is_none(
    days: tuple[int, int, int, int], text: str, has_change: bool
) -> None:
    """Where either side lacks more than half of its days there is no change; any that is missing is said."""
    both = ComparedAnswers(answer(300, 2.0, 50), answer(250, 1.0, 40), Coverage(*days))
    changes = [both.total(CTR), both.rows(CTR)[("1",)]]
    assert [change.ratio is not None for change in changes] == [has_change] * 2
    assert {change.coverage for change in changes} == {text}
    assert changes[0].previous == 1.0


@pytest.mark.parametrize("low", [math.nan, None])
def test_an_unknown_range_is_not_exact(low: float | None) -> None:
    """A sampled figure whose range is not known can't be told from another, however far off."""
    total = Total({"imps": 100.0}, 1, low={"imps": low}, high={"imps": low})
    frame = pd.DataFrame({"imps": [100.0]})
    sampled = Audience(
        pd.DataFrame({"site": ["1"]}), frame, frame, total, low=frame * math.nan, high=frame * math.nan,
        precision=Precision(10, 1000),
    )  # fmt: skip
    assert not change(sampled.total_of("imps"), Estimate(1.0)).is_certain
    assert not change(sampled.rows_of("imps")[0], Estimate(1.0)).is_certain


def test_a_total_of_a_plain_service_has_its_confidence_range() -> None:
    """Where a service sends nothing but a confidence range, 100 ± 1 differs from 98 and not from 99.5. A row
    without one is not exact."""
    frame = pd.DataFrame({"imps": [100.0]})
    sampled = Audience(
        pd.DataFrame({"site": ["1"]}), frame, frame, Total({"imps": 100.0}, 1, confidence_range="1.0")
    )
    assert change(sampled.total_of("imps"), Estimate(98.0)).is_certain
    assert not change(sampled.total_of("imps"), Estimate(99.5)).is_certain
    assert not change(sampled.rows_of("imps")[0], Estimate(1.0)).is_certain
    assert change(answer(100, 1, 1).total_of("imps"), Estimate(1.0)).is_certain


def test_a_change_has_a_range_of_its_own() -> None:
    """From 65.5 ± 6.1 to 73.1 ± 3.4 is 7.6 ± 7.0: a rise, although ranges overlap; to 72 it may be none."""
    rise = change(Estimate(73.1, 69.7, 76.5), Estimate(65.5, 59.4, 71.6))
    assert rise.is_certain
    assert (rise.low, rise.high) == pytest.approx((7.6 - math.hypot(3.4, 6.1), 7.6 + math.hypot(3.4, 6.1)))
    assert not change(Estimate(72, 68.6, 75.4), Estimate(65.5, 59.4, 71.6)).is_certain
    lopsided = change(Estimate(10, 9, 14), Estimate(5, 4, 8))
    assert (lopsided.low, lopsided.high) == pytest.approx((5 - math.hypot(1, 3), 5 + math.hypot(4, 1)))


@pytest.mark.parametrize(
    ("ratio", "is_certain", "style"),
    [
        (0.115, True, ("green", "up")),
        (-0.115, True, ("red", "down")),
        (0.115, False, ("gray", "off")),
        (-0.0004, True, ("gray", "off")),
        (None, True, ("gray", "off")),
    ],
)
def test_only_a_change_that_can_be_told_is_colored(
    ratio: float | None, is_certain: bool, style: tuple[str, str]
) -> None:
    """A change that may be noise, or rounds to zero, is neither a rise nor a fall."""
    assert compared_answers.style(DataField(name="imps", polarity="up"), Change(ratio, is_certain)) == style


@pytest.mark.parametrize(
    ("told", "rise", "fall"),
    [("up", "green", "red"), ("down", "red", "green"), ("none", "gray", "gray"), ("much", "gray", "gray")],
)
def test_the_polarity_colors_a_change(told: str, rise: str, fall: str) -> None:
    """A rise is good news where the field says so, and no news where it says nothing; arrows say the way, but
    of what chance may have made."""
    field = DataField.model_validate({"name": "ecpc", "polarity": told})
    assert compared_answers.style(field, Change(0.1)) == (rise, "up")
    assert compared_answers.style(field, Change(-0.1)) == (fall, "down")
    assert compared_answers.style(field, Change(0.1), is_noise=True) == ("gray", "off")


def test_noise_is_what_the_days_do_not_agree_on() -> None:
    """Whether the days of two periods differ is what scipy's paired t-test says at 5 %."""
    chance = np.random.default_rng(4)
    for shift in (0.0, 0.5, 1.0, 2.0, 4.0) * 8:
        before = chance.normal(100, 3, 7)
        now = before + chance.normal(shift, 1.5, 7)
        assert compared_answers.is_noise(now, before) == (scipy.stats.ttest_rel(now, before).pvalue >= 0.05)
    assert compared_answers.is_noise(np.array([9.0, 9.0, np.nan, 9.0]), np.array([1.0, 1.0, 1.0, 1.0]))


def test_exact_figures_have_a_change_without_a_range() -> None:
    """A service says of an exact figure that its range is the figure itself: then the change has none."""
    told = change(Estimate(10.0, 10.0, 10.0), Estimate(12.0, 12.0, 12.0))
    assert (told.amount, told.low, told.high, told.is_certain) == (-2.0, None, None, True)
    assert change(Estimate(10.0, 9.0, 11.0), Estimate(12.0)).low is not None
