"""Ranges scaled day by day, measured on days that taught nothing."""

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from real.folder import DATA, needs_data

NARROWED = 0.5


@cache
def bench() -> ModuleType:
    """The bench that measures forecasts."""
    path = Path(__file__).parents[2] / "bench/forecasts.py"
    spec = importlib.util.spec_from_file_location("bench_forecasts", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def coverage(policy: Callable[..., Any], cases: list[Any]) -> float:
    """How often ranges scaled so hold in the half that is measured."""
    return float(np.mean([one.span.scale_by(scale).holds(one.actual) for one, scale in policy(cases)]))


def test_no_scale_is_learned_from_days_to_come() -> None:
    """What is past on a day had its last day by then, and what is measured began after the first half."""
    cases = bench().cases(bench().made_series(np.random.default_rng(2))[:3])
    cut = bench().half(cases)
    assert all(one.last <= cut for one in bench().past(cases, cut))
    assert min(one.origin for one, _ in bench().as_the_desk(cases)) == cut
    assert all((one.last - one.origin).days == bench().AHEAD for one in cases)


@cache
def prices() -> list[Any]:
    """Forecasts of three exchanges' prices at each third hour of the day."""
    cases: list[Any] = bench().cases(bench().exchanges(DATA)[::3])
    return cases


@needs_data
@pytest.mark.parametrize("factor", [NARROWED, 1.0])
def test_prices_of_real_exchanges(factor: float) -> None:
    """As the desk scales them at least 93 % of ranges hold, also where all are made half as wide and fewer
    than 85 % hold as they are."""
    cases = [replace(one, span=one.span.scale_by(factor)) for one in prices()]
    assert len(cases) > 400
    if factor == NARROWED:
        assert coverage(bench().as_made, cases) < 0.85
    assert coverage(bench().as_the_desk, cases) >= 0.93
