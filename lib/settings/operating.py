"""The settings of operation: what is logged and measured, and who may read the measurements."""

from typing import Literal

from pydantic import Field, SecretStr, field_validator

from lib.settings.alerting import SHORTEST_SECRET, Alerting


class Operating(Alerting):
    """The settings of operation."""

    log_format: Literal["text", "json"] = Field(
        default="text", description="Format of log messages: `text`, or `json` for one JSON object per line."
    )
    metrics_token: SecretStr | None = Field(
        default=None,
        description="Token that opens `/metrics`: 16 characters or more; empty: there is no `/metrics`.",
    )
    metrics_slicers: bool = Field(
        default=False, description="Whether `/metrics` names slicers; otherwise it has no names at all."
    )

    @field_validator("metrics_token", mode="after")
    @classmethod
    def _is_long(cls, token: SecretStr | None) -> SecretStr | None:
        if token is not None and len(token.get_secret_value()) < SHORTEST_SECRET:
            raise ValueError(f"metrics_token must have {SHORTEST_SECRET} characters or more")
        return token
