"""Contributions, by hand and for random figures; noise; the ranking of key fields."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statements import NOISES
from statements_moved import rates

from lib.reporting.moved import explain, movers
from lib.reporting.moved.quantity import (
    Additive,
    Contributions,
    Formula,
    Own,
    Pair,
    Quantity,
    Ratio,
    beyond,
    contributions,
    difference,
    leaves,
    quantity,
    values,
)
from lib.reporting.moved.sides import Side, Sides
from lib.slicers.formulas import parse
from lib.slicers.models import DataField, KeyField, Slicer

DRAWS = 400
CTR = Ratio(parse("100 * clicks"), parse("imps"))
IMPS = Additive(parse("imps"))
FIELDS = {
    "imps": None,
    "clicks": None,
    "cost": None,
    "users": None,
    "ctr": "100 * clicks / imps",
    "profit": "cost - imps / 1000",
    "margin": "100 * profit / cost",
    "cpm": "cost / (imps / 1000)",
    "loss": "-(cost + imps) / clicks / 2",
    "sum_of_ratios": "clicks / imps + cost / imps",
    "product": "clicks * cost / imps",
    "constant_below": "clicks / (imps + 1)",
    "frequency": "imps / users",
    "none": "3",
    "torn": "clicks / nothing",
}
SLICER = Slicer(
    key_fields=(KeyField(name="site"),),
    data_fields=tuple(DataField(name=name, formula=formula) for name, formula in FIELDS.items()),
)


def pair(before: dict[str, list[float]], now: dict[str, list[float]]) -> Pair:
    """Two sides whose values are all that there is."""
    sides = [pd.DataFrame(side, dtype=float) for side in (before, now)]
    return Pair(*sides, *(side.sum().to_frame().T for side in sides))


def test_a_sum_by_hand() -> None:
    """Of a fall from 150 to 115 one value contributes -40, the other +5."""
    sides = pair({"imps": [100, 50]}, {"imps": [60, 55]})
    assert contributions(IMPS, sides).whole.tolist() == [-40, 5]
    assert difference(IMPS, sides) == -35


def test_a_ratio_by_hand() -> None:
    """A fall from 4 % to 1.75 %: rate and mix of two values, worked out on paper."""
    sides = pair({"clicks": [2, 6], "imps": [100, 100]}, {"clicks": [1, 6], "imps": [100, 300]})
    parts = contributions(CTR, sides)
    assert parts.rate == pytest.approx([-0.375, -2.5])
    assert parts.mix == pytest.approx([0.34375, 0.28125])
    assert parts.whole.sum() == pytest.approx(1.75 - 4)


def test_a_ratio_without_a_denominator_is_no_figure_and_no_cause() -> None:
    """Where a period has nothing to divide by, the difference is unknown and no value contributes to it."""
    sides = pair({"clicks": [2, 6], "imps": [0, 0]}, {"clicks": [1, 6], "imps": [100, 300]})
    parts = contributions(CTR, sides)
    assert np.isnan(difference(CTR, sides))
    assert parts.whole.tolist() == [0, 0]
    assert beyond(CTR, sides, parts.whole).tolist() == [0, 0]


def test_a_change_of_everything_is_beyond_nothing() -> None:
    """Where each value halves, none contributes beyond that; one that falls by more does so by the rest."""
    halved = pair({"imps": [100, 50, 80]}, {"imps": [50, 25, 40]})
    assert beyond(IMPS, halved, contributions(IMPS, halved).whole) == pytest.approx([0, 0, 0])
    more = pair({"imps": [100, 50, 80]}, {"imps": [50, 25, 10]})
    assert beyond(IMPS, more, contributions(IMPS, more).whole) == pytest.approx([0, 0, -30])
    rates = pair({"clicks": [20, 60], "imps": [200, 300]}, {"clicks": [10, 30], "imps": [200, 300]})
    assert beyond(CTR, rates, contributions(CTR, rates).whole) == pytest.approx([0, 0])


@pytest.mark.parametrize("noise", ["white", "AR(0.6)", "heavy tails"])
def test_noise_is_no_cause_and_a_cause_is(noise: str) -> None:
    """In slicers of persistent or heavy noise nothing is claimed, the planted cause is named first, and after
    a uniform change no value is."""
    shares = rates(NOISES[noise], 6, 11)
    assert shares["noise"] <= 1 / 6 and shares["cause first"] >= 5 / 6 and shares["uniform named"] <= 1 / 6


def test_leaving_out_by_hand() -> None:
    """Without the first value c/i + d/i would go from 0.25 to 0.5: it contributes the rest of the rise."""
    of = Formula(parse("clicks / imps + cost / imps"))
    sides = pair(
        {"clicks": [1, 1], "cost": [1, 1], "imps": [2, 8]}, {"clicks": [3, 2], "cost": [1, 2], "imps": [2, 8]}
    )
    assert difference(of, sides) == pytest.approx(0.4)
    assert contributions(of, sides).whole == pytest.approx([0.4 - 0.25, 0.4 - 1.0])


def test_a_new_value_and_one_that_is_gone() -> None:
    """A value without any records on one side contributes by mix alone."""
    sides = pair({"clicks": [5, 3], "imps": [100, 100]}, {"clicks": [5, 0], "imps": [100, 0]})
    parts = contributions(CTR, sides)
    assert parts.rate == pytest.approx([0, 0])
    assert parts.whole.sum() == pytest.approx(5 - 4)


SUMS = st.lists(
    st.tuples(*[st.integers(0, 50), st.integers(0, 1000)] * 2), min_size=1, max_size=8
).filter(lambda rows: sum(row[1] for row in rows) > 0 < sum(row[3] for row in rows))  # fmt: skip


@given(SUMS)
def test_rate_and_mix_are_the_difference(rows: list[tuple[int, ...]]) -> None:
    """Whatever the sums: mix and rate of all values add up to R₁ - R₀, and follow the source's formulas."""
    y0, x0, y1, x1 = np.array(rows, dtype=float).T
    parts = contributions(CTR, pair({"clicks": y0, "imps": x0}, {"clicks": y1, "imps": x1}))
    before, now = 100 * y0.sum() / x0.sum(), 100 * y1.sum() / x1.sum()
    assert parts.mix is not None and parts.rate is not None
    assert parts.whole.sum() == pytest.approx(now - before, abs=1e-9)
    assert parts.mix + parts.rate == pytest.approx(parts.whole, abs=1e-9)
    for place in np.flatnonzero((x0 > 0) & (x1 > 0)):
        s0, s1 = x0[place] / x0.sum(), x1[place] / x1.sum()
        r0, r1 = 100 * y0[place] / x0[place], 100 * y1[place] / x1[place]
        assert parts.rate[place] == pytest.approx((s0 + s1) / 2 * (r1 - r0), abs=1e-9)
        assert parts.mix[place] == pytest.approx((s1 - s0) * ((r0 + r1) / 2 - (before + now) / 2), abs=1e-9)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("imps", Additive),
        ("users", Own),
        ("ctr", Ratio),
        ("profit", Additive),
        ("margin", Ratio),
        ("cpm", Ratio),
        ("loss", Ratio),
        ("sum_of_ratios", Formula),
        ("product", Formula),
        ("constant_below", Formula),
        ("frequency", Own),
        ("none", Own),
        ("torn", Own),
    ],
)
def test_kinds_of_figures(name: str, kind: type) -> None:
    """A ratio is one sum over another times a constant, however written; sums of sums are sums."""
    assert isinstance(_quantity(name), kind)


