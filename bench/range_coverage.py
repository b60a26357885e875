"""How often the 95 % intervals of estimates hold the truth: many samples of slicers of several kinds.

    python bench/range_coverage.py [draws] [seed]

Every draw gives each record a new random number, takes the sample that the threshold draws, and compares the
intervals of filtered totals and of groups with the true figures. Groups count where the sample met them, as
on screen. They are classed by how many light records a sample is expected to draw of them, which no sample
decides: a class by an estimate of the same sample would favor those that look sure by chance.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lib.engines import Aggregate
from lib.engines.resident import sampling
from lib.engines.resident.accumulate import product
from lib.engines.resident.build import build
from lib.engines.resident.draw import Draw
from lib.engines.resident.layout import Layout
from lib.figures.query.compared_answers import change
from lib.reporting import intervals
from lib.reporting.answers import Estimate
from lib.reporting.intervals import Ranges
from lib.slicers.definition import Definition
from lib.slicers.measures import Measure, measures, pairs
from lib.slicers.warehouse import Warehouse

RECORDS, DRAWN, SLICES = 24_000, 3_000, 4
TOGETHER = 50
FORMULAS = {
    "ctr": "100 * clicks / imps",
    "ecpm": "1000 * revenue / imps",
    "cpa": "revenue / conversions",
    "margin": "100 * profit / revenue",
}
DEFINITION = Definition.model_validate(
    {
        "time": {"column": "time", "granularity": "day"},
        "key_fields": [{"name": "site"}, {"name": "placement"}, {"name": "page"}],
        "data_fields": [
            {"name": "records", "aggregate": "count"},
            *({"name": name} for name in ("imps", "clicks", "conversions", "revenue", "profit")),
            {"name": "bid", "aggregate": "mean"},
            *({"name": name, "formula": formula} for name, formula in FORMULAS.items()),
        ],
    }
)
USERS = Definition.model_validate(
    {"time": {"column": "time", "granularity": "day"}, "audience_sources": [{"name": "users"}]}
)
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Columns = dict[str, npt.NDArray[np.generic]]


def heavy(draw: np.random.Generator) -> Floats:
    """Record sizes with a heavy tail."""
    return np.floor(draw.pareto(1.4, RECORDS) * 20)


def even(draw: np.random.Generator) -> Floats:
    """Record sizes that differ little."""
    return draw.poisson(30, RECORDS).astype(np.float64)


def dominated(draw: np.random.Generator) -> Floats:
    """One record as large as all others together."""
    sizes = draw.geometric(0.05, RECORDS).astype(np.float64)
    sizes[RECORDS // 2] = sizes.sum()
    return sizes


CLASSES = {
    "totals": (0.0, np.inf), "below 3": (0.0, 3.0), "3 to 30": (3.0, 30.0), "from 30": (30.0, np.inf),
}  # fmt: skip
"""Filtered totals, and groups by the light records that a sample is expected to draw of them."""
HEAVY_SHARE, HEAVY = 0.002, 40.0
"""The share of records that have a profit or loss of so many times the mean revenue."""
KINDS: dict[str, Callable[[np.random.Generator], Floats]] = {
    "heavy": heavy,
    "even": even,
    "dominated": dominated,
}


@dataclass(frozen=True)
class Population:
    """A slicer's layout, the group of each record per split, and a slice of records per filter.

    The splits have about a dozen groups, 150 of all sizes, and 3,000 of some eight records each.
    """

    layout: Layout
    groups: dict[str, Ints]
    slices: Ints
    measures: list[Measure]


@dataclass
class Coverage:
    """Of one data field: which intervals held, by class (CLASSES); groups without one; the least width."""

    held: dict[str, list[bool]] = field(default_factory=lambda: {name: [] for name in CLASSES})
    without: list[bool] = field(default_factory=list)
    narrowest: float = np.inf

    def shares(self) -> list[float]:
        """The share of each class that held, then that of groups without an interval; NaN of none."""
        return [float(np.mean(part)) if part else np.nan for part in (*self.held.values(), self.without)]


def population(kind: str, folder: Path, seed: int = 20_261_121) -> Population:
    """A slicer of that kind: sites and placements of all sizes, many small pages, rare heavy rows."""
    draw = np.random.default_rng(seed)
    imps = KINDS[kind](draw)
    clicks = draw.binomial(imps.astype(np.int64), 0.01).astype(np.float64)
    revenue = imps * draw.gamma(2, 0.001, RECORDS)
    heavy_rows = (draw.random(RECORDS) < HEAVY_SHARE) * draw.normal(0, HEAVY * revenue.mean(), RECORDS)
    columns: Columns = {
        "time": np.full(RECORDS, "2026-11-01", dtype="datetime64[s]"),
        "site": np.char.add("site ", (draw.zipf(1.4, RECORDS) % 12).astype(str)),
        "placement": np.char.add("placement ", (draw.zipf(1.4, RECORDS) % 150).astype(str)),
        "page": np.char.add("page ", draw.integers(0, 3_000, RECORDS).astype(str)),
        "imps": imps,
        "clicks": clicks,
        "conversions": draw.binomial(clicks.astype(np.int64), 0.05).astype(np.float64),
        "revenue": revenue,
        "profit": revenue * draw.normal(0.2, 0.5, RECORDS) + heavy_rows,
        "bid": draw.gamma(2, 0.1, RECORDS),
    }
    warehouse = Warehouse(folder)
    with warehouse.writer("bench", kind, DEFINITION) as writer:
        writer.write(pa.table({n: pa.array(v) for n, v in columns.items()}).cast(DEFINITION.schema()))
        writer.commit("made", "0")
    layout = Layout(build(warehouse.open("bench", kind)))
    groups = {name: layout.codes(name)[:].astype(np.int64) for name in ("site", "placement", "page")}
    return Population(layout, groups, draw.integers(0, SLICES, RECORDS), list(measures(DEFINITION).values()))


def coverage(people: Population, draws: int, drawn: int = DRAWN) -> dict[str, Coverage]:
    """How often the intervals of each data field held, over so many samples of about `drawn` records."""
    draw = _draw(people, drawn)
    truth = {split: _values(people, *_all(people, draw, keys)) for split, keys in _keys(people).items()}
    found = {measure.name: Coverage() for measure in people.measures}
    size = people.layout.sizes(np.arange(people.layout.contents.records))
    inclusion = np.minimum(1, draw.tau * size)
    expected = {
        split: np.bincount(keys, inclusion * (inclusion < 1)) for split, keys in _keys(people).items()
    }
    for first in range(0, draws, TOGETHER):
        samples = [
            np.flatnonzero(sampling.uniform(seed, 0, len(size)) / size < draw.tau)
            for seed in range(first, min(first + TOGETHER, draws))
        ]
        # The groups of several samples as if they were groups of one: NumPy is called once for all.
        records, number = np.concatenate(samples), np.repeat(np.arange(len(samples)), [*map(len, samples)])
        columns = draw.columns(records)
        for split, keys in _keys(people).items():
            # Three thousand pages: a tenth of the samples is enough.
            some = number % 10 == 0 if split == "page" else np.full(len(number), True)
            width = int(keys.max()) + 1
            there, sums = _sums(number[some] * width + keys[records[some]], columns[some])
            groups = there % width
            for name, ranges in _ranges(people, draw, draw.aggregate(sums)):
                _count(
                    found[name],
                    ranges,
                    truth[split][name][groups],
                    expected[split][groups] if split else None,
                )
    return found


def _draw(people: Population, drawn: int) -> Draw:
    size = people.layout.sizes(np.arange(people.layout.contents.records))
    order = np.sort(sampling.uniform(0, 0, len(size)) / size)
    atoms = ["records", *sorted({atom for m in people.measures for atom in m.atoms} - {"records"})]
    return Draw(people.layout, float(order[drawn]), atoms, sorted(pairs(people.measures)))


def _keys(people: Population) -> dict[str, Ints]:
    return {"": people.slices, **people.groups}


def _all(people: Population, draw: Draw, keys: Ints) -> tuple[Aggregate, Ints]:
    whole = Draw(draw.layout, np.inf, draw.atoms, draw.pairs)
    there, sums = _sums(keys, whole.columns(np.arange(people.layout.contents.records)))
    return draw.aggregate(sums), there


def _sums(keys: Ints, columns: Floats) -> tuple[Ints, Floats]:
    """The groups that there are, and the sums of each: of records with a key and columns each."""
    there, places = np.unique(keys, return_inverse=True)
    indptr = np.arange(len(keys) + 1, dtype=np.int32)
    return there, product(places, indptr, columns, len(there))


def _values(people: Population, aggregate: Aggregate, there: Ints) -> dict[str, Floats]:
    """The true values by group, in a place per group."""
    values = {}
    for measure in people.measures:
        values[measure.name] = np.full(int(there.max()) + 1, np.nan)
        values[measure.name][there] = measure.expression.evaluate(aggregate.estimate)
    return values


def _ranges(people: Population, draw: Draw, aggregate: Aggregate) -> Iterator[tuple[str, Ranges]]:
    sample = draw.sample()
    for measure in people.measures:
        value = measure.expression.evaluate(aggregate.estimate)
        ranges = intervals.ranges(measure, value, aggregate, sample)
        unknown = np.isnan(value)
        yield measure.name, Ranges(*(np.where(unknown, np.inf, side) for side in vars(ranges).values()))


def _count(into: Coverage, ranges: Ranges, truth: Floats, expected: Floats | None) -> None:
    """Add one sample of totals, or of groups with so many `expected` light records. A value that the sample
    leaves unknown (0 / 0) is no estimate, and doesn't count."""
    known = ~np.isnan(truth) & (ranges.n_eff < np.inf)
    has_range = known & ~np.isnan(ranges.low)
    slack = 1e-9 * np.abs(truth)
    held = (ranges.low <= truth + slack) & (truth - slack <= ranges.high)
    width = ranges.high[has_range] - ranges.low[has_range]
    into.narrowest = min(into.narrowest, float(width.min(initial=np.inf)))
    if expected is None:
        into.held["totals"] += held[has_range].tolist()
        return
    for name, (least, most) in [*CLASSES.items()][1:]:
        into.held[name] += held[has_range & (expected >= least) & (expected < most)].tolist()
    into.without += (~has_range)[known].tolist()


