"""`/healthz`, `/readyz` and `/metrics`: what a watching program learns, and what nobody learns there."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest
from conftest import DAYS, ROWS_PER_DAY
from prometheus_client.parser import text_string_to_metric_families
from serving import serving
from starlette.responses import PlainTextResponse
from starlette.websockets import WebSocket
from websockets.sync.client import connect as opened

from lib import database
from lib.serving import connect, operations
from lib.serving.operations import Meter, OpenTabs, Operations, Readiness, probes, router
from lib.settings import Settings
from lib.wire.apis import Apis, api
from lib.wire.errors import Misconfigured

TOKEN = "a token of metrics alone"
SECRET_PARTS = ("tranche", "home", "sqlite", "127.0.0.1", "Traceback", "postgres")
Samples = dict[str, float]


@contextmanager
def watched(settings: Settings) -> Iterator[httpx.Client]:
    """A watching program, before the APIs of a desk on a socket; it has no token."""
    served = Apis(PlainTextResponse("desk"), api=connect.installation(settings).api)
    with serving(served) as address, httpx.Client(base_url=address, timeout=60) as http:
        yield http


@pytest.fixture
def settings(own_home: Path) -> Settings:
    """A desk of one's own, with a token for its measurements."""
    return Settings(home=own_home, demo=True, metrics_token=TOKEN)


def samples(http: httpx.Client) -> Samples:
    """All measurements, as `name{label=value}`."""
    answer = http.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    by_label = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            by_label[f"{sample.name}{{{labels}}}"] = sample.value
    return by_label


def test_anybody_may_ask_whether_it_is_alive(settings: Settings) -> None:
    """`/healthz` says ok and nothing else; what is not one of these paths goes on to the desk."""
    with watched(settings) as http:
        answer = http.get("/healthz")
        assert (answer.status_code, answer.text, answer.headers["cache-control"]) == (200, "ok\n", "no-store")
        assert http.head("/healthz").status_code == 200
        assert http.post("/healthz").status_code == 405
        assert http.get("/healthz/more").text == http.get("/metricsx").text == "desk"


def test_ready_names_the_parts(settings: Settings) -> None:
    """`/readyz` says of each part whether it answers."""
    with watched(settings) as http:
        answer = http.get("/readyz")
        assert answer.json() == {"status": "ready", "parts": {"database": "ok", "warehouse": "ok"}}
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")


@contextmanager
def ready(parts: dict[str, operations.Probe]) -> Iterator[httpx.Client]:
    """A watching program before these parts."""
    app = api([router], 1000, operations=Operations(Readiness(parts), Meter(), None))
    with serving(app) as address, httpx.Client(base_url=address, timeout=60) as http:
        yield http


