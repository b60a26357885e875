"""Both APIs against their own OpenAPI: requests made from the schemas, good and bad, over a socket.

No answer is a failure of the service, has a code or a header that is not documented, or is other than its
schema says. In the deals API, moreover, what a schema forbids is refused, nobody gets in without a token,
and methods that are not supported are named; the reporting API is lenient on purpose.
"""

import datetime as dt
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from conformance.transports import socket
from needs import draws

from deals.caller import Caller, option, package, world
from deals.conftest import PASSWORD, OpenRow, issue, open_desk
from lib.serving import connect
from lib.slicers.definition import Definition
from lib.slicers.warehouse import Warehouse

LARGEST_BODY = 64 * 1024 * 1024
SECONDS = 400
PARTS = 4
CONFORMANCE = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance"
)
STRICT = "negative_data_rejection,ignored_auth,unsupported_method,allow_header_conformance"
COUNTRY, SITE = "bid_context_wrapper.user.geo.country", "bid_context_wrapper.supply.site_id"
REPORT = Definition.model_validate(
    {
        "time": {"column": "time", "granularity": "day"},
        "key_fields": [{"name": COUNTRY}, {"name": SITE}],
        "data_fields": [
            {"name": "imps"},
            {"name": "clicks"},
            {"name": "ctr", "formula": "100 * clicks / imps"},
        ],
    }
)


def report(warehouse: Warehouse) -> None:
    """The slicer that the documentation's examples ask about, with rows of yesterday."""
    yesterday = dt.datetime.combine(dt.datetime.now(dt.UTC).date() - dt.timedelta(days=1), dt.time(), dt.UTC)
    columns = {"time": [yesterday] * 2, COUNTRY: ["US", "DE"], SITE: ["a", None], "imps": [9.0, 4.0]}
    with warehouse.writer("demo", "delivery", REPORT) as writer:
        writer.write(pa.table(columns | {"clicks": [1.0, 0.0]}, schema=REPORT.schema()))
        writer.commit("made by a test", "0")


HOOKS = {"SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(Path(__file__).parent)}


@pytest.fixture(scope="module")
def desk(opened: OpenRow) -> connect.Installation:
    """A desk; how large a body may be is another test's."""
    return opened(max_body_bytes=LARGEST_BODY)


@pytest.fixture(scope="module")
def address(desk: connect.Installation) -> Iterator[str]:
    """Where it answers; it has one of everything."""
    with socket(desk.api) as http:
        caller = Caller(http, issue(desk))
        there = world(caller)
        supply = [{"id": caller.make("supply_deals", package())["id"]}]
        caller.make("demand_deals", {"name": "x", **option(there.ada), "supply_deals": supply})
        caller.make("packages", {"name": "x", "supply_deals": supply})
        yield str(http.base_url).rstrip("/")


ALL_PHASES, WITHOUT_CHANCE = "examples,coverage,fuzzing", "examples,coverage"
# Left out of all checks: what there is decides too whether a request is refused (a seat that is not there, a
# field that another slicer has). In its place, `refused_for_the_data_alone` looks at the reason (the hooks).
EVERY_CHECK = ("--checks", "all", "--exclude-checks", "positive_data_acceptance")


def run(
    address: str,
    folder: Path,
    paths: str,
    examples: int,
    *options: str,
    phases: str = ALL_PHASES,
    **environment: str,
) -> None:
    """Run the program on some of the paths; fail with the end of what it says."""
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{address}/openapi.json", "--seed", "1"]
    command += ["--include-path-regex", paths, "--phases", phases, "--warnings", "off"]
    command += ["--max-examples", str(examples), "--continue-on-failure", "--no-color", *options]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, timeout=SECONDS
    )
    lines = [line[:300] for line in (done.stdout + done.stderr).splitlines()]
    assert done.returncode == 0, "\n".join(lines[-120:])


@pytest.mark.random
@pytest.mark.parametrize("part", range(PARTS))
def test_deals(part: int, address: str, desk: connect.Installation, tmp_path: Path) -> None:
    """The deals API: all of it on SQLite; on PostgreSQL the entities with the most kinds of columns, where
    requests are right: wrong ones are refused before they come to a database."""
    names = {path.split("/")[2] for path in desk.api.openapi()["paths"] if path.startswith("/api/")}
    mode = "all"
    if not desk.settings.database_url.startswith("sqlite"):
        names, mode = names & {"supply_deals", "demand_deals"}, "positive"
    if not (names := sorted(names)[part::PARTS]):
        pytest.skip("another part has them")
    options = ("--header", f"Authorization: Bearer {issue(desk)}", "--mode", mode)
    paths = f"^/api/({'|'.join(names)})/"
    run(address, tmp_path, paths, 2, *options, "--checks", f"{CONFORMANCE},{STRICT}", **HOOKS)


def reporting_desk(folder: Path) -> tuple[connect.Installation, dict[str, str]]:
    """A desk with a slicer, and the environment of the hooks, with real credentials for it."""
    desk = open_desk(folder, f"sqlite:///{folder}/tranche.db", max_body_bytes=LARGEST_BODY)
    report(desk.warehouse)
    token = issue(desk, "admin", "reporting")
    return desk, {**HOOKS, "TRANCHE_TEST_TOKEN": token, "TRANCHE_TEST_PASSWORD": PASSWORD}


def test_every_check(tmp_path: Path) -> None:
    """Reports and tokens pass every check but one: wrong requests are refused, right ones for data alone."""
    desk, environment = reporting_desk(tmp_path)
    with socket(desk.api) as http:
        address = str(http.base_url).rstrip("/")
        run(address, tmp_path, "^/(API|oauth2)/", 1, *EVERY_CHECK, phases=WITHOUT_CHANCE, **environment)


def test_reporting_and_tokens(tmp_path: Path) -> None:
    """The reporting API and the token service answer what is drawn at random as their schemas say."""
    desk, environment = reporting_desk(tmp_path)
    with socket(desk.api) as http:
        address = str(http.base_url).rstrip("/")
        run(
            address,
            tmp_path,
            "^/(API|oauth2)/",
            draws(30),
            "--checks",
            CONFORMANCE,
            phases="fuzzing",
            **environment,
        )