def changes(people: Population, draws: int) -> dict[str, tuple[float, float]]:
    """Of each data field: how often the range of the change between two slices, each of a sample of its own,
    holds the true one; and how often a change is claimed between two samples of the same slice."""
    draw, slices = _draw(people, DRAWN), people.slices
    truth = _values(people, *_all(people, draw, slices))
    size = people.layout.sizes(np.arange(people.layout.contents.records))
    held: dict[str, list[bool]] = {measure.name: [] for measure in people.measures}
    claimed: dict[str, list[bool]] = {measure.name: [] for measure in people.measures}
    for seed in range(0, 2 * draws, 2):
        now, before = (_estimates(people, draw, seed + one, size) for one in (0, 1))
        for name in held:
            for first, second in ((0, 1), (2, 3)):
                found = change(now[name][first], before[name][second])
                if found.low is None or found.high is None or np.isnan(found.high - found.low):
                    continue
                held[name].append(found.low <= truth[name][first] - truth[name][second] <= found.high)
                claimed[name].append(change(now[name][first], before[name][first]).is_certain)
    return {name: (float(np.mean(held[name])), float(np.mean(claimed[name]))) for name in held if held[name]}


def _estimates(people: Population, draw: Draw, seed: int, size: Floats) -> dict[str, list[Estimate]]:
    """The estimates of each slice by one sample."""
    records = np.flatnonzero(sampling.uniform(seed, 0, len(size)) / size < draw.tau)
    _, sums = _sums(people.slices[records], draw.columns(records))
    aggregate = draw.aggregate(sums)
    values = {one.name: one.expression.evaluate(aggregate.estimate) for one in people.measures}
    return {
        name: [Estimate(*one) for one in zip(values[name], ranges.low, ranges.high, strict=True)]
        for name, ranges in _ranges(people, draw, aggregate)
    }


