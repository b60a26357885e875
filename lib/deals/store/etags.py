"""Conflicts: the version that a client has read and the changes since, and violated constraints."""

import re
import sqlite3
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from lib.deals.store import history
from lib.deals.store.entity_stores import ENTITY_STORES
from lib.deals.store.work import EntityKey, Fields, Work
from lib.wire import exact
from lib.wire.errors import Conflict

LOST_RACE = (
    "Somebody else changed what this request refers to at the same moment; read it again and repeat it"
)
_SQLITE_UNIQUE = re.compile(r"UNIQUE constraint failed: (.+)")
DUPLICATES = {
    "uq_dsps_name": "A DSP of this name already exists",
    "uq_seats_dsp_id_name": "This DSP has a seat of this name already",
    "uq_seats_dsp_id_external_id": "This DSP has a seat of this external_id already",
    "uq_domain_lists_name": "A domain list of this name already exists",
    "uq_app_lists_name": "An app list of this name already exists",
}


def conflict(error: IntegrityError) -> Conflict:
    """The Conflict for a duplicate, or for a lost race."""
    return Conflict(DUPLICATES.get(_constraint(error), LOST_RACE))


def _constraint(error: IntegrityError) -> str:
    """The constraint's name; for SQLite, built from the columns in its message."""
    if isinstance(error.orig, sqlite3.Error):
        match = _SQLITE_UNIQUE.search(str(error.orig))
        columns = [name.split(".") for name in match[1].split(", ")] if match else []
        return "_".join(["uq", columns[0][0], *(column for _, column in columns)]) if columns else ""
    diagnostics = getattr(error.orig, "diag", None)
    return getattr(diagnostics, "constraint_name", None) or ""


LONGEST_VALUE = 80
_TAG = re.compile(r'(W/)?"([^"]*)"')
WEAK = (
    "If-Match holds a weak ETag (W/), which matches nothing; nothing was changed. Read the entity again "
    "with Accept-Encoding: identity"
)


def of(work: Work, key: EntityKey) -> str:
    """`"supply_deals-12-3"`: the entity, its id, its version.

    It stands for the fields that can be set; the status, and the names of others, may change under it.
    """
    table = ENTITY_STORES[key[0]].table
    version = work.connection.execute(select(table.c.version).where(table.c.id == key[1])).scalar_one()
    return f'"{_tag(key, version)}"'


def of_several(work: Work, entity: str, ids: Sequence[int]) -> dict[str, str]:
    """The ETags of these entities, by id as text."""
    table = ENTITY_STORES[entity].table
    rows = work.rows(select(table.c.id, table.c.version).where(table.c.id.in_(ids)))
    return {str(row.id): f'"{_tag((entity, row.id), row.version)}"' for row in rows}


def check(work: Work, key: EntityKey, version: int, if_match: str | None) -> None:
    """Raise Conflict with the changes, unless If-Match names this version, is `*`, or is absent.

    Tags are compared strongly: a weak one matches nothing (RFC 9110, 13.1.1).
    """
    if if_match is None or if_match.strip() == "*":
        return
    tags_of_header = _TAG.findall(if_match)
    tags = [tag for weak, tag in tags_of_header if not weak]
    if _tag(key, version) in tags:
        return
    if tags_of_header and not tags:
        raise Conflict(WEAK)
    versions = [read for read in range(version) if _tag(key, read) in tags]
    if not versions:
        raise Conflict(
            f"If-Match is no ETag of this {ENTITY_STORES[key[0]].called}; nothing was changed. Read it again"
        )
    meanwhile = [text for change in history.since(work, key, max(versions)) for text in _words(change)]
    raise Conflict(f"Changed since it was read, so nothing was saved: {'; '.join(meanwhile)}")


def _tag(key: EntityKey, version: int) -> str:
    return f"{key[0]}-{key[1]}-{version}"


def _words(change: Fields) -> list[str]:
    """`price from 2.5 to 3, by ada at 2026-11-20 09:00:00+0000`, for each field."""
    by = f"by {change['who']} at {change['at']}"
    before, after = change["before"] or {}, change["after"] or {}
    return [f"{name} from {_short(before.get(name))} to {_short(after[name])}, {by}" for name in after]


def _short(value: Any) -> str:
    text = exact.dumps(value).decode()
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
