"""The clients behind a Desk: those of an address and a token, or those of a person in this process."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from lib.deals.client import Deals
from lib.reporting.client import Reporting
from lib.settings import Settings
from lib.wire.call import Patience
from lib.wire.errors import AccessError, Misconfigured
from lib.wire.network import is_loopback
from lib.wire.sockets import client

Pair = tuple[str, str]


@dataclass(frozen=True)
class DeskClients:
    """The clients of one caller, and the `address` of the desk for links.

    `slicers` are those that the caller may see. `is_checked_here`: no service checks that, as with remote
    services behind a desk, which know the desk alone.
    """

    address: str
    reporting: Reporting
    open_deals: Callable[[], Deals]
    slicers: Callable[[], Sequence[Pair]]
    is_checked_here: bool = False


def remote(
    address: str, token: str, deals_token: str | None, ca_file: Path | None, seconds: float
) -> DeskClients:
    """The clients of a desk at an address, by tokens. Misconfigured for http beyond this machine."""
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        raise Misconfigured(f"The address of a desk is https://…, or http on this machine, not '{address}'")
    http = client(address, ca_file, base_url=address, timeout=seconds)
    reporting = Reporting(http, token, Patience(seconds))
    deals = Deals(http, deals_token or token, Patience(seconds))
    return DeskClients(address.rstrip("/"), reporting, lambda: deals, reporting.slicers)


def local(user: str, settings: Settings) -> DeskClients:
    """The clients of a person over the data of this machine. UnknownName without such a person.

    AccessError for one who may not sign in.
    """
    from lib.serving import connect

    people = connect.installation(settings).people
    person = people.require(user)
    if person.blocked or people.is_locked(person):
        raise AccessError(f"'{person.username}' may not sign in")
    clients = connect.connect(person, settings)
    return DeskClients(
        settings.address, clients.reporting, clients.open_deals, lambda: clients.slicers, is_checked_here=True
    )
