"""How often what the desk concludes is false, and how often it misses what is there.

    python bench/statements.py [draws] [seed]

Series are made by rules that the methods don't know: counts of Poisson whose level wanders, jumps between
states, has heavy tails or a season. A seed counts that was not used
while anything was tuned.
"""

import math
import os
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from lib.insight import discrepancy, evidence
from lib.insight.forecast import Forecast, forecast
from lib.reporting.answers import DayFigure, Estimate
from lib.reporting.watched import usual

Floats = npt.NDArray[np.float64]
Noise = Callable[[np.random.Generator, int], Floats]
SEED, DRAWS, HISTORY, ONE = 31_415, 1_000, Forecast.HISTORY_DAYS, timedelta(days=1)
FIRST = date(2026, 8, 3)
WEEKDAYS = np.array([1.0, 1.05, 1.1, 1.02, 0.95, 0.7, 0.6])


def white(draw: np.random.Generator, days: int) -> Floats:
    """Each day on its own."""
    return draw.normal(size=days)


def persistent(of: float) -> Noise:
    """A first-order autoregression with unit variance."""

    def made(draw: np.random.Generator, days: int) -> Floats:
        level, levels = draw.normal(), []
        for shock in draw.normal(size=days) * np.sqrt(1 - of**2):
            level = of * level + shock
            levels.append(level)
        return np.array(levels)

    return made


def heavy(draw: np.random.Generator, days: int) -> Floats:
    """Student's t of three degrees of freedom: now and then a day far off."""
    return draw.standard_t(3, days) / np.sqrt(3)


