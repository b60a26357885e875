"""Exact splits over HTTP as JSON and as Arrow, beside DuckDB's query and `fetchall` of the same rows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from lib import connect
from lib.people import Person
from lib.reporting.answers import as_arrow
from lib.settings import Settings
from splits.rows import Case
from splits.tools import DuckDB

WHO = Person("bench", "Bench", None, "admin")
SPLITS = tuple(map(Case, [("os",), ("country",), ("country", "browser"), ("site",), ("site", "browser")]))
Serving = Callable[..., object]


@contextmanager
def asking(home: Path, serving: Serving) -> Iterator[Callable[[Case, str], bytes]]:
    """Asks a service over a socket for a split, nothing kept; gives the body, once all of it has come."""
    settings = Settings(home=home, answers_megabytes=0, throttle_questions=10**6)
    resources = connect.installation(settings)
    if resources.people.get(WHO.username) is None:
        resources.people.add(WHO, "bench-bench")
    token = resources.access.issue(WHO.username, settings.reporting_service, "bench", None)
    body = {
        "project_name": "bench", "slicer_name": "rows", "token": token, "start_date": "2026-08-01",
        "end_date": "2026-12-01", "audience_rows_limit": 10_000_000,
    }  # fmt: skip
    with serving(resources.api) as address, httpx.Client(base_url=address, timeout=120) as http:  # type: ignore[attr-defined]

        def ask(case: Case, accept: str) -> bytes:
            asked = body | {"split_by": list(case.split), "data_fields": fields(resources)}
            answer = http.post("/API/v2/audience", json=asked, headers={"Accept": accept})
            answer.raise_for_status()
            return answer.content

        yield ask


def fields(resources: connect.Installation) -> list[str]:
    """The data fields that DuckDB sums too: not the users."""
    slicer = resources.warehouse.open("bench", "rows").info()
    return [field.name for field in slicer.data_fields if field.name.startswith("m")]


def ways(ask: Callable[[Case, str], bytes], duck: DuckDB, case: Case) -> dict[str, Callable[[], object]]:
    """What is timed."""
    return {
        "DuckDB": lambda: duck.db.execute(duck.query(case)).fetchall(),
        "JSON": lambda: ask(case, "application/json"),
        "Arrow": lambda: ask(case, as_arrow.MEDIA_TYPE),
    }
