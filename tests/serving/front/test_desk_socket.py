"""The desk's WebSocket before and after a sign-in, attacked by its protocol alone."""

import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from conftest import copied, desk_over
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.sync.client import ClientConnection

from front.desk_session import SECONDS, answer, message, opened, rerun, sign_in, texts, widgets

MEBIBYTE = 2**20
POLICY, TOO_BIG = 1008, 1009
VISITORS, REQUEST_SECONDS, FLOOD = 900, 2, 40
REFUSED = [
    "load_git_info",
    "clear_cache",
    "set_run_on_save",
    "file_urls_request",
    "debug_disconnect_websocket",
    "debug_shutdown_runtime",
    "app_heartbeat",
]
FORM = "Slice your report data"
INSIDE = "Data to"
PIECE = Frame(Opcode.CONT, b"", fin=False)
Desk = tuple[str, int]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a `git` notes that it was run."""
    folder = tmp_path_factory.mktemp("socket")
    git = folder / "git"
    git.write_text(f"#!/bin/sh\necho run >> {folder}/runs\n")
    git.chmod(git.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.fixture(scope="module")
def desk(home: Path, folder: Path) -> Iterator[Desk]:
    """A desk in a process of its own that soon loses its patience: its address, and the process's number."""
    told = {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "TRANCHE_VISITORS": str(VISITORS),
        "TRANCHE_REQUEST_SECONDS": str(REQUEST_SECONDS),
    }
    with desk_over(copied(home, folder / "home"), **told) as served_desk:
        yield served_desk


@pytest.fixture(scope="module")
def address(desk: Desk) -> str:
    """The address of that desk."""
    return desk[0]


@pytest.fixture
def log(desk: Desk) -> Callable[[], str]:
    """What the desk has written into its log since the test began."""
    path = Path(f"/proc/{desk[1]}/fd/2")
    before = len(path.read_bytes())
    return lambda: path.read_bytes()[before:].decode()


def open_page(socket: ClientConnection, page: str = "") -> list[ForwardMsg]:
    """What the run of a page is answered with, by the page's hash; of the first one without it."""
    socket.send(rerun(page_script_hash=page))
    return answer(socket)


def close_code(socket: ClientConnection) -> int:
    """The code with which the server closes the socket, whatever it sends before."""
    with pytest.raises(ConnectionClosed) as closed:
        while True:
            socket.recv(SECONDS)
    assert closed.value.rcvd is not None
    return int(closed.value.rcvd.code)


@pytest.mark.parametrize("kind", REFUSED)
def test_other_messages_close_the_socket(address: str, kind: str) -> None:
    """Whoever sends what no page of the desk needs loses the socket, and gets no answer."""
    with opened(address) as socket:
        socket.send(message(kind))
        assert close_code(socket) == POLICY


@pytest.mark.parametrize("kind", [*REFUSED, "backend_operation_request"])
def test_other_messages_close_the_socket_of_a_signed_in_person(address: str, kind: str) -> None:
    """A sign-in opens the pages, and no message that these do not need."""
    with opened(address) as socket:
        sign_in(socket)
        socket.send(message(kind))
        assert close_code(socket) == POLICY


@pytest.mark.parametrize("operation", ["install_skills", "dismiss_skills_nudge", "dataframe_chunk"])
def test_the_only_operation_makes_files(address: str, operation: str) -> None:
    """Of Streamlit's operations only that of a download button passes: another one writes into folders."""
    request = BackMsg()
    getattr(request.backend_operation_request, operation).SetInParent()
    with opened(address) as socket:
        sign_in(socket)
        socket.send(request.SerializeToString())
        assert close_code(socket) == POLICY


def test_nothing_runs_git(address: str, folder: Path) -> None:
    """Fifty sockets that ask for the state of the checkout start no git, and the server goes on answering."""
    for _ in range(50):
        with opened(address) as socket:
            socket.send(rerun())
            with suppress(ConnectionClosed):
                socket.send(message("load_git_info"))
    assert httpx.get(f"{address}/healthz", timeout=SECONDS).status_code == 200
    assert not (folder / "runs").exists()


@pytest.mark.parametrize("sent", ["text", b"\xff\xff\xff\xff", b""], ids=["text", "bytes", "nothing"])
def test_what_is_no_message_closes_the_socket(address: str, sent: str | bytes) -> None:
    """Text, bytes that can't be parsed, and an empty message."""
    with opened(address) as socket:
        socket.send(sent)
        assert close_code(socket) == POLICY


