"""Readers of answers: slow ones are waited for, idle ones are not."""

import socket
import threading
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from serving import serving
from starlette.types import Message, Receive, Scope, Send

from lib.serving.front.server import accepting
from lib.wire.network import Network

SECONDS, PATIENCE = 0.4, 20
PIECE, PIECES = bytes(1 << 18), 60
GET = b"GET / HTTP/1.%d\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


class Sender:
    """An application that sends 15 MB in pieces, and says when it was rid of its caller."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The pieces; more than any socket takes by itself."""
        if scope["type"] != "http":
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for number in range(PIECES):
            message: Message = {"type": "http.response.body", "body": PIECE, "more_body": number < PIECES - 1}
            await send(message)
        self.ended.set()


@pytest.fixture
def sender() -> Sender:
    """What is read."""
    return Sender()


@pytest.fixture
def address(sender: Sender) -> Iterator[tuple[str, int]]:
    """Where it is served, by a server that is quick to lose its patience."""
    with serving(sender, **accepting(Network("127.0.0.1", 0, reader_seconds=SECONDS))) as address:
        parts = urlsplit(address)
        yield parts.hostname or "", parts.port or 0


def connected(address: tuple[str, int], version: int) -> socket.socket:
    """A connection with little room of its own, on which the answer was asked for."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.settimeout(PATIENCE)
    line.connect(address)
    line.sendall(GET % version)
    return line


@pytest.mark.parametrize("version", [0, 1], ids=["HTTP/1.0", "HTTP/1.1"])
def test_an_idle_reader_is_dropped(address: tuple[str, int], sender: Sender, version: int) -> None:
    """Who takes nothing loses the connection, visibly; the application is rid of them."""
    with connected(address, version) as line:
        assert sender.ended.wait(PATIENCE)
        with pytest.raises(ConnectionResetError):
            while line.recv(1 << 20):
                pass


def test_a_slow_reader_is_waited_for(address: tuple[str, int]) -> None:
    """Who takes a little now and then gets the whole answer, however much longer it takes."""
    began = time.monotonic()
    with connected(address, 0) as line:
        received = 0
        while time.monotonic() - began < 3 * SECONDS:
            received += len(line.recv(65536))
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        while piece := line.recv(1 << 20):
            received += len(piece)
    assert received > len(PIECE) * PIECES
