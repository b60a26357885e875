"""The way to the mail server: SMTP (RFC 5321) with STARTTLS (RFC 3207), TLS, and a login.

The password is in no error and no log: an error has the step, the server's code and our
words. smtplib's own time limit is for each answer; here one deadline is for the whole conversation.
"""

import contextlib
import smtplib
import socket
import ssl
import threading
from collections.abc import Callable
from typing import Any

from lib.settings import Settings
from lib.wire.errors import Misconfigured, TrancheError, Unreachable

SECONDS, ANSWER_SECONDS = 60.0, 15.0


class MailRefusal(TrancheError):
    """The mail server refused something; `is_final` where another attempt would be refused too."""

    def __init__(self, reason: str, *, is_final: bool = False) -> None:
        super().__init__(reason)
        self.is_final = is_final


class MailServer:
    """The mail server of the settings."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.sender = settings.mail.mail_from

    @property
    def is_set(self) -> bool:
        """Whether there is one."""
        return bool(self._settings.mail.smtp_host)

    @property
    def address(self) -> str:
        return f"{self._settings.mail.smtp_host}:{self._settings.mail.smtp_port}"

    def check(self) -> None:
        """Connect, encrypt and sign in; nothing is sent.

        Unreachable, MailRefusal or Misconfigured say why that fails.
        """
        self._talk(lambda smtp: smtp.noop())

    def send(self, mail: bytes, recipient: str) -> None:
        """Send a mail. Raises as `check` does."""
        self._talk(lambda smtp: smtp.sendmail(self.sender, [recipient], mail))

    def _talk(self, work: Callable[[smtplib.SMTP], object]) -> None:
        """Do this in a conversation of its own, within SECONDS."""
        try:
            smtp = self._connect(SECONDS)
            try:
                work(smtp)
                with contextlib.suppress(OSError, smtplib.SMTPException):
                    smtp.quit()
            finally:
                smtp.close()
        except (OSError, smtplib.SMTPException) as error:
            raise self._trouble(error) from None

    def _connect(self, seconds: float) -> smtplib.SMTP:
        settings, file = self._settings, self._settings.remote.ca_file
        context = ssl.create_default_context(cafile=None if file is None else str(file))
        about = (settings.mail.smtp_host, settings.mail.smtp_port, seconds)
        is_tls = settings.mail.smtp_security == "tls"
        smtp = _TlsConversation(*about, context=context) if is_tls else _Conversation(*about)
        try:
            if settings.mail.smtp_security == "starttls":
                smtp.starttls(context=context)
            smtp.ehlo_or_helo_if_needed()
            if settings.mail.smtp_username and settings.mail.smtp_password:
                smtp.login(settings.mail.smtp_username, settings.mail.smtp_password.get_secret_value())
        except BaseException:
            smtp.close()
            raise
        return smtp

    def _trouble(self, error: Exception) -> TrancheError:
        """What went wrong, in our words: those of the server may repeat what it was sent."""
        where = f"The mail server at {self.address}"
        match error:
            case smtplib.SMTPAuthenticationError():
                return MailRefusal(f"{where} refused the login (code {error.smtp_code})")
            case smtplib.SMTPNotSupportedError():
                return Misconfigured(
                    f"{where} has no STARTTLS or no login: check smtp_security and smtp_username"
                )
            case smtplib.SMTPRecipientsRefused():
                codes = [code for code, _ in error.recipients.values()]
                is_final = all(500 <= code < 600 for code in codes)
                return MailRefusal(f"{where} refused the recipient (code {codes[0]})", is_final=is_final)
            case smtplib.SMTPResponseException():
                is_final = isinstance(error, smtplib.SMTPDataError) and 500 <= error.smtp_code < 600
                return MailRefusal(f"{where} refused the mail (code {error.smtp_code})", is_final=is_final)
            case ssl.SSLCertVerificationError():
                return Unreachable(f"{where} has a certificate that is not trusted: {error.verify_message}")
            case smtplib.SMTPServerDisconnected() | TimeoutError():
                return Unreachable(f"{where} did not answer in time, or ended the connection")
            case socket.gaierror():
                return Unreachable(f"{where} can't be found: {error.strerror}")
            case OSError():
                return Unreachable(f"{where} can't be reached: {error.strerror or type(error).__name__}")
        return MailRefusal(f"{where} answered what is not SMTP ({type(error).__name__})")


class _Conversation(smtplib.SMTP):
    """A conversation that ends after so many seconds, however slowly the server answers."""

    def __init__(self, host: str, port: int, seconds: float, **options: Any) -> None:
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True
        self._timer.start()
        try:
            super().__init__(host, port, timeout=min(ANSWER_SECONDS, seconds), **options)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._timer.cancel()
        super().close()

    def _cut(self) -> None:
        """End the wait for an answer with an error."""
        with contextlib.suppress(OSError, AttributeError):
            self.sock.shutdown(socket.SHUT_RDWR)  # type: ignore[union-attr]


class _TlsConversation(_Conversation, smtplib.SMTP_SSL):
    """Encrypted from the first byte."""
