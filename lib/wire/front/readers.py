"""Slow readers of responses: they are waited for, unless they stop reading."""

import asyncio
import logging
import socket
import struct

AT_ONCE = struct.pack("ii", 1, 0)  # what the kernel still has is dropped, and the peer told (RST)
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
        """The connection is gone."""
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
