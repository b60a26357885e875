"""Several desk processes behind one port: each browser stays with one of them.

Screens live in the process that draws them: the WebSocket of a tab, its downloads and what it loads have to
reach the same one. So the first process, the parent, accepts every connection, looks at its first request
without taking it from the socket (MSG_PEEK), and hands the connection itself to the process that the cookie
names (SCM_RIGHTS). It passes no byte on: the processes answer as if they had accepted the connection, and see
the client's address.

    python app.py --processes 2

A browser that brings no cookie gets the process with the fewest open tabs; requests to the APIs take turns. A
process that ends is started again; its tabs go to another meanwhile, as with several desks (reconnect.js).
"""

import asyncio
import itertools
import logging
import os
import re
import signal
import socket
import struct
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NoReturn

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lib.serving.front import server
from lib.serving.front.request_pace import AGENTS, APIS
from lib.wire.network import Network

log = logging.getLogger(__name__)
COOKIE = "tranche_process"
PROCESS = "_TRANCHE_CHILD"
"""The environment variable in which a process gets what `Process` says, separated by spaces."""
NAMED = re.compile(rb"(?i)\r\ncookie:(?:[^\r\n]*;)? *" + COOKIE.encode() + rb"=(\d+)")
API_PATHS = *APIS, "/oauth2/", AGENTS
TO_API = re.compile(rb"[A-Z]+ (?:%s)" % "|".join(API_PATHS).encode())
REPORT = struct.Struct("!IQ")  # what a process says through its channel: open tabs, connections taken so far
CONNECTION = b"+"  # what goes with the descriptor of a connection
HEAD_BYTES = 32_768
FIRST_LOOK_SECONDS, LONGEST_LOOK_SECONDS = 0.001, 0.25
SECONDS_WITHOUT_PROCESS = 10.0
SECONDS_TO_STOP = server.SECONDS_TO_FINISH + 10
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, WELL_SECONDS = 0.5, 30.0, 60.0
TEMPORARY_REDIRECT = 307


@dataclass(frozen=True)
class Process:
    """This process: its number (from 1) of how many, its channel to the parent, the address of all."""

    number: int
    count: int
    address: str
    channel: socket.socket

    def run(self, app: ASGIApp, network: Network) -> None:
        """Serve `app` on the connections that the parent sends, until SIGTERM or the parent's end."""
        server.few_arenas()
        _Worker(self, app, network).run([])


def is_child() -> bool:
    """Whether a parent has started this process, and `current` has not been asked yet."""
    return PROCESS in os.environ


def current() -> Process | None:
    """What the parent made of this process; None if it has no parent."""
    if not (description := os.environ.pop(PROCESS, "")):  # taken: not for what this process starts
        return None
    number, count, descriptor, address = description.split()
    channel = socket.socket(fileno=int(descriptor))
    channel.setblocking(False)
    channel.set_inheritable(False)
    return Process(int(number), int(count), address, channel)