def users(draws: int, share: float) -> dict[int, float]:
    """How often the range of unique users holds the truth, for numbers of users of a million."""
    draw, held = np.random.default_rng(97), {}
    measure = measures(USERS)["unique_users"]
    for count in (3, 10, 30, 100, 300, 1_000, 10_000):
        [atom] = measure.atoms
        found = draw.binomial(count, share, draws) / share
        aggregate = Aggregate({atom: found}, found, share={atom: share}, users={atom: 1_000_000})
        ranges = intervals.ranges(measure, found, aggregate, None)
        held[count] = float(np.mean((ranges.low <= count) & (count <= ranges.high)))
    return held


def main() -> None:
    """Print a table for each kind of slicer."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    print(f"Intervals that hold the truth, in percent; {draws:,} samples of {DRAWN:,} of {RECORDS:,} records")
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            people = population(kind, Path(folder), *map(int, sys.argv[2:]))
            found, changed = coverage(people, draws), changes(people, draws)
        titles = "".join(f"{title:>10}" for title in (*CLASSES, "without", "changes", "A/A"))
        print(f"\n{kind:14}{titles}")
        for name, counted in found.items():
            shares = (*counted.shares(), *changed.get(name, (np.nan, np.nan)))
            print(f"{name:14}{''.join(f'{100 * share:10.1f}' for share in shares)}")
    for share in (0.03, 0.1, 0.3):
        held_users = ", ".join(f"{count:,}: {100 * part:.1f}" for count, part in users(draws, share).items())
        print(f"\nunique users, counted on {share:.0%} of them: {held_users}")


if __name__ == "__main__":
    main()
