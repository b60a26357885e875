"""The way to the mail server: encrypted and with a login, and what is said of one that fails."""

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from mail_server import PASSWORD, Mailbox, encrypted_server, mail_server, plain, sending
from serving import free_port

from lib.serving import check
from lib.serving import mail_server as smtp
from lib.serving.mail_server import MailRefusal, MailServer
from lib.settings import Settings
from lib.share.mail.letter import Letter, message
from lib.wire.errors import Misconfigured, TrancheError, Unreachable

MAIL = bytes(message(Letter("Hello", ["A text"]), "desk@desk.example", "ada@desk.example"))


def server(home: Path, given: dict[str, Any], **more: Any) -> MailServer:
    """The mail server of a desk with these settings."""
    return MailServer(Settings(home=home, **given | more))


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_mails_travel_encrypted(tmp_path: Path, security: str) -> None:
    """With STARTTLS and with TLS a mail arrives encrypted, after a login."""
    mailbox = Mailbox()
    with encrypted_server(mailbox, tmp_path, security) as given:
        server(tmp_path, given).check()
        assert mailbox.mails == []
        server(tmp_path, given).send(MAIL, "ada@desk.example")
    assert mailbox.encrypted == [True]
    assert plain(mailbox.only()).strip() == "A text"


def test_a_wrong_password_is_in_no_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A refused login says so with its code, and neither the error nor any log has the password."""
    wrong = "wrong-secret-of-the-server"
    with encrypted_server(Mailbox(), tmp_path, "starttls") as given, caplog.at_level(logging.DEBUG, "lib"):
        with pytest.raises(MailRefusal, match="refused the login") as caught:
            server(tmp_path, given, smtp_password=wrong).check()
        settings = Settings(home=tmp_path, **given | {"smtp_password": wrong})
    assert wrong not in f"{caught.value}{caught.value.__context__}{caplog.text}{settings!r}"


def test_a_certificate_that_is_not_trusted(tmp_path: Path) -> None:
    """A server whose certificate nobody vouches for gets neither login nor mail."""
    mailbox = Mailbox()
    with (
        encrypted_server(mailbox, tmp_path, "starttls") as given,
        pytest.raises(Unreachable, match="certificate that is not trusted"),
    ):
        server(tmp_path, given, ca_file=None).send(MAIL, "ada@desk.example")
    assert mailbox.mails == []


def test_no_mail_goes_unencrypted_where_it_must_not(tmp_path: Path) -> None:
    """A server without STARTTLS is refused where the settings ask for it."""
    mailbox = Mailbox()
    with mail_server(mailbox) as given, pytest.raises(Misconfigured, match="no STARTTLS"):
        server(tmp_path, given, smtp_security="starttls").send(MAIL, "ada@desk.example")
    assert mailbox.mails == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mail_from": ""}, "needs mail_from"),
        ({"mail_from": "Ada <ada@desk.example>"}, "needs mail_from"),
        ({"mail_from": "ada@desk.example\nBcc: x@y.example"}, "needs mail_from"),
        ({"smtp_security": "none"}, "this machine alone"),
        ({"smtp_username": "ada"}, "belong together"),
        ({"smtp_password": "x1"}, "belong together"),
    ],
)
def test_settings_that_are_refused(tmp_path: Path, given: dict[str, Any], words: str) -> None:
    """A mail server without a sender, half a login, or no encryption beyond this machine is refused."""
    with pytest.raises(Misconfigured, match=words):
        Settings.load(home=tmp_path, **{"smtp_host": "mail.example", "mail_from": "a@b.example"} | given)


@pytest.mark.parametrize(
    ("to_recipient", "to_mail", "is_final"),
    [
        (["550 No such user"], [], True),
        (["450 Busy"], [], False),
        ([], ["554 No"], True),
        ([], ["451 Later"], False),
    ],
)
def test_refusals(tmp_path: Path, to_recipient: list[str], to_mail: list[str], is_final: bool) -> None:
    """A refusal has its code; a permanent one (RFC 5321, 4.2.1) is not tried again."""
    mailbox = Mailbox()
    mailbox.to_recipient, mailbox.to_mail = to_recipient, to_mail
    code = (to_recipient + to_mail)[0][:3]
    with mail_server(mailbox) as given, pytest.raises(MailRefusal, match=f"code {code}") as caught:
        server(tmp_path, given).send(MAIL, "ada@desk.example")
    assert caught.value.is_final == is_final


@contextmanager
def speaking(first: bytes, again: bytes) -> Iterator[int]:
    """The port of a server that says something, and then the other thing as long as somebody listens."""

    def serve() -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                connection.sendall(first)
                while again:
                    connection.sendall(again)
                connection.recv(1)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
    thread.join(30)


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (b"", b""),
        (b"220 hello\r\n", b""),
        (b"220-hello\r\n", b"220-more\r\n"),
        (b"HTTP/1.1 400\r\n\r\n", b""),
    ],
)
def test_servers_that_do_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bytes, again: bytes
) -> None:
    """A server that is silent, talks without end or speaks another protocol is left within the deadline."""
    monkeypatch.setattr(smtp, "SECONDS", 0.5)
    with speaking(first, again) as port, pytest.raises(TrancheError, match="The mail server at"):
        server(tmp_path, sending(port)).send(MAIL, "ada@desk.example")


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    """Nobody at the port: the error has host and port."""
    port = free_port()
    with pytest.raises(Unreachable, match=f"127.0.0.1:{port} can't be reached"):
        server(tmp_path, sending(port)).check()


def test_the_check_tries_the_mail_server(tmp_path: Path) -> None:
    """`tranche check` signs in to the mail server, and names the settings to look at where that fails."""
    with encrypted_server(Mailbox(), tmp_path, "tls") as given:
        (good,) = check.dependencies(Settings(home=tmp_path, **given))
        (bad,) = check.dependencies(Settings(home=tmp_path, **given | {"smtp_password": "another"}))
    assert (good.service, good.state) == ("Mail", "ok")
    assert (bad.state, "smtp_password" in bad.remedy) == ("failed", True)
    assert PASSWORD not in f"{good}{bad}" and "another" not in f"{bad}"
