"""The cookies of a sign-in, as a real desk sets and deletes them, and what it gives to whom."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from conftest import copied, desk_over
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from websockets.sync.client import connect as connect_socket

from front import desk_session
from front.desk_session import opened
from lib.people.cookies import Cookies, SignIn
from lib.serving import connect
from lib.serving.front.sign_in_routes import ADDRESS_HEADER, is_https
from lib.settings import Settings
from lib.ui.kit.media import OwnedMedia

ENDS = 4_000_000_000.5
INSIDE, CODE = "Data to", re.compile(r"code\W+(eyJ[\w.-]+)")
ADA, EVE = ("browser 1", "ada"), ("browser 2", "eve")


@dataclass
class Desk:
    """A desk behind a proxy on this machine: its address, and its installation as another process has it."""

    address: str
    installation: connect.Installation

    @property
    def cookies(self) -> Cookies:
        """The cookies of the installation."""
        return self.installation.cookies

    def browser(self) -> httpx.Client:
        """A browser that has opened a page."""
        browser = httpx.Client(base_url=self.address, headers={"Origin": self.address}, timeout=60)
        browser.get("/_stcore/host-config")
        return browser

    def code(self, browser: httpx.Client) -> str:
        """The code that a page of this browser gets when the manager signs in."""
        self.installation.sessions.begin("manager", ENDS)
        return self.cookies.code(dict(browser.cookies), SignIn("manager", ENDS))

    def person(self, browser: httpx.Client) -> str | None:
        """Who is signed in, as the server sees it."""
        header = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        known = self.cookies.person(header)
        return known and known.username


@dataclass
class MediaClock:
    """Seconds that a test sets."""

    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture(scope="module")
def desk(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The desk of these tests."""
    own = copied(home, tmp_path_factory.mktemp("signing in") / "home")
    with desk_over(own, TRANCHE_TRUSTED_PROXIES="127.0.0.1") as (address, _):
        yield Desk(address, connect.installation(Settings(home=own, demo=True)))


@pytest.fixture
def browser(desk: Desk) -> Iterator[httpx.Client]:
    """A browser in which nobody is signed in."""
    with closing(desk.browser()) as client:
        yield client


def _set_by(answer: httpx.Response, name: str) -> list[str]:
    lines = [line for line in answer.headers.get_list("set-cookie") if line.startswith(f"{name}=")]
    assert len(lines) == 1
    return lines[0].split("; ")


def test_a_browser_gets_its_cookie_before_its_first_socket(desk: Desk) -> None:
    """What Streamlit's client asks for first brings the browser cookie, closed to scripts; only once."""
    with httpx.Client(base_url=desk.address) as client:
        parts = _set_by(client.get("/_stcore/host-config"), desk.cookies.browser_name)
        assert {"HttpOnly", "SameSite=Strict", "Path=/"} < set(parts)
        assert "Secure" not in parts
        assert desk.cookies.browser_name not in str(client.get("/_stcore/host-config").headers)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_sign_in_is_noted_with_its_address(own_home: Path, host: str) -> None:
    """The audit log has the address from which somebody signed in, this machine's own and no invented one."""
    invented = {ADDRESS_HEADER: "203.0.113.7"}
    with (
        desk_over(own_home, TRANCHE_HOST=host) as (address, _),
        opened(address, additional_headers=invented) as socket,
    ):
        desk_session.sign_in(socket)
    log = connect.installation(Settings(home=own_home, demo=True)).access.audit
    assert [(entry.event, entry.address) for entry in log.entries()[1]] == [("signed in", host)]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_code_brings_the_session_cookie(desk: Desk, browser: httpx.Client, scheme: str) -> None:
    """The server sets it: closed to scripts and other sites, and for TLS alone where the page came so."""
    origin = desk.address.replace("http", scheme, 1)
    headers = {"X-Forwarded-Proto": scheme, "Sec-Fetch-Site": "same-origin", "Origin": origin}
    answer = browser.post("/auth/session", content=desk.code(browser), headers=headers)
    assert answer.status_code == 204
    assert answer.headers["cache-control"] == "no-store"
    parts = _set_by(answer, desk.cookies.session_name)
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} < set(parts)
    assert ("Secure" in parts) is (scheme == "https")


def test_a_code_is_used_once_and_by_its_browser(desk: Desk, browser: httpx.Client) -> None:
    """A code that somebody else has read is worth nothing, nor is one that was used."""
    code = desk.code(browser)
    with closing(desk.browser()) as thief:
        assert thief.post("/auth/session", content=code).status_code == 403
        assert desk.person(thief) is None
    assert browser.post("/auth/session", content=code).status_code == 204
    assert desk.person(browser) == "manager"
    again = browser.post("/auth/session", content=code)
    assert (again.status_code, "set-cookie" in again.headers) == (403, False)


