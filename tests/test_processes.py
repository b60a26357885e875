"""Several desk processes behind one port (`--processes`): whoever asks notices one desk."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import COUNTRIES, DEFINITION, ROOT, copied, running, small_rows
from serving import free_port

from lib.people.cookies import SignIn
from lib.serving import connect
from lib.serving.front.process_metrics import merge
from lib.serving.front.processes import COOKIE
from lib.settings import Settings
from lib.share.alerts.watch import work_of
from lib.slicers.warehouse import Warehouse

DESK = [sys.executable, "app.py", "--processes", "2"]
APIS = [sys.executable, "-c", "from lib.cli import main; main()", "serve", "--port", "0"]
METRICS_TOKEN = "a token of the metrics"
SCRAPE = {"Authorization": f"Bearer {METRICS_TOKEN}"}
QUESTION = {"project_name": "demo", "slicer_name": "fresh", "start_date": "-30d", "end_date": "yesterday"}
SECONDS = 60


@dataclass(frozen=True)
class Several:
    """Two desk processes, their parent, what they log, and their installation as this test opens it."""

    address: str
    parent: int
    log: Path
    installation: connect.Installation

    def process(self, number: int) -> int:
        """The system's number of that process, as it was started last."""
        found = re.findall(rf"Process {number} is (\d+) for the system", self.log.read_text())
        return int(found[-1])

    def browser(self, number: int | None = None) -> httpx.Client:
        """A browser, at that process or wherever it is sent."""
        cookies = {} if number is None else {COOKIE: str(number)}
        return httpx.Client(base_url=self.address, cookies=cookies, timeout=SECONDS)


def wait_for(look: Callable[[], Any]) -> Any:
    """What `look` finds, once it is true."""
    until = time.monotonic() + SECONDS
    while not (found := look()):
        assert time.monotonic() < until, "not within a minute"
        time.sleep(0.05)
    return found


def is_running(number: int) -> bool:
    """Whether the system has such a process that has not ended."""
    try:
        state = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


@pytest.fixture(scope="module")
def several(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Several]:
    """The running desk of two processes, over SQLite."""
    folder = tmp_path_factory.mktemp("several")
    own, log = copied(home, folder / "home"), folder / "log"
    environment = {"TRANCHE_PORT": str(free_port()), "TRANCHE_METRICS_TOKEN": METRICS_TOKEN}
    with running(DESK, own, log, **environment) as (address, parent):
        yield Several(address, parent, log, connect.installation(Settings(home=own, demo=True)))


def test_browsers_are_spread_and_each_stays(several: Several) -> None:
    """Of four browsers two are at each process, and further requests don't give them another cookie."""
    browsers = [several.browser() for _ in range(4)]
    for browser in browsers:
        assert browser.get("/").status_code == 200
    assert sorted(browser.cookies[COOKIE] for browser in browsers) == ["1", "1", "2", "2"]
    for browser in browsers:
        assert "set-cookie" not in browser.get("/").headers


def test_programs_get_no_cookie(several: Several) -> None:
    """Answers of the APIs bind nobody to a process."""
    with several.browser() as program:
        program.post("/API/v2/info", json={})
        assert COOKIE not in program.cookies


def test_a_request_of_another_process_on_an_open_connection(several: Several) -> None:
    """It is asked again on a new connection, with its query, and never at a host that its path names."""
    with several.browser(1) as browser:
        assert browser.get("/").status_code == 200
        browser.cookies.set(COOKIE, "2")
        moved = browser.get(f"{several.address}//elsewhere.example/x?y=%2F")
        assert (moved.status_code, moved.headers["connection"]) == (307, "close")
        assert moved.headers["location"] == "/elsewhere.example/x?y=%2F"
        assert browser.get("/").status_code == 200


def test_a_request_in_pieces_and_one_that_is_none(several: Several) -> None:
    """The parent waits for the rest of a header; what is no HTTP is refused by a process."""
    host, port = several.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=SECONDS) as connection:
        for piece in ("GET /healthz HT", f"TP/1.1\r\nHost: {host}:{port}\r\nConnec", "tion: close\r\n\r\n"):
            connection.sendall(piece.encode())
        assert connection.makefile().readline() == "HTTP/1.1 200 OK\n"
    with socket.create_connection((host, int(port)), timeout=SECONDS) as connection:
        connection.sendall(b"\x16\x03\x01\x02\x00")  # TLS
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100).startswith((b"HTTP/1.1 400", b""))


def test_metrics_are_those_of_all(several: Several) -> None:
    """Each sample says of which process it is; without the token there is nothing."""
    for number in (1, 2):
        with several.browser(number) as program:
            program.post("/API/v2/info", json={})
    text = httpx.get(f"{several.address}/metrics", headers=SCRAPE).text
    for number in (1, 2):
        assert f'tranche_process_up{{process="{number}"}} 1.0' in text
        assert re.search(rf'tranche_requests_total{{kind="info",process="{number}",status="\d+"}}', text)
    assert text.count("# TYPE tranche_requests_total counter") == 1
    assert httpx.get(f"{several.address}/metrics").status_code == 401


