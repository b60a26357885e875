"""The deals service: the same verbs for every entity, each in one transaction.

Who may call is decided by the routes (Admission), as is what goes over HTTP; what of the deals a caller may
see, by the store's `Work`, which is made for them.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import IntegrityError

from lib import database
from lib.deals import batches, dry_run, queries
from lib.deals.comparisons import Availability, Case, compare
from lib.deals.dry_run import DryRun
from lib.deals.models import DemandDeal, Seat
from lib.deals.queries import ListPage, Parameters
from lib.deals.store import history, listing, visibility
from lib.deals.store import tables as t
from lib.deals.store.entity_stores import ENTITY_STORES
from lib.deals.store.history import conflict
from lib.deals.store.work import DealsScope, EntityKey, Fields, IdempotentRequest, Work
from lib.deals.store.writes import EntityChanges, create, remove
from lib.deals.validation import Problems
from lib.deals.warnings import judge
from lib.wire import exact
from lib.wire.deadline import Deadline

Result = TypeVar("Result")
Results = list[Fields]
NEEDS_KEY = (
    "In a PUT of one package create_demand_deals needs an Idempotency-Key, or a repeat creates them twice."
)


@dataclass(frozen=True)
class EntityResponse:
    """A body, with the ETag of its entity. `is_replay`: a repetition of the first response.

    `cases` are what rules judge of it, once the transaction has ended.
    """

    body: Fields
    etag: str = ""
    is_replay: bool = False
    cases: Sequence[Case] = ()


@dataclass(frozen=True)
class DealsRequest:
    """A request: its caller and what they may see (`scope`), and when it ends at the latest.

    `availability` is what a report tells the caller. With `is_dry_run` nothing is written.
    """

    scope: DealsScope
    deadline: Deadline
    parameters: Parameters = ()
    body: Any = None
    if_match: str | None = None
    idempotency_key: str | None = None
    availability: Availability | None = None
    is_dry_run: bool = False

    def problems(self) -> Problems:
        """The problems of a request that takes no parameters, before its body is read."""
        problems = Problems()
        queries.none(self.parameters, problems)
        return problems


class DealsService:
    """Deals in the database; `usual_terms` are those of deals without their own. Safe among threads."""

    def __init__(self, engine: Engine, usual_terms: Mapping[str, str] | None = None) -> None:
        self._engine, self._usual_terms = engine, usual_terms or {}

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
        if request.is_dry_run:
            return self._try(request, partial(dry_run.creation, entity_store, request.body))

        def write(work: Work, problems: Problems) -> EntityResponse:
            cases: list[Case] = []
            keys, recording = create(work, entity_store, request.body, problems, cases)
            [answer] = entity_store.show(work, [keys[0][1]])
            return EntityResponse(answer, recording.etag(keys[0]), cases=cases)

        def replay(work: Work, first: EntityResponse) -> EntityResponse:
            if work.scope.is_limited and not work.names(entity_store.table, [first.body["id"]]):
                raise entity_store.missing(first.body["id"])
            return replace(first, body=entity_store.cut(work, [first.body])[0])

        return self._write_once(write, replay, request, (entity, request.body))

    def create_many(self, request: DealsRequest) -> EntityResponse:
        """Several new demand deals, all or none; `results` has `{"id", "name", "deal_id"}` of each."""
        if request.is_dry_run:
            return self._try(request, partial(dry_run.creations, request.body))
        digest = {"sha256": sha256(exact.dumps(request.body)).hexdigest()}

        def write(work: Work, problems: Problems) -> EntityResponse:
            problems.check()
            cases: list[Case] = []
            results = batches.create(work, request.body, problems, cases)
            return EntityResponse({"results": results}, cases=cases)

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
        if request.is_dry_run:
            body = (entity_id, request.body, request.if_match)
            return self._try(request, partial(dry_run.changes, entity, [body], is_one=True))

        def write(work: Work, problems: Problems) -> EntityResponse:
            changes = EntityChanges(work, entity, [entity_id])
            if request.idempotency_key is None:
                _check_repeatable(request.body, problems)
            changes.apply(entity_id, request.body, request.if_match, problems)
            changes.recording.write()
            return EntityResponse({}, changes.recording.etag(key), cases=changes.cases()[entity_id])

        def replay(work: Work, first: EntityResponse) -> EntityResponse:
            EntityChanges(work, entity, [entity_id]).find(entity_id)
            return first

        content = entity, {"id": entity_id, "body": request.body}
        return self._write_once(write, replay, request, content)

    def change_many(self, entity: str, request: DealsRequest) -> EntityResponse:
        """Change several entities independently: a refused change is rolled back, and the others are kept.

        The body is a list of `{"id", …fields}`, each at most once; the results are in its order. One with an
        `etag` is refused if there was a change since. With the parameter `atomic` all are refused if one is.
        """
        problems = Problems()
        is_atomic = batches.is_atomic(request.parameters, problems)
        bodies = batches.bodies(request.body, problems)
        if request.is_dry_run:
            writes = [
                (
                    body["id"],
                    {name: value for name, value in body.items() if name not in ("id", "etag")},
                    body.get("etag"),
                )
                for body in bodies
            ]
            return self._try(request, partial(dry_run.changes, entity, writes))

        def within(work: Work) -> tuple[Results, Sequence[Case]]:
            changes = EntityChanges(work, entity, [body["id"] for body in bodies])

            def change(body: Mapping[str, Any]) -> None:
                changes.find(body["id"])
                problems = Problems()
                _check_repeatable(body, problems)
                changes.apply(
                    body["id"],
                    {name: value for name, value in body.items() if name not in ("id", "etag")},
                    body.get("etag"),
                    problems,
                )

            with batches.batch(work, is_atomic) as results:
                results += [batches.result(work, body["id"], partial(change, body)) for body in bodies]
                changes.recording.write()
            cases_by_id = changes.cases()
            return results, [
                replace(case, place=(index, *case.place))
                for index, result in enumerate(results)
                if result["status"] == batches.CHANGED
                for case in cases_by_id[result["id"]]
            ]

        results, cases = self._write(within, request)
        return self._with_warnings(EntityResponse({"results": results}, cases=cases), request)

    def remove(self, key: EntityKey, request: DealsRequest) -> EntityResponse:
        """Delete it. InUse names what depends on it; Conflict for a stale If-Match."""
        if request.is_dry_run:
            return self._try(request, partial(dry_run.removal, key, request.if_match))
        self._write(lambda work: remove(work, key, request.if_match, request.problems()), request)
        return EntityResponse({})

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
        return lambda connection: within(Work.of(connection, request.scope, self._usual_terms))

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
        response = self._write(within, request, again=idempotent is not None)
        answer = self._with_warnings(response, request)
        if idempotent is not None and answer.body != response.body:
            self._write(lambda work: idempotent.amend(work, answer.body), request)
        return answer

    def _with_warnings(self, response: EntityResponse, request: DealsRequest) -> EntityResponse:
        """The response with what is probably a slip: of several with the result of each, else for all."""
        self._compare(response.cases, request)
        results = response.body.get("results")
        sentences: defaultdict[int, dict[str, None]] = defaultdict(dict)
        for index, case in enumerate(response.cases):
            place = 0 if results is None else case.place[0] if case.place else index
            sentences[int(place)] |= dict.fromkeys(warning.sentence for warning in judge(case))
        bodies = [
            body | ({"warnings": [*sentences[index]]} if sentences[index] else {})
            for index, body in enumerate([response.body] if results is None else results)
        ]
        return replace(response, body=bodies[0] if results is None else response.body | {"results": bodies})

    def _try(self, request: DealsRequest, run: Callable[[Work], Sequence[DryRun]]) -> EntityResponse:
        """What writes would make, which are rolled back: `results`, each with its errors and warnings."""

        def within(work: Work) -> Sequence[DryRun]:
            with work.connection.begin_nested() as savepoint:
                results = run(work.as_trial())
                savepoint.rollback()
            return results

        results = self._write(within, request)
        self._compare([case for result in results for case in result.cases], request)
        return EntityResponse({"results": [result.body for result in results]})

    def _compare(self, cases: Sequence[Case], request: DealsRequest) -> None:
        """Set what a report tells of cases, which is asked once no writer waits."""

        def seats() -> Sequence[Seat]:
            visible = select(t.seats.c.id).where(*request.scope.visibility(t.seats))
            rows = self._read(lambda work: work.rows(visible), request)
            return [Seat(id=row.id) for row in rows]

        if request.availability is not None:
            compare(cases, request.availability, seats)


def _check_repeatable(body: Any, problems: Problems) -> None:
    """A PUT may be repeated (RFC 9110, 9.2.2): one that creates deals needs a key that makes them once."""
    if isinstance(body, Mapping) and body.get("create_demand_deals") is not None:
        problems.add((), NEEDS_KEY)
