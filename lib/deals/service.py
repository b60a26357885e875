"""The deals service: the same verbs for every entity, each in one transaction, whole or not at all.

Who may call is settled before (admission.py); what goes over HTTP, and how, is the routes' affair.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import IntegrityError

from lib import database
from lib.deals import queries
from lib.deals.queries import Parameters
from lib.deals.store import etags, history, listing
from lib.deals.store.conflicts import conflict
from lib.deals.store.filters import FILTERS, orderings
from lib.deals.store.idempotency import Once
from lib.deals.store.noun import Noun
from lib.deals.store.nouns import NOUNS
from lib.deals.store.work import EntityKey, Fields, Work
from lib.deals.validation import Problems, read
from lib.wire.deadline import Deadline
from lib.wire.errors import NotFound

Result = TypeVar("Result")


@dataclass(frozen=True)
class Found:
    """An entity as an answer carries it, with its ETag. `is_replay`: the first answer, once more."""

    body: Fields
    etag: str
    is_replay: bool = False


@dataclass(frozen=True)
class Part:
    """A page of a list: how many there are altogether, which part was asked for, and what is in it."""

    count: int
    limit: int
    offset: int
    results: list[Fields]


@dataclass(frozen=True)
class Asked:
    """What a request that changes something brings along."""

    who: str
    body: Any = None
    parameters: Parameters = ()
    if_match: str | None = None
    idempotency_key: str | None = None

    def problems(self) -> Problems:
        """What is wrong with it before its body is looked into."""
        problems = Problems()
        queries.none(self.parameters, problems)
        return problems


class DealsService:
    """Everything about deals, from the database. Safe among threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, key: EntityKey, parameters: Parameters, deadline: Deadline) -> Found:
        """The entity. NotFound without it."""
        problems = Problems()
        queries.none(parameters, problems)

        def within(work: Work) -> Found:
            bodies = NOUNS[key[0]].show(work, [key[1]])
            if not bodies:
                raise _nothing(key)
            problems.check()
            return Found(bodies[0], etags.of(work, key))

        return self._read(within, deadline)

    def list(self, entity: str, parameters: Parameters, deadline: Deadline) -> Part:
        """A page of all entities of a kind. Invalid says everything that is wrong with the query."""
        problems = Problems()
        query = queries.query(parameters, problems, FILTERS[entity], orderings(entity))

        def within(work: Work) -> Part:
            count, results = listing.page(work, NOUNS[entity], query, problems)
            return Part(count, query.limit, query.offset, results)

        return self._read(within, deadline)

    def history(self, key: EntityKey, parameters: Parameters, deadline: Deadline) -> Part:
        """Changes of an entity, latest first, also of one that was removed. NotFound if it never was."""
        problems = Problems()
        query = queries.query(parameters, problems, (), ())

        def within(work: Work) -> Part:
            count, results = history.page(work.connection, key, query.limit, query.offset)
            if not count:
                raise _nothing(key)
            problems.check()
            return Part(count, query.limit, query.offset, results)

        return self._read(within, deadline)

    def create(self, entity: str, request: Asked, deadline: Deadline) -> Found:
        """A new entity from a whole body, and those that come with it."""
        noun = NOUNS[entity]
        once = (
            None if request.idempotency_key is None else Once(request.idempotency_key, entity, request.body)
        )

        def within(work: Work) -> Found:
            problems = request.problems()
            if once is not None and (first := once.first_answer(work, problems)):
                return Found(*first, is_replay=True)
            made = _created(work, noun, request.body, problems)
            if once is not None:
                once.remember(work, made.body, made.etag)
            return made

        return self._write(within, request, deadline, repeat=once is not None)

    def change(self, key: EntityKey, request: Asked, deadline: Deadline) -> str:
        """Change the fields in the body; returns the new ETag. Conflict for a stale If-Match."""
        noun = NOUNS[key[0]]

        def within(work: Work) -> str:
            recording, before = _found(work, key)
            etags.check(work, key, recording.version(key), request.if_match)
            problems = request.problems()
            given = read(noun.request, request.body, problems, whole=False)
            noun.check(work, given, before, problems)
            problems.check()
            recording.watch(noun.touched(given, before))
            recording.created(noun.change(work, key[1], given))
            recording.write()
            return etags.of(work, key)

        return self._write(within, request, deadline)

    def remove(self, key: EntityKey, request: Asked, deadline: Deadline) -> None:
        """Delete it. InUse names what depends on it; Conflict for a stale If-Match."""
        noun = NOUNS[key[0]]

        def within(work: Work) -> None:
            recording, before = _found(work, key)
            etags.check(work, key, recording.version(key), request.if_match)
            request.problems().check()
            recording.watch(noun.touched({name: [] for name in noun.links}, before))
            noun.remove(work, key[1])
            recording.write()

        self._write(within, request, deadline)

    def _read(self, within: Callable[[Work], Result], deadline: Deadline) -> Result:
        return database.reading(self._engine, lambda connection: within(Work.of(connection, "")), deadline)

    def _write(
        self, within: Callable[[Work], Result], request: Asked, deadline: Deadline, repeat: bool = False
    ) -> Result:
        """With `repeat`, once more after a conflict: one with the same key may have come first."""

        def working(connection: Connection) -> Result:
            return within(Work.of(connection, request.who))

        try:
            return database.transact(self._engine, working, deadline)
        except IntegrityError as error:
            if not repeat:
                raise conflict(error) from error
        return self._write(within, request, deadline)


def _created(work: Work, noun: Noun, body: Any, problems: Problems) -> Found:
    given = read(noun.request, body, problems)
    noun.check(work, given, None, problems)
    problems.check()
    recording = history.Recording(work)
    recording.watch(noun.touched(given, None))
    keys = noun.create(work, given)
    recording.created(keys)
    recording.write()
    [shown] = noun.show(work, [keys[0][1]])
    return Found(shown, etags.of(work, keys[0]))


def _found(work: Work, key: EntityKey) -> tuple[history.Recording, Fields]:
    """The entity, watched from here on; NotFound without it."""
    recording = history.Recording(work)
    recording.watch([key])
    bodies = NOUNS[key[0]].show(work, [key[1]])
    if not bodies:
        raise _nothing(key)
    return recording, bodies[0]


def _nothing(key: EntityKey) -> NotFound:
    return NotFound(f"There is no {NOUNS[key[0]].called} {key[1]}")
