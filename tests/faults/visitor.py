"""A visitor of a desk without a browser: what a browser would send and be sent.

Over its WebSocket, and at the route of the overview once that is on the page. Thirty of them are cheap, where
thirty browsers are not.
"""

import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from http.client import HTTPConnection, HTTPException
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from lib.serving.front import overview_route

WAIT_SECONDS, LOOK_SECONDS = 60.0, 0.1
TEXTS = {"markdown": "body", "alert": "body", "heading": "body", "metric": "label", "button": "label"}


class Visitor:
    """One session. `said` are the texts that the desk has shown so far.

    `cookie` is the header of a browser in which somebody is signed in; the overview is asked with it.
    """

    def __init__(self, address: str, page: str = "", query: str = "", cookie: str = "") -> None:
        self._page, self._query, self._cookie = page, query, cookie
        self._overview: _Overview | None = None
        self.said: list[str] = []
        self._buttons: dict[str, str] = {}
        self._downloads: dict[str, str] = {}
        self._session = ""
        host = self._host = address.removeprefix("http://").rstrip("/")
        self._stack = ExitStack()
        self._socket = self._stack.enter_context(
            connect(
                f"ws://{host}/_stcore/stream",
                origin=f"http://{host}",
                max_size=None,
                max_queue=None,
                ping_interval=None,
                close_timeout=1,
            )
        )
        self._run()

    def close(self) -> None:
        """Leave."""
        self._stack.close()
        if self._overview is not None:
            self._overview.leave()

    def sees(self, *texts: str) -> bool:
        """Whether the desk shows all of these, in the end."""
        return self._until(lambda: all(any(text in said for said in self.said) for text in texts))

    def asks_for_figures(self) -> bool:
        """Whether the overview of the page is there and asks, in the end."""
        return self._until(lambda: self._overview is not None)

    def press(self, label: str) -> None:
        """Press the button of this label, once it is there."""
        self._until(lambda: label in self._buttons)
        self._run(self._buttons[label])

    def download(self) -> None:
        """Press the download button, once it is there; what comes of it is not waited for."""
        self._until(lambda: bool(self._downloads))
        message = BackMsg()
        message.backend_operation_request.request_id = "download"
        message.backend_operation_request.session_id = self._session
        message.backend_operation_request.deferred_file.file_id = next(iter(self._downloads.values()))
        self._socket.send(message.SerializeToString())

    def _run(self, pressed: str | None = None) -> None:
        message = BackMsg()
        state = message.rerun_script
        state.page_name, state.query_string = self._page, self._query
        state.context_info.url = "http://127.0.0.1/"
        if pressed is not None:
            widget = state.widget_states.widgets.add()
            widget.id, widget.trigger_value = pressed, True
        self._socket.send(message.SerializeToString())

    def _until(self, holds: Callable[[], bool]) -> bool:
        end = time.monotonic() + WAIT_SECONDS
        while not holds() and time.monotonic() < end:
            with suppress(TimeoutError):
                message = ForwardMsg()
                message.ParseFromString(self._socket.recv(timeout=LOOK_SECONDS))
                self._hear(message)
        return holds()

    def _hear(self, message: Any) -> None:
        if message.WhichOneof("type") == "new_session":
            self._session = message.new_session.initialize.session_id
        if message.WhichOneof("type") != "delta" or not message.delta.HasField("new_element"):
            return
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        shown = getattr(element, kind)
        if kind in TEXTS:
            self.said.append(str(getattr(shown, TEXTS[kind])))
        if kind == "button":
            self._buttons[shown.label] = shown.id
        if kind == "download_button":
            self._downloads[shown.label] = shown.deferred_file_id
        if kind == "bidi_component" and "params" in shown.json and self._overview is None:
            self._overview = _Overview(self._host, self._cookie, json.loads(shown.json), self.said)


class _Overview:
    """The overview of a page, which asks for its figures; their titles are `said` once they are there."""

    def __init__(self, host: str, cookie: str, question: dict[str, Any], said: list[str]) -> None:
        self._connection = HTTPConnection(host, timeout=WAIT_SECONDS)
        self._connection.connect()
        self._socket, self._said = self._connection.sock, said
        body = json.dumps({name: question[name] for name in ("project", "slicer", "params")})
        headers = {"Cookie": cookie, "Origin": f"http://{host}"}
        self._connection.request("POST", overview_route.PATH, body, headers)
        threading.Thread(target=self._read, daemon=True).start()

    def leave(self) -> None:
        """Hang up, whatever is under way."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _read(self) -> None:
        with suppress(OSError, HTTPException):
            for line in self._connection.getresponse():
                head = json.loads(line).get("head") or {}
                self._said.extend(figure["title"] for figure in head.get("figures", ()))
