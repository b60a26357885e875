"""The desk's WebSocket: what it receives is checked and paced before Streamlit sees it.

Streamlit keeps a session for each WebSocket and runs the script for each message, for whoever connects. So
here a handshake is answered without Streamlit, which gets to know of a socket with its first message, when
the turn of its run has come. People who are signed in have limits that they don't notice; a visitor may do
what the sign-in page does. A tab that comes from a desk that ended, or after a long sleep, names a session
that nobody has: its socket is closed with `UNKNOWN_SESSION`, and the page loads itself again (reconnect.js).
"""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lib.serving.front import socket_messages
from lib.serving.front import streamlit_parts as parts
from lib.serving.front.hosts import refuse_socket
from lib.serving.front.request_timeout import POLICY_VIOLATION, RESIZE
from lib.serving.front.socket_pace import (
    PERSON_MESSAGES,
    PERSON_MESSAGES_PER_ADDRESS,
    VISITOR_MESSAGES,
    VISITOR_MESSAGES_PER_ADDRESS,
    Limiter,
    RunQueue,
)
from lib.serving.front.streamlit_parts import CALLBACK, LOGIN, LOGOUT, SOCKET
from lib.wire.network import client_network

PRIVATE = (parts.CORE, parts.FRAMES, parts.APP_FILES)
OPEN = (parts.HEALTH, parts.HOST_CONFIG, parts.COMPONENTS)
METHODS = ("GET", "HEAD")
CLOSE = {"Connection": "close"}
COMPANY = (LOGIN, CALLBACK, LOGOUT)
TRY_LATER, NO_CODE, UNKNOWN_SESSION = 1013, 1005, 4404
RETRY_SECONDS = 30
MOST_WAITING, LONGEST_WAIT = 16, 2.0
SIGN_IN_THREADS = 4
REPEAT_SECONDS, OLD_SECONDS = 20.0, 1.0  # of counts that desks exchange; each counts for a minute
PROTOCOLS = "sec-websocket-protocol"
FULL = {
    429: "Too many pages without a sign-in are open at this address; close some of them",
    503: "Too many pages without a sign-in are open; try again later",
}
Hold = Callable[[Counter[str]], Counter[str] | None]
log = logging.getLogger(__name__)


class DeskRoutes:
    """ASGI middleware: allows GET and HEAD, and the one WebSocket of the desk; refuses everything else.

    No screen uploads a file over HTTP (a CSV of deals is read in the browser, and sent as a short text over
    the WebSocket), and Streamlit would keep what anybody sends to `/_stcore/upload_file/` in memory. So a
    request with another method is answered before any of its body is read, and its connection is closed.
    Routes of Streamlit that no screen needs (its metrics, its API for programs, files of an app and of
    components in frames) are not there; those of a company sign-in are there if the desk has one. Those that
    are open without a sign-in have no data: Streamlit's client, its components, and whether it is well.
    """

    def __init__(self, app: ASGIApp, has_company: bool = False) -> None:
        self._app, self._has_company = app, has_company

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind, path = scope["type"], scope.get("path", "")
        is_closed = path.startswith(PRIVATE) and not path.startswith(OPEN)
        if kind == "websocket" and path != SOCKET:
            await refuse_socket(receive, send)
        elif kind == "http" and scope["method"] not in METHODS:
            headers = {"Allow": ", ".join(METHODS), **CLOSE}
            refusal = PlainTextResponse("Uploads and forms are not accepted", 405, headers)
            await refusal(scope, receive, send)
        elif kind == "http" and (is_closed or (path in COMPANY and not self._has_company)):
            await PlainTextResponse("There is nothing here", 404, CLOSE)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


