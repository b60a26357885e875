"""Half-sent requests and idle connections end by themselves."""

import logging
import socket
from collections.abc import Iterator
from logging.handlers import QueueHandler
from queue import SimpleQueue
from urllib.parse import urlsplit

import httpx
import pytest
from serving import serving
from starlette.types import Receive, Scope, Send
from websockets.sync.client import connect as connect_socket

from lib.serving import connect
from lib.serving.front.server import accepting
from lib.wire.network import Network

SECONDS = 0.3
PATIENCE = 20
PROXIES_SECONDS = 60
INFO = b"POST /API/v2/info HTTP/1.1\r\nHost: 127.0.0.1\r\n"
SOCKET = b"GET /_stcore/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
TOKEN = b"POST /oauth2/token/ HTTP/1.1\r\nHost: 127.0.0.1\r\n"
BODY = b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 500\r\n\r\ngrant_type="


@pytest.fixture(scope="module")
def served(installation: connect.Installation) -> Iterator[str]:
    """The APIs, served as `tranche serve` does it, by a server that is quick to lose its patience."""
    options = accepting(Network("127.0.0.1", 0, request_seconds=SECONDS))
    with serving(installation.api, **options) as address:
        yield address


def _until_closed(address: str, sent: bytes) -> bytes:
    """All that the server sends before it closes the connection; fails if it never does."""
    parts = urlsplit(address)
    received = b""
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE) as connection:
        connection.sendall(sent)
        while piece := connection.recv(10_000):
            received += piece
    return received


@pytest.mark.parametrize("sent", [INFO, TOKEN, INFO + BODY, TOKEN + BODY], ids=["i-head", "t-head", "i", "t"])
def test_a_half_sent_request_is_ended(served: str, sent: bytes) -> None:
    """A header or a body that stops half-way is answered 408, and the connection closed."""
    assert _until_closed(served, sent).startswith(b"HTTP/1.1 408")


def test_half_a_handshake_is_ended(served: str) -> None:
    """A WebSocket's handshake that stops half-way holds its connection no longer than any request."""
    assert _until_closed(served, SOCKET).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize(
    "more", [b"Content-Length: 3\r\n\r\nx=1", b"A: b\r\n" * 300 + b"\r\n"], ids=["body", "headers"]
)
def test_a_request_that_is_no_handshake_is_ended(served: str, more: bytes) -> None:
    """A handshake with a body, or more headers than a WebSocket's may have, is answered 400 at once."""
    assert _until_closed(served, SOCKET + more).startswith(b"HTTP/1.1 400")


def test_an_idle_connection_is_ended(served: str) -> None:
    """A connection on which nothing is ever sent is closed without a word."""
    assert _until_closed(served, b"") == b""


def test_a_connection_is_kept_after_an_answer(served: str) -> None:
    """A pause between two requests is no late header: the connection takes a request after it.

    Proxies keep a connection for a minute; one that the desk closes first loses the request on its way.
    """
    with httpx.Client(base_url=served) as http:
        first = http.post("/API/v2/info", json={}).extensions["network_stream"]
        assert _until_closed(served, b"") == b""  # as long as a header may take
        again = http.post("/API/v2/info", json={})
        assert (again.status_code, again.extensions["network_stream"]) == (403, first)
    assert accepting(Network("127.0.0.1", 0))["timeout_keep_alive"] > PROXIES_SECONDS


def test_a_second_request_that_stops_half_way_is_ended(served: str) -> None:
    """After an answer, too, a header that has begun must arrive in time."""
    whole = INFO + b"Content-Length: 2\r\n\r\n{}"
    assert b"HTTP/1.1 408" in _until_closed(served, whole + INFO)


def test_a_dripping_request_is_ended(served: str) -> None:
    """A client that sends one byte now and then (Slowloris) gains no time by it."""
    parts = urlsplit(served)
    with socket.create_connection((parts.hostname, parts.port), timeout=SECONDS / 5) as connection:
        connection.sendall(INFO)
        dripped, answer = 0, None
        while answer is None:
            try:
                answer = connection.recv(1000)
            except TimeoutError:
                connection.sendall(b"X-A: b\r\n")
                dripped += 1
            assert dripped < PATIENCE / (SECONDS / 5)
    assert answer.startswith(b"HTTP/1.1 408")


def test_a_whole_request_is_answered(served: str) -> None:
    """Whoever sends a whole request is answered, several times on one connection."""
    with httpx.Client(base_url=served) as http:
        assert [http.post("/API/v2/info", json={}).json()["status"] for _ in range(3)] == ["access_error"] * 3


def test_an_aborted_body_is_one_line_in_the_log(
    served: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller that hangs up in the middle of its body leaves one line in the log, and no traceback."""
    caplog.set_level(logging.INFO)
    parts, written = urlsplit(served), SimpleQueue[logging.LogRecord]()
    monkeypatch.setattr(logging.getLogger("lib"), "handlers", [QueueHandler(written)])
    for start, path in ((INFO, "/API/v2/info"), (TOKEN, "/oauth2/token/")):
        with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE) as connection:
            connection.sendall(start + BODY)
        assert written.get(timeout=PATIENCE).getMessage() == f"POST '{path}': the request broke off"
    _until_closed(served, b"GET /docs HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    assert written.empty()
    assert [record.exc_info for record in caplog.records if "httpx" not in record.name] == [None, None]


def test_messages_after_the_close_are_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    """What an application sends while its socket ends reaches nobody, and leaves no traceback in the log."""
    failures = SimpleQueue[BaseException]()

    async def late(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
            while (await receive())["type"] != "websocket.disconnect":
                pass
            try:
                await send({"type": "websocket.close", "code": 1008})
            except Exception as error:
                failures.put(error)
                raise

    with (
        serving(late, **accepting(Network("127.0.0.1", 0))) as address,
        connect_socket(address.replace("http", "ws"), proxy=None) as opened,
    ):
        opened.send("a text, which the server refuses")
        assert isinstance(failures.get(timeout=PATIENCE), OSError)
    assert "Traceback" not in caplog.text
