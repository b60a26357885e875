"""Limits for what arrives: a half-sent request or message does not hold its connection or memory for ever."""

import asyncio
import logging
import socket
import struct
from contextlib import suppress
from typing import Any

import h11
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Request

from lib.serving.front.socket_messages import VISITOR_BYTES
from lib.serving.front.socket_pace import Pace, Rate
from lib.wire.errors import BadRequest
from lib.wire.problems import problem

AT_ONCE = struct.pack("ii", 1, 0)  # what the kernel still has is dropped, and the peer told (RST)
RESIZE = "tranche.resize"
"""The extension of a WebSocket's scope: a function that sets the size of its largest message, in bytes."""
POLICY_VIOLATION = 1008
MOST_PIECES = 1024
PINGS = Rate(20, 1.0)
TWO_LENGTHS = "Content-Length and Transfer-Encoding exclude one another (RFC 9112, 6.3)"
NO_HANDSHAKE = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
LATE = h11.Response(status_code=408, headers=[("Connection", "close"), ("Content-Length", "0")])
_log = logging.getLogger(__name__)


class SlowReader:
    """The reader of a connection. It is disconnected if it takes no byte for `seconds`.

    An ordinary close would wait for what is still to be sent: it is broken off, so that the reader sees an
    error instead of a file that only looks whole.
    """

    def __init__(self, transport: asyncio.Transport, seconds: float, who: str) -> None:
        self._transport, self._seconds, self._who = transport, seconds, who
        self._timer: asyncio.TimerHandle | None = None

    def watch(self) -> None:
        """Check from now on that the send buffer shrinks, until it is empty."""
        waiting = self._transport.get_write_buffer_size()
        if waiting and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._seconds, self._look, waiting)

    def leave(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look(self, before: int) -> None:
        self._timer = None
        if self._transport.get_write_buffer_size() < before:
            self.watch()
            return
        _log.info("%s took nothing of an answer for %g seconds", self._who, self._seconds)
        self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        self._transport.abort()


class WholeRequests:
    """ASGI middleware: a request whose length is stated in two ways is refused (RFC 9112, 6.3): a proxy may
    take another part of it for the next request. One whose caller left before it was whole gets no answer.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan" and {"content-length", "transfer-encoding"} <= {*Headers(scope=scope)}:
            answer = problem(scope["path"], BadRequest(TWO_LENGTHS))
            answer.headers["Connection"] = "close"
            await answer(scope, receive, send)
            return
        with suppress(ClientDisconnect):
            await self._app(scope, receive, send)


class RequestTimeout(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, but a request's header, and then its body, must arrive within `seconds`.

    Otherwise the answer is 408 (RFC 9110, 15.5.9), where none was begun, and the connection is closed.
    The pause after an answer is limited by uvicorn (`timeout_keep_alive`). A reader who takes nothing of an
    answer for `reader_seconds` loses the connection (SlowReader).
    """

    def __init__(self, *, seconds: float, reader_seconds: float, **parts: Any) -> None:
        super().__init__(**parts)
        self._seconds, self._reader_seconds = seconds, reader_seconds
        self._timer: asyncio.TimerHandle | None = None
        self._awaited: object = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start waiting for the first request."""
        super().connection_made(transport)
        self._reader = SlowReader(transport, self._reader_seconds, _who(self.client))
        self._look()

    def data_received(self, data: bytes) -> None:
        """Data arrived, perhaps the rest of the request."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Start waiting for the next request."""
        self._reader.watch()
        super().on_response_complete()
        self._look()

    def pause_writing(self) -> None:
        """The reader is slower than the response."""
        super().pause_writing()
        self._reader.watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._await(None)
        self._reader.leave()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Start the clock for a first header, one that has begun, or a body; stop it when all has arrived."""
        is_socket = self.transport.get_protocol() is not self
        state = self.conn.their_state
        is_due = self._has_begun() or (state is h11.IDLE and self.cycle is None)
        self._await((state, self.cycle) if is_due and not is_socket else None)

    def _await(self, target: object) -> None:
        if target == self._awaited:
            return
        self._awaited = target
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if target is not None:
            self._timer = self.loop.call_later(self._seconds, self._late)

    def _has_begun(self) -> bool:
        """Whether part of a request has arrived; an idle connection gets no response."""
        return self.conn.their_state is h11.SEND_BODY or bool(self.conn.trailing_data[0])

    def _late(self) -> None:
        if self.transport.is_closing():
            return
        _log.info("A request from %s did not arrive within %g seconds", _who(self.client), self._seconds)
        if self._has_begun() and self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write((self.conn.send(LATE) or b"") + (self.conn.send(h11.EndOfMessage()) or b""))
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()


class BoundedSocket(WebSocketsSansIOProtocol):
    """A WebSocket as uvicorn speaks it, whose messages arrive within `seconds`, each at most of a size.

    The size is that of a visitor's message, until the application sets another by the extension `RESIZE`.
    Text is refused, since the desk's messages are bytes. What costs work without being a message is bounded
    too: pings, whose pongs nobody may read, and the number of pieces of a message, which may be empty.
    """

    def __init__(self, *, seconds: float, **parts: Any) -> None:
        super().__init__(**parts)
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None
        self._pings = Pace(PINGS)
        self._resize(VISITOR_BYTES)

    def handle_connect(self, event: Request) -> None:
        """Offer the extension to the application."""
        super().handle_connect(event)
        if not self.close_sent:
            extensions: dict[str, Any] = {**(self.scope["extensions"] or {}), RESIZE: self._resize}
            self.scope["extensions"] = extensions

    def handle_text(self, event: Frame) -> None:
        """Close the socket: the bytes need not even be text."""
        self._fail("a text message")

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) < MOST_PIECES:
            super().handle_cont(event)
        else:
            self._fail("a message in too many pieces")

    def handle_ping(self) -> None:
        if self._pings.take(self.loop.time()):
            self._fail("too many pings")
        else:
            super().handle_ping()

    async def send(self, message: Any) -> None:
        """A message of the application. ClientDisconnected once the socket is closed, by whichever side."""
        await self.writable.wait()
        if self.close_sent:
            raise ClientDisconnected  # for uvicorn it would be a fault of the application
        await super().send(message)
        if self.close_sent or self.transport.is_closing():
            self.handshake_complete = True  # refused, or not awaited any more: uvicorn would miss an answer

    def data_received(self, data: bytes) -> None:
        """Data arrived, perhaps the rest of a message."""
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            # a request that websockets does not take for a handshake: uvicorn would hold it without an answer
            self.transport.write(NO_HANDSHAKE)
            self.transport.close()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Start the clock for a message of which only a part is there; stop it when all has arrived."""
        is_partial = bool(self.frames or self.conn.reader.buffer)
        if is_partial and self._timer is None:
            self._timer = self.loop.call_later(self._seconds, self._late)
        elif not is_partial and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        if self.read_paused:  # it is we who don't read on
            self._watch()
            return
        _log.info("A message from %s did not arrive within %g seconds", _who(self.client), self._seconds)
        self.transport.abort()

    def _fail(self, reason: str) -> None:
        if not self.close_sent:
            self.conn.fail(POLICY_VIOLATION, reason)
            self.handle_parser_exception()

    def _resize(self, size: int) -> None:
        self.conn.max_message_size = size


def _who(client: tuple[str, int] | None) -> str:
    return client[0] if client else "somebody"
