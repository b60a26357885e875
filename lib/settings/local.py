"""The settings of this installation: storage, network, limits and timeouts."""

import ipaddress
import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationInfo, field_validator, model_validator
from pydantic_settings import NoDecode

from lib.wire.network import Network, is_loopback

PREFIX = "TRANCHE_"
DATABASE_FILE = "tranche.db"
SHORTEST_SECRET = 16
ServiceName = re.compile(r"[A-Za-z0-9._~:-]{1,100}")


def split_values(value: Any) -> Any:
    """Several values in an environment variable: separated by commas, or a list of JSON."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except json.JSONDecodeError as error:
            raise ValueError(f"is not valid JSON: {error}") from None
    return tuple(filter(None, map(str.strip, value.split(","))))


class Section(BaseModel):
    """Settings that belong together."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)

    @field_validator("*", mode="before")
    @classmethod
    def _is_no_switch(cls, value: Any, info: ValidationInfo) -> Any:
        """A switch is no number: TOML's `true` would be read as 1."""
        kind = cls.model_fields[info.field_name or ""].annotation
        if isinstance(value, bool) and kind in (int, float, int | None):
            raise ValueError(f"must be a number, not {str(value).lower()}")
        return value


class Connection(Section):
    """A database. In its URL `${NAME}` is a variable of the environment."""

    url: Annotated[
        str, Field(repr=False, pattern=r"^(parquet|delta|iceberg|duckdb|postgresql|clickhouse|sc)://.+")
    ]


