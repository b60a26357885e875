"""The webhook of alerts against receivers that mean harm: none holds the checker or learns too much."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest
from certificates import signed
from file_settings import changed
from keeping import keeper
from serving import serving
from watched import Receiver, imported, set_up, webhook

from lib.settings import Settings
from lib.share.alerts import watch as sending
from lib.share.alerts.watch import AlertMessage, AlertStore, Watch

NOW = datetime.now(UTC)
NO_CONTENT = b"HTTP/1.1 204 No Content\r\n\r\n"
Say = Callable[[socket.socket], None]


@pytest.fixture
def desk(own_home: Path, inhabited_url: str) -> Settings:
    """Settings of a desk with an alert that fires at its first check."""
    settings = Settings(home=own_home, database_url=inhabited_url, demo=True)
    imported(own_home, [120])
    set_up(keeper(settings)("manager"))
    return settings


def test_one_look_sends_all_messages(own_home: Path) -> None:
    """More alerts than are read at a time fire at once: one look sends a message for each, and no second."""
    settings, receiver = Settings(home=own_home, demo=True), Receiver()
    imported(own_home, [120])
    count = AlertStore.most * 2 + 1
    for number in range(count):
        set_up(keeper(settings)("manager"), bound=100.0 - number)
    with serving(receiver.app) as address:
        watch = Watch(changed(settings, **webhook(address)))
        watch.look(NOW)
        assert (len({message["id"] for message in receiver.taken}), len(receiver.taken)) == (count, count)
        watch.look(NOW + timedelta(minutes=1))
    assert len(receiver.taken) == count


def sent(desk: Settings, address: str) -> list[AlertMessage]:
    """Check with that receiver, and return the messages that still wait an hour later."""
    watch = Watch(changed(desk, **webhook(address)))
    watch.look(NOW)
    return watch.store.waiting(NOW + timedelta(hours=1))


@contextmanager
def saying(say: Say) -> Iterator[str]:
    """The address of a receiver that answers each request by `say`, until the other side has had enough."""

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    connection.recv(65536)
                    say(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(30)


def _interim(connection: socket.socket) -> None:
    for _ in range(20_000):
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 20)
    connection.sendall(NO_CONTENT)


def _headers(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 204 No Content\r\n")
    for _ in range(1_000):
        connection.sendall(b"X-Long: " + b"x" * 1_000 + b"\r\n")
    connection.sendall(b"\r\n")


def _trickle(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 204 ")
    while True:
        connection.sendall(b"x")
        if connection.recv(1) == b"":
            return


@pytest.mark.parametrize("say", [_interim, _headers, _trickle])
def test_answers_without_end(desk: Settings, monkeypatch: pytest.MonkeyPatch, say: Say) -> None:
    """Interim answers, headers or a status line without end are left; the message is tried again."""
    monkeypatch.setattr(sending, "SECONDS", 0.3)
    with saying(say) as address:
        assert [message.attempts for message in sent(desk, address)] == [1]


def test_a_body_without_end(desk: Settings) -> None:
    """A status of success is enough: nothing of the body is read, and the message is sent once."""
    asked = []

    def endless(connection: socket.socket) -> None:
        asked.append(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65536)

    with saying(endless) as address:
        assert sent(desk, address) == []
    assert len(asked) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects(desk: Settings, status: int) -> None:
    """A redirect is followed nowhere, on whatever machine; the message waits."""
    target = Receiver()
    with serving(target.app) as elsewhere:
        location = f"Location: {elsewhere}/hook/token-in-path\r\nContent-Length: 0\r\n\r\n"
        with saying(
            lambda connection: connection.sendall(f"HTTP/1.1 {status} Moved\r\n{location}".encode())
        ) as address:
            assert len(sent(desk, address)) == 1
    assert target.taken == []


def test_a_proxy_of_the_environment(desk: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message for this machine, which may be unencrypted, goes through no proxy."""
    proxy, receiver = Receiver(), Receiver()
    with serving(proxy.app) as between, serving(receiver.app) as address:
        monkeypatch.setenv("HTTP_PROXY", between)
        monkeypatch.setenv("NO_PROXY", "")
        assert sent(desk, address) == []
    assert (proxy.taken, receiver.events) == ([], [("fired", 120)])


def test_a_name_that_was_pointed_elsewhere(desk: Settings, tmp_path: Path) -> None:
    """A name that leads to another machine gets nothing there without that name's certificate."""
    certificate, key = signed(tmp_path)
    receiver = Receiver()
    with serving(receiver.app, ssl_certfile=str(certificate), ssl_keyfile=str(key)) as address:
        named = address.replace("http://127.0.0.1", "https://localhost")
        assert len(sent(desk, named)) == 1
        assert receiver.taken == []
        other = Watch(changed(desk, **webhook(named), ca_file=certificate))
        other.look(NOW + timedelta(hours=1))
    assert receiver.events == [("fired", 120)]
