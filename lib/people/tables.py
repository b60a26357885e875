"""The tables of people, sign-ins, used ID tokens, failed attempts and secrets."""

from sqlalchemy import Column, Double, Index, String, Table

from lib.database import Document, Key, metadata

people = Table(
    "people",
    metadata,
    Column("username", String(64), primary_key=True),
    Column("record", Document, nullable=False),
)
sign_ins = Table(
    "sign_ins",
    metadata,
    Column("username", String(64), primary_key=True),
    Column("ends", Double, primary_key=True),
    Column("proof", String(64), nullable=False),
    Index(None, "ends"),
)
id_tokens = Table(
    "id_tokens",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("ends", Double, nullable=False),
    Index(None, "ends"),
)
attempts = Table(
    "attempts",
    metadata,
    Column("id", Key, primary_key=True),
    Column("kind", String(7), nullable=False),
    Column("name", String(64), nullable=False),
    Column("origin", String(64), nullable=False),
    Column("at", Double, nullable=False),
    Index(None, "kind", "name", "origin"),
    Index(None, "at"),
    sqlite_autoincrement=True,
)
secrets = Table(
    "secrets",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", String(64), nullable=False),
)
