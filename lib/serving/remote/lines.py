"""Lines to remote services: connections, credentials and circuit breakers."""

from dataclasses import dataclass

import httpx
from pydantic import SecretStr

from lib.people.tokens.client import TemporaryToken
from lib.settings import Settings
from lib.wire.breaker import Breaker
from lib.wire.call import Credential, Patience, Permanent
from lib.wire.sockets import client

CONNECTIONS, KEPT_ALIVE = 200, 10
AGENT = "tranche"


@dataclass(frozen=True)
class Line:
    """The line to one service: its address, connections, credential, and patience."""

    address: str
    http: httpx.Client
    credential: Credential
    patience: Patience

    @property
    def breakers(self) -> list[Breaker]:
        """The circuit breakers of the service, and of the token service of its temporary tokens."""
        token = self.credential.breaker if isinstance(self.credential, TemporaryToken) else None
        return [breaker for breaker in (self.patience.breaker, token) if breaker is not None]


def reporting_line(settings: Settings) -> Line:
    """The line to the reporting service at `base_url`."""
    service = settings.reporting_service
    return _line(settings, "the reporting service", settings.base_url, settings.reporting_token, service)


def deals_line(settings: Settings) -> Line:
    """The line to the deals service at `curate_url`."""
    service = settings.deals_service
    return _line(settings, "the deals service", settings.curate_url, settings.deals_token, service)


def _line(settings: Settings, name: str, address: str, token: SecretStr | None, service: str) -> Line:
    """A line with the permanent token if there is one, else with temporary tokens."""
    if token is not None:
        credential: Credential = Permanent(token.get_secret_value())
    else:
        credential = _temporary(settings, service)
    return Line(address, _http(settings, address), credential, _patience(settings, name))


def _temporary(settings: Settings, service: str) -> TemporaryToken:
    password = settings.service_password.get_secret_value() if settings.service_password else ""
    return TemporaryToken(
        _http(settings, settings.auth_url),
        settings.service_username,
        password,
        service,
        _patience(settings, "the token service"),
    )


def _patience(settings: Settings, name: str) -> Patience:
    return Patience(
        seconds=settings.answer_seconds, max_bytes=settings.max_answer_bytes, breaker=Breaker(name)
    )


def _http(settings: Settings, address: str) -> httpx.Client:
    """Connections that verify certificates; see `sockets.client` for proxies and redirects."""
    return client(
        address,
        settings.ca_file,
        base_url=address,
        timeout=httpx.Timeout(settings.answer_seconds, connect=settings.connect_seconds),
        limits=httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=KEPT_ALIVE),
        headers={"User-Agent": AGENT},
    )
