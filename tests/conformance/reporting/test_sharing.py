"""Decisions of ours: what one caller may use, so that nobody starves the others."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from serving import reporting_app, serving

from conformance.conftest import Reach
from conformance.reporting.caller import PATH, Caller, refused
from conformance.reporting.others import LONG_ROWS
from lib.engines.sums import Engine, Question, Sums
from lib.people import Person
from lib.reporting import routes
from lib.reporting.client import Reporting
from lib.reporting.models import InfoQuery
from lib.reporting.service import ReportingService
from lib.serving import connect
from lib.settings import Settings
from lib.wire.deadline import Deadline
from lib.wire.errors import Abandoned, Throttled

pytestmark = pytest.mark.service
SECONDS = 30
WIDE = {"start_date": "2026-01-01", "end_date": "2026-01-01"}
MANY = {"name": "domain", "match": "contains", "value": [f"{number}.example" for number in range(4)]}
HOURLY = InfoQuery(project_name="shop", slicer_name="hourly")


class Waiting(Engine):
    """Works on every question until it is let go, and checks the deadline as every engine must."""

    def __init__(self) -> None:
        self.begun, self.let_go, self.stopped = threading.Semaphore(0), threading.Event(), threading.Event()

    def audience(self, stored: object, question: Question, deadline: Deadline) -> Sums:
        """Never an answer."""
        self.begun.release()
        while not self.let_go.wait(0.01):
            try:
                deadline.check()
            except Abandoned:
                self.stopped.set()
                raise
        raise RuntimeError("let go")


@pytest.fixture
def engine() -> Iterator[Waiting]:
    """An engine whose questions end with the test."""
    engine = Waiting()
    yield engine
    engine.let_go.set()


@contextmanager
def caller(reach: Reach, house: Path, engine: Engine | None = None, **told: object) -> Iterator[Caller]:
    """Ana asks an installation with these settings, and with this engine."""
    context = connect.installation(Settings(home=house, **told))
    service = ReportingService(context.warehouse, context.access, context.settings, engine)
    app = context.api if engine is None else reporting_app(service)
    with reach(app) as http:
        yield Caller(http, context.access.issue("ana", "reporting", "test", None), "hourly")


def test_values_of_a_filter(reach: Reach, house: Path) -> None:
    """A filter may have so many values as the setting says; one more is refused, with both numbers."""
    with caller(reach, house, filter_values=4) as ana:
        assert ana.post("audience", filters=[MANY, MANY]).status_code == 200
        assert ana.post("export", filters=[MANY, MANY]).status_code == 200
        too_many = MANY | {"value": [*MANY["value"], "x"]}
        for verb in ("audience", "export"):
            reason = ana.reason(verb, filters=[MANY, too_many])
            assert reason == "filters[1].value has 5 values; a filter may have 4"


def test_throttle(reach: Reach, house: Path) -> None:
    """A token that asks more often than the setting allows gets 429 with Retry-After; other tokens do not."""
    with caller(reach, house, throttle_questions=2) as ana:
        assert [ana.post(verb).status_code for verb in ("info", "audience", "export")] == [200, 200, 429]
        answer = ana.post("info")
        assert 0 < int(answer.headers["retry-after"]) <= 60
        assert "More than 2 requests a minute" in refused(answer, "bad_request")
        with pytest.raises(Throttled, match="More than 2 requests"):
            Reporting(ana.http, ana.token).info(HOURLY)
        document = ana.http.get("/openapi/reporting.json").json()
    for verb in ("info", "audience", "export"):
        assert "Retry-After" in document["paths"][f"/API/v2/{verb}"]["post"]["responses"]["429"]["headers"]


def test_the_desk_is_not_throttled(house: Path) -> None:
    """The desk's own calls are exempt: a screen asks a dozen questions at once."""
    context = connect.installation(Settings(home=house, throttle_questions=1))
    ana = context.people.get("ana")
    clients = connect.connect(ana, context.settings)
    assert all(clients.reporting.info(HOURLY).key_fields for _ in range(5))


