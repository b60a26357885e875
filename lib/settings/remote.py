"""The settings of remote services: addresses, credentials, and how they differ."""

from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationInfo, field_validator, model_validator
from pydantic_settings import NoDecode

from lib.settings.local import Local, number, split_values
from lib.wire.network import is_loopback
from lib.wire.text import DOTS

SECRETS = frozenset(
    {
        "reporting_token",
        "deals_token",
        "service_password",
        "alerts_secret",
        "alerts_webhook",
        "smtp_password",
        "metrics_token",
        "oidc_secret",
    }
)
ADDRESSES = ("base_url", "curate_url", "auth_url")
HEADER = r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"


class ConfiguredSeat(BaseModel):
    """A seat of a deals service that keeps no list of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: int = Field(ge=1)
    name: str = Field(min_length=1)
    dsp_id: int | None = Field(default=None, ge=1)
    dsp: str | None = None
    deal_sync: bool | None = None

    @field_validator("*", mode="before")
    @classmethod
    def _is_no_switch(cls, value: Any, info: ValidationInfo) -> Any:
        return number(value, cls.model_fields[info.field_name or ""].annotation)


class Remote(Local):
    """The settings of remote services. Without an address, a service is embedded."""

    base_url: str = Field(
        default="",
        description="Address of a remote reporting service, without `/API/v2`; empty: embedded.",
    )
    curate_url: str = Field(
        default="", description="Address of a remote deals service, without `/api/`; empty: embedded."
    )
    auth_url: str = Field(default="", description="Address of their token service, without `/oauth2/token/`.")
    plain_http: bool = Field(
        default=False,
        description="Whether these addresses may be http beyond this machine: tokens are sent unencrypted.",
    )
    slicers: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Slicers of the remote reporting service, each `project/slicer`."
    )
    reporting_token: SecretStr | None = Field(
        default=None, description="Permanent token for the remote reporting service."
    )
    deals_token: SecretStr | None = Field(
        default=None, description="Permanent token for the remote deals service."
    )
    service_username: str = Field(
        default="",
        description="User name for temporary tokens, if no permanent token is set.",
    )
    service_password: SecretStr | None = Field(default=None, description="Password for temporary tokens.")
    token_header: str = Field(
        default="Authorization",
        pattern=HEADER,
        description="Header of the token in calls to the remote deals service.",
    )
    token_scheme: str = Field(
        default="Bearer", description="Word before the token in that header; may be empty."
    )
    connect_seconds: float = Field(
        default=5, gt=0, le=120, description="Timeout for connecting to a remote service, in seconds."
    )
    answer_seconds: float = Field(
        default=60, gt=0, le=3600, description="Timeout for one call to it including retries, in seconds."
    )
    max_answer_bytes: int = Field(
        default=268_435_456, ge=1024, description="Largest response that is accepted from it, in bytes."
    )
    ca_file: Path | None = Field(
        default=None, description="Certificates (PEM) to trust for its TLS, instead of the system's."
    )
    deals_mapping_confirmed: bool = Field(
        default=False,
        description="Whether `targeting_names` and `fee_types` were checked against the remote deals "
        "service; until then its deals are read-only.",
    )
    targeting_names: dict[str, dict[str, str]] = Field(
        default={},
        description="Names of the fields of targeting elements in that service, per array: our name, theirs.",
    )
    fee_types: dict[int, int] = Field(
        default={},
        description="Its numbers for our `agency_curation_fee_type`; without them fees can't be set.",
    )
    seats: tuple[ConfiguredSeat, ...] = Field(
        default=(),
        description="Its seats, if it has no list of them: `id`, `name`, `dsp_id`, `dsp`, `deal_sync`.",
    )
    deals_keys: bool = Field(
        default=False, description="Whether it honors `Idempotency-Key`, so that creating may be retried."
    )

    @field_validator("slicers", mode="before")
    @classmethod
    def _split_values(cls, value: Any) -> Any:
        return split_values(value)

    @field_validator("slicers", mode="after")
    @classmethod
    def _are_slicers(cls, slicers: tuple[str, ...]) -> tuple[str, ...]:
        for slicer in slicers:
            project, _, name = slicer.partition("/")
            if not project or not name:
                raise ValueError(f"a slicer is named project/slicer, not '{slicer}'")
            if not DOTS.isdisjoint((project, name)):
                raise ValueError(f"no project or slicer is called . or .., as in '{slicer}'")
        return tuple(dict.fromkeys(slicers))

    @field_validator(*ADDRESSES, mode="after")
    @classmethod
    def _is_address(cls, address: str) -> str:
        parts = urlsplit(address)
        if address and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("an address begins with https:// (or http://) and names a host")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError(
                "an address has no password, no ? and no # in it; tokens have settings of their own"
            )
        return address.rstrip("/")

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        plain_names = [name for name in ADDRESSES if _is_unsealed(getattr(self, name))]
        if plain_names and not self.plain_http:
            raise ValueError(
                f"{plain_names[0]} is http, which sends passwords and tokens unencrypted: make it https, "
                "or set plain_http to true"
            )
        if self.base_url and not self.slicers:
            raise ValueError(
                "base_url needs slicers, because no service lists them: slicers = ['project/slicer']"
            )
        for address, token in (("base_url", "reporting_token"), ("curate_url", "deals_token")):
            if getattr(self, address) and not (getattr(self, token) or self._can_ask_for_tokens()):
                raise ValueError(
                    f"{address} needs {token}, or auth_url with service_username and service_password"
                )
        return self

    def _can_ask_for_tokens(self) -> bool:
        return bool(self.auth_url and self.service_username and self.service_password)


def _is_unsealed(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme == "http" and not is_loopback(parts.hostname or "")
