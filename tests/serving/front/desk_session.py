"""Sessions of the desk as Streamlit's own page opens them, by the protocol of its WebSocket alone."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

SECONDS = 60
EARLY = ForwardMsg.FINISHED_EARLY_FOR_RERUN


def opened(address: str, **options: Any) -> ClientConnection:
    """A WebSocket of the desk at this address, with a handshake as a browser sends it."""
    usual = {"subprotocols": ["streamlit"], "origin": address, "proxy": None, "max_size": None}
    stream = address.replace("http://", "ws://") + "/_stcore/stream"
    return connect(stream, **(usual | {"open_timeout": SECONDS} | options))


def message(kind: str) -> bytes:
    """A message of that kind, with as much in it as it must have."""
    back_msg = BackMsg()
    field = getattr(back_msg, kind)
    if isinstance(field, bool):
        setattr(back_msg, kind, True)
    else:
        field.SetInParent()
    return back_msg.SerializeToString()


def rerun(query: str = "", widgets: dict[str, dict[str, Any]] | None = None, **state: Any) -> bytes:
    """A rerun with these values of widgets: by their identifiers, `{"string_value": "x"}` and the like."""
    back_msg = BackMsg()
    back_msg.rerun_script.query_string = query
    for name, value in state.items():
        setattr(back_msg.rerun_script, name, value)
    for identifier, values in (widgets or {}).items():
        back_msg.rerun_script.widget_states.widgets.add(id=identifier, **values)
    return back_msg.SerializeToString()


def answer(socket: ClientConnection) -> list[ForwardMsg]:
    """All messages until the run of the script is over."""
    messages = []
    while True:
        messages.append(ForwardMsg.FromString(socket.recv(SECONDS)))
        last = messages[-1]
        if last.WhichOneof("type") == "script_finished" and last.script_finished != EARLY:
            return messages


def widgets(messages: list[ForwardMsg]) -> dict[str, str]:
    """The identifiers of buttons, choices and text inputs that were drawn, by key; without one, by label."""
    widget_ids = {}
    for forward in messages:
        element = forward.delta.new_element
        kind = element.WhichOneof("type")
        if kind in ("button", "button_group", "multiselect", "text_input"):
            widget = getattr(element, kind)
            key = widget.id.split("-", 2)[2]
            widget_ids[widget.label.strip() if key == "None" else key] = widget.id
    return widget_ids


def texts(messages: list[ForwardMsg]) -> str:
    """The messages as text, to look for words in."""
    return "\n".join(str(forward) for forward in messages)


def sign_in(socket: ClientConnection, name: str = "manager") -> list[ForwardMsg]:
    """Sign in as that person of the demo, by a click; returns what the click is answered with."""
    socket.send(rerun())
    button = widgets(answer(socket))[f"demo_{name}"]
    socket.send(rerun(widgets={button: {"trigger_value": True}}))
    return answer(socket)


@contextmanager
def anonymous(address: str) -> Iterator[tuple[str, str]]:
    """The session's identifier, and the token that Streamlit wants back in X-Xsrftoken and its cookie."""
    page = httpx.get(f"{address}/_stcore/health")
    token = page.cookies.get("_streamlit_xsrf", "")
    with opened(address) as socket:
        socket.send(rerun())
        while True:
            received = ForwardMsg.FromString(socket.recv(SECONDS))
            if received.WhichOneof("type") == "new_session":
                yield received.new_session.initialize.session_id, re.sub(r"^\"|\"$", "", token)
                return
