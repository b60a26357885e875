"""The writes of a transaction: what is created, changed and deleted, with its history.

Each also says of what it makes the rules have to judge (cases.py).
"""

from collections.abc import Sequence
from typing import Any

from lib.deals.comparisons import Case
from lib.deals.store import history, visibility
from lib.deals.store.cases import cases_of
from lib.deals.store.entity_store import EntityStore
from lib.deals.store.entity_stores import ENTITY_STORES
from lib.deals.store.work import EntityKey, Fields, Work
from lib.deals.validation import Problems, read


def create(
    work: Work, entity_store: EntityStore, body: Any, problems: Problems, cases: list[Case]
) -> tuple[Sequence[EntityKey], history.Recording]:
    """Write a new entity; the keys of it and of those created with it. `cases` gets what rules judge."""
    fields = read(entity_store.request, body, problems)
    visibility.check_change(work, entity_store, fields, None)
    entity_store.check(work, fields, None, problems)
    cases += cases_of(work, entity_store.entity, [(fields, {})])[0]
    problems.check()
    recording = history.Recording(work)
    recording.watch(entity_store.affected_keys(fields, None))
    keys = entity_store.create(work, fields)
    recording.note_creation(keys)
    recording.write()
    return keys, recording


def remove(work: Work, key: EntityKey, if_match: str | None, problems: Problems) -> None:
    """Delete an entity. NotFound without it, Conflict for a stale `if_match`, InUse while others need it."""
    entity_store = ENTITY_STORES[key[0]]
    changes = EntityChanges(work, key[0], [key[1]])
    before = changes.find(key[1])
    changes.check_etag(key[1], if_match)
    problems.check()
    if entity_store.entity in visibility.MASTER_DATA:
        visibility.check_change(work, entity_store, {}, before)
    links: Fields = {name: [] for name in entity_store.links}
    changes.recording.watch(entity_store.affected_keys(links, before))
    entity_store.remove(work, key[1])
    changes.recording.write()


class EntityChanges:
    """Changes of some entities of a kind in one transaction, whose `recording` is written by the caller."""

    def __init__(self, work: Work, entity: str, ids: Sequence[int]) -> None:
        self._work, self._entity_store = work, ENTITY_STORES[entity]
        self._writes: dict[int, tuple[Fields, Fields]] = {}
        self.recording = history.Recording(work)
        self.recording.watch((entity, entity_id) for entity_id in ids)
        self._before = {body["id"]: body for body in self._entity_store.whole(work, ids)}

    def find(self, entity_id: int) -> Fields:
        """The entity as it was, also with what the caller may not see of it. NotFound without it."""
        if entity_id not in self._before:
            raise self._entity_store.missing(entity_id)
        return self._before[entity_id]

    def check_etag(self, entity_id: int, if_match: str | None) -> None:
        """Conflict, with what changed, unless the entity is as `if_match` read it."""
        key = self._entity_store.entity, entity_id
        history.check_etag(self._work, key, self.recording.version(key), if_match)

    def apply(
        self, entity_id: int, body: Any, if_match: str | None, problems: Problems
    ) -> Sequence[EntityKey]:
        """Write the fields of the body; the keys of what is created with it.

        Invalid lists all errors, with those in `problems`.
        """
        before, entity_store = self.find(entity_id), self._entity_store
        self.check_etag(entity_id, if_match)
        fields = read(entity_store.request, body, problems, whole=False)
        visibility.check_change(self._work, entity_store, fields, before)
        entity_store.check(self._work, fields, before, problems)
        self._writes[entity_id] = (fields, before)
        problems.check()
        fields = visibility.keep_hidden_links(self._work, entity_store, fields, before)
        self.recording.watch(entity_store.affected_keys(fields, before))
        keys = entity_store.change(self._work, entity_id, fields)
        self.recording.note_creation(keys)
        return keys

    def cases(self) -> dict[int, list[Case]]:
        """What rules judge of each change, by id, also of those that were refused; in one look."""
        cases = cases_of(self._work, self._entity_store.entity, [*self._writes.values()])
        return dict(zip(self._writes, cases, strict=True))