class Local(Section):
    """The settings of this installation itself."""

    home: Path = Field(Path(".tranche"), description="Data directory: rows, the database, `tranche.toml`.")
    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8501, ge=1, le=65535, description="Port to listen on.")
    origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Public addresses of the desk besides `host`, like `https://desk.example`; "
        "requests for any other host name are refused.",
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Addresses or networks of the proxies in front, like `10.0.0.0/8`: only they may name "
        "the client in `X-Forwarded-For`.",
    )
    request_seconds: float = Field(
        30, gt=0, le=3600, description="Seconds in which a request's header, then its body, must arrive."
    )
    reader_seconds: float = Field(
        60, gt=0, le=3600,
        description="Seconds after which a client that reads nothing of a response loses the connection.",
    )  # fmt: skip
    visitors: int = Field(
        300, ge=3, le=10_000,
        description="Tabs without a sign-in that may be open at the same time; from one address a third.",
    )  # fmt: skip
    demo: bool = Field(
        False, description="Demo mode: people with a known password, so `host` must be a loopback address."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Minimum level of log messages: debug, info, warning or error."
    )
    deadline_seconds: float = Field(
        30, gt=0, le=3600, description="Seconds after which a query is stopped with the status `timeout`."
    )
    max_body_bytes: int = Field(1_048_576, ge=1024, description="Largest request body, in bytes.")
    query_threads: int = Field(4, ge=1, le=64, description="Queries that run at the same time.")
    query_share: int = Field(
        2, ge=1, le=64, description="Queries of one person, or of one remote desk, that run at the same time."
    )
    engine_threads: int = Field(2, ge=1, le=64, description="Threads per query.")
    question_megabytes: int = Field(
        4096, ge=1, description="Megabytes of memory that one query may need before it is refused."
    )
    answers_megabytes: int = Field(64, ge=0, description="Megabytes of answers kept in memory; 0 keeps none.")
    database_url: str = Field(
        default_factory=lambda data: f"sqlite:///{data['home'] / DATABASE_FILE}",
        repr=False,
        description="SQLAlchemy URL of the database of people, tokens and deals: SQLite or PostgreSQL.",
        json_schema_extra={"shown": f"sqlite:///<home>/{DATABASE_FILE}"},
    )
    reporting_service: str = Field(
        "reporting", description="Service identifier of tokens for the reporting API."
    )
    deals_service: str = Field("deals", description="Service identifier of tokens for the deals API.")
    throttle_reads: int = Field(
        100, ge=1, description="Read requests to the deals API, per token and minute."
    )
    throttle_writes: int = Field(
        60, ge=1, description="Write requests to the deals API, per token and minute."
    )
    throttle_questions: int = Field(
        300,
        ge=1,
        description="Requests to the reporting API, per token and minute; a remote desk has one token.",
    )
    throttle_agents: int = Field(60, ge=1, description="Requests of agents to `/mcp`, per token and minute.")
    filter_values: int = Field(10_000, ge=1, description="Maximum number of values in one filter.")
    legacy_packages: bool = Field(
        True, description="Whether the deals API still serves the deprecated packages."
    )
    approve_own_proposals: bool = Field(
        False, description="Whether people may approve proposals of their own."
    )
    price_currency: str = Field("USD", max_length=10, description="Currency of prices and fees on screen.")
    price_unit: str = Field("CPM", max_length=20, description="Unit of prices on screen.")
    price_type: Literal["floor", "fixed"] = Field(
        "floor", description="What the price of a deal is that has no price type: floor or fixed."
    )
    token_seconds: int = Field(
        3600, ge=60, le=86_400, description="Lifetime of a temporary token, in seconds."
    )
    session_hours: float = Field(
        12, gt=0, le=720, description="Hours after which a person has to sign in again."
    )
    share_links: bool = Field(
        True, description="Whether people with the permission can make share links, and those links work."
    )
    dossier_tolerance: float = Field(
        0.1, gt=0, lt=1,
        description="Share by which a buyer's counts of a deal may differ from ours before it is reported.",
    )  # fmt: skip
    log_format: Literal["text", "json"] = Field(
        "text", description="Format of log messages: `text`, or `json` for one JSON object per line."
    )
    metrics_token: SecretStr | None = Field(
        None, description="Token that opens `/metrics`: 16 characters or more; empty: there is no `/metrics`."
    )
    metrics_slicers: bool = Field(
        False, description="Whether `/metrics` names slicers; otherwise it has no names at all."
    )
    connections: dict[str, Connection] = Field(
        {},
        description="Databases that slicers are connected to (docs/connections.md): `[connections.NAME]` "
        "with a `url`; `${NAME}` in it is a variable of the environment.",
    )

    @property
    def address(self) -> str:
        """The scheme, host and port of the desk: the first of `origins`, or what it listens on."""
        host = "localhost" if self.host in ("0.0.0.0", "::") else self.host  # noqa: S104
        return next(iter(self.origins), f"http://{f'[{host}]' if ':' in host else host}:{self.port}")

    @field_validator("origins", "trusted_proxies", mode="before")
    @classmethod
    def _separated_lists(cls, value: Any) -> Any:
        return split_values(value)

    @field_validator("origins", mode="after")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            if not re.fullmatch(r"https?://[^/?#@\s]+", origin):
                raise ValueError(f"an origin is https:// and a host, with nothing after it, not '{origin}'")
        return origins

    @field_validator("trusted_proxies", mode="after")
    @classmethod
    def _are_networks(cls, proxies: tuple[str, ...]) -> tuple[str, ...]:
        for proxy in proxies:
            try:
                ipaddress.ip_network(proxy)
            except ValueError:
                raise ValueError(
                    f"a proxy is an address or a network like 10.0.0.0/8, not '{proxy}'"
                ) from None
        return proxies

    @field_validator("metrics_token", mode="after")
    @classmethod
    def _is_long(cls, token: SecretStr | None) -> SecretStr | None:
        if token is not None and len(token.get_secret_value()) < SHORTEST_SECRET:
            raise ValueError(f"metrics_token must have {SHORTEST_SECRET} characters or more")
        return token

    @field_validator("home", mode="after")
    @classmethod
    def _absolute(cls, home: Path) -> Path:
        return home.expanduser().absolute()

    @field_validator("reporting_service", "deals_service", mode="after")
    @classmethod
    def _is_service_name(cls, name: str) -> str:
        if not ServiceName.fullmatch(name):
            raise ValueError("a service identifier is 1 to 100 letters, digits and . _ ~ : -")
        return name

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.demo and not is_loopback(self.host):
            raise ValueError(
                f"demo mode has people with a known password and listens only on a loopback address, not on "
                f"{self.host}: set host to 127.0.0.1, or turn demo off"
            )
        if self.reporting_service == self.deals_service:
            raise ValueError(
                "reporting_service and deals_service must differ, or each token would work for both"
            )
        return self

    @property
    def warehouse(self) -> Path:
        return self.home / "warehouse"

    @property
    def network(self) -> Network:
        """The address to listen on, and the limits of requests."""
        return Network(
            self.host, self.port, self.origins, self.request_seconds, self.trusted_proxies,
            self.reader_seconds,
        )  # fmt: skip

    @property
    def connection_urls(self) -> dict[str, str]:
        """Name → URL of each connection."""
        return {name: connection.url for name, connection in self.connections.items()}

    @property
    def services(self) -> dict[str, str]:
        """The service identifier of each API: `reporting` and `deals` → identifier."""
        return {"reporting": self.reporting_service, "deals": self.deals_service}
