"""The deals service: the same verbs for every entity, each in one transaction.

Who may call is decided by the routes (Admission), as is what goes over HTTP; what of the deals a caller may
see, by the store's `Work`, which is made for them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import IntegrityError

from lib import database
from lib.deals import batches, queries
from lib.deals.models import DemandDeal
from lib.deals.queries import ListPage, Parameters
from lib.deals.store import history, listing, visibility
from lib.deals.store.entity_store import EntityStore
from lib.deals.store.entity_stores import ENTITY_STORES
from lib.deals.store.history import conflict
from lib.deals.store.request_warnings import request_warnings
from lib.deals.store.work import DealsScope, EntityKey, Fields, IdempotentRequest, Work
from lib.deals.validation import Problems, read
from lib.wire import exact
from lib.wire.deadline import Deadline

Result = TypeVar("Result")
Results = list[Fields]
NEEDS_KEY = (
    "In a PUT of one package create_demand_deals needs an Idempotency-Key, or a repeat creates them twice."
)


@dataclass(frozen=True)
class EntityResponse:
    """A body, with the ETag of its entity. `is_replay`: a repetition of the first response."""

    body: Fields
    etag: str = ""
    is_replay: bool = False


@dataclass(frozen=True)
class DealsRequest:
    """A request: its caller and what they may see (`scope`), and when it ends at the latest."""

    scope: DealsScope
    deadline: Deadline
    parameters: Parameters = ()
    body: Any = None
    if_match: str | None = None
    idempotency_key: str | None = None

    def problems(self) -> Problems:
        """The problems of a request that takes no parameters, before its body is read."""
        problems = Problems()
        queries.none(self.parameters, problems)
        return problems


class DealsService:
    """Deals in the database; `currency` is that of deals without one. Safe among threads."""

    def __init__(self, engine: Engine, currency: str = "") -> None:
        self._engine, self._currency = engine, currency

    def get(self, key: EntityKey, request: DealsRequest) -> EntityResponse:
        """The entity. NotFound without it, and for who may not see it."""

        def within(work: Work) -> EntityResponse:
            bodies = ENTITY_STORES[key[0]].show(work, [key[1]])
            if not bodies:
                raise ENTITY_STORES[key[0]].missing(key[1])
            request.problems().check()
            return EntityResponse(bodies[0], history.etag(work, key))

        return self._read(within, request)

    def list(self, entity: str, request: DealsRequest) -> ListPage:
        """A page of the entities of a kind that may be seen. Invalid says all that is wrong."""
        problems = Problems()
        query = queries.query(request.parameters, problems, listing.offer(entity))

        def within(work: Work) -> ListPage:
            page = listing.page(work, ENTITY_STORES[entity], query, problems)
            ids = [body["id"] for body in page.results] if query.has_etags else []
            return replace(page, etags=history.etags(work, entity, ids) if ids else {})

        return self._read(within, request)

    def history(self, key: EntityKey, request: DealsRequest) -> ListPage:
        """Changes of an entity, latest first, also of one that was removed. NotFound if it never was."""
        problems = Problems()
        query = queries.query(request.parameters, problems)

        def within(work: Work) -> ListPage:
            count, results = history.page(work, key, query.limit, query.offset)
            if not count or not visibility.is_seen(work, key):
                raise ENTITY_STORES[key[0]].missing(key[1])
            problems.check()
            return ListPage(count, query.limit, query.offset, results)

        return self._read(within, request)

    def create(self, entity: str, request: DealsRequest) -> EntityResponse:
        """A new entity from a whole body, and those that come with it."""
        entity_store = ENTITY_STORES[entity]

        def write(work: Work, problems: Problems) -> EntityResponse:
            return _create(work, entity_store, request.body, problems)

        def replay(work: Work, first: EntityResponse) -> EntityResponse:
            if work.scope.is_limited and not work.names(entity_store.table, [first.body["id"]]):
                raise entity_store.missing(first.body["id"])
            return replace(first, body=entity_store.cut(work, [first.body])[0])

        return self._write_once(write, replay, request, (entity, request.body))

    def create_many(self, request: DealsRequest) -> EntityResponse:
        """Several new demand deals, all or none; `results` has `{"id", "name", "deal_id"}` of each."""
        digest = {"sha256": sha256(exact.dumps(request.body)).hexdigest()}

        def write(work: Work, problems: Problems) -> EntityResponse:
            problems.check()
            return EntityResponse({"results": batches.create(work, request.body, problems)})

        def replay(work: Work, first: EntityResponse) -> EntityResponse:
            results = first.body["results"]
            visible = work.names(ENTITY_STORES[DemandDeal.entity].table, [deal["id"] for deal in results])
            return replace(first, body={"results": [deal for deal in results if deal["id"] in visible]})

        return self._write_once(write, replay, request, (DemandDeal.entity, digest))

    def change(self, key: EntityKey, request: DealsRequest) -> EntityResponse:
        """Change the fields in the body; the response has `warnings`, sentences about probable slips.

        Conflict for a stale If-Match.
        """
        entity, entity_id = key

        def write(work: Work, problems: Problems) -> EntityResponse:
            changes = EntityChanges(work, entity, [entity_id])
            if request.idempotency_key is None:
                _check_repeatable(request.body, problems)
            changes.apply(entity_id, request.body, request.if_match, problems)
            changes.recording.write()
            return EntityResponse({"warnings": changes.warnings[entity_id]}, changes.recording.etag(key))

        def replay(work: Work, first: EntityResponse) -> EntityResponse:
            EntityChanges(work, entity, [entity_id]).find(entity_id)
            return first

        content = entity, {"id": entity_id, "body": request.body}
        return self._write_once(write, replay, request, content)

    def change_many(self, entity: str, request: DealsRequest) -> Results:
        """Change several entities independently: a refused change is rolled back, and the others are kept.

        The body is a list of `{"id", …fields}`, each at most once; the results are in its order. One with an
        `etag` is refused if there was a change since. With the parameter `atomic` all are refused if one is.
        """
        problems = Problems()
        is_atomic = batches.is_atomic(request.parameters, problems)
        bodies = batches.bodies(request.body, problems)

        def within(work: Work) -> Results:
            changes = EntityChanges(work, entity, [body["id"] for body in bodies])

            def change(body: Mapping[str, Any]) -> None:
                changes.find(body["id"])
                problems = Problems()
                _check_repeatable(body, problems)
                fields = {name: value for name, value in body.items() if name not in ("id", "etag")}
                changes.apply(body["id"], fields, body.get("etag"), problems)

            with batches.batch(work, is_atomic) as results:
                results += [batches.result(work, body["id"], partial(change, body)) for body in bodies]
                changes.recording.write()
            for result in results:
                if result["status"] == batches.CHANGED and (warnings := changes.warnings[result["id"]]):
                    result["warnings"] = warnings
            return results

        return self._write(within, request)

    def remove(self, key: EntityKey, request: DealsRequest) -> None:
        """Delete it. InUse names what depends on it; Conflict for a stale If-Match."""
        entity_store = ENTITY_STORES[key[0]]

        def within(work: Work) -> None:
            changes = EntityChanges(work, key[0], [key[1]])
            before = changes.find(key[1])
            changes.check_etag(key[1], request.if_match)
            request.problems().check()
            if entity_store.entity in visibility.MASTER_DATA:
                visibility.check_change(work, entity_store, {}, before)
            links: Fields = {name: [] for name in entity_store.links}
            changes.recording.watch(entity_store.affected_keys(links, before))
            entity_store.remove(work, key[1])
            changes.recording.write()

        self._write(within, request)

    def _read(self, within: Callable[[Work], Result], request: DealsRequest) -> Result:
        return database.reading(self._engine, self._working(within, request), request.deadline)

    def _write(
        self, within: Callable[[Work], Result], request: DealsRequest, *, again: bool = False
    ) -> Result:
        """Run a write; `again`, once more, if another one was there first. Conflict where that says no."""
        try:
            return database.transact(self._engine, self._working(within, request), request.deadline)
        except IntegrityError as error:
            if not again:
                raise conflict(error) from error
        return self._write(within, request)

    def _working(
        self, within: Callable[[Work], Result], request: DealsRequest
    ) -> Callable[[Connection], Result]:
        return lambda connection: within(Work.of(connection, request.scope, self._currency))

    def _write_once(
        self,
        write: Callable[[Work, Problems], EntityResponse],
        replay: Callable[[Work, EntityResponse], EntityResponse],
        request: DealsRequest,
        content: tuple[str, Any],
    ) -> EntityResponse:
        """Run a write; with an idempotency key it happens once, and a repetition gets the first response.

        `content`, the entity and the body, is what a repetition must be equal in. `replay` makes of the first
        response what the caller may still see; NotFound if that is nothing.
        """
        key = request.idempotency_key
        idempotent = None if key is None else IdempotentRequest(key, *content)

        def within(work: Work) -> EntityResponse:
            problems = request.problems()
            if idempotent is None:
                return write(work, problems)
            if first := idempotent.first_answer(work, problems):
                return replay(work, EntityResponse(*first, is_replay=True))
            response = write(work, problems)
            idempotent.remember(work, response.body, response.etag)
            return response

        # Two requests with one key at the same moment: the loser finds the winner's response the second time.
        return self._write(within, request, again=idempotent is not None)


def _create(work: Work, entity_store: EntityStore, body: Any, problems: Problems) -> EntityResponse:
    fields = read(entity_store.request, body, problems)
    visibility.check_change(work, entity_store, fields, None)
    entity_store.check(work, fields, None, problems)
    problems.check()
    warnings = request_warnings(work, entity_store.entity, body, fields)
    recording = history.Recording(work)
    recording.watch(entity_store.affected_keys(fields, None))
    keys = entity_store.create(work, fields)
    recording.note_creation(keys)
    recording.write()
    [answer] = entity_store.show(work, [keys[0][1]])
    return EntityResponse(answer | ({"warnings": warnings} if warnings else {}), recording.etag(keys[0]))


def _check_repeatable(body: Any, problems: Problems) -> None:
    """A PUT may be repeated (RFC 9110, 9.2.2): one that creates deals needs a key that makes them once."""
    if isinstance(body, Mapping) and body.get("create_demand_deals") is not None:
        problems.add((), NEEDS_KEY)


class EntityChanges:
    """Changes of some entities of a kind in one transaction, whose `recording` is written by the caller.

    `warnings` are sentences about each by id: what is valid and probably a slip.
    """

    def __init__(self, work: Work, entity: str, ids: Sequence[int]) -> None:
        self._work, self._entity_store = work, ENTITY_STORES[entity]
        self.warnings: dict[int, list[str]] = {}
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

    def apply(self, entity_id: int, body: Any, if_match: str | None, problems: Problems) -> None:
        """Write the fields of the body. Invalid lists all errors, with those in `problems`."""
        before, entity_store = self.find(entity_id), self._entity_store
        self.check_etag(entity_id, if_match)
        fields = read(entity_store.request, body, problems, whole=False)
        visibility.check_change(self._work, entity_store, fields, before)
        entity_store.check(self._work, fields, before, problems)
        problems.check()
        fields = visibility.keep_hidden_links(self._work, entity_store, fields, before)
        self.warnings[entity_id] = request_warnings(self._work, entity_store.entity, body, fields, before)
        self.recording.watch(entity_store.affected_keys(fields, before))
        self.recording.note_creation(entity_store.change(self._work, entity_id, fields))
