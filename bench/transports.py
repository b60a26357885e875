"""One question over each way to a service: in this process, over a socket, as Arrow and as JSON.

    python bench/transports.py [rows]

A slicer of `rows` values in one key field is asked for all of them and for its total. Figures are medians in
milliseconds of the whole call, answer read, and ratios to the call in this process.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))  # before the serving.py of this folder
from serving import serving

from lib.people import Person
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.serving import connect
from lib.settings import Settings
from lib.slicers.definition import DataFieldDefinition, Definition, KeyFieldDefinition, TimeColumn
from lib.slicers.models import Slicer
from lib.slicers.warehouse import Warehouse

REPEATS, FIELDS = 7, 10
WHO = Person("bench", "Bench", None, "admin")
NAME = {"project_name": "bench", "slicer_name": "values"}
DEFINITION = Definition(
    time=TimeColumn(column="time", granularity="day"),
    key_fields=(KeyFieldDefinition(name="value"),),
    data_fields=tuple(DataFieldDefinition(name=f"m{number}") for number in range(FIELDS)),
)
QUESTION = AudienceQuery(**NAME, start_date="2026-01-01", end_date="2026-01-01")


def main() -> None:
    """Ask over each way, and print a table of each question."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder, ways(Path(folder), rows) as clients:
        for title, question in (
            ("the total", QUESTION),
            (f"{rows:,} rows x {FIELDS} data fields", QUESTION.model_copy(update={"split_by": ("value",)})),
        ):
            print(f"\n{title}\n{'':24}{'ms':>8}{'ratio':>8}")
            compare(clients, question, 1 if "total" in title else rows)


def compare(clients: dict[str, tuple[Reporting, Slicer]], question: AudienceQuery, rows: int) -> None:
    """Ask each client in turn, several times; medians and ratios to the first."""
    first = None
    for way, (client, slicer) in clients.items():
        milliseconds = median(lambda client=client, slicer=slicer: client.audience(question, slicer), rows)
        first = first or milliseconds
        print(f"{way:24}{milliseconds:8.1f}{milliseconds / first:8.2f}")


def median(ask: Callable[[], object], rows: int) -> float:
    """The median of several calls, in milliseconds, after one that does not count; each has all rows."""
    found = []
    for _ in range(REPEATS + 1):
        began = time.perf_counter()
        answer = ask()
        found.append(1000 * (time.perf_counter() - began))
        assert len(answer) == rows
    return statistics.median(found[1:])


@contextmanager
def ways(home: Path, rows: int) -> Iterator[dict[str, tuple[Reporting, Slicer]]]:
    """A client and its slicer by the way to the service; without the extension, Arrow is not asked for."""
    fill(home, rows)
    resources = connect.installation(Settings(home=home))
    resources.people.add(WHO, "bench-bench")
    token = resources.access.issue(WHO.username, resources.settings.reporting_service, "bench", None)
    with serving(resources.api) as address, httpx.Client(base_url=address, timeout=60) as socket:
        embedded, served = Reporting(resources.http, token), Reporting(socket, token)
        slicer = embedded.info(InfoQuery(**NAME))
        kept = tuple(one for one in slicer.extensions if one != "arrow")
        plain = slicer.model_copy(update={"extensions": kept})
        yield {
            "in this process, Arrow": (embedded, slicer),
            "over a socket, Arrow": (served, slicer),
            "in this process, JSON": (embedded, plain),
            "over a socket, JSON": (served, plain),
        }


def fill(home: Path, rows: int) -> None:
    """One record for each value, all of one day."""
    draw = np.random.default_rng(1)
    columns: dict[str, object] = {
        "time": pd.Series([pd.Timestamp("2026-01-01", tz="UTC")] * rows),
        "value": [f"value {number}" for number in range(rows)],
    }
    columns |= {f"m{number}": draw.pareto(1.5, rows) for number in range(FIELDS)}
    with Warehouse(home / "warehouse").writer("bench", "values", DEFINITION, {}) as writer:
        writer.write(pa.table(columns, schema=DEFINITION.schema()))
        writer.commit("made for the benchmark", "values")


if __name__ == "__main__":
    main()
