"""The server that runs the desk and the APIs: where it listens, and what it says."""

import asyncio
import datetime as dt
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from conftest import copied, desk_over, running, started
from serving import free_port

from lib.serving import connect
from lib.serving.front import server
from lib.settings import Settings
from lib.wire.errors import Misconfigured

SERVE = [sys.executable, "-c", "from lib.cli import main; main()", "serve"]
Token = Callable[[str], str]


def test_a_free_port() -> None:
    """Port 0 is any free one."""
    with server.listening("127.0.0.1", 0) as listener:
        host, port = listener.getsockname()
    assert (host, port > 0) == ("127.0.0.1", True)


def test_answers_are_not_held_back() -> None:
    """Connections send at once (TCP_NODELAY), rather than wait for what may follow."""

    async def option() -> int:
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = writer.get_extra_info("socket")
            future.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with server.listening("127.0.0.1", 0) as listener:
            async with await asyncio.start_server(connected, sock=listener):
                _, writer = await asyncio.open_connection(*listener.getsockname())
                value = await future
                writer.close()
                return value

    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, option()).result() != 0


def test_streamlit_run_starts_the_desk(home: Path) -> None:
    """`streamlit run app.py` starts the same server, with the checks of requests and the APIs."""
    port, address = str(free_port()), "http://127.0.0.1:"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(free_port())]
    with (
        running(command, copied(home, home.parent / "streamlit"), TRANCHE_PORT=port),
        httpx.Client(transport=httpx.HTTPTransport(retries=8), base_url=address + port) as client,
    ):
        assert client.get("/healthz", timeout=60).status_code == 200
        assert client.get("/", headers={"Host": "elsewhere.example"}).status_code == 421


def test_a_port_in_use() -> None:
    """A port that is taken is told by its number, and what to do."""
    with server.listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Misconfigured, match=rf"Port {port} of 127.0.0.1 is in use: .*TRANCHE_PORT"):
            server.listening("127.0.0.1", port)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "203.0.113.7"])
def test_an_address_that_is_not_ours(host: str) -> None:
    """An address that this machine does not have is told by its name."""
    with pytest.raises(Misconfigured, match=f"Can't listen on port 0 of {host}"):
        server.listening(host, 0)


def test_serve_answers_the_apis(home: Path, token: Token) -> None:
    """`tranche serve` answers the APIs and their documentation, and nothing of the desk."""
    with started([*SERVE, "--port", "0"], home) as address, httpx.Client(base_url=address) as http:
        ask = {"token": token("viewer"), "project_name": "demo", "slicer_name": "delivery"}
        assert http.post("/API/v2/info", json=ask).json()["status"] == "success"
        assert http.get("/docs").status_code == 200
        assert http.get("/").status_code == 404


def test_serve_keeps_the_demo_at_home(home: Path) -> None:
    """In demo mode, with its known password, it refuses to listen to other machines."""
    with pytest.raises(AssertionError, match="demo mode"), started([*SERVE, "--host", "::"], home):
        pass


def test_the_desk_and_the_apis_on_one_port(own_home: Path) -> None:
    """app.py answers the desk and the APIs on one port, and says where."""
    port = free_port()
    access = connect.installation(Settings(home=own_home, demo=True)).access
    token = access.issue("viewer", "reporting", "test", dt.timedelta(hours=1))
    with desk_over(own_home, TRANCHE_PORT=str(port)) as (address, _):
        assert address == f"http://127.0.0.1:{port}"
        ask = {"token": token, "project_name": "demo", "slicer_name": "delivery"}
        assert httpx.post(f"{address}/API/v2/info", json=ask).json()["status"] == "success"
        assert httpx.post(f"{address}/API/v2/nothing").json()["status"] == "bad_request"
        assert httpx.post(f"{address}/oauth2/token/").status_code == 400
        assert "streamlit" in httpx.get(f"{address}/audience").text.lower()


def test_every_transport_says_the_same(http: httpx.Client, embedded: httpx.Client, token: Token) -> None:
    """Embedded, over a socket and from another process, the same question has the same answer."""
    ask = {
        "token": token("viewer"),
        "project_name": "demo",
        "slicer_name": "delivery",
        "start_date": (dt.datetime.now(dt.UTC).date() - dt.timedelta(days=7)).isoformat(),
        "end_date": "yesterday",
        "split_by": ["geo.country"],
    }
    answer = http.post("/API/v2/audience", json=ask)
    assert answer.json() == embedded.post("/API/v2/audience", json=ask).json()
    assert len(answer.json()["rows"]) == 5
