"""The one database of tokens and deals: engine, tables' metadata, transactions, migrations."""

from lib.database.columns import Amount, Document, Instant, Key, metadata
from lib.database.engine import engine, writing
from lib.database.migrate import migrate, upgrade
from lib.database.process_lock import process_lock
from lib.database.transaction import explain_errors, reading, transact

__all__ = [
    "Amount",
    "Document",
    "Instant",
    "Key",
    "engine",
    "explain_errors",
    "metadata",
    "migrate",
    "process_lock",
    "reading",
    "transact",
    "upgrade",
    "writing",
]
