"""One HTTP call: whatever goes wrong on the way comes out as one of our own family of errors."""

import gc
import gzip
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from clocks import Stopwatch

from lib.wire.breaker import Breaker
from lib.wire.call import DOWNLOAD_STEP, Call, Patience, call, stream
from lib.wire.deadline import CallGroup, Deadline, abandon
from lib.wire.errors import Abandoned, DeadlineExceeded, Unreachable, Unreadable
from lib.wire.sockets import keep_deadline
from lib.wire.transport import InProcess

Answer = tuple[int, dict[str, str], bytes]


class Service:
    """An ASGI application that gives these answers in turn and remembers what it was asked."""

    def __init__(self, *answers: Answer | None) -> None:
        self.answers, self.asked = list(answers), []

    async def __call__(self, scope: dict[str, Any], receive: Callable, send: Callable) -> None:
        """None stands for a connection that breaks off."""
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.asked.append((scope["method"], scope["path"], headers, (await receive())["body"]))
        answer = self.answers.pop(0)
        if answer is None:
            return
        raw = [(name.encode(), value.encode()) for name, value in answer[1].items()]
        await send({"type": "http.response.start", "status": answer[0], "headers": raw})
        for byte in (answer[2][:3], answer[2][3:]):
            await send({"type": "http.response.body", "body": byte, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    def client(self) -> httpx.Client:
        """A client of this service."""
        return httpx.Client(transport=InProcess(self), base_url="http://in-process")


OK: Answer = (200, {"content-type": "application/json"}, b'{"status": "success"}')
BUSY: Answer = (503, {}, b"later")
ASK = Call("POST", "/API/v2/info", {"a": 1})


def _pauses() -> tuple[list[float], Callable[[float], None]]:
    waited: list[float] = []
    return waited, waited.append


@pytest.fixture
def deaf() -> Iterator[str]:
    """The address of a listener that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_post_sends_json():
    """A call sends its body as JSON with the Accept that was asked for, and returns the whole answer."""
    service, headers = Service(OK), {"Accept": "application/vnd.apache.arrow.stream"}
    asked = Patience().call("POST", "/API/v2/info", is_repeatable=True, json={"a": "ü"}, headers=headers)
    answer = call(service.client(), asked)
    method, path, headers, body = service.asked[0]
    assert (method, path, body.decode()) == ("POST", "/API/v2/info", '{"a":"ü"}')
    assert headers["accept"] == "application/vnd.apache.arrow.stream"
    assert (answer.status_code, answer.json()) == (200, {"status": "success"})


@pytest.mark.parametrize("status", [400, 403, 500, 504])
def test_status_codes_are_not_judged(status: int):
    """An answer is an answer whatever its code: its meaning is the client's business."""
    assert call(Service((status, {}, b"x")).client(), ASK).status_code == status


def test_compressed_answers_are_read():
    """A gzipped answer is decoded, and its headers describe what is left."""
    packed = gzip.compress(b"hello" * 1000)
    answer = call(Service((200, {"content-encoding": "gzip"}, packed)).client(), ASK)
    assert answer.content == b"hello" * 1000
    assert (answer.headers["content-length"], "content-encoding" in answer.headers) == ("5000", False)


def test_answers_that_lie_about_their_encoding():
    """Bytes that are not what their headers say are Unreadable."""
    with pytest.raises(Unreadable, match="not encoded"):
        call(Service((200, {"content-encoding": "gzip"}, b"not gzip")).client(), ASK)


def test_answers_that_are_compressed_twice():
    """An answer of a few bytes that would be a gigabyte after two decompressions is Unreadable unread."""
    packed = gzip.compress(gzip.compress(b"0" * 1_000_000))
    with pytest.raises(Unreadable, match="not asked for"):
        call(Service((200, {"content-encoding": "gzip, gzip"}, packed)).client(), ASK)


def test_answers_are_bounded():
    """An answer beyond the allowed size is Unreadable, counted after decompression."""
    packed = gzip.compress(b"0" * 100_000)
    with pytest.raises(Unreadable, match="99,999 bytes"):
        call(
            Service((200, {"content-encoding": "gzip"}, packed)).client(), Call("GET", "/", max_bytes=99_999)
        )


def test_a_download_may_take_longer_than_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as a file makes progress its deadline begins again; without progress it ends."""
    clock = Stopwatch()
    monkeypatch.setattr("lib.wire.deadline.time", SimpleNamespace(monotonic=clock))
    step, arrived = b"x" * DOWNLOAD_STEP, 0
    request = replace(Patience(seconds=10).call("GET", "/", False), is_download=True)
    with stream(Service((200, {}, step * 5 + b"rest")).client(), request) as (_, pieces):
        for piece in pieces:
            arrived += len(piece)
            clock.seconds += 9
    assert arrived == 5 * DOWNLOAD_STEP + 4
    request = replace(Patience(seconds=10).call("GET", "/", False), is_download=True)
    slow = Service((200, {}, b"xxxxx"))
    with pytest.raises(DeadlineExceeded), stream(slow.client(), request) as (_, pieces):
        for _ in pieces:
            clock.seconds += 11


def test_nobody_listens():
    """A port that nobody listens on is Unreachable."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with (
        httpx.Client(base_url=f"http://127.0.0.1:{port}") as http,
        pytest.raises(Unreachable, match="reached"),
    ):
        call(http, ASK)


def test_broken_connection():
    """A connection that breaks off is Unreachable."""
    with pytest.raises(Unreachable, match="was lost"):
        call(Service(None).client(), ASK)


@pytest.mark.parametrize(("deadline", "timeout"), [(0.05, 5.0), (None, 0.05)])
def test_service_that_does_not_answer(deaf: str, deadline: float | None, timeout: float):
    """Silence is DeadlineExceeded, by the call's deadline or by the client's own time-out."""
    with httpx.Client(base_url=deaf, timeout=timeout) as http, pytest.raises(DeadlineExceeded):
        call(http, Call("POST", "/", deadline=Deadline(deadline)))


@pytest.fixture
def leaving() -> Iterator[str]:
    """The address of a listener that takes a connection, and then closes the session "one"."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def take() -> None:
            with listener.accept()[0] as taken:
                abandon("one")
                while taken.recv(10**6):
                    pass

        threading.Thread(target=take, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize("is_embedded", [True, False])
def test_a_session_that_closes(leaving: str, is_embedded: bool) -> None:
    """Its queries stop; its changes go on, as do the queries of others, and no breaker counts a failure."""

    async def silent(scope, receive, send):
        abandon("one")
        while (await receive())["type"] != "http.disconnect":
            pass

    where = {"transport": InProcess(silent)} if is_embedded else {}
    breaker = Breaker("the service", failures=1)
    first, other = (
        Patience(retries=0, breaker=breaker, session=session_id) for session_id in ("one", "other")
    )
    asked = [(first, True), (first, False), (other, True)]
    requests = [patience.call("POST", "/", repeatable) for patience, repeatable in asked]
    with keep_deadline(httpx.Client(base_url=leaving, timeout=60, **where)) as http, pytest.raises(Abandoned):
        call(http, requests[0])
    assert [request.deadline.is_abandoned for request in requests] == [True, False, False]
    assert breaker.rest == 0


def test_a_group_of_calls_that_is_abandoned(leaving: str) -> None:
    """Its reads end and later ones are not begun; its writes and the calls of others go on."""
    group, patience = CallGroup(), Patience(retries=0)

    async def silent(scope, receive, send):
        group.abandon()
        while (await receive())["type"] != "http.disconnect":
            pass

    other = patience.call("POST", "/", True)
    with group.tracking():
        mine = patience.call("POST", "/", True)
        write = patience.call("POST", "/", False)
    with httpx.Client(transport=InProcess(silent), base_url=leaving, timeout=60) as http:
        with pytest.raises(Abandoned):
            call(http, mine)
        with group.tracking(), pytest.raises(Abandoned):
            call(http, patience.call("POST", "/", True))
    assert [patience.deadline.is_abandoned for patience in (mine, write, other)] == [True, False, False]


def test_a_part_of_a_call_is_abandoned_with_it() -> None:
    """A call ends with its session and its group, even where only a part of its deadline is in use."""
    group, patience = CallGroup(), Patience(retries=0, session="one")
    with group.tracking():
        parts = [patience.deadline().part(60) for _ in range(2)]
    other = Patience(session="other").deadline().part(60)
    gc.collect()
    group.abandon()
    assert [part.is_abandoned for part in (*parts, other)] == [True, True, False]
    abandon("other")
    assert other.is_abandoned


def test_deadline_spans_the_body():
    """An answer that trickles in stops at the deadline although every piece came in time."""
    gate = threading.Event()

    async def trickle(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while not gate.is_set():
            await send({"type": "http.response.body", "body": b".", "more_body": True})

    http = httpx.Client(transport=InProcess(trickle), base_url="http://in-process")
    with pytest.raises(DeadlineExceeded):
        call(http, Call("GET", "/", deadline=Deadline(0.05)))
    gate.set()


def test_the_deadline_spans_what_never_pauses():
    """Interim answers (100) one after the other, which leave no moment to wait in, end at the deadline."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        answering = threading.Thread(target=_interim, args=(listener,), daemon=True)
        answering.start()
        http = keep_deadline(httpx.Client(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}"))
        with http, pytest.raises(DeadlineExceeded):
            call(http, Call("GET", "/", deadline=Deadline(0.2)))
        answering.join(30)


def _interim(listener: socket.socket) -> None:
    """Answer one connection with 100 for some seconds, if the caller stays, then with 204."""
    connection, _ = listener.accept()
    with connection, suppress(OSError):
        for _ in range(20_000):
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 20)
        connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")


def test_no_retry_unless_asked():
    """Without being told that it is safe, a call is made once."""
    service = Service(None, OK)
    with pytest.raises(Unreachable):
        call(service.client(), ASK)
    assert len(service.asked) == 1


def test_retries_until_an_answer():
    """A call that may be repeated is, over broken connections and 502 and 503, with growing pauses."""
    service, (waited, pause) = Service(None, BUSY, OK), _pauses()
    answer = call(service.client(), Call("POST", "/", retries=3), pause)
    assert (answer.status_code, len(service.asked)) == (200, 3)
    assert len(waited) == 2
    assert 0 <= waited[0] <= 0.2
    assert 0 <= waited[1] <= 0.4


@pytest.mark.parametrize("code", [429, 503])
def test_the_service_says_when(code: int):
    """A wish to be left alone for some seconds is granted before the call is repeated."""
    service, (waited, pause) = Service((code, {"retry-after": "3"}, b""), OK), _pauses()
    assert call(service.client(), Call("POST", "/", retries=1), pause).status_code == 200
    assert waited == [3.0]


def test_the_service_says_a_date():
    """The wish may be a date too."""
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=9), usegmt=True)
    service, (waited, pause) = Service((503, {"retry-after": then}, b""), OK), _pauses()
    call(service.client(), Call("POST", "/", retries=1), pause)
    assert 5 < waited[0] <= 9


