"""The in-process transport behaves as a socket would, and leaves nothing behind."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from urllib.parse import quote

import httpx
import pytest
from fastapi import FastAPI, Request
from starlette.background import BackgroundTask
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse

from lib.wire import transport
from lib.wire.transport import InProcess

START = {"type": "http.response.start", "status": 200, "headers": []}


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    """After each test, no task of the loop is left once all those cancelled have ended."""

    async def left() -> set[asyncio.Task]:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        return (await asyncio.wait(others, timeout=5))[1] if others else set()

    yield
    assert transport._submit(left()).result() == set()


def client(app) -> httpx.Client:
    """A client of this application, in this process."""
    return httpx.Client(transport=InProcess(app), base_url="http://in-process", timeout=5)


async def _echo(name: str, request: Request) -> JSONResponse:
    body = (await request.body()).decode()
    return JSONResponse(
        {"name": name, "query": request.url.query, "body": body, "key": request.headers["x-key"]}
    )


def echo() -> httpx.Client:
    """A client of a FastAPI application that says what it was asked."""
    api = FastAPI()
    api.add_api_route("/echo/{name}", _echo, methods=["POST"])
    return client(api)


def test_request_arrives_whole():
    """Method, path, query, headers and body reach the application as they were sent."""
    answer = echo().post("/echo/plain?a=1&b=%20", content="über", headers={"X-Key": "v"}).json()
    assert answer == {"name": "plain", "query": "a=1&b=%20", "body": "über", "key": "v"}


@pytest.mark.parametrize("name", ["São Paulo", "토론", "100%", "a+b", "a?b"])
def test_paths_outside_ascii(name: str):
    """A path of any characters arrives as it was meant."""
    assert echo().post("/echo/" + quote(name), headers={"X-Key": ""}).json()["name"] == name


def test_plain_functions_run_in_threads():
    """A route that is a plain function runs beside the loop; and all callers share that one loop."""
    api = FastAPI()
    api.add_api_route("/", lambda: threading.current_thread().name)
    names = []
    callers = [threading.Thread(target=lambda: names.append(client(api).get("/").json())) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(names) == 8
    assert "in-process" not in names
    assert [thread.name for thread in threading.enumerate()].count("in-process") == 1


def test_read_timeout():
    """An application that does not answer in time raises ReadTimeout, and is stopped."""
    stopped = threading.Event()

    async def never(scope, receive, send):
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    with pytest.raises(httpx.ReadTimeout):
        client(never).get("/", timeout=0.05)
    assert stopped.wait(5)


def test_timeout_inside_the_body():
    """The time-out holds for every message, also in the middle of a body."""

    async def stalls(scope, receive, send):
        await send(START)
        await send({"type": "http.response.body", "body": b"one", "more_body": True})
        await asyncio.Event().wait()

    with pytest.raises(httpx.ReadTimeout):
        client(stalls).get("/", timeout=0.05)


def test_answer_that_breaks_off(caplog: pytest.LogCaptureFixture):
    """A body that ends too early raises RemoteProtocolError; the cause is in the log alone."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b"one"
        raise RuntimeError("a secret of the inside")

    with pytest.raises(httpx.RemoteProtocolError) as caught:
        client(StreamingResponse(pieces())).get("/")
    assert "secret" not in str(caught.value)
    assert "secret" in caplog.text


def test_failure_is_the_frameworks_answer():
    """A route that raises is a 500 of the framework, not an exception in the caller."""

    def fails() -> None:
        raise RuntimeError("a secret of the inside")

    api = FastAPI()
    api.add_api_route("/", fails)
    answer = client(api).get("/")
    assert (answer.status_code, "secret" in answer.text) == (500, False)


def test_application_that_fails_before_answering():
    """An application that raises without a word is a connection that broke off."""

    async def broken(scope, receive, send):
        raise ValueError("a secret of the inside")

    with pytest.raises(httpx.RemoteProtocolError) as caught:
        client(broken).get("/")
    assert "secret" not in str(caught.value)


def test_application_that_says_too_much():
    """Messages after the end of an answer are refused."""

    async def talkative(scope, receive, send):
        await send(START)
        for _ in range(3):
            await send({"type": "http.response.body", "body": b"all"})

    assert client(talkative).get("/").text == "all"


def test_body_streams_and_stops_when_closed():
    """Pieces are made as they are asked for, and no more once the response is closed."""
    chunks, stopped = [], threading.Event()

    async def endless(scope, receive, send):
        await send(START)
        try:
            while True:
                chunks.append(1)
                await send({"type": "http.response.body", "body": b"x" * 1000, "more_body": True})
        finally:
            stopped.set()

    with client(endless).stream("GET", "/") as response:
        pieces = response.iter_raw()
        assert [len(next(pieces)) for _ in range(3)] == [1000, 1000, 1000]
        assert len(chunks) <= 5
    assert stopped.wait(5)


def test_application_hears_that_the_caller_left():
    """An application that waits for the end of the connection is told of it."""
    heard = threading.Event()

    async def listens(scope, receive, send):
        await receive()
        await send(START)
        await send({"type": "http.response.body", "body": b"all"})
        assert await receive() == {"type": "http.disconnect"}
        heard.set()

    assert client(listens).get("/").text == "all"
    assert heard.wait(5)


def test_background_work_finishes():
    """What an application does after a complete answer is not cut off."""
    done = threading.Event()
    assert client(PlainTextResponse("all", background=BackgroundTask(done.set))).get("/").text == "all"
    assert done.wait(5)


def test_process_ends_with_a_call_under_way():
    """A process that exits while a call hangs does not hang itself."""
    script = """
import asyncio, httpx, threading
from lib.wire.transport import InProcess
started = threading.Event()
async def never(scope, receive, send):
    started.set()
    await asyncio.Event().wait()
client = httpx.Client(transport=InProcess(never), timeout=None)
threading.Thread(target=client.get, args=("http://in-process/",), daemon=True).start()
started.wait()
"""
    done = subprocess.run([sys.executable, "-c", script], timeout=60, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
