"""A small reverse proxy without sticky sessions: each request goes to the next desk, a websocket stays."""

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from serving import free_port

PIECE, LONGEST_HEAD = 1 << 16, 1 << 20
CLIENT = "203.0.113.7"  # what it says of every client


@dataclass
class RoundRobin:
    """Where it listens, the desks behind it, and which of them (0, 1 …) got each request and each tab."""

    port: int
    desks: list[str] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)
    tabs: list[int] = field(default_factory=list)

    @property
    def address(self) -> str:
        """The one address of all desks."""
        return f"http://127.0.0.1:{self.port}"

    def serve(self, client: socket.socket) -> None:
        """Pass one request on and its answer back; for a websocket all that follows."""
        with client, suppress(OSError):
            head, body = _head(client)
            head += f"\r\nX-Forwarded-For: {CLIENT}".encode()
            is_tab = re.search(rb"(?i)\r\nupgrade: *websocket", head) is not None
            if not is_tab:
                head = re.sub(rb"(?i)\r\nconnection:[^\r\n]*", b"", head) + b"\r\nConnection: close"
            with self._connected(self.tabs if is_tab else self.requests) as desk:
                desk.sendall(head + b"\r\n\r\n" + body)
                sending = threading.Thread(target=_pipe, args=(client, desk), daemon=True)
                sending.start()
                _pipe(desk, client)

    def _connected(self, turns: list[int]) -> socket.socket:
        """A connection to the next desk; to the one after it, where nobody listens. OSError if none does."""
        first = (turns[-1] + 1) if turns else 0
        for number in range(first, first + len(self.desks)):
            desk = number % len(self.desks)
            with suppress(ConnectionRefusedError):
                connection = socket.create_connection(("127.0.0.1", urlsplit(self.desks[desk]).port or 0))
                turns.append(desk)
                return connection
        raise ConnectionRefusedError("no desk listens")


def _head(client: socket.socket) -> tuple[bytes, bytes]:
    """The lines of a request, and what came of its body."""
    read = b""
    while b"\r\n\r\n" not in read and len(read) < LONGEST_HEAD:
        piece = client.recv(PIECE)
        if not piece:
            raise ConnectionResetError("the client left")
        read += piece
    head, _, body = read.partition(b"\r\n\r\n")
    return head, body


def _pipe(source: socket.socket, target: socket.socket) -> None:
    """Pass all that comes on, and then the end."""
    with suppress(OSError):
        while piece := source.recv(PIECE):
            target.sendall(piece)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _accept(listener: socket.socket, serve: Callable[[socket.socket], None]) -> None:
    with suppress(OSError):
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


@contextmanager
def round_robin() -> Iterator[RoundRobin]:
    """A running proxy; its desks are named once they run."""
    proxy = RoundRobin(free_port())
    with socket.create_server(("127.0.0.1", proxy.port)) as listener:
        thread = threading.Thread(target=_accept, args=(listener, proxy.serve), daemon=True)
        thread.start()
        yield proxy
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
