"""How honest and how quick the databases' own samples are: TABLESAMPLE of PostgreSQL and DuckDB over Parquet.

    ROWS=400_000 python bench/database_samples.py [draws]

Figures of three kinds (even, log-normal with σ = 1 and 2), stored in the order of their time (then each place
is busy on few days, and blocks are clustered) or in none. Every draw estimates filtered totals and the sums
of 200 groups, with 95 % intervals by the sums of blocks (the design effect of clusters is in them) and
Student's t for one block less than were drawn. Prints how often the intervals hold (of groups: of those
drawn) and the median error; then an estimate's time as a share of the exact answer's.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import psycopg
import pyarrow as pa
from scipy.special import stdtrit

sys.path.append(str(Path(__file__).parent.parent / "tests"))
from databases import binaries, server

ROWS, GROUPS, DAYS, SLICES = int(os.environ.get("ROWS", "400_000")), 200, 90, 4
TAIL, VECTOR = 0.975, 2048
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Draw = Callable[[str, str, int], Floats]
FIGURES: dict[str, Callable[[np.random.Generator], Floats]] = {
    "even": lambda draw: draw.poisson(30, ROWS).astype(float),
    "σ = 1": lambda draw: draw.lognormal(3, 1, ROWS),
    "σ = 2": lambda draw: draw.lognormal(3, 2, ROWS),
}


def rows(figure: str, by_time: bool) -> pa.Table:
    """Rows of a table: day, place (few of them busy on any day), and a figure."""
    draw = np.random.default_rng(7)
    day = np.sort(draw.integers(0, DAYS, ROWS))
    place = np.floor(GROUPS * draw.random(ROWS) * draw.random(ROWS)).astype(int)
    place = (place // 5 + day // 5 * 7) % GROUPS
    order = np.arange(ROWS) if by_time else draw.permutation(ROWS)
    return pa.table({"day": day[order], "place": place[order], "y": FIGURES[figure](draw)[order]})


def cells(found: Floats) -> tuple[Floats, Floats]:
    """Sums and sums of squares of block sums, by place and by slice of places; rows (block, place, sum)."""
    place = found[:, 1].astype(int)
    _, block = np.unique(found[:, 0], return_inverse=True)
    sums, squares = np.zeros(GROUPS + SLICES), np.zeros(GROUPS + SLICES)
    for first, keys in ((0, place), (GROUPS, place % SLICES)):
        width = GROUPS if not first else SLICES
        blocks = np.bincount(block * width + keys, found[:, 2], width * (block.max(initial=0) + 1))
        blocks = blocks.reshape(-1, width)
        sums[first : first + width], squares[first : first + width] = blocks.sum(0), (blocks**2).sum(0)
    return sums, squares


def held(
    found: Floats, share: float, truth: Floats
) -> tuple[list[bool], list[bool], list[float], list[float]]:
    """Whether the intervals of slices and of drawn groups hold, and their relative errors."""
    sums, squares = cells(found)
    blocks = len(np.unique(found[:, 0]))
    half = stdtrit(max(1, blocks - 1), TAIL) * np.sqrt((1 - share) * squares) / share
    estimate = sums / share
    holds, error = np.abs(estimate - truth) <= half, np.abs(estimate - truth) / np.maximum(truth, 1)
    is_drawn = sums[:GROUPS] > 0
    return (
        holds[GROUPS:].tolist(),
        holds[:GROUPS][is_drawn].tolist(),
        error[GROUPS:].tolist(),
        error[:GROUPS][is_drawn].tolist(),
    )


def main() -> None:
    """Measure, and print the tables."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory(prefix="tranche-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o755)
        lake = stack.enter_context(duckdb.connect(config={"threads": 2}))
        programs = binaries()
        if programs is None:
            raise SystemExit("This needs PostgreSQL")
        url = stack.enter_context(server(programs)).url.format("postgres")
        admin = stack.enter_context(psycopg.connect(url.replace("+psycopg", ""), autocommit=True))
        samples = _samples(folder, lake, admin)
        print(
            "| sample | figures | stored | filtered totals held | groups held | error of totals | of groups |"
        )
        print("|---|---|---|--:|--:|--:|--:|")
        for figure in FIGURES:
            for by_time in (True, False):
                _store(rows(figure, by_time), folder, lake, admin)
                truth = _truth(lake, folder)
                for title, (share, draw) in samples.items():
                    parts = [held(draw(title, "", seed), share, truth) for seed in range(draws)]
                    print(_line(title, figure, by_time, parts), flush=True)
        print("\n| sample | all days | a week |\n|---|--:|--:|")
        for title, (_, draw) in samples.items():
            print(f"| {title} | {' | '.join(_times(title, draw, folder, lake, admin))} |", flush=True)


