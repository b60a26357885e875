"""The tables of people, sign-ins, used ID tokens, failed attempts and secrets; and whose a row is."""

from typing import Any

from sqlalchemy import ColumnElement, Double, Index, String, Table

from lib.database import Document, keys, metadata, numbered_table, required
from lib.people.person import Person

people = Table("people", metadata, *keys(username=String(64)), *required(record=Document))
sign_ins = Table(
    "sign_ins", metadata, *keys(username=String(64), ends=Double), *required(proof=String(64)),
    Index(None, "ends"),
)  # fmt: skip
id_tokens = Table(
    "id_tokens", metadata, *keys(digest=String(64)), *required(ends=Double), Index(None, "ends")
)
attempts = numbered_table(
    "attempts", *required(kind=String(7), name=String(64), origin=String(64), at=Double),
    Index(None, "kind", "name", "origin"), Index(None, "at"),
)  # fmt: skip
secrets = Table("secrets", metadata, *keys(name=String(64)), *required(value=String(64)))


def made_by(person: Person, who: ColumnElement[str], at: ColumnElement[Any]) -> list[ColumnElement[bool]]:
    """Conditions for the rows that this person made, and not an earlier person of the same name."""
    mine = who == person.username
    return [mine] if person.added is None else [mine, at >= person.added]