def test_one_person_leaves_threads_to_others(reach: Reach, house: Path, engine: Waiting) -> None:
    """While all that ana asked holds her share of the threads, another person is answered."""
    told = {"query_threads": 2, "query_share": 1}
    with caller(reach, house, engine, **told) as ana:
        context = connect.installation(Settings(home=house, **told))
        if context.people.get("ben") is None:
            context.people.add(Person("ben", "Ben", None, "admin"), "a password")
        ben = Caller(ana.http, context.access.issue("ben", "reporting", "test", None), "hourly")
        asking = [threading.Thread(target=ana.post, args=("audience",)) for _ in range(6)]
        for thread in asking:
            thread.start()
        try:
            assert engine.begun.acquire(timeout=SECONDS)
            assert ben.info()["status"] == "success"
            assert not engine.begun.acquire(blocking=False)
        finally:
            engine.let_go.set()
            for thread in asking:
                thread.join()


@pytest.mark.parametrize("verb", ["audience", "export"])
def test_a_question_ends_with_its_caller(reach: Reach, house: Path, engine: Waiting, verb: str) -> None:
    """Once its caller has gone, a question is stopped at the next check, and what waits is not begun."""
    with caller(reach, house, engine, query_threads=1, query_share=1) as ana:
        impatient = httpx.Client(transport=ana.http._transport, base_url=ana.http.base_url, timeout=0.5)
        with pytest.raises(httpx.ReadTimeout):
            Caller(impatient, ana.token, "hourly").post(verb)
        assert engine.begun.acquire(timeout=SECONDS)
        assert engine.stopped.wait(SECONDS)
        assert ana.info()["status"] == "success"


def throttled(address: str, body: dict[str, object], until: Callable[[], bool]) -> bytes:
    """The answer over a socket that takes next to nothing until then, and the rest at once."""
    url = urlsplit(address)
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect((url.hostname, url.port))
        content = json.dumps(body).encode()
        head = f"POST /API/v2/export HTTP/1.1\r\nHost: {url.netloc}\r\nConnection: close\r\n"
        line.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        received = line.recv(1000)
        while not until():
            received += line.recv(100)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        while piece := line.recv(1 << 20):
            received += piece
    return received


def test_a_slow_reader_gets_the_whole_file(house: Path) -> None:
    """A reader's slowness is not the query's time: a file that is read past the deadline comes whole."""
    body = {"project_name": "shop", "slicer_name": "long", "split_by": "page", "export_format": "csv", **WIDE}
    token = connect.installation(Settings(home=house)).access.issue("ana", "reporting", "test", None)
    with serving(connect.installation(Settings(home=house)).api) as address:
        answer = httpx.post(f"{address}/API/v2/export", json=body | {"token": token}, timeout=SECONDS)
    quick, seconds = answer.content, 1 + 2 * answer.elapsed.total_seconds()
    with serving(connect.installation(Settings(home=house, deadline_seconds=seconds)).api) as address:
        began = time.monotonic()
        slow = throttled(address, body | {"token": token}, lambda: time.monotonic() - began > seconds)
    head, _, content = slow.partition(b"\r\n\r\n")
    assert f"content-length: {len(quick)}".encode() in head.lower()
    assert content == quick
    assert quick.count(b"\r\n") == LONG_ROWS + 1


def test_files_that_nobody_reads_are_few(house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person whose readers leave files unread gets no more of them before these are read or given up."""
    monkeypatch.setattr(routes, "MOST_FILES", 2)
    context = connect.installation(Settings(home=house, query_share=1))
    body = {"slicer_name": "long", "split_by": "page", "export_format": "csv", **WIDE}
    token = context.access.issue("ana", "reporting", "test", None)
    asked = {"project_name": "shop", "token": token} | body
    with (
        serving(context.api) as address,
        httpx.Client(base_url=address, timeout=60) as http,
        ExitStack() as held,
    ):
        for _ in range(2):
            response = held.enter_context(http.stream("POST", f"{PATH}/export", json=asked))
            assert response.status_code == 200
        answer = http.post(f"{PATH}/export", json=asked)
        assert "2 of your files are still being read" in refused(answer, "bad_request")
        assert answer.status_code == 429
        held.close()
        until = time.monotonic() + SECONDS
        while (again := http.post(f"{PATH}/export", json=asked)).status_code == 429:
            assert time.monotonic() < until
        assert again.status_code == 200
