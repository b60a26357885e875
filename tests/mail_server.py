"""A mail server on this machine that keeps what it takes, for tests of mail."""

import email
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from threading import Event
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from certificates import signed
from serving import free_port

SENDER, PASSWORD = "desk@desk.example", "correct-horse-battery"
DESK = "https://desk.example"


class Mailbox:
    """Keeps the mails that arrive; answers a recipient or a mail with the next of these, else 250."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.recipients: list[list[str]] = []
        self.to_recipient: list[str] = []
        self.to_mail: list[str] = []
        self.encrypted: list[bool] = []
        self.arrived = Event()

    def only(self) -> EmailMessage:
        """The only mail that came."""
        (mail,) = self.mails
        return mail

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """One recipient."""
        if self.to_recipient:
            return self.to_recipient.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        """One mail."""
        if self.to_mail:
            return self.to_mail.pop(0)
        mail = email.message_from_bytes(envelope.original_content or b"", policy=default)
        self.mails.append(mail)
        self.recipients.append([str(recipient) for recipient in envelope.rcpt_tos])
        self.encrypted.append(server.transport.get_extra_info("ssl_object") is not None)
        self.arrived.set()
        return "250 OK"


@contextmanager
def mail_server(mailbox: Mailbox, **options: Any) -> Iterator[dict[str, Any]]:
    """The settings of a desk with this mail server, unencrypted; `options` are those of the server."""
    server = Controller(mailbox, hostname="127.0.0.1", port=free_port(), **options)
    server.start()
    try:
        yield sending(server.port)
    finally:
        server.stop()


@contextmanager
def encrypted_server(mailbox: Mailbox, folder: Path, security: str) -> Iterator[dict[str, Any]]:
    """The same with STARTTLS or TLS, and a login that is required."""
    certificate, key = signed(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def may(server: SMTP, session: Session, envelope: Envelope, kind: str, given: Any) -> AuthResult:
        is_right = isinstance(given, LoginPassword) and given.password == PASSWORD.encode()
        return AuthResult(success=is_right, handled=False)

    options: dict[str, Any] = {"authenticator": may, "auth_required": True}
    options |= (
        {"tls_context": context, "require_starttls": True}
        if security == "starttls"
        else {"ssl_context": context, "auth_require_tls": False}
    )
    server = Controller(mailbox, hostname="localhost", port=free_port(), **options)
    server.start()
    try:
        more = {"smtp_host": "localhost", "smtp_security": security, "ca_file": certificate}
        yield sending(server.port) | more | {"smtp_username": "desk", "smtp_password": PASSWORD}
    finally:
        server.stop()


def sending(port: int) -> dict[str, Any]:
    """Settings with a mail server at this port of this machine."""
    return {
        "smtp_host": "127.0.0.1",
        "smtp_port": port,
        "smtp_security": "none",
        "mail_from": SENDER,
        "origins": (DESK,),
    }


def plain(mail: EmailMessage) -> str:
    """The text of a mail."""
    part = mail.get_body(("plain",))
    return "" if part is None else str(part.get_content())


def page(mail: EmailMessage) -> str:
    """The HTML of a mail."""
    part = mail.get_body(("html",))
    return "" if part is None else str(part.get_content())
