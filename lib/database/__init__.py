"""The one database of tokens and deals: engine, tables' metadata, transactions, migrations."""

from lib.database.background_work import Look, background
from lib.database.columns import Amount, Document, Instant, Key, metadata
from lib.database.engine import engine, migrate, upgrade, writing
from lib.database.transaction import explain_errors, process_lock, reading, transact

__all__ = [
    "Amount",
    "Document",
    "Instant",
    "Key",
    "Look",
    "background",
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
