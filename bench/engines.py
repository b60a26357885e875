"""The engines side by side: the same exact questions to each, on the same rows.

    RECORDS=1_000_000 python bench/engines.py

The resident engine, plain pandas, and connected tables: DuckDB over Parquet files; PostgreSQL, ClickHouse
(chdb behind its HTTP protocol) and Spark (through Spark Connect) where they are installed. Sums and groups
are checked to be equal. Prints medians in milliseconds and ratios to the resident engine, as a Markdown
table; the runs take turns. Tables have no index: they are read whole.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from audience import medians
from splits.rows import CASES, Case, checksum, make_rows
from splits.tools import Tranche

sys.path.append(str(Path(__file__).parent.parent / "tests"))
from connected import CONNECTION, connected, publish
from databases import binaries, clickhouse, missing_for_clickhouse, server
from spark_server import missing_for_spark, spark_server

from lib.engines import ConnectedSlicers
from lib.engines.plain_pandas import PandasEngine
from lib.slicers.warehouse import Warehouse
from lib.wire.deadline import Deadline

FIELDS, SECONDS = 5, 600
Ask = Callable[[Case], Any]


def main() -> None:
    """Measure, and print the table."""
    records = int(os.environ.get("RECORDS", "1_000_000"))
    print(f"## The engines side by side, {records:,} records, {FIELDS} data fields\n")
    print("Exact answers in ms, and ratios to the resident engine's time.\n")
    rows = make_rows(records, FIELDS)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        tranche = Tranche(rows, [name for name in rows if name.startswith("m")], folder / "warehouse")
        engines = {"resident": tranche.ask, "pandas": partial(_ask, PandasEngine(), tranche.stored, tranche)}
        for number, (name, url) in enumerate(_databases(stack, folder)):
            engines[name] = _connected(tranche, rows, url, folder / f"warehouse_{number}")
        print(f"| split | groups | resident, ms | {' | '.join(list(engines)[1:])} |")
        print(f"|---{'|--:' * (len(engines) + 1)}|")
        for case in CASES:
            print(_line(tranche, engines, case), flush=True)


def _ask(engine: Any, stored: Any, tranche: Tranche, case: Case) -> Any:
    return engine.audience(stored, tranche.question(case), Deadline(SECONDS))


def _connected(tranche: Tranche, rows: pd.DataFrame, url: str, folder: Path) -> Ask:
    definition = tranche.stored.definition
    table = pa.Table.from_pandas(rows, preserve_index=False).select(definition.schema().names)
    publish(table.cast(definition.schema()), definition, url, "rows")
    over = ConnectedSlicers({CONNECTION: url})
    warehouse = Warehouse(folder, over.current)
    warehouse.connect("bench", "rows", connected(definition, "rows"))
    return partial(_ask, over.engine, warehouse.open("bench", "rows"), tranche)


def _databases(stack: ExitStack, folder: Path) -> Iterator[tuple[str, str]]:
    """The URL of each database that is installed, running until the stack ends."""
    yield "Parquet (DuckDB)", f"parquet://{folder}"
    if programs := binaries():
        made = stack.enter_context(server(programs))
        yield "PostgreSQL", made.url.format("postgres").replace("postgresql+psycopg://", "postgresql://")
    for name in ("clickhouse", "spark", "lake"):
        (folder / name).mkdir()
    if not missing_for_clickhouse():
        yield "ClickHouse", stack.enter_context(clickhouse(folder / "clickhouse"))
    if not missing_for_spark():
        address, _ = stack.enter_context(spark_server(folder / "spark", (), {}))
        yield "Spark", f"{address}?partitions=2&folder={folder / 'lake'}"


def _line(tranche: Tranche, engines: dict[str, Ask], case: Case) -> str:
    found = {name: checksum(*tranche.columns(case, ask(case))) for name, ask in engines.items()}
    assert len(set(found.values())) == 1, (case, found)
    times = medians({name: partial(ask, case) for name, ask in engines.items()})
    base = times.pop("resident")
    cells = [case.title, f"{found['resident'][0]:,}", f"{base:,.1f}", *_ratios(times, base)]
    return f"| {' | '.join(cells)} |"


def _ratios(times: dict[str, float], base: float) -> Iterator[str]:
    return (f"{value / base:,.1f}" for value in times.values())


if __name__ == "__main__":
    main()
