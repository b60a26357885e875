"""The one database of tokens and deals: engine, tables' metadata, transactions, migrations."""

from lib.database.alone import alone
from lib.database.columns import Amount, Document, Instant, Key, metadata
from lib.database.engine import engine, writing
from lib.database.migrate import migrate, upgrade
from lib.database.transaction import explained, reading, transact

__all__ = [
    "Amount",
    "Document",
    "Instant",
    "Key",
    "alone",
    "engine",
    "explained",
    "metadata",
    "migrate",
    "reading",
    "transact",
    "upgrade",
    "writing",
]
