"""A proxy on sockets between the desk and a service, whose behavior is switched while it runs."""

import contextlib
import http.client
import select
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

POLL_SECONDS = 0.02
AT_ONCE = struct.pack("ii", 1, 0)
Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class WriteRequest:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """An answer, whole."""

    status: int
    headers: Headers
    body: bytes

    def head(self) -> bytes:
        """Its first line and headers, with the length that it has."""
        lines = [f"HTTP/1.1 {self.status} {http.client.responses.get(self.status, 'Unknown')}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        lines += [f"content-length: {len(self.body)}", "", ""]
        return "\r\n".join(lines).encode()

    def typed(self, media_type: str) -> "Answer":
        """The same under another type."""
        kept = [pair for pair in self.headers if pair[0].lower() != "content-type"]
        return replace(self, headers=(*kept, ("content-type", media_type)))


class Over(Exception):
    """The connection is done with."""


@dataclass
class Exchange:
    """One request on a connection, and what a behavior can do with it."""

    client: socket.socket
    asked: WriteRequest
    target: tuple[str, int]
    is_closing: threading.Event

    def answer(self) -> Answer:
        """What the service answers."""
        upstream = http.client.HTTPConnection(*self.target, timeout=60)
        with contextlib.closing(upstream):
            headers = {n: v for n, v in self.asked.headers.items() if n not in ("host", "connection")}
            upstream.request(self.asked.method, self.asked.path, self.asked.body, headers)
            got = upstream.getresponse()
            kept = [p for p in got.getheaders() if p[0].lower() not in HOP_BY_HOP]
            return Answer(got.status, tuple(kept), got.read())

    def send(self, data: bytes) -> None:
        """To the client; Over where it is gone."""
        try:
            self.client.sendall(data)
        except OSError:
            raise Over from None

    def wait(self, seconds: float = POLL_SECONDS) -> None:
        """A moment; Over once the client hangs up or the proxy closes."""
        if self.is_closing.is_set():
            raise Over
        poll = select.poll()  # `select.select` fails where a process has more than 1,023 files open
        poll.register(self.client, select.POLLIN)
        if poll.poll(1000 * seconds):
            raise Over

    def end(self) -> NoReturn:
        """Close the connection, properly."""
        self.client.shutdown(socket.SHUT_WR)
        raise Over

    def reset(self) -> NoReturn:
        """Break the connection off, as a host that lost its memory does."""
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        raise Over


HOP_BY_HOP = frozenset({"connection", "content-length", "transfer-encoding", "keep-alive"})
Behavior = Callable[[Exchange], None]


@dataclass
class Proxy:
    """Listens on a port of its own; `behavior` is what happens to each request, now.

    `asked` are the requests so far, `connections` how many connections there were.
    """

    target: tuple[str, int]
    behavior: Behavior
    asked: list[WriteRequest] = field(default_factory=list)
    connections: int = 0
    _listener: Any = None
    _port: int = 0
    _news: threading.Condition = field(default_factory=threading.Condition)
    _open: set[socket.socket] = field(default_factory=set)
    _is_closing: threading.Event = field(default_factory=threading.Event)

    @property
    def address(self) -> str:
        """Where it listens, or did."""
        return f"http://127.0.0.1:{self._port}"

    def paths(self) -> list[str]:
        """What was asked for, without parameters."""
        return [asked.path.partition("?")[0] for asked in self.asked]

    def wait_for(self, count: int, path: str) -> None:
        """Wait until so many requests have come whose path ends so."""
        with self._news:
            came = self._news.wait_for(lambda: sum(p.endswith(path) for p in self.paths()) >= count, 60)
        assert came, f"{self.paths()} are not {count} of {path}"

    def listen(self) -> None:
        """Take connections, on the port that it had before."""
        self._is_closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", self._port), backlog=128)
        self._port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def close(self) -> None:
        """Take no more connections, and end those that there are."""
        self._is_closing.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for client in list(self._open):
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                self.connections += 1
                self._open.add(client)
                threading.Thread(target=self._serve, args=(client, self._is_closing), daemon=True).start()

    def _serve(self, client: socket.socket, is_closing: threading.Event) -> None:
        with contextlib.suppress(Over, OSError), client, client.makefile("rb") as stream:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while (asked := _read(stream)) is not None:
                with self._news:
                    self.asked.append(asked)
                    self._news.notify_all()
                try:
                    self.behavior(Exchange(client, asked, self.target, is_closing))
                except Over:
                    break
        self._open.discard(client)


def _read(stream: Any) -> WriteRequest | None:
    """The next request; None at the end of the connection."""
    first = stream.readline().decode().split()
    if len(first) != 3:
        return None
    headers = {}
    while line := stream.readline().decode().rstrip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return WriteRequest(first[0], first[1], headers, stream.read(int(headers.get("content-length", 0))))


@contextlib.contextmanager
def proxying(address: str, behavior: Behavior) -> Iterator[Proxy]:
    """A proxy before the service at `address`, until the end of the block."""
    host, _, port = address.removeprefix("http://").rstrip("/").partition(":")
    proxy = Proxy((host, int(port)), behavior)
    proxy.listen()
    try:
        yield proxy
    finally:
        proxy.close()
