"""Every change of every entity: who, when, the fields before and after; and ETags, which name versions."""

import re
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from lib.deals import moments
from lib.deals.store import tables as t
from lib.deals.store import visibility
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
_TAG = re.compile(r'(W/)?"([^"]*)"')
WEAK = (
    "If-Match holds a weak ETag (W/), which matches nothing; nothing was changed. Read the entity again "
    "with Accept-Encoding: identity"
)


class Recording:
    """Records the changes of entities during one transaction."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._before: dict[EntityKey, Fields | None] = {}
        self._versions: dict[EntityKey, int] = {}

    def watch(self, keys: Iterable[EntityKey]) -> None:
        """Store the current state of these entities, without missing ones."""
        for entity, ids in _by_entity(set(keys) - self._before.keys()).items():
            table = ENTITY_STORES[entity].table
            question = select(table.c.id, table.c.version).where(table.c.id.in_(ids))
            for row in self._work.rows(question):
                self._versions[entity, row.id] = row.version
            self._before |= self._states(entity, ids)

    def version(self, key: EntityKey) -> int:
        return self._versions[key]

    def etag(self, key: EntityKey) -> str:
        """The ETag of a watched entity, or a new one; after `write`, that of its new version.

        It is not read back: a change may have hidden the entity from the caller who made it.
        """
        return f'"{_tag(key, self._versions[key])}"'

    def note_creation(self, keys: Iterable[EntityKey]) -> None:
        """Note that this transaction created these entities."""
        for key in keys:
            self._before[key], self._versions[key] = None, 0

    def write(self) -> None:
        """Write the changes, and increment the entities' versions; nothing of a trial."""
        if self._work.trial_ids is not None:
            return
        rows: list[Fields] = []
        for entity, ids in _by_entity(self._before).items():
            after = self._states(entity, ids)
            differences = (self._compare((entity, number), after.get((entity, number))) for number in ids)
            rows += [row for row in differences if row is not None]
        if rows:
            self._work.connection.execute(insert(t.changes), rows)

    def _states(self, entity: str, ids: list[int]) -> dict[EntityKey, Fields]:
        entity_store = ENTITY_STORES[entity]
        bodies = entity_store.whole(self._work.without_limits(), ids)
        return {(entity, body["id"]): entity_store.state(body) for body in bodies}

    def _compare(self, key: EntityKey, after: Fields | None) -> Fields | None:
        """The row of what became of an entity, whose version is incremented; None without a change."""
        before, work = self._before[key], self._work
        if before == after:
            return None
        self._versions[key] += 1
        action = "created" if before is None else "removed" if after is None else "changed"
        if before is not None and after is not None:
            table = ENTITY_STORES[key[0]].table
            values = {"version": self._versions[key], "updated_at": work.now}
            work.connection.execute(update(table).where(table.c.id == key[1]).values(values))
            names = [name for name in after if after[name] != before[name]]
            before, after = ({name: state[name] for name in names} for state in (before, after))
        return {
            "entity": key[0], "entity_id": key[1], "version": self._versions[key], "at": work.now,
            "who": work.who, "action": action, "token": work.scope.token_name,
            "before": before, "after": after,
        }  # fmt: skip


def page(work: Work, key: EntityKey, limit: int, offset: int) -> tuple[int, list[Fields]]:
    """The number of an entity's changes that the caller may see, and a page of them, latest first."""
    if work.scope.is_limited:
        entries = visibility.without_unseen(work, key, _all(work, key))[::-1]
        return len(entries), [_answer_fields(entry) for entry in entries[offset : offset + limit]]
    connection, mine = work.connection, _of(key)
    count = connection.execute(select(func.count()).select_from(t.changes).where(*mine)).scalar_one()
    question = select(t.changes).where(*mine).order_by(t.changes.c.id.desc()).limit(limit).offset(offset)
    return count, [_answer_fields(row._mapping) for row in connection.execute(question)]


def _all(work: Work, key: EntityKey) -> list[Fields]:
    question = select(t.changes).where(*_of(key)).order_by(t.changes.c.id)
    return [dict(row._mapping) for row in work.rows(question)]


def _of(key: EntityKey) -> tuple[ColumnElement[bool], ...]:
    return t.changes.c.entity == key[0], t.changes.c.entity_id == key[1]


def _answer_fields(row: Any) -> Fields:
    fields = {name: row[name] for name in ("id", "who", "token", "action", "before", "after")}
    return fields | {"at": moments.write(row["at"])}


def _by_entity(keys: Iterable[EntityKey]) -> dict[str, list[int]]:
    ids_of: dict[str, list[int]] = {}
    for entity, entity_id in sorted(keys):
        ids_of.setdefault(entity, []).append(entity_id)
    return ids_of


def conflict(error: IntegrityError) -> Conflict:
    """The Conflict for a duplicate, or for a lost race."""
    if isinstance(error.orig, sqlite3.Error):
        # SQLite names the columns in its message, and not the constraint, which has its name of them.
        match = _SQLITE_UNIQUE.search(str(error.orig))
        columns = [name.split(".") for name in match[1].split(", ")] if match else []
        names = [*(table for table, _ in columns[:1]), *(column for _, column in columns)]
        constraint = "_".join(["uq", *names])
    else:
        constraint = getattr(getattr(error.orig, "diag", None), "constraint_name", None) or ""
    return Conflict(DUPLICATES.get(constraint, LOST_RACE))


def etag(work: Work, key: EntityKey) -> str:
    """`"supply_deals-12-3"`: the entity, its id, its version.

    It stands for the fields that can be set; the status, and the names of others, may change under it.
    """
    return etags(work, key[0], [key[1]])[str(key[1])]


def etags(work: Work, entity: str, ids: Sequence[int]) -> dict[str, str]:
    """The ETags of those of these entities that the caller may see, by id as text."""
    table = ENTITY_STORES[entity].table
    visible = (table.c.id.in_(ids), *work.scope.visibility(table))
    rows = work.rows(select(table.c.id, table.c.version).where(*visible))
    return {str(row.id): f'"{_tag((entity, row.id), row.version)}"' for row in rows}


def check_etag(work: Work, key: EntityKey, version: int, if_match: str | None) -> None:
    """Raise Conflict with the changes, unless If-Match names this version, is `*`, or is absent.

    Tags are compared strongly: a weak one matches nothing (RFC 9110, 13.1.1).
    """
    if if_match is None or if_match.strip() == "*":
        return
    tags_of_header = _TAG.findall(if_match)
    # That of a GET has a digest of what its caller reads behind the version (endpoints.content_tag).
    tags = [tag.partition(".")[0] for weak, tag in tags_of_header if not weak]
    if _tag(key, version) in tags:
        return
    if tags_of_header and not tags:
        raise Conflict(WEAK)
    versions = [read for read in range(version) if _tag(key, read) in tags]
    if not versions:
        raise Conflict(
            f"If-Match is no ETag of this {ENTITY_STORES[key[0]].noun}; nothing was changed. Read it again"
        )
    texts = []
    for change in visibility.without_unseen(work, key, _all(work, key)):
        if change["version"] > max(versions):
            by = f"by {change['who']} at {moments.write(change['at'])}"
            before, after = change["before"] or {}, change["after"] or {}
            texts += [
                f"{name} from {exact.brief(before.get(name))} to {exact.brief(after[name])}, {by}"
                for name in after
            ]
    raise Conflict(f"Changed since it was read, so nothing was saved: {'; '.join(texts)}")


def _tag(key: EntityKey, version: int) -> str:
    return f"{key[0]}-{key[1]}-{version}"
