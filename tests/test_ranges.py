"""The ranges hold the truth as often as they say, over a thousand samples of a heavy-tailed slicer."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from lib.reporting import intervals
from lib.reporting.definition import Definition
from lib.reporting.engines.resident import sampling
from lib.reporting.engines.resident.accumulate import product
from lib.reporting.engines.resident.build import build
from lib.reporting.engines.resident.draw import Draw
from lib.reporting.engines.resident.layout import Layout
from lib.reporting.engines.sums import Aggregate
from lib.reporting.measures import Measure, measures, pairs
from lib.reporting.warehouse import Warehouse

SAMPLES = 1000
RECORDS = 24_000
DRAWN = 3_000
GROUPS = 12
FIELDS = ("imps", "revenue", "profit", "ecpm", "cpc")

DEFINITION = Definition.model_validate(
    {
        "time": {"column": "time", "granularity": "day"},
        "key_fields": [{"name": "site"}],
        "data_fields": [
            {"name": "imps"},
            {"name": "revenue", "display_type": "float"},
            {"name": "profit", "display_type": "float"},
            {"name": "cpc", "aggregate": "mean"},
            {"name": "ecpm", "formula": "1000 * revenue / imps"},
        ],
        "audience_sources": [{"name": "users"}],
    }
)


@dataclass(frozen=True)
class Population:
    """A slicer, its records' groups and filter, and the true values: per group, and filtered."""

    layout: Layout
    site: npt.NDArray[np.int64]
    passed: npt.NDArray[np.bool_]
    measures: dict[str, Measure]


@dataclass(frozen=True)
class Coverage:
    """How often the range held the truth, per field: in all, and in groups with enough records."""

    total: dict[str, float]
    groups: dict[str, float]
    narrowest: float


@pytest.fixture(scope="module")
def population(tmp_path_factory: pytest.TempPathFactory) -> Population:
    """Pareto-sized records in groups of very different sizes, a third of them behind a filter."""
    rng = np.random.default_rng(20261121)
    imps = np.floor(rng.pareto(1.4, RECORDS) * 20)
    columns = {
        "time": np.full(RECORDS, "2026-11-01", dtype="datetime64[s]"),
        "site": np.char.add("site ", (rng.zipf(1.4, RECORDS) % GROUPS).astype(str)),
        "imps": imps,
        "revenue": imps * rng.gamma(2, 0.001, RECORDS),
        "profit": imps * rng.normal(0.001, 0.002, RECORDS),
        "cpc": rng.gamma(2, 0.1, RECORDS),
        "users": np.char.add("u", (rng.zipf(1.3, RECORDS) % 9_000).astype(str)),
    }
    warehouse = Warehouse(tmp_path_factory.mktemp("warehouse"))
    schema = DEFINITION.schema()
    with warehouse.writer("test", "heavy", DEFINITION) as writer:
        writer.write(pa.table({name: pa.array(values) for name, values in columns.items()}).cast(schema))
        writer.commit("made", "0")
    layout = Layout(build(warehouse.open("test", "heavy")))
    site = layout.codes("site").astype(np.int64)
    return Population(layout, site, rng.random(RECORDS) < 1 / 3, measures(DEFINITION))


@pytest.fixture(scope="module")
def coverage(population: Population) -> Coverage:
    """A thousand draws, each with its own random numbers; how often each range held the truth."""
    layout, known = population.layout, population.measures
    chosen = [known[name] for name in FIELDS]
    draw = _draw(population, chosen)
    everything = replace(draw, tau=np.inf)
    truth = _values(chosen, _aggregate(population, everything, np.arange(RECORDS), population.site, GROUPS))
    passed = np.flatnonzero(population.passed)
    whole = _values(chosen, _aggregate(population, everything, passed, np.zeros(RECORDS, int), 1))
    hits = {name: [] for name in FIELDS}
    totals = {name: [] for name in FIELDS}
    narrowest = np.inf
    for seed in range(SAMPLES):
        drawn = np.flatnonzero(sampling.uniform(seed, 0, RECORDS) / layout.size < draw.tau)
        kept = drawn[population.passed[drawn]]
        for name, held, n_eff, width in _held(population, draw, chosen, drawn, population.site, truth):
            hits[name].append(held[n_eff >= intervals.FEW])
            narrowest = min(narrowest, float(width.min()))
        for name, held, _, width in _held(population, draw, chosen, kept, np.zeros(RECORDS, int), whole):
            totals[name].append(held)
            narrowest = min(narrowest, float(width.min()))
    return Coverage(
        total={name: float(np.concatenate(held).mean()) for name, held in totals.items()},
        groups={name: float(np.concatenate(held).mean()) for name, held in hits.items()},
        narrowest=narrowest,
    )


