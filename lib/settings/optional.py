"""Settings that a plain desk leaves alone: remote services, alerts, mail, connections, sign-in."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import NoDecode

from lib.settings.local import SHORTEST_SECRET, Section, split_values
from lib.wire.network import is_loopback
from lib.wire.text import DOTS, is_mailable

SECRETS = frozenset(
    {
        "reporting_token", "deals_token", "service_password", "alerts_secret", "alerts_webhook",
        "smtp_password", "metrics_token", "oidc_secret",
    }
)  # fmt: skip
ADDRESSES = ("base_url", "curate_url", "auth_url")
HEADER = r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"
DOMAIN = r"^$|^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$"
DEMO = "tranche.example"
Domain = Annotated[str, Field(pattern=DOMAIN)]
CALLBACK = "/oauth2callback"
DISCOVERY = "/.well-known/openid-configuration"
Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures by a key that only the provider has (RFC 7518, 3.1; RFC 8037): not `none`, no shared secret."""
Text = Annotated[str, Field(min_length=1, max_length=200)]


class ConfiguredSeat(Section):
    """A seat of a deals service that keeps no list of them."""

    id: int = Field(ge=1)
    name: str = Field(min_length=1)
    dsp_id: int | None = Field(None, ge=1)
    dsp: str | None = None
    deal_sync: bool | None = None


