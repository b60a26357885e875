"""Writes that are rolled back (`dry_run`, an extension): what each would make, what is wrong, what is unwise.

No id is used and no idempotency key is remembered; ids and deal ids of what is new are null.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy.exc import IntegrityError

from lib.deals import batches
from lib.deals.comparisons import Case
from lib.deals.store.entity_store import EntityStore
from lib.deals.store.entity_stores import DEALS, ENTITY_STORES
from lib.deals.store.history import conflict
from lib.deals.store.work import EntityKey, Fields, Work
from lib.deals.store.writes import EntityChanges, create, remove
from lib.deals.validation import WHOLE, Problems
from lib.deals.warnings import judge
from lib.wire.errors import DealsError, Invalid, NotFound

Place = tuple[str | int, ...]


@dataclass
class DryRun:
    """What a write would make: `would` is the entity as it would be read; None if refused or deleted."""

    place: Place
    would: Fields | None = None
    errors: Fields = field(default_factory=dict)
    cases: list[Case] = field(default_factory=list)

    @property
    def body(self) -> Fields:
        """As JSON, with the warnings about its cases."""
        warnings = dict.fromkeys(warning for case in self.cases for warning in judge(case))
        return {
            "place": [*self.place],
            "would": _without_new_ids(self.would),
            "errors": self.errors,
            "warnings": [warning.body for warning in warnings],
        }

    def attempt(self, work: Work, write: Callable[[], Sequence[EntityKey] | None]) -> Sequence[EntityKey]:
        """Write, and note what is wrong; the keys of what was written. NotFound is the caller's."""
        try:
            with work.connection.begin_nested():
                return write() or ()
        except NotFound:
            raise
        except (DealsError, IntegrityError) as error:
            problem = conflict(error) if isinstance(error, IntegrityError) else error
            self.errors = problem.fields if isinstance(problem, Invalid) else {WHOLE: [f"{problem.reason}."]}
        return ()


def creation(entity_store: EntityStore, body: Any, work: Work) -> list[DryRun]:
    """A new entity, then the deals that are created with it, each at its place."""
    cases: list[Case] = []
    own = DryRun(())
    keys = own.attempt(work, lambda: create(work, entity_store, body, Problems(), cases)[0])
    own.would = next(iter(entity_store.show(work, [number for _, number in keys[:1]])), None)
    return _results(work, own, keys[1:], cases)


def creations(bodies: Any, work: Work) -> list[DryRun]:
    """Several new deals, which are created all or none."""
    runs = [DryRun((index,)) for index in range(len(batches.objects(bodies, Problems())))]
    cases: list[Case] = []
    whole, rows = DryRun(()), list[Fields]()

    def write() -> Sequence[EntityKey]:
        rows.extend(batches.create(work, bodies, Problems(), cases))
        return [(DEALS.entity, row["id"]) for row in rows]

    keys = whole.attempt(work, write)
    entities = DEALS.show(work, [number for _, number in keys])
    for index, run in enumerate(runs):
        run.errors = whole.errors.get(str(index), {})
        run.would = entities[index] if entities else None
        run.cases = cases[index : index + 1]
    return runs


def changes(
    entity: str, writes: Sequence[tuple[int, Any, str | None]], work: Work, *, is_one: bool = False
) -> list[DryRun]:
    """Changes of entities of a kind (id, body, ETag), independently; NotFound where it `is_one` alone."""
    ids = [number for number, *_ in writes]
    changes = EntityChanges(work, entity, ids)
    runs = [DryRun(() if is_one else (index,)) for index in range(len(writes))]
    new_keys: list[Sequence[EntityKey]] = []
    for run, (number, body, etag) in zip(runs, writes, strict=True):
        try:
            new_keys.append(run.attempt(work, partial(changes.apply, number, body, etag, Problems())))
        except NotFound as error:
            if is_one:
                raise
            run.errors = {WHOLE: [f"{error.reason}."]}
            new_keys.append(())
    cases, entities = changes.cases(), {body["id"]: body for body in ENTITY_STORES[entity].show(work, ids)}
    results = []
    for run, number, keys in zip(runs, ids, new_keys, strict=True):
        run.would = None if run.errors else entities[number]
        results += _results(work, run, keys, cases.get(number, []))
    return results


def removal(key: EntityKey, if_match: str | None, work: Work) -> list[DryRun]:
    """The deletion of an entity."""
    run = DryRun(())
    run.attempt(work, partial(remove, work, key, if_match, Problems()))
    return [run]


def _results(work: Work, own: DryRun, new_keys: Sequence[EntityKey], cases: Sequence[Case]) -> list[DryRun]:
    """An entity and the deals that come with it: what is judged of these is theirs."""
    own.cases = [case for case in cases if not case.place]
    deals = iter(DEALS.show(work, [number for _, number in new_keys]) if new_keys else ())
    of_deals = (case for case in cases if case.place)
    return [own, *(DryRun((*own.place, *case.place), next(deals, None), {}, [case]) for case in of_deals)]


def _without_new_ids(value: Any) -> Any:
    """The same with null for the ids of what is not there."""
    if isinstance(value, list):
        return [_without_new_ids(part) for part in value]
    if not isinstance(value, dict):
        return value
    is_new = isinstance(value.get("id"), int) and value["id"] < 0
    new: Fields = {"id": None, **({"deal_id": None} if "deal_id" in value else {})} if is_new else {}
    return {name: _without_new_ids(part) for name, part in value.items()} | new
