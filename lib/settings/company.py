"""The settings of the company sign-in: an OpenID Connect provider, and the rights that its claims give."""

from typing import Annotated, Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from lib.settings.syncing import Syncing
from lib.wire.network import is_loopback

CALLBACK = "/oauth2callback"
DISCOVERY = "/.well-known/openid-configuration"
Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures by a key that only the provider has (RFC 7518, 3.1; RFC 8037): not `none`, no shared secret."""
Text = Annotated[str, Field(min_length=1, max_length=200)]


class CompanyRule(BaseModel):
    """Whoever has this value in this claim has this role, these grants and this permission for deals."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    claim: Text
    value: Text
    role: Literal["viewer", "manager", "admin"]
    grants: tuple[str, ...] = ()
    deals: str = "none"


class CompanyProvider(BaseModel):
    """A provider (OpenID Connect Discovery 1.0), and how its accounts become people of the desk."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
    def _is_sealed(cls, issuer: str) -> str:
        parts = urlsplit(issuer)
        is_near = parts.scheme == "http" and is_loopback(parts.hostname or "")
        if not parts.hostname or (parts.scheme != "https" and not is_near):
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


class SigningIn(Syncing):
    """The settings of the company sign-in."""

    oidc: CompanyProvider | None = Field(
        default=None,
        description="Company sign-in with OpenID Connect (docs/company-sign-in.md): `[oidc]` with `issuer`, "
        "`client_id` and `[[oidc.rules]]`.",
    )
    oidc_secret: SecretStr | None = Field(default=None, description="Client secret of the company sign-in.")

    @model_validator(mode="after")
    def _can_ask_the_provider(self) -> Self:
        if self.oidc is None:
            return self
        if self.oidc_secret is None or not self.oidc_secret.get_secret_value():
            raise ValueError("oidc needs oidc_secret, the client secret that the provider issued")
        if not self.oidc.address and not self.origins and not is_loopback(self.host):
            raise ValueError("oidc needs origins or oidc.address, to which the provider sends people back")
        return self

    @property
    def company_address(self) -> str:
        """The scheme and host to which the provider sends people back; empty without a provider."""
        return "" if self.oidc is None else self.oidc.address or self.address