class Remote(Section):
    """The settings of remote services. Without an address, a service is embedded."""

    base_url: str = Field(
        "", description="Address of a remote reporting service, without `/API/v2`; empty: embedded."
    )
    curate_url: str = Field(
        "", description="Address of a remote deals service, without `/api/`; empty: embedded."
    )
    auth_url: str = Field("", description="Address of their token service, without `/oauth2/token/`.")
    plain_http: bool = Field(
        False,
        description="Whether these addresses may be http beyond this machine: tokens are sent unencrypted.",
    )
    slicers: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Slicers of the remote reporting service, each `project/slicer`."
    )
    reporting_token: SecretStr | None = Field(
        None, description="Permanent token for the remote reporting service."
    )
    deals_token: SecretStr | None = Field(None, description="Permanent token for the remote deals service.")
    service_username: str = Field(
        "", description="User name for temporary tokens, if no permanent token is set."
    )
    service_password: SecretStr | None = Field(None, description="Password for temporary tokens.")
    token_header: str = Field(
        "Authorization",
        pattern=HEADER,
        description="Header of the token in calls to the remote deals service.",
    )
    token_scheme: str = Field("Bearer", description="Word before the token in that header; may be empty.")
    connect_seconds: float = Field(
        5, gt=0, le=120, description="Timeout for connecting to a remote service, in seconds."
    )
    answer_seconds: float = Field(
        60, gt=0, le=3600, description="Timeout for one call to it including retries, in seconds."
    )
    max_answer_bytes: int = Field(
        268_435_456, ge=1024, description="Largest response that is accepted from it, in bytes."
    )
    ca_file: Path | None = Field(
        None, description="Certificates (PEM) to trust for its TLS, instead of the system's."
    )
    deals_mapping_confirmed: bool = Field(
        False,
        description="Whether `targeting_names` and `fee_types` were checked against the remote deals "
        "service; until then its deals are read-only.",
    )
    targeting_names: dict[str, dict[str, str]] = Field(
        {},
        description="Names of the fields of targeting elements in that service, per array: our name, theirs.",
    )
    fee_types: dict[int, int] = Field(
        {}, description="Its numbers for our `agency_curation_fee_type`; without them fees can't be set."
    )
    seats: tuple[ConfiguredSeat, ...] = Field(
        (), description="Its seats, if it has no list of them: `id`, `name`, `dsp_id`, `dsp`, `deal_sync`."
    )
    deals_keys: bool = Field(
        False, description="Whether it honors `Idempotency-Key`, so that creating may be retried."
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
        addresses = {name: getattr(self, name) for name in ADDRESSES}
        plain_names = [name for name, address in addresses.items() if address and not _is_sealed(address)]
        if plain_names and not self.plain_http:
            raise ValueError(
                f"{plain_names[0]} is http, which sends passwords and tokens unencrypted: make it https, "
                "or set plain_http to true"
            )
        if self.base_url and not self.slicers:
            raise ValueError(
                "base_url needs slicers, because no service lists them: slicers = ['project/slicer']"
            )
        can_ask = bool(self.auth_url and self.service_username and self.service_password)
        for address, token in (("base_url", "reporting_token"), ("curate_url", "deals_token")):
            if getattr(self, address) and not getattr(self, token) and not can_ask:
                raise ValueError(
                    f"{address} needs {token}, or auth_url with service_username and service_password"
                )
        return self


class Alerting(Section):
    """The settings of alerts."""

    alerts: bool = Field(
        True, description="Whether this desk checks alerts: after imports, and every 15 minutes."
    )
    alerts_webhook: SecretStr | None = Field(
        None, description="Address to which alerts that fire or clear are sent; https beyond loopback."
    )
    alerts_secret: SecretStr | None = Field(
        None, description="Secret that signs these messages: 16 characters or more."
    )

    @model_validator(mode="after")
    def _has_a_sealed_webhook(self) -> Self:
        if self.alerts_webhook is None:
            return self
        _check_webhook("alerts_webhook", self.alerts_webhook)
        if self.alerts_secret is None or len(self.alerts_secret.get_secret_value()) < SHORTEST_SECRET:
            raise ValueError(f"alerts_webhook needs alerts_secret, of {SHORTEST_SECRET} characters or more")
        return self


class Mail(Section):
    """The settings of mail."""

    smtp_host: str = Field(
        "",
        pattern=r"^[A-Za-z0-9.:_-]*$",
        description="Mail server (SMTP) that takes the desk's mails (docs/mail.md); empty: no mail.",
    )
    smtp_port: int = Field(587, ge=1, le=65535, description="Its port.")
    smtp_security: Literal["starttls", "tls", "none"] = Field(
        "starttls",
        description="How the connection to it is encrypted: `starttls`, `tls` from the first byte (often on "
        "port 465), or `none`, on this machine alone.",
    )
    smtp_username: str = Field("", description="User name of the login there; empty: no login.")
    smtp_password: SecretStr | None = Field(None, description="Password of the login there.")
    mail_from: str = Field("", description="Address that mails come from.")

    @model_validator(mode="after")
    def _can_send_safely(self) -> Self:
        if not self.smtp_host:
            return self
        if not is_mailable(self.mail_from):
            raise ValueError("smtp_host needs mail_from, the address that mails come from")
        if self.smtp_security == "none" and not is_loopback(self.smtp_host):
            raise ValueError("smtp_security may be none on this machine alone: set starttls or tls")
        if bool(self.smtp_username) != bool(self.smtp_password and self.smtp_password.get_secret_value()):
            raise ValueError("smtp_username and smtp_password belong together: set both or neither")
        return self


class Receiver(Section):
    """Where a DSP takes the documents of its deals, and says their status; `secret` signs what it is sent.

    `token` goes with each message as a bearer token, for a DSP that asks for one.
    """

    url: SecretStr
    status_url: SecretStr | None = None
    secret: SecretStr = Field(min_length=SHORTEST_SECRET)
    token: SecretStr | None = None

    @model_validator(mode="after")
    def _has_sealed_addresses(self) -> Self:
        _check_webhook("url", self.url)
        if self.status_url is not None:
            _check_webhook("status_url", self.status_url)
        return self


class DealSyncing(Section):
    """The settings of deal sync."""

    deal_sync_receivers: dict[Annotated[int, Field(ge=1)], Receiver] = Field(
        {},
        description="DSPs that are sent their deals' documents at once (docs/deals-api.md): "
        "`[deal_sync_receivers.ID]`, by the DSP's id, with `url`, `secret`, `status_url` and `token`.",
    )

    deal_sync_origin: Domain = Field(
        "",
        description="Domain of the system that receives the bids for the deals, like `ssp.example`; empty: "
        f"no deal sync (the demo says `{DEMO}`).",
    )
    deal_sync_seller: Domain = Field(
        "", description="Domain of the business that sells the deals, for deal sync."
    )
    deal_sync_curator: Domain = Field(
        "", description="Domain of the business that curates the packages, for deal sync."
    )
    deal_sync_price_type: int = Field(
        0,
        ge=0,
        description="How the deals are priced, in the numbers of deal sync: 0 as each bid request says, 1 "
        "first price, 2 second price, 3 fixed price.",
    )


class CompanyRule(Section):
    """Whoever has this value in this claim has this role, these grants, and permissions."""

    claim: Text
    value: Text
    role: Literal["viewer", "manager", "admin"]
    grants: tuple[str, ...] = ()
    deals: str = "none"
    shares: bool = False


class CompanyProvider(Section):
    """A provider (OpenID Connect Discovery 1.0), and how its accounts become people of the desk."""

    issuer: str
    client_id: Text
    button: Annotated[str, Field(min_length=1, max_length=60)] = "Sign in with your company account"
    scope: Text = "openid email profile"
    name_claim: Text = "email"
    address: str = ""
    algorithms: Annotated[tuple[Algorithm, ...], Field(min_length=1)] = get_args(Algorithm)
    rules: Annotated[tuple[CompanyRule, ...], Field(min_length=1)]

    @field_validator("issuer", mode="after")
    @classmethod
    def _is_issuer(cls, issuer: str) -> str:
        parts = urlsplit(issuer)
        if not _is_sealed(issuer):
            raise ValueError("an issuer is an https address, or http on this machine")
        if parts.username or parts.query or parts.fragment:
            raise ValueError("an issuer has no password, no ? and no # in it")
        return issuer.removesuffix(DISCOVERY)

    @field_validator("address", mode="after")
    @classmethod
    def _is_origin(cls, address: str) -> str:
        parts = urlsplit(address)
        if address and (
            parts.scheme not in ("http", "https") or address != f"{parts.scheme}://{parts.netloc}"
        ):
            raise ValueError("the desk's address is https:// and a host, with nothing after it")
        return address

    @field_validator("scope", mode="after")
    @classmethod
    def _is_of_openid(cls, scope: str) -> str:
        if "openid" not in scope.split():
            raise ValueError("a scope has the word openid in it")
        return scope

    @property
    def metadata_url(self) -> str:
        """Where the provider describes itself."""
        return f"{self.issuer.rstrip('/')}{DISCOVERY}"


class CompanySignIn(Section):
    """The settings of the company sign-in."""

    oidc: CompanyProvider | None = Field(
        None,
        description="Company sign-in with OpenID Connect (docs/company-sign-in.md): `[oidc]` with `issuer`, "
        "`client_id` and `[[oidc.rules]]`.",
    )
    oidc_secret: SecretStr | None = Field(None, description="Client secret of the company sign-in.")

    @model_validator(mode="after")
    def _can_ask_the_provider(self) -> Self:
        if self.oidc is None:
            return self
        if self.oidc_secret is None or not self.oidc_secret.get_secret_value():
            raise ValueError("oidc needs oidc_secret, the client secret that the provider issued")
        return self


def _is_sealed(address: str) -> bool:
    """Whether it names a host that is asked by https, or by http on this machine."""
    parts = urlsplit(address)
    is_near = parts.scheme == "http" and is_loopback(parts.hostname or "")
    return bool(parts.hostname) and (parts.scheme == "https" or is_near)


def _check_webhook(name: str, address: SecretStr) -> None:
    """ValueError, naming the setting, unless it is an https address, or http on this machine."""
    url = address.get_secret_value()
    parts = urlsplit(url)
    if not _is_sealed(url):
        raise ValueError(f"{name} must be an https address, or http on this machine")
    if parts.username or parts.password or parts.fragment:
        raise ValueError(f"{name} has no password and no # in it: messages are signed")
