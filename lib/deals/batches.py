"""Several entities in one request (an extension): the body, the results, and deals created together."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from lib.deals import queries
from lib.deals.comparisons import Case
from lib.deals.queries import Parameters
from lib.deals.requests import DemandDealRequest
from lib.deals.store import history
from lib.deals.store import tables as t
from lib.deals.store.cases import cases_of
from lib.deals.store.entity_stores import DEALS, check_deal, new_deal_id, seats_to_sell_to
from lib.deals.store.history import conflict
from lib.deals.store.work import Fields, Work
from lib.deals.validation import Problems, read
from lib.deals.values import LARGEST_ID
from lib.wire.errors import DealsError

MOST = 500
CHANGED = 204
ERROR_STATUS = 400
LEFT_OUT = 424
ROLLBACK_REASON = "Not changed, because another change of the request was refused"


def bodies(value: Any, problems: Problems) -> list[Mapping[str, Any]]:
    """The changes, each with the id that it is about. Invalid if the body is no such list."""
    numbers: set[int] = set()
    for number, change in enumerate(changes := objects(value, problems, ", each with its id")):
        entity_id = change.get("id") if isinstance(change, Mapping) else None
        if isinstance(entity_id, bool) or not isinstance(entity_id, int) or not 0 < entity_id <= LARGEST_ID:
            problems.add((number, "id"), "This must be the id of the entity to change.")
        elif entity_id in numbers:
            problems.add((number, "id"), f"{entity_id} is given twice.")
        elif not isinstance(change.get("etag", ""), str):
            problems.add((number, "etag"), "This must be the ETag that was read.")
        else:
            numbers.add(entity_id)
    problems.check()
    return changes


def objects(value: Any, problems: Problems, what: str = "") -> list[Any]:
    """The bodies of entities to create. Invalid if it is no such list."""
    if not isinstance(value, list) or not 0 < len(value) <= MOST:
        problems.add((), f"This must be a list of 1 to {MOST} objects{what}.")
        problems.check()
    return [*value]


def is_atomic(parameters: Parameters, problems: Problems) -> bool:
    """Whether all changes are to be refused if one is."""
    texts = [text for name, text in parameters if name == "atomic"]
    queries.none([pair for pair in parameters if pair[0] != "atomic"], problems)
    return queries.flag(texts[-1] if texts else "", "atomic", problems)


@contextmanager
def batch(work: Work, is_atomic: bool) -> Iterator[list[Fields]]:
    """The results, filled by the block. If they are atomic and one is a refusal, all are undone."""
    results: list[Fields] = []
    if not is_atomic:
        yield results
        return
    with work.connection.begin_nested() as changes:
        yield results
        if any(result["status"] >= ERROR_STATUS for result in results):
            changes.rollback()
            undo = {"status": LEFT_OUT, "error": {"detail": ROLLBACK_REASON}}
            results[:] = [
                result if result["status"] >= ERROR_STATUS else {"id": result["id"], **undo}
                for result in results
            ]


def result(work: Work, entity_id: int, change: Callable[[], None]) -> Fields:
    """The result for one: `{"id", "status": 204}`, or the code and body that it would have answered alone."""
    try:
        with work.connection.begin_nested():
            change()
    except DealsError as error:
        return {"id": entity_id, "status": error.http, "error": error.body}
    except IntegrityError as error:
        problem = conflict(error)
        return {"id": entity_id, "status": problem.http, "error": problem.body}
    return {"id": entity_id, "status": CHANGED}


def create(work: Work, body: Any, problems: Problems, cases: list[Case]) -> list[Fields]:
    """Create the deals of these bodies, all or none; `{"id", "name", "deal_id"}` of each, in their order.

    `cases` gets what rules judge of each. Invalid says all that is wrong, by the place of each in the list.
    """
    bodies = objects(body, problems)
    deals = [read(DemandDealRequest, deal, problems, where=(index,)) for index, deal in enumerate(bodies)]
    # The rules of a single deal, with the seats and packages of all of them read once.
    package_ids = {link["id"] for deal in deals for link in deal.get("supply_deals", ()) if "id" in link}
    packages = work.names(t.supply_packages, package_ids)
    buyers = seats_to_sell_to(work, {deal["seat"]["id"] for deal in deals if "id" in deal.get("seat", {})})
    for index, deal in enumerate(deals):
        check_deal(deal, deal, buyers, packages, (index,), problems)
    cases += [case for [case] in cases_of(work, DEALS.entity, [(deal, {}) for deal in deals])]
    problems.check()
    recording = history.Recording(work)
    recording.watch({key for deal in deals for key in DEALS.affected_keys(deal, None)})
    # The rows of the deals, with their ids.
    ids = [new_deal_id() for _ in deals]
    work.connection.execute(insert(t.deal_ids), [{"deal_id": deal_id, "given": work.now} for deal_id in ids])
    values = [DEALS.columns(deal | {"deal_id": deal_id}) for deal, deal_id in zip(deals, ids, strict=True)]
    rows = work.insert_many(t.demand_deals, [row | DEALS.found_by(row) for row in values])
    links = [
        {"demand_deal_id": row["id"], "supply_package_id": link["id"]}
        for row, deal in zip(rows, deals, strict=True)
        for link in deal["supply_deals"]
    ]
    if links:
        work.connection.execute(insert(t.supply_package_deals), links)
    recording.note_creation((DEALS.entity, row["id"]) for row in rows)
    recording.write()
    return [{name: row[name] for name in ("id", "name", "deal_id")} for row in rows]
