"""Requests that no browser would send, byte by byte, to a whole desk: none may break it."""

import datetime as dt
import itertools
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from conftest import copied, desk_over
from websockets.exceptions import InvalidStatus

from front.desk_session import opened
from lib.people.cookies import SignIn
from lib.serving import connect
from lib.settings import Settings

SECONDS, ENDS = 60, 4_000_000_000.5
CALLERS = (f"198.18.{number // 250}.{number % 250 + 1}" for number in itertools.count())
"""Addresses of callers, each used once, so that no limit holds a request back."""
DOCUMENT = "Accept: text/html,application/xhtml+xml"
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
KEY = "/shared/1." + "k" * 32
WRITING = (
    ("POST", "/audience"),
    ("POST", "/overview/answer"),
    ("POST", "/auth/session"),
    ("POST", "/auth/logout"),
    ("POST", KEY),
    ("POST", "/mail/stop"),
    ("POST", "/mcp"),
    ("POST", "/oauth2/token/"),
    ("POST", "/API/v2/audience"),
    ("PUT", "/api/demand_deals/"),
)
ROUTES = (
    *WRITING,
    ("GET", LINK),
    ("HEAD", LINK),
    ("OPTIONS", "/audience"),
    ("GET", KEY),
    ("GET", "/mail/stop"),
    ("GET", "/media/x.csv"),
    ("GET", "/api/demand_deals/"),
    ("GET", "/_stcore/host-config"),
    ("GET", "/_stcore/stream"),
    ("GET", "/static/index.html"),
    ("GET", "/docs/assets/swagger-ui.css"),
    ("GET", "/metrics"),
)
FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
PART = b'--b\r\nContent-Disposition: form-data; name="x"'
BODIES: dict[str, tuple[str, bytes]] = {
    "multipart without a boundary": (MULTIPART, PART),
    "multipart without a part": (f"{MULTIPART}; boundary=b", b""),
    "multipart that ends early": (f"{MULTIPART}; boundary=b", PART),
    "multipart without a name": (
        f"{MULTIPART}; boundary=b",
        PART.replace(b'; name="x"', b"") + b"\r\n\r\n\r\n--b--",
    ),
    "multipart of another character set": (
        f"{MULTIPART}; boundary=b; charset=x-\xe9",
        PART + b"\r\n\r\n\xff\r\n--b--\r\n",
    ),
    "many parts": (f"{MULTIPART}; boundary=b", (PART + b"\r\n\r\nx\r\n") * 3_000 + b"--b--\r\n"),
    "many files": (f"{MULTIPART}; boundary=b", (PART + b'; filename="x"\r\n\r\nx\r\n') * 3 + b"--b--\r\n"),
    "many headers in a part": (f"{MULTIPART}; boundary=b", PART + b"\r\nA: b" * 3_000 + b"\r\n\r\n--b--\r\n"),
    "many fields": (FORM, b"&".join(b"a%d=1" % number for number in range(3_000))),
    "a form that is no text": (FORM, b"grant_type=%ff&username=\xff&%00=%00"),
    "a form of another character set": (f"{FORM}; charset=utf-16", b"\xff\xfea\x00"),
    "no JSON": ("application/json", b"{"),
    "another kind of JSON": ("application/json", b"null"),
    "no text": ("application/json", b'{"project_name": "\xff"}'),
    "half a surrogate": (
        "application/json",
        rb'{"project_name": "\ud800", "project": "\udfff", "slicer": "x"}',
    ),
    "a null byte": ("application/json", rb'{"project": "\u0000", "slicer": "\u0000"}'),
    "numbers beyond all": ("application/json", b'{"project": 1e999, "slicer": ' + b"9" * 5_000 + b"}"),
    "nested deeply": ("application/json", b"[" * 100_000),
    "names nested deeply": ("application/json", b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
    "text beyond the limit": ("text/plain", b"x" * 600_000),
    "no type": ("", b"x"),
    "an odd type": ("\xe9/\xff; charset=\xe9", b"x"),
}
HEADERS = {
    "cookies that are no text": "Cookie: a=\xff; \xe9=b; =; ;;; tranche_return=\xff",
    "many cookies": "Cookie: " + "; ".join(f"a{number}=b" for number in range(3_000)),
    "an origin that is none": "Origin: http://[::1",
    "another origin": "Origin: x://HOST",
    "an origin that is no text": "Origin: \xff\xe9",
    "an odd site": "Sec-Fetch-Site: \xff",
    "a page that is none": "Referer: http://[x/audience",
    "a page that is no text": "Referer: http://HOST/\xff\xe9?a=\xff",
    "a token that is no text": "Authorization: Bearer \xe9\xff",
    "no token": "Authorization: Bearer",
    "another scheme": "Authorization: Basic \xff:",
    "a deals token that is no text": "Authorization: Bearer x\r\nTranche-Deals-Token: \xff",
    "languages that are none": "Accept-Language: \xff;q=x, *;;,",
    "an odd range": "Range: bytes=9999999999999999999-,-1,a-b",
    "odd tags": 'If-None-Match: W/"\xff", *, "',
    "odd days": "If-Modified-Since: \xff",
    "odd encodings": "Accept-Encoding: gzip;q=x, \xff",
    "an odd number": "X-Request-Id: \xff",
    "odd proxies": "X-Forwarded-For: \xff, [::1\r\nX-Forwarded-Proto: \xff\r\nForwarded: for=\xff",
    "headers of our own": "x-tranche-browser: \xff\r\nx-tranche-address: \xff\r\nx-tranche-socket: \xff",
    "another host": "Host: \xff",
    "an upgrade that is none": "Connection: Upgrade, close\r\nUpgrade: h2c\r\nHTTP2-Settings: \xff",
    "a handshake without a key": "Connection: Upgrade, close\r\nUpgrade: websocket",
    "an odd handshake": (
        "Connection: Upgrade, close\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: x\r\nSec-WebSocket-Key: \xff"
    ),
    "odd protocols": (
        "Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: streamlit, \xff, ,\xe9"
    ),
    "a length that is none": "Content-Length: -1",
    "two lengths": "Content-Length: 1\r\nContent-Length: 2",
    "two framings": "Content-Length: 5\r\nTransfer-Encoding: chunked",
    "another framing": "Transfer-Encoding: gzip, chunked",
    "an expectation": "Expect: \xff",
}


class Desk:
    """A desk in a process of its own, behind a proxy on this machine: its address, and what it logs.

    `person` are the headers of somebody who is signed in, and has a token of an API.
    """

    def __init__(self, address: str, log: Path, settings: Settings) -> None:
        self.address, self._log = urlsplit(address), log
        installation = connect.installation(settings)
        installation.sessions.begin("manager", ENDS)
        cookies, hour = installation.cookies, dt.timedelta(hours=1)
        session = cookies.session_value(SignIn("manager", ENDS))
        cookie = f"{cookies.session_name}={session}; {cookies.browser_name}={cookies.browser_value()}"
        self.person = {
            api: (
                f"Cookie: {cookie}",
                f"Authorization: Bearer {installation.access.issue('manager', name, api, hour)}",
            )
            for api, name in settings.services.items()
        }

    def send(self, request: bytes, hangs_up: bool = False) -> bytes:
        """All that is answered to these bytes until the desk hangs up, or opens a WebSocket.

        With `hangs_up` the caller says at once that nothing more will come.
        """
        received = b""
        place = (self.address.hostname, self.address.port)
        # it may hang up before it has read everything
        with socket.create_connection(place, timeout=SECONDS) as connection, suppress(ConnectionError):
            connection.sendall(request.replace(b"HOST", self.address.netloc.encode()))
            if hangs_up:
                connection.shutdown(socket.SHUT_WR)
            while not received.startswith(b"HTTP/1.1 101") and (piece := connection.recv(100_000)):
                received += piece
        return received

    def log(self) -> str:
        """What was logged so far."""
        return self._log.read_text()


@pytest.fixture(scope="module")
def desk(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk over the small demo."""
    folder = tmp_path_factory.mktemp("hostile")
    own, log = copied(home, folder / "home"), folder / "log"
    with desk_over(own, log, TRANCHE_TRUSTED_PROXIES="127.0.0.1", TRANCHE_REQUEST_SECONDS="2") as (
        address,
        _,
    ):
        yield Desk(address, log, Settings(home=own, demo=True))


@pytest.fixture(autouse=True)
def nothing_breaks(desk: Desk) -> Iterator[None]:
    """No request leaves a traceback in the log."""
    before = len(desk.log())
    yield
    assert "Traceback" not in desk.log()[before:]


def request(method: str, target: str, *headers: str, body: bytes = b"") -> bytes:
    """A request from a page of the desk, after whose answer the desk hangs up.

    `headers` are lines; one of a name stands in place of the usual one.
    """
    lines = [line for header in headers for line in header.split("\r\n")]
    names = {line.partition(":")[0] for line in lines}
    usual = {
        "Host": "HOST",
        "Origin": "http://HOST",
        "X-Forwarded-For": next(CALLERS),
        "Connection": "close",
        "Content-Length": str(len(body)),
    }
    if "Transfer-Encoding" in names:
        del usual["Content-Length"]
    lines += [f"{name}: {value}" for name, value in usual.items() if name not in names]
    head = "\r\n".join([f"{method} {target} HTTP/1.1", *lines, "", ""])
    return head.encode("latin-1") + body


def status(answer: bytes) -> int:
    """The status of an answer."""
    return int(answer.split(b" ", 2)[1])


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("address", ADDRESSES)
def test_letters_of_all_kinds_in_addresses(desk: Desk, address: str, text: str) -> None:
    """Whatever stands in an address, as a browser asks for it, no answer is a failure of the server."""
    answer = desk.send(request("GET", address.replace("{}", text), DOCUMENT))
    assert status(answer) < 500
    assert b"set-cookie: x" not in answer.lower().partition(b"\r\n\r\n")[0]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_link_with_such_a_value_opens_the_desk(desk: Desk, text: str) -> None:
    """A link to Audience is answered with the desk's document, whatever its filters name."""
    answer = desk.send(request("GET", f"{LINK}&is.geo.country={text}", DOCUMENT))
    assert status(answer) == 200
    assert b'desk.js" data-early' in answer


@pytest.mark.parametrize("body", BODIES)
def test_bodies_of_all_kinds(desk: Desk, body: str) -> None:
    """No body breaks a route, also where somebody signed in or with a token sends it."""
    kind, content = BODIES[body]
    headers = (f"Content-Type: {kind}",) if kind else ()
    codes = {}
    for method, path in WRITING:
        person = desk.person["deals" if path.startswith("/api/") else "reporting"]
        codes[path] = status(desk.send(request(method, path, *headers, *person, body=content)))
    assert {path: code for path, code in codes.items() if code >= 500} == {}


@pytest.mark.parametrize("header", HEADERS)
def test_headers_of_all_kinds(desk: Desk, header: str) -> None:
    """No header breaks a route."""
    codes = {}
    for method, path in ROUTES:
        body = b"x=1" if method in ("POST", "PUT") else b""
        codes[method, path] = status(desk.send(request(method, path, HEADERS[header], body=body)))
    assert {route: code for route, code in codes.items() if code >= 500} == {}


@pytest.mark.parametrize("path", ["/", "/healthz", "/oauth2/token/", "/shared/x", "/_stcore/stream"])
def test_two_lengths_end_the_connection(desk: Desk, path: str) -> None:
    """A request with two lengths is refused, and nothing behind it is read (RFC 9112, 6.3)."""
    lengths = "Content-Length: 4\r\nTransfer-Encoding: chunked"
    smuggled = request("GET", "/healthz")
    sent = request("POST", path, lengths, "Connection: keep-alive", body=b"0\r\n\r\n" + smuggled)
    answer = desk.send(sent)
    assert status(answer) == 400
    assert answer.count(b"HTTP/1.1 ") == 1


HANDSHAKE = HEADERS["odd protocols"]
REFUSALS = {
    "no request": b"\xff\r\n\r\n",
    "another protocol": request("GET", "/", HEADERS["an upgrade that is none"]),
    "a handshake of another page": request("GET", "/_stcore/stream", HANDSHAKE, "Origin: x://HOST"),
    "a request that breaks off": request("POST", "/API/v2/info", "Content-Length: 9"),
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_flood_of_refusals_is_a_line_of_the_log(desk: Desk, refusal: str) -> None:
    """Whatever a caller without an account repeats, the log does not grow with it."""
    before = len(desk.log().splitlines())
    for _ in range(100):
        desk.send(REFUSALS[refusal], hangs_up=True)
    assert len(desk.log().splitlines()) - before <= 1


def test_a_flood_of_handshakes_is_a_line_of_the_log(desk: Desk) -> None:
    """WebSockets beyond the number that an address may have are refused, counted, and no error."""
    before = desk.log()
    with ExitStack() as stack:
        for _ in range(110):
            with suppress(InvalidStatus):
                stack.enter_context(opened(desk.address.geturl()))
    log = desk.log()[len(before) :]
    assert log.count("was refused") == len(log.splitlines()) == 1