def _draw(population: Population, chosen: list[Measure]) -> Draw:
    sorted_q = np.sort(sampling.uniform(0, 0, RECORDS) / population.layout.size)
    atoms = ["records", *sorted({atom for measure in chosen for atom in measure.atoms})]
    return Draw(population.layout, float(sorted_q[DRAWN]), atoms, sorted(pairs(chosen)))


def _aggregate(
    population: Population,
    draw: Draw,
    records: npt.NDArray[np.int64],
    group: npt.NDArray[np.int64],
    groups: int,
) -> Aggregate:
    keys, indptr = group[records], np.arange(len(records) + 1, dtype=np.int32)
    return draw.aggregate(product(keys, indptr, draw.columns(records), groups))


def _values(chosen: list[Measure], aggregate: Aggregate) -> dict[str, npt.NDArray[np.float64]]:
    return {measure.name: measure.expression.evaluate(aggregate.estimate) for measure in chosen}


def _held(
    population: Population,
    draw: Draw,
    chosen: list[Measure],
    records: npt.NDArray[np.int64],
    group: npt.NDArray[np.int64],
    truth: dict[str, npt.NDArray[np.float64]],
) -> Iterator[tuple[str, npt.NDArray[np.bool_], npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    groups = len(truth["imps"])
    sums = product(group[records], np.arange(len(records) + 1, dtype=np.int32), draw.columns(records), groups)
    aggregate, sample = draw.aggregate(sums), draw.sample(sums.sum(axis=0))
    for name, value in _values(chosen, aggregate).items():
        measure = next(measure for measure in chosen if measure.name == name)
        found = intervals.ranges(measure, value, aggregate, sample)
        there = ~np.isnan(value)
        held = (found.low <= truth[name]) & (truth[name] <= found.high)
        yield name, held[there], found.n_eff[there], (found.high - found.low)[there]


@pytest.mark.parametrize("name", FIELDS)
def test_filtered_totals(coverage: Coverage, name: str) -> None:
    """The 95 % range of a filtered total holds the truth in 93 to 97 of 100 samples, whatever the field."""
    assert 0.93 <= coverage.total[name] <= 0.97


@pytest.mark.parametrize("name", FIELDS)
def test_groups(coverage: Coverage, name: str) -> None:
    """In groups of 30 effective records or more, the range holds the truth in 92 of 100 samples or more."""
    assert coverage.groups[name] >= 0.92


def test_no_range_without_width(coverage: Coverage) -> None:
    """No range has zero width where something was left out."""
    assert coverage.narrowest > 0


@pytest.fixture(scope="module")
def user_coverage(population: Population) -> Coverage:
    """A thousand random shares of the users: how often the range held, filtered and per large group."""
    measure = population.measures["unique_users"]
    codes = population.layout.distinct("users").astype(np.int64)
    users = population.layout.contents.distinct["users"].values
    rng, counted = np.random.default_rng(7), users // 5
    hits: dict[str, list[npt.NDArray[np.bool_]]] = {"total": [], "groups": []}
    for _ in range(SAMPLES):
        seen = np.argsort(rng.random(users))[codes] < counted
        for kind, rows, group in (
            ("total", population.passed, np.zeros(RECORDS, int)),
            ("groups", np.ones(RECORDS, bool), population.site),
        ):
            truth = _users(group[rows], codes[rows], users)
            found = _users(group[seen & rows], codes[seen & rows], users)
            aggregate = _users_aggregate(found, counted, users)
            ranges = intervals.ranges(measure, aggregate.estimate["unique:users"], aggregate, None)
            many = ranges.n_eff >= intervals.FEW
            hits[kind].append(((ranges.low <= truth) & (truth <= ranges.high))[many])
    held = {kind: float(np.concatenate(parts).mean()) for kind, parts in hits.items()}
    return Coverage({"unique_users": held["total"]}, {"unique_users": held["groups"]}, 0)


def _users_aggregate(found: npt.NDArray[np.float64], counted: int, users: int) -> Aggregate:
    estimate = {"unique:users": found * users / counted}
    return Aggregate(estimate, found, share={"unique:users": counted / users}, users={"unique:users": users})


def _users(group: npt.NDArray[np.int64], codes: npt.NDArray[np.int64], users: int) -> npt.NDArray[np.float64]:
    """How many different users each group has."""
    seen = np.unique(group * users + codes)
    return np.bincount(seen // users).astype(np.float64)


def test_unique_users_of_groups(user_coverage: Coverage) -> None:
    """Counted on a share of all users, a group's unique users lie in their range 92 times of 100 or more."""
    assert user_coverage.groups["unique_users"] >= 0.92


def test_unique_users_behind_a_filter(user_coverage: Coverage) -> None:
    """Counted on a share of all users, those behind a filter lie in their range 93 to 97 times of 100."""
    assert 0.93 <= user_coverage.total["unique_users"] <= 0.97