@pytest.mark.parametrize("deadline", [None, 2.0])
def test_retry_after_beyond_patience(deadline: float | None):
    """Who wishes for longer than the deadline, or than ten seconds, is not asked again: its answer stands."""
    wish = "3" if deadline else "11"
    service = Service((429, {"retry-after": wish}, b""), OK)
    answer = call(service.client(), Call("POST", "/", deadline=Deadline(deadline), retries=1))
    assert (answer.status_code, len(service.asked)) == (429, 1)


def test_retries_end():
    """After the last attempt the failure, or the last answer, is what comes out."""
    _, pause = _pauses()
    with pytest.raises(Unreachable):
        call(Service(None, None).client(), Call("POST", "/", retries=1), pause)
    assert call(Service(BUSY, BUSY).client(), Call("POST", "/", retries=1), pause).status_code == 503


def test_no_retry_of_other_answers():
    """An answer other than 502 and 503 is not asked for again."""
    service = Service((500, {}, b"x"), OK)
    assert call(service.client(), Call("POST", "/", retries=3)).status_code == 500


def test_no_attempt_after_the_deadline():
    """Retries never go on past the deadline."""
    service = Service(OK)
    with pytest.raises(DeadlineExceeded):
        call(service.client(), Call("POST", "/", deadline=Deadline(0.0), retries=5))
    assert service.asked == []


def test_files_stream():
    """stream gives status and headers at once and the body piece by piece."""
    with stream(Service(OK).client(), ASK) as (response, pieces):
        assert (response.status_code, next(pieces)) == (200, b'{"s')
        assert b"".join(pieces) == b'tatus": "success"}'


def test_files_that_break_off():
    """A file that breaks off while it is read is Unreachable too."""

    async def half(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})

    http = httpx.Client(transport=InProcess(half), base_url="http://in-process")
    with pytest.raises(Unreachable), stream(http, ASK) as (_, pieces):
        list(pieces)


def test_errors_name_no_address():
    """What went wrong is told without the URL, which is not for everybody's eyes."""
    with httpx.Client(base_url="http://127.0.0.1:1/secret") as http, pytest.raises(Unreachable) as caught:
        call(http, ASK)
    assert "secret" not in str(caught.value)
