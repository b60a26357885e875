"""The APIs as one application: its errors, its limits, its documentation, its place before the desk."""

import asyncio
import re
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from fastapi import APIRouter, Body
from starlette.responses import JSONResponse, PlainTextResponse, Response

from lib.wire.apis import Apis, api
from lib.wire.errors import AccessError, BadRequest, DeadlineExceeded, TrancheError
from lib.wire.transport import InProcess

LIMIT = 20_000
FAILURES = {"bad": BadRequest("no such field"), "access": AccessError(), "late": DeadlineExceeded("too slow")}


def _fail(kind: str) -> None:
    raise FAILURES.get(kind, RuntimeError("a secret of the inside"))


def _size(body: str = Body()) -> int:
    return len(body)


def _large() -> JSONResponse:
    return JSONResponse(["row"] * 10_000)


def _sheet() -> Response:
    return Response(
        b"0" * 100_000, media_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    )


def _routes() -> APIRouter:
    router = APIRouter()
    for prefix, slash in (("/API/v2", ""), ("/api/v1", "/")):
        router.add_api_route(f"{prefix}/fail/{{kind}}{slash}", _fail, methods=["POST"])
        router.add_api_route(f"{prefix}/size{slash}", _size, methods=["POST"])
    router.add_api_route("/API/v2/large", _large)
    router.add_api_route("/API/v2/sheet", _sheet)
    return router


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    """A client of the APIs with routes that fail in every way."""
    with httpx.Client(transport=InProcess(api([_routes()], LIMIT)), base_url="http://in-process") as client:
        yield client


@pytest.mark.parametrize(("kind", "code"), [("bad", 400), ("access", 403), ("late", 504)])
def test_our_own_errors(http: httpx.Client, kind: str, code: int):
    """An error of the family is answered with its HTTP code, its status and its reason alone."""
    error = FAILURES[kind]
    assert isinstance(error, TrancheError)
    answer = http.post(f"/API/v2/fail/{kind}")
    assert (answer.status_code, answer.json()) == (code, {"status": error.status, "reason": error.reason})


def test_unforeseen_failures(http: httpx.Client, caplog: pytest.LogCaptureFixture):
    """What nobody foresaw is internal_error without its inside, which is in the log."""
    answer = http.post("/API/v2/fail/unforeseen")
    assert (answer.status_code, answer.json()["status"]) == (500, "internal_error")
    assert "secret" not in answer.text
    assert "secret" in caplog.text


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [("POST", "/API/v2/infos", 404), ("GET", "/API/v2/size", 405), ("POST", "/API/v2/größe", 404)],
)
def test_errors_of_the_framework(http: httpx.Client, method: str, path: str, code: int):
    """Unknown paths and wrong methods of the reporting API have a status and a reason alone, too."""
    answer = http.request(method, path)
    assert (answer.status_code, answer.json()["status"]) == (code, "bad_request")
    assert set(answer.json()) == {"status", "reason"}
    assert "/docs" in answer.json()["reason"]


def test_method_not_allowed_names_the_methods(http: httpx.Client):
    """A wrong method is told which are right, as HTTP has it."""
    assert http.get("/API/v2/size").headers["allow"] == "POST"


def test_invalid_bodies(http: httpx.Client):
    """A body that doesn't fit is a bad_request that says where."""
    answer = http.post("/API/v2/size", json=5)
    assert (answer.status_code, answer.json()["status"]) == (400, "bad_request")
    assert "body" in answer.json()["reason"]


def test_other_apis_have_their_own_shape(http: httpx.Client):
    """Outside the reporting API an error is a `detail`."""
    assert http.post("/api/v1/fail/bad/").json() == {"detail": "no such field"}


def test_body_up_to_the_limit(http: httpx.Client):
    """A body of exactly the limit is read."""
    body = '"' + "x" * (LIMIT - 2) + '"'
    answer = http.post("/API/v2/size", content=body, headers={"Content-Type": "application/json"})
    assert answer.json() == LIMIT - 2