@pytest.mark.parametrize("path", ["/auth/session", "/auth/logout"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "x://HOST"},
        {"Origin": "https://HOST"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": None},
    ],
    ids=str,
)
def test_pages_of_other_sites_are_refused(
    desk: Desk, browser: httpx.Client, path: str, headers: dict[str, str | None]
) -> None:
    """A page of another site can sign nobody in or out."""
    code = desk.code(browser)
    host = desk.address.partition("://")[2]
    usual = {"Origin": desk.address} | headers
    sent = {name: value.replace("HOST", host) for name, value in usual.items() if value}
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    answer = httpx.post(f"{desk.address}{path}", content=code, headers=sent | {"Cookie": cookie})
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)


@pytest.mark.parametrize("path", ["/auth/session", "/auth/logout"])
def test_a_link_signs_nobody_in_or_out(browser: httpx.Client, path: str) -> None:
    """A GET, as a link or an image of another site sends it, changes nothing."""
    answer = browser.get(path)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert "set-cookie" not in answer.headers


def test_a_sign_out_deletes_the_cookie(desk: Desk, browser: httpx.Client) -> None:
    """The server takes the session cookie back; the browser keeps its own."""
    browser.post("/auth/session", content=desk.code(browser))
    answer = browser.post("/auth/logout")
    assert (answer.status_code, answer.json()) == (200, {"location": None})
    assert "Max-Age=0" in _set_by(answer, desk.cookies.session_name)
    assert set(browser.cookies) & {desk.cookies.session_name, desk.cookies.browser_name} == {
        desk.cookies.browser_name
    }


def _session(desk: Desk, cookie: str, resumed: str = "", **headers: str) -> str:
    """The session that a socket with these cookies gets, if it asks for the one to be resumed."""
    asked = ["streamlit", "PLACEHOLDER", *filter(None, [resumed])]
    given = {"Cookie": cookie, **headers}
    with connect_socket(
        f"{desk.address.replace('http', 'ws')}/_stcore/stream",
        subprotocols=asked,
        origin=desk.address,
        additional_headers=given,
        proxy=None,
        max_size=None,
    ) as socket:
        start = BackMsg()
        start.rerun_script.query_string = ""
        socket.send(start.SerializeToString())
        session, status = "", None
        while status != ForwardMsg.FINISHED_SUCCESSFULLY:
            message = ForwardMsg.FromString(socket.recv(60))
            if message.WhichOneof("type") == "new_session":
                session = message.new_session.initialize.session_id
            if message.WhichOneof("type") == "script_finished":
                status = message.script_finished
        return session


def _signed_in(desk: Desk, browser: httpx.Client) -> str:
    """The cookies of this browser, after a sign-in."""
    browser.post("/auth/session", content=desk.code(browser))
    names = (desk.cookies.browser_name, desk.cookies.session_name)
    return "; ".join(f"{name}={browser.cookies[name]}" for name in names)


def test_a_session_is_resumed_by_its_own_browser_alone(desk: Desk, browser: httpx.Client) -> None:
    """Who knows a session's identifier, but has not its browser's cookie, gets a new session."""
    mine = _signed_in(desk, browser)
    session = _session(desk, mine)
    number = desk.cookies.browser_number(mine)
    with closing(desk.browser()) as thief:
        theirs = _signed_in(desk, thief)
    for cookie in ("", theirs):
        assert _session(desk, cookie, session) != session
        assert _session(desk, cookie, session, **{"X-Tranche-Browser": number}) != session
    assert _session(desk, mine, session) == session


@pytest.mark.parametrize("session_too", [False, True], ids=["browser", "browser and ended session"])
def test_what_was_planted_before_a_sign_in_is_worth_nothing_after(desk: Desk, session_too: bool) -> None:
    """Whoever gave a browser its cookies beforehand, and knows its session, is not in once it signs in."""
    with closing(desk.browser()) as thief:
        if session_too:
            thief.post("/auth/session", content=desk.code(thief))
            desk.installation.sessions.end("manager", ENDS)
        planted = "; ".join(f"{name}={value}" for name, value in thief.cookies.items())
    with opened(desk.address, additional_headers={"Cookie": planted}) as socket:
        messages = desk_session.sign_in(socket)
        assert INSIDE in desk_session.texts(messages)
        session = next(
            message.new_session.initialize.session_id
            for message in messages
            if message.HasField("new_session")
        )
        code = CODE.findall(desk_session.texts(messages))[-1]
        own = {"Origin": desk.address, "Cookie": planted}
        given = httpx.post(f"{desk.address}/auth/session", content=code, headers=own)
        assert given.status_code == 204
        with opened(desk.address, additional_headers={"Cookie": planted}) as theirs:
            theirs.send(desk_session.rerun())
            assert INSIDE not in desk_session.texts(desk_session.answer(theirs))
        assert _session(desk, planted, session) != session
        assert httpx.post(f"{desk.address}/overview/answer", json={}, headers=own).status_code == 401
        assert httpx.post(f"{desk.address}/auth/session", content=code, headers=own).status_code == 403


