"""Time limits for incoming requests: a half-sent request does not hold its connection for ever."""

import asyncio
import logging
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from lib.wire.front.readers import SlowReader

LATE = h11.Response(status_code=408, headers=[("Connection", "close"), ("Content-Length", "0")])
_log = logging.getLogger(__name__)


class Punctual(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, but a request's header, and then its body, must arrive within `seconds`.

    Otherwise the answer is 408 (RFC 9110, 15.5.9), where none was begun, and the connection is closed.
    Uvicorn itself limits only the pause after an answer. A reader who takes nothing of an answer for
    `reader_seconds` loses the connection (readers.py).
    """

    def __init__(self, *, seconds: float, reader_seconds: float, **parts: Any) -> None:
        super().__init__(**parts)
        self._seconds, self._reader_seconds = seconds, reader_seconds
        self._timer: asyncio.TimerHandle | None = None
        self._awaited: object = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start waiting for the first request."""
        super().connection_made(transport)
        self._reader = SlowReader(
            transport, self._reader_seconds, self.client[0] if self.client else "Somebody"
        )
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
        """Stop waiting."""
        self._await(None)
        self._reader.leave()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Start the clock for a header (state IDLE) or a body (SEND_BODY); stop it when all has arrived."""
        is_socket = self.transport.get_protocol() is not self
        state = self.conn.their_state
        self._await(None if is_socket or state not in (h11.IDLE, h11.SEND_BODY) else (state, self.cycle))

    def _await(self, awaited: object) -> None:
        if awaited == self._awaited:
            return
        self._awaited = awaited
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if awaited is not None:
            self._timer = self.loop.call_later(self._seconds, self._late)

    def _has_begun(self) -> bool:
        """Whether part of a request has arrived; an idle connection gets no response."""
        return self.conn.their_state is h11.SEND_BODY or bool(self.conn.trailing_data[0])

    def _late(self) -> None:
        if self.transport.is_closing():
            return
        who = self.client[0] if self.client else "somebody"
        _log.info("A request from %s did not arrive within %g seconds", who, self._seconds)
        if self._has_begun() and self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write((self.conn.send(LATE) or b"") + (self.conn.send(h11.EndOfMessage()) or b""))
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()
