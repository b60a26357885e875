"""Splits side by side: the resident engine, DuckDB in memory, polars and pandas, on the same rows.

    python bench/audience.py [records]

Each split sums every data field, exactly. Figures are medians in milliseconds, and ratios to DuckDB in the
same run; the answers are checked to be equal. DuckDB and polars hold key fields as enums.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from lib.reporting.definition import Definition
from lib.reporting.engines.resident import ResidentEngine, prepare
from lib.reporting.engines.sums import Question
from lib.reporting.warehouse import StoredSlicer, Warehouse
from lib.wire.deadline import Deadline

DAYS = 60
REPEATS = 5
SPLITS = [
    ("country",), ("site",), ("browser", "os"), ("country", "browser"),
    ("site", "browser"), ("country", "site", "os"), ("page",),
]  # fmt: skip
CARDINALITY = {"country": 60, "site": 2_000, "browser": 12, "os": 8, "page": 50_000}


def main() -> None:
    """Run for 5 and for 24 data fields, and print a table of each."""
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    for fields in (5, 24):
        with tempfile.TemporaryDirectory() as folder:
            compare(make_rows(records, fields), Path(folder))


def make_rows(records: int, fields: int) -> pd.DataFrame:
    """Heavy-tailed records with categorical key fields and `fields` data fields."""
    rng = np.random.default_rng(1)
    hours = pd.to_timedelta(rng.integers(0, 24 * DAYS, records), unit="h")
    columns: dict[str, object] = {"time": pd.Timestamp("2026-09-01", tz="UTC") + hours}
    for name, values in CARDINALITY.items():
        codes = (rng.zipf(1.3, records) % values).astype(np.int32)
        columns[name] = pd.Categorical.from_codes(codes, [f"{name} {n}" for n in range(values)])
    size = np.floor(rng.pareto(1.5, records) * 10)
    for number in range(fields):
        columns[f"m{number}"] = np.floor(size * rng.random(records))
    return pd.DataFrame(columns)


def compare(rows: pd.DataFrame, folder: Path) -> None:
    """Time every split on every tool and print medians and ratios."""
    fields = [name for name in rows if name.startswith("m")]
    stored = store(rows, fields, folder)
    engine = ResidentEngine()
    database = duckdb.connect()
    database.execute("set threads to 2")
    arrow = pa.Table.from_pandas(rows, preserve_index=False)  # noqa: F841
    database.execute("create table t as select * from arrow")
    frame = pl.from_pandas(rows)
    sums = ", ".join(f"sum({name})" for name in fields)
    print(f"\n{len(rows):,} records, {len(fields)} data fields; milliseconds, and (ratio to DuckDB)")
    print(f"{'split':26}{'groups':>8}{'DuckDB':>10}{'Tranche':>18}{'polars':>18}{'pandas':>18}")
    ratios: list[float] = []
    for split in SPLITS:
        keys = ", ".join(split)
        tools: dict[str, Callable[[], float]] = {
            "duckdb": lambda keys=keys: total(
                database.execute(f"select {keys}, {sums} from t group by {keys}").fetchnumpy()["sum(m0)"]
            ),
            "tranche": lambda split=split: total(ask(engine, stored, split, fields)),
            "polars": lambda split=split: total(
                frame.group_by(split).agg(pl.col(name).sum() for name in fields)["m0"].to_numpy()
            ),
            "pandas": lambda split=split: total(
                rows.groupby(list(split), observed=True)[fields].sum()["m0"].to_numpy()
            ),
        }
        answers = {name: tool() for name, tool in tools.items()}
        assert len({round(answer) for answer in answers.values()}) == 1, answers
        times = {name: median(tool) for name, tool in tools.items()}
        groups = database.execute(f"select count(*) from (select distinct {keys} from t)").fetchone()
        cells = "".join(f"{times[n]:10.1f} ({times[n] / times['duckdb']:4.2f}) " for n in list(times)[1:])
        print(f"{keys:26}{groups[0] if groups else 0:8,}{times['duckdb']:10.1f}{cells}")
        ratios.append(times["tranche"] / times["duckdb"])
    print(f"Tranche to DuckDB, geometric mean: {statistics.geometric_mean(ratios):.2f}")


def store(rows: pd.DataFrame, fields: list[str], folder: Path) -> StoredSlicer:
    """The rows as a slicer, with its layout built."""
    definition = Definition.model_validate(
        {
            "time": {"column": "time", "granularity": "hour"},
            "key_fields": [{"name": name} for name in CARDINALITY],
            "data_fields": [{"name": name} for name in fields],
        }
    )
    warehouse = Warehouse(folder)
    with warehouse.writer("bench", "rows", definition) as writer:
        writer.write(pa.Table.from_pandas(rows, preserve_index=False).cast(definition.schema()))
        writer.commit("made", "0")
    stored = warehouse.open("bench", "rows")
    prepare(stored)
    return stored


def ask(
    engine: ResidentEngine, stored: StoredSlicer, split: tuple[str, ...], fields: list[str]
) -> np.ndarray:
    """The exact sums of one split; returns those of the first data field."""
    days = list(stored.rows)
    atoms = frozenset(f"sum:{name}" for name in fields)
    question = Question(first=days[0], last=days[-1], timezone=0, split_by=split, atoms=atoms)
    return engine.audience(stored, question, Deadline()).rows.estimate["sum:m0"]


def total(sums: np.ndarray) -> float:
    """What all tools must agree on."""
    return float(np.sum(sums))


def median(work: Callable[[], float]) -> float:
    """The median time of a few runs, in milliseconds."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


if __name__ == "__main__":
    main()