def test_a_long_body_is_no_code(desk: Desk, browser: httpx.Client) -> None:
    """A body beyond the length of a code is refused, and not read to its end."""
    assert browser.post("/auth/session", content=b"x" * 1_000_000).status_code == 403


@pytest.mark.parametrize(
    ("scheme", "headers", "secure"),
    [
        ("https", {}, True),
        ("http", {}, False),
        ("http", {"origin": "https://desk.example"}, True),
        ("http", {"host": "desk.example"}, True),
        ("http", {"host": "127.0.0.1:8501", "origin": "http://127.0.0.1:8501"}, False),
    ],
)
def test_what_counts_as_tls(scheme: str, headers: dict[str, str], secure: bool) -> None:
    """TLS is what the scheme, the page's origin or an address in `origins` says."""
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    assert is_https({"scheme": scheme, "headers": raw}, ("https://desk.example",)) is secure


def test_a_file_belongs_to_those_for_whom_it_was_made() -> None:
    """Each browser and person reads their own files, also equal ones and those made on a click; no others."""
    owner: list[tuple[str, str] | None] = [ADA]
    clock = MediaClock()
    media = OwnedMedia(MediaFileManager(MemoryMediaFileStorage("/media")), lambda: owner[0], clock)

    def file_of(address: str) -> str:
        return address.removeprefix("/media/").partition(".")[0]

    shared, hers = (file_of(media.add(text, "text/csv", text.decode())) for text in (b"a", b"b"))
    deferred = media.add_deferred(lambda: b"c", "text/csv", "c")
    clicked = file_of(media.execute_deferred(deferred))
    owner[0] = EVE
    assert file_of(media.add(b"a", "text/csv", "a")) == shared
    owner[0] = None
    nobodys = file_of(media.add(b"d", "text/csv", "d"))
    read = {
        person: {file for file in (shared, hers, clicked, nobodys) if media.belongs_to(file, person)}
        for person in (ADA, EVE)
    }
    assert read == {ADA: {shared, hers, clicked}, EVE: {shared}}
    media.clear_session_refs()
    clock.seconds = 61
    for _ in range(2):
        media.remove_orphaned_files()
    assert not media._owners


def made_file(media: OwnedMedia, content: bytes) -> str:
    """A file that a click of this moment makes; its identifier."""
    address: str = media.execute_deferred(media.add_deferred(lambda: content, "text/csv", "button"))
    return address.removeprefix("/media/").partition(".")[0]


def test_a_file_is_there_for_a_minute_after_it_was_made() -> None:
    """However many scripts of others end between a click and the browser's request, the file is there."""
    clock, storage = MediaClock(), MemoryMediaFileStorage("/media")
    media = OwnedMedia(MediaFileManager(storage), lambda: ADA, clock)
    file = made_file(media, b"a")
    media.clear_session_refs()
    for clock.seconds in (1, 30, 59):
        media.remove_orphaned_files()
        assert storage.get_file(file).content == b"a"
        assert media.belongs_to(file, ADA)
    clock.seconds = 61
    for _ in range(2):
        media.remove_orphaned_files()
    assert not media.belongs_to(file, ADA)
    with pytest.raises(MediaFileStorageError):
        storage.get_file(file)


def test_made_files_are_held_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond it the oldest are as Streamlit has them; the newest is held however large it is."""
    monkeypatch.setattr("lib.ui.kit.media.HELD_BYTES", 10)
    storage = MemoryMediaFileStorage("/media")
    media = OwnedMedia(MediaFileManager(storage), lambda: ADA, MediaClock())
    files = [made_file(media, content) for content in (b"1" * 6, b"2" * 4, b"3" * 6, b"4" * 20)]
    for _ in range(3):
        media.remove_orphaned_files()
    assert [file for file in files if media.belongs_to(file, ADA)] == files[-1:]