def hostile(drawn: dict[str, str]) -> list[bytes | str]:
    """What was written into the log with a traceback, or might be."""
    text, button = drawn["Name"], drawn["demo_viewer"]
    return [
        "text",
        b"\xff\xff\xff\xff",
        rerun(widgets={"username": {"string_value": "admin"}}),
        rerun(widgets={"$$ID-0-session_ends": {"double_value": 9e9}}),
        rerun(widgets={text: {"json_value": "{"}}),
        rerun(widgets={text: {"bytes_value": b"\xff"}}),
        rerun(widgets={button: {"json_trigger_value": "{"}}),
        rerun(widgets={drawn["FormSubmitter:sign_in-Sign in"]: {"trigger_value": True}}),
        rerun(fragment_id="none", is_auto_rerun=True),
        rerun(page_script_hash="\0../..", page_name="../../etc/passwd"),
        rerun("%ff=%ed%a0%80&a=" + "a" * 19_000),
    ]


def test_no_traceback_in_the_log(address: str, log: Callable[[], str]) -> None:
    """Nothing that a visitor sends leaves a traceback, or an error instead of the sign-in page."""
    with opened(address) as socket:
        socket.send(rerun())
        drawn = widgets(answer(socket))
    for sent in hostile(drawn):
        with opened(address) as socket, suppress(ConnectionClosed):
            socket.send(rerun())
            answer(socket)
            socket.send(sent)
            socket.send(rerun())
            screen = texts(answer(socket))
            assert FORM in screen
            assert "exception {" not in screen
    with opened(address) as socket:
        raw(socket, Frame(Opcode.TEXT, b"\xff\xff"))
        assert close_code(socket) == POLICY
    assert "Traceback" not in log()


def raw(socket: ClientConnection, frame: Frame) -> None:
    """Send the frame as it is."""
    socket.socket.sendall(frame.serialize(mask=True))


def test_only_widgets_of_the_sign_in_page(address: str) -> None:
    """The page gets what is typed into it; values of other widgets, or of another kind, are dropped."""
    with opened(address) as socket:
        socket.send(rerun())
        drawn = widgets(answer(socket))
        typed = {drawn["Name"]: {"string_value": "manager"}}
        wrong = {drawn["Password"]: {"json_value": '"demo"'}, "other": {"string_value": "x"}}
        submit = {drawn["FormSubmitter:sign_in-Sign in"]: {"trigger_value": True}}
        socket.send(rerun(widgets=typed | wrong | submit))
        messages = answer(socket)
        assert "Type your name and your password." in texts(messages)
        right = {widgets(messages)["Password"]: {"string_value": "demo"}}
        socket.send(rerun(widgets=typed | right | submit))
        assert INSIDE in texts(answer(socket))


def memory(process: int) -> int:
    """Bytes of the process that are in memory (proc(5))."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) * 1024


def test_a_visitors_message_is_small(desk: Desk) -> None:
    """Twelve messages of 12 MB each are refused as they arrive, and take no memory."""
    address, process = desk
    with opened(address) as socket:
        sign_in(socket)
    before, large = memory(process), rerun(widgets={"x": {"string_value": "x" * 12 * MEBIBYTE}})
    with ExitStack() as stack:
        for _ in range(12):
            socket = stack.enter_context(opened(address, compression=None))
            with suppress(ConnectionClosed):
                socket.send(large)
            with pytest.raises(ConnectionClosed):
                socket.recv(SECONDS)
        assert memory(process) - before < 40 * MEBIBYTE


def test_a_compressed_message_is_measured_by_what_it_holds(address: str) -> None:
    """A message that is small on its way, and large when it is unpacked, is refused too."""
    with opened(address) as socket:
        socket.send(rerun(widgets={"x": {"string_value": "x" * MEBIBYTE}}))
        assert close_code(socket) == TOO_BIG


def test_the_limit_ends_with_the_sign_in_and_begins_with_the_sign_out(address: str) -> None:
    """A person sends lists and files; after a sign-out the same socket is a visitor's."""
    large = {"$$ID-0-x": {"string_value": "x" * MEBIBYTE}}
    with opened(address) as socket:
        messages = texts(sign_in(socket))
        assert INSIDE in messages
        socket.send(rerun(widgets=large))
        messages = answer(socket)
        assert INSIDE in texts(messages)
        menu = next(
            forward.delta.new_element.menu_button.id
            for forward in messages
            if forward.delta.new_element.WhichOneof("type") == "menu_button"
        )
        socket.send(rerun(widgets={menu: {"string_trigger_value": {"data": "Sign out"}}}))
        assert FORM in texts(answer(socket))
        socket.send(rerun(widgets=large))
        assert close_code(socket) == TOO_BIG


def test_a_part_of_a_page_that_was_left_does_not_run(address: str) -> None:
    """A run of a part of Deals, sent during the first run of New package, is not answered with Deals."""
    with opened(address) as socket:
        sign_in(socket)
        first = open_page(socket)
        navigation = next(
            forward.navigation for forward in first if forward.WhichOneof("type") == "navigation"
        )
        hashes = {page.url_pathname: page.page_script_hash for page in navigation.app_pages}
        deals = open_page(socket, hashes["deals"])
        part = next(deal.delta.fragment_id for deal in deals if deal.delta.fragment_id)
        socket.send(rerun(page_script_hash=hashes["new_package"]))
        start = ForwardMsg.FromString(socket.recv(SECONDS))
        while start.WhichOneof("type") != "new_session":
            start = ForwardMsg.FromString(socket.recv(SECONDS))
        socket.send(rerun(page_script_hash=hashes["deals"], fragment_id=part))
        messages = [start, *answer(socket), *open_page(socket, hashes["new_package"])]
    pages = {
        forward.new_session.page_script_hash
        for forward in messages
        if forward.WhichOneof("type") == "new_session"
    }
    assert pages == {hashes["new_package"]}


