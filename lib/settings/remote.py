"""The settings of services elsewhere: where they are, in whose name they are asked, and how they differ."""

from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator
from pydantic_settings import NoDecode

from lib.settings.local import Local, is_loopback, separated

SECRETS = frozenset({"reporting_token", "deals_token", "service_password"})
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


class Remote(Local):
    """What this installation was told of services elsewhere. Without an address, a service is embedded."""

    base_url: str = Field(
        default="",
        description="Address of a reporting service elsewhere, without `/API/v2`; empty: embedded.",
    )
    curate_url: str = Field(
        default="", description="Address of a deals service elsewhere, without `/api/`; empty: embedded."
    )
    auth_url: str = Field(
        default="", description="Address of the token service of these, without `/oauth2/token/`."
    )
    plain_http: bool = Field(
        default=False,
        description="Whether such an address may be http beyond this machine: tokens go unsealed.",
    )
    slicers: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Slicers of the reporting service elsewhere, each `project/slicer`."
    )
    reporting_token: SecretStr | None = Field(
        default=None, description="Permanent token for the reporting service elsewhere."
    )
    deals_token: SecretStr | None = Field(
        default=None, description="Permanent token for the deals service elsewhere."
    )
    service_username: str = Field(
        default="",
        description="Name with which temporary tokens are asked for, where no permanent one is set.",
    )
    service_password: SecretStr | None = Field(default=None, description="The password that belongs to it.")
    token_header: str = Field(
        default="Authorization",
        pattern=HEADER,
        description="Header in which the deals service elsewhere wants its token.",
    )
    token_scheme: str = Field(
        default="Bearer", description="Word before the token in that header; may be empty."
    )
    connect_seconds: float = Field(
        default=5, gt=0, le=120, description="Seconds to wait for a connection to a service elsewhere."
    )
    answer_seconds: float = Field(
        default=60, gt=0, le=3600, description="Seconds for one call to it altogether, repetitions included."
    )
    max_answer_bytes: int = Field(
        default=268_435_456, ge=1024, description="Bytes of its answer above which it is refused."
    )
    ca_file: Path | None = Field(
        default=None, description="Certificates (PEM) to trust in place of the system's, for its TLS."
    )
    deals_mapping_confirmed: bool = Field(
        default=False,
        description="Whether `targeting_names` and `fee_types` were checked against the deals service "
        "elsewhere; until then its deals are read-only.",
    )
    targeting_names: dict[str, dict[str, str]] = Field(
        default={},
        description="How that service calls the fields of targeting elements, per array: our name, theirs.",
    )
    fee_types: dict[int, int] = Field(
        default={},
        description="Its numbers for our `agency_curation_fee_type`; without them no fee is offered.",
    )
    seats: tuple[ConfiguredSeat, ...] = Field(
        default=(),
        description="Its seats, where it keeps no list: `id`, `name`, `dsp_id`, `dsp`, `deal_sync`.",
    )
    deals_keys: bool = Field(
        default=False, description="Whether it honours `Idempotency-Key`, so that a creation may be repeated."
    )

    @field_validator("slicers", mode="before")
    @classmethod
    def _separated(cls, value: Any) -> Any:
        return separated(value)

    @field_validator("slicers", mode="after")
    @classmethod
    def _are_slicers(cls, slicers: tuple[str, ...]) -> tuple[str, ...]:
        for one in slicers:
            project, _, name = one.partition("/")
            if not project or not name:
                raise ValueError(f"a slicer is named project/slicer, not '{one}'")
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
        unsealed = [name for name in ADDRESSES if _is_unsealed(getattr(self, name))]
        if unsealed and not self.plain_http:
            raise ValueError(
                f"{unsealed[0]} is http, over which passwords and tokens travel in the open: make it https, "
                "or set plain_http to true"
            )
        if self.base_url and not self.slicers:
            raise ValueError("base_url needs slicers, as no service lists them: slicers = ['project/slicer']")
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
