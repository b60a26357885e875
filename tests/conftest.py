"""Shared fixtures: a data directory with a small demo, and the three transports to its services."""

import atexit
import datetime as dt
import gc
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import IO

import httpx
import hypothesis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from needs import NIGHTLY, draws, left_for_the_night, marks, unwatch, watch
from peopled import add_people
from serving import free_port, serving
from streamlit.components.v2 import manifest_scanner
from streamlit.components.v2.manifest_scanner import scan_component_manifests
from streamlit.testing.v1 import local_script_runner
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from lib import settings as settings_module
from lib.engines.resident import prepare
from lib.people import ALL_DEALS, DealsGrant, Grant, Person
from lib.serving import connect
from lib.settings import Settings
from lib.slicers.definition import (
    AudienceSourceDefinition,
    DataFieldDefinition,
    Definition,
    KeyFieldDefinition,
    TimeColumn,
)
from lib.slicers.warehouse import Warehouse
from lib.wire.transport import InProcess

hypothesis.settings.register_profile(
    "unhurried",
    max_examples=draws(100),
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("unhurried")
pytest_plugins = ["databases", "dealing", "hostile", "standin_fixtures"]

ROOT = Path(__file__).parent.parent
WATCHED = [
    sys.executable,
    "-c",
    """
import runpy, sys
sys.path[:0] = ["tests", "."]
import fragments, threads
with fragments.watch(), threads.watch():
    runpy.run_path("app.py", run_name="__main__")
""",
]
"""A desk that logs what its fragments change outside of themselves, and which threads ask for a session."""
PASSWORD = "demo"
BROWSER = "tests/browser/"
COPIES = 5
ALLOCATIONS = 5_000  # between two looks for garbage; after the usual 700 they take a sixth of the time
OPEN_FILES = 1024  # as many systems have it, so that what tests leave open is found anywhere
SECONDS_TO_STOP = 30
KINDS = ("browser", "database", "process", "spark", "random", "reference")
MANY, SLOWEST = 500, 20
DAYS, ROWS_PER_DAY = 21, 200
LAST_DAY = dt.datetime.now(dt.UTC).date() - dt.timedelta(days=1)
COUNTRIES = {"US": "United States", "DE": "Germany", "FR": "France", "JP": "Japan"}
CATEGORIES = ("news", "sport", "travel")
PEOPLE = (
    Person("viewer", "Vera Viewer", None, "viewer", (Grant("demo", "delivery"),), deals=DealsGrant("read")),
    Person("manager", "Max Manager", None, "manager", (Grant("demo"),), deals=ALL_DEALS),
    Person("admin", "Ada Admin", None, "admin"),
)
DEFINITION = Definition(
    annotation="A small demo for the tests",
    time=TimeColumn(column="time", granularity="hour"),
    key_fields=(
        KeyFieldDefinition(name="geo.country", description="Country", mapping="country"),
        KeyFieldDefinition(name="campaign_id", description="Campaign", type="int"),
        KeyFieldDefinition(name="categories", description="Content category", segmented="|"),
    ),
    data_fields=(
        DataFieldDefinition(name="imps", description="Impressions"),
        DataFieldDefinition(name="clicks", description="Clicks"),
        DataFieldDefinition(name="revenue", description="Revenue", display_type="float"),
        DataFieldDefinition(name="ctr", description="CTR", formula="100 * clicks / imps"),
    ),
    audience_sources=(AudienceSourceDefinition(name="users", description="Unique users"),),
)


def small_rows(seed: int) -> pa.Table:
    """Rows of the three weeks up to yesterday, as `DEFINITION.schema()` has them."""
    draw, size = np.random.default_rng(seed), DAYS * ROWS_PER_DAY
    first = dt.datetime.combine(LAST_DAY - dt.timedelta(days=DAYS - 1), dt.time(), dt.UTC)
    hours = np.sort(draw.integers(0, DAYS * 24, size))
    imps = draw.geometric(0.01, size).astype(float)
    segments = draw.integers(0, 2, (size, len(CATEGORIES))).astype(bool)
    columns = {
        "time": [first + dt.timedelta(hours=int(hour)) for hour in hours],
        "geo.country": draw.choice([*COUNTRIES, None], size, p=[0.5, 0.25, 0.15, 0.05, 0.05]).tolist(),
        "campaign_id": draw.integers(1, 9, size).astype(str).tolist(),
        "categories": [[name for name, has in zip(CATEGORIES, row, strict=True) if has] for row in segments],
        "imps": imps,
        "clicks": draw.binomial(imps.astype(int), 0.02).astype(float),
        "revenue": imps * draw.gamma(2, 0.001, size),
        "users": draw.integers(1, 2000, size).astype(str).tolist(),
    }
    return pa.table(columns, schema=DEFINITION.schema())


def rows_by_week(key: str) -> pd.DataFrame:
    """The rows of the small demo, the last seven complete days as week 0, the seven before as week 1.

    Records without a value of `key` have an empty text.
    """
    table = small_rows(seed=0).to_pandas().fillna({key: ""})
    ages = (pd.Timestamp(LAST_DAY) - pd.to_datetime(table["time"].dt.date)).dt.days
    return table.assign(week=ages // 7)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each test with what it needs and what makes it long; files with long tests run first.

    A worker takes a file at a time: a long one at the end would leave the others idle.
    """
    for item in items:
        for mark in marks(item):
            item.add_marker(mark)
    left = set() if NIGHTLY or config.option.file_or_dir else left_for_the_night(items, LAST_DAY.toordinal())
    config.hook.pytest_deselected(items=list(left))
    items[:] = [item for item in items if item not in left]
    long_files = {item.path for item in items if any(map(item.get_closest_marker, KINDS))}
    items.sort(key=lambda item: (not item.nodeid.startswith(BROWSER), item.path not in long_files))


def pytest_configure() -> None:
    """Let a process have no more files open than many systems allow."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY or most > OPEN_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, most))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """While tests are collected there is no garbage to look for."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """What is imported and collected stays until the end: no garbage collection need look at it again."""
    gc.freeze()
    gc.set_threshold(ALLOCATIONS)
    atexit.register(gc.unfreeze)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Hold a test to its marks."""
    watch(item)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown() -> None:
    """What fixtures of the session started may end after a test without marks."""
    unwatch()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print why tests were tried again, the slowest of many tests, and the reasons of skipped ones."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.section(f"TRIED AGAIN: {report.nodeid}", yellow=True)
        terminalreporter.line(report.longreprtext)
    seconds: Counter[str] = Counter()
    kinds: dict[str, str] = {}
    for report in (report for several in terminalreporter.stats.values() for report in several):
        if isinstance(report, pytest.TestReport):
            seconds[report.nodeid] += report.duration
            kinds[report.nodeid] = ", ".join(mark for mark in KINDS if mark in report.keywords) or "quick"
    if len(seconds) > MANY:
        terminalreporter.section("THE SLOWEST")
        for nodeid, duration in seconds.most_common(SLOWEST):
            terminalreporter.line(f"{duration:6.1f} s  {kinds[nodeid]:20} {nodeid}")
        by_kind: Counter[str] = Counter()
        for nodeid, duration in seconds.items():
            by_kind[kinds[nodeid]] += duration
        terminalreporter.line(", ".join(f"{kind}: {total:,.0f} s" for kind, total in by_kind.most_common()))
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = {report.longrepr[2].removeprefix("Skipped: ") for report in skipped}
    if reasons:
        terminalreporter.section("NOT TESTED HERE", sep="!", yellow=True, bold=True)
        for reason in sorted(reasons):
            terminalreporter.line(reason, yellow=True)


@pytest.fixture(autouse=True)
def _main_stays() -> Iterator[None]:
    """A script that AppTest runs takes the place of `__main__`, which processes started later would run."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(autouse=True)
def _settings_of_each_test() -> None:
    """Settings are read once per process; each test starts without them."""
    settings_module._current.cache_clear()


@pytest.fixture(scope="session", autouse=True)
def waiting_asleep() -> Iterator[None]:
    """An AppTest asks a thousand times a second whether its script has ended; ours waits for its thread."""

    def wait(runner: LocalScriptRunner, timeout: float) -> None:
        runner._script_thread.join(timeout)
        if not runner.script_stopped():
            runner.request_stop()
            raise RuntimeError(f"AppTest script run timed out after {timeout}(s)")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "require_widgets_deltas", wait)
        yield


@pytest.fixture(scope="session", autouse=True)
def scanned_once() -> Iterator[None]:
    """An AppTest looks through all installed packages for components, each time anew: they don't change."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(scan_component_manifests))
        yield


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory for tests that change nothing in it, in demo mode.

    Slicers delivery and curation in the project demo. viewer may see delivery, manager all of demo, admin
    everything; the password is `demo`.
    """
    home = tmp_path_factory.mktemp("small-demo")
    (home / "tranche.toml").write_text("demo = true\n")
    add_people(f"sqlite:///{home}/tranche.db", PEOPLE, PASSWORD)
    warehouse = Warehouse(home / "warehouse")
    for seed, name in enumerate(("delivery", "curation")):
        with warehouse.writer("demo", name, DEFINITION, {"country": COUNTRIES}) as writer:
            writer.write(small_rows(seed))
            writer.commit("made for the tests", f"seed {seed}")
        prepare(warehouse.open("demo", name))
    return home


@pytest.fixture
def own_home(home: Path, tmp_path: Path) -> Path:
    """A copy of that data directory for a test that changes something."""
    return copied(home, tmp_path / "home")


@pytest.fixture
def inhabited_url(database_url: str) -> str:
    """The URL of a new database with the people of that data directory, of each kind."""
    add_people(database_url, PEOPLE, PASSWORD)
    return database_url


def copied(home: Path, target: Path, url: str = "") -> Path:
    """A copy of a data directory with a new database, there or at that URL: its people are as at first."""
    copy = without_database(home, target)
    add_people(url or f"sqlite:///{copy}/tranche.db", PEOPLE, PASSWORD)
    return copy


def without_database(home: Path, target: Path) -> Path:
    """A copy of a data directory but for its database.

    A copy of the database would close its file, and with that drop the locks that SQLite holds on it in this
    process (sqlite.org, How To Corrupt An SQLite Database File, 2.2): other processes would lose tokens.
    """
    passing = ("*.db", "*.db-*", "*.draft", "*.new", "*.lock")
    for _ in range(COPIES):
        try:
            return Path(shutil.copytree(home, target, ignore=shutil.ignore_patterns(*passing)))
        except shutil.Error:  # a desk over `home` put a new file in place of an old one meanwhile
            shutil.rmtree(target)
    raise AssertionError(f"{home} changes too quickly to be copied")


@pytest.fixture(scope="session")
def settings(home: Path) -> Settings:
    """Settings of the shared data directory."""
    return Settings(home=home, demo=True, throttle_questions=10**6)


@pytest.fixture(scope="session")
def installation(settings: Settings) -> connect.Installation:
    """The installation of the shared data directory."""
    return connect.installation(settings)


@pytest.fixture(scope="session")
def token(installation: connect.Installation) -> Callable[[str], str]:
    """A token for the reporting API of the person of this name."""

    def issued(username: str) -> str:
        service = installation.settings.reporting_service
        return installation.access.issue(username, service, "test", dt.timedelta(hours=1))

    return issued


@pytest.fixture(scope="session", params=["embedded", "socket", "remote"])
def http(request: pytest.FixtureRequest) -> httpx.Client:
    """A client of the APIs: in this process, over a socket, and of a service in another process."""
    client: httpx.Client = request.getfixturevalue(request.param)
    return client


@pytest.fixture(scope="session")
def embedded(installation: connect.Installation) -> Iterator[httpx.Client]:
    """A client of the APIs in this process."""
    with httpx.Client(
        transport=InProcess(installation.api), base_url="http://in-process", timeout=60
    ) as client:
        yield client


@pytest.fixture(scope="session")
def socket(installation: connect.Installation) -> Iterator[httpx.Client]:
    """A client of the APIs over a socket of this process."""
    with serving(installation.api) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def remote(home: Path) -> Iterator[httpx.Client]:
    """A client of `tranche serve` in another process."""
    command = [sys.executable, "-c", "from lib.cli import main; main()", "serve", "--port", "0"]
    with started(command, home) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


@contextmanager
def started(command: list[str], home: Path, **environment: str) -> Iterator[str]:
    """The address of a server in a process of its own, once it says that it is ready; stopped afterwards."""
    with running(command, home, **environment) as (address, _):
        yield address


def desk_over(
    home: Path, log: Path | None = None, **environment: str
) -> AbstractContextManager[tuple[str, int]]:
    """A desk over this data directory, which no other may have: its address, and its process's number.

    What it logs is in the file `log`.
    """
    port = {"TRANCHE_PORT": str(free_port())}
    return running([sys.executable, "app.py"], home, log, **port | environment)


@contextmanager
def running(
    command: list[str], home: Path, log: Path | None = None, **environment: str
) -> Iterator[tuple[str, int]]:
    """As `started`, with the process's number behind the address."""
    variables = {**os.environ, "TRANCHE_HOME": str(home), "PYTHONUNBUFFERED": "1", **environment}
    with log.open("w+") if log else tempfile.TemporaryFile("w+") as file:
        process = subprocess.Popen(
            command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, stderr=file, text=True
        )
        try:
            yield _address(process, file), process.pid
        finally:
            process.terminate()
            try:
                process.communicate(timeout=SECONDS_TO_STOP)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                raise


def _address(process: subprocess.Popen, log: IO[str]) -> str:
    """What the server says: the first address in its output."""
    for line in process.stdout:
        if match := re.search(r"http://[\w.\[\]:]+", line):
            return match[0]
    log.seek(0)
    raise AssertionError(f"The server ended before it was ready: {log.read()}")