def _quantity(name: str) -> Quantity:
    return quantity(SLICER.data_field(name), SLICER, {"imps", "clicks", "cost"})


def test_constants_of_ratios() -> None:
    """What the formula multiplies the ratio with stands above the line, its sign included."""
    ratios = [_quantity(name) for name in ("ctr", "cpm", "loss")]
    sums = pd.DataFrame({"clicks": [2.0], "imps": [4.0], "cost": [8.0]})
    assert [values(ratio, sums)[0] for ratio in ratios] == pytest.approx([50, 2_000, -3])
    sides = pair({"cost": [8.0], "imps": [2000.0]}, {"cost": [9.0], "imps": [1000.0]})
    assert difference(ratios[1], sides) == pytest.approx(9 - 4)


def test_leaves_of_formulas() -> None:
    """A formula of formulas is computed from the data fields at its ends."""
    assert leaves(SLICER.data_field("margin"), SLICER) == ("cost", "imps")
    assert leaves(SLICER.data_field("users"), SLICER) == ("users",)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_discoveries_are_those_of_scipy(p: list[float]) -> None:
    """What holds at a false discovery rate of 5 % is what SciPy's adjusted p-values say."""
    expected = scipy.stats.false_discovery_control(p) <= explain.FALSE_DISCOVERY_RATE
    assert (explain.discoveries(np.array(p)) == expected).all()


