"""DNS rebinding: the server answers to its own names alone."""

from collections.abc import Iterator
from socket import create_connection

import httpx
import pytest
from serving import serving
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from lib.serving.front import guard
from lib.wire.network import Network
from lib.wire.transport import InProcess

DESK = "https://desk.example"
EVERYWHERE = "0.0.0.0"  # noqa: S104
FOREIGN = ("evil.example", "evil.example:8501", "127.0.0.1.evil.example", "", "localhost@evil.example", "[")
NO_PORT = ("127.0.0.1:8641.evil.example", "localhost:8501x", "127.0.0.1/x", "127.0.0.1?x", "[::1]x")


async def _socket(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text("welcome")
    await socket.close()


async def _page(_: object) -> PlainTextResponse:
    return PlainTextResponse("welcome")


APP = Starlette(routes=[Route("/{path:path}", _page), WebSocketRoute("/{path:path}", _socket)])


def _answer(listens: str, host: str, path: str = "/") -> httpx.Response:
    """What a server that listens there answers to a request for this host."""
    app = guard(APP, Network(listens, 8501, (DESK,)))
    with httpx.Client(transport=InProcess(app), base_url="http://127.0.0.1:8501") as http:
        return http.get(path, headers={"Host": host})


@pytest.mark.parametrize("host", ["127.0.0.1:8501", "localhost", "LOCALHOST:1", "[::1]:8501", "desk.example"])
@pytest.mark.parametrize("listens", ["127.0.0.1", EVERYWHERE, "localhost"])
def test_own_names(listens: str, host: str) -> None:
    """Loopback names and the hosts of `origins` are answered, whatever the port."""
    assert _answer(listens, host).text == "welcome"


@pytest.mark.parametrize("host", (*FOREIGN, *NO_PORT))
@pytest.mark.parametrize("listens", ["127.0.0.1", EVERYWHERE])
def test_foreign_names(listens: str, host: str) -> None:
    """Any other name is refused with 421."""
    assert _answer(listens, host).status_code == 421


@pytest.mark.parametrize(("listens", "code"), [(EVERYWHERE, 200), ("fd00::1", 200), ("127.0.0.1", 421)])
def test_addresses(listens: str, code: int) -> None:
    """A server that listens to other machines is also reached by its addresses; one on loopback is not."""
    assert _answer(listens, "192.0.2.7:8501").status_code == code


@pytest.mark.parametrize(("path", "key"), [("/API/v2/info", "reason"), ("/api/seats/", "detail")])
def test_refused_in_the_words_of_the_api(path: str, key: str) -> None:
    """The refusal has the shape of the API whose path was requested, and the headers of every answer."""
    answer = _answer("127.0.0.1", "evil.example", path)
    assert "`origins`" in answer.json()[key]
    assert answer.headers["x-frame-options"] == "DENY"


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """Host and port of a served application."""
    with serving(guard(APP, Network("127.0.0.1", 0)), ws="websockets-sansio") as address:
        yield address.removeprefix("http://")


def test_a_socket_of_a_rebound_page(served: str) -> None:
    """A page whose foreign name points here gets no WebSocket, though its host matches its origin."""
    assert _handshake(served, "evil.example", "http://evil.example").startswith(b"HTTP/1.1 403")
    assert _handshake(served, served, f"http://{served}").startswith(b"HTTP/1.1 101")


def _handshake(served: str, host: str, origin: str) -> bytes:
    """What is answered to a browser's request for a WebSocket."""
    name, _, port = served.partition(":")
    head = (
        f"GET / HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    with create_connection((name, int(port)), timeout=60) as connection:
        connection.sendall(head.encode())
        return connection.recv(1000)
