"""Exact splits over HTTP as JSON and as Arrow, beside DuckDB's query and `fetchall` of the same rows."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import orjson

from lib.people import Person
from lib.reporting.answers import as_arrow
from lib.serving import connect
from lib.settings import Settings
from splits.rows import Case
from splits.tools import DuckDB

WHO = Person("bench", "Bench", None, "admin")
SPLITS = tuple(map(Case, [("os",), ("country",), ("country", "browser"), ("site",), ("site", "browser")]))
Serving = Callable[..., object]


@contextmanager
def asking(home: Path, serving: Serving) -> Iterator[Callable[[Case, str], bytes]]:
    """Asks a service over a socket for a split, nothing kept; gives the body, once all of it has come.

    By the standard library's client: it shares the interpreter with the service, and costs the least.
    """
    settings = Settings(home=home, answers_megabytes=0, throttle_questions=10**6)
    resources = connect.installation(settings)
    if resources.people.get(WHO.username) is None:
        resources.people.add(WHO, "bench-bench")
    token = resources.access.issue(WHO.username, settings.reporting_service, "bench", None)
    body = {
        "project_name": "bench", "slicer_name": "rows", "token": token, "start_date": "2026-08-01",
        "end_date": "2026-12-01", "audience_rows_limit": 10_000_000, "data_fields": fields(resources),
    }  # fmt: skip
    with (
        serving(resources.api) as address,  # type: ignore[attr-defined]
        closing(HTTPConnection(urlsplit(address).netloc, timeout=120)) as http,
    ):

        def ask(case: Case, accept: str) -> bytes:
            content = orjson.dumps(body | {"split_by": list(case.split)})
            headers = {"Accept": accept, "Content-Type": "application/json"}
            http.request("POST", "/API/v2/audience", content, headers)
            answer = http.getresponse()
            assert answer.status == 200, answer.read()
            return answer.read()

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
