"""WebSockets are for the desk's own pages: whoever opens one from elsewhere is refused."""

from collections.abc import Iterator

import pytest
from serving import serving
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from lib.serving.front.hosts import SameOrigin

PROXIED = "https://desk.example"


async def _tell(socket: WebSocket) -> None:
    """Say which origin arrived."""
    await socket.accept()
    await socket.send_text(socket.headers.get("origin", "none"))
    await socket.close()


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    """Host and port of a served application behind the middleware, which has one name more."""
    app = SameOrigin(Starlette(routes=[WebSocketRoute("/", _tell)]), (PROXIED,))
    with serving(app, ws="websockets-sansio") as address:
        yield address.removeprefix("http://")


def told(host: str, origin: str | None) -> str:
    """What a page of this origin hears."""
    with connect(f"ws://{host}/", origin=origin, proxy=None) as socket:
        return str(socket.recv())


def test_own_pages(host: str) -> None:
    """A page of the host that is asked gets its WebSocket."""
    assert told(host, f"http://{host}") == f"http://{host}"


def test_programs(host: str) -> None:
    """A program, which says no origin, gets one too: it needs a sign-in as everybody does."""
    assert told(host, None) == "none"


@pytest.mark.parametrize(
    "origin",
    [
        "https://elsewhere.example",
        "http://localhost:1",
        "http://127.0.0.1",
        "null",
        PROXIED + ":8",
        "http://desk.example",
        "https://HOST",
        "x://HOST",
        "HOST",
    ],
)
def test_pages_of_other_origins(host: str, origin: str) -> None:
    """A page of another scheme, host or port is refused before anything is asked, on this machine too."""
    with pytest.raises(InvalidStatus, match="403"):
        told(host, origin.replace("HOST", host))


def test_names_before_a_proxy(host: str) -> None:
    """A name that the settings give counts as the host itself."""
    assert told(host, PROXIED) == f"ws://{host}"