def test_metrics_are_merged_by_name() -> None:
    """Samples of one measurement are together, with the labels that they had."""
    text = '# HELP a_total So many.\n# TYPE a_total counter\na_total{kind="x"} 2.0\n'
    (family,) = merge({1: text, 2: text})
    assert [(sample.labels, sample.value) for sample in family.samples] == [
        ({"kind": "x", "process": "1"}, 2.0),
        ({"kind": "x", "process": "2"}, 2.0),
    ]


def test_an_import_is_seen_by_all(several: Several) -> None:
    """Rows that another process imports are in the answers of both."""
    warehouse = Warehouse(several.installation.settings.warehouse)
    rows = small_rows(seed=7)
    token = several.installation.access.issue("admin", "reporting", "test", None)
    total = 0.0
    for mode in ("create", "append"):
        with warehouse.writer("demo", "fresh", DEFINITION, {"country": COUNTRIES}, mode) as writer:
            writer.write(rows)
            writer.commit("made for the test", mode)
        total += sum(rows.column("imps").to_pylist())
        for number in (1, 2):
            with several.browser(number) as program:
                answer = program.post("/API/v2/audience", json=QUESTION | {"token": token}).json()
            (imps,) = (cell["value"] for cell in answer["total"]["data"] if cell["name"] == "imps")
            assert imps == total


def test_killing_the_process_that_does_background_work(several: Several) -> None:
    """People stay signed in and are at the other process at once, which takes the work over.

    The one that was killed is started again.
    """
    installation = several.installation
    ends = time.time() + 3600
    installation.sessions.begin("viewer", ends)
    session = {installation.cookies.session_name: installation.cookies.session_value(SignIn("viewer", ends))}
    lock = several.installation.settings.home / f"{work_of(installation.settings)}.lock"

    def owner() -> int:
        return int(lock.read_text().strip() or 0) if lock.exists() else 0

    processes = {several.process(number): number for number in (1, 2)}
    killed = wait_for(owner)
    number = processes.pop(killed)
    (left,) = processes
    os.kill(killed, signal.SIGKILL)
    with several.browser(number) as browser:
        browser.cookies.update(session)
        board = {"project": "demo", "slicer": "delivery", "params": {}}
        answer = browser.post("/board/answer", json=board, headers={"Origin": several.address})
        assert answer.status_code == 200
        assert answer.cookies[COOKIE] == str(3 - number)
    assert wait_for(lambda: owner() == left)
    log = several.log.read_text()
    assert f"Process {number} ended (SIGKILL); starting it again" in log
    wait_for(lambda: several.process(number) != killed)
    again = {COOKIE: str(number)}
    wait_for(lambda: COOKIE not in httpx.get(several.address, cookies=again).cookies)


@contextmanager
def several_apis(home: Path, log: Path) -> Iterator[tuple[str, int, list[int]]]:
    """`tranche serve` of two processes: the address, the parent, the processes that it started."""
    with running(APIS, home, log, TRANCHE_PROCESSES="2", TRANCHE_METRICS_TOKEN=METRICS_TOKEN) as (at, parent):
        yield at, parent, [int(number) for number in re.findall(r"is (\d+) for the system", log.read_text())]


def test_sigterm_ends_all_in_order(home: Path, tmp_path: Path) -> None:
    """`tranche serve` takes the setting too; no process of it is left, and each says how it ended."""
    log = tmp_path / "log"
    with several_apis(home, log) as (address, parent, started):
        text = httpx.get(f"{address}/metrics", headers=SCRAPE, timeout=SECONDS).text
        assert text.count("tranche_process_up{") == len(started) == 2
        os.kill(parent, signal.SIGTERM)
        wait_for(lambda: not is_running(parent))
        assert not any(map(is_running, started))
    said = log.read_text()
    assert said.count("Stopped in order") == 2
    assert "[process 1]" in said and "[process 2]" in said


def test_no_process_outlives_its_parent(home: Path, tmp_path: Path) -> None:
    """When the parent is killed the others stop in order."""
    log = tmp_path / "log"
    with several_apis(home, log) as (_, parent, started):
        os.kill(parent, signal.SIGKILL)
        wait_for(lambda: not any(map(is_running, started)))
    assert log.read_text().count("since the process that accepts connections has gone") == 2


def test_a_desk_that_can_not_start(tmp_path: Path) -> None:
    """The sentence of a process that can't start is shown, and its exit status is the parent's."""
    variables = {**os.environ, "TRANCHE_HOME": str(tmp_path), "TRANCHE_PORT": str(free_port())}
    variables["TRANCHE_DATABASE_URL"] = "postgresql+psycopg://nobody@127.0.0.1:9/none"
    ended = subprocess.run(DESK, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=SECONDS)
    assert ended.returncode == 1
    assert "database_url: the database can't be used" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("processes", ["0", "65", "many"])
def test_a_number_of_processes_that_is_none(tmp_path: Path, processes: str) -> None:
    """It is refused by name before anything starts."""
    command = [sys.executable, "app.py", "--processes", processes]
    variables = {**os.environ, "TRANCHE_HOME": str(tmp_path)}
    ended = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=SECONDS)
    assert ended.returncode in (1, 2)
    assert "processes" in ended.stderr and "Traceback" not in ended.stderr
