"""A session of the desk as Streamlit's own page opens one: without signing in."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

SECONDS = 60


@contextmanager
def anonymous(address: str) -> Iterator[tuple[str, str]]:
    """The session's identifier, and the token that Streamlit wants back in X-Xsrftoken and its cookie."""
    page = httpx.get(f"{address}/_stcore/health")
    token = page.cookies.get("_streamlit_xsrf", "")
    stream = address.replace("http://", "ws://") + "/_stcore/stream"
    with connect(stream, subprotocols=["streamlit"], origin=address, proxy=None, max_size=None) as socket:
        start = BackMsg()
        start.rerun_script.query_string = ""
        socket.send(start.SerializeToString())
        while True:
            message = ForwardMsg.FromString(socket.recv(SECONDS))
            if message.WhichOneof("type") == "new_session":
                yield message.new_session.initialize.session_id, re.sub(r"^\"|\"$", "", token)
                return
