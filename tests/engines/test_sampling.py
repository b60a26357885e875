"""Sampling in the resident engine: who is drawn, what stays exact, and what the answer says of the rest."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from lib.engines.resident import ResidentEngine
from lib.engines.resident.accumulate import Period, chunks, numbers, threshold
from lib.engines.resident.build import build
from lib.engines.resident.layout import Layout
from lib.engines.sums import Question, Sums
from lib.slicers.definition import Definition
from lib.slicers.measures import measures, pairs
from lib.slicers.warehouse import Warehouse
from lib.slicers.warehouse.slicer import StoredSlicer
from lib.wire.deadline import Deadline
from lib.wire.filters import Filter

RECORDS = 60_000
DAYS = 20
LIMIT = 10_000
DEFINITION = Definition.model_validate(
    {
        "time": {"column": "time", "granularity": "hour"},
        "key_fields": [{"name": "country"}, {"name": "site"}],
        "data_fields": [{"name": "imps"}, {"name": "cost", "display_type": "float"}],
        "audience_sources": [{"name": "users"}],
    }
)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Heavy-tailed records over three weeks, in many small groups and a few large ones."""
    rng = np.random.default_rng(4)
    hours = rng.integers(0, 24 * DAYS, RECORDS)
    imps = np.floor(rng.pareto(1.5, RECORDS) * 10)
    return pd.DataFrame(
        {
            "time": pd.Timestamp("2026-10-01", tz="UTC") + pd.to_timedelta(hours, unit="h"),
            "country": rng.choice(["US", "DE", "FR"], RECORDS, p=[0.7, 0.2, 0.1]),
            "site": np.char.add("s", (rng.zipf(1.3, RECORDS) % 20_000).astype(str)),
            "imps": imps,
            "cost": imps * rng.gamma(2, 0.01, RECORDS),
            "users": np.char.add("u", rng.integers(0, 15_000, RECORDS).astype(str)),
        }
    )


@pytest.fixture(scope="module")
def stored(rows: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> StoredSlicer:
    """The rows as a slicer."""
    warehouse = Warehouse(tmp_path_factory.mktemp("warehouse"))
    with warehouse.writer("test", "sampled", DEFINITION) as writer:
        writer.write(pa.Table.from_pandas(rows, preserve_index=False).cast(DEFINITION.schema()))
        writer.commit("made", "0")
    return warehouse.open("test", "sampled")


def ask(
    stored: StoredSlicer,
    limit: int | None = LIMIT,
    split_by: tuple[str, ...] = (),
    filters: tuple[Filter, ...] = (),
) -> Sums:
    """All data fields over the whole period."""
    known = list(measures(stored.definition).values())
    days = list(stored.rows)
    question = Question(
        first=days[0],
        last=days[-1],
        timezone=0,
        split_by=split_by,
        filters=filters,
        atoms=frozenset().union(*(measure.atoms for measure in known)),
        pairs=pairs(known),
        rows_limit=limit,
    )
    return ResidentEngine().audience(stored, question, Deadline())


def drawn(stored: StoredSlicer, limit: int) -> set[int]:
    """The record numbers that a limit draws."""
    layout = Layout(build(stored))
    period = Period.of(layout, (int(layout.days[0]), int(layout.days[-1])), 0, 0)
    return {
        int(n) for rows in chunks(layout, period, threshold(layout, period, limit)) for n in numbers(rows)
    }


def test_limit_is_kept(stored: StoredSlicer) -> None:
    """A sample has no more records than the limit, and no fewer than nine tenths of it."""
    assert 0.9 * LIMIT <= ask(stored, split_by=("site",)).records_read <= LIMIT


def test_larger_contains_smaller(stored: StoredSlicer) -> None:
    """Whoever is in a small sample is in every larger one."""
    assert drawn(stored, 2_000) < drawn(stored, 10_000) < drawn(stored, 40_000)


def test_same_sample_every_time(stored: StoredSlicer) -> None:
    """The same question draws the same records: figures don't jump between two looks."""
    first, second = ask(stored, split_by=("site",)), ask(stored, split_by=("site",))
    assert np.array_equal(first.rows.estimate["sum:cost"], second.rows.estimate["sum:cost"])


def test_rebuilt_layout_draws_the_same(stored: StoredSlicer, tmp_path: Path) -> None:
    """A layout that was deleted and built again draws the same records."""
    before = Layout(build(stored)).sizes(np.arange(100))
    for file in stored.layout_folder.iterdir():
        file.unlink()
    stored.layout_folder.rmdir()
    assert np.array_equal(Layout(build(stored)).sizes(np.arange(100)), before)


def test_unfiltered_total_is_exact(stored: StoredSlicer, rows: pd.DataFrame) -> None:
    """However small the sample, the total without filters is that of all records."""
    total = ask(stored, split_by=("country",)).total
    assert total.exact
    assert total.estimate["sum:cost"][0] == pytest.approx(rows["cost"].sum())


def test_time_is_exact(stored: StoredSlicer, rows: pd.DataFrame) -> None:
    """A split by time alone, filtered by time alone, reads no sample: its sums are those of all records."""
    days = Filter(name="granularity_day", value=("2026-10-03", "2026-10-04"), match="not equals")
    sums = ask(stored, split_by=("granularity_day",), filters=(days,))
    expected = rows.groupby(rows["time"].dt.strftime("%Y-%m-%d"))["imps"].sum()
    expected = expected.drop(["2026-10-03", "2026-10-04"])
    assert sums.rows.exact
    assert dict(zip(sums.groups["granularity_day"], sums.rows.estimate["sum:imps"], strict=True)) == dict(
        expected
    )


def test_filtered_total_is_near(stored: StoredSlicer, rows: pd.DataFrame) -> None:
    """A filtered total is an estimate, and within a few percent of the truth for a sample of a sixth."""
    sums = ask(stored, filters=(Filter(name="country", value=("DE",), match="equals"),))
    truth = rows.loc[rows["country"] == "DE", "cost"].sum()
    assert not sums.total.exact
    assert sums.total.estimate["sum:cost"][0] == pytest.approx(truth, rel=0.1)


def test_missing_volume(stored: StoredSlicer, rows: pd.DataFrame) -> None:
    """What the answer says may be missing is what the groups without a sampled record really hold."""
    sums = ask(stored, split_by=("site",))
    truth = rows.groupby("site")["imps"].sum().drop(list(sums.groups["site"])).sum()
    assert sums.missing["sum:imps"] == pytest.approx(truth, rel=0.15)


def test_unique_users_of_a_share(stored: StoredSlicer, rows: pd.DataFrame) -> None:
    """Beyond the limit unique users are counted on a share of them, near the truth in every group."""
    sums = ask(stored, split_by=("country",))
    truth = rows.groupby("country")["users"].nunique()
    assert 0 < sums.rows.share["unique:users"] < 1
    for country, users in zip(sums.groups["country"], sums.rows.estimate["unique:users"], strict=True):
        assert users == pytest.approx(truth[country], rel=0.1)


def test_everything_within_the_limit(stored: StoredSlicer, rows: pd.DataFrame) -> None:
    """Where all records fit, nothing is drawn: unique users and sums are exact."""
    sums = ask(stored, limit=RECORDS, split_by=("country",))
    truth = rows.groupby("country").agg(cost=("cost", "sum"), users=("users", "nunique"))
    assert sums.sample is None
    assert sums.rows.estimate["unique:users"].tolist() == truth["users"].tolist()
    assert sums.rows.estimate["sum:cost"] == pytest.approx(truth["cost"].to_numpy())