def test_a_part_that_fails_is_named(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """503, and never why or where: a database, a warehouse, a silent and a dead remote service."""
    monkeypatch.setattr(operations, "SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent, socket.create_server(("127.0.0.1", 0)) as closed:
        ports = [listener.getsockname()[1] for listener in (silent, closed)]
        closed.close()
        remote = Settings(
            home=own_home,
            base_url=f"http://127.0.0.1:{ports[0]}",
            slicers=("a/b",),
            reporting_token="x",
            curate_url=f"http://127.0.0.1:{ports[1]}",
            deals_token="x",
        )
        lines = connect.installation(remote).lines
        assert lines.reporting and lines.deals
        engine = database.engine(f"postgresql+psycopg://nobody@127.0.0.1:{ports[1]}/none")
        check = lambda _: [*(tmp_path / "a" / "b").iterdir()]  # noqa: E731
        with ready(probes(engine, check, iter([lines.reporting, lines.deals.line]))) as http:
            answer = http.get("/readyz")
        engine.dispose()
    assert answer.status_code == 503
    parts = ("database", "warehouse", "reporting service", "deals service")
    assert answer.json() == {"status": "not ready", "parts": dict.fromkeys(parts, "failed")}
    assert not [part for part in SECRET_PARTS if part in answer.text]


def test_a_remote_service_that_answers_is_ready(own_home: Path) -> None:
    """Whatever it answers without a token, as long as it is no gateway that does not reach it."""
    status: list[int] = [404]
    seen: list[str] = []

    async def app(scope: dict, receive: Callable, send: Callable) -> None:
        seen.extend(value.decode() for name, value in scope["headers"] if name == b"authorization")
        await PlainTextResponse("", status[0])(scope, receive, send)

    with serving(app, lifespan="off") as address:
        remote = Settings(home=own_home, base_url=address, slicers=("a/b",), reporting_token="never sent")
        line = connect.installation(remote).lines.reporting
        assert line
        assert operations.Probe(partial(operations._check_line, line)).begin().result(10) is True
        status[0] = 502
        assert operations.Probe(partial(operations._check_line, line)).begin().result(10) is False
    assert not seen


def test_many_who_ask_are_one_question() -> None:
    """However often anonymous callers ask, a part is asked once at a time, and once per second."""
    asked, clock = [], [0.0]
    probe = operations.Probe(asked.append, 1.0, lambda: clock[0])
    first = probe.begin()
    assert first.result(10) is True
    assert probe.begin() is first
    clock[0] = 1.5
    assert probe.begin() is not first
    assert probe.begin().result(10) is True
    assert len(asked) == 2


def test_metrics_need_their_own_token(settings: Settings) -> None:
    """No other token opens `/metrics`; without the setting it is not there."""
    access = connect.installation(settings).access
    others = [access.issue("admin", name, "test", None) for name in ("reporting", "deals")]
    with watched(settings) as http:
        for given in ("", "Bearer", f"Bearer {TOKEN[:-1]}", TOKEN, *(f"Bearer {token}" for token in others)):
            answer = http.get("/metrics", headers={"Authorization": given})
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
            assert "tranche_" not in answer.text
    with watched(Settings(home=settings.home, demo=True)) as http:
        assert http.get("/metrics", headers={"Authorization": "Bearer"}).status_code == 404


def asked(http: httpx.Client, settings: Settings) -> None:
    """Info, the same figures three times, a file, and a question with a wrong token."""
    token = connect.installation(settings).access.issue("viewer", "reporting", "test", None)
    where = {"token": token, "project_name": "demo", "slicer_name": "delivery"}
    days = {"start_date": f"-{DAYS}d", "end_date": "yesterday"}
    assert http.post("/API/v2/info", json=where).status_code == 200
    for _ in range(3):
        question = where | days | {"audience_rows_limit": 1_000_000, "split_by": ["geo.country"]}
        assert http.post("/API/v2/audience", json=question).status_code == 200
    assert http.post("/API/v2/export", json=where | days | {"export_format": "csv"}).status_code == 200
    assert http.post("/API/v2/audience", json=where | {"token": "wrong"}).status_code == 403
    assert http.get("/api/seats/").status_code == 401


def test_metrics_count_what_happened(settings: Settings) -> None:
    """Requests by kind and status, seconds, rows read and cache hits are those of what was just asked."""
    with watched(settings) as http:
        asked(http, settings)
        metrics = samples(http)
        text = http.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text
    requests = {name: count for name, count in metrics.items() if name.startswith("tranche_requests_total")}
    assert requests == {
        "tranche_requests_total{kind=info,status=200}": 1,
        "tranche_requests_total{kind=audience,status=200}": 3,
        "tranche_requests_total{kind=audience,status=403}": 1,
        "tranche_requests_total{kind=export,status=200}": 1,
        "tranche_requests_total{kind=deals_read,status=401}": 1,
    }
    assert metrics["tranche_request_seconds_count{kind=audience}"] == 4
    assert metrics["tranche_request_seconds_bucket{kind=audience,le=+Inf}"] == 4
    assert metrics["tranche_request_seconds_sum{kind=audience}"] > 0
    assert metrics["tranche_rows_read_total{}"] == 2 * DAYS * ROWS_PER_DAY
    assert (metrics["tranche_cache_hits_total{}"], metrics["tranche_cache_misses_total{}"]) == (2, 1)
    assert metrics["tranche_cache_bytes{}"] > 0
    assert not [name for name in ("delivery", "demo", "viewer", "geo", str(settings.home)) if name in text]


def test_metrics_name_slicers_if_a_setting_says_so(settings: Settings) -> None:
    """With `metrics_slicers` a query has the label of its slicer; people have none."""
    named = settings.model_copy(update={"metrics_slicers": True, "port": 1})
    with watched(named) as http:
        asked(http, named)
        metrics = samples(http)
    assert metrics["tranche_requests_total{kind=audience,slicer=demo/delivery,status=200}"] == 3
    assert metrics["tranche_requests_total{kind=audience,slicer=,status=403}"] == 1
    assert not [name for name in metrics if "viewer" in name]


def test_sessions_and_tabs_are_counted(settings: Settings) -> None:
    """Sign-ins count until they end, tabs while their WebSocket is open."""
    context = connect.installation(settings)

    async def app(scope: dict, receive: Callable, send: Callable) -> None:
        browser = WebSocket(scope, receive, send)
        await browser.accept()
        await browser.receive_text()
        await browser.close()

    tabs, closed = OpenTabs(app, context.meter), threading.Event()

    async def watching(scope: dict, receive: Callable, send: Callable) -> None:
        await tabs(scope, receive, send)
        closed.set()

    with serving(watching, lifespan="off") as address, watched(settings) as http:
        context.sessions.begin("viewer", 4_000_000_000.0)
        assert samples(http)["tranche_sessions{}"] == 1
        with opened(address.replace("http", "ws"), proxy=None) as tab:
            assert samples(http)["tranche_open_tabs{}"] == 1
            tab.send("closing")
            with pytest.raises(Exception, match="1000"):
                tab.recv(10)
        context.sessions.end("viewer", 4_000_000_000.0)
        assert closed.wait(10)
        metrics = samples(http)
    assert (metrics["tranche_sessions{}"], metrics["tranche_open_tabs{}"]) == (0, 0)


def test_a_short_token_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token that could be guessed is no setting."""
    monkeypatch.setenv("TRANCHE_METRICS_TOKEN", "short")
    with pytest.raises(Misconfigured, match="16 characters or more"):
        Settings.load(home=tmp_path)
