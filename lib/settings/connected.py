"""The settings of connections: databases in which the rows of slicers lie."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from lib.settings.operating import Operating


class Connection(BaseModel):
    """A database. In its URL `${NAME}` is a variable of the environment."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: Annotated[str, Field(repr=False, pattern=r"^(parquet|duckdb|postgresql|clickhouse|spark)://.+")]


class Connecting(Operating):
    """The settings of connections."""

    connections: dict[str, Connection] = Field(
        default={},
        description="Databases that slicers are connected to (docs/connections.md): `[connections.NAME]` "
        "with a `url`; `${NAME}` in it is a variable of the environment.",
    )

    @property
    def connection_urls(self) -> dict[str, str]:
        """Name → URL of each connection."""
        return {name: one.url for name, one in self.connections.items()}
