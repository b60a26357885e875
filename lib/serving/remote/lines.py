"""Lines to remote services: connections, credentials and circuit breakers."""

from dataclasses import dataclass, field

import httpx
from pydantic import SecretStr

from lib.people.tokens.client import TemporaryToken
from lib.settings import Remote, Settings
from lib.wire.breaker import Breaker
from lib.wire.call import Credential, Patience
from lib.wire.sockets import client

CONNECTIONS, KEPT_ALIVE = 200, 10
AGENT = "tranche"


@dataclass(frozen=True)
class Line:
    """The line to one service: its address, connections, credential, and patience."""

    address: str
    http: httpx.Client
    credential: str | Credential = field(repr=False)  # a text is the token itself
    patience: Patience

    @property
    def breakers(self) -> list[Breaker]:
        """The circuit breakers of the service, and of the token service of its temporary tokens."""
        token = self.credential.breaker if isinstance(self.credential, TemporaryToken) else None
        return [breaker for breaker in (self.patience.breaker, token) if breaker is not None]


def reporting_line(settings: Settings) -> Line:
    """The line to the reporting service at `base_url`."""
    remote, service = settings.remote, settings.reporting_service
    return _line(remote, "the reporting service", remote.base_url, remote.reporting_token, service)


def deals_line(settings: Settings) -> Line:
    """The line to the deals service at `curate_url`."""
    remote, service = settings.remote, settings.deals_service
    return _line(remote, "the deals service", remote.curate_url, remote.deals_token, service)


def _line(remote: Remote, name: str, address: str, token: SecretStr | None, service: str) -> Line:
    """A line with the permanent token if there is one, else with temporary tokens."""
    if token is not None:
        credential: str | Credential = token.get_secret_value()
    else:
        password = remote.service_password.get_secret_value() if remote.service_password else ""
        credential = TemporaryToken(
            _http(remote, remote.auth_url),
            remote.service_username,
            password,
            service,
            _patience(remote, "the token service"),
        )
    return Line(address, _http(remote, address), credential, _patience(remote, name))


def _patience(remote: Remote, name: str) -> Patience:
    return Patience(seconds=remote.answer_seconds, max_bytes=remote.max_answer_bytes, breaker=Breaker(name))


def _http(remote: Remote, address: str) -> httpx.Client:
    """Connections that verify certificates; see `sockets.client` for proxies and redirects."""
    return client(
        address,
        remote.ca_file,
        base_url=address,
        timeout=httpx.Timeout(remote.answer_seconds, connect=remote.connect_seconds),
        limits=httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=KEPT_ALIVE),
        headers={"User-Agent": AGENT},
    )