def test_half_a_message_is_not_awaited_for_ever(address: str) -> None:
    """A socket that sends the beginning of a message, or of one in pieces, is disconnected in the end."""
    whole = Frame(Opcode.BINARY, rerun("a" * 1000)).serialize(mask=True)
    piece = Frame(Opcode.BINARY, rerun("a" * 1000), fin=False).serialize(mask=True)
    with ExitStack() as stack:
        sockets = [
            stack.enter_context(opened(address, compression=None, ping_interval=None)) for _ in range(2)
        ]
        for socket, sent in zip(sockets, (whole[:100], piece), strict=True):
            socket.socket.sendall(sent)
        for socket in sockets:
            with pytest.raises(ConnectionClosed):
                socket.recv(SECONDS)


@pytest.mark.parametrize(
    "frames",
    [[Frame(Opcode.PING, b"x")] * 30, [Frame(Opcode.BINARY, b"", fin=False), *[PIECE] * 1100]],
    ids=["pings", "pieces"],
)
def test_frames_without_a_message_are_counted(address: str, frames: list[Frame]) -> None:
    """Pings, and empty pieces of a message that never ends, close the socket before they take memory."""
    with opened(address, ping_interval=None) as socket:
        socket.socket.sendall(b"".join(frame.serialize(mask=True) for frame in frames))
        assert close_code(socket) == POLICY


def test_a_visitor_resumes_nobodys_session(address: str) -> None:
    """Whoever names the session of somebody signed in, without their cookie, gets a new one."""
    with opened(address) as person:
        person.send(rerun())
        started = next(forward for forward in answer(person) if forward.WhichOneof("type") == "new_session")
        session = started.new_session.initialize.session_id
        sign_in(person)
        with opened(address, subprotocols=["streamlit", "x", session]) as visitor:
            visitor.send(rerun())
            messages = answer(visitor)
        assert session not in texts(
            [forward for forward in messages if forward.WhichOneof("type") == "new_session"]
        )
        person.send(rerun())
        assert INSIDE in texts(answer(person))


def flood(address: str, started: threading.Barrier, runs: list[int]) -> None:
    """Send `FLOOD` reruns without a pause, and then a click; count the runs until the click's."""
    with opened(address, ping_interval=None) as socket:
        socket.send(rerun())
        button = widgets(answer(socket))["demo_viewer"]
        started.wait(SECONDS)
        for _ in range(FLOOD):
            socket.send(rerun())
        socket.send(rerun(widgets={button: {"trigger_value": True}}))
        count = 1
        while INSIDE not in texts(answer(socket)):
            count += 1
        runs.append(count)


def test_a_visitor_signs_in_beside_sockets_that_send_without_end(address: str) -> None:
    """Five sockets send 40 reruns each at once: what is superseded is dropped, and the last one is not.

    Somebody else signs in beside them.
    """
    runs: list[int] = []
    started = threading.Barrier(6)
    threads = [threading.Thread(target=flood, args=(address, started, runs)) for _ in range(5)]
    for thread in threads:
        thread.start()
    started.wait(SECONDS)
    with opened(address) as socket:
        assert INSIDE in texts(sign_in(socket))
    for thread in threads:
        thread.join(3 * SECONDS)
    assert len(runs) == 5
    assert sum(runs) < 5 * FLOOD / 2


def test_the_number_of_visitors_is_bounded(home: Path, tmp_path: Path) -> None:
    """From one address a third, in all so many; the address with the most makes room for another one.

    Who is signed in needs no room.
    """
    with (
        desk_over(copied(home, tmp_path / "home"), TRANCHE_VISITORS="6") as (address, _),
        ExitStack() as stack,
    ):

        def visit(host: str) -> ClientConnection:
            return stack.enter_context(opened(address, source_address=(host, 0)))

        crowd = [visit("127.0.0.2"), visit("127.0.0.2")]
        with pytest.raises(InvalidStatus) as refused:
            visit("127.0.0.2")
        assert refused.value.response.status_code == 429
        assert refused.value.response.headers["Retry-After"] == "30"
        person = visit("127.0.0.3")
        assert INSIDE in texts(sign_in(person))
        for host in ("127.0.0.3", "127.0.0.3", "127.0.0.4", "127.0.0.4"):
            visit(host)
        late = visit("127.0.0.5")
        late.send(rerun())
        assert FORM in texts(answer(late))
        assert close_code(crowd[0]) == 1013
