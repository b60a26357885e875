"""The settings of this installation itself: where it keeps things, where it listens, how long it works."""

import ipaddress
import re
import secrets
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from lib import private

PREFIX = "TRANCHE_"
ServiceName = re.compile(r"[A-Za-z0-9._~:-]{1,100}")


class Local(BaseSettings):
    """What this installation was told of itself."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, extra="forbid", frozen=True, validate_default=True
    )

    home: Path = Field(
        default=Path(".tranche"),
        description="Folder of all that is kept: rows, people, tokens, secrets, `tranche.toml`.",
    )
    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8501, ge=1, le=65535, description="Port to listen on.")
    origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Names of the desk, like `https://desk.example`, where a proxy changes the host.",
    )
    demo: bool = Field(
        default=False,
        description="Demo mode: people with a known password, so `host` must be a loopback address.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least grave message that is logged: debug, info, warning or error."
    )
    deadline_seconds: float = Field(
        default=30, gt=0, le=3600, description="Seconds after which a query is stopped and answers `timeout`."
    )
    max_body_bytes: int = Field(
        default=1_048_576, ge=1024, description="Bytes of a request's body above which it is refused."
    )
    query_threads: int = Field(default=4, ge=1, le=64, description="Queries worked on at the same time.")
    engine_threads: int = Field(default=2, ge=1, le=64, description="Threads that one query may use.")
    database_url: str = Field(
        default_factory=lambda given: f"sqlite:///{given['home'] / 'tranche.db'}",
        repr=False,
        description="SQLAlchemy URL of the database of tokens and deals, on SQLite or PostgreSQL.",
        json_schema_extra={"shown": "sqlite:///<home>/tranche.db"},
    )
    reporting_service: str = Field(
        default="reporting", description="Service identifier that a token for the reporting API carries."
    )
    deals_service: str = Field(
        default="deals", description="Service identifier that a token for the deals API carries."
    )
    throttle_reads: int = Field(
        default=100, ge=1, description="Requests to the deals API that read, per token and minute."
    )
    throttle_writes: int = Field(
        default=60, ge=1, description="Requests to the deals API that write, per token and minute."
    )
    legacy_packages: bool = Field(
        default=True, description="Whether the deals API still answers for the deprecated packages."
    )
    token_seconds: int = Field(
        default=3600, ge=60, le=86_400, description="Seconds for which a temporary token works."
    )
    session_hours: float = Field(
        default=12, gt=0, le=720, description="Hours after which a person has to sign in to the desk again."
    )

    @field_validator("origins", mode="before")
    @classmethod
    def _separated_origins(cls, value: Any) -> Any:
        return separated(value)

    @field_validator("origins", mode="after")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for one in origins:
            if not re.fullmatch(r"https?://[^/?#@\s]+", one):
                raise ValueError(f"an origin is https:// and a host, with nothing behind it, not '{one}'")
        return origins

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
                f"demo mode has people with a known password and listens on a loopback address alone, not on "
                f"{self.host}: set host to 127.0.0.1, or turn demo off"
            )
        if self.reporting_service == self.deals_service:
            raise ValueError("reporting_service and deals_service must differ, or each token would open both")
        return self

    @property
    def warehouse(self) -> Path:
        """The folder of the slicers."""
        return self.home / "warehouse"

    @property
    def people_file(self) -> Path:
        """The credentials file."""
        return self.home / "people.yaml"

    @property
    def services(self) -> dict[str, str]:
        """The service identifier of each API: `reporting` and `deals` → identifier."""
        return {"reporting": self.reporting_service, "deals": self.deals_service}

    def secret(self, name: str) -> str:
        """The installation's secret of that name: 43 characters from 32 random bytes, made on first use.

        Kept in `<home>/secrets/<name>`, 0600; processes that ask for it at the same time get the same one.
        """
        if not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
            raise ValueError(f"a secret's name is lower-case letters, digits, _ and -, not {name!r}")
        private.folder(self.home)
        path = private.folder(self.home / "secrets") / name
        try:
            return path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return private.write_once(path, secrets.token_urlsafe(32))


def separated(value: Any) -> Any:
    """Several values as the environment has them: one behind the other, with commas."""
    return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value


def is_loopback(host: str) -> bool:
    """Whether the host, a name or an address, is this machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