class _Worker(server.Server):
    """Serves connections that were accepted elsewhere."""

    def __init__(self, process: Process, app: ASGIApp, network: Network) -> None:
        super().__init__(server.configuration(_Tabs(app, self._count_tabs), network), self._report)
        self._process, self._closes = process, bool(network.trusted_proxies)
        self._tabs, self._taken, self._connecting = 0, 0, set[asyncio.Task[object]]()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Take connections once all is loaded."""
        await super().startup(sockets)
        asyncio.get_running_loop().add_reader(self._process.channel, self._take)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no further connection."""
        asyncio.get_running_loop().remove_reader(self._process.channel)
        await super().shutdown(sockets)

    def _take(self) -> None:
        try:
            message, descriptors, _, _ = socket.recv_fds(self._process.channel, len(CONNECTION), 1)
        except BlockingIOError:
            return
        except OSError:
            message, descriptors = b"", []
        if not message:
            log.info("Stopping, since the process that accepts connections has gone")
            asyncio.get_running_loop().remove_reader(self._process.channel)
            self.should_exit = True
        for descriptor in descriptors:
            self._taken += 1
            self._report()
            task = asyncio.create_task(self._connect(socket.socket(fileno=descriptor)))
            self._connecting.add(task)
            task.add_done_callback(self._connecting.discard)

    async def _connect(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        make: Callable[..., Any] = self.config.http_protocol_class
        protocol = make(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)
        protocol.app = _Connection(protocol.app, self._process.number, closes=self._closes)
        with suppress(OSError):  # the client left
            await asyncio.get_running_loop().connect_accepted_socket(lambda: protocol, connection)

    def _report(self) -> None:
        with suppress(OSError):  # a parent that has gone, or is behind: the next count counts
            self._process.channel.send(REPORT.pack(self._tabs, self._taken))

    def _count_tabs(self, change: int) -> None:
        self._tabs += change
        self._report()


class _Tabs:
    """ASGI middleware: counts the open WebSockets, one for each tab."""

    def __init__(self, app: ASGIApp, count_tabs: Callable[[int], None]) -> None:
        self._app, self._count_tabs = app, count_tabs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            return await self._app(scope, receive, send)
        self._count_tabs(1)
        try:
            await self._app(scope, receive, send)
        finally:
            self._count_tabs(-1)
        return None


class _Connection:
    """ASGI middleware of one connection: its requests belong to the process that their cookie names.

    The parent chose by the first request. Where a later one names another process (a browser that opened two
    tabs before it had a cookie), the browser asks again on a new connection. A connection of a proxy carries
    requests of many browsers: there each carries one request (`closes`).
    """

    def __init__(self, app: ASGIApp, number: int, *, closes: bool) -> None:
        self._app, self._number, self._closes, self._is_first = app, str(number), closes, True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_first, self._is_first = self._is_first, False
        headers = Headers(scope=scope)
        number = cookie_parser("; ".join(headers.getlist("cookie"))).get(COOKIE)
        if number == self._number or scope["path"].startswith(API_PATHS):
            cookie = ""
        elif number is None or is_first:
            safe = "; Secure" if scope["scheme"] == "https" else ""
            cookie = f"{COOKIE}={self._number}; Path=/; HttpOnly; SameSite=Lax{safe}"
        else:
            await _ask_again(scope)(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                response_headers = MutableHeaders(scope=message)
                if cookie:
                    response_headers.append("Set-Cookie", cookie)
                if self._closes:
                    response_headers["Connection"] = "close"
            await send(message)

        await self._app(scope, receive, send_with_headers if cookie or self._closes else send)


def _ask_again(scope: Scope) -> RedirectResponse:
    """The same request once more, on another connection. A path never becomes the name of a host (`//`)."""
    path, query = scope["raw_path"].decode("latin-1"), scope["query_string"].decode("latin-1")
    address = "/" + path.lstrip("/") + (f"?{query}" if query else "")
    return RedirectResponse(address, TEMPORARY_REDIRECT, {"Connection": "close"})


def run_several(count: int, network: Network, ready: Callable[[str], None]) -> NoReturn:
    """Serve by so many processes, each with the command of this one, until SIGTERM or SIGINT; then exit.

    `ready` is called with the address once all answer. Misconfigured when host and port can't be listened on.
    The exit status is that of a process that could not start, if one could not.
    """
    with server.listening(network.host, network.port) as listener:
        address = server.address(network.host, listener)
        children = [_Child(number, f"{number} {count} {{}} {address}") for number in range(1, count + 1)]
        parent = _Parent(children, listener, network.request_seconds)
        sys.exit(asyncio.run(parent.run(lambda: ready(address))))


@dataclass(eq=False)
class _Child:
    """A process that serves, while it runs; `tabs` is None until it is ready.

    `description` is what it gets as `Process`, but for the descriptor of its channel.
    """

    number: int
    description: str
    channel: socket.socket | None = None
    process: asyncio.subprocess.Process | None = None
    tabs: int | None = None
    turn: int = 0
    given: deque[socket.socket] = field(default_factory=deque)  # not yet taken: kept for another process
    taken: int = 0
    was_ready: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> int:
        """Start it, and wait until it ends: its exit status."""
        loop = asyncio.get_running_loop()
        self.channel, theirs = socket.socketpair()
        self.channel.setblocking(False)
        with self.channel, theirs:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable,
                *sys.orig_argv[1:],
                env={**os.environ, PROCESS: self.description.format(theirs.fileno())},
                pass_fds=[theirs.fileno()],
                process_group=0,  # Ctrl+C reaches the parent alone, which stops all in order
            )
            # with a second holder of that end, the channel would not end with the process
            theirs.close()
            log.info("Process %d is %d for the system", self.number, self.process.pid)
            loop.add_reader(self.channel, self._hear)
            try:
                return await self.process.wait()
            finally:
                loop.remove_reader(self.channel)
                self.tabs, self.taken = None, 0

    def _hear(self) -> None:
        try:
            report = self.channel.recv(REPORT.size * 4096) if self.channel else b""
        except OSError:
            report = b""
        if report:
            before = self.taken
            self.tabs, self.taken = REPORT.unpack(report[-REPORT.size :])
            for _ in range(self.taken - before):
                self.given.popleft().close()
            self.was_ready.set()
        elif self.channel:
            asyncio.get_running_loop().remove_reader(self.channel)
            self.tabs = None

    def take(self, connection: socket.socket) -> bool:
        """Hand a connection to it; whether that went well."""
        try:
            socket.send_fds(self.channel, [CONNECTION], [connection.fileno()])  # type: ignore[arg-type]
        except OSError:  # it has ended, or is so busy that its channel is full
            return False
        self.given.append(connection.dup())
        return True

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.send_signal(number)


class _Parent:
    """Accepts connections, and keeps the processes running that serve them."""

    def __init__(self, children: list[_Child], listener: socket.socket, request_seconds: float) -> None:
        self._children, self._listener, self._seconds = children, listener, request_seconds
        self._turns, self._status = itertools.count(1), 0
        self._handing = set[asyncio.Task[None]]()
        self._stopping = asyncio.Event()

    async def run(self, ready: Callable[[], None]) -> int:
        """Serve until a signal; the exit status."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop, number)
        keeping = [asyncio.create_task(self._keep(child)) for child in self._children]
        serving = asyncio.create_task(self._serve(ready))
        await self._stopping.wait()
        serving.cancel()
        self._listener.close()
        for child in self._children:
            child.send_signal(signal.SIGTERM)
        _, late = await asyncio.wait(keeping, timeout=SECONDS_TO_STOP)
        if late:
            self._kill()
            await asyncio.wait(late)
        return self._status

    def _stop(self, number: signal.Signals) -> None:
        """Stop all in order; at a second signal at once."""
        if self._stopping.is_set():
            self._kill()
        log.info("Stopping, since the process received %s", number.name)
        self._stopping.set()

    def _kill(self) -> None:
        for child in self._children:
            child.send_signal(signal.SIGKILL)

    async def _keep(self, child: _Child) -> None:
        """Start it whenever it ends, after longer pauses if that is soon. One that never started ends all."""
        loop, pause = asyncio.get_running_loop(), FIRST_PAUSE_SECONDS
        while not self._stopping.is_set():
            began = loop.time()
            status = await child.run()
            while child.given:
                self._begin(child.given.popleft())
            if self._stopping.is_set():
                return
            if not child.was_ready.is_set():
                self._status = status or 1
                self._stopping.set()
                return
            pause = FIRST_PAUSE_SECONDS if loop.time() - began > WELL_SECONDS else pause * 2
            pause = min(pause, LONGEST_PAUSE_SECONDS)
            log.error("Process %d ended (%s); starting it again in %g s", child.number, _how(status), pause)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)

    async def _serve(self, ready: Callable[[], None]) -> None:
        for child in self._children:
            await child.was_ready.wait()
        ready()
        loop = asyncio.get_running_loop()
        self._listener.setblocking(False)
        while True:
            try:
                connection, _ = await loop.sock_accept(self._listener)
            except OSError as error:  # too many open files, or a client that left again
                log.warning("A connection could not be accepted: %s", error)
                await asyncio.sleep(LONGEST_LOOK_SECONDS)
                continue
            self._begin(connection)

    def _begin(self, connection: socket.socket) -> None:
        task = asyncio.create_task(self._hand_on(connection))
        self._handing.add(task)
        task.add_done_callback(self._handing.discard)

    async def _hand_on(self, connection: socket.socket) -> None:
        """Give a connection to the process of its first request; close it if none comes in time."""
        with connection, suppress(OSError, TimeoutError):
            connection.setblocking(False)
            async with asyncio.timeout(self._seconds):
                head = await _first_request(connection)
            async with asyncio.timeout(SECONDS_WITHOUT_PROCESS):
                while head and not any(child.take(connection) for child in self._candidates(head)):
                    await asyncio.sleep(LONGEST_LOOK_SECONDS)

    def _candidates(self, head: bytes) -> list[_Child]:
        """The processes that are ready, in the order in which they are asked to take it."""
        match = NAMED.search(head)
        number = int(match[1]) if match else 0
        to_api = TO_API.match(head) is not None

        def rank(child: _Child) -> tuple[bool, int, int]:
            return child.number != number, 0 if to_api else child.tabs or 0, child.turn

        ready = sorted((child for child in self._children if child.tabs is not None), key=rank)
        if ready and ready[0].number != number:
            ready[0].turn = next(self._turns)
            if not to_api and ready[0].tabs is not None:
                ready[0].tabs += 1  # the tab that this browser is about to open, until the process counts
        return ready


async def _first_request(connection: socket.socket) -> bytes:
    """The head of the first request, left on the socket; empty if the client leaves before.

    What is no HTTP, or too long, is for the process to refuse.
    """
    pause = FIRST_LOOK_SECONDS
    await _readable(connection)
    while True:
        head = connection.recv(HEAD_BYTES, socket.MSG_PEEK)
        if not head or b"\r\n\r\n" in head or len(head) == HEAD_BYTES or not head[:1].isalpha():
            return head
        # what was looked at stays readable: only time tells whether more has come
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_LOOK_SECONDS)


async def _readable(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(connection, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(connection)


def _how(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"exit status {status}"
