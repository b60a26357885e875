"""An httpx transport that calls an ASGI application in this process, so that clients work as over a socket.

One event loop in one daemon thread serves every in-process call of the process.
"""

import asyncio
import logging
import os
import threading
from collections.abc import Coroutine, Iterator, MutableMapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as WaitedTooLong
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

import httpx
from starlette.types import ASGIApp

from lib.wire.sockets import steps

Message = MutableMapping[str, Any]
_log = logging.getLogger(__name__)
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


class InProcess(httpx.BaseTransport):
    """Sends each request to `app` in this process.

    Behaves as a socket would: a message that takes longer than the read timeout raises
    httpx.ReadTimeout, an application that fails or stops in the middle httpx.RemoteProtocolError.
    The application's task ends when the response is closed; the details of a failure are logged.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer as soon as status and headers are there; the body streams."""
        read_timeout = request.extensions.get("timeout", {}).get("read")
        exchange = _Exchange(self._app, _scope(request), request.read(), read_timeout)
        try:
            start = exchange.next_message()
        except BaseException:
            exchange.close()
            raise
        return httpx.Response(start["status"], headers=start["headers"], stream=exchange, request=request)


class _Exchange(httpx.SyncByteStream):
    """One request on its way through the application, and the stream of its answer's body."""

    def __init__(self, app: ASGIApp, scope: Message, body: bytes, timeout: float | None) -> None:
        self._app, self._scope, self._timeout = app, scope, timeout
        self._request: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        # One message at a time: an application waits for a slow reader, as a socket would make it.
        self._answer: asyncio.Queue[Message | None] = asyncio.Queue(maxsize=1)
        self._close_event = asyncio.Event()
        self._is_sent = self._complete = False
        self._work = _submit(self._serve())

    def next_message(self) -> Message:
        """The next message of the application; raises the exceptions of httpx if none arrives."""
        waiting = _submit(self._answer.get())
        for seconds in steps(self._timeout):
            with suppress(WaitedTooLong):
                message: Message | None = waiting.result(seconds)
                break
        else:
            waiting.cancel()
            raise httpx.ReadTimeout("No answer in time")
        if message is None:
            raise httpx.RemoteProtocolError("The service ended its response early")
        return message

    def __iter__(self) -> Iterator[bytes]:
        while not self._complete:
            message = self.next_message()
            self._complete = not message.get("more_body", False)
            yield message.get("body", b"")

    def close(self) -> None:
        """Release the application: it may finish after a complete response, and is stopped otherwise."""
        _running_loop().call_soon_threadsafe(self._close_event.set)
        if not self._complete:
            self._work.cancel()

    async def _serve(self) -> None:
        try:
            await self._app(self._scope, self._receive, self._send)
        except Exception:
            _log.exception("%s %s failed", self._scope["method"], self._scope["path"])
        await self._answer.put(None)

    async def _receive(self) -> Message:
        if self._request:
            return self._request.pop()
        await self._close_event.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if self._is_sent:
            raise RuntimeError("The application sent more after the end of its answer")
        self._is_sent = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._answer.put(message)


def _scope(request: httpx.Request) -> Message:
    """The request as an ASGI connection scope (ASGI specification, HTTP, version 2.4)."""
    raw_path, _, query = request.url.raw_path.partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.url.scheme,
        "path": unquote(raw_path.decode("ascii")),
        "raw_path": raw_path,
        "root_path": "",
        "query_string": query,
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": ("in-process", 0),
        "server": (request.url.host, request.url.port),
        "extensions": {},
    }


def _submit(work: Coroutine[Any, Any, Any]) -> "Future[Any]":
    return asyncio.run_coroutine_threadsafe(work, _running_loop())


def _running_loop() -> asyncio.AbstractEventLoop:
    """The loop of all in-process calls, started with the first one."""
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            # A daemon: a process that had to join this thread would hang at its exit.
            threading.Thread(target=_loop.run_forever, name="in-process", daemon=True).start()
        return _loop


def _forget_loop() -> None:
    """A forked child has the loop but not its thread: it starts its own."""
    global _loop, _lock
    _loop, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget_loop)
