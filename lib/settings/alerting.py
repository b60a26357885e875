"""The settings of alerts: whether this desk checks them, and the webhook."""

from typing import Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, model_validator

from lib.settings.remote import Remote
from lib.wire.network import is_loopback

SHORTEST_SECRET = 16


class Alerting(Remote):
    """The settings of alerts."""

    alerts: bool = Field(
        default=True, description="Whether this desk checks alerts: after imports, and every 15 minutes."
    )
    alerts_webhook: SecretStr | None = Field(
        default=None,
        description="Address to which alerts that fire or clear are sent; https beyond loopback.",
    )
    alerts_secret: SecretStr | None = Field(
        default=None, description="Secret that signs these messages: 16 characters or more."
    )

    @model_validator(mode="after")
    def _has_a_sealed_webhook(self) -> Self:
        if self.alerts_webhook is None:
            return self
        parts = urlsplit(self.alerts_webhook.get_secret_value())
        is_near = parts.scheme == "http" and is_loopback(parts.hostname or "")
        if not parts.hostname or (parts.scheme != "https" and not is_near):
            raise ValueError("alerts_webhook must be an https address, or http on this machine")
        if parts.username or parts.password or parts.fragment:
            raise ValueError("alerts_webhook has no password and no # in it: messages are signed")
        if self.alerts_secret is None or len(self.alerts_secret.get_secret_value()) < SHORTEST_SECRET:
            raise ValueError(f"alerts_webhook needs alerts_secret, of {SHORTEST_SECRET} characters or more")
        return self