def seasonal(draw: np.random.Generator, days: int) -> Floats:
    """Weekends that differ from week to week, and a wave of a month."""
    week = np.repeat(draw.normal(size=days // 7 + 2), 7)[: days + 7][-days:]
    weekend = (np.arange(days) % 7 >= 5) * week
    wave = np.sin((np.arange(days) / 31 + draw.random()) * 2 * np.pi)
    return 0.7 * draw.normal(size=days) + weekend + 0.5 * wave


def switching(draw: np.random.Generator, days: int) -> Floats:
    """Two states of the market, of ten days each on average."""
    state = np.cumsum(draw.random(days) < 0.1) % 2
    return 1.4 * state + 0.6 * draw.normal(size=days)


def random_walk(draw: np.random.Generator, days: int) -> Floats:
    """A level that never comes back, with unit variance on average."""
    return np.cumsum(draw.normal(size=days)) / np.sqrt(days / 2)


def bursts(draw: np.random.Generator, days: int) -> Floats:
    """A level that each day has again, with a variance of half its square: gamma, as a logarithm."""
    return np.log(draw.gamma(2.0, 0.5, days)) / 0.08


NOISES: Mapping[str, Noise] = {
    "white": white,
    "AR(0.3)": persistent(0.3),
    "AR(0.6)": persistent(0.6),
    "AR(0.8)": persistent(0.8),
    "AR(0.9)": persistent(0.9),
    "heavy tails": heavy,
    "seasonal": seasonal,
    "two states": switching,
    "random walk": random_walk,
}


def counts(
    draw: np.random.Generator, noise: Noise, days: int, size: float = 5_000.0, scale: float = 0.08
) -> Floats:
    """Counts by day, FIRST on: weekdays, the noise on a logarithmic scale, and Poisson's."""
    level = size * WEEKDAYS[np.arange(days) % 7] * np.exp(scale * noise(draw, days))
    return draw.poisson(level).astype(np.float64)


def evidence_rates(
    noise: Noise,
    draws: int,
    seed: int,
    history: int = 77,
    effect: float = 0.0,
    scale: float = 0.08,
    outages: int = 0,
) -> tuple[float, float, float, float]:
    """Shares of changes with a certain difference, whose range holds the effect, and without a statement; and
    the median of the smallest falls that are said to show usually.

    From `effect` on the day after the change (-0.2: a fifth less). The share that holds is of those with one.
    On `outages` of the days of the history there was next to nothing.
    """
    draw = np.random.default_rng([seed, history])
    day = FIRST + history * ONE
    at = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    days = [FIRST + number * ONE for number in range(history + 8)]
    around = evidence.days(at, 0, days[-1], FIRST)
    assert around is not None
    certain, held, reliable, silent = [], [], [], 0
    for _ in range(draws):
        own = counts(draw, noise, len(days), scale=scale)
        own[draw.choice(history - 7, outages, replace=False)] *= draw.choice([0.02, 0.2], outages)
        own[history + 1 :] = draw.binomial(own[history + 1 :].astype(np.int64), 1 + effect)
        others = counts(draw, white, len(days), 40_000, scale / 4)
        found = evidence.difference(
            dict(zip(days, own.tolist(), strict=True)), dict(zip(days, others.tolist(), strict=True)), around
        )
        if found is None:
            silent += 1
            continue
        certain.append(found.is_certain)
        held.append(found.low <= effect <= found.high)
        reliable.append(found.reliable)
    return (
        float(np.mean(certain)) if certain else np.nan,
        float(np.mean(held)) if held else np.nan,
        silent / draws,
        float(np.median(reliable)) if reliable else np.nan,
    )


def alert_rates(
    noise: Noise,
    draws: int,
    seed: int,
    days: int = 91,
    season: int = 7,
    change: float = 0.5,
    outages: int = 0,
) -> tuple[float, float, float]:
    """Shares of checks that fire where nothing changed, where the figure is `change` of itself, and that say
    nothing. A figure is a day's (season 7), or a week's (1). On `outages` of the days before there was (next
    to) nothing."""
    draw = np.random.default_rng([seed, days, season])
    false = missed = silent = 0
    for _ in range(draws):
        by_day = counts(draw, noise, 7 * (days // 7) + 7 // season)
        by_day[draw.choice(len(by_day) - 7, outages, replace=False)] *= draw.choice([0, 0.02, 0.2], outages)
        figures = by_day.reshape(-1, 7 // season).sum(axis=1)
        bounds = usual(figures[:-1].tolist(), season)
        if bounds is None:
            silent += 1
            continue
        low, high = bounds
        false += not low <= figures[-1] <= high
        missed += low <= change * figures[-1] <= high
    said = max(draws - silent, 1)
    return false / said, 1 - missed / said, silent / draws


def print_alerts(draws: int, seed: int) -> None:
    """The table of alerts."""
    print(
        "\n| noise of 8 % a day | figure of a | days of history | outage days | false fires | a half found "
        "| silent |\n|---|---|--:|--:|--:|--:|--:|"
    )
    for name, noise in NOISES.items():
        for season, days, outages in ((7, 42, 0), (7, 91, 0), (7, 112, 8), (1, 91, 0)):
            false, found, silent = alert_rates(noise, draws, seed, days, season, outages=outages)
            what = "day" if season == 7 else "week"
            print(f"| {name} | {what} | {days} | {outages} | {false:.1%} | {found:.1%} | {silent:.1%} |")


def forecast_rates(
    noise: Noise,
    draws: int,
    seed: int,
    length: int = 14,
    trend: float = 0.0,
    size: float = 5_000.0,
    scale: float = 0.08,
) -> tuple[float, float, float]:
    """The share of ranges that hold, their median width in percent of the figure, the share without one."""
    draw = np.random.default_rng([seed, length])
    held, widths = [], []
    for _ in range(draws):
        growth = (1 + trend) ** np.arange(HISTORY + length)
        figures = draw.poisson(size / 5_000 * growth * counts(draw, noise, HISTORY + length, scale=scale))
        days = [DayFigure(FIRST + at * ONE, Estimate(float(of))) for at, of in enumerate(figures[:HISTORY])]
        parts = dict.fromkeys(range(7), length / 7)
        found = forecast(days, parts)
        if math.isfinite(found.low):
            held.append(found.low <= figures[HISTORY:].sum() <= found.high)
            widths.append((found.high - found.low) / max(found.value, 1e-9))
    if not held:
        return math.nan, math.nan, 1.0
    return float(np.mean(held)), 100 * float(np.median(widths)), 1 - len(held) / draws


CASES: Mapping[str, tuple[str, float, float]] = {
    **{name: (name, 0.0, 5_000.0) for name in NOISES},
    "1 % more each day": ("AR(0.3)", 0.01, 5_000.0),
    "1 % less each day": ("AR(0.3)", -0.01, 5_000.0),
    "intermittent": ("white", 0.0, 0.5),
}
RARE: Mapping[str, tuple[Noise, float]] = {
    f"{size:g} a day{text}": (noise, size)
    for text, noise in (("", white), (", in bursts", bursts))
    for size in (0.2, 1.0, 5.0, 20.0)
}
"""Counts as rare as conversions, whose range can be held against that of somebody who knows their level."""


def print_forecasts(draws: int, seed: int) -> None:
    """The table of forecasts."""
    print(f"\n| {HISTORY} days of | for days | range holds | width, % of the figure | silent |")
    print("|---|--:|--:|--:|--:|")
    for name, (noise, trend, size) in CASES.items():
        for length in (7, 14, 28):
            held, width, silent = forecast_rates(NOISES[noise], draws, seed, length, trend, size)
            print(f"| {name} | {length} | {held:.1%} | {width:.0f} | {silent:.1%} |", flush=True)
    print("\n| rare counts | for days | range holds | width, % of the figure | by the level | silent |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, (noise, size) in RARE.items():
        for length in (7, 14, 28):
            held, width, silent = forecast_rates(noise, draws, seed, length, 0.0, size)
            sums = [
                counts(draw, noise, length, size).sum() for draw in np.random.default_rng(seed).spawn(4_000)
            ]
            by_level = 100 * float(np.subtract(*np.quantile(sums, [0.975, 0.025])) / np.mean(sums))
            widths = f"{width:.0f} | {by_level:.0f}"
            print(f"| {name} | {length} | {held:.1%} | {widths} | {silent:.1%} |", flush=True)


LATE: Mapping[str, Callable[[Floats], Floats]] = {
    "evenly": lambda age: age / (len(age) + 1),
    "half of what lacks each few days": lambda age: 1 - np.exp(-3 * age / len(age)),
    "a tenth more each day": lambda age: 0.9 ** (len(age) - age + 1),
    "a fall of a half": lambda age: np.full(len(age), 0.5),
    "a fall of a fifth": lambda age: np.full(len(age), 0.8),
    "two falls": lambda age: np.where(age > len(age) / 2, 0.8, 0.5),
}
"""The part of the newest counts that is there, by their age in days, 1 on the last; a fall is no lateness."""


def late_rates(shape: str, newest: int, draws: int, seed: int) -> tuple[float, float]:
    """Shares of pairs of sides whose difference until now is named, and of these of what may be arriving."""
    draw = np.random.default_rng([seed, newest])
    days, judged = [FIRST + number * ONE for number in range(HISTORY // 3)], []
    for _ in range(draws):
        ours = counts(draw, persistent(0.6), len(days))
        part = 0.95 * np.exp(0.03 * persistent(0.4)(draw, len(days)))
        part[len(days) - newest :] *= LATE[shape](np.arange(newest, 0, -1.0))
        both = discrepancy.compare(
            days, {"wins": ours}, {"wins": draw.poisson(ours * part).astype(float)}, 0.1
        )
        if both.main is not None and both.main.last is None:
            judged.append(both.may_arrive(both.main))
    return len(judged) / draws, float(np.mean(judged)) if judged else math.nan


def print_late(draws: int, seed: int) -> None:
    """The table of late counts."""
    print(
        "\n| the newest counts lack | of days | difference named | said to be arriving |\n|---|--:|--:|--:|"
    )
    for shape in LATE:
        for newest in (6, 8, 10, 14, 20):
            named, late = late_rates(shape, newest, draws, seed)
            print(f"| {shape} | {newest} | {named:.1%} | {late:.1%} |", flush=True)


def print_evidence(draws: int, seed: int) -> None:
    """The table of evidence."""
    print(
        "\n| noise of 8 % a day | history, days | outage days | A/A claims | −20 % found | range holds −20 % "
        "| shows from | silent |\n|---|--:|--:|--:|--:|--:|--:|--:|"
    )
    for name, noise in NOISES.items():
        for history, outages in ((35, 0), (50, 0), (91, 0), (91, 8)):
            false, _, silent, least = evidence_rates(noise, draws, seed, history, outages=outages)
            power, held, _, _ = evidence_rates(noise, draws, seed + 1, history, -0.2, outages=outages)
            rates = (false, power, held, least, silent)
            print(f"| {name} | {history} | {outages} | {' | '.join(f'{rate:.1%}' for rate in rates)} |")


def print_real(folder: Path) -> None:
    """Evidence at days on which nothing is known to have happened, and forecasts of a week, on real rows: CPC
    and CPM of three ad exchanges by day (Numenta Anomaly Benchmark)."""
    rows = pd.read_csv(folder / "nab_ad_exchange.csv")
    daily = rows.groupby(["exchange", "metric", rows["timestamp"].str[:10]])["value"].mean()
    claims, held = [], []
    for _, of in daily.groupby(level=[0, 1]):
        series = {date.fromisoformat(day): value for (*_, day), value in of.items()}
        days = list(series)
        for day in days[36:-8]:
            around = evidence.days(datetime(*day.timetuple()[:3], 12, tzinfo=UTC), 0, day + 8 * ONE, days[0])
            found = None if around is None else evidence.difference(series, None, around)
            claims += [] if found is None else [found.is_certain]
        for last in days[30:-7]:
            past = [days[0] + number * ONE for number in range((last - days[0]).days + 1)]
            coming = [series.get(last + number * ONE) for number in range(1, 8)]
            guess = forecast(
                [DayFigure(day, Estimate(series.get(day))) for day in past], dict.fromkeys(range(7), 1)
            )
            if None not in coming and math.isfinite(guess.low):
                held.append(guess.low <= sum(filter(None, coming)) <= guess.high)
    print(
        f"\nReal rows: evidence claims an effect on {np.mean(claims):.1%} of {len(claims)} days without one;"
    )
    print(f"the range of a forecast holds in {np.mean(held):.1%} of {len(held)} weeks, which overlap.")


def main() -> None:
    """Print all tables; those of real rows where TRANCHE_TEST_DATA names their folder."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else SEED
    print(f"{draws:,} draws")
    print_evidence(draws, seed)
    print_alerts(draws, seed)
    print_forecasts(draws, seed)
    print_late(draws, seed)
    if folder := os.environ.get("TRANCHE_TEST_DATA"):
        print_real(Path(folder))


if __name__ == "__main__":
    main()