class DeskSocket:
    """ASGI middleware around the desk's WebSocket; HTTP passes.

    `has_session` says, from the handshake's `Cookie` header, whether it belongs to somebody signed in; it may
    read a database. `visitors` is how many sockets may be open without a sign-in. `is_known` says of a
    session of Streamlit's, by its identifier, whether a tab can go on with it. `hold` tells other desks how
    many are open here without a sign-in, by address, and returns theirs, None where the database does not
    answer.
    """

    def __init__(
        self,
        app: ASGIApp,
        protocol: socket_messages.Protocol,
        has_session: Callable[[str], bool],
        visitors: int,
        is_known: Callable[[str], bool] = lambda session: True,
        hold: Hold | None = None,
    ) -> None:
        self._app, self._protocol, self._has_session = app, protocol, has_session
        self._is_known, self._hold = is_known, hold
        self._exchanging: asyncio.Task[None] | None = None
        self._repeating: asyncio.TimerHandle | None = None
        self._last_exchange = float("-inf")
        self._threads = ThreadPoolExecutor(SIGN_IN_THREADS, "sign-in")
        self._open, self.runs = socket_messages.OpenSockets(visitors), RunQueue()
        self._visitor_limiter = Limiter(VISITOR_MESSAGES, VISITOR_MESSAGES_PER_ADDRESS)
        self._person_limiter = Limiter(PERSON_MESSAGES, PERSON_MESSAGES_PER_ADDRESS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        await receive()  # websocket.connect
        cookie, is_signed_in = Headers(scope=scope).get("cookie", ""), False
        if cookie:
            loop = asyncio.get_running_loop()
            is_signed_in = await loop.run_in_executor(self._threads, self._has_session, cookie)
        connection = _Connection(self, scope, receive, send, is_signed_in=is_signed_in)
        if status := await self._add(connection.socket):
            log.info("A WebSocket from %s was refused: %s", connection.socket.address, FULL[status])
            answer = PlainTextResponse(FULL[status], status, {"Retry-After": str(RETRY_SECONDS)})
            await answer(scope, receive, send)
            return
        try:
            if is_signed_in and not all(map(self._is_known, scope["subprotocols"][2:3])):
                await connection.refuse(UNKNOWN_SESSION, "this desk does not know the tab's session")
                return
            # The handshake with the socket's own header, and without a session to resume if nobody is
            # signed in. Streamlit resumes a session for anyone who sends its identifier.
            headers = MutableHeaders(
                raw=[header for header in scope["headers"] if header[0] != socket_messages.HEADER.encode()]
            )
            headers.append(socket_messages.HEADER, connection.socket.id)
            if not connection.socket.is_signed_in and PROTOCOLS in headers:
                headers[PROTOCOLS] = ",".join(headers[PROTOCOLS].split(",")[:2])
            await connection.serve(self._app, {**scope, "headers": headers.raw})
        finally:
            self._open.remove(connection.socket)
            self.runs.leave(connection.socket)
            if self._hold and self._open.is_due:
                self._repeat(self._hold)

    async def _add(self, socket: socket_messages.OpenSocket) -> int:
        """As `OpenSockets.add`, of what is open at all desks."""
        while self._hold and not socket.is_signed_in and self._open.is_due:
            await self._exchange(self._hold)
        status = self._open.add(socket)
        is_old = asyncio.get_running_loop().time() - self._last_exchange > OLD_SECONDS
        if status and self._hold and self._open.others and is_old:  # some may be closed there by now
            await self._exchange(self._hold)
            status = self._open.add(socket)
        return status

    async def _exchange(self, hold: Hold) -> None:
        """Tell other desks what is open here, and learn what is there; again before that is forgotten."""
        if self._exchanging is None:
            self._exchanging = asyncio.create_task(self._exchange_once(hold))
        await asyncio.shield(self._exchanging)

    async def _exchange_once(self, hold: Hold) -> None:
        loop, visitors = asyncio.get_running_loop(), self._open.visitors
        try:
            others = await loop.run_in_executor(self._threads, hold, visitors)
            self._open.exchange(visitors, others or Counter())
        finally:
            self._last_exchange, self._exchanging = loop.time(), None
        if self._repeating is not None:
            self._repeating.cancel()
        if visitors:
            self._repeating = loop.call_later(REPEAT_SECONDS, self._repeat, hold)

    def _repeat(self, hold: Hold) -> None:
        self._exchanging = self._exchanging or asyncio.create_task(self._exchange_once(hold))

    def messages(self) -> socket_messages.Messages:
        return socket_messages.Messages(self._protocol)

    async def pace(self, socket: socket_messages.OpenSocket) -> None:
        """Wait until the next message of this socket may pass; PolicyViolation if that is too long."""
        limiter = self._person_limiter if socket.is_signed_in else self._visitor_limiter
        now = asyncio.get_running_loop().time()
        if limiter.wait(socket, now) > LONGEST_WAIT:
            raise socket_messages.PolicyViolation("too many messages")
        if wait := limiter.take(socket, now):
            await asyncio.sleep(wait)


class _Connection:
    """One WebSocket: a task reads it, so that a message that waits for its turn can be superseded."""

    def __init__(
        self, desk: DeskSocket, scope: Scope, receive: Receive, send: Send, *, is_signed_in: bool
    ) -> None:
        self._desk, self._receive, self._send = desk, receive, send
        self._loop = asyncio.get_running_loop()
        self._subprotocol = next(iter(scope["subprotocols"]), "") or None
        resize = (scope.get("extensions") or {}).get(RESIZE, lambda size: None)
        address = client_network(scope["client"][0] if scope["client"] else "")
        self.socket = socket_messages.OpenSocket(
            address, self._make_room, resize, self._note_sign_in, is_signed_in=is_signed_in
        )
        self._messages, self._waiting = desk.messages(), deque[Any]()
        self._arrived, self._has_room = asyncio.Event(), asyncio.Event()
        self._end: Message | None = None

    async def _accept(self) -> None:
        await self._send({"type": "websocket.accept", "subprotocol": self._subprotocol})

    async def refuse(self, code: int, reason: str) -> None:
        """Accept the handshake only to close the socket: a script can't read why a handshake failed."""
        await self._accept()
        await self.close(code, reason)

    async def serve(self, app: ASGIApp, scope: Scope) -> None:
        """Accept the handshake; Streamlit serves the socket from its first message on."""
        await self._accept()
        reading = asyncio.create_task(self._read())
        try:
            first = await self._next()
            if self._end is None:
                messages = iter(({"type": "websocket.connect"}, first))

                async def receive() -> Message:
                    return next(messages, None) or await self._next()

                await app(scope, receive, self.send)
        finally:
            reading.cancel()

    async def send(self, message: Message) -> None:
        """A message of Streamlit's to the browser. OSError once the socket is closed, as a server has it."""
        if message["type"] == "websocket.accept":
            return
        if self._end is not None:
            raise OSError("The socket is closed")
        if message["type"] == "websocket.send" and self._messages.note_output(
            message["bytes"], is_signed_in=self.socket.is_signed_in
        ):
            self._desk.runs.end(self.socket)
        await self._send(message)

    async def _next(self) -> Message:
        """The next message whose turn has come, or the end."""
        await self._arrived.wait()
        if self._end is None and self._waiting[0].WhichOneof("type") == socket_messages.RERUN:
            await self._desk.runs.begin(self.socket)
        if self._end is not None:
            return self._end
        message = self._waiting.popleft()
        self._has_room.set()
        if not self._waiting:
            self._arrived.clear()
        return {"type": "websocket.receive", "bytes": message.SerializeToString()}

    async def _read(self) -> None:
        try:
            while (message := await self._receive())["type"] != "websocket.disconnect":
                await self._desk.pace(self.socket)
                data, is_signed_in = message.get("bytes"), self.socket.is_signed_in
                passed_on = self._messages.read(data, is_signed_in=is_signed_in)
                if passed_on is not None:
                    if self._waiting and socket_messages.supersedes(self._waiting[-1], passed_on):
                        self._waiting[-1] = passed_on
                    else:
                        while len(self._waiting) >= MOST_WAITING:
                            self._has_room.clear()
                            await self._has_room.wait()
                        self._waiting.append(passed_on)
                    self._arrived.set()
        except socket_messages.PolicyViolation as refused:
            await self.close(POLICY_VIOLATION, str(refused))
        finally:
            self._over({"type": "websocket.disconnect", "code": NO_CODE})

    async def close(self, code: int, reason: str) -> None:
        """Close the socket, unless it is closed."""
        if self._end is None:
            log.info("A WebSocket from %s was closed: %s", self.socket.address, reason)
            self._over({"type": "websocket.disconnect", "code": code})
            with suppress(OSError):  # the browser was quicker
                await self._send({"type": "websocket.close", "code": code, "reason": reason})

    def _note_sign_in(self) -> None:
        self._loop.call_soon_threadsafe(self._desk.runs.note_sign_in, self.socket)

    def _make_room(self) -> None:
        self._closing = self._loop.create_task(
            self.close(TRY_LATER, "too many pages without a sign-in are open")
        )

    def _over(self, end: Message) -> None:
        if self._end is None:
            self._end = end
            self._arrived.set()
            self._desk.runs.leave(self.socket)
