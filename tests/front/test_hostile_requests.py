"""Requests that no browser would send, byte by byte, to a whole desk: none may break it."""

import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from conftest import copied, desk_over

SECONDS = 60
DOCUMENT = "Accept: text/html,application/xhtml+xml\r\n"
LINK = "/audience?project=demo&slicer=delivery"
ADDRESSES = [
    f"{LINK}&is.geo.country={{}}",
    f"{LINK}&{{}}=1",
    "/audience?project={}&slicer={}",
    "/audience/?project=demo&slicer=delivery&{}",
    "/export?project=demo&slicer=delivery&has.geo.country={}",
    "/deals?deals_q={}&open={}",
    "/?view={}&sign_in={}",
    "/{}?{}",
    "/shared/{}?{}",
    "/shared/1.{}",
    "/mail/stop?token={}",
    "/auth/login?provider={}",
    "/oauth2callback?error={}&state={}",
    "/media/{}.csv?{}",
    "/desk.js?{}",
    "/board.js?{}",
    "/_stcore/health?{}",
    "/_stcore/bidi-components/{}",
    "/static/{}",
    "/docs/assets/{}",
    "/openapi/{}?{}",
]
TEXTS = {
    "e with an accent": "%C3%A9",
    "sharp s": "%c3%9f",
    "Hebrew": "%D7%A9%D7%9C%D7%95%D7%9D",
    "Korean": "%ED%95%9C%EA%B5%AD",
    "emoji": "%F0%9F%98%80",
    "no-break space": "%C2%A0",
    "stray byte": "%ff",
    "torn letter": "%E2%82",
    "surrogate": "%ed%a0%80",
    "null byte": "a%00b",
    "line break": "%0d%0aSet-Cookie:%20x=1",
    "percent sign": "100%",
    "no hexadecimal": "%zz",
    "many": "&".join(f"a{number}=%C3%A9" for number in range(3_000)),
}


class Desk:
    """A desk in a process of its own, at an address, and what it has logged."""

    def __init__(self, address: str, log: Path) -> None:
        self.address, self._log = urlsplit(address), log

    def send(self, request: bytes) -> bytes:
        """All that is answered to these bytes until the desk hangs up."""
        received = b""
        place = (self.address.hostname, self.address.port)
        with socket.create_connection(place, timeout=SECONDS) as connection:
            connection.sendall(request.replace(b"HOST", self.address.netloc.encode()))
            while piece := connection.recv(100_000):
                received += piece
        return received

    def log(self) -> str:
        """What was logged so far."""
        return self._log.read_text()


@pytest.fixture(scope="module")
def desk(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk over the small demo."""
    folder = tmp_path_factory.mktemp("hostile")
    with desk_over(copied(home, folder / "home"), folder / "log") as (address, _):
        yield Desk(address, folder / "log")


@pytest.fixture(autouse=True)
def nothing_breaks(desk: Desk) -> Iterator[None]:
    """No request leaves a traceback in the log."""
    before = len(desk.log())
    yield
    assert "Traceback" not in desk.log()[before:]


def page(target: str) -> bytes:
    """A browser's request for the document at this path and query."""
    return f"GET {target} HTTP/1.1\r\nHost: HOST\r\n{DOCUMENT}Connection: close\r\n\r\n".encode()


def status(answer: bytes) -> int:
    """The status of an answer."""
    return int(answer.split(b" ", 2)[1])


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("address", ADDRESSES)
def test_letters_of_all_kinds_in_addresses(desk: Desk, address: str, text: str) -> None:
    """Whatever stands in an address, as a browser asks for it, no answer is a failure of the server."""
    answer = desk.send(page(address.replace("{}", text)))
    assert status(answer) < 500
    assert b"set-cookie: x" not in answer.lower().partition(b"\r\n\r\n")[0]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_link_with_such_a_value_opens_the_desk(desk: Desk, text: str) -> None:
    """A link to Audience is answered with the desk's document, whatever its filters name."""
    answer = desk.send(page(f"{LINK}&is.geo.country={text}"))
    assert status(answer) == 200
    assert b'desk.js" data-early' in answer
