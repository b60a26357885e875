"""What a desk depends on beside its services: slicers' databases, company sign-in, webhook, DSPs.

None of them takes the desk down: what needs them says so, and the rest works on.
"""

import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from lib.reporting.connected import Connected
from lib.settings import Settings
from lib.settings.optional import CompanyProvider
from lib.wire.call import Call, call
from lib.wire.deadline import Deadline
from lib.wire.errors import Misconfigured, Unreachable, Unreadable
from lib.wire.sockets import client

SIGN_IN, WEBHOOK, RECEIVER = "company sign-in", "alert webhook", "receiver of DSP {}"
SECONDS, MOST_BYTES = 5.0, 1_048_576
PORTS = {"http": 80, "https": 443}
Check = Callable[[Deadline], object]


def connection_checks(settings: Settings, connected: Connected) -> dict[str, Check]:
    """A check of each connection by its name; each raises an error that names it and says what is wrong."""
    return {name: partial(connected.reach, name) for name in settings.connection_urls}


def address_checks(settings: Settings) -> dict[str, Check]:
    """Checks of the company sign-in's provider, and of the hosts of the webhook and of DSPs, where set."""
    checks: dict[str, Check] = {}
    if settings.oidc is not None:
        checks[SIGN_IN] = partial(_check_provider, settings.oidc, settings.ca_file)
    if settings.alerts_webhook is not None:
        checks[WEBHOOK] = partial(_reach, settings.alerts_webhook.get_secret_value())
    for dsp, receiver in settings.deal_sync_receivers.items():
        checks[RECEIVER.format(dsp)] = partial(_reach, receiver.url.get_secret_value())
    return checks


def _check_provider(provider: CompanyProvider, ca_file: Path | None, deadline: Deadline) -> None:
    """The provider describes itself, as the issuer of the settings (OpenID Connect Discovery 1.0, 4.3)."""
    address = urlsplit(provider.metadata_url)
    origin = f"{address.scheme}://{address.netloc}"
    with client(origin, ca_file, base_url=origin, timeout=SECONDS) as http:
        answer = call(http, Call("GET", address.path, deadline=deadline, max_bytes=MOST_BYTES))
    try:
        issuer = answer.json()["issuer"]
    except (ValueError, TypeError, LookupError):
        raise Unreadable(f"{provider.metadata_url} doesn't describe an OpenID Connect provider") from None
    if str(issuer).rstrip("/") != provider.issuer.rstrip("/"):
        raise Misconfigured(f"The provider calls itself {issuer}, not {provider.issuer}")


def _reach(address: str, deadline: Deadline) -> None:
    """The host takes a connection; nothing is sent. The rest of the address is handled like a password."""
    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    seconds = deadline.remaining()
    try:
        with socket.create_connection((host, port), SECONDS if seconds is None else max(seconds, 0.01)):
            return
    except OSError as error:
        raise Unreachable(f"{host}:{port} can't be reached: {error.strerror or error}") from None
