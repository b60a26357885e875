"""Ranges scaled by what earlier ones were off: planted truths, on rows that taught nothing."""

import math

import numpy as np
import pytest
from scipy.stats import betabinom, binomtest

from lib.insight import calibration, conformal
from lib.insight.calibration import ScoredForecast
from lib.insight.conformal import FEWEST, LATEST, LEAST, MOST, Span

NOISE, TEACH, MEASURE = 0.1, 200, 400


def planted(
    draw: np.random.Generator, factor: float, count: int, noise: float = NOISE
) -> list[tuple[Span, float]]:
    """Ranges that are so many times as wide as 95 % need, and what came."""
    side = factor * 1.96 * NOISE
    made = []
    for level in draw.lognormal(8, 1, count):
        span = Span(level, level * math.exp(-side), level * math.exp(side))
        made.append((span, level * math.exp(draw.normal(0, noise))))
    return made


def coverage(factor: float, seed: int) -> tuple[float, float, float]:
    """The scale that the first rows teach; the coverage of the others without and with it."""
    draw = np.random.default_rng(seed)
    scale = conformal.learn([span.score(actual) for span, actual in planted(draw, factor, TEACH)])
    assert scale is not None
    later = planted(draw, factor, MEASURE)
    before, after = (
        float(np.mean([span.scale_by(by).holds(actual) for span, actual in later])) for by in (1.0, scale)
    )
    return scale, before, after


@pytest.mark.parametrize(("factor", "before"), [(0.5, (0.60, 0.75)), (1.0, (0.93, 0.97)), (2.0, (0.99, 1.0))])
def test_planted_ranges_hold_in_95_of_100_once_scaled(factor: float, before: tuple[float, float]) -> None:
    """Ranges half as wide as they should be, right, and twice as wide: 93 to 97 % of rows that taught nothing
    are within, and the wide ones get narrower."""
    runs = [coverage(factor, seed) for seed in range(20)]
    scales, raw, scaled = (np.mean(part) for part in zip(*runs, strict=True))
    assert before[0] <= raw <= before[1]
    assert 0.93 <= scaled <= 0.97
    assert scales == pytest.approx(1 / factor, rel=0.1)


def test_the_scale_is_the_conformal_quantile() -> None:
    """The ⌈(n + 1) · 0.95⌉th smallest of the latest scores, within its bounds; none of fewer than 30."""
    draw = np.random.default_rng(1)
    scores = list(draw.gamma(2, 0.4, 500))
    latest = sorted(scores[-LATEST:])
    assert conformal.learn(scores) == latest[191 - 1]  # 0.95 · 201 = 190.95
    assert conformal.learn(scores[:FEWEST]) == max(scores[:FEWEST])
    assert conformal.learn(scores[: FEWEST - 1]) is None
    assert conformal.learn([0.01] * 50) == LEAST
    assert conformal.learn([math.inf] * 50) == MOST


@pytest.mark.parametrize("span", [Span(100, 80, 130), Span(10, 0, 30), Span(-5, -9, 2), Span(100, 100, 100)])
def test_a_score_is_the_scale_that_just_holds(span: Span) -> None:
    """Scaled a little less the range misses, a little more it holds; zero is never left below."""
    for actual in (1.0, 50.0, 100.5, 400.0, -7.0):
        score = span.score(actual)
        if span.low >= 0 and actual < 0:
            continue
        if math.isfinite(score):
            assert span.scale_by(score * 1.0001 + 1e-9).holds(actual)
            assert score < 1e-6 or not span.scale_by(score * 0.9999 - 1e-9).holds(actual)
        else:
            assert not span.scale_by(1000).holds(actual)
    assert span.low < 0 or span.scale_by(50).low >= 0
    assert span.scale_by(1.0) == span


def test_drift_is_claimed_where_errors_grow_and_seldom_else() -> None:
    """Of 400 histories without drift at most 2 % are said to drift, of those whose errors grow threefold at
    least 95 %; while it lasts the ranges hold less often."""
    draw, claims, found, held = np.random.default_rng(5), [], [], []
    for _ in range(400):
        scores = list(np.abs(draw.normal(0, 0.5, 120)))
        claims.append(conformal.drifts(scores))
        broken = [*scores[:-30], *(3 * score for score in scores[-30:])]
        found.append(conformal.drifts(broken))
        held.append(np.mean([score <= (conformal.learn(broken[:-30]) or 0) for score in broken[-30:]]))
    assert np.mean(claims) <= 0.02
    assert np.mean(found) >= 0.95
    assert np.mean(held) < 0.7


@pytest.mark.parametrize("count", [30, 55, 90, 170])
def test_drift_begins_where_a_beta_binomial_has_one_chance_in_a_hundred(count: int) -> None:
    """Whatever the number of scores before, as another implementation of that distribution says."""
    place = min(math.ceil((count + 1) * 0.95), count)
    for misses in range(31):
        latest = [2.0] * misses + [0.0] * (30 - misses)
        chance = betabinom.sf(misses - 1, 30, count + 1 - place, place)
        assert conformal.drifts([1.0] * count + latest) == (chance < 0.01)


@pytest.mark.parametrize(("held", "of"), [(0, 12), (12, 12), (79, 81), (53, 64), (1, 2)])
def test_the_interval_of_a_share_is_wilsons(held: int, of: int) -> None:
    """The same as another implementation's."""
    other = binomtest(held, of).proportion_ci(method="wilson")
    assert conformal.wilson(held, of) == pytest.approx((other.low, other.high))


def test_a_field_of_its_own_teaches_where_it_has_enough() -> None:
    """Else all fields of the slicer do, else all slicers; too few teach nothing, and are counted."""

    def some(slicer: str, field: str, count: int, score: float) -> list[ScoredForecast]:
        return [ScoredForecast("demo", slicer, field, score)] * count

    scored = [*some("a", "bids", 40, 1.5), *some("a", "imps", 12, 1.8), *some("b", "imps", 20, 2.0)]
    learned = {
        pair: calibration.learn(scored, "demo", *pair)
        for pair in (("a", "bids"), ("a", "imps"), ("b", "imps"))
    }
    assert [(one.scale, one.count, one.scope) for one in learned.values()] == [
        (1.5, 40, "field"), (1.8, 52, "slicer"), (2.0, 72, "all"),
    ]  # fmt: skip
    few = calibration.learn(some("a", "bids", 12, 9.0), "demo", "a", "bids")
    assert (few.scale, few.factor, few.count) == (None, 1.0, 12)
