"""How often forecasts hold on days that they did not know, before and after their ranges are scaled.

    python bench/forecasts.py

At each origin the next seven days are forecast from the days up to it alone. The earlier half of the origins
teaches, the later half is measured. `by half` is one scale, learned from the forecasts whose days had all
passed when the later half began; `as the desk` learns at each origin from what has passed by then; `adaptive`
also moves the level by each miss (Gibbs and Candès 2021, γ = 0.005). Made histories are weekdays with
autocorrelated noise: their ranges are halved or doubled, or the noise doubles in the later half. The demo's
packages come from TRANCHE_HOME, if it is a demo; exchanges from the folder that TRANCHE_TEST_DATA names.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd

from lib import connect
from lib.insight import conformal, forecast
from lib.insight.conformal import Span
from lib.insight.estimate import Estimate
from lib.insight.forecast import DayFigure
from lib.ledger.past import past_series
from lib.settings import Settings

ONE, AHEAD, FIRST = timedelta(days=1), 7, date(2026, 1, 5)
GAMMA, MADE, DAYS, BREAK = 0.005, 40, 126, 84
Series = list[DayFigure]


@dataclass(frozen=True)
class Case:
    """A forecast at an origin, as it was made, and what came of it by its last day."""

    origin: date
    last: date
    span: Span
    actual: float

    @property
    def score(self) -> float:
        """The scale at which it would just have held."""
        return self.span.score(self.actual)


def cases(every: Sequence[Series], factor: float = 1.0) -> list[Case]:
    """All forecasts with a range, in the order of their origins; their ranges scaled by a planted factor."""
    made = []
    for daily in every:
        for place in range(forecast.BASE, len(daily) - AHEAD + 1):
            before, after = daily[:place], daily[place : place + AHEAD]
            parts = {one.day.weekday(): 1.0 for one in after}
            raw, came = forecast.forecast(before, parts).raw, [one.figure.value for one in after]
            if raw is not None and None not in came:
                actual = sum(one or 0.0 for one in came)
                made.append(Case(before[-1].day, after[-1].day, raw.scale_by(factor), actual))
    return sorted(made, key=lambda one: one.origin)


def half(some: Sequence[Case]) -> date:
    """The origin from which on forecasts are measured."""
    return some[len(some) // 2].origin


def by_half(some: Sequence[Case]) -> Iterator[tuple[Case, float]]:
    """The measured ones with one scale, of the forecasts whose days had passed when they begin."""
    cut = half(some)
    scale = conformal.learn([one.score for one in past(some, cut)]) or 1.0
    yield from ((one, scale) for one in some if one.origin >= cut)


def as_the_desk(some: Sequence[Case]) -> Iterator[tuple[Case, float]]:
    """The measured ones, each with the scale of its day."""
    for origin in sorted({one.origin for one in some if one.origin >= half(some)}):
        scale = conformal.learn([one.score for one in past(some, origin)]) or 1.0
        yield from ((one, scale) for one in some if one.origin == origin)


def adaptive(some: Sequence[Case]) -> Iterator[tuple[Case, float]]:
    """The measured ones, where each miss of a scaled range raises the level, and each hit lowers it."""
    tail, waiting = 1 - conformal.CONFIDENCE, list[tuple[Case, bool]]()
    aim = tail
    for origin in sorted({one.origin for one in some}):
        for one, is_miss in [pair for pair in waiting if pair[0].last <= origin]:
            tail += GAMMA * (aim - is_miss)
            waiting.remove((one, is_miss))
        scores = np.sort([one.score for one in past(some, origin)][-conformal.LATEST :])
        scale = 1.0
        if len(scores) >= conformal.FEWEST:
            place = int(np.ceil((len(scores) + 1) * (1 - min(max(tail, 0.0), 1.0))))
            scale = float(
                np.clip(scores[min(max(place, 1), len(scores)) - 1], conformal.LEAST, conformal.MOST)
            )
        for one in (one for one in some if one.origin == origin):
            waiting.append((one, not one.span.scale_by(scale).holds(one.actual)))
            if origin >= half(some):
                yield one, scale


def past(some: Sequence[Case], day: date) -> list[Case]:
    """Those whose days had passed by then, in the order of their last days."""
    return sorted((one for one in some if one.last <= day), key=lambda one: one.last)


def as_made(some: Sequence[Case]) -> Iterator[tuple[Case, float]]:
    """The measured ones without a scale."""
    yield from ((one, 1.0) for one in some if one.origin >= half(some))


def made_series(draw: np.random.Generator, is_broken: bool = False) -> list[Series]:
    """Histories with weekdays and noise whose neighbors correlate by a half; it doubles where it breaks."""
    every = []
    for _ in range(MADE):
        level, week = draw.lognormal(9, 1), draw.normal(0, 0.2, 7)
        noise, steps = np.zeros(DAYS), draw.normal(0, 0.08, DAYS)
        for day in range(1, DAYS):
            noise[day] = 0.5 * noise[day - 1] + steps[day] * (2 if is_broken and day >= BREAK else 1)
        values = level * np.exp(np.tile(week, DAYS // 7) + noise)
        every.append([DayFigure(FIRST + day * ONE, Estimate(float(v))) for day, v in enumerate(values)])
    return every


def exchanges(folder: Path) -> list[Series]:
    """The price of each exchange and metric at each hour, day after day; days with a gap have none."""
    rows = pd.read_csv(folder / "nab_ad_exchange.csv", parse_dates=["timestamp"])
    rows["day"], rows["hour"] = rows["timestamp"].dt.date, rows["timestamp"].dt.hour
    days = pd.date_range(rows["day"].min(), rows["day"].max()).date[1:-1]
    every = []
    for _, of in rows.groupby(["exchange", "metric", "hour"]):
        values = of.groupby("day")["value"].mean().reindex(days)
        figures = (Estimate(None if value != value else float(value)) for value in values)
        every.append([DayFigure(day, one) for day, one in zip(days, figures, strict=True)])
    return every


def demo(settings: Settings) -> list[Series]:
    """What the packages of the demo had each day."""
    person = connect.installation(settings).people.get("manager")
    if person is None:
        return []
    deals = connect.connect(person, settings).deals
    series, _ = past_series(settings, ("demo", "curation"), deals, both=True)
    return [[one for one in daily if one.figure.value is not None] for daily in series.values()]


def row(name: str, some: Sequence[Case]) -> str:
    """A row of the table."""
    cells = []
    for policy in (as_made, by_half, as_the_desk, adaptive):
        spans = [(one.span.scale_by(scale), one.actual) for one, scale in policy(some)]
        share = np.mean([span.holds(actual) for span, actual in spans])
        cells.append(f"{100 * share:.1f} % ({100 * median(span.width for span, _ in spans):.0f} %)")
    origins = sorted({one.origin for one in some if one.origin >= half(some)})
    drifts = [conformal.drifts([one.score for one in past(some, origin)]) for origin in origins]
    count = sum(one.origin >= half(some) for one in some)
    return f"| {name} | {count:,} | {' | '.join(cells)} | {sum(drifts)} of {len(drifts)} |"


def main() -> None:
    """Print the table."""
    draw = np.random.default_rng(7)
    made = made_series(draw)
    tables = {
        "made, as made": cases(made),
        "made, ranges halved": cases(made, 0.5),
        "made, ranges doubled": cases(made, 2.0),
        "made, noise doubles": cases(made_series(draw, is_broken=True)),
    }
    if folder := os.environ.get("TRANCHE_TEST_DATA"):
        tables["exchanges (NAB), each hour"] = cases(exchanges(Path(folder)))
    settings = Settings.current()
    if settings.demo:
        tables["demo, packages"] = cases(demo(settings))
    print("| rows | measured | as made | by half | as the desk | adaptive | days of drift |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name, some in tables.items():
        print(row(name, some))


if __name__ == "__main__":
    main()
