"""Sending messages to the webhook of the settings. Neither its address nor the secret reach a log.

An address may have a token in its path: it is handled like a password.
"""

import logging
import time
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import httpx

from lib.alerts.message import signature
from lib.alerts.store import LONGEST_PAUSE, AlertStore, Waiting
from lib.settings import Settings
from lib.wire import call
from lib.wire.call import Call
from lib.wire.deadline import Deadline
from lib.wire.errors import ServiceProblem, TrancheError
from lib.wire.sockets import client

log = logging.getLogger(__name__)
SECONDS, CONNECT_SECONDS = 10, 5
CLAIMED = timedelta(minutes=5)
PAUSES = *(timedelta(minutes=minutes) for minutes in (1, 5, 15, 30)), LONGEST_PAUSE


class Webhook:
    """The way to the receiver."""

    def __init__(self, settings: Settings) -> None:
        address, secret = settings.alerts_webhook, settings.alerts_secret
        self._address = "" if address is None else address.get_secret_value()
        self._secret = "" if secret is None else secret.get_secret_value()
        timeout = httpx.Timeout(SECONDS, connect=CONNECT_SECONDS)
        self._http = client(self._address, settings.ca_file, timeout=timeout)

    @property
    def is_set(self) -> bool:
        """Whether there is one."""
        return bool(self._address)

    def deliver(self, store: AlertStore, now: datetime) -> None:
        """Send what is due, each message once; what fails waits, longer each time, and at last is given up.

        A receiver that can't be reached is tried once a round: the other messages wait too.
        """
        if not self.is_set:
            return
        for message in store.waiting(now):
            if not store.claim(message, now, now + CLAIMED):
                continue
            trouble, is_reached = self._send(message)
            if not trouble:
                store.sent(message)
            elif message.attempts >= len(PAUSES):
                log.error("The alert webhook at %s: %s; the message is given up", self._host, trouble)
                store.sent(message)
            else:
                log.warning("The alert webhook at %s: %s; retrying later", self._host, trouble)
                store.postpone(message, now + PAUSES[message.attempts])
            if not is_reached:
                return

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    @property
    def _host(self) -> str:
        return urlsplit(self._address).hostname or ""

    def _send(self, message: Waiting) -> tuple[str, bool]:
        """Why the message was not taken, empty if it was; and whether somebody was there.

        The status is all that counts: no body is read.
        """
        body, timestamp = message.body.encode(), int(time.time())
        headers = {
            "Content-Type": "application/json",
            "Tranche-Timestamp": str(timestamp),
            "Tranche-Signature": signature(self._secret, timestamp, body),
        }
        request = Call("POST", self._address, headers=headers, content=body, deadline=Deadline(SECONDS))
        try:
            with call.stream(self._http, request) as (answer, _):
                pass
        except (ServiceProblem, TrancheError) as error:
            return type(error).__name__.lower(), False
        return ("" if answer.is_success else f"it answered {answer.status_code}"), True