@pytest.mark.parametrize("is_streamed", [False, True])
def test_body_over_the_limit(http: httpx.Client, is_streamed: bool):
    """A body over the limit is refused in the API's words, whether its length was announced or not."""
    body = b'"' + b"x" * LIMIT + b'"'
    content = iter([body]) if is_streamed else body
    answer = http.post("/API/v2/size", content=content, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["status"]) == (413, "bad_request")
    assert "20,000 bytes" in answer.json()["reason"]


def test_body_is_not_collected_beyond_the_limit():
    """A body without end is cut off at the limit, not after it."""
    sent = []

    async def without_end():
        sent.append(1)
        return {"type": "http.request", "body": b"x" * 1000, "more_body": True}

    answer = _ask(api([_routes()], LIMIT), "/API/v2/size", without_end, [])
    assert answer[0]["status"] == 413
    assert len(sent) == LIMIT // 1000 + 1


def test_documentation_is_complete(http: httpx.Client):
    """/docs needs no token, and every asset that it names is there."""
    page = http.get("/docs").text
    assets = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(assets) == 3
    assert {http.get(asset).status_code for asset in assets} == {200}
    assert http.get("/openapi.json").json()["paths"].keys() >= {"/API/v2/large"}


def test_documentation_asks_nobody_else(http: httpx.Client):
    """/docs names no address outside and turns the outside validator off."""
    page = http.get("/docs").text
    assert "//" not in re.sub(r"<!--.*?-->|^\s*//.*$", "", page).replace("window.location.origin", "")
    assert '"validatorUrl": null' in page


@pytest.mark.parametrize(
    ("path", "is_api"),
    [
        ("/API/v2/info", True),
        ("/api/v1/supply_deals/", True),
        ("/oauth2/token/", True),
        ("/docs", True),
        ("/docs/assets/swagger-ui.css", True),
        ("/openapi.json", True),
        ("/", False),
        ("/audience", False),
        ("/API", False),
        ("/documents", False),
        ("/_stcore/health", False),
    ],
)
def test_place_before_the_desk(path: str, is_api: bool):
    """The APIs' paths go to the APIs, all others to the desk."""
    app = Apis(PlainTextResponse("desk"), api=PlainTextResponse("api"))
    with httpx.Client(transport=InProcess(app), base_url="http://in-process") as client:
        assert client.get(path).text == ("api" if is_api else "desk")


def test_sockets_of_the_desk_are_left_alone():
    """A WebSocket always belongs to the desk, whatever its path."""
    seen = []

    async def desk(scope, receive, send):
        seen.append(scope["type"])

    _run(Apis(desk, api=PlainTextResponse("api"))({"type": "websocket", "path": "/API/v2/info"}, None, None))
    assert seen == ["websocket"]


@pytest.mark.parametrize(
    ("path", "peer", "is_packed"),
    [
        ("/API/v2/large", "203.0.113.7", True),
        ("/API/v2/large", "127.0.0.1", False),
        ("/API/v2/sheet", "203.0.113.7", False),
        ("/openapi.json", "203.0.113.7", False),
    ],
)
def test_compression_where_it_pays(path: str, peer: str, is_packed: bool):
    """Large answers are gzipped for far callers; small and packed ones and those on loopback are not."""

    async def no_body():
        return {"type": "http.request", "body": b"", "more_body": False}

    app = Apis(PlainTextResponse("desk"), api=api([_routes()], LIMIT))
    start = _ask(app, path, no_body, [(b"accept-encoding", b"gzip")], method="GET", peer=peer)[0]
    assert ((b"content-encoding", b"gzip") in start["headers"]) is is_packed


def _ask(app, path, receive, headers, method="POST", peer="127.0.0.1") -> list[dict]:
    """The messages that an ASGI application sends for one request from `peer`."""
    sent = []

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b"",
        "headers": [(b"content-type", b"application/json"), *headers], "client": (peer, 1234),
        "scheme": "http", "server": ("127.0.0.1", 80), "root_path": "",
        "http_version": "1.1", "asgi": {"version": "3.0"},
    }  # fmt: skip
    _run(app(scope, receive, send))
    return sent


def _run(work: Coroutine) -> None:
    """Run this to its end, on a thread that has no loop yet."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()
