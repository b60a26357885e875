"""What the ledger of forecasts teaches: the scale of the next ranges, and how often those of a kind held."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from lib.deals.forecasts import Kind, StoredForecast
from lib.insight import conformal
from lib.insight.conformal import Span

TEACHERS: Mapping[Kind, tuple[Kind, ...]] = {
    "targeting": ("targeting", "proposal"), "proposal": ("targeting", "proposal"), "price": ("price",),
}  # fmt: skip
"""The kinds whose ranges are made alike, and teach each other."""


Scope = Literal["field", "slicer", "all"]


@dataclass(frozen=True)
class ScoredForecast:
    """Whose range was off by how much: the scale at which it would just have held."""

    project: str
    slicer: str
    field: str
    score: float


@dataclass(frozen=True)
class RangeScale:
    """The scale of the next range, None while `count` scored ones are too few.

    They are of the same field of the slicer where those are enough, else of the slicer, else of all.
    `drifts`: the latest were off more often than chance allows, so that the scale lags behind.
    """

    scale: float | None = None
    count: int = 0
    scope: Scope = "field"
    drifts: bool = False

    @property
    def factor(self) -> float:
        """The scale; 1 without one."""
        return 1.0 if self.scale is None else self.scale


NO_SCALE = RangeScale()


def learn(forecasts: Sequence[ScoredForecast], project: str, slicer: str, field: str) -> RangeScale:
    """What scored forecasts of one kind teach of the next one of a slicer's field, the oldest first."""
    of_slicer = [one for one in forecasts if (one.project, one.slicer) == (project, slicer)]
    scopes: dict[Scope, Sequence[ScoredForecast]] = {
        "field": [one for one in of_slicer if one.field == field], "slicer": of_slicer, "all": forecasts,
    }  # fmt: skip
    enough = (scope for scope, some in scopes.items() if len(some) >= conformal.FEWEST)
    scope: Scope = next(enough, "field")
    scores = [one.score for one in scopes[scope]]
    return RangeScale(conformal.learn(scores), len(scores), scope, conformal.drifts(scores))


def scored_forecasts(rows: Sequence[StoredForecast]) -> list[ScoredForecast]:
    """What these rows teach, as far as they are scored."""
    return [
        ScoredForecast(one.project, one.slicer, one.field, raw(one).score(one.actual))
        for one in rows
        if one.actual is not None
    ]


def raw(one: StoredForecast) -> Span:
    """The range before it was scaled."""
    return Span(one.estimate, one.raw_low, one.raw_high)


def shown_span(one: StoredForecast) -> Span:
    """The range that was shown."""
    return Span(one.estimate, one.low, one.high)


@dataclass(frozen=True)
class Calibration:
    """How ranges have held: `hits` of `count` as they were shown, with the 95 % interval of that share, and
    `raw_hits` before they were scaled; with the median widths, as shares of the estimate (NaN of none)."""

    count: int
    hits: int
    raw_hits: int
    interval: tuple[float, float]
    width: float
    raw_width: float


def calibration(rows: Sequence[StoredForecast]) -> Calibration:
    """That of these forecasts, as far as they are scored."""
    pairs = [(one, one.actual) for one in rows if one.actual is not None]
    hits = sum(bool(one.has_held) for one, _ in pairs)
    raw_hits = sum(raw(one).holds(actual) for one, actual in pairs)
    widths = [[span(one).width for one, _ in pairs] for span in (shown_span, raw)]
    return Calibration(len(pairs), hits, raw_hits, conformal.wilson(hits, len(pairs)), *map(_median, widths))


def excess(one: StoredForecast) -> float:
    """How far what came is outside of the range that was shown, as a share of its nearer end: 0 inside,
    infinite beyond zero."""
    if one.actual is None or one.has_held:
        return 0.0
    end = one.high if one.actual > one.high else one.low
    return abs(one.actual - end) / abs(end) if end else math.inf


def _median(widths: Sequence[float]) -> float:
    finite = [width for width in widths if math.isfinite(width)]
    return median(finite) if finite else math.nan
