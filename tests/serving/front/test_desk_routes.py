"""Streamlit's routes: those that no screen needs are closed, before anything is kept of what is sent."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from conftest import copied, desk_over
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from front.desk_session import anonymous

MEBIBYTE = 2**20
SENT_MIBS = 150
START = b'--b\r\nContent-Disposition: form-data; name="x"; filename="x"\r\n\r\n'
END = b"\r\n--b--\r\n"
Desk = tuple[str, int]


@pytest.fixture(scope="module")
def desk(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk in a process of its own: its address, and the process's number."""
    with desk_over(copied(home, tmp_path_factory.mktemp("routes") / "home")) as http:
        yield http


def _memory(process: int) -> int:
    """Bytes of the process that are in memory (proc(5))."""
    status = Path(f"/proc/{process}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def _uploaded(address: str, session: str, token: str) -> tuple[bytes, int]:
    """The first line of the answer to an upload of `SENT_MIBS`, and how many bytes of it were let in."""
    parts = urlsplit(address)
    size = len(START) + SENT_MIBS * MEBIBYTE + len(END)
    head = (
        f"PUT /_stcore/upload_file/{session}/x HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Length: {size}\r\n"
        f"X-Xsrftoken: {token}\r\nCookie: _streamlit_xsrf={token}\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\n\r\n"
    )
    sent = 0
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as connection:
        with suppress(OSError):  # the server hangs up
            connection.sendall(head.encode() + START)
            for _ in range(SENT_MIBS):
                connection.sendall(b"x" * MEBIBYTE)
                sent += MEBIBYTE
            connection.sendall(END)
        with suppress(ConnectionResetError):
            return connection.recv(1000).split(b"\r\n")[0], sent
    return b"", sent


def test_an_upload_is_refused_before_it_is_read(desk: Desk) -> None:
    """Who is not signed in, but has opened a session, can't put a file into the server's memory."""
    address, process = desk
    with anonymous(address) as (session, token):
        before = _memory(process)
        answer, sent = _uploaded(address, session, token)
        assert answer in (b"HTTP/1.1 405 Method Not Allowed", b"")
        assert sent < SENT_MIBS / 5 * MEBIBYTE
        assert _memory(process) - before < 30 * MEBIBYTE


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "OPTIONS", "PATCH"])
@pytest.mark.parametrize("path", ["/_stcore/upload_file/a/b", "/", "/audience", "/_stcore/agent/interact"])
def test_the_desk_is_only_read(desk: Desk, method: str, path: str) -> None:
    """Nothing but GET and HEAD is answered by the desk, and the connection ends with the answer."""
    answer = httpx.request(method, f"{desk[0]}{path}", content=b"x")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
    assert answer.headers["connection"] == "close"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/_stcore/metrics", 404),
        ("/_stcore/agent/openapi.json", 404),
        ("/component/extra_streamlit_components.CookieManager.cookie_manager/index.html", 404),
        ("/app/static/x", 404),
        ("/_stcore/health", 200),
        ("/_stcore/host-config", 200),
        ("/audience", 200),
    ],
)
def test_only_routes_that_screens_need_are_open(desk: Desk, path: str, code: int) -> None:
    """Metrics, the API for programs, component frames and app files are not there; what pages load is."""
    assert httpx.get(f"{desk[0]}{path}").status_code == code


def test_the_only_socket_is_that_of_the_pages(desk: Desk) -> None:
    """A WebSocket at any other path is refused."""
    with pytest.raises(InvalidStatus, match="403"):
        connect(f"{desk[0].replace('http', 'ws')}/_stcore/other", proxy=None)
