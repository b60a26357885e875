"""The tables of people, sign-ins, used ID tokens, failed attempts and secrets."""

from sqlalchemy import Double, Index, String, Table

from lib.database import Document, keys, metadata, numbered_table, required

people = Table("people", metadata, *keys(username=String(64)), *required(record=Document))
sign_ins = Table(
    "sign_ins",
    metadata,
    *keys(username=String(64), ends=Double),
    *required(proof=String(64)),
    Index(None, "ends"),
)
id_tokens = Table(
    "id_tokens", metadata, *keys(digest=String(64)), *required(ends=Double), Index(None, "ends")
)
attempts = numbered_table(
    "attempts",
    *required(kind=String(7), name=String(64), origin=String(64), at=Double),
    Index(None, "kind", "name", "origin"),
    Index(None, "at"),
)
secrets = Table("secrets", metadata, *keys(name=String(64)), *required(value=String(64)))