def test_more_tests_make_it_harder() -> None:
    """Values that were not tested count among the tests."""
    p = np.array([0.004, 0.9])
    assert explain.discoveries(p).tolist() == [True, False]
    assert explain.discoveries(p, tests=100).tolist() == [False, False]


def test_noise_is_seldom_taken_for_a_movement() -> None:
    """Of 400 comparisons without any movement at most one in ten finds one; a planted one is found."""
    draw = np.random.default_rng(7)
    volume = np.exp(draw.normal(6, 1.5, 80))
    spread = 0.3 * volume**0.8
    wrong = true_discoveries = 0
    for _ in range(DRAWS):
        past = spread[:, None] * draw.normal(size=(80, 4))
        moved = spread * draw.normal(size=80)
        wrong += explain.discoveries(explain.p_values(moved, np.zeros(80), past, volume)).any()
        moved[3] = -8 * spread[3]
        true_discoveries += explain.discoveries(explain.p_values(moved, np.zeros(80), past, volume))[3]
    assert wrong <= 40
    assert true_discoveries >= 380


def test_the_sample_counts_too() -> None:
    """A movement within its standard error is none; one of unknown error is none either."""
    past, volume = np.full((3, 0), 0.0), np.ones(3)
    p = explain.p_values(np.array([5.0, 5.0, 5.0]), np.array([5.0, 1.0, np.nan]), past, volume)
    assert p[0] > 0.3
    assert p[1] < 1e-5
    assert p[2] == 1


def test_exact_sums_are_moved_by_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Contributions of exact values are computed once; those of a sample once more for each error."""
    calls: list[object] = []
    computed = movers.contributions

    def contributions(*given: Any) -> Contributions:
        calls.append(given)
        return computed(*given)

    monkeypatch.setattr(movers, "contributions", contributions)
    sums = pair({"imps": [10, 20], "clicks": [1, 2]}, {"imps": [12, 18], "clicks": [1, 3]})
    for error, count in ((0.0, 1), (2.0, 5)):
        calls.clear()
        both = [
            Side(side.set_axis(["a", "b"]), side.set_axis(["a", "b"]) * 0 + error, {}, True, bool(error))
            for side in (sums.before, sums.now)
        ]
        found = movers.candidate(CTR, Sides("site", *both), sums, False)
        assert len(calls) == count
        assert bool((found.error > 0).all()) == bool(error)


def test_without_a_past_exact_differences_are_certain() -> None:
    """Exact figures without earlier weeks: any difference is one, none is none."""
    p = explain.p_values(np.array([1.0, 0.0]), np.zeros(2), np.empty((2, 0)), np.ones(2))
    assert p.tolist() == [0, 1]


def test_the_trigamma_function_is_inverted() -> None:
    """The weight of the prior follows from the inverse of the trigamma function."""
    for value in (0.01, 0.5, 3.0, 40.0):
        inverse = explain._inverse_trigamma(value)
        assert scipy.special.polygamma(1, inverse) == pytest.approx(value)


def test_one_value_explains_better_than_two() -> None:
    """A fall that one publisher has is explained better by it than by its two sites, or by what all share."""
    publisher = pair({"imps": [400, 600]}, {"imps": [40, 600]})
    site = pair({"imps": [200, 200, 600]}, {"imps": [20, 20, 600]})
    secure = pair({"imps": [950, 50]}, {"imps": [608, 32]})
    ranks = []
    for sides in (publisher, site, secure):
        moved = contributions(IMPS, sides).whole
        explanation = movers.explanation(
            moved, movers.surprise(IMPS, sides), range(len(moved)), difference(IMPS, sides)
        )
        ranks.append(explanation.rank)
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[0] > ranks[1] > ranks[2]


def test_surprise_is_the_divergence() -> None:
    """The values' parts add up to the squared Jensen-Shannon distance of SciPy."""
    import scipy.spatial.distance

    before, now = [5.0, 3.0, 2.0], [1.0, 3.0, 6.0]
    parts = movers.surprise(IMPS, pair({"imps": before}, {"imps": now}))
    assert parts.sum() == pytest.approx(scipy.spatial.distance.jensenshannon(before, now) ** 2)


def test_contributions_hold_what_they_are() -> None:
    """Contributions by leaving out do not add up, and say so."""
    of = Formula(parse("clicks * cost / imps"))
    sides = pair({"clicks": [1], "cost": [2], "imps": [4]}, {"clicks": [3], "cost": [2], "imps": [4]})
    parts: Contributions = contributions(of, sides)
    assert not parts.adds_up
    assert contributions(CTR, sides, is_segmented=True).mix is None