def _samples(
    folder: Path, lake: duckdb.DuckDBPyConnection, admin: psycopg.Connection
) -> dict[str, tuple[float, Draw]]:
    def of_postgresql(how: str, condition: str, seed: int) -> Floats:
        block = "ctid" if "BERNOULLI" in how else "(ctid::text::point)[0]"
        sample = f"TABLESAMPLE {how.partition(' ')[2]} REPEATABLE ({seed})"
        key = f"dense_rank() OVER (ORDER BY {block})" if "BERNOULLI" in how else block
        statement = (
            f"SELECT b::float8, place::float8, sum(y) FROM (SELECT {key} AS b, place, y FROM rows {sample} "
            f"{condition}) AS t GROUP BY 1, 2"
        )
        return np.array(admin.execute(statement).fetchall(), float).reshape(-1, 3)

    def of_duckdb(how: str, condition: str, seed: int) -> Floats:
        size = 1 if "bernoulli" in how else VECTOR
        statement = (
            f"SELECT file_row_number // {size} AS b, place, sum(y) FROM (SELECT * FROM "
            f"read_parquet('{folder}/rows.parquet', file_row_number = true) {condition}) "
            f"TABLESAMPLE {how.partition(' ')[2]} REPEATABLE ({seed}) GROUP BY 1, 2"
        )
        found = lake.execute(statement).fetchnumpy()
        return np.column_stack([np.asarray(column, float) for column in found.values()])

    return {
        "PostgreSQL SYSTEM (5)": (0.05, of_postgresql),
        "PostgreSQL BERNOULLI (5)": (0.05, of_postgresql),
        "DuckDB system(5%)": (0.05, of_duckdb),
        "DuckDB bernoulli(5%)": (0.05, of_duckdb),
    }


def _store(table: pa.Table, folder: Path, lake: duckdb.DuckDBPyConnection, admin: psycopg.Connection) -> None:
    lake.from_arrow(table).write_parquet(f"{folder}/rows.parquet")
    lake.execute(f"COPY (FROM '{folder}/rows.parquet') TO '{folder}/rows.csv' (HEADER false)")
    admin.execute("DROP TABLE IF EXISTS rows")
    admin.execute("CREATE TABLE rows (day int, place int, y float8)")
    with admin.cursor() as cursor, cursor.copy("COPY rows FROM STDIN (FORMAT csv)") as copy:
        copy.write(Path(f"{folder}/rows.csv").read_bytes())
    admin.execute("CREATE INDEX ON rows (day)")
    admin.execute("VACUUM ANALYZE rows")


def _truth(lake: duckdb.DuckDBPyConnection, folder: Path) -> Floats:
    found = lake.execute(f"SELECT place, sum(y) FROM '{folder}/rows.parquet' GROUP BY 1").fetchnumpy()
    sums = np.zeros(GROUPS)
    sums[np.asarray(found["place"], int)] = np.asarray(found["sum(y)"], float)
    return np.concatenate([sums, np.bincount(np.arange(GROUPS) % SLICES, sums)])


def _line(
    title: str,
    figure: str,
    by_time: bool,
    parts: list[tuple[list[bool], list[bool], list[float], list[float]]],
) -> str:
    totals, groups, error, of_groups = ([one for part in parts for one in part[at]] for at in range(4))
    return (
        f"| {title} | {figure} | {'by time' if by_time else 'in no order'} | {100 * np.mean(totals):.1f} % "
        f"| {100 * np.mean(groups):.1f} % | {100 * np.median(error):.0f} % "
        f"| {100 * np.nanmedian(of_groups):.0f} % |"
    )


def _times(
    title: str, draw: Draw, folder: Path, lake: duckdb.DuckDBPyConnection, admin: psycopg.Connection
) -> Iterator[str]:
    """An estimate's time as a share of the exact answer's, over all days and over a week."""
    for condition in ("", "WHERE day >= 40 AND day < 47"):
        table = "rows" if title.startswith("PostgreSQL") else f"'{folder}/rows.parquet'"
        statement = f"SELECT place, sum(y) FROM {table} {condition} GROUP BY 1"
        ask = admin if title.startswith("PostgreSQL") else lake
        exact = _median(lambda ask=ask, statement=statement: ask.execute(statement).fetchall())
        estimate = _median(lambda condition=condition: draw(title, condition, 1))
        yield f"{estimate / exact:.2f}"


def _median(work: Callable[[], object]) -> float:
    times = []
    for _ in range(7):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


if __name__ == "__main__":
    main()
