"""The one database of tokens and deals: engine, tables' metadata, migrations."""

from lib.database.columns import Instant, metadata
from lib.database.engine import engine, writing
from lib.database.migrate import migrate

__all__ = ["Instant", "engine", "metadata", "migrate", "writing"]
