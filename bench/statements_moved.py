"""How often What moved names a value where nothing happened, and how often the cause comes first.

    python bench/statements_moved.py [slicers] [seed]

Slicers are answered from memory: three key fields with 4 to 30 values over ten weeks. Each cell has a level
of its own, the noise of its values and of the market on a logarithmic scale, and Poisson's.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import pandas as pd
from statements import NOISES, SEED, WEEKDAYS, Floats, Noise

from lib.reporting.answers import Audience, Total
from lib.reporting.models import AudienceQuery
from lib.reporting.moved import explain
from lib.reporting.moved.explain import Moved
from lib.slicers.granularities import time_key_field
from lib.slicers.models import DataField, KeyField, Slicer

DAYS, ONE = 70, timedelta(days=1)
FIRST = date(2026, 9, 7)
DAY = time_key_field("day")
SIZES = {"publisher": 30, "country": 12, "device": 4}
AXES = (*SIZES, DAY)
LABELS = {name: np.array([f"{name}{at}" for at in range(size)]) for name, size in SIZES.items()}
LABELS[DAY] = np.array([(FIRST + at * ONE).isoformat() for at in range(DAYS)])
SLICER = Slicer(
    first_date=FIRST.isoformat(),
    last_date=(FIRST + (DAYS - 1) * ONE).isoformat(),
    key_fields=(*(KeyField(name=name) for name in SIZES), KeyField(name=DAY)),
    data_fields=(
        DataField(name="bids"),
        DataField(name="imps"),
        DataField(name="win_rate", formula="100 * imps / bids"),
    ),
)
NOW = (FIRST + (DAYS - 7) * ONE, FIRST + (DAYS - 1) * ONE)
BEFORE = (NOW[0] - 7 * ONE, NOW[0] - ONE)


@dataclass(frozen=True)
class Cube:
    """Bids and impressions by publisher, country, device and day."""

    bids: Floats
    imps: Floats

    def ask(self, queries: Sequence[AudienceQuery]) -> list[Audience]:
        """The answers to questions about these, as an exact service gives them."""
        return [self._answer(query) for query in queries]

    def _answer(self, query: AudienceQuery) -> Audience:
        start, end = (
            (date.fromisoformat(str(day)) - FIRST).days for day in (query.start_date, query.end_date)
        )
        data = {"bids": self.bids[..., start : end + 1], "imps": self.imps[..., start : end + 1]}
        order = [name for name in AXES if name in query.split_by]
        rest = tuple(axis for axis, name in enumerate(AXES) if name not in order)
        sums = {name: of.sum(axis=rest) for name, of in data.items()}
        places = np.indices(sums["imps"].shape).reshape(len(order), sums["imps"].size)
        names = {name: LABELS[name][places[at] + start * (name == DAY)] for at, name in enumerate(order)}
        rows = pd.DataFrame(names | {name: np.ravel(of) for name, of in sums.items()})
        for filter_ in query.filters:
            rows = rows[rows[filter_.name].isin(filter_.value)]
        count = len(rows)
        if query.order_by:
            rows = rows.nlargest(query.limit or count, query.order_by[0].name, keep="all")[: query.limit]
        rows = rows.reset_index(drop=True)
        whole = {name: float(of.sum()) for name, of in data.items()}
        days = tuple(LABELS[DAY][start : end + 1])
        total = Total(with_rate(whole), count, days)
        values = rows[["bids", "imps"]]
        return Audience(rows[list(query.split_by)], values.assign(**with_rate(values)), values, total)


def with_rate(sums: dict[str, float]) -> dict[str, float]:
    """The same with the win rate."""
    return {"bids": sums["bids"], "imps": sums["imps"], "win_rate": 100 * sums["imps"] / sums["bids"]}


def cube(draw: np.random.Generator, noise: Noise) -> Cube:
    """A slicer in which nothing happens but noise: of the market, of each value, and of their win rates."""
    shape = (*SIZES.values(), DAYS)
    level, rate = np.zeros(shape), np.zeros(shape)
    level += 0.05 * noise(draw, DAYS)
    for axis, size in enumerate(SIZES.values()):
        each = np.array([noise(draw, DAYS) for _ in range(size)])
        rates = np.array([noise(draw, DAYS) for _ in range(size)])
        place = [1, 1, 1, DAYS]
        place[axis] = size
        weight = draw.normal(0, 1.0, size)[:, None]
        level += (0.08 * each + weight).reshape(place)
        rate += (0.04 * rates).reshape(place)
    bids = draw.poisson(60 * np.exp(level) * WEEKDAYS[np.arange(DAYS) % 7]).astype(np.float64)
    chance = np.clip(0.25 * np.exp(rate), 0, 1)
    return Cube(bids, draw.binomial(bids.astype(np.int64), chance).astype(np.float64))


def planted(draw: np.random.Generator, cube: Cube, part: float = 0.4) -> tuple[Cube, str, str]:
    """One of the three largest values of a key field keeps this part of its impressions in the last week."""
    name = str(draw.choice(list(SIZES)))
    axis = AXES.index(name)
    before = cube.imps[..., DAYS - 14 : DAYS - 7].sum(axis=tuple(at for at in range(4) if at != axis))
    at = int(draw.choice(np.argsort(-before)[:3]))
    imps = cube.imps.copy()
    place = tuple([slice(None)] * axis + [at] + [slice(None)] * (2 - axis) + [slice(DAYS - 7, None)])
    imps[place] = draw.binomial(imps[place].astype(np.int64), part)
    return Cube(cube.bids, imps), name, str(LABELS[name][at])


def uniform(draw: np.random.Generator, cube: Cube, name: str, part: float = 0.7) -> Cube:
    """All impressions keep this part in the last week, and all bids too unless it is about the win rate."""
    imps, bids = cube.imps.copy(), cube.bids.copy()
    for of in (imps, bids)[: 2 if name == "imps" else 1]:
        of[..., DAYS - 7 :] = draw.binomial(of[..., DAYS - 7 :].astype(np.int64), part)
    return Cube(bids, imps)


def explained(cube: Cube, name: str = "imps") -> Moved:
    """What moved a data field in the last week, against the week before."""
    query = AudienceQuery(project_name="p", slicer_name="s", start_date="today", end_date="today")
    return explain.explain(cube.ask, query, SLICER, SLICER.data_field(name), (BEFORE, NOW), list(SIZES))


def rates(noise: Noise, slicers: int, seed: int, name: str = "imps") -> dict[str, float]:
    """Shares of slicers: with any claim in noise, with the cause first and named at all, and after a uniform
    change that are said to move alike, and with values named."""
    draw = np.random.default_rng([seed, len(name)])
    counted = dict.fromkeys(("noise", "cause first", "cause named", "alike", "uniform named"), 0.0)
    for _ in range(slicers):
        quiet = cube(draw, noise)
        found = explained(quiet, name)
        counted["noise"] += bool(found.moves or found.alike)
        changed, field, code = planted(draw, quiet)
        found = explained(changed, name)
        named = [(moves.name, moves.movers[0].code) for moves in found.moves]
        counted["cause first"] += named[:1] == [(field, code)]
        counted["cause named"] += (field, code) in named
        found = explained(uniform(draw, quiet, name), name)
        counted["alike"] += bool(found.alike)
        counted["uniform named"] += bool(found.moves)
    return {what: count / slicers for what, count in counted.items()}


def main() -> None:
    """Print the table."""
    slicers = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else SEED
    print(f"{slicers} slicers each; a cause takes 60 % of one value, a uniform change 30 % of everything\n")
    print("| noise | figure | claim in noise | cause first | cause named | alike | values named if alike |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for kind, noise in NOISES.items():
        for name in ("imps", "win_rate"):
            found = rates(noise, slicers, seed, name)
            print(
                f"| {kind} | {name} | {' | '.join(f'{value:.1%}' for value in found.values())} |", flush=True
            )


if __name__ == "__main__":
    main()
